/* Rank and size are given: by the program with a unique id (shmemx_init_attr), or by the environment that torchrun and
 * many other launchers make. MASTER_PORT itself is never opened, since the launcher's own store may hold it. This file
 * finds out what the job is called, which secret it has and where its root may be; root.c and meet.c do the rest. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/option.h"
#include "boot/mark.h"
#include "boot/meet.h"
#include "boot/packet.h"
#include "boot/root.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORTS 32 /* behind MASTER_PORT, of which PE 0 takes the first that is free */

extern char **environ;

/* What shmemx_uniqueid_t holds. */
struct unique_id {
    char magic[8];
    uint64_t surroundings;
    unsigned char name[8];
    unsigned char secret[32];
    uint16_t port, spare; /* 0: the maker can be reached on its machine only */
    unsigned char ip[HM_ADDRESSES][16];
};
_Static_assert(sizeof(struct unique_id) <= HM_UNIQUEID_BYTES, "a unique id must fit its type");
static const char id_magic[8] = "hbmesh2";

static char job[200]; /* by which it is told from others */
static int round_now;
static bool joined;
static struct hm_shake_key key;
static struct unique_id id; /* of the job, where there is one */

/* --- the unique id --- */

/* Others come to the port that an id names, from when it is made until this process ends. */
static struct made {
    unsigned char name[sizeof id.name];
    int door;
} made[8];
static unsigned made_count;

static void forget_made_in_child(void)
{
    for (unsigned i = 0; i < made_count && i < HM_COUNT(made); i++)
        if (made[i].door >= 0) close(made[i].door);
    made_count = 0;
}

static void open_door_of(struct unique_id *u)
{
    static bool forks_seen;
    struct hm_address at[HM_ADDRESSES];
    struct made *m = &made[made_count % HM_COUNT(made)];
    if (!forks_seen && pthread_atfork(NULL, NULL, forget_made_in_child) == 0) forks_seen = true;
    if (made_count >= HM_COUNT(made) && m->door >= 0) close(m->door);
    made_count++;
    memcpy(m->name, u->name, sizeof m->name);
    m->door = hm_listen_tcp(0);
    if (m->door < 0) return;
    u->port = hm_port_of(m->door);
    hm_own_addresses(at, HM_ADDRESSES, u->port);
    for (int i = 0; i < HM_ADDRESSES; i++)
        memcpy(u->ip[i], at[i].ip, sizeof u->ip[i]);
}

int hm_uniqueid_make(unsigned char bytes[HM_UNIQUEID_BYTES])
{
    struct unique_id u = {.surroundings = hm_surroundings()};
    memcpy(u.magic, id_magic, sizeof u.magic);
    if (getrandom(u.name, sizeof u.name, 0) != sizeof u.name ||
        getrandom(u.secret, sizeof u.secret, 0) != sizeof u.secret)
        return -EIO;
    open_door_of(&u);
    memset(bytes, 0, HM_UNIQUEID_BYTES);
    memcpy(bytes, &u, sizeof u);
    return 0;
}

static void name_job_by_id(const unsigned char *name)
{
    char hex[2 * sizeof id.name + 1];
    for (size_t i = 0; i < sizeof id.name; i++)
        sprintf(hex + 2 * i, "%02x", name[i]);
    snprintf(job, sizeof job, "id %s", hex);
}

static int read_id(const struct hm_boot_attr *attr)
{
    memcpy(&id, attr->id, sizeof id);
    if (memcmp(id.magic, id_magic, sizeof id.magic) != 0) {
        hm_log_line(NULL, "the unique id is none that shmemx_get_uniqueid of this library has made");
        return -EINVAL;
    }
    name_job_by_id(id.name);
    key.size = sizeof id.secret;
    memcpy(key.bytes, id.secret, sizeof id.secret);
    return 0;
}

/* What this process knows of the id, if it has made it. */
static const struct made *made_here(void)
{
    for (unsigned i = 0; i < made_count && i < HM_COUNT(made); i++)
        if (!memcmp(made[i].name, id.name, sizeof id.name)) return &made[i];
    return NULL;
}

static void find_by_id(struct hm_reach *reach)
{
    for (int i = 0; i < HM_ADDRESSES; i++) {
        struct hm_address at = {.port = id.port};
        memcpy(at.ip, id.ip[i], sizeof at.ip);
        if (!IN6_IS_ADDR_UNSPECIFIED((const struct in6_addr *)at.ip)) hm_reach_add(reach, &at);
    }
}

/* --- the secret of a job by environment --- */

static int take_secret(const char *text, size_t size, const char *from)
{
    while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    if (size < 1 || size > sizeof key.bytes) {
        hm_log_line(NULL, "%s holds %zu bytes; a secret has 1 to %zu", from, size, sizeof key.bytes);
        return -EINVAL;
    }
    key.size = size;
    memcpy(key.bytes, text, size);
    return 0;
}

static int say_bad_file(const char *path, const char *why)
{
    hm_log_line(NULL, "SHMEM_SECRET_FILE=%s: %s", path, why);
    return -EINVAL;
}

static int read_secret_file(const char *path)
{
    char text[HM_KEY_BYTES + 3];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return say_bad_file(path, strerror(errno));
    ssize_t n = read(fd, text, sizeof text);
    int rc = fstat(fd, &st);
    close(fd);
    if (rc != 0 || n < 0 || !S_ISREG(st.st_mode)) return say_bad_file(path, "it is no file that can be read");
    if (st.st_mode & 077) return say_bad_file(path, "others than its owner may use it; give it mode 0600");
    if (st.st_uid != geteuid() && st.st_uid != 0) return say_bad_file(path, "it belongs to another user");
    rc = take_secret(text, (size_t)n, "SHMEM_SECRET_FILE");
    explicit_bzero(text, sizeof text);
    return rc;
}

static int read_secret(void)
{
    const char *text = hm_boot_variable(environ, "SHMEM_SECRET");
    key.size = 0;
    if (text && *text) return take_secret(text, strlen(text), "SHMEM_SECRET");
    return *hm_options.secret_file ? read_secret_file(hm_options.secret_file) : 0;
}

/* --- the environment --- */

static const char *value(char *const envp[], const char *name)
{
    const char *text = hm_boot_variable(envp, name);
    return text ? text : "";
}

static void name_job_by_environment(char *const envp[])
{
    snprintf(job, sizeof job, "port %.16s run %.64s.%.16s", value(envp, "MASTER_PORT"),
             value(envp, "TORCHELASTIC_RUN_ID"), value(envp, "TORCHELASTIC_RESTART_COUNT"));
}

/* -1: no number. */
static int number(char *const envp[], const char *name)
{
    const char *text = value(envp, name);
    char *end;
    long n = strtol(text, &end, 10);
    return end == text || *end || n < 0 || n > INT_MAX ? -1 : (int)n;
}

/* May PEs of such a job come from other machines? */
enum elsewhere { NOBODY, SOMEBODY, INSECURE_UNASKED };
static enum elsewhere from_elsewhere(void)
{
    int size = number(environ, "WORLD_SIZE"), here = number(environ, "LOCAL_WORLD_SIZE");
    if (size == here || !*value(environ, "MASTER_ADDR")) return NOBODY;
    if (key.size || hm_options.uid_insecure) return SOMEBODY;
    return here > 0 ? INSECURE_UNASKED : NOBODY;
}

static int say_no_secret(int pe, int size)
{
    if (pe) return hm_boot_leave_to_first();
    hm_log_line(NULL,
                "LOCAL_WORLD_SIZE=%s of WORLD_SIZE=%d: the job is on several machines, and without a secret "
                "anybody could "
                "join it: set SHMEM_SECRET or SHMEM_SECRET_FILE for all PEs, or SHMEM_UID_INSECURE=1",
                value(environ, "LOCAL_WORLD_SIZE"), size);
    return -EPERM;
}

static int say_no_port(const char *which)
{
    hm_log_line(NULL, "%s: no port can be opened for PEs of other machines: %s", which, strerror(errno));
    return -EADDRINUSE;
}

/* PE 0. The port, or -1 with the reason said. */
static int open_door(void)
{
    int first = number(environ, "MASTER_PORT"), fd = -EINVAL;
    if (hm_options.uid_port) {
        fd = hm_listen_tcp((uint16_t)hm_options.uid_port);
        errno = -fd;
        return fd < 0 ? say_no_port("SHMEM_UID_PORT") : fd;
    }
    for (int i = 1; i <= PORTS && fd < 0 && first + i < 65536; i++)
        fd = hm_listen_tcp((uint16_t)(first + i));
    errno = -fd;
    return fd < 0 ? say_no_port("behind MASTER_PORT") : fd;
}

static void add_ports(struct hm_reach *reach, const struct sockaddr *at)
{
    struct hm_address a;
    int first = number(environ, "MASTER_PORT");
    hm_address_from(&a, at, (uint16_t)hm_options.uid_port);
    hm_reach_add(reach, &a);
    for (int i = 1; i <= PORTS && !hm_options.uid_port && first + i < 65536; i++) {
        a.port = (uint16_t)(first + i);
        hm_reach_add(reach, &a);
    }
}

static struct addrinfo *resolve(void)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    return getaddrinfo(value(environ, "MASTER_ADDR"), NULL, &hints, &all) == 0 ? all : NULL;
}

static void find_by_environment(struct hm_reach *reach)
{
    struct addrinfo *all = resolve();
    for (const struct addrinfo *i = all; i; i = i->ai_next)
        if (i->ai_family == AF_INET || i->ai_family == AF_INET6) add_ports(reach, i->ai_addr);
    if (all) freeaddrinfo(all);
}

/* Only an address of one's own can be bound. */
enum master { HERE, ELSEWHERE, UNKNOWN };
static enum master where_is_master(void)
{
    struct addrinfo *all = resolve();
    bool here = false, known = all != NULL;
    for (const struct addrinfo *i = all; i && !here; i = i->ai_next) {
        int fd = socket(i->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        here = fd >= 0 && bind(fd, i->ai_addr, i->ai_addrlen) == 0;
        if (fd >= 0) close(fd);
    }
    if (all) freeaddrinfo(all);
    return here ? HERE : known ? ELSEWHERE : UNKNOWN;
}

static int read_environment(struct hm_boot_world *world)
{
    int pe = number(environ, "RANK"), size = number(environ, "WORLD_SIZE");
    if (pe < 0 || size < 1 || pe >= size) {
        hm_log_line(NULL,
                    "RANK=%s and WORLD_SIZE=%s do not say which PE of how many this is; set them, or "
                    "SHMEM_BOOT=single",
                    value(environ, "RANK"), value(environ, "WORLD_SIZE"));
        return -EINVAL;
    }
    if (size > 1 && !*value(environ, "MASTER_PORT")) {
        hm_log_line(
            NULL,
            "RANK and WORLD_SIZE are set, but MASTER_PORT is not, which tells jobs apart: set it to the same "
            "number for all PEs, or SHMEM_BOOT=single for jobs of one PE");
        return -EINVAL;
    }
    *world = (struct hm_boot_world){.pe = pe, .npes = size};
    name_job_by_environment(environ);
    int rc = read_secret();
    return rc || from_elsewhere() != INSECURE_UNASKED ? rc : say_no_secret(pe, size);
}

/* --- the bootstrap --- */

static bool uid_probe(char *const envp[])
{
    return hm_boot_get_attr() || (*value(envp, "RANK") && *value(envp, "WORLD_SIZE"));
}

static bool uid_descends(char *const envp[], int *pe, int *pid)
{
    const struct hm_boot_attr *attr = hm_boot_get_attr();
    if (joined || !uid_probe(envp)) return false;
    if (attr)
        name_job_by_id(((const struct unique_id *)attr->id)->name);
    else
        name_job_by_environment(envp);
    int me = attr ? attr->pe : number(envp, "RANK");
    if (!hm_mark_is_taken(job, me, pid)) return false;
    *pe = me;
    return true;
}

static int who(struct hm_boot_world *world)
{
    const struct hm_boot_attr *attr = hm_boot_get_attr();
    if (!attr) return read_environment(world);
    *world = (struct hm_boot_world){.pe = attr->pe, .npes = attr->npes};
    return read_id(attr);
}

/* A later job of the same PEs meets elsewhere: nobody shall mistake it for the one before. */
static void count_round(void)
{
    static char last[sizeof job];
    round_now = strcmp(last, job) ? 0 : round_now + 1;
    memcpy(last, job, sizeof job);
}

/* All meet at the process that has made the id, the only one whose addresses they know. It may be none of the PEs, as a
 * parent that forks them: so PE 0 serves as well where it is on the same machine, and who comes first is the root. */
static int plan_by_id(struct hm_root_plan *plan)
{
    const struct made *maker = made_here();
    bool here = id.surroundings == hm_surroundings();
    plan->what = "the program gave rank, size and unique id";
    plan->hint = "; for PEs on other machines, a PE of the job must have made the id";
    plan->absent = here ? "who made the unique id, or PE 0," : "the PE that made the unique id";
    plan->others = true;
    plan->root = maker || (here && plan->pe == 0);
    plan->door = maker ? maker->door : -1;
    plan->near = here;
    plan->find = id.port && !maker ? find_by_id : NULL;
    return 0;
}

static int plan_by_environment(struct hm_root_plan *plan)
{
    bool open = from_elsewhere() == SOMEBODY;
    plan->what = "RANK, WORLD_SIZE and MASTER_PORT are set (SHMEM_BOOT=single: jobs of one PE)";
    plan->hint = "; for PEs on other machines set SHMEM_SECRET or SHMEM_SECRET_FILE";
    plan->root = plan->pe == 0;
    plan->door = plan->root && open ? open_door() : -1;
    if (plan->root) return open && plan->door < 0 ? plan->door : 0;
    bool all_here = number(environ, "LOCAL_WORLD_SIZE") == plan->npes;
    enum master master = all_here ? HERE : where_is_master();
    plan->near = master == HERE;
    plan->find = open ? find_by_environment : NULL;
    if (!open && master == ELSEWHERE)
        plan->only_near = "MASTER_ADDR is not this machine: the job is on several machines, and without a secret "
                          "anybody could join it: set SHMEM_SECRET or SHMEM_SECRET_FILE for all PEs, or "
                          "SHMEM_UID_INSECURE=1";
    return 0;
}

static int meet(struct hm_boot_world *world)
{
    char name[100];
    bool by_id = hm_boot_get_attr() != NULL;
    struct hm_root_plan root = {
        .pe = world->pe,
        .npes = world->npes,
        .name = name,
        .job = hm_hash_text(HM_HASH_START, job) + (uint64_t)round_now,
        .key = &key};
    const struct hm_meet_plan plan = {
        .pe = world->pe, .npes = world->npes, .exchange = hm_root_exchange, .key = key.size ? &key : NULL};
    if (world->npes == 1) return hm_meet(&plan, world);
    snprintf(name, sizeof name, "hbmesh-job-%u-%016llx-%d", (unsigned)geteuid(),
             (unsigned long long)hm_hash_text(HM_HASH_START, job), round_now);
    int rc = by_id ? plan_by_id(&root) : plan_by_environment(&root);
    if (!rc) rc = hm_root_open(&root);
    if (!by_id && root.door >= 0) close(root.door);
    if (rc) return rc;
    rc = hm_meet(&plan, world);
    if (rc) hm_root_refuse();
    hm_root_close();
    return rc;
}

static int uid_start(struct hm_boot_world *world)
{
    int rc = who(world);
    if (rc) return rc;
    rc = hm_mark_take(job, world->pe);
    if (rc) return rc;
    count_round();
    rc = meet(world);
    explicit_bzero(&key, sizeof key);
    explicit_bzero(id.secret, sizeof id.secret);
    if (rc) hm_mark_drop();
    joined = !rc;
    return rc;
}

static void uid_stop(void)
{
    hm_meet_stop();
    hm_mark_drop();
    joined = false;
}

const struct hm_boot hm_boot_uid = {
    .name = "uid",
    .because = "RANK and WORLD_SIZE are set",
    .without = "RANK and WORLD_SIZE are not set, and the program gives no unique id",
    .number = "RANK",
    .threads = true,
    .probe = uid_probe,
    .descends = uid_descends,
    .start = uid_start,
    .gather = hm_meet_gather,
    .apart = hm_meet_apart,
    .exit_all = hm_meet_exit_all,
    .stop = uid_stop,
};

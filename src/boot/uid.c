/* Rank and size are given: by the program with a unique id (shmemx_init_attr), or by the environment that torchrun and
 * many other launchers make. MASTER_PORT only tells jobs apart: it is never opened, since the launcher's own store may
 * hold it. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "boot/links.h"
#include "boot/mark.h"
#include "boot/packet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

extern char **environ;

/* What shmemx_uniqueid_t holds. */
struct unique_id {
    char magic[8];
    uint64_t machine;
    unsigned char name[16];
    unsigned char secret[HM_SECRET_BYTES];
};
_Static_assert(sizeof(struct unique_id) <= HM_UNIQUEID_BYTES, "a unique id must fit its type");
static const char id_magic[8] = "hbmesh1";

static struct hm_meeting_place place; /* of the job that is being joined, or was last */
static char job[200];                 /* by which it is told from others */
static int npes, round_now;
static bool joined;

/* --- the unique id --- */

/* A number that only processes of this machine have in common. */
static uint64_t machine_number(void)
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return hm_hash_text(HM_HASH_START, text);
}

int hm_uniqueid_make(unsigned char id[HM_UNIQUEID_BYTES])
{
    struct unique_id u = {.machine = machine_number()};
    memcpy(u.magic, id_magic, sizeof u.magic);
    size_t random = sizeof u.name + sizeof u.secret;
    unsigned char bytes[sizeof u.name + sizeof u.secret];
    if (getrandom(bytes, random, 0) != (ssize_t)random) return -EIO;
    memcpy(u.name, bytes, sizeof u.name);
    memcpy(u.secret, bytes + sizeof u.name, sizeof u.secret);
    memset(id, 0, HM_UNIQUEID_BYTES);
    memcpy(id, &u, sizeof u);
    return 0;
}

static void name_job_by_id(const unsigned char *name)
{
    char hex[33];
    for (int i = 0; i < 16; i++)
        sprintf(hex + 2 * i, "%02x", name[i]);
    snprintf(job, sizeof job, "id %s", hex);
}

static int read_id(const struct hm_boot_attr *attr, unsigned char secret[HM_SECRET_BYTES])
{
    struct unique_id u;
    memcpy(&u, attr->id, sizeof u);
    if (memcmp(u.magic, id_magic, sizeof u.magic) != 0) {
        hm_log_line(NULL, "the unique id is none that shmemx_get_uniqueid of this library has made");
        return -EINVAL;
    }
    if (u.machine != machine_number()) {
        hm_log_line(
            NULL,
            "the unique id was made on another machine; a job on several machines needs a transport that is "
            "not there yet");
        return -ENOTSUP;
    }
    name_job_by_id(u.name);
    memcpy(secret, u.secret, HM_SECRET_BYTES);
    return 0;
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
    const char *here = hm_boot_variable(environ, "LOCAL_WORLD_SIZE");
    if (here && number(environ, "LOCAL_WORLD_SIZE") != size) {
        if (pe) return hm_boot_leave_to_first();
        hm_log_line(
            NULL,
            "LOCAL_WORLD_SIZE=%s of WORLD_SIZE=%d: the job is on several machines, which needs a transport "
            "that is not there yet",
            here, size);
        return -ENOTSUP;
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
    return 0;
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

static int find_place(struct hm_meeting_place *at)
{
    *at = place;
    return 0;
}

static int who(struct hm_boot_world *world)
{
    const struct hm_boot_attr *attr = hm_boot_get_attr();
    memset(place.secret, 0, sizeof place.secret);
    if (!attr) return read_environment(world);
    *world = (struct hm_boot_world){.pe = attr->pe, .npes = attr->npes};
    return read_id(attr, place.secret);
}

/* A later job of the same PEs meets elsewhere: nobody shall mistake it for the one before. */
static void name_place(void)
{
    static char last[sizeof job];
    round_now = strcmp(last, job) ? 0 : round_now + 1;
    memcpy(last, job, sizeof job);
    snprintf(place.name, sizeof place.name, "hbmesh-job-%u-%016llx-%d", (unsigned)geteuid(),
             (unsigned long long)hm_hash_text(HM_HASH_START, job), round_now);
}

static int meet(struct hm_boot_world *world)
{
    if (npes == 1) {
        world->job_fd = hm_job_make(1);
        return world->job_fd < 0 ? world->job_fd : 0;
    }
    const struct hm_links_plan plan = {
        .pe = world->pe,
        .npes = npes,
        .find = find_place,
        .what = hm_boot_get_attr()
                    ? "the program gave rank, size and unique id"
                    : "RANK, WORLD_SIZE and MASTER_PORT are set (SHMEM_BOOT=single: jobs of one PE)"};
    return hm_links_open(&plan, &world->job_fd);
}

static int uid_start(struct hm_boot_world *world)
{
    int rc = who(world);
    if (rc) return rc;
    npes = world->npes;
    world->machines = 1;
    world->local_pe = world->pe;
    world->local_npes = npes;
    if (npes > HM_JOB_MAX_PES) {
        hm_log_line(NULL, "a job of %d PEs is more than the %d that one machine may have", npes,
                    HM_JOB_MAX_PES);
        return -EINVAL;
    }
    rc = hm_mark_take(job, world->pe);
    if (rc) return rc;
    name_place();
    rc = meet(world);
    if (rc) hm_mark_drop();
    joined = !rc;
    return rc;
}

static int uid_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    if (npes > 1) return hm_links_gather(mine, len, all, fds, nfds, all_fds);
    if (len) memcpy(all, mine, len);
    return hm_fds_duplicate(fds, nfds, all_fds);
}

static void uid_exit_all(int status)
{
    hm_links_exit_all(status);
}

static void uid_stop(void)
{
    if (npes > 1) hm_links_close();
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
    .gather = uid_gather,
    .exit_all = uid_exit_all,
    .stop = uid_stop,
};

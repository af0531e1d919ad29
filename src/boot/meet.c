/* The contract stands in meet.h. */
#define _GNU_SOURCE
#include "boot/meet.h"

#include "base/log.h"
#include "base/version.h"
#include "boot/links.h"
#include "boot/mark.h"
#include "boot/net.h"
#include "boot/packet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ROUNDS 6 /* of trying; whoever is left over then is a machine of its own */

/* The first exchange: what a PE is. */
struct card {
    uint32_t job_version;
    int32_t npes;
    char library[24];
    uint64_t surroundings;
    unsigned char name[16]; /* of the socket it listens on */
    unsigned char secret[HM_SECRET_BYTES];
};
/* The others: on which machine it has found itself; leader -1: none yet. Leaders give addresses once it is known that
 * there are several machines. */
#define seat hm_net_machine
/* 240 bytes are for the greeting and the transport's address. One seat: that a second exchange is needed is rare. */
_Static_assert(sizeof(struct card) + sizeof(struct seat) + 240 <= 512,
               "init exchanges at most 512 bytes for each PE");

static struct {
    const struct hm_meet_plan *plan;
    int pe, npes, machines, local_pe, local_npes;
    struct card *cards;
    struct seat *seats, mine;
    int32_t *machine_of; /* by PE */
    int *world;          /* by local number */
    uint64_t *surroundings; /* by machine */
} meet;

/* --- what a PE is --- */

/* So many bits for each part, the first ones for the kernel: two numbers tell what differs. */
enum { KERNEL_AT = 32, NETWORK_AT = 20, USERS_AT = 10, USER_AT = 0 };

static uint64_t part(const char *text, int at, int bits)
{
    uint64_t hash = hm_hash_text(HM_HASH_START, text);
    return ((hash ^ hash >> 32) & ((1ull << bits) - 1)) << at;
}

static uint64_t link_part(const char *path, int at, int bits)
{
    char text[128];
    ssize_t n = readlink(path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    return part(text, at, bits);
}

uint64_t hm_surroundings(void)
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    uint64_t all = part(text, KERNEL_AT, 32);
    all |= link_part("/proc/self/ns/net", NETWORK_AT, 12) | link_part("/proc/self/ns/user", USERS_AT, 10);
    snprintf(text, sizeof text, "%u", (unsigned)geteuid());
    return all | part(text, USER_AT, 10);
}

const char *hm_meet_apart(int a, int b, bool *asked)
{
    uint64_t differ = meet.surroundings[meet.machine_of[a]] ^ meet.surroundings[meet.machine_of[b]];
    *asked = false;
    if (differ >> KERNEL_AT) return NULL;
    if (differ >> NETWORK_AT) return "their network namespaces differ, as those of containers do";
    if (differ >> USERS_AT) return "their user namespaces differ, as those of containers do";
    if (differ) return "they belong to different users";
    return "they could not pass memory to each other through a unix socket";
}

static int make_card(struct card *c)
{
    *c = (struct card){.job_version = HM_JOB_VERSION, .npes = meet.npes, .surroundings = hm_surroundings()};
    snprintf(c->library, sizeof c->library, "%s", HM_VERSION);
    if (getrandom(c->name, sizeof c->name, 0) == sizeof c->name &&
        getrandom(c->secret, sizeof c->secret, 0) == sizeof c->secret)
        return 0;
    hm_log_line(NULL, "the system gives no random bytes");
    return -EIO;
}

static void place_of(const struct card *c, struct hm_meeting_place *place)
{
    int n = snprintf(place->name, sizeof place->name, "hbmesh-job-");
    for (size_t i = 0; i < sizeof c->name; i++)
        n += sprintf(place->name + n, "%02x", c->name[i]);
    memcpy(place->secret, c->secret, sizeof place->secret);
}

/* All PEs see the same cards, so all leave; PE 0 says why. */
static int compare_cards(void)
{
    for (int i = 1; i < meet.npes; i++) {
        const struct card *c = &meet.cards[i], *first = &meet.cards[0];
        bool same_library =
            c->job_version == first->job_version && !strncmp(c->library, first->library, sizeof c->library);
        if (same_library && c->npes == first->npes) continue;
        if (meet.pe) return hm_boot_leave_to_first();
        if (!same_library)
            hm_log_line(NULL, "PE %d has library version %.24s, PE 0 has %s: have all use the same", i,
                        c->library, HM_VERSION);
        else
            hm_log_line(NULL, "PE %d was told that the job has %d PEs, PE 0 that it has %d", i, c->npes,
                        first->npes);
        return -EPROTO;
    }
    return 0;
}

/* --- who sits where --- */

/* The lowest PE without a seat whose surroundings are ours. */
static int middle_to_try(void)
{
    for (int i = 0; i < meet.pe; i++)
        if (meet.seats[i].leader < 0 && meet.cards[i].surroundings == meet.cards[meet.pe].surroundings)
            return i;
    return meet.pe;
}

static bool all_alike(void)
{
    for (int i = 1; i < meet.npes; i++)
        if (meet.cards[i].surroundings != meet.cards[0].surroundings) return false;
    return true;
}

static bool all_seated(void)
{
    for (int i = 0; i < meet.npes; i++)
        if (meet.seats[i].leader < 0) return false;
    return true;
}

static int take_seat(int round)
{
    int middle = round < ROUNDS ? middle_to_try() : meet.pe;
    if (middle == meet.pe) {
        meet.mine.leader = meet.pe;
        return 0;
    }
    struct hm_meeting_place place;
    place_of(&meet.cards[middle], &place);
    int rc = hm_links_join(&place, meet.pe);
    if (rc > 0) meet.mine.leader = middle;
    return rc < 0 ? rc : 0;
}

static int find_seats(void)
{
    int rc = 0;
    bool several = !all_alike();
    for (int i = 0; i < meet.npes; i++)
        meet.seats[i].leader = -1;
    for (int round = 0; !rc && !all_seated(); round++, several = true) {
        if (meet.mine.leader < 0) rc = take_seat(round);
        bool leads = meet.mine.leader == meet.pe;
        if (!rc && leads && several && !meet.mine.at[0].port) rc = hm_net_listen(meet.mine.at);
        if (!rc)
            rc = meet.plan->exchange(&meet.mine, sizeof meet.mine, meet.seats, leads ? hm_links_serve : NULL);
    }
    return rc;
}

/* Afterwards the seats of the leaders stand first, by machine. */
static void number_machines(void)
{
    meet.machines = meet.local_npes = 0;
    for (int i = 0; i < meet.npes; i++) {
        int leader = meet.seats[i].leader;
        meet.machine_of[i] = leader == i ? meet.machines : meet.machine_of[leader];
        if (i == meet.pe) meet.local_pe = meet.local_npes;
        if (leader == meet.mine.leader) meet.world[meet.local_npes++] = i;
        if (leader != i) continue;
        meet.surroundings[meet.machines] = meet.cards[i].surroundings;
        meet.seats[meet.machines++] = meet.seats[i];
    }
}

/* Of all that is there for each PE only the smallest part is needed any more. */
static void shrink(void *array, size_t bytes)
{
    void **at = array, *smaller = realloc(*at, bytes);
    if (smaller) *at = smaller;
}

static void keep_what_is_needed(void)
{
    free(meet.cards);
    meet.cards = NULL;
    shrink(&meet.world, (size_t)meet.local_npes * sizeof *meet.world);
    shrink(&meet.surroundings, (size_t)meet.machines * sizeof *meet.surroundings);
}

/* --- the bootstrap's calls --- */

static void wipe_secrets(void)
{
    for (int i = 0; meet.cards && i < meet.npes; i++)
        explicit_bzero(meet.cards[i].secret, sizeof meet.cards[i].secret);
}

static void forget(void)
{
    wipe_secrets();
    free(meet.cards);
    free(meet.seats);
    free(meet.machine_of);
    free(meet.world);
    free(meet.surroundings);
    memset(&meet, 0, sizeof meet);
}

static int prepare(const struct hm_meet_plan *plan)
{
    size_t n = (size_t)plan->npes;
    memset(&meet, 0, sizeof meet);
    meet.plan = plan;
    meet.pe = plan->pe;
    meet.npes = plan->npes;
    meet.cards = calloc(n, sizeof *meet.cards);
    meet.seats = calloc(n, sizeof *meet.seats);
    meet.machine_of = calloc(n, sizeof *meet.machine_of);
    meet.world = calloc(n, sizeof *meet.world);
    meet.surroundings = calloc(n, sizeof *meet.surroundings);
    meet.mine.leader = -1;
    gethostname(meet.mine.host, sizeof meet.mine.host - 1);
    return meet.cards && meet.seats && meet.machine_of && meet.world && meet.surroundings ? 0 : -ENOMEM;
}

static int exchange_cards(void)
{
    struct card card;
    struct hm_meeting_place place = {0};
    int rc = make_card(&card);
    if (rc) return rc;
    place_of(&card, &place);
    rc = hm_links_listen(&place, meet.npes);
    if (!rc) rc = meet.plan->exchange(&card, sizeof card, meet.cards, NULL);
    return rc ? rc : compare_cards();
}

static int open_net(struct hm_far_line **far, int *count)
{
    if (meet.machines == 1 || meet.local_pe > 1) {
        hm_net_close();
        return 0;
    }
    struct hm_net_plan plan = {.pe = meet.pe,
                               .deputy = meet.local_pe == 1,
                               .npes = meet.npes,
                               .machine = meet.machine_of[meet.pe],
                               .machines = meet.machines,
                               .machine_of = meet.machine_of,
                               .members = meet.seats};
    if (meet.plan->key) {
        plan.key = *meet.plan->key;
    } else {
        plan.key.size = sizeof meet.cards[0].secret;
        memcpy(plan.key.bytes, meet.cards[0].secret, sizeof meet.cards[0].secret);
    }
    int rc = hm_net_open(&plan, far, count);
    explicit_bzero(&plan.key, sizeof plan.key);
    return rc;
}

static int open_links(int *job_fd)
{
    struct hm_links_plan plan = {.local_pe = meet.local_pe,
                                 .local_npes = meet.local_npes,
                                 .world = meet.world,
                                 .several = meet.machines > 1};
    struct hm_far_line *far = NULL;
    int rc = open_net(&far, &plan.far_count);
    plan.far = far;
    if (!rc) rc = hm_links_open(&plan, job_fd);
    for (int i = 0; rc && i < plan.far_count; i++)
        close(far[i].fd);
    if (rc) hm_net_close();
    free(far);
    return rc;
}

static int meet_alone(struct hm_boot_world *world)
{
    int job_fd = hm_job_make(1);
    *world = (struct hm_boot_world){0, 1, 0, 1, 0, 1, job_fd};
    return job_fd < 0 ? job_fd : 0;
}

static int check_size(void)
{
    if (meet.local_npes <= HM_JOB_MAX_PES) return 0;
    if (meet.local_pe == 0)
        hm_log_line(NULL, "%d PEs are more than the %d that one machine may have", meet.local_npes,
                    HM_JOB_MAX_PES);
    return meet.local_pe ? hm_boot_leave_to_first() : -EINVAL;
}

int hm_meet(const struct hm_meet_plan *plan, struct hm_boot_world *world)
{
    int job_fd = -1, rc = prepare(plan);
    if (!rc && plan->npes == 1) return meet_alone(world);
    if (!rc) rc = exchange_cards();
    if (!rc) rc = find_seats();
    if (!rc) {
        number_machines();
        shrink(&meet.seats, (size_t)meet.machines * sizeof *meet.seats); /* before others point at it */
        rc = check_size();
    }
    if (!rc) rc = open_links(&job_fd);
    if (!rc) keep_what_is_needed();
    meet.plan = NULL;
    if (rc) {
        hm_links_refuse();
        hm_net_close();
        forget();
        return rc;
    }
    wipe_secrets();
    *world = (struct hm_boot_world){.pe = meet.pe,
                                    .npes = meet.npes,
                                    .machine = meet.machine_of[meet.pe],
                                    .machines = meet.machines,
                                    .local_pe = meet.local_pe,
                                    .local_npes = meet.local_npes,
                                    .job_fd = job_fd};
    return 0;
}

/* What this machine's PEs have brought goes to its leader's place in `all`, the leaders exchange, and spread it. */
static int across(const char *near, size_t len, char *all)
{
    for (int i = 0; i < meet.local_npes && len; i++)
        memcpy(all + (size_t)meet.world[i] * len, near + (size_t)i * len, len);
    int rc = meet.local_pe ? 0 : hm_net_gather(len, all);
    return rc ? rc : hm_links_spread(meet.npes, len, all);
}

static void sort_descriptors(const int *near, int nfds, int *all_fds)
{
    for (int i = 0; i < meet.npes * nfds; i++)
        all_fds[i] = -1;
    for (int i = 0; i < meet.local_npes && nfds; i++)
        memcpy(all_fds + meet.world[i] * nfds, near + i * nfds, (size_t)nfds * sizeof(int));
}

static int gather_far(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    size_t n = (size_t)meet.local_npes;
    char *near = malloc(n * len + 1);
    int *near_fds = malloc(n * (size_t)nfds * sizeof(int) + 1);
    int rc = near && near_fds ? hm_links_gather(mine, len, near, fds, nfds, near_fds) : -ENOMEM;
    if (!rc) {
        rc = across(near, len, all);
        if (rc) hm_fds_close(near_fds, meet.local_npes * nfds);
    }
    if (!rc) sort_descriptors(near_fds, nfds, all_fds);
    free(near);
    free(near_fds);
    return rc;
}

int hm_meet_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    if (meet.npes > 1 && meet.machines > 1) return gather_far(mine, len, all, fds, nfds, all_fds);
    if (meet.npes > 1) return hm_links_gather(mine, len, all, fds, nfds, all_fds);
    if (len) memcpy(all, mine, len);
    return hm_fds_duplicate(fds, nfds, all_fds);
}

void hm_meet_exit_all(int status)
{
    hm_links_exit_all(status);
}

void hm_meet_stop(void)
{
    if (meet.npes > 1) {
        hm_links_close();
        hm_net_close();
    }
    forget();
}

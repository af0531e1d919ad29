/* The contract stands in net.h. */
#define _GNU_SOURCE
#include "boot/net.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "base/version.h"
#include "boot/boot.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS 1000000ull
#define FAN_OUT 16

struct neighbour {
    int machine;        /* -1: none */
    int wire, lifeline; /* to its leader */
    int deputy;         /* lifeline of its deputy */
};

static struct {
    struct hm_net_plan plan;
    struct neighbour up, down[FAN_OUT];
    struct hm_gate gate;
    uint32_t round;
    bool open;
    bool wrong; /* somebody came who does not fit, and that is said */
} net;
static int door = -1; /* between listen and open */

/* --- the tree --- */

static int above(int machine)
{
    return machine ? (machine - 1) / FAN_OUT : -1;
}

static bool is_below(int machine, int top)
{
    while (machine > top)
        machine = above(machine);
    return machine == top;
}

/* "PE 3", "PEs 0, 2-5" */
static void list_pes(int machine, char *text, size_t size)
{
    const int32_t *of = net.plan.machine_of;
    size_t n = 0;
    int found = 0;
    char list[48] = "";
    for (int i = 0; i < net.plan.npes && n + 24 < sizeof list; i++) {
        if (of[i] != machine) continue;
        int last = i;
        while (last + 1 < net.plan.npes && of[last + 1] == machine)
            last++;
        n += (size_t)snprintf(list + n, sizeof list - n, last > i ? "%s%d-%d" : "%s%d", n ? ", " : "", i,
                              last);
        found += 1 + last - i;
        i = last;
    }
    snprintf(text, size, "PE%s %s", found > 1 ? "s" : "", list);
}

/* --- doors --- */

static void let_go_in_child(void)
{
    hm_net_close();
}

int hm_net_listen(struct hm_address at[HM_ADDRESSES])
{
    static bool forks_seen;
    if (!forks_seen && pthread_atfork(NULL, NULL, let_go_in_child) == 0) forks_seen = true;
    if (door >= 0) close(door);
    door = hm_listen_tcp(0);
    if (door < 0) {
        hm_log_line(NULL, "cannot listen for other machines: %s", strerror(-door));
        return door;
    }
    if (hm_own_addresses(at, HM_ADDRESSES, hm_port_of(door))) return 0;
    hm_log_line(NULL, "this machine has no network address by which others could reach it");
    return -EADDRNOTAVAIL;
}

/* What was sent and is not acknowledged counts as silence, too; not on wires, whose reader may be stopped. */
static void beat(int fd)
{
    unsigned unanswered = (unsigned)hm_options.heartbeat * 1000;
    if (unanswered) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof unanswered);
}

/* The second PE of a machine keeps lifelines to the neighbours as well, so that somebody can tell how the leader has died;
 * -1: it is alone there. */
static int deputy_of(int machine)
{
    for (int i = net.plan.members[machine].leader + 1; i < net.plan.npes; i++)
        if (net.plan.machine_of[i] == machine) return i;
    return -1;
}

static bool take(int *slot, int fd, bool lifeline)
{
    if (*slot >= 0) return false;
    *slot = fd;
    if (lifeline) beat(fd);
    return true;
}

static struct neighbour *neighbour_at(int i)
{
    return i ? &net.down[i - 1] : &net.up;
}
#define NEIGHBOURS (FAN_OUT + 1)

/* A leader from below, or a deputy. */
static enum hm_shake_verdict admit(int fd, const struct hm_shake_hello *hello)
{
    bool wire = hello->purpose == HM_SHAKE_WIRE, well = false;
    if (hello->to != net.plan.pe || hello->npes != net.plan.npes || hello->pe < 0 ||
        hello->pe >= net.plan.npes)
        return HM_SHAKE_ELSEWHERE;
    if (!wire && hello->purpose != HM_SHAKE_LIFELINE) return HM_SHAKE_ELSEWHERE;
    int machine = net.plan.machine_of[hello->pe];
    for (int i = 0; i < NEIGHBOURS; i++) {
        struct neighbour *n = neighbour_at(i);
        if (n->machine != machine) continue;
        if (hello->pe == net.plan.members[machine].leader && i)
            well = take(wire ? &n->wire : &n->lifeline, fd, !wire);
        else if (hello->pe == deputy_of(machine) && !wire)
            well = take(&n->deputy, fd, true);
        return well ? HM_SHAKE_WELCOME : HM_SHAKE_THERE_ALREADY;
    }
    return HM_SHAKE_ELSEWHERE;
}

/* --- opening --- */

/* Who has still to come to this leader. */
static const struct neighbour *missing(void)
{
    for (int i = 0; i < NEIGHBOURS; i++) {
        const struct neighbour *n = neighbour_at(i);
        if (n->machine < 0) continue;
        if (i && (n->wire < 0 || n->lifeline < 0)) return n;
        if (n->deputy < 0 && deputy_of(n->machine) >= 0) return n;
    }
    return NULL;
}

static int say_unreached(int machine, const char *way, const struct hm_reach *reach)
{
    const struct hm_net_machine *m = &net.plan.members[machine];
    char pes[64], at[80], why[128] = "";
    list_pes(machine, pes, sizeof pes);
    hm_address_print(&m->at[0], at, sizeof at);
    if (reach && reach->error) snprintf(why, sizeof why, ": %s", strerror(reach->error));
    hm_log_line(
        NULL,
        "host %s (%s, %s) %s within %ld s (SHMEM_BOOT_TIMEOUT)%s: is something between that blocks TCP?",
        m->host, pes, at, way, hm_options.boot_timeout, why);
    return -ETIMEDOUT;
}

/* Where this PE has to go: one connection after the other. */
struct way {
    struct neighbour *to;
    enum hm_shake_purpose purpose;
};
static int plan_ways(struct way *ways)
{
    int n = 0;
    if (net.plan.deputy) {
        for (int i = 0; i < NEIGHBOURS; i++)
            if (neighbour_at(i)->machine >= 0) ways[n++] = (struct way){neighbour_at(i), HM_SHAKE_LIFELINE};
    } else if (net.up.machine >= 0) {
        ways[n++] = (struct way){&net.up, HM_SHAKE_WIRE};
        ways[n++] = (struct way){&net.up, HM_SHAKE_LIFELINE};
    }
    return n;
}

static void begin_reach(struct hm_reach *r, const struct way *way)
{
    const struct hm_net_machine *m = &net.plan.members[way->to->machine];
    struct hm_shake_hello hello;
    hm_shake_hello(&hello, way->purpose, 0, net.plan.pe, net.plan.npes, m->leader);
    hm_reach_init(r, &net.plan.key, &hello);
    for (int i = 0; i < HM_ADDRESSES; i++)
        hm_reach_add(r, &m->at[i]);
}

static bool is_late(uint64_t since)
{
    return hm_options.boot_timeout && hm_os_now() - since > (uint64_t)hm_options.boot_timeout * 1000 * MS;
}

static int arrived(const struct way *way, int fd)
{
    bool wire = way->purpose == HM_SHAKE_WIRE;
    take(wire ? &way->to->wire : &way->to->lifeline, fd, !wire);
    return 0;
}

/* A deputy awaits nobody. */
static int connect_all(struct hm_reach *r)
{
    struct way ways[NEIGHBOURS];
    int count = plan_ways(ways), at = 0;
    uint64_t since = hm_os_now();
    if (count) begin_reach(r, &ways[0]);
    for (;;) {
        const struct neighbour *awaited = net.plan.deputy ? NULL : missing();
        if (at == count && !awaited) return 0;
        if (awaited) hm_gate_serve(&net.gate, at == count ? 20 : 1);
        int fd = at == count ? -EAGAIN : hm_reach_step(r, awaited ? 1 : 20);
        if (fd == -EPERM) return say_unreached(ways[at].to->machine, "does not let this one in,", r);
        if (fd >= 0) {
            arrived(&ways[at++], fd);
            hm_reach_stop(r);
            if (at < count) begin_reach(r, &ways[at]);
        }
        if (hm_boot_idle) hm_boot_idle();
        if (!is_late(since)) continue;
        return at == count ? say_unreached(awaited->machine, "has not come", NULL)
                           : say_unreached(ways[at].to->machine, "cannot be reached", r);
    }
}

static void set_neighbours(void)
{
    int m = net.plan.machine;
    net.up = (struct neighbour){above(m), -1, -1, -1};
    for (int i = 0; i < FAN_OUT; i++) {
        int below = m * FAN_OUT + 1 + i;
        net.down[i] = (struct neighbour){below < net.plan.machines ? below : -1, -1, -1, -1};
    }
}

static void add_line(struct hm_far_line *lines, int *count, int fd, int machine, int pe)
{
    if (fd < 0) return;
    const struct hm_net_machine *m = &net.plan.members[machine];
    struct hm_far_line *line = &lines[(*count)++];
    *line = (struct hm_far_line){.fd = fd, .machine = machine, .pe = pe};
    memcpy(line->host, m->host, sizeof m->host);
    list_pes(machine, line->pes, sizeof line->pes);
}

static void add_lines(struct hm_far_line *lines, int *count)
{
    for (int i = 0; i < NEIGHBOURS; i++) {
        const struct neighbour *n = neighbour_at(i);
        if (n->machine < 0) continue;
        add_line(lines, count, n->lifeline, n->machine, net.plan.members[n->machine].leader);
        add_line(lines, count, n->deputy, n->machine, deputy_of(n->machine));
    }
}

static void close_lifelines(void)
{
    for (int i = 0; i < NEIGHBOURS; i++) {
        struct neighbour *n = neighbour_at(i);
        if (n->lifeline >= 0) close(n->lifeline);
        if (n->deputy >= 0) close(n->deputy);
        n->lifeline = n->deputy = -1;
    }
}

int hm_net_open(const struct hm_net_plan *plan, struct hm_far_line **lines, int *count)
{
    net.plan = *plan;
    net.round = 0;
    net.open = true;
    set_neighbours();
    hm_gate_init(&net.gate, &net.plan.key, admit);
    net.gate.door[0] = door;
    door = -1;
    struct hm_reach *r = malloc(sizeof *r);
    *lines = calloc(2 * NEIGHBOURS, sizeof **lines);
    int rc = r && *lines ? hm_crypto_open() : -ENOMEM;
    if (!rc) r->count = 0;
    if (!rc) rc = connect_all(r);
    if (r && rc != -ENOMEM) hm_reach_stop(r);
    free(r);
    hm_gate_close(&net.gate);
    explicit_bzero(&net.plan.key, sizeof net.plan.key);
    *count = 0;
    if (!rc) add_lines(*lines, count);
    if (!rc) return 0;
    close_lifelines();
    free(*lines);
    *lines = NULL;
    hm_net_close();
    return rc;
}

static void close_wire(struct neighbour *n)
{
    if (n->machine >= 0 && n->wire >= 0) close(n->wire);
    n->wire = -1;
}

/* The lifelines are the watch's. */
void hm_net_close(void)
{
    if (door >= 0) close(door); /* nobody has come to need it */
    door = -1;
    if (!net.open) return;
    close_wire(&net.up);
    for (int i = 0; i < FAN_OUT; i++)
        close_wire(&net.down[i]);
    hm_gate_close(&net.gate);
    net.open = false;
}

/* --- gathering --- */

/* Goes before the parts of a gather: `count` records of a PE's number and its `len` bytes; downwards the bytes of all. */
struct parts {
    uint32_t round, len;
    int32_t count, spare;
};

static int write_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -errno;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static int read_all(int fd, void *bytes, size_t size)
{
    for (char *at = bytes; size;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        while (hm_boot_idle && poll(&p, 1, 25) <= 0)
            hm_boot_idle();
        ssize_t n = recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? -errno : -EPIPE;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static int read_head(int fd, size_t len, int most, struct parts *p)
{
    int rc = read_all(fd, p, sizeof *p);
    if (rc) return rc;
    return p->round == net.round && p->len == len && p->count >= 0 && p->count <= most ? 0 : -EPROTO;
}

static int take_from_below(const struct neighbour *n, size_t len, char *all, char *room)
{
    struct parts p;
    if (n->machine < 0) return 0;
    int rc = read_head(n->wire, len, net.plan.npes, &p);
    size_t step = sizeof(int32_t) + len;
    if (!rc) rc = read_all(n->wire, room, (size_t)p.count * step);
    for (int i = 0; !rc && i < p.count; i++) {
        int32_t pe;
        memcpy(&pe, room + (size_t)i * step, sizeof pe);
        if (pe < 0 || pe >= net.plan.npes) return -EPROTO;
        memcpy(all + (size_t)pe * len, room + (size_t)i * step + sizeof pe, len);
    }
    return rc;
}

static int give_upwards(size_t len, const char *all, char *room)
{
    struct parts p = {.round = net.round, .len = (uint32_t)len};
    char *at = room;
    for (int32_t pe = 0; pe < net.plan.npes; pe++) {
        if (!is_below(net.plan.machine_of[pe], net.plan.machine)) continue;
        memcpy(at, &pe, sizeof pe);
        memcpy(at + sizeof pe, all + (size_t)pe * len, len);
        at += sizeof pe + len;
        p.count++;
    }
    int rc = write_all(net.up.wire, &p, sizeof p);
    return rc ? rc : write_all(net.up.wire, room, (size_t)(at - room));
}

static int gather(size_t len, char *all, char *room)
{
    int rc = 0;
    struct parts p = {.round = net.round, .len = (uint32_t)len, .count = net.plan.npes};
    for (int i = 0; i < FAN_OUT && !rc; i++)
        rc = take_from_below(&net.down[i], len, all, room);
    if (net.up.machine >= 0) {
        if (!rc) rc = give_upwards(len, all, room);
        if (!rc) rc = read_head(net.up.wire, len, net.plan.npes, &p);
        if (!rc) rc = read_all(net.up.wire, all, (size_t)net.plan.npes * len);
    }
    for (int i = 0; i < FAN_OUT && !rc; i++) {
        if (net.down[i].machine < 0) continue;
        rc = write_all(net.down[i].wire, &p, sizeof p);
        if (!rc) rc = write_all(net.down[i].wire, all, (size_t)net.plan.npes * len);
    }
    net.round++;
    return rc;
}

/* A wire that has closed means a PE or a host that has died, and the watch of the lifelines ends this process with a better
 * sentence. */
int hm_net_gather(size_t len, char *all)
{
    char *room = malloc((size_t)net.plan.npes * (len + sizeof(int32_t)) + 1);
    if (!room) return -ENOMEM;
    int rc = gather(len, all, room);
    free(room);
    if (rc == -EPROTO) hm_log_line(NULL, "two machines gather different things");
    if (rc && rc != -EPROTO) sleep(15);
    return rc;
}

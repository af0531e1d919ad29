/* The contract stands in gate.h. */
#define _GNU_SOURCE
#include "boot/gate.h"

#include "base/option.h"
#include "base/os.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS 1000000ull
#define PATIENCE (2000 * MS) /* for one handshake */
#define QUEUED (10000 * MS)  /* for an answer: others may be before us, and who comes anew is last again */
#define PAUSE (50 * MS)      /* between two tries at one address */

/* --- addresses --- */

void hm_address_from(struct hm_address *at, const struct sockaddr *from, uint16_t port)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    *at = (struct hm_address){.port = port};
    if (from->sa_family == AF_INET6) {
        memcpy(at->ip, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
    } else {
        memcpy(at->ip, mapped, sizeof mapped);
        memcpy(at->ip + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
    }
}

static bool is_mapped(const struct hm_address *at)
{
    return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)at->ip);
}

static socklen_t to_socket_address(const struct hm_address *at, struct sockaddr_storage *to)
{
    memset(to, 0, sizeof *to);
    if (is_mapped(at)) {
        struct sockaddr_in *v4 = (void *)to;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(at->port);
        memcpy(&v4->sin_addr, at->ip + 12, 4);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (void *)to;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(at->port);
    memcpy(&v6->sin6_addr, at->ip, 16);
    return sizeof *v6;
}

void hm_address_print(const struct hm_address *at, char *text, size_t size)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    bool v4 = is_mapped(at);
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? at->ip + 12 : at->ip, ip, sizeof ip);
    snprintf(text, size, "%s port %u", ip, at->port);
}

/* Those that hold on one link only are of no use to others. */
static bool is_usable(const struct ifaddrs *i, bool loopback)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_LOOPBACK) == loopback) return false;
    if (i->ifa_addr->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr) >> 16 != 0xa9fe;
    return i->ifa_addr->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr);
}

/* Bridges of containers and virtual machines have the same addresses on many hosts: they come last. */
static bool is_inward(const char *name)
{
    static const char *const starts[] = {"docker", "br-", "virbr", "podman", "cni", "lxcbr", "lxdbr", "incusbr"};
    for (size_t i = 0; i < HM_COUNT(starts); i++)
        if (!strncmp(name, starts[i], strlen(starts[i]))) return true;
    return false;
}

/* The lower the better: IPv4 is what most networks route, but where it has only bridges IPv6 goes before. */
static int rank_of(const struct ifaddrs *i)
{
    return 2 * is_inward(i->ifa_name) + (i->ifa_addr->sa_family == AF_INET6);
}
#define RANKS 4

int hm_own_addresses(struct hm_address *to, int most, uint16_t port)
{
    struct ifaddrs *all = NULL;
    int n = 0;
    if (getifaddrs(&all) != 0) all = NULL;
    for (int loopback = 0; loopback < 2 && !n; loopback++)
        for (int rank = 0; rank < RANKS; rank++)
            for (const struct ifaddrs *i = all; i && n < most; i = i->ifa_next)
                if (is_usable(i, loopback) && rank_of(i) == rank)
                    hm_address_from(&to[n++], i->ifa_addr, port);
    if (all) freeifaddrs(all);
    for (int i = n; i < most; i++)
        to[i] = (struct hm_address){.port = 0};
    return n;
}

static void set_blocking(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* Nothing of this takes on a unix socket, which needs none of it. The kernel's heartbeat: it asks when nothing comes, and
 * the other kernel answers, whatever its processes do. */
static void prepare(int fd)
{
    int limit = (int)hm_options.heartbeat, on = 1;
    int idle = limit < 8 ? 1 : limit / 4, every = 1, count = limit - idle < 1 ? 1 : limit - idle;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!limit) return;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* --- to let in --- */

void hm_gate_init(struct hm_gate *g, const struct hm_shake_key *key,
                  enum hm_shake_verdict (*admit)(int fd, const struct hm_shake_hello *hello))
{
    g->key = key;
    g->admit = admit;
    for (int i = 0; i < HM_GATE_DOORS; i++)
        g->door[i] = -1;
    for (int i = 0; i < HM_GATE_PLACES; i++)
        g->place[i].fd = -1;
}

static int listen_at(int family, const struct hm_address *at)
{
    struct sockaddr_storage to;
    int no = 0, yes = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes,
               sizeof yes); /* what the last job has left in TIME_WAIT is no matter */
    if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, (void *)&to, to_socket_address(at, &to)) == 0 && listen(fd, 4096) == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

int hm_listen_tcp(uint16_t port)
{
    struct hm_address any = {.port = port};
    int fd = listen_at(AF_INET6, &any); /* and IPv4 */
    if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL) return fd;
    any.ip[10] = any.ip[11] = 0xff;
    return listen_at(AF_INET, &any);
}

uint16_t hm_port_of(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    if (getsockname(fd, (void *)&at, &size) != 0) return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

static void drop(struct hm_shake *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

static struct hm_shake *free_place(struct hm_gate *g)
{
    for (int i = 0; i < HM_GATE_PLACES; i++)
        if (g->place[i].fd < 0) return &g->place[i];
    return NULL;
}

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Those that find no place wait in the kernel's queue. */
static void let_in(struct hm_gate *g, int door)
{
    struct hm_shake *s;
    while ((s = free_place(g))) {
        int fd = accept4(g->door[door], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        if (g->local[door] && !is_own_user(fd)) {
            close(fd);
            continue;
        }
        prepare(fd);
        hm_shake_serve(s, fd, g->local[door], g->key);
    }
}

static void judge(struct hm_gate *g, struct hm_shake *s)
{
    int fd = s->fd;
    s->fd = -1;
    set_blocking(fd, true);
    enum hm_shake_verdict verdict = g->admit(fd, &s->hello);
    s->fd = fd;
    hm_shake_judge(s, verdict ? verdict : HM_SHAKE_NO_JOB); /* one that has gone is noticed later */
    if (verdict != HM_SHAKE_WELCOME) close(fd);
    s->fd = -1;
}

static void go_on(struct hm_gate *g, struct hm_shake *s, bool news)
{
    int rc = news ? hm_shake_step(s) : 0;
    if (rc == 1)
        judge(g, s);
    else if (rc < 0 || hm_os_now() - s->since > PATIENCE)
        drop(s);
}

void hm_gate_serve(struct hm_gate *g, int milliseconds)
{
    struct pollfd fds[HM_GATE_DOORS + HM_GATE_PLACES];
    bool room = free_place(g) != NULL;
    for (int i = 0; i < HM_GATE_DOORS; i++)
        fds[i] = (struct pollfd){.fd = room ? g->door[i] : -1, .events = POLLIN};
    for (int i = 0; i < HM_GATE_PLACES; i++)
        fds[HM_GATE_DOORS + i] = (struct pollfd){.fd = g->place[i].fd, .events = POLLIN};
    int n = poll(fds, HM_COUNT(fds), milliseconds);
    for (int i = 0; i < HM_GATE_PLACES; i++)
        if (g->place[i].fd >= 0) go_on(g, &g->place[i], n > 0 && fds[HM_GATE_DOORS + i].revents);
    for (int i = 0; i < HM_GATE_DOORS; i++)
        if (n > 0 && fds[i].revents) let_in(g, i);
}

void hm_gate_close(struct hm_gate *g)
{
    for (int i = 0; i < HM_GATE_DOORS; i++) {
        if (g->door[i] >= 0) close(g->door[i]);
        g->door[i] = -1;
    }
    for (int i = 0; i < HM_GATE_PLACES; i++)
        drop(&g->place[i]);
}

/* --- to get in --- */

void hm_reach_init(struct hm_reach *r, const struct hm_shake_key *key, const struct hm_shake_hello *hello)
{
    r->count = r->error = 0;
    r->verdict = 0;
    r->key = key;
    r->hello = *hello;
}

void hm_reach_add(struct hm_reach *r, const struct hm_address *at)
{
    if (r->count == HM_REACH_MOST || !at->port) return;
    r->at[r->count] = *at;
    r->shake[r->count].fd = -1;
    r->again[r->count] = 0;
    r->count++;
}

static void failed(struct hm_reach *r, int i, int error)
{
    drop(&r->shake[i]);
    if (error) r->error = error;
    r->again[i] = hm_os_now() + PAUSE;
}

static void try_address(struct hm_reach *r, int i)
{
    struct sockaddr_storage to;
    socklen_t size = to_socket_address(&r->at[i], &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        failed(r, i, errno);
        return;
    }
    prepare(fd);
    hm_shake_ask(&r->shake[i], fd, false, r->key, &r->hello);
    if (connect(fd, (void *)&to, size) != 0 && errno != EINPROGRESS) failed(r, i, errno);
}

/* A connected descriptor, -EAGAIN, or -EPERM. */
static int hear(struct hm_reach *r, int i, bool news)
{
    struct hm_shake *s = &r->shake[i];
    int rc = news ? hm_shake_step(s) : 0;
    if (rc == 0 && hm_os_now() - s->since > (s->stage ? QUEUED : PATIENCE)) rc = -ETIMEDOUT;
    if (rc < 0) failed(r, i, -rc);
    if (rc < 1) return -EAGAIN;
    int fd = s->fd;
    if (s->verdict == HM_SHAKE_WELCOME) {
        s->fd = -1;
        set_blocking(fd, true);
        return fd;
    }
    r->verdict = s->verdict;
    failed(r, i, EPERM);
    return r->verdict == HM_SHAKE_ELSEWHERE ? -EAGAIN : -EPERM;
}

int hm_reach_step(struct hm_reach *r, int milliseconds)
{
    struct pollfd fds[HM_REACH_MOST];
    for (int i = 0; i < r->count; i++) {
        if (r->shake[i].fd < 0 && hm_os_now() >= r->again[i]) try_address(r, i);
        fds[i] = (struct pollfd){.fd = r->shake[i].fd,
                                 .events = r->shake[i].fd < 0 ? 0 : hm_shake_events(&r->shake[i])};
    }
    int n = poll(fds, (nfds_t)r->count, milliseconds), rc = -EAGAIN;
    for (int i = 0; i < r->count && rc == -EAGAIN; i++)
        if (r->shake[i].fd >= 0) rc = hear(r, i, n > 0 && fds[i].revents);
    return rc;
}

void hm_reach_stop(struct hm_reach *r)
{
    for (int i = 0; i < r->count; i++)
        drop(&r->shake[i]);
}

/* The driver of a node: one process that owns the memory of its devices.
 *
 * The first process that uses a device starts it, and it ends itself with the last one. It holds no name in a file
 * system: its socket is abstract, all memory lies in memfds. It ends of SIGKILL like anything else, and with it goes
 * everything but what processes have mapped; they are told by their sockets.
 *
 * A process that dies gives back what it had: its socket closes, and a descriptor of the process (pidfd) says so even
 * if a child of fork still holds the socket.
 */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 }; /* for the first user */

struct client {
    struct client *next;
    int fd, pidfd, pid;
    bool greeted, gone;
    uint64_t devices; /* bits: those it has opened */
};

struct memory {
    struct memory *next;
    uint64_t id, bytes;
    int device, fd;
    struct client *owner; /* NULL: it has freed it, or died */
    int imports;
    bool shared; /* as a whole, once */
};

struct share {
    struct share *next;
    uint64_t token, offset, bytes;
    uint32_t flags;
    struct memory *memory;
    struct client *exporter; /* NULL: closed, or dead */
    int exporter_pid, imports;
    int32_t pids[TW_PIDS];
    int npids;
};

struct import {
    struct import *next;
    uint64_t id;
    struct share *share;
    struct client *client;
};

static struct client *clients;
static struct memory *memories;
static struct share *shares;
static struct import *imports;
static struct tw_shared *state;
static int listener, state_fd, nclients;
static uint64_t last_id;
static char configuration[TW_PIDS * 4];

static int refuse(struct tw_reply *r, enum tw_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(struct tw_reply *r, enum tw_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, args);
    va_end(args);
    r->status = (int)status;
    return -1;
}

/* --- what there is --- */

static struct memory *find_memory(uint64_t id)
{
    struct memory *m = memories;
    while (m && m->id != id) m = m->next;
    return m;
}

static struct share *find_share(uint64_t token)
{
    struct share *s = shares;
    while (s && s->token != token) s = s->next;
    return s;
}

#define UNLINK(list, item)                                                                                             \
    do {                                                                                                               \
        __typeof__(list) *at_ = &(list);                                                                               \
        while (*at_ != (item)) at_ = &(*at_)->next;                                                                    \
        *at_ = (item)->next;                                                                                           \
    } while (0)

static void drop_shares_of(struct memory *m)
{
    for (struct share *s = shares, *next; s; s = next) {
        next = s->next;
        if (s->memory != m) continue;
        UNLINK(shares, s);
        free(s);
    }
}

/* Memory lives as long as its owner or somebody who has imported it holds it. */
static void settle_memory(struct memory *m)
{
    if (m->owner || m->imports) return;
    drop_shares_of(m);
    atomic_fetch_sub(&state->device[m->device].used, m->bytes);
    close(m->fd);
    UNLINK(memories, m);
    free(m);
}

static void drop_import(struct import *i)
{
    struct memory *m = i->share->memory;
    i->share->imports--;
    UNLINK(imports, i);
    free(i);
    m->imports--;
    settle_memory(m);
}

static void close_device(struct client *c, int d)
{
    if (!(c->devices >> d & 1)) return;
    c->devices &= ~(1ull << d);
    atomic_fetch_sub(&state->device[d].procs, 1);
}

static void drop_client(struct client *c)
{
    for (struct import *i = imports, *next; i; i = next) {
        next = i->next;
        if (i->client == c) drop_import(i);
    }
    for (struct share *s = shares; s; s = s->next)
        if (s->exporter == c) s->exporter = NULL;
    for (struct memory *m = memories, *next; m; m = next) {
        next = m->next;
        if (m->owner != c) continue;
        m->owner = NULL;
        settle_memory(m);
    }
    for (int d = 0; d < TW_DEVICES; d++) close_device(c, d);
    close(c->fd);
    if (c->pidfd >= 0) close(c->pidfd);
    UNLINK(clients, c);
    free(c);
    nclients--;
}

/* --- requests --- */

static int hello(struct client *c, const struct tw_request *q, struct tw_reply *r, int *fd)
{
    if (q->device != TW_VERSION || strncmp(q->text, configuration, sizeof q->text))
        return refuse(r, TW_START, "the node's driver already runs with another %s: '%s'",
                      q->device != TW_VERSION ? "version" : "configuration", configuration);
    c->greeted = true;
    r->pid = c->pid;
    *fd = state_fd;
    return 0;
}

static int check_device(const struct tw_request *q, struct tw_reply *r)
{
    if (q->device >= 0 && q->device < state->config.devices) return 0;
    return refuse(r, TW_NO_DEVICE, "device %d of %d", q->device, state->config.devices);
}

static int open_device(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    if (check_device(q, r)) return -1;
    if (c->devices >> q->device & 1) return 0;
    struct tw_device *d = &state->device[q->device];
    if (atomic_load(&d->procs) >= state->config.procs)
        return refuse(r, TW_LIMIT, "device %d is used by %d processes, which is its limit", q->device,
                      state->config.procs);
    atomic_fetch_add(&d->procs, 1);
    c->devices |= 1ull << q->device;
    return 0;
}

static int allocate(struct client *c, const struct tw_request *q, struct tw_reply *r, int *fd)
{
    if (check_device(q, r)) return -1;
    struct tw_device *d = &state->device[q->device];
    uint64_t used = atomic_load(&d->used), total = state->config.hbm;
    if (q->bytes > total - used)
        return refuse(r, TW_NO_MEMORY, "%llu bytes on device %d: %llu of %llu bytes are free",
                      (unsigned long long)q->bytes, q->device, (unsigned long long)(total - used),
                      (unsigned long long)total);
    struct memory *m = calloc(1, sizeof *m);
    if (!m) return refuse(r, TW_NO_HOST_MEMORY, "the driver has no memory");
    m->fd = memfd_create("hbmesh-twin-hbm", MFD_CLOEXEC);
    if (m->fd < 0 || ftruncate(m->fd, (off_t)q->bytes)) {
        int e = errno;
        if (m->fd >= 0) close(m->fd);
        free(m);
        return refuse(r, TW_NO_HOST_MEMORY, "the driver makes no memory of %llu bytes: %s",
                      (unsigned long long)q->bytes, strerror(e));
    }
    m->id = ++last_id;
    m->bytes = q->bytes;
    m->device = q->device;
    m->owner = c;
    m->next = memories;
    memories = m;
    atomic_fetch_add(&d->used, m->bytes);
    r->id = m->id;
    *fd = m->fd;
    return 0;
}

static int free_memory(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    struct memory *m = find_memory(q->id);
    if (!m || m->owner != c) return refuse(r, TW_HANDLE, "no such memory");
    for (struct share *s = shares; s; s = s->next)
        if (s->memory == m && s->flags & TW_SHARE_KEY && s->exporter == c)
            return refuse(r, TW_IN_USE, "the memory is shared by a key, which is to be closed first");
    m->owner = NULL;
    settle_memory(m);
    return 0;
}

static int export(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    struct memory *m = find_memory(q->id);
    if (!m || m->owner != c) return refuse(r, TW_HANDLE, "no such memory");
    if (q->offset > m->bytes || q->bytes > m->bytes - q->offset)
        return refuse(r, TW_INVALID, "the range leaves the memory");
    if (!(q->flags & TW_SHARE_KEY) && m->shared) return refuse(r, TW_IN_USE, "the handle was exported before");
    struct share *s = calloc(1, sizeof *s);
    if (!s) return refuse(r, TW_NO_HOST_MEMORY, "the driver has no memory");
    do
        if (getrandom(&s->token, sizeof s->token, 0) != sizeof s->token) s->token = ++last_id * 0x9e3779b97f4a7c15ull;
    while (!s->token || find_share(s->token));
    if (!(q->flags & TW_SHARE_KEY)) m->shared = true;
    s->flags = q->flags;
    s->offset = q->offset;
    s->bytes = q->bytes;
    s->memory = m;
    s->exporter = c;
    s->exporter_pid = c->pid;
    s->next = shares;
    shares = s;
    r->id = s->token;
    return 0;
}

static int allow(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    struct share *s = find_share(q->id);
    if (!s || s->exporter != c) return refuse(r, TW_HANDLE, "this process has exported no such thing");
    for (uint32_t i = 0; i < q->count && i < TW_PIDS; i++) {
        if (s->npids == TW_PIDS) return refuse(r, TW_LIMIT, "more than %d processes on the list", TW_PIDS);
        s->pids[s->npids++] = q->pids[i];
    }
    return 0;
}

static bool on_list(const struct share *s, int pid)
{
    if (s->flags & TW_SHARE_ANYBODY) return true;
    for (int i = 0; i < s->npids; i++)
        if (s->pids[i] == pid) return true;
    return false;
}

static int server_of(int device)
{
    return device / ((state->config.devices + state->config.servers - 1) / state->config.servers);
}

static int import_share(struct client *c, const struct tw_request *q, struct tw_reply *r, int *fd)
{
    if (check_device(q, r)) return -1;
    struct share *s = find_share(q->id);
    if (!s || !s->exporter || (s->flags ^ q->flags) & (TW_SHARE_KEY | TW_SHARE_FABRIC))
        return refuse(r, TW_HANDLE, "nothing is exported under this %s (any more)",
                      q->flags & TW_SHARE_KEY ? "key" : "handle");
    if (s->exporter == c) return refuse(r, TW_IN_USE, "the process that has exported it cannot import it");
    if (!on_list(s, c->pid)) return refuse(r, TW_FORBIDDEN, "process %d is not on the exporter's list", c->pid);
    if (!(s->flags & TW_SHARE_FABRIC) && server_of(q->device) != server_of(s->memory->device))
        return refuse(r, TW_FORBIDDEN, "devices %d and %d are on different servers", q->device, s->memory->device);
    for (struct import *i = imports; i; i = i->next)
        if (i->client == c && i->share == s) return refuse(r, TW_IN_USE, "this process has imported it already");
    struct import *i = calloc(1, sizeof *i);
    if (!i) return refuse(r, TW_NO_HOST_MEMORY, "the driver has no memory");
    i->id = ++last_id;
    i->share = s;
    i->client = c;
    i->next = imports;
    imports = i;
    s->imports++;
    s->memory->imports++;
    *r = (struct tw_reply){.id = i->id, .device = s->memory->device, .offset = s->offset, .bytes = s->bytes,
                           .whole = s->memory->bytes, .pid = s->exporter_pid};
    *fd = s->memory->fd;
    return 0;
}

static int release(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    for (struct import *i = imports; i; i = i->next) {
        if (i->id != q->id || i->client != c) continue;
        drop_import(i);
        return 0;
    }
    return refuse(r, TW_HANDLE, "no such import");
}

static int close_key(struct client *c, const struct tw_request *q, struct tw_reply *r)
{
    struct share *s = find_share(q->id);
    if (!s || s->exporter != c) return refuse(r, TW_HANDLE, "this process has exported no such key");
    if (s->imports)
        return refuse(r, TW_IN_USE, "%d processes still have it open: importers close first", s->imports);
    UNLINK(shares, s);
    free(s);
    return 0;
}

static int answer(struct client *c, const struct tw_request *q, struct tw_reply *r, int *fd)
{
    if (q->op == TW_HELLO) return hello(c, q, r, fd);
    if (!c->greeted) return refuse(r, TW_INVALID, "no greeting");
    switch (q->op) {
    case TW_OPEN: return open_device(c, q, r);
    case TW_CLOSE:
        if (check_device(q, r)) return -1;
        close_device(c, q->device);
        return 0;
    case TW_ALLOCATE: return allocate(c, q, r, fd);
    case TW_FREE: return free_memory(c, q, r);
    case TW_EXPORT: return export(c, q, r);
    case TW_ALLOW: return allow(c, q, r);
    case TW_IMPORT: return import_share(c, q, r, fd);
    case TW_RELEASE: return release(c, q, r);
    case TW_CLOSE_KEY: return close_key(c, q, r);
    default: return refuse(r, TW_INVALID, "no such request");
    }
}

/* --- the socket --- */

static void reply(struct client *c, const struct tw_reply *r, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = "";
    struct iovec iov = {(void *)r, sizeof *r};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
    if (sendmsg(c->fd, &m, MSG_NOSIGNAL) < 0) c->gone = true;
}

static void serve(struct client *c)
{
    struct tw_request q;
    struct tw_reply r = {0};
    int fd = -1;
    ssize_t n = recv(c->fd, &q, sizeof q, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n != sizeof q) {
        c->gone = true;
        return;
    }
    answer(c, &q, &r, &fd);
    reply(c, &r, fd);
}

static void welcome(void)
{
    struct ucred who;
    socklen_t size = sizeof who;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct client *c = calloc(1, sizeof *c);
    if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || who.uid != getuid()) {
        free(c);
        close(fd);
        return;
    }
    c->fd = fd;
    c->pid = who.pid;
    c->pidfd = who.pid > 0 ? (int)syscall(SYS_pidfd_open, who.pid, 0) : -1;
    c->next = clients;
    clients = c;
    nclients++;
}

static void bury(void)
{
    for (struct client *c = clients, *next; c; c = next) {
        next = c->next;
        if (c->gone) drop_client(c);
    }
}

/* One round: false when nobody came in time. */
static bool turn(int patience)
{
    struct pollfd *p = calloc((size_t)nclients * 2 + 1, sizeof *p);
    if (!p) return false;
    int n = 0;
    p[n++] = (struct pollfd){listener, POLLIN, 0};
    for (struct client *c = clients; c; c = c->next) {
        p[n++] = (struct pollfd){c->fd, POLLIN, 0};
        p[n++] = (struct pollfd){c->pidfd, POLLIN, 0};
    }
    int k = poll(p, (nfds_t)n, patience);
    n = 1;
    for (struct client *c = k > 0 ? clients : NULL; c; c = c->next, n += 2) {
        if (p[n].revents & POLLIN) serve(c);
        else if (p[n].revents) c->gone = true;
        if (p[n + 1].revents) c->gone = true;
    }
    if (k > 0 && p[0].revents) welcome();
    bury();
    free(p);
    return k != 0;
}

static void run(void)
{
    while (!nclients)
        if (!turn(PATIENCE_MS)) return;
    do {
        while (nclients) turn(-1);
    } while (turn(0)); /* somebody may stand at the door */
}

/* --- start --- */

static int listen_at(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    if (n > sizeof a.sun_path - 1) n = sizeof a.sun_path - 1;
    memcpy(a.sun_path + 1, name, n);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n))) return -1;
    return listen(listener, 4096);
}

static int make_state(void)
{
    char why[300];
    const char *text = getenv("HBMESH_TWIN");
    snprintf(configuration, sizeof configuration, "%s", text ? text : "");
    state_fd = memfd_create("hbmesh-twin-state", MFD_CLOEXEC);
    if (state_fd < 0 || ftruncate(state_fd, sizeof *state)) return -1;
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, state_fd, 0);
    if (state == MAP_FAILED) return -1;
    state->version = TW_VERSION;
    return tw_config_read(&state->config, text, why, sizeof why);
}

/* Nothing of the one who happened to come first is held: descriptors, folder, session. */
static void stand_alone(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    if (close_range(3, ~0u, 0)) /* an old kernel */
        for (int fd = 3; fd < 4096; fd++) close(fd);
    if (chdir("/")) return;
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l)) return;
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
}

static void plain_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* of the terminal of who came first */
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    stand_alone();
    plain_signals();
    if (listen_at(argv[1])) return errno == EADDRINUSE ? 0 : 1; /* there is one: as good */
    if (make_state()) return 1;
    pid_t pid = fork(); /* connections queue up from now on: who has started us may connect */
    if (pid) _exit(pid < 0);
    setsid();
    run();
    return 0;
}

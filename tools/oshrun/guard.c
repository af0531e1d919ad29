#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"
#include "tree.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void hm_guard_watch(struct hm_guard *g, int fd, enum hm_watch kind, int number, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)number};
    if (epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno == EEXIST)
        epoll_ctl(g->epoll, EPOLL_CTL_MOD, fd, &e);
}

void hm_guard_unwatch(struct hm_guard *g, int fd)
{
    epoll_ctl(g->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void say(struct hm_guard *g, const char *fmt, va_list args)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "hbmesh: ");
    int k = vsnprintf(text + n, sizeof text - (size_t)n - 1, fmt, args);
    n += k < (int)sizeof text - n - 1 ? k : (int)sizeof text - n - 2;
    text[n++] = '\n';
    hm_sink_line(g->origin->same_output ? &g->sinks[0] : &g->sinks[1], text, (size_t)n);
}

void hm_guard_say(struct hm_guard *g, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(g, fmt, args);
    va_end(args);
}

void hm_guard_tell(struct hm_guard *g, const char *fmt, ...)
{
    va_list args;
    if (g->run->quiet) return;
    va_start(args, fmt);
    say(g, fmt, args);
    va_end(args);
}

void hm_guard_note(struct hm_guard *g, enum hm_note_kind kind, int value)
{
    struct hm_note n = {.kind = kind, .value = value};
    if (write(g->control, &n, sizeof n) < 0) {
    } /* the front is gone: its socket says so */
}

/* --- the loop --- */

static void dispatch(struct hm_guard *g, const struct epoll_event *e)
{
    int number = (int)(uint32_t)e->data.u64;
    struct signalfd_siginfo info;
    switch ((enum hm_watch)(e->data.u64 >> 32)) {
    case HM_WATCH_CONTROL:
        hm_control_read(g);
        break;
    case HM_WATCH_SIGNALS:
        while (read(g->signals, &info, sizeof info) == sizeof info) {
        }
        hm_watch_reap(g);
        break;
    case HM_WATCH_ERRORS:
        hm_watch_errors(g);
        break;
    case HM_WATCH_WIRE:
        hm_watch_wire(g, number);
        break;
    case HM_WATCH_PIDFD:
        hm_watch_member(g, number, false);
        break;
    case HM_WATCH_LIFELINE:
        hm_watch_member(g, number, true);
        break;
    case HM_WATCH_STREAM:
        hm_relay_stream(g, number);
        break;
    case HM_WATCH_SINK:
        hm_relay_sink(g, number);
        break;
    case HM_WATCH_SOURCE:
        hm_relay_source(g);
        break;
    case HM_WATCH_READER:
        hm_relay_reader(g, number, e->events & EPOLLERR);
        break;
    }
}

static void earlier(int64_t *next, int64_t t)
{
    if (t && (!*next || t < *next)) *next = t;
}

/* Does what is due; returns how long epoll may wait (ms, -1: no limit). */
static int tick(struct hm_guard *g)
{
    int64_t now = (int64_t)hm_os_now(), next = 0;
    if (g->timeout_at && now >= g->timeout_at && g->phase == HM_PHASE_RUN) {
        char why[64];
        snprintf(why, sizeof why, "--timeout of %g s", g->run->timeout);
        hm_report_waits(g, why);
        g->timeout_at = 0;
        g->exit_status = 124;
        hm_end_term(g);
    }
    if (g->stop_at && now >= g->stop_at) hm_control_stopped(g);
    if (g->phase != HM_PHASE_RUN && now >= g->phase_end) hm_end_next(g);
    if (g->sending) g->sending = hm_hub_send(&g->hub);
    earlier(&next, g->phase == HM_PHASE_RUN ? g->timeout_at : g->phase_end);
    earlier(&next, g->stop_at);
    earlier(&next, hm_relay_tick(g, now));
    if (g->sending) earlier(&next, now + HM_MS);
    if (!next) return -1;
    return next <= now ? 0 : next - now > 1000000 * HM_MS ? 1000000 : (int)((next - now + HM_MS - 1) / HM_MS);
}

static void loop(struct hm_guard *g)
{
    struct epoll_event events[64];
    while (g->live && g->phase != HM_PHASE_KILL) {
        int n = epoll_wait(g->epoll, events, HM_COUNT(events), tick(g));
        for (int i = 0; i < n; i++)
            dispatch(g, &events[i]);
    }
}

/* --- start --- */

/* Descriptors the guard needs: for each PE a wire, a lifeline, a pidfd, a segment, two streams, an input, and
 * its part in a gather. */
static int need_files(struct hm_guard *g)
{
    struct rlimit limit;
    rlim_t need = 64 + 12 * (rlim_t)g->npes + (rlim_t)g->run->layout.machines;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= need) return 0;
    hm_guard_say(g,
                 "a job of %d PEs needs about %llu open files in oshrun and the limit is %llu: raise it "
                 "(ulimit -n %llu)",
                 g->npes, (unsigned long long)need, (unsigned long long)limit.rlim_max,
                 (unsigned long long)need);
    return -EMFILE;
}

static int open_job(struct hm_guard *g, struct hm_machine *machine)
{
    size_t bytes = hm_job_bytes(machine->npes);
    int fd = hm_os_memfd("hbmesh-job", bytes);
    if (fd < 0) {
        hm_guard_say(g, "cannot make the job memory of %zu bytes: %s%s", bytes, strerror(-fd),
                     fd == -EFBIG ? " (raise the limit of file sizes: ulimit -f)" : "");
        return fd;
    }
    struct hm_job *job = mmap(NULL, hm_job_pairs_at(machine->npes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (job == MAP_FAILED) {
        hm_guard_say(g, "cannot map the job memory: %s", strerror(errno));
        return -ENOMEM;
    }
    job->magic = HM_JOB_MAGIC;
    job->version = HM_JOB_VERSION;
    job->npes = machine->npes;
    job->bytes = bytes;
    machine->job = job;
    machine->job_fd = fd;
    return 0;
}

static void say_machine(struct hm_guard *g, int i)
{
    char list[512];
    hm_layout_list(&g->run->layout, g->npes, i, list, sizeof list);
    hm_guard_say(g, "make-believe machine %d of %d: PE%s %s", i, g->hub.nmachines,
                 g->machines[i].npes > 1 ? "s" : "", list);
}

static int open_machines(struct hm_guard *g)
{
    const struct hm_layout *layout = &g->run->layout;
    g->machines = calloc((size_t)layout->machines, sizeof *g->machines);
    int rc = g->machines ? hm_hub_open(&g->hub, g->npes, g->machines, layout->machines, layout->machine_of) : -ENOMEM;
    if (rc) hm_guard_say(g, "out of memory");
    for (int i = 0; !rc && i < layout->machines; i++) {
        rc = open_job(g, &g->machines[i]);
        if (!rc && layout->machines > 1 && g->run->verbose) say_machine(g, i);
    }
    return rc;
}

static int open_events(struct hm_guard *g)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    g->epoll = epoll_create1(EPOLL_CLOEXEC);
    g->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (g->epoll < 0 || g->signals < 0 || pipe2(g->start_errors, O_CLOEXEC) != 0) {
        hm_guard_say(g, "cannot start: %s", strerror(errno));
        return -errno;
    }
    fcntl(g->start_errors[0], F_SETFL, O_NONBLOCK);
    hm_guard_watch(g, g->control, HM_WATCH_CONTROL, 0, EPOLLIN);
    hm_guard_watch(g, g->signals, HM_WATCH_SIGNALS, 0, EPOLLIN);
    hm_guard_watch(g, g->start_errors[0], HM_WATCH_ERRORS, 0, EPOLLIN);
    return 0;
}

static int open_pes(struct hm_guard *g)
{
    g->pes = calloc((size_t)g->npes, sizeof *g->pes);
    if (!g->pes) return -ENOMEM;
    int pe = 0;
    for (int i = 0; i < g->run->nprograms; i++)
        for (int k = 0; k < g->run->programs[i].npes; k++)
            g->pes[pe++].program = &g->run->programs[i];
    for (pe = 0; pe < g->npes; pe++)
        g->pes[pe].stream[0].fd = g->pes[pe].stream[1].fd = -1;
    if (g->input >= 0) {
        g->spool = hm_spool_open(g->input, g->npes);
        if (!g->spool) return -ENOMEM;
    }
    return 0;
}

static int make_output(struct hm_guard *g)
{
    const char *dir = g->run->output;
    struct stat st;
    if (!dir || mkdir(dir, 0777) == 0) return 0;
    if (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) return 0;
    hm_guard_say(g, "--output %s: cannot make the directory: %s", dir,
                 strerror(errno == EEXIST ? ENOTDIR : errno));
    return -EINVAL;
}

static int start_pe(struct hm_guard *g, int pe)
{
    int rc = hm_pe_spawn(g, pe);
    if (rc) {
        hm_guard_say(g, "cannot start PE %d: %s%s", pe, strerror(-rc),
                     rc == -EAGAIN ? " (too many processes: ulimit -u, or the cgroup's pids.max)" : "");
        return rc;
    }
    g->live++;
    hm_guard_watch(g, g->hub.members[pe].wire, HM_WATCH_WIRE, pe, EPOLLIN);
    for (int i = 0; i < 2; i++)
        if (g->pes[pe].stream[i].fd >= 0) hm_relay_watch(g, 2 * pe + i);
    if (g->run->verbose)
        hm_guard_say(g, "PE %d of %d: process %d runs %s", pe, g->npes, (int)g->pes[pe].pid,
                     g->pes[pe].program->argv[0]);
    return 0;
}

static int start(struct hm_guard *g)
{
    int rc = need_files(g);
    if (!rc) rc = open_machines(g);
    if (!rc) rc = open_events(g);
    if (!rc) rc = make_output(g);
    if (!rc) rc = open_pes(g);
    g->oom_kills = hm_memory_oom_kills();
    if (g->run->timeout > 0) g->timeout_at = (int64_t)hm_os_now() + (int64_t)(g->run->timeout * 1e9);
    for (int pe = 0; !rc && pe < g->npes; pe++)
        rc = start_pe(g, pe);
    if (!rc && g->spool) {
        hm_guard_watch(g, g->input, HM_WATCH_SOURCE, 0, EPOLLIN);
        hm_relay_spool(g);
    }
    return rc;
}

/* Descendants that a PE left behind get a moment, then they are killed: nothing is left of a job. */
static void clear_away(struct hm_guard *g)
{
    if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return; /* orphans would be our children */
    if (g->phase != HM_PHASE_KILL && hm_tree_signal(getpid(), SIGTERM, 0) > 0) {
        hm_tree_signal(getpid(), SIGCONT, 0);
        usleep(50000);
    }
    if (g->pes) hm_end_kill(g);
}

void hm_guard_run(const struct hm_run *run, const struct hm_origin *origin, int control, int input)
{
    static struct hm_guard guard;
    struct hm_guard *g = &guard;
    *g = (struct hm_guard){.run = run,
                           .origin = origin,
                           .npes = run->npes,
                           .control = control,
                           .input = input,
                           .exit_all_pe = -1};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    hm_sink_open(&g->sinks[0], 1);
    hm_sink_open(&g->sinks[1], 2);
    if (start(g) == 0)
        loop(g);
    else
        g->exit_status = 1;
    if (g->hub.members) clear_away(g);
    if (g->pes) hm_relay_drain(g);
    if (run->verbose) hm_guard_say(g, "the job has ended with status %d", g->exit_status);
    hm_guard_note(g, HM_NOTE_DONE, g->exit_status);
    _exit(0);
}

#define _GNU_SOURCE
#include "guard.h"

#include "base/futex.h"
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

#define MS 1000000ll
#define GLOBAL_EXIT_GRACE (500 * MS) /* for the PEs that did not call it */
#define GLOBAL_EXIT_LATE (1000 * MS) /* more, for the one that did */
#define LINGER (150 * MS)
#define TERM_GRACE (150 * MS)
#define STOP_GRACE (100 * MS)
#define DRAIN_STALL (500 * MS) /* a job that failed waits no longer for a reader of its output */

/* What an epoll event is about: the kind, and the number of a PE or of a stream (2 * pe + which). */
enum watch { WATCH_CONTROL, WATCH_SIGNALS, WATCH_ERRORS, WATCH_WIRE, WATCH_PIDFD, WATCH_LIFELINE, WATCH_STREAM, WATCH_SINK,
             WATCH_SOURCE, WATCH_READER };

static void watch(struct hm_guard *g, int fd, enum watch kind, int number, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)number};
    if (epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno == EEXIST)
        epoll_ctl(g->epoll, EPOLL_CTL_MOD, fd, &e);
}

static void unwatch(struct hm_guard *g, int fd) { epoll_ctl(g->epoll, EPOLL_CTL_DEL, fd, NULL); }

static int64_t now_ns(void) { return (int64_t)hm_os_now(); }

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

static void note(struct hm_guard *g, enum hm_note_kind kind, int value)
{
    struct hm_note n = {.kind = kind, .value = value};
    if (write(g->control, &n, sizeof n) < 0) {} /* the front is gone: its socket says so */
}

/* --- the end --- */

static void set_phase(struct hm_guard *g, enum hm_phase phase, int64_t length)
{
    g->phase = phase;
    g->phase_end = now_ns() + length;
}

static void signal_all(struct hm_guard *g, int sig)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended) hm_pe_signal(g, pe, sig);
}

static void continue_all(struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++) g->pes[pe].stopped = false;
    g->stopping = false;
    g->stop_at = 0;
    hm_tree_signal(getpid(), SIGCONT, 0);
}

static void begin_term(struct hm_guard *g)
{
    __atomic_store_n(&g->hub.job->stopping, 2, __ATOMIC_RELEASE);
    signal_all(g, SIGTERM);
    continue_all(g);
    set_phase(g, HM_PHASE_TERM, TERM_GRACE);
}

/* PEs that have finalized, or never joined, may be about to print their last words. */
static bool somebody_lingers(const struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && !g->hub.members[pe].pid) return true;
    return false;
}

static void fail(struct hm_guard *g, int status)
{
    if (g->phase != HM_PHASE_RUN) return;
    g->exit_status = status;
    if (somebody_lingers(g)) set_phase(g, HM_PHASE_LINGER, LINGER);
    else begin_term(g);
}

static void ring_all(struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++) {
        struct hm_bell *bell = &hm_job_page(g->hub.job, pe)->bell;
        __atomic_fetch_add(&bell->seq, 1, __ATOMIC_SEQ_CST);
        hm_futex_wake(&bell->seq, INT_MAX);
    }
}

static void exit_all(struct hm_guard *g, int pe, int status)
{
    if (g->guessed_exit) { /* only now has the caller told us himself */
        g->guessed_exit = false;
        g->exit_all_pe = pe;
        g->exit_status = status;
    }
    if (g->phase != HM_PHASE_RUN && g->phase != HM_PHASE_LINGER) return;
    g->exit_status = status;
    g->exit_all_pe = pe;
    g->hub.job->exit_status = status;
    __atomic_store_n(&g->hub.job->stopping, 1, __ATOMIC_RELEASE);
    ring_all(g);
    set_phase(g, HM_PHASE_GRACE, GLOBAL_EXIT_GRACE);
}

static void end_by_signal(struct hm_guard *g, int sig)
{
    g->end_signal = sig;
    g->exit_status = 128 + sig;
    set_phase(g, HM_PHASE_GRACE, (int64_t)(g->run->grace * 1e9));
}

static void kill_others(struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++) {
        pid_t joined = g->hub.members[pe].pid;
        if (pe == g->exit_all_pe || g->pes[pe].ended) continue;
        if (!g->pes[pe].exited) hm_tree_signal(g->pes[pe].pid, SIGKILL, 0);
        else if (joined) hm_tree_signal(joined, SIGKILL, 0);
    }
}

static void next_phase(struct hm_guard *g)
{
    switch (g->phase) {
    case HM_PHASE_LINGER: begin_term(g); break;
    case HM_PHASE_GRACE:
        if (g->exit_all_pe < 0 || g->pes[g->exit_all_pe].ended) {
            set_phase(g, HM_PHASE_KILL, 0);
            break;
        }
        kill_others(g);
        set_phase(g, HM_PHASE_LATE, GLOBAL_EXIT_LATE);
        break;
    default: set_phase(g, HM_PHASE_KILL, 0); break;
    }
}

/* --- PEs that end --- */

static void pe_check_starters(struct hm_guard *g);

static void pe_ended(struct hm_guard *g, int pe)
{
    struct hm_pe *p = &g->pes[pe];
    if (p->ended) return;
    p->ended = true;
    g->live--;
    if (g->run->verbose && g->phase == HM_PHASE_RUN) hm_guard_say(g, "PE %d has ended", pe);
    if (g->phase == HM_PHASE_RUN) pe_check_starters(g);
}

/* A PE that is gone without having joined is missed by those that wait for it in init. */
static void pe_check_starters(struct hm_guard *g)
{
    int waiting = -1, gone = -1;
    for (int pe = 0; pe < g->npes; pe++) {
        if (waiting < 0 && g->hub.members[pe].part.waiting) waiting = pe;
        if (gone < 0 && g->pes[pe].ended) gone = pe;
    }
    if (waiting < 0 || gone < 0) return;
    unsigned joins = g->hub.members[gone].joins;
    hm_guard_tell(g, "PE %d ended %s while PE %d and others wait for it there; the job is ended", gone,
                 joins ? "without calling shmem_init again" : "without calling shmem_init", waiting);
    fail(g, 1);
}

/* What the library has written into its page counts more than what we can see. True: nothing is left to say. */
static bool pe_spoke(struct hm_guard *g, int pe, int *status)
{
    const struct hm_pe_page *page = hm_job_page(g->hub.job, pe);
    uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
    if (state != HM_PE_SAID && state != HM_PE_LEAVING) return false;
    if (*status == 0) *status = page->status & 0xff;
    if (*status == 0) *status = 1;
    return state == HM_PE_SAID;
}

/* PEs may follow a global_exit before the message of the one who called it has arrived. */
static bool global_exit_began(struct hm_guard *g, int pe)
{
    if (__atomic_load_n(&g->hub.job->stopping, __ATOMIC_ACQUIRE) != 1) return false;
    exit_all(g, pe, g->hub.job->exit_status & 0xff);
    g->guessed_exit = true;
    return true;
}

static void hub_drain(struct hm_guard *g, int pe);

/* A PE that closed descriptors it does not know cannot say that it has finalized; its page still does. */
static void settle_finalized(struct hm_guard *g, int pe)
{
    uint32_t state = __atomic_load_n(&hm_job_page(g->hub.job, pe)->state, __ATOMIC_ACQUIRE);
    if (g->hub.members[pe].pid && state == HM_PE_FINALIZED) hm_hub_forget(&g->hub, pe);
}

/* The process that had joined as `pe` is gone, or is another program now. `how`: what is known of its end. */
static void member_lost(struct hm_guard *g, int pe, const char *how, int status)
{
    pid_t pid = g->hub.members[pe].pid;
    if (g->phase == HM_PHASE_RUN && !global_exit_began(g, pe)) {
        bool spoke = pe_spoke(g, pe, &status);
        if (!spoke) hm_report_end(g, pe, pid, how);
        hm_hub_forget(&g->hub, pe);
        fail(g, status ? status : 1);
        return;
    }
    hm_hub_forget(&g->hub, pe);
}

static int status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* The process that oshrun started for this PE has ended. */
static void child_ended(struct hm_guard *g, int pe, int wait_status)
{
    struct hm_pe *p = &g->pes[pe];
    struct hm_member *m = &g->hub.members[pe];
    char how[256];
    int status = status_of(wait_status);
    p->exited = true;
    p->status = wait_status;
    hub_drain(g, pe);
    settle_finalized(g, pe);
    hm_report_status(how, sizeof how, wait_status);
    if (m->pid == p->pid) {
        size_t n = strlen(how);
        if (!WIFSIGNALED(wait_status)) snprintf(how + n, sizeof how - n, " before shmem_finalize");
        member_lost(g, pe, how, status);
    } else if (status && g->phase == HM_PHASE_RUN && !global_exit_began(g, pe)) {
        bool broken = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGPIPE &&
                      (g->sinks[0].broken || g->sinks[1].broken);
        if (!pe_spoke(g, pe, &status) && !broken) hm_report_end(g, pe, p->pid, how);
        fail(g, status);
    }
    if (!m->pid) pe_ended(g, pe);
}

static int pe_of(const struct hm_guard *g, pid_t pid)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (g->pes[pe].pid == pid && !g->pes[pe].exited) return pe;
    return -1;
}

static void read_start_errors(struct hm_guard *g)
{
    struct hm_start_error e;
    while (read(g->start_errors[0], &e, sizeof e) == sizeof e) {
        if (g->phase != HM_PHASE_RUN) continue;
        const struct hm_program *program = g->pes[e.pe].program;
        bool exec = !strcmp(e.what, "exec"), here = false;
        if (exec && e.error == ENOENT && !strchr(program->argv[0], '/')) here = access(program->argv[0], X_OK) == 0;
        if (exec)
            hm_guard_say(g, "cannot run %s: %s%s%s", program->argv[0], strerror(e.error),
                         here ? "; did you mean ./" : "", here ? program->argv[0] : "");
        else if (!strcmp(e.what, "chdir"))
            hm_guard_say(g, "--wdir %s: %s", program->wdir, strerror(e.error));
        else
            hm_guard_say(g, "--bind: cannot bind PE %d: %s", e.pe, strerror(e.error));
        fail(g, exec && e.error != ENOENT ? 126 : 127);
    }
}

/* --- Ctrl-Z and fg --- */

static bool all_stopped(const struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].exited && !g->pes[pe].stopped) return false;
    return true;
}

/* PEs lead sessions of their own, where the kernel drops SIGTSTP by default; they are stopped for sure after a moment in
 * which those that handle it can put their house in order. */
static void begin_stop(struct hm_guard *g, bool tty)
{
    if (g->stopping || g->phase != HM_PHASE_RUN) return;
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && (!tty || g->pes[pe].own_session)) hm_pe_signal(g, pe, SIGTSTP);
    g->stopping = true;
    g->stop_at = now_ns() + STOP_GRACE;
}

static void finish_stop(struct hm_guard *g)
{
    hm_tree_signal(getpid(), SIGSTOP, 0);
    g->stopping = false;
    g->stop_at = 0;
    note(g, HM_NOTE_STOPPED, 0);
}

static void reap(struct hm_guard *g)
{
    int status;
    pid_t pid;
    read_start_errors(g);
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        int pe = pe_of(g, pid);
        if (pe < 0) continue;
        if (WIFSTOPPED(status)) g->pes[pe].stopped = true;
        else if (WIFCONTINUED(status)) g->pes[pe].stopped = false;
        else child_ended(g, pe, status);
    }
    if (g->stopping && all_stopped(g)) finish_stop(g);
}

/* --- the wires --- */

static void on_joined(struct hm_guard *g, int pe)
{
    struct hm_member *m = &g->hub.members[pe];
    if (m->pidfd >= 0) watch(g, m->pidfd, WATCH_PIDFD, pe, EPOLLIN);
    watch(g, m->lifeline, WATCH_LIFELINE, pe, EPOLLIN | EPOLLRDHUP);
    if (g->run->verbose) hm_guard_say(g, "PE %d: process %d has called shmem_init", pe, (int)m->pid);
}

static bool hub_event(struct hm_guard *g, int pe)
{
    switch (hm_hub_read(&g->hub, pe)) {
    case HM_HUB_NOTHING: return false;
    case HM_HUB_JOINED: on_joined(g, pe); break;
    case HM_HUB_FINALIZED:
        if (g->pes[pe].exited) pe_ended(g, pe);
        break;
    case HM_HUB_EXIT_ALL: exit_all(g, pe, g->hub.status); break;
    case HM_HUB_TROUBLE:
        if (g->phase == HM_PHASE_RUN) hm_guard_tell(g, "%s", g->hub.trouble);
        fail(g, 1);
        break;
    case HM_HUB_ENDED:
        unwatch(g, g->hub.members[pe].wire);
        close(g->hub.members[pe].wire);
        g->hub.members[pe].wire = -1;
        return false;
    default: break;
    }
    return true;
}

static void hub_drain(struct hm_guard *g, int pe)
{
    while (hub_event(g, pe)) {}
    g->sending = hm_hub_send(&g->hub);
    if (g->phase == HM_PHASE_RUN && g->live < g->npes) pe_check_starters(g);
}

static bool process_lives(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return kill(pid, 0) == 0 && access("/proc/self/stat", R_OK) != 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

/* A joined process that oshrun did not start itself is gone: `sh -c './a.out; :'`. */
static void grandchild_gone(struct hm_guard *g, int pe)
{
    char how[256] = "ended before shmem_finalize";
    int wait_status = -1, status = 0;
    settle_finalized(g, pe);
    if (g->hub.members[pe].pid) hm_report_grandchild(g, pe, &wait_status);
    if (wait_status >= 0) {
        hm_report_status(how, sizeof how, wait_status);
        size_t n = strlen(how);
        if (!WIFSIGNALED(wait_status)) snprintf(how + n, sizeof how - n, " before shmem_finalize");
        status = status_of(wait_status);
    }
    if (g->hub.members[pe].pid) member_lost(g, pe, how, status);
    if (g->pes[pe].exited) pe_ended(g, pe);
}

static bool has_event(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&p, 1, 0) == 1;
}

/* Its pidfd or its lifeline says something about the process that has joined. */
static void on_member(struct hm_guard *g, int pe, bool lifeline)
{
    struct hm_member *m = &g->hub.members[pe];
    reap(g); /* who is our child gives its status there */
    hub_drain(g, pe);
    if (!m->pid || !has_event(lifeline ? m->lifeline : m->pidfd)) return; /* news of one that is forgotten */
    if (lifeline) {
        unwatch(g, m->lifeline);
        if (m->pid && process_lives(m->pid)) {
            if (!hm_hub_executed(&g->hub, pe)) return; /* it closed what it does not know: no harm */
            settle_finalized(g, pe);
            if (m->pid) member_lost(g, pe, "executed another program before shmem_finalize", 1);
            if (g->pes[pe].exited) pe_ended(g, pe);
            return;
        }
    }
    if (m->pid == g->pes[pe].pid && !g->pes[pe].exited) {
        if (m->pidfd >= 0) unwatch(g, m->pidfd); /* SIGCHLD follows */
        return;
    }
    grandchild_gone(g, pe);
}

/* --- signals, passed on by the front --- */

/* One PE on a terminal decides itself what Ctrl-C means: it may be a debugger or an interpreter. */
static bool left_to_pe(struct hm_guard *g, bool tty)
{
    if (!tty || g->npes > 1 || g->pes[0].own_session) return false;
    memmove(g->interrupts, g->interrupts + 1, 2 * sizeof *g->interrupts);
    g->interrupts[2] = now_ns();
    return !g->interrupts[0] || g->interrupts[2] - g->interrupts[0] > 1000 * MS;
}

/* For the program rather than for the shell around it, which the signal would kill. */
static void pass_on(struct hm_guard *g, int sig)
{
    for (int pe = 0; pe < g->npes; pe++) {
        pid_t joined = g->hub.members[pe].pid;
        if (joined && joined != g->pes[pe].pid) kill(joined, sig);
        else if (!g->pes[pe].ended) hm_pe_signal(g, pe, sig);
    }
}

static void forward(struct hm_guard *g, int sig, bool tty)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && (!tty || g->pes[pe].own_session)) hm_pe_signal(g, pe, sig);
}

static void end_signal(struct hm_guard *g, int sig, bool tty)
{
    if (sig == SIGINT && left_to_pe(g, tty)) return;
    if (g->end_signal) {
        set_phase(g, HM_PHASE_KILL, 0);
        return;
    }
    g->end_signal = sig;
    forward(g, sig, tty);
    hm_tree_signal(getpid(), SIGCONT, 0);
    if (g->phase <= HM_PHASE_LINGER) end_by_signal(g, sig);
}

static void window_changed(struct hm_guard *g)
{
    struct winsize size;
    for (int fd = 1; fd <= 2; fd++) {
        if (!g->origin->tty[fd] || ioctl(fd, TIOCGWINSZ, &size) != 0) continue;
        hm_pe_resize(g, &size);
        break;
    }
    pass_on(g, SIGWINCH);
}

static void on_signal(struct hm_guard *g, int sig, bool tty)
{
    switch (sig) {
    case SIGINT: case SIGTERM: case SIGHUP: end_signal(g, sig, tty); break;
    case SIGQUIT: hm_report_waits(g, "SIGQUIT"); break;
    case SIGTSTP: case SIGTTIN: case SIGTTOU: begin_stop(g, tty); break;
    case SIGCONT: continue_all(g); break;
    case SIGWINCH: window_changed(g); break;
    default: pass_on(g, sig); break;
    }
}

/* The groups first, which needs no look into /proc; then whoever is left. */
static void kill_everything(struct hm_guard *g)
{
    __atomic_store_n(&g->hub.job->stopping, 2, __ATOMIC_RELEASE);
    for (int pe = 0; pe < g->npes; pe++) {
        const struct hm_pe *p = &g->pes[pe];
        if (!p->pid || p->exited) continue;
        if (p->own_session) kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL);
    }
    hm_tree_kill();
}

static void die_with_front(struct hm_guard *g)
{
    kill_everything(g);
    _exit(1);
}

static void on_control(struct hm_guard *g)
{
    struct hm_note n;
    ssize_t k = read(g->control, &n, sizeof n);
    if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) die_with_front(g);
    if (k == sizeof n && n.kind == HM_NOTE_SIGNAL) on_signal(g, n.value, n.tty);
}

/* --- output --- */

static void stream_watch(struct hm_guard *g, int number)
{
    struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
    bool want = s->fd >= 0 && !s->sink->full;
    if (want == s->polled) return;
    if (want) watch(g, s->fd, WATCH_STREAM, number, EPOLLIN);
    else if (s->fd >= 0) unwatch(g, s->fd);
    s->polled = want;
}

/* After anything that may have filled or emptied a sink. A reader that has gone takes the pipes with it, so that PEs
 * learn of it as they would without us. */
static void sink_settle(struct hm_guard *g, struct hm_sink *sink)
{
    bool want = sink->end > sink->at && !sink->broken;
    if (want != sink->polled) {
        if (want) watch(g, sink->fd, WATCH_SINK, (int)(sink - g->sinks), EPOLLOUT);
        else unwatch(g, sink->fd);
        sink->polled = want;
    }
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        if (s->sink != sink) continue;
        if (sink->broken && s->fd >= 0) {
            if (s->polled) unwatch(g, s->fd);
            s->polled = false;
            hm_stream_close(s);
        }
        stream_watch(g, number);
    }
}

static void on_stream(struct hm_guard *g, int number)
{
    struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
    if (s->fd < 0 || !s->polled) return;
    bool was_full = s->sink->full, was_broken = s->sink->broken;
    int fd = s->fd;
    if (!hm_stream_read(s)) s->polled = false;
    (void)fd; /* a closed descriptor leaves epoll by itself */
    bool waits = s->sink->end > s->sink->at;
    if (s->sink->full != was_full || s->sink->broken != was_broken || waits != s->sink->polled)
        sink_settle(g, s->sink);
}

static void on_sink(struct hm_guard *g, int number)
{
    hm_sink_flush(&g->sinks[number]);
    sink_settle(g, &g->sinks[number]);
}

static int64_t tick_streams(struct hm_guard *g, int64_t now)
{
    int64_t next = 0;
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        if (!s->since) continue;
        int64_t t = hm_stream_tick(s, now);
        if (t && (!next || t < next)) next = t;
        if (s->sink->end > s->sink->at && !s->sink->polled) sink_settle(g, s->sink);
    }
    return next;
}

/* Waits until the sink takes more. False: give up, since the job failed and its reader stalls, or the user insists. */
static bool drain_wait(struct hm_guard *g, struct hm_sink *sink)
{
    struct pollfd p[2] = {{.fd = sink->fd, .events = POLLOUT}, {.fd = g->control, .events = POLLIN}};
    int n = poll(p, 2, g->exit_status ? (int)(DRAIN_STALL / MS) : -1);
    if (n == 0) return false;
    if (n > 0 && p[1].revents) {
        struct hm_note note;
        ssize_t k = read(g->control, &note, sizeof note);
        if (k <= 0) return false;
        if (note.kind == HM_NOTE_SIGNAL && (note.value == SIGINT || note.value == SIGTERM || note.value == SIGHUP)) {
            if (!g->exit_status) g->exit_status = 128 + note.value;
            return false;
        }
    }
    hm_sink_flush(sink);
    return true;
}

/* All processes are gone: what is left in the pipes, then in the sinks. */
static void drain(struct hm_guard *g)
{
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        while (s->fd >= 0) {
            struct pollfd p = {.fd = s->fd, .events = POLLIN};
            if (s->sink->broken || (!s->sink->full && poll(&p, 1, 0) == 0)) hm_stream_close(s);
            else if (!s->sink->full) hm_stream_read(s);
            else if (!drain_wait(g, s->sink)) return;
        }
    }
    for (int i = 0; i < 2; i++)
        while (g->sinks[i].end > g->sinks[i].at)
            if (!drain_wait(g, &g->sinks[i])) return;
}

/* --- input for all --- */

static void spool_settle(struct hm_guard *g)
{
    if (!g->spool) return;
    for (int pe = 0; pe < g->npes; pe++) {
        int fd = hm_spool_writer(g->spool, pe);
        if (fd < 0) continue;
        if (hm_spool_wants(g->spool, pe)) watch(g, fd, WATCH_READER, pe, EPOLLOUT);
        else watch(g, fd, WATCH_READER, pe, 0);
    }
}

static void on_source(struct hm_guard *g)
{
    int fd = hm_spool_source(g->spool);
    if (fd < 0) return;
    if (!hm_spool_fill(g->spool)) {
        unwatch(g, fd);
        close(fd);
    }
    for (int pe = 0; pe < g->npes; pe++) hm_spool_feed(g->spool, pe);
    spool_settle(g);
}

static void on_reader(struct hm_guard *g, int pe, bool gone)
{
    if (gone) hm_spool_drop(g->spool, pe);
    hm_spool_feed(g->spool, pe);
    spool_settle(g);
}

/* --- the loop --- */

static void dispatch(struct hm_guard *g, const struct epoll_event *e)
{
    int number = (int)(uint32_t)e->data.u64;
    struct signalfd_siginfo info;
    switch ((enum watch)(e->data.u64 >> 32)) {
    case WATCH_CONTROL: on_control(g); break;
    case WATCH_SIGNALS:
        while (read(g->signals, &info, sizeof info) == sizeof info) {}
        reap(g);
        break;
    case WATCH_ERRORS: read_start_errors(g); break;
    case WATCH_WIRE: hub_drain(g, number); break;
    case WATCH_PIDFD: on_member(g, number, false); break;
    case WATCH_LIFELINE: on_member(g, number, true); break;
    case WATCH_STREAM: on_stream(g, number); break;
    case WATCH_SINK: on_sink(g, number); break;
    case WATCH_SOURCE: on_source(g); break;
    case WATCH_READER: on_reader(g, number, e->events & EPOLLERR); break;
    }
}

static void earlier(int64_t *next, int64_t t)
{
    if (t && (!*next || t < *next)) *next = t;
}

/* Does what is due; returns how long epoll may wait (ms, -1: no limit). */
static int tick(struct hm_guard *g)
{
    int64_t now = now_ns(), next = 0;
    if (g->timeout_at && now >= g->timeout_at && g->phase == HM_PHASE_RUN) {
        char why[64];
        snprintf(why, sizeof why, "--timeout of %g s", g->run->timeout);
        hm_report_waits(g, why);
        g->timeout_at = 0;
        g->exit_status = 124;
        begin_term(g);
    }
    if (g->stop_at && now >= g->stop_at) finish_stop(g);
    if (g->phase != HM_PHASE_RUN && now >= g->phase_end) next_phase(g);
    if (g->sending) g->sending = hm_hub_send(&g->hub);
    earlier(&next, g->phase == HM_PHASE_RUN ? g->timeout_at : g->phase_end);
    earlier(&next, g->stop_at);
    earlier(&next, tick_streams(g, now));
    if (g->sending) earlier(&next, now + MS);
    if (!next) return -1;
    return next <= now ? 0 : next - now > 1000000 * MS ? 1000000 : (int)((next - now + MS - 1) / MS);
}

static void loop(struct hm_guard *g)
{
    struct epoll_event events[64];
    while (g->live && g->phase != HM_PHASE_KILL) {
        int n = epoll_wait(g->epoll, events, HM_COUNT(events), tick(g));
        for (int i = 0; i < n; i++) dispatch(g, &events[i]);
    }
}

/* --- start --- */

/* Descriptors the guard needs: for each PE a wire, a lifeline, a pidfd, a segment, two streams, an input, and its part
 * in a gather. */
static int need_files(struct hm_guard *g)
{
    struct rlimit limit;
    rlim_t need = 64 + 12 * (rlim_t)g->npes;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= need) return 0;
    hm_guard_say(g, "a job of %d PEs needs about %llu open files in oshrun and the limit is %llu: raise it (ulimit -n %llu)",
                 g->npes, (unsigned long long)need, (unsigned long long)limit.rlim_max, (unsigned long long)need);
    return -EMFILE;
}

static int open_job(struct hm_guard *g)
{
    size_t bytes = hm_job_bytes(g->npes);
    int fd = hm_os_memfd("hbmesh-job", bytes);
    if (fd < 0) {
        hm_guard_say(g, "cannot make the job memory of %zu bytes: %s%s", bytes, strerror(-fd),
                     fd == -EFBIG ? " (raise the limit of file sizes: ulimit -f)" : "");
        return fd;
    }
    struct hm_job *job = mmap(NULL, hm_job_pairs_at(g->npes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (job == MAP_FAILED) {
        hm_guard_say(g, "cannot map the job memory: %s", strerror(errno));
        return -ENOMEM;
    }
    job->magic = HM_JOB_MAGIC;
    job->version = HM_JOB_VERSION;
    job->npes = g->npes;
    job->bytes = bytes;
    int rc = hm_hub_open(&g->hub, g->npes, job, fd);
    if (rc) hm_guard_say(g, "out of memory");
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
    watch(g, g->control, WATCH_CONTROL, 0, EPOLLIN);
    watch(g, g->signals, WATCH_SIGNALS, 0, EPOLLIN);
    watch(g, g->start_errors[0], WATCH_ERRORS, 0, EPOLLIN);
    return 0;
}

static int open_pes(struct hm_guard *g)
{
    g->pes = calloc((size_t)g->npes, sizeof *g->pes);
    if (!g->pes) return -ENOMEM;
    int pe = 0;
    for (int i = 0; i < g->run->nprograms; i++)
        for (int k = 0; k < g->run->programs[i].npes; k++) g->pes[pe++].program = &g->run->programs[i];
    for (pe = 0; pe < g->npes; pe++) g->pes[pe].stream[0].fd = g->pes[pe].stream[1].fd = -1;
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
    hm_guard_say(g, "--output %s: cannot make the directory: %s", dir, strerror(errno == EEXIST ? ENOTDIR : errno));
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
    watch(g, g->hub.members[pe].wire, WATCH_WIRE, pe, EPOLLIN);
    for (int i = 0; i < 2; i++)
        if (g->pes[pe].stream[i].fd >= 0) stream_watch(g, 2 * pe + i);
    if (g->run->verbose)
        hm_guard_say(g, "PE %d of %d: process %d runs %s", pe, g->npes, (int)g->pes[pe].pid,
                     g->pes[pe].program->argv[0]);
    return 0;
}

static int start(struct hm_guard *g)
{
    int rc = need_files(g);
    if (!rc) rc = open_job(g);
    if (!rc) rc = open_events(g);
    if (!rc) rc = make_output(g);
    if (!rc) rc = open_pes(g);
    g->oom_kills = hm_memory_oom_kills();
    if (g->run->timeout > 0) g->timeout_at = now_ns() + (int64_t)(g->run->timeout * 1e9);
    for (int pe = 0; !rc && pe < g->npes; pe++) rc = start_pe(g, pe);
    if (!rc && g->spool) {
        watch(g, g->input, WATCH_SOURCE, 0, EPOLLIN);
        spool_settle(g);
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
    if (g->pes) kill_everything(g);
}

void hm_guard_run(const struct hm_run *run, const struct hm_origin *origin, int control, int input)
{
    static struct hm_guard guard;
    struct hm_guard *g = &guard;
    *g = (struct hm_guard){.run = run, .origin = origin, .npes = run->npes, .control = control, .input = input,
                           .exit_all_pe = -1};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    hm_sink_open(&g->sinks[0], 1);
    hm_sink_open(&g->sinks[1], 2);
    if (start(g) == 0) loop(g);
    else g->exit_status = 1;
    if (g->hub.job) clear_away(g);
    if (g->pes) drain(g);
    if (run->verbose) hm_guard_say(g, "the job has ended with status %d", g->exit_status);
    note(g, HM_NOTE_DONE, g->exit_status);
    _exit(0);
}

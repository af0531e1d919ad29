/* oshrun: the front. See guard.h for the two processes of a launch. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/version.h"
#include "handover.h"
#include "tree.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int handled[] = {SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                              SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD};

struct front {
    pid_t guard;
    int control, signals;
    int source, pump; /* --stdin all from a terminal: from, to (-1: closed) */
    char chunk[4096];
    size_t at, end;
    bool was_ignored[NSIG];
};

/* --- before anything else --- */

/* Standard streams that are closed would be taken by the next open. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) < 0) _exit(1);
}

/* Started by a PE of another job, we hold its wire: our PEs must not. */
static void drop_outer_wire(void)
{
    const char *text = getenv(HM_LAUNCH_VAR);
    int fd = text ? atoi(text) : 0;
    struct stat st;
    if (fd > 2 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
           x.st_rdev == y.st_rdev;
}

static void read_origin(struct hm_origin *o)
{
    *o = (struct hm_origin){.front = getpid(), .group = getpgrp()};
    sigprocmask(SIG_SETMASK, NULL, &o->mask);
    getrlimit(RLIMIT_NOFILE, &o->files);
    for (int fd = 0; fd < 3; fd++)
        o->tty[fd] = isatty(fd);
    for (int fd = 2; fd >= 1; fd--) {
        if (!o->tty[fd]) continue;
        tcgetattr(fd, &o->mode);
        ioctl(fd, TIOCGWINSZ, &o->size);
    }
    o->same_output = same_file(1, 2);
}

/* Blocked, not handled: the dispositions stay as they are and reach the PEs. */
static void block_signals(struct front *f, sigset_t *set)
{
    sigset_t all;
    sigemptyset(set);
    for (size_t i = 0; i < HM_COUNT(handled); i++) {
        struct sigaction now;
        sigaddset(set, handled[i]);
        f->was_ignored[handled[i]] = sigaction(handled[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* --- the guard --- */

/* Neither `killall oshrun` nor `pkill -f oshrun` shall mean it. */
static void take_guard_name(int argc, char **argv)
{
    static const char name[] = "hbmesh-guard";
    prctl(PR_SET_NAME, name);
    char *begin = argv[0], *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    if ((size_t)(end - begin) < sizeof name) return;
    memset(begin, 0, (size_t)(end - begin));
    memcpy(begin, name, sizeof name);
}

static int start_guard(struct front *f, const struct hm_run *run, const struct hm_origin *origin, int argc,
                       char **argv)
{
    int control[2], pipe_fds[2] = {-1, -1}, input = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) return -errno;
    f->pump = f->source = -1;
    if (run->stdin_pe == HM_STDIN_ALL) {
        if (pipe2(pipe_fds, O_CLOEXEC) != 0) return -errno;
        input = pipe_fds[0];
        f->source = 0;
        f->pump = pipe_fds[1];
    }
    f->guard = fork();
    if (f->guard < 0) return -errno;
    if (f->guard == 0) {
        close(control[0]);
        if (f->pump >= 0) close(f->pump);
        setpgid(0, 0);
        struct hm_run own = hm_run_copy(run);
        take_guard_name(argc, argv);
        fcntl(control[1], F_SETFL, O_NONBLOCK);
        hm_guard_run(&own, origin, control[1], input);
    }
    close(control[1]);
    if (input >= 0) close(input);
    f->control = control[0];
    if (f->pump >= 0) fcntl(f->pump, F_SETFL, O_NONBLOCK);
    return 0;
}

/* --- the loop --- */

/* The guard is gone before its time: its descendants have become ours. */
static int guard_lost(struct front *f)
{
    int status = 0;
    waitpid(f->guard, &status, 0);
    hm_tree_kill();
    fprintf(stderr, "hbmesh: the guard process of oshrun ended unexpectedly%s; the job is ended\n",
            WIFSIGNALED(status) ? " (it was killed)" : "");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 1;
}

static void stop_self(void)
{
    sigset_t set, saved;
    struct sigaction act = {.sa_handler = SIG_DFL}, old;
    sigaction(SIGTSTP, &act, &old);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    kill(getpid(), hm_tree_orphaned() ? SIGSTOP : SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, &saved); /* stops here */
    sigprocmask(SIG_SETMASK, &saved, NULL);
    sigaction(SIGTSTP, &old, NULL);
}

/* What was ignored when we started stays so, unless somebody means us: a shell without job control starts
 * what stands before '&' with SIGINT ignored, and `kill -INT` is no accident. */
static bool is_ignored(const struct front *f, int sig, bool tty)
{
    if (sig == SIGCHLD) return true;
    if (sig == SIGHUP) return f->was_ignored[sig];
    if ((sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) && tty) return hm_tree_orphaned();
    return tty && f->was_ignored[sig];
}

static void on_signal(struct front *f)
{
    struct signalfd_siginfo info;
    if (read(f->signals, &info, sizeof info) != sizeof info) return;
    bool tty = info.ssi_code == SI_KERNEL;
    if (is_ignored(f, (int)info.ssi_signo, tty)) return;
    struct hm_note note = {HM_NOTE_SIGNAL, (int)info.ssi_signo, tty};
    if (write(f->control, &note, sizeof note) < 0) {
    } /* the end of the guard shows on the same socket */
}

/* True when the job is over. */
static bool on_control(struct front *f, int *status)
{
    struct hm_note note;
    ssize_t n = read(f->control, &note, sizeof note);
    /* reset: a signal that the guard did not read any more; what it said before it went comes next */
    if (n < 0 && (errno == EINTR || errno == ECONNRESET)) return false;
    if (n != sizeof note) {
        *status = guard_lost(f);
        return true;
    }
    if (note.kind == HM_NOTE_STOPPED) stop_self();
    if (note.kind != HM_NOTE_DONE) return false;
    *status = note.value;
    waitpid(f->guard, NULL, 0);
    return true;
}

static void pump_end(struct front *f)
{
    close(f->pump);
    f->pump = f->source = -1;
}

/* In the background a terminal is not ours to read. */
static bool may_read(void)
{
    return !isatty(0) || tcgetpgrp(0) < 0 || tcgetpgrp(0) == getpgrp();
}

static void pump_step(struct front *f)
{
    ssize_t n;
    if (f->at == f->end) {
        n = read(f->source, f->chunk, sizeof f->chunk);
        if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == EIO)) return;
        if (n <= 0) {
            pump_end(f);
            return;
        }
        f->at = 0;
        f->end = (size_t)n;
    }
    n = write(f->pump, f->chunk + f->at, f->end - f->at);
    if (n > 0)
        f->at += (size_t)n;
    else if (errno != EAGAIN && errno != EINTR)
        pump_end(f);
}

static int front_loop(struct front *f)
{
    int status = 0;
    for (;;) {
        bool writing = f->at < f->end, waiting = f->source >= 0 && !writing && !may_read();
        struct pollfd p[3] = {
            {.fd = f->control, .events = POLLIN},
            {.fd = f->signals, .events = POLLIN},
            {.fd = writing   ? f->pump
                   : waiting ? -1
                             : f->source,
             .events = writing ? POLLOUT : POLLIN},
        };
        if (poll(p, 3, waiting ? 200 : -1) < 0 && errno != EINTR) continue;
        if (p[1].revents) on_signal(f);
        if (p[2].revents) pump_step(f);
        if (p[0].revents && on_control(f, &status)) return status;
    }
}

int main(int argc, char **argv)
{
    static struct front front;
    struct front *f = &front;
    struct hm_origin origin;
    struct hm_run run;
    sigset_t set;
    fill_standard_streams();
    if (hm_run_parse(&run, argc, argv, stderr) != 0) return 2;
    if (run.help || run.version) {
        if (run.help)
            hm_run_help(stdout);
        else
            puts("oshrun (hbmesh) " HM_VERSION);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (run.twin && hm_twin_find()) {
        fputs("oshrun: --twin: the software NPU, libascendcl.so, is neither beside this program's folder (twin) nor installed\n",
              stderr);
        return 2;
    }
    if (run.hosts || run.hostfile) return hm_handover(&run);
    if (hm_bind_prepare(&run) != 0) return 2;
    drop_outer_wire();
    read_origin(&origin);
    block_signals(f, &set);
    origin.child_ignored = f->was_ignored[SIGCHLD];
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    f->signals = signalfd(-1, &set, SFD_CLOEXEC);
    int rc = start_guard(f, &run, &origin, argc, argv);
    if (f->signals < 0 || rc) {
        fprintf(stderr, "oshrun: cannot start: %s\n", strerror(rc ? -rc : EMFILE));
        return 1;
    }
    int status = front_loop(f);
    hm_run_free(&run);
    return status;
}

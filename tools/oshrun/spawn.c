/* Starting one PE: its standard streams, its environment, its place in sessions and groups. */
#define _GNU_SOURCE
#include "guard.h"

#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

/* What the child needs to know, put together before the fork. */
struct plan {
    int in, out[2]; /* become descriptors 0, 1 and 2; -1: as they are */
    int wire;
    bool join_front; /* the front's group and session: it shares the user's terminal */
};

static bool reads_input(const struct hm_guard *g, int pe)
{
    return g->run->stdin_pe == HM_STDIN_ALL || g->run->stdin_pe == pe;
}

/* --- in the parent: where output goes --- */

static int open_pty(const struct hm_origin *origin, int *slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return -errno;
    if (grantpt(master) != 0 || unlockpt(master) != 0) goto close_master;
    *slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0) {
        char name[64];
        if (ptsname_r(master, name, sizeof name) != 0) goto close_master;
        *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (*slave < 0) goto close_master;
    }
    struct termios mode = origin->mode;
    mode.c_oflag &= (tcflag_t)~OPOST; /* the real terminal behind it does that */
    tcsetattr(*slave, TCSANOW, &mode);
    ioctl(*slave, TIOCSWINSZ, &origin->size);
    fcntl(master, F_SETFL, O_NONBLOCK);
    return master;
close_master:
    close(master);
    return -ENOTTY;
}

static int open_pipe(int *theirs)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return -errno;
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    *theirs = fds[1];
    return fds[0];
}

static int open_file(const struct hm_run *run, int pe, int which)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%d.%s", run->output, pe, which ? "err" : "out") >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

static int open_stream(struct hm_guard *g, int pe, int which, bool pty, struct plan *plan)
{
    struct hm_stream *s = &g->pes[pe].stream[which];
    int fd = pty ? open_pty(g->origin, &plan->out[which]) : -ENOTTY;
    if (fd < 0) fd = open_pipe(&plan->out[which]);
    if (fd < 0) return fd;
    *s = (struct hm_stream){.fd = fd, .pe = pe, .label = g->run->label, .sink = &g->sinks[which]};
    s->eager = pty && g->origin->tty[0] && reads_input(g, pe);
    return 0;
}

/* One PE alone writes to where oshrun writes. Otherwise a stream for each of output and error, or one for
 * both when they are one file, so that their order is kept. */
static int plan_output(struct hm_guard *g, int pe, struct plan *plan)
{
    const struct hm_origin *o = g->origin;
    if (g->run->output) {
        for (int i = 0; i < 2; i++) {
            plan->out[i] = open_file(g->run, pe, i);
            if (plan->out[i] < 0) return plan->out[i];
        }
        return 0;
    }
    if (g->npes == 1 && !g->run->label) return 0;
    int rc = open_stream(g, pe, 0, o->tty[1], plan);
    if (rc) return rc;
    if (!o->same_output) return open_stream(g, pe, 1, o->tty[2], plan);
    plan->out[1] = fcntl(plan->out[0], F_DUPFD_CLOEXEC, 3);
    return plan->out[1] < 0 ? -errno : 0;
}

static int plan_input(struct hm_guard *g, int pe, struct plan *plan)
{
    if (g->spool) return hm_spool_reader(g->spool, pe, &plan->in);
    if (reads_input(g, pe)) return 0;
    plan->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return plan->in < 0 ? -errno : 0;
}

static int make_plan(struct hm_guard *g, int pe, struct plan *plan)
{
    *plan = (struct plan){.in = -1, .out = {-1, -1}, .wire = -1};
    const bool *tty = g->origin->tty;
    bool shares = g->npes == 1 && (tty[0] || tty[1] || tty[2]);
    plan->join_front = shares || (!g->spool && tty[0] && reads_input(g, pe));
    int rc = hm_hub_wire(&g->hub, pe, &plan->wire);
    if (!rc) rc = plan_input(g, pe, plan);
    if (!rc) rc = plan_output(g, pe, plan);
    return rc;
}

static void drop_plan(struct plan *plan)
{
    if (plan->in >= 0) close(plan->in);
    for (int i = 0; i < 2; i++)
        if (plan->out[i] >= 0) close(plan->out[i]);
    if (plan->wire >= 0) close(plan->wire);
}

/* --- in the child --- */

static void fail_start(struct hm_guard *g, int pe, const char *what) HM_NORETURN;
static void fail_start(struct hm_guard *g, int pe, const char *what)
{
    struct hm_start_error e = {.pe = pe, .error = errno};
    snprintf(e.what, sizeof e.what, "%s", what);
    if (write(g->start_errors[1], &e, sizeof e) < 0) {
    }
    _exit(e.error == ENOENT || strcmp(what, "exec") ? 127 : 126);
}

static void set_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

static void set_environment(const struct hm_guard *g, int pe, int wire)
{
    char text[64];
    struct stat st = {0};
    fstat(wire, &st);
    set_number("SHMEM_PE", pe);
    set_number("SHMEM_NPES", g->npes);
    set_number("SHMEM_LOCAL_PE", g->hub.members[pe].local);
    set_number("SHMEM_LOCAL_NPES", g->machines[g->hub.members[pe].machine].npes);
    snprintf(text, sizeof text, "%d:%llu", wire, (unsigned long long)st.st_ino);
    setenv(HM_LAUNCH_VAR, text, 1);
    if (g->run->heap) setenv("SHMEM_SYMMETRIC_SIZE", g->run->heap, 1);
    if (g->run->check) setenv("SHMEM_CHECK", "1", 1);
    if (g->run->verbose) setenv("SHMEM_PATHS", "on", 0);
    hm_twin_set();
    hm_python_path();
    const struct hm_program *program = g->pes[pe].program;
    for (int i = 0; i < program->nset; i++)
        putenv(program->set[i]);
}

/* Moves a descriptor above the standard ones, so that the dup2s below cannot overwrite it. */
static int keep_clear(int fd)
{
    return fd >= 0 && fd < 3 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd;
}

/* A process group of its own, by which it is signalled with all that it starts, and no session of its own: the kernel shares a
 * core out among sessions first (autogroup), and sched_yield goes to nobody of another one, so that PEs in sessions of their
 * own, many to a core, would wait for time slices of each other. So a pseudo terminal that a PE writes to controls nobody. */
static void take_place(struct hm_guard *g, const struct plan *plan)
{
    if (plan->join_front) {
        setpgid(0, g->origin->group);
        signal(SIGQUIT, SIG_IGN); /* Ctrl-\ asks oshrun what the PEs wait for, and reaches this PE too */
        return;
    }
    setpgid(0, 0);
}

static void take_streams(const struct plan *plan)
{
    if (plan->in >= 0) dup2(plan->in, 0);
    if (plan->out[0] >= 0) dup2(plan->out[0], 1);
    if (plan->out[1] >= 0) dup2(plan->out[1], 2);
}

static void child(struct hm_guard *g, int pe, struct plan *plan, pid_t guard) HM_NORETURN;
static void child(struct hm_guard *g, int pe, struct plan *plan, pid_t guard)
{
    const struct hm_program *program = g->pes[pe].program;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard) _exit(1);
    take_place(g, plan);
    take_streams(plan);
    if (g->run->bind != HM_BIND_NONE && hm_bind_self(pe) != 0) fail_start(g, pe, "bind");
    fcntl(plan->wire, F_SETFD, 0);
    set_environment(g, pe, plan->wire);
    if (program->wdir && chdir(program->wdir) != 0) fail_start(g, pe, "chdir");
    setrlimit(RLIMIT_NOFILE, &g->origin->files);
    if (g->origin->child_ignored) signal(SIGCHLD, SIG_IGN);
    sigprocmask(SIG_SETMASK, &g->origin->mask, NULL);
    execvp(program->argv[0], program->argv);
    fail_start(g, pe, "exec");
}

int hm_pe_spawn(struct hm_guard *g, int pe)
{
    struct plan plan;
    struct hm_pe *p = &g->pes[pe];
    pid_t guard = getpid();
    int rc = make_plan(g, pe, &plan);
    if (!rc) {
        plan.in = keep_clear(plan.in);
        pid_t pid = fork();
        if (pid == 0) child(g, pe, &plan, guard);
        if (pid < 0)
            rc = -errno;
        else
            p->pid = pid;
        p->own_group = !plan.join_front;
    }
    drop_plan(&plan);
    return rc;
}

/* --- afterwards --- */

void hm_pe_resize(struct hm_guard *g, const struct winsize *size)
{
    for (int pe = 0; pe < g->npes; pe++)
        for (int i = 0; i < 2; i++)
            if (g->pes[pe].stream[i].fd >= 0) ioctl(g->pes[pe].stream[i].fd, TIOCSWINSZ, size);
}

void hm_pe_signal(struct hm_guard *g, int pe, int sig)
{
    const struct hm_pe *p = &g->pes[pe];
    if (p->exited) {
        pid_t joined = g->hub.members[pe].pid;
        if (joined) kill(joined, sig);
    } else if (!p->own_group) {
        hm_tree_signal(p->pid, sig, g->origin->group);
    } else if (kill(-p->pid, sig) != 0) {
        kill(p->pid, sig);
    }
}

/* What becomes of the PEs: their messages, and how each one ends. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

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
    hm_end_fail(g, 1);
}

/* What the library has written into its page counts more than what we can see. True: nothing is left to say.
 */
static bool pe_spoke(struct hm_guard *g, int pe, int *status)
{
    const struct hm_pe_page *page = hm_hub_page(&g->hub, pe);
    uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
    if (state != HM_PE_SAID && state != HM_PE_LEAVING) return false;
    if (*status == 0) *status = page->status & 0xff;
    if (*status == 0) *status = 1;
    return state == HM_PE_SAID;
}

/* PEs may follow a global_exit before the message of the one who called it has arrived. */
static bool global_exit_began(struct hm_guard *g, int pe)
{
    const struct hm_job *job = hm_hub_job(&g->hub, pe);
    if (__atomic_load_n(&job->stopping, __ATOMIC_ACQUIRE) != 1) return false;
    hm_end_exit_all(g, pe, job->exit_status & 0xff);
    g->guessed_exit = true;
    return true;
}

/* A PE that closed descriptors it does not know cannot say that it has finalized; its page still does. */
static void settle_finalized(struct hm_guard *g, int pe)
{
    uint32_t state = __atomic_load_n(&hm_hub_page(&g->hub, pe)->state, __ATOMIC_ACQUIRE);
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
        hm_end_fail(g, status ? status : 1);
        return;
    }
    hm_hub_forget(&g->hub, pe);
}

static int status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* A PE that shares the terminal has got the Ctrl-C that the front is about to pass on, or has got alone as it is the
 * only one. That it ends so is no news. */
static void check_interrupted(struct hm_guard *g, int pe, int wait_status)
{
    if (!g->pes[pe].own_group && status_of(wait_status) == 128 + SIGINT) hm_control_interrupted(g);
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
    hm_watch_wire(g, pe);
    settle_finalized(g, pe);
    check_interrupted(g, pe, wait_status);
    hm_process_describe(how, sizeof how, wait_status);
    if (m->pid == p->pid) {
        size_t n = strlen(how);
        if (!WIFSIGNALED(wait_status)) snprintf(how + n, sizeof how - n, " before shmem_finalize");
        member_lost(g, pe, how, status);
    } else if (status && g->phase == HM_PHASE_RUN && !global_exit_began(g, pe)) {
        bool broken = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGPIPE &&
                      (g->sinks[0].broken || g->sinks[1].broken);
        if (!pe_spoke(g, pe, &status) && !broken) hm_report_end(g, pe, p->pid, how);
        hm_end_fail(g, status);
    }
    if (!m->pid) pe_ended(g, pe);
}

static int pe_of(const struct hm_guard *g, pid_t pid)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (g->pes[pe].pid == pid && !g->pes[pe].exited) return pe;
    return -1;
}

void hm_watch_errors(struct hm_guard *g)
{
    struct hm_start_error e;
    while (read(g->start_errors[0], &e, sizeof e) == sizeof e) {
        if (g->phase != HM_PHASE_RUN) continue;
        const struct hm_program *program = g->pes[e.pe].program;
        bool exec = !strcmp(e.what, "exec"), here = false;
        if (exec && e.error == ENOENT && !strchr(program->argv[0], '/'))
            here = access(program->argv[0], X_OK) == 0;
        if (exec)
            hm_guard_say(g, "cannot run %s: %s%s%s", program->argv[0], strerror(e.error),
                         here ? "; did you mean ./" : "", here ? program->argv[0] : "");
        else if (!strcmp(e.what, "chdir"))
            hm_guard_say(g, "--wdir %s: %s", program->wdir, strerror(e.error));
        else
            hm_guard_say(g, "--bind: cannot bind PE %d: %s", e.pe, strerror(e.error));
        hm_end_fail(g, exec && e.error != ENOENT ? 126 : 127);
    }
}

void hm_watch_reap(struct hm_guard *g)
{
    int status;
    pid_t pid;
    hm_watch_errors(g);
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        int pe = pe_of(g, pid);
        if (pe < 0) continue;
        if (WIFSTOPPED(status))
            g->pes[pe].stopped = true;
        else if (WIFCONTINUED(status))
            g->pes[pe].stopped = false;
        else
            child_ended(g, pe, status);
    }
    hm_control_check_stop(g);
}

/* --- the wires --- */

static void on_joined(struct hm_guard *g, int pe)
{
    struct hm_member *m = &g->hub.members[pe];
    if (m->pidfd >= 0) hm_guard_watch(g, m->pidfd, HM_WATCH_PIDFD, pe, EPOLLIN);
    hm_guard_watch(g, m->lifeline, HM_WATCH_LIFELINE, pe, EPOLLIN | EPOLLRDHUP);
    if (g->run->verbose) hm_guard_say(g, "PE %d: process %d has called shmem_init", pe, (int)m->pid);
}

static bool hub_event(struct hm_guard *g, int pe)
{
    switch (hm_hub_read(&g->hub, pe)) {
    case HM_HUB_NOTHING:
        return false;
    case HM_HUB_JOINED:
        on_joined(g, pe);
        break;
    case HM_HUB_FINALIZED:
        if (g->pes[pe].exited) pe_ended(g, pe);
        break;
    case HM_HUB_EXIT_ALL:
        hm_end_exit_all(g, pe, g->hub.status);
        break;
    case HM_HUB_TROUBLE:
        if (g->phase == HM_PHASE_RUN) hm_guard_tell(g, "%s", g->hub.trouble);
        hm_end_fail(g, 1);
        break;
    case HM_HUB_ENDED:
        hm_guard_unwatch(g, g->hub.members[pe].wire);
        close(g->hub.members[pe].wire);
        g->hub.members[pe].wire = -1;
        return false;
    default:
        break;
    }
    return true;
}

void hm_watch_wire(struct hm_guard *g, int pe)
{
    while (hub_event(g, pe)) {
    }
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
        hm_process_describe(how, sizeof how, wait_status);
        size_t n = strlen(how);
        if (!WIFSIGNALED(wait_status)) snprintf(how + n, sizeof how - n, " before shmem_finalize");
        status = status_of(wait_status);
        check_interrupted(g, pe, wait_status);
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
void hm_watch_member(struct hm_guard *g, int pe, bool lifeline)
{
    struct hm_member *m = &g->hub.members[pe];
    hm_watch_reap(g); /* who is our child gives its status there */
    hm_watch_wire(g, pe);
    if (!m->pid || !has_event(lifeline ? m->lifeline : m->pidfd)) return; /* news of one that is forgotten */
    if (lifeline) {
        hm_guard_unwatch(g, m->lifeline);
        if (m->pid && process_lives(m->pid)) {
            if (!hm_hub_executed(&g->hub, pe)) return; /* it closed what it does not know: no harm */
            settle_finalized(g, pe);
            if (m->pid) member_lost(g, pe, "executed another program before shmem_finalize", 1);
            if (g->pes[pe].exited) pe_ended(g, pe);
            return;
        }
    }
    if (m->pid == g->pes[pe].pid && !g->pes[pe].exited) {
        if (m->pidfd >= 0) hm_guard_unwatch(g, m->pidfd); /* SIGCHLD follows */
        return;
    }
    grandchild_gone(g, pe);
}

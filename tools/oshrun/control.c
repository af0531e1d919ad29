/* What the front passes on: signals, Ctrl-Z and fg among them; and its death. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"
#include "tree.h"

#include <string.h>
#include <unistd.h>

#define STOP_GRACE (100 * HM_MS)

void hm_control_signal_all(struct hm_guard *g, int sig)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended) hm_pe_signal(g, pe, sig);
}

void hm_control_continue(struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++)
        g->pes[pe].stopped = false;
    g->stopping = false;
    g->stop_at = 0;
    hm_tree_signal(getpid(), SIGCONT, 0);
}

/* --- Ctrl-Z and fg --- */

static bool all_stopped(const struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].exited && !g->pes[pe].stopped) return false;
    return true;
}

/* Some handle SIGTSTP, and the kernel drops it where nobody of the session is left above the group; all are stopped for sure
 * after a moment in which those that handle it can put their house in order. */
static void begin_stop(struct hm_guard *g, bool tty)
{
    if (g->stopping || g->phase != HM_PHASE_RUN) return;
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && (!tty || g->pes[pe].own_group)) hm_pe_signal(g, pe, SIGTSTP);
    g->stopping = true;
    g->stop_at = (int64_t)hm_os_now() + STOP_GRACE;
}

void hm_control_stopped(struct hm_guard *g)
{
    hm_tree_signal(getpid(), SIGSTOP, 0);
    g->stopping = false;
    g->stop_at = 0;
    hm_guard_note(g, HM_NOTE_STOPPED, 0);
}

void hm_control_check_stop(struct hm_guard *g)
{
    if (g->stopping && all_stopped(g)) hm_control_stopped(g);
}

/* --- signals, passed on by the front --- */

/* One PE on a terminal decides itself what Ctrl-C means: it may be a debugger or an interpreter. */
static bool left_to_pe(struct hm_guard *g, bool tty)
{
    if (!tty || g->npes > 1 || g->pes[0].own_group) return false;
    memmove(g->interrupts, g->interrupts + 1, 2 * sizeof *g->interrupts);
    g->interrupts[2] = (int64_t)hm_os_now();
    return !g->interrupts[0] || g->interrupts[2] - g->interrupts[0] > 1000 * HM_MS;
}

/* For the program rather than for the shell around it, which the signal would kill. */
static void pass_on(struct hm_guard *g, int sig)
{
    for (int pe = 0; pe < g->npes; pe++) {
        pid_t joined = g->hub.members[pe].pid;
        if (joined && joined != g->pes[pe].pid)
            kill(joined, sig);
        else if (!g->pes[pe].ended)
            hm_pe_signal(g, pe, sig);
    }
}

static void forward(struct hm_guard *g, int sig, bool tty)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && (!tty || g->pes[pe].own_group)) hm_pe_signal(g, pe, sig);
}

static void end_signal(struct hm_guard *g, int sig, bool tty)
{
    if (sig == SIGINT && left_to_pe(g, tty)) return;
    if (sig == SIGINT && tty && g->early_interrupt) {
        g->early_interrupt = false;
        return;
    }
    if (g->end_signal) {
        hm_end_phase(g, HM_PHASE_KILL, 0);
        return;
    }
    g->end_signal = sig;
    forward(g, sig, tty);
    hm_tree_signal(getpid(), SIGCONT, 0);
    if (g->phase <= HM_PHASE_LINGER) hm_end_by_signal(g, sig);
}

void hm_control_interrupted(struct hm_guard *g)
{
    if (g->phase != HM_PHASE_RUN) return;
    if (g->npes == 1) {
        hm_end_fail(g, 128 + SIGINT); /* nobody else is to be told */
        return;
    }
    end_signal(g, SIGINT, true);
    g->early_interrupt = true;
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
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        end_signal(g, sig, tty);
        break;
    case SIGQUIT:
        hm_report_waits(g, "SIGQUIT");
        break;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        begin_stop(g, tty);
        break;
    case SIGCONT:
        hm_control_continue(g);
        break;
    case SIGWINCH:
        window_changed(g);
        break;
    default:
        pass_on(g, sig);
        break;
    }
}

static void die_with_front(struct hm_guard *g)
{
    hm_end_kill(g);
    _exit(1);
}

void hm_control_read(struct hm_guard *g)
{
    struct hm_note n;
    ssize_t k = read(g->control, &n, sizeof n);
    if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) die_with_front(g);
    if (k == sizeof n && n.kind == HM_NOTE_SIGNAL) on_signal(g, n.value, n.tty);
}

/* How a job ends: the phases from the first failure, signal or global_exit to the last process. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/futex.h"
#include "base/os.h"
#include "tree.h"

#include <sys/mman.h>
#include <unistd.h>

#define GLOBAL_EXIT_GRACE (500 * HM_MS) /* for the PEs that did not call it */
#define GLOBAL_EXIT_LATE (1000 * HM_MS) /* more, for the one that did */
#define LINGER (150 * HM_MS)
#define TERM_GRACE (150 * HM_MS)

void hm_end_phase(struct hm_guard *g, enum hm_phase phase, int64_t length)
{
    g->phase = phase;
    g->phase_end = (int64_t)hm_os_now() + length;
}

void hm_end_term(struct hm_guard *g)
{
    hm_hub_stopping(&g->hub, 2);
    hm_control_signal_all(g, SIGTERM);
    hm_control_continue(g);
    hm_end_phase(g, HM_PHASE_TERM, TERM_GRACE);
}

/* PEs that have finalized, or never joined, may be about to print their last words. */
static bool somebody_lingers(const struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++)
        if (!g->pes[pe].ended && !g->hub.members[pe].pid) return true;
    return false;
}

void hm_end_fail(struct hm_guard *g, int status)
{
    if (g->phase != HM_PHASE_RUN) return;
    g->exit_status = status;
    if (somebody_lingers(g))
        hm_end_phase(g, HM_PHASE_LINGER, LINGER);
    else
        hm_end_term(g);
}

static void ring(struct hm_bell *bell)
{
    __atomic_fetch_add(&bell->seq, 1, __ATOMIC_SEQ_CST);
    hm_futex_wake(&bell->seq, INT_MAX);
}

/* Who sleeps in a meeting, in any team slot that has been used. */
static void wake_meetings(const struct hm_machine *m)
{
    size_t bytes = hm_job_bytes(m->npes), slots_at = hm_job_slots_at(m->npes), step = hm_job_slot_bytes(m->npes);
    char *job = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->job_fd, 0);
    if (job == MAP_FAILED) return; /* they look up by themselves, only later */
    off_t data = (off_t)slots_at;
    while ((data = lseek(m->job_fd, data, SEEK_DATA)) >= 0) {
        size_t slot_at = slots_at + hm_round_down((size_t)data - slots_at, step);
        hm_futex_wake(&((struct hm_bell *)(job + slot_at + HM_TEAM_BELL_AT))->seq, INT_MAX);
        data = (off_t)(slot_at + step);
    }
    munmap(job, bytes);
}

/* The caller of global_exit wakes those of his machine; who sleeps on another one hears of it from us. */
static void ring_all(struct hm_guard *g)
{
    for (int i = 0; g->hub.nmachines > 1 && i < g->hub.nmachines; i++)
        wake_meetings(&g->hub.machines[i]);
    for (int pe = 0; pe < g->npes; pe++) {
        struct hm_pe_page *page = hm_hub_page(&g->hub, pe);
        ring(&page->bell);
        ring(&page->meet_bell);
        ring(&page->lock_bell);
    }
}

void hm_end_exit_all(struct hm_guard *g, int pe, int status)
{
    if (g->guessed_exit) { /* only now has the caller told us himself */
        g->guessed_exit = false;
        g->exit_all_pe = pe;
        g->exit_status = status;
    }
    if (g->phase != HM_PHASE_RUN && g->phase != HM_PHASE_LINGER) return;
    g->exit_status = status;
    g->exit_all_pe = pe;
    for (int i = 0; i < g->hub.nmachines; i++)
        g->hub.machines[i].job->exit_status = status;
    hm_hub_stopping(&g->hub, 1);
    ring_all(g);
    hm_end_phase(g, HM_PHASE_GRACE, GLOBAL_EXIT_GRACE);
}

void hm_end_by_signal(struct hm_guard *g, int sig)
{
    g->end_signal = sig;
    g->exit_status = 128 + sig;
    hm_end_phase(g, HM_PHASE_GRACE, (int64_t)((sig == SIGINT ? g->run->interrupt_grace : g->run->grace) * 1e9));
}

static void kill_others(struct hm_guard *g)
{
    for (int pe = 0; pe < g->npes; pe++) {
        pid_t joined = g->hub.members[pe].pid;
        if (pe == g->exit_all_pe || g->pes[pe].ended) continue;
        if (!g->pes[pe].exited)
            hm_tree_signal(g->pes[pe].pid, SIGKILL, 0);
        else if (joined)
            hm_tree_signal(joined, SIGKILL, 0);
    }
}

void hm_end_next(struct hm_guard *g)
{
    switch (g->phase) {
    case HM_PHASE_LINGER:
        hm_end_term(g);
        break;
    case HM_PHASE_GRACE:
        if (g->exit_all_pe < 0 || g->pes[g->exit_all_pe].ended) {
            hm_end_phase(g, HM_PHASE_KILL, 0);
            break;
        }
        kill_others(g);
        hm_end_phase(g, HM_PHASE_LATE, GLOBAL_EXIT_LATE);
        break;
    default:
        hm_end_phase(g, HM_PHASE_KILL, 0);
        break;
    }
}

/* The groups first, which needs no look into /proc; then whoever is left. */
void hm_end_kill(struct hm_guard *g)
{
    hm_hub_stopping(&g->hub, 2);
    for (int pe = 0; pe < g->npes; pe++) {
        const struct hm_pe *p = &g->pes[pe];
        if (!p->pid || p->exited) continue;
        if (p->own_group) kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL);
    }
    hm_tree_kill();
}

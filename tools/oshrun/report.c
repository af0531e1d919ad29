/* Sentences about PEs: how one ended, and what each waits for. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"
#include "base/process.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hm_report_grandchild(struct hm_guard *g, int pe, int *wait_status)
{
    const struct hm_member *m = &g->hub.members[pe];
    for (int i = 0; i < 10; i++) {
        if (hm_process_status(m->pid, m->pidfd, wait_status)) return;
        usleep(1000);
    }
}

/* --- what a PE waits for --- */

static const char *comparison(int cmp)
{
    static const char *const names[] = {"?", "==", "!=", ">", ">=", "<", "<="};
    return cmp > 0 && cmp < (int)HM_COUNT(names) ? names[cmp] : "?";
}

/* Appends to text; never beyond size. */
static void add(char *text, size_t size, const char *fmt, ...) HM_PRINTF(3, 4);
static void add(char *text, size_t size, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + n, size - n, fmt, args);
    va_end(args);
}

static void add_address(char *text, size_t size, const struct hm_blocked *b)
{
    add(text, size, " on address 0x%llx", (unsigned long long)b->addr);
    if (b->offset >= 0)
        add(text, size, " (%s + 0x%llx)",
            b->in_heap == 2 ? "device heap" : b->in_heap ? "symmetric heap" : "static data",
            (unsigned long long)b->offset);
}

static void add_team(char *text, size_t size, const struct hm_blocked *b, int npes)
{
    if (b->team_size == npes && b->team_start == 0)
        add(text, size, " on the world team");
    else if (b->team_start < 0) /* any PEs, some of those of one machine */
        add(text, size, " on a team of %d PEs", b->team_size);
    else if (b->team_size > 0)
        add(text, size, " on the team of %d PEs %d, %d, ...", b->team_size, b->team_start,
            b->team_start + b->team_stride);
    if (b->pe >= 0) add(text, size, " for PE %d", b->pe);
    if (b->missing > 0) add(text, size, " (%d of %d have not come)", b->missing, b->team_size);
}

/* In init nobody but the launcher knows who is missing. */
static void add_starters(struct hm_guard *g, char *text, size_t size)
{
    int missing = 0, first = -1;
    for (int pe = 0; pe < g->npes; pe++) {
        const struct hm_member *m = &g->hub.members[pe];
        if (m->part.waiting) continue;
        if (first < 0) first = pe;
        missing++;
    }
    if (missing) add(text, size, " for PE %d (%d of %d PEs have not come)", first, missing, g->npes);
}

static void add_word(char *text, size_t size, const struct hm_blocked *b)
{
    add_address(text, size, b);
    add(text, size, " until it is %s %lld (it was %lld)", comparison(b->cmp), (long long)b->want, (long long)b->have);
}

/* Not a thread's wait. */
static bool is_streams(const struct hm_blocked *b) { return b->kind == HM_BLOCKED_STREAM && (b->addr || b->team_size); }

static void describe(struct hm_guard *g, char *text, size_t size, const struct hm_blocked *b)
{
    add(text, size, "%swaits in %.*s", is_streams(b) ? "has a stream that " : "", (int)strnlen(b->call, sizeof b->call),
        b->call[0] ? b->call : "the library");
    switch (b->kind) {
    case HM_BLOCKED_WORD:
        add_word(text, size, b);
        break;
    case HM_BLOCKED_STREAM:
        if (b->addr) add_word(text, size, b);
        else if (b->team_size) add_team(text, size, b, g->npes);
        else add(text, size, " for what is on streams");
        break;
    case HM_BLOCKED_TEAM:
        add_team(text, size, b, g->npes);
        break;
    case HM_BLOCKED_LOCK:
        add_address(text, size, b);
        if (b->pe >= 0) add(text, size, ", a lock that lives at PE %d", b->pe);
        break;
    case HM_BLOCKED_PAIR:
        add(text, size, " for PE %d", b->pe);
        break;
    case HM_BLOCKED_START:
        add_starters(g, text, size);
        break;
    case HM_BLOCKED_AGENT:
        add(text, size, " for the agent of PE %d, which is to change its device memory", b->pe);
        break;
    default:
        break;
    }
    if (b->since) add(text, size, ", since %.1f s", (double)(int64_t)(hm_os_now() - b->since) / 1e9);
}

/* Copies out the i-th wait of a PE; false when there is none. */
static bool blocked_at(const struct hm_guard *g, int pe, int i, struct hm_blocked *b)
{
    return hm_blocked_read(&hm_hub_page(&g->hub, pe)->blocked[i], b);
}

void hm_report_end(struct hm_guard *g, int pe, pid_t pid, const char *how)
{
    char text[1024], memory[512] = "";
    struct hm_blocked b;
    snprintf(text, sizeof text, "PE %d (process %d) %s", pe, (int)pid, how);
    for (int i = 0; i < HM_BLOCKED_SLOTS; i++) {
        if (!blocked_at(g, pe, i, &b) || is_streams(&b)) continue;
        add(text, sizeof text, "; it had been waiting in %.*s", (int)strnlen(b.call, sizeof b.call), b.call);
        break;
    }
    if (strstr(how, "SIGKILL") || strstr(how, "SIGBUS")) hm_memory_say(g, memory, sizeof memory);
    hm_guard_tell(g, "%s%s; the job is ended", text, memory);
}

/* "R (running)" from /proc */
static void process_state(pid_t pid, char *text, size_t size)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'R', "computes"},
                 {'S', "sleeps"},
                 {'D', "is in the kernel"},
                 {'T', "is stopped"},
                 {'t', "is held by a debugger"},
                 {'Z', "has ended"}};
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    snprintf(text, size, "runs");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t n = read(fd, stat, sizeof stat - 1);
    close(fd);
    stat[n > 0 ? n : 0] = 0;
    char *state = strrchr(stat, ')');
    for (size_t i = 0; state && state[1] && i < HM_COUNT(names); i++)
        if (state[2] == names[i].letter) snprintf(text, size, "%s", names[i].name);
}

static void report_idle(struct hm_guard *g, int pe)
{
    const struct hm_pe *p = &g->pes[pe];
    const struct hm_member *m = &g->hub.members[pe];
    char state[64];
    pid_t pid = m->pid ? m->pid : p->pid;
    process_state(pid, state, sizeof state);
    const char *where = "outside the library";
    if (m->part.waiting)
        where = "in init, where it waits for all PEs to start";
    else if (!m->pid)
        where = m->joins ? "after shmem_finalize" : "and has not called shmem_init";
    hm_guard_say(g, "PE %d (process %d) %s %s", pe, (int)pid, state, where);
}

static void report_pe(struct hm_guard *g, int pe)
{
    struct hm_blocked b;
    bool any = false;
    if (g->pes[pe].ended) {
        hm_guard_say(g, "PE %d has ended", pe);
        return;
    }
    for (int i = 0; g->hub.members[pe].pid && i < HM_BLOCKED_SLOTS; i++) {
        char text[1024];
        if (!blocked_at(g, pe, i, &b)) continue;
        snprintf(text, sizeof text, "PE %d (process %d) ", pe, (int)g->hub.members[pe].pid);
        describe(g, text, sizeof text, &b);
        hm_guard_say(g, "%s", text);
        any |= !is_streams(&b);
    }
    if (!any) report_idle(g, pe);
}

void hm_report_waits(struct hm_guard *g, const char *why)
{
    hm_guard_say(g, "%s: what each PE does", why);
    for (int pe = 0; pe < g->npes; pe++)
        report_pe(g, pe);
}

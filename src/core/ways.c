#include "core/ways.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, LIST = 256, MOST_REASONS = 8 };

struct report {
    const struct hm_ways_job *job;
    void (*say)(const char *line);
    uint8_t *set;  /* room for numbers of PEs or machines */
    uint8_t *told; /* by PE: what it says in this round has been reported */
    int *leader;   /* of each machine */
};

static void line(const struct report *r, const char *fmt, ...) HM_PRINTF(2, 3);
static void line(const struct report *r, const char *fmt, ...)
{
    char text[LINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->say(text);
}

int hm_ways_list(const uint8_t *set, int n, char *text, size_t size)
{
    size_t at = 0;
    int count = 0;
    *text = 0;
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && set[end]; end++) continue;
        if (end == i) {
            end++;
            continue;
        }
        count += end - i;
        if (at + sizeof ", 2147483647-2147483647, ..." > size) {
            at = size; /* no more, but count */
            continue;
        }
        at += (size_t)snprintf(text + at, size - at, end - i > 1 ? "%s%d-%d" : "%s%d", at ? ", " : "", i, end - 1);
    }
    if (at == size && strlen(text) + sizeof ", ..." <= size) strcat(text, ", ...");
    return count;
}

enum hm_way_slow hm_ways_judge(const char *text, const struct hm_ways_pe *a, const struct hm_ways_pe *b)
{
    return strstr(text, " tcp/") && *a->card && *b->card ? HM_WAY_TCP : HM_WAY_FINE;
}

/* "PE 3", "PEs 0-3, 5": those of the set. */
static int list_pes(const struct report *r, char *text, size_t size)
{
    char list[LIST];
    int n = hm_ways_list(r->set, r->job->npes, list, sizeof list);
    snprintf(text, size, "PE%s %s", n == 1 ? "" : "s", list);
    return n;
}

/* --- who is where --- */

static void say_machines(struct report *r)
{
    const struct hm_ways_job *job = r->job;
    char pes[LIST + 8];
    int largest = 0;
    for (int m = 0; m < job->machines; m++) {
        for (int i = 0; i < job->npes; i++) r->set[i] = job->pe[i].machine == m;
        int n = list_pes(r, pes, sizeof pes);
        const struct hm_ways_pe *first = &job->pe[r->leader[m]];
        line(r, "machine %d: host %s: %s%s%s", m, first->host, pes, *first->card ? ", RDMA device " : "", first->card);
        if (n > largest) largest = n;
    }
    if (largest > 1 && job->mapped) line(r, "PEs of one machine: mapped memory");
}

/* --- which way --- */

static bool is_same(const struct hm_way *a, const struct hm_way *b)
{
    return a->slow == b->slow && !strcmp(a->text, b->text) && !strcmp(a->to, b->to);
}

static void say_slow(struct report *r, int pe, const char *pes)
{
    const struct hm_ways_pe *p = &r->job->pe[pe];
    if (*p->asked)
        line(r, "warning: %s: tcp, though there are RDMA devices (%s) on both sides: %s is set", pes, p->card, p->asked);
    else
        line(r, "warning: %s: tcp, though there are RDMA devices (%s) on both sides: UCX has not taken them (ucx_info -d "
                "lists what it sees; ulimit -l, access to /dev/infiniband)", pes, p->card);
}

/* Those that say what PE `first` says in this round, and have not been reported. */
static void say_way(struct report *r, const struct hm_way *round, int first)
{
    char pes[LIST + 8];
    const struct hm_way *way = &round[first];
    for (int i = 0; i < r->job->npes; i++) {
        r->set[i] = i >= first && !r->told[i] && round[i].more && is_same(way, &round[i]);
        r->told[i] |= r->set[i];
    }
    list_pes(r, pes, sizeof pes);
    line(r, "%s to %s: %s", pes, way->to, way->text);
    if (way->slow == HM_WAY_TCP) say_slow(r, first, pes);
}

static void say_ways(struct report *r)
{
    const struct hm_ways_job *job = r->job;
    for (int k = 0; k < job->rounds; k++) {
        const struct hm_way *round = job->way + (size_t)k * (size_t)job->npes;
        memset(r->told, 0, (size_t)job->npes);
        for (int i = 0; i < job->npes; i++)
            if (round[i].more && !r->told[i]) say_way(r, round, i);
    }
}

/* --- why not mapped --- */

/* Pairs of machines on one host, by the reason: the first pair, and how many there are. */
struct reason {
    const char *why;
    bool asked;
    int a, b, pairs;
};

static void note_reason(struct reason *reasons, int a, int b, const char *why, bool asked)
{
    struct reason *x = reasons;
    while (x->why && strcmp(x->why, why)) x++;
    if (x == reasons + MOST_REASONS) return;
    if (!x->pairs++) *x = (struct reason){why, asked, a, b, 1};
}

static void say_reasons(struct report *r)
{
    const struct hm_ways_job *job = r->job;
    struct reason reasons[MOST_REASONS + 1] = {{0}};
    for (int a = 0; a < job->machines && job->apart; a++)
        for (int b = a + 1; b < job->machines; b++) {
            bool asked = false;
            const char *why = job->apart(r->leader[a], r->leader[b], &asked);
            if (why) note_reason(reasons, a, b, why, asked);
        }
    for (struct reason *x = reasons; x < reasons + MOST_REASONS && x->why; x++) {
        char more[48] = "";
        if (x->pairs > 1) snprintf(more, sizeof more, " (and %d more pairs of machines)", x->pairs - 1);
        line(r, "%sPEs of machines %d and %d%s are on one host, but do not map each other's memory: %s",
             x->asked ? "" : "warning: ", x->a, x->b, more, x->why);
    }
    if (!job->mapped) line(r, "PEs of one machine use the transport, too: SHMEM_MAPPED is off");
}

int hm_ways_report(const struct hm_ways_job *job, void (*say)(const char *line))
{
    size_t n = (size_t)job->npes;
    struct report r = {job, say, malloc(n), malloc(n), malloc((size_t)job->machines * sizeof(int))};
    bool fine = r.set && r.told && r.leader;
    for (int i = job->npes - 1; fine && i >= 0; i--) r.leader[job->pe[i].machine] = i;
    if (fine) {
        line(&r, "%d PE%s on %d machine%s", job->npes, job->npes > 1 ? "s" : "", job->machines,
             job->machines > 1 ? "s" : "");
        say_machines(&r);
        say_ways(&r);
        say_reasons(&r);
    }
    free(r.set);
    free(r.told);
    free(r.leader);
    return fine ? 0 : -ENOMEM;
}

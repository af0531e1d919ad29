/* Label propagation: each package has a row of floats, one for each section. At the start the row of a
 * package whose section is known has a one there, all else is zero. In every hop the new row of a package
 * is the weighted sum of its neighbours' rows. What a hidden package has seen over all hops is its score.
 *
 * The sum runs over the edges of a package in their order, wherever the rows come from. So the numbers
 * are the same, bit for bit, for any number of PEs and any way of fetching. */
#include "graph.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where the row of slot i is: the own ones first, those of other PEs behind. */
struct rows {
    const float *own;
    int32_t owned;
    const float *fetched;
};

static const float *row_at(struct rows r, int32_t slot, int labels)
{
    return slot < r.owned ? r.own + (size_t)slot * labels : r.fetched + (size_t)(slot - r.owned) * labels;
}

static size_t row_bytes(const struct part *p)
{
    return (size_t)p->labels * sizeof(float);
}

static int owned(const struct part *p)
{
    return p->end - p->begin;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one hop, the same code for all three ways ---- */

static void first_rows(const struct part *p, float *row)
{
    memset(row, 0, (size_t)owned(p) * row_bytes(p));
    for (int v = 0; v < owned(p); v++)
        if (p->known[v] >= 0) row[(size_t)v * p->labels + p->known[v]] = 1.0f;
}

/* Packages that share a neighbour are two hops apart and more alike than the two ends of one link:
 * a program and its library differ in section, two programs with the same libraries seldom do. */
static float hop_share(int hop)
{
    float share = hop % 2 == 0 ? 0.3f : 1.0f;

    for (int i = 1; i < hop; i += 2)
        share *= 0.5f;
    return share;
}

static void sum_neighbours(const struct part *p, int v, const int32_t *slot, struct rows in, float *out)
{
    memset(out, 0, row_bytes(p));
    for (int64_t e = p->first[v]; e < p->first[v + 1]; e++) {
        const float *row = row_at(in, slot[e], p->labels);
        float weight = p->weight[e];
        for (int i = 0; i < p->labels; i++)
            out[i] += weight * row[i];
    }
}

/* slot[e] is where the row at the other end of edge e is. The last hop is for the hidden packages alone. */
static void do_hop(const struct part *p, const int32_t *slot, struct rows in, int hop, bool last, float *out,
                   float *score)
{
    float share = hop_share(hop);

    for (int v = 0; v < owned(p); v++) {
        bool hidden = p->known[v] < 0;
        size_t at = (size_t)v * p->labels;
        if (last && !hidden) continue;
        sum_neighbours(p, v, slot, in, out + at);
        for (int i = 0; hidden && i < p->labels; i++)
            score[at + i] += share * out[at + i];
    }
}

int predict(const struct part *p, const float *score)
{
    int best = 0;

    for (int i = 1; i < p->labels; i++)
        if (score[i] > score[best]) best = i;
    return score[best] > 0 ? best : p->majority;
}

static long count_hits(const struct part *p, const float *score)
{
    long hits = 0;

    for (int v = 0; v < owned(p); v++)
        if (p->known[v] < 0) hits += predict(p, score + (size_t)v * p->labels) == p->truth[v];
    return hits;
}

/* ---- one PE alone ---- */

void propagate_alone(const struct part *whole, int hops, float *score, struct outcome *out)
{
    size_t bytes = (size_t)whole->nodes * row_bytes(whole);
    float *row[2] = {need(malloc(bytes), "the rows"), need(malloc(bytes), "the rows")};

    for (int i = 0; i < 2; i++)
        memset(row[i], 0, bytes); /* touched once, as the symmetric rows below */
    memset(score, 0, bytes);
    double start = now();
    first_rows(whole, row[0]);
    for (int hop = 0; hop < hops; hop++) {
        struct rows in = {.own = row[hop % 2], .owned = whole->nodes};
        progress_step("one PE alone");
        do_hop(whole, whole->target, in, hop, hop == hops - 1, row[(hop + 1) % 2], score);
    }
    *out = (struct outcome){.seconds = now() - start, .hits = count_hits(whole, score)};
    free(row[0]);
    free(row[1]);
}

/* ---- totals over all PEs, kept at PE 0 and added to by anybody ---- */

static long total_rows, total_hits;

/* Collective; the totals are right at PE 0 only. */
static void add_up(const struct part *p, double start, int64_t rows, const float *score, struct outcome *out)
{
    shmem_barrier_all();
    double seconds = now() - start;
    shmem_long_atomic_add(&total_rows, rows, 0);
    shmem_long_atomic_add(&total_hits, count_hits(p, score), 0);
    shmem_barrier_all();
    *out = (struct outcome){.seconds = seconds, .rows = total_rows, .hits = total_hits};
    out->bytes = out->rows * (int64_t)row_bytes(p);
    total_rows = total_hits = 0;
    shmem_barrier_all();
}

/* Symmetric rows, touched once: what the kernel takes to find the memory is no part of either way. */
static float *symmetric_rows(const struct part *p, size_t count)
{
    float *row = need(shmem_malloc(count * row_bytes(p)), "the rows; each package takes a few hundred bytes");

    return memset(row, 0, count * row_bytes(p));
}

/* ---- reads on demand ---- */

/* The rows of other PEs that the edges of this part need: each once, in ascending order. */
struct demand {
    int32_t count;
    int32_t *wanted;   /* package, counted over the whole graph */
    bool *wanted_last; /* needed by a hidden package, hence in the last hop too */
    int32_t *slot;     /* of each edge, for do_hop */
    float *fetched;
};

/* 0: not needed, 1: needed, 2: needed in the last hop too. */
static char *mark_needs(const struct part *p)
{
    char *mark = need(calloc((size_t)p->nodes, 1), "the list of needed rows");

    for (int v = 0; v < owned(p); v++) {
        char level = p->known[v] < 0 ? 2 : 1;
        for (int64_t e = p->first[v]; e < p->first[v + 1]; e++)
            if (mark[p->target[e]] < level) mark[p->target[e]] = level;
    }
    return mark;
}

static void list_needs(const struct part *p, const char *mark, int32_t *slot_of, struct demand *d)
{
    for (int32_t u = 0; u < p->nodes; u++) {
        if (u >= p->begin && u < p->end) {
            slot_of[u] = u - p->begin;
        } else if (mark[u]) {
            slot_of[u] = owned(p) + d->count;
            d->wanted_last[d->count] = mark[u] == 2;
            d->wanted[d->count++] = u;
        }
    }
}

static void demand_init(struct demand *d, const struct part *p)
{
    size_t nodes = (size_t)p->nodes, edges = (size_t)p->first[owned(p)];
    char *mark = mark_needs(p);
    int32_t *slot_of = need(malloc(nodes * sizeof(*slot_of)), "the list of needed rows");

    d->count = 0;
    d->wanted = need(malloc(nodes * sizeof(*d->wanted)), "the list of needed rows");
    d->wanted_last = need(malloc(nodes), "the list of needed rows");
    d->slot = need(malloc((edges + 1) * sizeof(*d->slot)), "the list of needed rows");
    list_needs(p, mark, slot_of, d);
    for (size_t e = 0; e < edges; e++)
        d->slot[e] = slot_of[p->target[e]];
    d->fetched = need(malloc((size_t)d->count * row_bytes(p) + 1), "the fetched rows");
    free(slot_of);
    free(mark);
}

static void demand_free(struct demand *d)
{
    free(d->wanted);
    free(d->wanted_last);
    free(d->slot);
    free(d->fetched);
}

/* This is what the global memory is for: read what is needed from whoever has it. Nobody answers, nobody
 * waits for us, and what nobody needs does not move. */
static int64_t fetch_rows(const struct demand *d, const struct part *p, const float *row, bool last)
{
    int64_t fetched = 0;

    for (int32_t i = 0; i < d->count; i++) {
        int pe = d->wanted[i] / p->block;
        size_t index = (size_t)(d->wanted[i] % p->block);
        if (last && !d->wanted_last[i]) continue;
        shmem_float_get_nbi(d->fetched + (size_t)i * p->labels, row + index * p->labels, (size_t)p->labels,
                            pe);
        fetched++;
    }
    shmem_quiet();
    return fetched;
}

void propagate_on_demand(const struct part *mine, int hops, float *score, struct outcome *out)
{
    float *row[2] = {symmetric_rows(mine, (size_t)mine->block), symmetric_rows(mine, (size_t)mine->block)};
    int64_t moved = 0;
    struct demand d;

    shmem_barrier_all();
    double start = now();
    demand_init(&d, mine);
    first_rows(mine, row[0]);
    memset(score, 0, (size_t)owned(mine) * row_bytes(mine));
    for (int hop = 0; hop < hops; hop++) {
        bool last = hop == hops - 1;
        progress_step("reads on demand");
        shmem_barrier_all(); /* all rows of the hop before are written */
        moved += fetch_rows(&d, mine, row[hop % 2], last);
        struct rows in = {.own = row[hop % 2], .owned = owned(mine), .fetched = d.fetched};
        do_hop(mine, d.slot, in, hop, last, row[(hop + 1) % 2], score);
    }
    add_up(mine, start, moved, score, out);
    demand_free(&d);
    shmem_free(row[1]);
    shmem_free(row[0]);
}

/* ---- gather everything ---- */

/* As message passing does it: a collective brings all rows to all PEs, needed or not. */
void propagate_gathered(const struct part *mine, int hops, float *score, struct outcome *out)
{
    size_t count = (size_t)mine->block * (size_t)mine->labels;
    float *row = symmetric_rows(mine, (size_t)mine->block);
    float *all = symmetric_rows(mine, (size_t)mine->block * (size_t)shmem_n_pes());
    int64_t moved = 0;

    shmem_barrier_all();
    double start = now();
    first_rows(mine, row);
    memset(score, 0, (size_t)owned(mine) * row_bytes(mine));
    for (int hop = 0; hop < hops; hop++) {
        progress_step("gather everything");
        shmem_barrier_all(); /* nobody reads the rows of the hop before any more */
        shmem_float_fcollect(SHMEM_TEAM_WORLD, all, row, count);
        moved += mine->nodes - owned(mine);
        struct rows in = {.owned = 0, .fetched = all};
        do_hop(mine, mine->target, in, hop, hop == hops - 1, row, score);
    }
    add_up(mine, start, moved, score, out);
    shmem_free(all);
    shmem_free(row);
}

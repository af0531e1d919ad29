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

static const float *row_at(struct rows r, int32_t slot, int stride)
{
    return slot < r.owned ? r.own + (size_t)slot * stride : r.fetched + (size_t)(slot - r.owned) * stride;
}

static size_t row_bytes(const struct part *p)
{
    return (size_t)p->labels * sizeof(float);
}

static size_t stride_bytes(const struct part *p)
{
    return (size_t)p->stride * sizeof(float);
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
    memset(row, 0, (size_t)owned(p) * stride_bytes(p));
    for (int v = 0; v < owned(p); v++)
        if (p->known[v] >= 0) row[(size_t)v * p->stride + p->known[v]] = 1.0f;
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
        const float *row = row_at(in, slot[e], p->stride);
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
        size_t at = (size_t)v * p->stride;
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
        if (p->known[v] < 0) hits += predict(p, score + (size_t)v * p->stride) == p->truth[v];
    return hits;
}

/* ---- one PE alone ---- */

void propagate_alone(const struct part *whole, int hops, float *score, struct outcome *out)
{
    size_t bytes = (size_t)whole->nodes * stride_bytes(whole);
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
    *out = (struct outcome){.seconds = now() - start, .modelled = -1, .hits = count_hits(whole, score)};
    free(row[0]);
    free(row[1]);
}

/* ---- totals over all PEs, kept at PE 0 and added to by anybody ---- */

static long total_rows, total_hits;

struct start {
    double seconds, modelled;
};

static struct start start_clocks(void)
{
    double modelled = modelled_meet();

    return (struct start){now(), modelled};
}

/* Collective; the totals are right at PE 0 only. */
static void add_up(const struct part *p, struct start start, int64_t rows, const float *score, struct outcome *out)
{
    double modelled = modelled_meet(), seconds = now() - start.seconds;
    shmem_long_atomic_add(&total_rows, rows, 0);
    shmem_long_atomic_add(&total_hits, count_hits(p, score), 0);
    shmem_barrier_all();
    *out = (struct outcome){.seconds = seconds, .modelled = modelled < 0 ? -1 : modelled - start.modelled,
                            .rows = total_rows, .hits = total_hits};
    out->bytes = out->rows * (int64_t)stride_bytes(p);
    total_rows = total_hits = 0;
    shmem_barrier_all();
}

/* Symmetric rows, touched once: what the kernel takes to find the memory is no part of either way. */
static struct mirror symmetric_rows(const struct part *p, size_t count)
{
    return mirror_make(count * (size_t)p->stride, "the rows; each package takes a few hundred bytes");
}

static void show_rows(const struct part *p, const struct mirror *row)
{
    mirror_show(row, (size_t)owned(p) * (size_t)p->stride);
}

/* ---- reads on demand ---- */

/* A device does the copies of one context one after the other, and each takes a microsecond or more to start: so reads
 * from different PEs get different contexts. And as the start costs as much as dozens of rows, rows that are not needed
 * are read, too, where so few lie between two that are. In a host's memory neither is worth while. */
#define LANES 16
#define JOIN 16

enum need { UNUSED, NEEDED, NEEDED_TO_THE_LAST }; /* the last hop is for hidden packages alone */

/* The rows of other PEs that the edges of this part need, each once, in ascending order, and those that are read on
 * the way. */
struct demand {
    int32_t count;
    int32_t *wanted; /* package, counted over the whole graph */
    char *need;
    int32_t *slot;   /* of each edge, for do_hop */
    struct mirror fetched;
    shmem_ctx_t lane[LANES];
    int lanes, join; /* join: rows between two that are needed */
};

/* Symmetric: the rows that this PE needs, and the most that any does, so that all ask for the same memory. */
static int count_here, count_most;

static char *mark_needs(const struct part *p)
{
    char *mark = need(calloc((size_t)p->nodes, 1), "the list of needed rows");

    for (int v = 0; v < owned(p); v++) {
        char level = p->known[v] < 0 ? NEEDED_TO_THE_LAST : NEEDED;
        for (int64_t e = p->first[v]; e < p->first[v + 1]; e++)
            if (mark[p->target[e]] < level) mark[p->target[e]] = level;
    }
    return mark;
}

static void add_slot(struct demand *d, int32_t u, char need)
{
    d->need[d->count] = need;
    d->wanted[d->count++] = u;
}

static bool same_pe(const struct part *p, int32_t u, int32_t v)
{
    return u / p->block == v / p->block;
}

/* The rows between the last one of the list and u. */
static void join(const struct part *p, int32_t u, struct demand *d)
{
    int32_t last = d->count ? d->wanted[d->count - 1] : u;

    if (u - last - 1 > d->join || !same_pe(p, u, last)) return;
    for (int32_t between = last + 1; between < u; between++)
        add_slot(d, between, UNUSED);
}

static void list_needs(const struct part *p, const char *mark, int32_t *slot_of, struct demand *d)
{
    for (int32_t u = 0; u < p->nodes; u++) {
        if (u >= p->begin && u < p->end) {
            slot_of[u] = u - p->begin;
        } else if (mark[u]) {
            join(p, u, d);
            slot_of[u] = owned(p) + d->count;
            add_slot(d, u, mark[u]);
        }
    }
}

/* Collective. They land in symmetric memory: from device to device a read is one copy, which nobody waits for. */
static struct mirror landing(const struct demand *d, const struct part *p)
{
    count_here = d->count;
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &count_most, &count_here, 1);
    return symmetric_rows(p, (size_t)count_most + 1);
}

static void open_lanes(struct demand *d, bool device)
{
    d->lanes = !device ? 1 : shmem_n_pes() < LANES ? shmem_n_pes() : LANES;
    d->join = device ? JOIN : 0;
    d->lane[0] = SHMEM_CTX_DEFAULT;
    for (int i = 1; i < d->lanes; i++)
        if (shmem_ctx_create(0, &d->lane[i])) d->lane[i] = SHMEM_CTX_DEFAULT;
}

static void close_lanes(struct demand *d)
{
    for (int i = 1; i < d->lanes; i++)
        if (d->lane[i] != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(d->lane[i]);
}

static void demand_init(struct demand *d, const struct part *p, bool device)
{
    size_t nodes = (size_t)p->nodes, edges = (size_t)p->first[owned(p)];
    char *mark = mark_needs(p);
    int32_t *slot_of = need(malloc(nodes * sizeof(*slot_of)), "the list of needed rows");

    open_lanes(d, device);
    d->count = 0;
    d->wanted = need(malloc(nodes * sizeof(*d->wanted)), "the list of needed rows");
    d->need = need(malloc(nodes), "the list of needed rows");
    d->slot = need(malloc((edges + 1) * sizeof(*d->slot)), "the list of needed rows");
    list_needs(p, mark, slot_of, d);
    for (size_t e = 0; e < edges; e++)
        d->slot[e] = slot_of[p->target[e]];
    d->fetched = landing(d, p);
    free(slot_of);
    free(mark);
}

static void demand_free(struct demand *d)
{
    free(d->wanted);
    free(d->need);
    free(d->slot);
    close_lanes(d);
    mirror_free(&d->fetched);
}

static int32_t next_needed(const struct demand *d, int32_t i, bool last)
{
    while (i < d->count && d->need[i] < (last ? NEEDED_TO_THE_LAST : NEEDED))
        i++;
    return i;
}

/* Where the read ends that begins at i: rows of one PE one after the other, with small gaps in what is needed. */
static int32_t end_of_read(const struct demand *d, const struct part *p, int32_t i, bool last)
{
    int32_t end = i + 1, next = next_needed(d, end, last);

    while (next < d->count && next - end <= d->join && d->wanted[next] - d->wanted[i] == next - i &&
           same_pe(p, d->wanted[next], d->wanted[i])) {
        end = next + 1;
        next = next_needed(d, end, last);
    }
    return end;
}

/* This is what the global memory is for: read what is needed from whoever has it. Nobody answers, nobody
 * waits for us, and what nobody needs does not move. */
static int64_t fetch_rows(const struct demand *d, const struct part *p, const float *row, bool last)
{
    size_t stride = (size_t)p->stride;
    int64_t fetched = 0;

    for (int32_t i = next_needed(d, 0, last), end; i < d->count; i = next_needed(d, end, last)) {
        size_t index = (size_t)(d->wanted[i] % p->block);
        int pe = d->wanted[i] / p->block;
        end = end_of_read(d, p, i, last);
        shmem_ctx_float_get_nbi(d->lane[pe % d->lanes], d->fetched.symmetric + (size_t)i * stride,
                                row + index * stride, (size_t)(end - i) * stride, pe);
        fetched += end - i;
    }
    for (int i = 0; i < d->lanes; i++)
        shmem_ctx_quiet(d->lane[i]);
    mirror_look(&d->fetched, (size_t)d->count * stride);
    return fetched;
}

void propagate_on_demand(const struct part *mine, int hops, float *score, struct outcome *out)
{
    struct mirror row[2] = {symmetric_rows(mine, (size_t)mine->block), symmetric_rows(mine, (size_t)mine->block)};
    int64_t moved = 0;
    struct demand d;

    struct start start = start_clocks();
    demand_init(&d, mine, on_device(row[0].symmetric));
    first_rows(mine, row[0].local);
    memset(score, 0, (size_t)owned(mine) * stride_bytes(mine));
    for (int hop = 0; hop < hops; hop++) {
        const struct mirror *from = &row[hop % 2], *to = &row[(hop + 1) % 2];
        bool last = hop == hops - 1;
        progress_step("reads on demand");
        show_rows(mine, from);
        modelled_meet(); /* a barrier: all rows of the hop before are written */
        moved += fetch_rows(&d, mine, from->symmetric, last);
        struct rows in = {.own = from->local, .owned = owned(mine), .fetched = d.fetched.local};
        do_hop(mine, d.slot, in, hop, last, to->local, score);
    }
    add_up(mine, start, moved, score, out);
    demand_free(&d);
    mirror_free(&row[1]);
    mirror_free(&row[0]);
}

/* ---- gather everything ---- */

/* As message passing does it: a collective brings all rows to all PEs, needed or not. */
void propagate_gathered(const struct part *mine, int hops, float *score, struct outcome *out)
{
    size_t count = (size_t)mine->block * (size_t)mine->stride;
    struct mirror row = symmetric_rows(mine, (size_t)mine->block);
    struct mirror all = symmetric_rows(mine, (size_t)mine->block * (size_t)shmem_n_pes());
    int64_t moved = 0;

    struct start start = start_clocks();
    first_rows(mine, row.local);
    memset(score, 0, (size_t)owned(mine) * stride_bytes(mine));
    for (int hop = 0; hop < hops; hop++) {
        progress_step("gather everything");
        show_rows(mine, &row);
        modelled_meet(); /* a barrier: nobody reads the rows of the hop before any more */
        shmem_float_fcollect(SHMEM_TEAM_WORLD, all.symmetric, row.symmetric, count);
        mirror_look(&all, (size_t)mine->nodes * (size_t)mine->stride);
        moved += mine->nodes - owned(mine);
        struct rows in = {.owned = 0, .fetched = all.local};
        do_hop(mine, mine->target, in, hop, hop == hops - 1, row.local, score);
    }
    add_up(mine, start, moved, score, out);
    mirror_free(&all);
    mirror_free(&row);
}

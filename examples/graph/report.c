/* Progress bar and table, by PE 0. */
#include "graph.h"

#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#define WIDTH 40

/* ---- progress ---- */

static int steps, done;

static bool watched(void)
{
    return steps > 0 && shmem_my_pe() == 0 && isatty(STDERR_FILENO);
}

static void fill(char *bar, double part)
{
    int full = (int)(part * WIDTH + 0.5);

    if (full == 0 && part > 0) full = 1;
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
}

void progress_start(int total)
{
    steps = total;
    done = 0;
}

void progress_step(const char *doing)
{
    char bar[WIDTH + 1];

    if (!watched()) return;
    fill(bar, (double)done / steps);
    fprintf(stderr, "\r  [%s] %-20s", bar, doing);
    fflush(stderr);
    done++;
}

void progress_end(void)
{
    if (watched()) fprintf(stderr, "\r%*s\r", WIDTH + 26, "");
}

/* ---- table ---- */

static long count_hidden(const struct part *p)
{
    long hidden = 0;

    for (int v = 0; v < p->nodes; v++)
        hidden += p->known[v] < 0;
    return hidden;
}

/* How often the guess "it is the most frequent section" is right. */
static long count_majority(const struct part *p)
{
    long hits = 0;

    for (int v = 0; v < p->nodes; v++)
        hits += p->known[v] < 0 && p->truth[v] == p->majority;
    return hits;
}

static void print_way(const char *name, const struct outcome *o, long hidden)
{
    printf("  %-22s %12lld %12.1f MB %9.3f s %9.1f %%\n", name, (long long)o->rows, (double)o->bytes / 1e6,
           o->seconds, hidden ? 100.0 * (double)o->hits / (double)hidden : 0.0);
}

static void print_share(const char *name, double part)
{
    char bar[WIDTH + 1];

    fill(bar, part);
    printf("  %-22s [%s] %5.1f %%\n", name, bar, 100 * part);
}

static void print_head(const struct report *r, long hidden)
{
    const struct graph *g = r->graph;

    printf("Package graph: %d packages, %lld dependencies, %d sections, on %d PE%s.\n", g->nodes,
           (long long)g->links, g->labels, r->n_pes, r->n_pes == 1 ? "" : "s");
    printf("The sections of %ld packages are hidden and predicted from their neighbours, over %d hop%s.\n",
           hidden, r->set->hops, r->set->hops == 1 ? "" : "s");
    printf("A package listens to %d neighbours at most: %lld edges. Each PE owns a block of %d packages,\n"
           "in the order of the file: %s.\n\n",
           r->set->fan_in, (long long)r->whole->first[g->nodes], r->whole->block, g->order);
}

static void print_table(const struct report *r, long hidden)
{
    long majority = count_majority(r->whole);

    printf("  %-22s %12s %15s %11s %11s\n", "way", "rows moved", "bytes moved", "time", "accuracy");
    printf("  ---------------------------------------------------------------------------\n");
    print_way("one PE alone", &r->alone, hidden);
    print_way("reads on demand", &r->demand, hidden);
    print_way("gather everything", &r->gather, hidden);
    printf("  guess: always %-48s %12.1f %%\n\n", r->graph->label_name[r->whole->majority],
           hidden ? 100.0 * (double)majority / (double)hidden : 0.0);
}

/* The clock of a software NPU knows what was copied, not what the CPU computed with it. */
static void print_modelled(const struct report *r)
{
    if (r->demand.modelled < 0) return;
    printf("  Copies in the modelled time of the devices: reads on demand %.3f ms, gather everything %.3f ms\n\n",
           1e3 * r->demand.modelled, 1e3 * r->gather.modelled);
}

/* A few predictions, at even distances over all hidden packages. */
static void print_samples(const struct report *r, long hidden)
{
    const struct part *p = r->whole;
    long seen = 0, next = hidden / 10, step = hidden / 5;

    printf("  For instance:\n");
    for (int v = 0; v < p->nodes; v++) {
        if (p->known[v] >= 0 || seen++ != next) continue;
        int guess = predict(p, r->score + (size_t)v * p->stride);
        printf("    %-34s %-14s %s%s\n", r->graph->name[v], r->graph->label_name[guess],
               guess == p->truth[v] ? "right" : "wrong, it is ",
               guess == p->truth[v] ? "" : r->graph->label_name[p->truth[v]]);
        next += step > 0 ? step : 1;
    }
    printf("\n");
}

/* FNV-1a over the bits of all scores: by it, runs on different memories and numbers of PEs can be compared. */
static uint64_t digest(const struct report *r)
{
    uint64_t hash = 14695981039346656037u;

    for (int v = 0; v < r->whole->nodes; v++) {
        const float *row = r->score + (size_t)v * r->whole->stride;
        for (size_t i = 0; i < (size_t)r->whole->labels * sizeof(float); i++)
            hash = (hash ^ ((const unsigned char *)row)[i]) * 1099511628211u;
    }
    return hash;
}

static void print_verdict(const struct report *r)
{
    if (r->differ >= 0) {
        printf("verdict: THE NUMBERS DIFFER, first at package %s\n", r->graph->name[r->differ]);
        return;
    }
    printf("verdict: the same numbers in all three ways, bit for bit; ");
    if (r->gather.bytes == 0) {
        printf("one PE has nothing to move\n");
        return;
    }
    double part = (double)r->demand.bytes / (double)r->gather.bytes;
    printf("reads on demand moved %.1f %% of the bytes\n", 100 * part);
}

void report_print(const struct report *r)
{
    long hidden = count_hidden(r->whole);

    print_head(r, hidden);
    print_table(r, hidden);
    print_modelled(r);
    if (r->gather.bytes > 0) {
        printf("  Bytes moved\n");
        print_share("reads on demand", (double)r->demand.bytes / (double)r->gather.bytes);
        print_share("gather everything", 1.0);
        printf("\n");
    }
    if (hidden > 0) print_samples(r, hidden);
    printf("digest of all scores: %016llx\n", (unsigned long long)digest(r));
    print_verdict(r);
    fflush(stdout);
}

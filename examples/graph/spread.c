/* The graph in the global memory.
 *
 * PE 0 lays the whole graph into its part of the global memory. Every PE then reads the slice it works on,
 * by one-sided gets: PE 0 sends nothing and does not even know when they come. */
#include "graph.h"

#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

/* A device copies between others' memory and its own best from multiples of this many bytes. */
#define LINE 64

/* Static data is symmetric: PE 0 writes these at every PE, so that all ask for the same memory. */
static int64_t sizes[4]; /* packages, sections, edges, majority */

void *need(void *memory, const char *what)
{
    if (memory) return memory;
    fprintf(stderr,
            "graph: PE %d: too little memory for %s; raise SHMEM_SYMMETRIC_SIZE or the machine's limit\n",
            shmem_my_pe(), what);
    shmem_global_exit(1);
    abort(); /* not reached; shmem_global_exit is not marked so before C11 */
}

/* The graph as every PE can read it in the memory of PE 0, and in the private memory of PE 0, where it is made. */
struct arrays {
    int64_t *first;
    int32_t *target, *known, *truth;
    float *weight;
};

/* One in five, by a hash (FNV-1a) of the name: the same choice whatever the order or the number of PEs. */
static bool is_hidden(const char *name, int seed)
{
    uint32_t hash = 2166136261u ^ (uint32_t)seed;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    hash ^= hash >> 15;
    return hash * 2654435761u < UINT32_MAX / 5;
}

static int64_t neighbours(const struct graph *g, int v)
{
    return g->first[v + 1] - g->first[v];
}

static int64_t listens_to(const struct graph *g, int v, int fan_in)
{
    return neighbours(g, v) < fan_in ? neighbours(g, v) : fan_in;
}

static int find_majority(const struct graph *g, int seed)
{
    int64_t *count = need(calloc((size_t)g->labels, sizeof(*count)), "counting sections");
    int best = 0;

    for (int v = 0; v < g->nodes; v++)
        if (!is_hidden(g->name[v], seed)) count[g->label[v]]++;
    for (int i = 1; i < g->labels; i++)
        if (count[i] > count[best]) best = i;
    free(count);
    return best;
}

static void measure(const struct graph *g, const struct settings *set)
{
    sizes[0] = g->nodes;
    sizes[1] = g->labels;
    for (int v = 0; v < g->nodes; v++)
        sizes[2] += listens_to(g, v, set->fan_in);
    sizes[3] = find_majority(g, set->seed);
    for (int pe = 1; pe < shmem_n_pes(); pe++)
        shmem_int64_put(sizes, sizes, 4, pe);
}

/* From shmem_malloc, or malloc. */
static struct arrays allocate(void *(*from)(size_t))
{
    size_t nodes = (size_t)sizes[0], edges = (size_t)sizes[2] + 1;

    return (struct arrays){
        .first = need(from((nodes + 1) * sizeof(int64_t)), "the graph"),
        .target = need(from(edges * sizeof(int32_t)), "the graph"),
        .weight = need(from(edges * sizeof(float)), "the graph"),
        .known = need(from(nodes * sizeof(int32_t)), "the graph"),
        .truth = need(from(nodes * sizeof(int32_t)), "the graph"),
    };
}

/* A package with more neighbours than it listens to (libc6 has over 20 000) takes them at even distances. An
 * edge weighs less the more edges either end has, as in a graph convolution. */
static void lay_out(const struct graph *g, const struct settings *set, const struct arrays *s)
{
    int64_t edge = 0;

    for (int v = 0; v < g->nodes; v++) {
        int64_t all = neighbours(g, v), kept = listens_to(g, v, set->fan_in);
        s->first[v] = edge;
        s->truth[v] = g->label[v];
        s->known[v] = is_hidden(g->name[v], set->seed) ? -1 : g->label[v];
        for (int64_t i = 0; i < kept; i++, edge++) {
            int32_t u = g->target[g->first[v] + i * all / kept];
            s->target[edge] = u;
            s->weight[edge] = 1.0f / sqrtf((float)kept * (float)neighbours(g, u));
        }
    }
    s->first[g->nodes] = edge;
}

/* PE 0 puts what it has made into its own part of the global memory. */
static void show(const struct arrays *shared, const struct arrays *made)
{
    size_t nodes = (size_t)sizes[0], edges = (size_t)sizes[2];

    shmem_putmem(shared->first, made->first, (nodes + 1) * sizeof(int64_t), 0);
    shmem_putmem(shared->target, made->target, edges * sizeof(int32_t), 0);
    shmem_putmem(shared->weight, made->weight, edges * sizeof(float), 0);
    shmem_putmem(shared->known, made->known, nodes * sizeof(int32_t), 0);
    shmem_putmem(shared->truth, made->truth, nodes * sizeof(int32_t), 0);
}

/* By PE 0: the whole graph, for itself and for all. */
static struct arrays make_whole(const struct graph *g, const struct settings *set, const struct arrays *shared)
{
    struct arrays made = allocate(malloc);

    lay_out(g, set, &made);
    show(shared, &made);
    return made;
}

static void *fetch(const void *source, int64_t begin, int64_t count, size_t each)
{
    void *copy = need(malloc((size_t)count * each + 1), "a part of the graph");

    shmem_getmem(copy, (const char *)source + (size_t)begin * each, (size_t)count * each, 0);
    return copy;
}

static void take_part(const struct arrays *s, struct part *p)
{
    int64_t count = p->end - p->begin;
    int64_t *first = fetch(s->first, p->begin, count + 1, sizeof(int64_t));
    int64_t edge = first[0], edges = first[count] - edge;

    for (int64_t i = 0; i <= count; i++)
        first[i] -= edge;
    p->first = first;
    p->target = fetch(s->target, edge, edges, sizeof(int32_t));
    p->weight = fetch(s->weight, edge, edges, sizeof(float));
    p->known = fetch(s->known, p->begin, count, sizeof(int32_t));
    p->truth = fetch(s->truth, p->begin, count, sizeof(int32_t));
}

static void free_shared(struct arrays *s)
{
    shmem_free(s->truth);
    shmem_free(s->known);
    shmem_free(s->weight);
    shmem_free(s->target);
    shmem_free(s->first);
}

/* Rows of a device's memory begin on lines; in a host's memory they lie close. */
static int stride_of(int labels, bool lines)
{
    int line = LINE / (int)sizeof(float);

    return lines ? (labels + line - 1) / line * line : labels;
}

static int at_most(int64_t value, int limit)
{
    return value < limit ? (int)value : limit;
}

void spread_graph(const struct graph *g, const struct settings *set, struct part *mine, struct part *whole)
{
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    if (me == 0) measure(g, set);
    shmem_barrier_all();
    struct arrays shared = allocate(shmem_malloc), made = {0};
    if (me == 0) made = make_whole(g, set, &shared);
    shmem_barrier_all();

    int nodes = (int)sizes[0], block = (nodes - 1) / n_pes + 1;
    *whole = (struct part){.nodes = nodes,
                           .labels = (int)sizes[1],
                           .stride = stride_of((int)sizes[1], on_device(shared.first)),
                           .block = block,
                           .majority = (int)sizes[3],
                           .end = nodes,
                           .first = made.first,
                           .target = made.target,
                           .weight = made.weight,
                           .known = made.known,
                           .truth = made.truth};
    *mine = *whole;
    mine->begin = at_most((int64_t)block * me, nodes);
    mine->end = at_most((int64_t)block * (me + 1), nodes);
    take_part(&shared, mine);
    shmem_barrier_all();
    free_shared(&shared);
}

void spread_free(struct part *p)
{
    free((void *)p->first);
    free((void *)p->target);
    free((void *)p->weight);
    free((void *)p->known);
    free((void *)p->truth);
}

/* Sums over neighbours in a graph whose degrees follow a power law, as in a graph neural network: a few vertices have
 * very many neighbours and are neighbours of very many. Included behind pes.h or ranks.h.
 *
 * Each PE has a block of vertices with their neighbours. A vertex has a row of numbers; in a hop its new row is its own
 * row plus those of all its neighbours. The numbers are integers that wrap: their sum is the same in any order. */
#ifndef POWERLAW_H
#define POWERLAW_H

enum { FEATURES = 64, HOPS = 3, CLOSE = 256 };

typedef struct row {
    uint32_t feature[FEATURES];
} row_t;

static size_t vertices, block; /* of the whole graph; of each PE, the last may have fewer */
static size_t begin_own, owned;
static size_t *first; /* of own vertex v: its neighbours are neighbour[first[v]] to neighbour[first[v + 1] - 1] */
static uint32_t *neighbours;

static inline int owner_of(uint32_t v) { return (int)(v / block); }
static inline size_t place_of(uint32_t v) { return v % block; }
static inline size_t owned_by(int pe)
{
    size_t begin = (size_t)pe * block, end = begin + block;
    return begin >= vertices ? 0 : (end < vertices ? end : vertices) - begin;
}

/* 2 to 1024 neighbours: twice as many are half as frequent. */
static inline size_t degree_of(size_t v)
{
    uint64_t r = mix(v ^ 1ull << 62);
    int doublings = __builtin_ctzll(r | 1ull << 9);
    return ((size_t)2 << doublings) / (doublings > 3 ? 2 : 1) + (r >> 32) % 3;
}

/* Half of the neighbours are close, as in a graph whose vertices have been put in order. The others are from anywhere,
 * the more probably the lower their rank is, and ranks are scattered over the graph. */
static inline uint32_t neighbour_of(size_t v, size_t k)
{
    uint64_t r = mix((uint64_t)v << 24 ^ k);
    if (r & 1) return (uint32_t)((v / CLOSE * CLOSE + (r >> 1) % CLOSE) % vertices);
    double even = (double)(r >> 11) * 0x1p-53;
    size_t rank = (size_t)(even * even * even * (double)vertices);
    return (uint32_t)((rank * 2654435761u + 12345) % vertices);
}

static inline void make_row(size_t v, row_t *row)
{
    for (size_t i = 0; i < FEATURES; i++)
        row->feature[i] = (uint32_t)mix(v * FEATURES + i);
}

static inline void add_row(row_t *to, const row_t *row)
{
    for (size_t i = 0; i < FEATURES; i++)
        to->feature[i] += row->feature[i];
}

static inline void choose_block(size_t n)
{
    vertices = n;
    block = (vertices + (size_t)npes - 1) / (size_t)npes;
    begin_own = (size_t)me * block;
    owned = owned_by(me);
}

static inline void make_edges(void)
{
    first = need(calloc(owned + 1, sizeof *first), "edges");
    for (size_t v = 0; v < owned; v++)
        first[v + 1] = first[v] + degree_of(begin_own + v);
    neighbours = need(malloc(first[owned] * sizeof *neighbours + 1), "edges");
    for (size_t v = 0; v < owned; v++)
        for (size_t e = first[v]; e < first[v + 1]; e++)
            neighbours[e] = neighbour_of(begin_own + v, e - first[v]);
}

static inline void make_rows(row_t *row)
{
    for (size_t v = 0; v < owned; v++)
        make_row(begin_own + v, &row[v]);
}

/* One hop of all own vertices, where row_of gives the row of any vertex they are linked to. */
static inline void sum_rows(const row_t *own, row_t *out, const row_t *(*row_of)(size_t edge))
{
    for (size_t v = 0; v < owned; v++) {
        out[v] = own[v];
        for (size_t e = first[v]; e < first[v + 1]; e++)
            add_row(&out[v], row_of(e));
    }
}

/* The whole graph's rows after all hops, as one PE alone finds them. */
static inline row_t *serial_rows(void)
{
    row_t *is = need(malloc(vertices * sizeof *is), "all rows"),
          *out = need(malloc(vertices * sizeof *out), "all rows");
    for (size_t v = 0; v < vertices; v++)
        make_row(v, &is[v]);
    for (int hop = 0; hop < HOPS; hop++) {
        for (size_t v = 0; v < vertices; v++) {
            out[v] = is[v];
            for (size_t k = 0, n = degree_of(v); k < n; k++)
                add_row(&out[v], &is[neighbour_of(v, k)]);
        }
        row_t *kept = is;
        is = out, out = kept;
    }
    free(out);
    return is;
}

static inline void must_be_serial_rows(const char *name, const row_t *own)
{
    static row_t *all; /* the same each time */
    if (!all) all = serial_rows();
    for (size_t v = 0; v < owned; v++)
        if (memcmp(&own[v], &all[begin_own + v], sizeof *own) != 0)
            job_fail("%s: the row of vertex %zu is not what one PE alone finds", name, begin_own + v);
}

/* The vertices of other PEs that own edges lead to, each once, in order of their numbers; slot[e] is where in this list
 * the end of edge e is, or -1 where that is an own vertex. */
struct needed {
    uint32_t *vertex;
    int64_t *slot;
    size_t n;
};

static inline struct needed find_needed(void)
{
    struct needed list = {need(malloc(vertices * sizeof(uint32_t)), "a list"),
                          need(malloc(first[owned] * sizeof(int64_t) + 1), "a list"), 0};
    int64_t *where = need(calloc(vertices, sizeof *where), "a list");
    for (size_t e = 0; e < first[owned]; e++)
        where[neighbours[e]] = 1;
    for (size_t v = 0; v < vertices; v++) {
        if (owner_of((uint32_t)v) == me)
            where[v] = -1;
        else if (where[v])
            where[v] = (int64_t)list.n, list.vertex[list.n++] = (uint32_t)v;
    }
    for (size_t e = 0; e < first[owned]; e++)
        list.slot[e] = where[neighbours[e]];
    free(where);
    return list;
}

static inline void free_needed(struct needed *list)
{
    free(list->vertex);
    free(list->slot);
}

#endif

/* A table that is spread over all PEs, and indices into it without order: what histogram and gather work on, as in
 * bale. Element i of the whole is element i / PEs at PE i % PEs. Included behind pes.h or ranks.h. */
#ifndef SPREAD_H
#define SPREAD_H

static size_t elements, indices; /* of each PE */
static size_t *place;            /* of each index: where it is at its PE, */
static int *owner;               /* and which one that is */

static inline uint64_t index_number(int pe, size_t k)
{
    return mix((uint64_t)pe << 40 ^ k) % ((uint64_t)elements * (uint64_t)npes);
}

static inline void spread_set_up(const char *name, int argc, char **argv)
{
    indices = size_argument(argc, argv, 1, "the indices of each PE", 1 << 17, 1 << 28);
    elements = size_argument(argc, argv, 2, "the elements of each PE", 1 << 18, 1 << 28);
    place = need(malloc(indices * sizeof *place), "indices");
    owner = need(malloc(indices * sizeof *owner), "indices");
    for (size_t k = 0; k < indices; k++) {
        uint64_t i = index_number(me, k);
        place[k] = (size_t)(i / (uint64_t)npes);
        owner[k] = (int)(i % (uint64_t)npes);
    }
    if (me == 0)
        printf("# %s: %s, %d PEs, %zu indices and %zu elements each\n", name, JOB_MODEL, npes, indices, elements);
}

static inline void report_spread(const char *table, const char *series, struct rounds *rounds)
{
    double seconds = median_round(rounds);
    if (me == 0) print_row(table, series, (size_t)npes, (double)npes * (double)indices / seconds * 1e-6, "Mops/s");
}

#endif

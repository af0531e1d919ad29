/* The job "updates": every PE adds numbers to single elements, in no order, of a table that is spread over all.
 *
 *     PROGRAM [updates-of-each-PE [elements-of-each-PE]]
 *
 * Included behind pes.h or ranks.h, before the model. */
#ifndef UPDATES_H
#define UPDATES_H

#include "model.h"

struct update {
    uint64_t place, value;
};

static uint64_t *table;
static size_t elements, updates; /* of each PE */

static inline int owner_of_update(int pe, size_t k)
{
    return (int)((mix((uint64_t)pe << 40 ^ k) >> 32) % (uint64_t)npes);
}
static inline struct update update_of(int pe, size_t k)
{
    uint64_t r = mix((uint64_t)pe << 40 ^ k);
    return (struct update){(r & 0xffffffff) % elements, mix(r)};
}

static inline int owner(size_t k) { return owner_of_update(me, k); }
static inline struct update update(size_t k) { return update_of(me, k); }
static inline void apply(struct update u) { table[u.place] += u.value; }

static inline void updates_set_up(int argc, char **argv)
{
    updates = size_argument(argc, argv, 1, "the updates of each PE", 1 << 16, 1 << 28);
    elements = size_argument(argc, argv, 2, "the elements of each PE", 1 << 18, 1 << 28);
    table = job_memory(elements * sizeof *table, "the table");
    if (me == 0)
        printf("# updates: %s, %d PEs, %zu updates and %zu elements each\n", JOB_MODEL, npes, updates, elements);
}

/* Everybody's updates once more, taken back as far as they are this PE's: nothing may remain. */
static inline void must_be_updated(const char *model)
{
    for (int pe = 0; pe < npes; pe++)
        for (size_t k = 0; k < updates; k++)
            if (owner_of_update(pe, k) == me) table[update_of(pe, k).place] -= update_of(pe, k).value;
    for (size_t i = 0; i < elements; i++)
        if (table[i] != 0) job_fail("updates, %s: element %zu has lost updates or has some twice", model, i);
}

static inline uint64_t digest_table(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += mix(table[i] ^ mix((uint64_t)me << 40 ^ i));
    return sum;
}

/* The first time has pages of the table to be mapped, so the median is of several. */
static inline void run_updates(const char *model, void (*work)(void))
{
    struct rounds rounds = {.n = 0};
    uint64_t digest = 0;
    while (another_round(&rounds)) {
        all_moved = (struct moved){0, 0};
        double begin = job_clock();
        work();
        add_round(&rounds, job_took(begin));
        digest = digest_table();
        must_be_updated(model); /* and the table is empty again */
    }
    report_model("updates", model, median_round(&rounds), digest);
    job_barrier();
}

#endif

/* Random access updates: the stream of them, and what the tables must hold afterwards. Included behind pes.h or
 * ranks.h.
 *
 * Update k of a PE goes to a place that mix() says, by a number that says it, too. All ways of updating begin with the
 * same tables. First the updates are done, in the time that is measured, and something is compared that would differ if
 * one of them were lost or done twice. Then they are undone, and every word must be what it was. */
#ifndef GUPS_H
#define GUPS_H

enum { BATCH = 1024 };                     /* the clock is looked at between batches */
static const double seconds_of_round = 0.015; /* after which a PE begins no further batch */
static const double seconds_in_all = 0.15;

static uint64_t *table;
static size_t words, batches;

struct update {
    int pe;
    size_t word;
    uint64_t value;
};

static inline struct update update_number(size_t k)
{
    uint64_t r = mix((uint64_t)me << 40 ^ k);
    return (struct update){(int)((r >> 32) % (uint64_t)npes), (size_t)(r & (words - 1)), mix(r)};
}

/* What a word holds at the start. */
static inline uint64_t original(int pe, size_t word) { return mix((uint64_t)pe << 44 ^ word ^ 1ull << 63); }

static inline void fill_table(void)
{
    for (size_t i = 0; i < words; i++)
        table[i] = original(me, i);
    job_barrier();
}

static inline uint64_t count_changed(void)
{
    uint64_t changed = 0;
    job_barrier();
    for (size_t i = 0; i < words; i++)
        changed += table[i] != original(me, i);
    return job_sum(changed);
}

/* By how much the words have changed in all: what has to be equal to the sum of all updates. */
static inline uint64_t sum_of_changes(void)
{
    uint64_t sum = 0;
    job_barrier();
    for (size_t i = 0; i < words; i++)
        sum += table[i] - original(me, i);
    return job_sum(sum);
}

static inline uint64_t xor_of_changes(void)
{
    uint64_t all = 0;
    job_barrier();
    for (size_t i = 0; i < words; i++)
        all ^= table[i] ^ original(me, i);
    return job_xor(all);
}

static inline uint64_t sum_of_updates(size_t done)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < done; k++)
        sum += update_number(k).value;
    return job_sum(sum);
}

static inline uint64_t xor_of_updates(size_t done)
{
    uint64_t all = 0;
    for (size_t k = 0; k < done; k++)
        all ^= update_number(k).value;
    return job_xor(all);
}

/* A round goes on with the updates where the one before ended: all of them are undone in the end. */
static inline int another_gups_round(const struct rounds *r) { return r->n < MOST_ROUNDS && r->spent < seconds_in_all; }

/* updates: of this PE. */
static inline void add_gups_round(struct rounds *rounds, double took, size_t updates)
{
    add_round_of(rounds, took, job_sum(updates));
}

/* All of the work in rounds: do_batches does so many batches from that update on, or as many as come before `end`, and gives
 * the update that comes next. Returns how many updates it was. */
static inline size_t run_in_rounds(size_t (*do_batches)(size_t from, size_t most, double end), struct rounds *rounds)
{
    size_t done = 0;
    while (another_gups_round(rounds)) {
        size_t from = done;
        double begin = job_clock();
        done = do_batches(from, batches, begin + seconds_of_round);
        add_gups_round(rounds, job_took(begin), done - from);
    }
    return done;
}

static inline void report_gups(const char *series, struct rounds *rounds)
{
    if (me == 0) print_row("gups", series, (size_t)npes, 1e-6 / median_round(rounds), "Mops/s");
}

static inline void must_be_undone(const char *series, uint64_t allowed)
{
    uint64_t wrong = count_changed();
    if (wrong > allowed)
        job_fail("gups, %s: %llu words are not what they were after all updates were undone, at most %llu may be",
                 series, (unsigned long long)wrong, (unsigned long long)allowed);
}

static inline void must_be_equal(const char *series, uint64_t is, uint64_t should)
{
    if (is != should)
        job_fail(
            "gups, %s: all changes together are %016llx, all updates together %016llx: updates were lost or done twice",
            series, (unsigned long long)is, (unsigned long long)should);
}

static inline void gups_set_up(int argc, char **argv)
{
    size_t log_words = size_argument(argc, argv, 1, "the logarithm to base 2 of the words of each PE", 20, 30);
    batches = size_argument(argc, argv, 2, "batches of 1024 updates of each PE in a round, at most", 512, 1 << 20);
    words = (size_t)1 << log_words;
    table = job_memory(words * sizeof *table, "the table");
    if (me == 0)
        printf("# gups: %s, %d PEs, %zu words each, at most %zu updates each in a round\n", JOB_MODEL, npes, words,
               batches * BATCH);
}

#endif

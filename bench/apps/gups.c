/* Random access updates (GUPS): every PE changes words of a table that is spread over all, millions of them, in no
 * order.
 *
 *     oshcc -O2 gups.c -o gups && oshrun -n 2 gups [log2-of-words [batches]]
 *
 * By atomic_xor, by atomic_add, by p, by a get and a put of the changed word, and by buckets: updates go to the owner of
 * the word in one put for many, and the owner applies them. Get and put are the classic benchmark's way and may lose an
 * update where two PEs meet in a word: one word in a hundred may be wrong in the end, as there. The limits are the same
 * by plain C at the addresses that shmem_ptr gives, and for buckets, that every PE updates its own words only. */
#include <math.h>
#include "pes.h"
#include "gups.h"
#include "buckets.h"

static unsigned long *place(struct update u) { return (unsigned long *)&table[u.word]; }

static void do_xor(struct update u) { shmem_uint64_atomic_xor(&table[u.word], u.value, u.pe); }
static void do_add(struct update u) { shmem_ulong_atomic_add(place(u), u.value, u.pe); }
static void undo_add(struct update u) { shmem_ulong_atomic_add(place(u), -u.value, u.pe); }

/* Which update of a word comes last is open, so all of them write the same. */
static uint64_t replacement(struct update u) { return ~original(u.pe, u.word); }
static void do_p(struct update u) { shmem_ulong_p(place(u), replacement(u), u.pe); }
static void undo_p(struct update u) { shmem_ulong_p(place(u), original(u.pe, u.word), u.pe); }

static void do_get_put(struct update u)
{
    uint64_t word;
    shmem_uint64_get(&word, &table[u.word], 1, u.pe);
    word ^= u.value;
    shmem_uint64_put(&table[u.word], &word, 1, u.pe);
    shmem_fence(); /* the next get may be of the same word */
}

/* Limits. */
static void **reach;

static uint64_t *reached(struct update u) { return (uint64_t *)reach[u.pe] + u.word; }
static void bare_xor(struct update u) { __atomic_fetch_xor(reached(u), u.value, __ATOMIC_SEQ_CST); }
static void bare_add(struct update u) { __atomic_fetch_add(reached(u), u.value, __ATOMIC_SEQ_CST); }
static void bare_store(struct update u) { __atomic_store_n(reached(u), replacement(u), __ATOMIC_RELAXED); }
static void bare_load_and_store(struct update u) { *(volatile uint64_t *)reached(u) ^= u.value; }
static void own_load_and_store(struct update u) { table[u.word] ^= u.value; }

/* The first who changes a page has it mapped, which is no part of an update. */
static void touch_pages(void)
{
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < words; i += 512)
            shmem_ulong_atomic_add((unsigned long *)&table[i], 0, pe);
    job_barrier();
}

/* What goes over updates is put together with each way of one update, as a person writes such a loop: an update that is
 * handed over in memory is read again behind the store before it, and misses of the cache come one after the other. */
#define INLINED static inline __attribute__((always_inline))

/* As many updates as come into the time of a round, from that one on. */
INLINED size_t run_round(void (*one)(struct update), size_t from, struct rounds *rounds)
{
    double begin = job_clock();
    size_t done = from;
    for (size_t b = 0; b < batches && seconds_now() - begin < seconds_of_round; b++, done += BATCH)
        for (size_t k = done; k < done + BATCH; k++)
            one(update_number(k));
    shmem_quiet();
    add_gups_round(rounds, job_took(begin), done - from);
    return done;
}

/* Returns how many updates it was. */
INLINED size_t run(void (*one)(struct update), struct rounds *rounds)
{
    size_t done = 0;
    while (another_gups_round(rounds))
        done = run_round(one, done, rounds);
    return done;
}

INLINED void undo(void (*one)(struct update), size_t done)
{
    job_barrier();
    for (size_t k = 0; k < done; k++)
        one(update_number(k));
}

INLINED void by_xor(const char *series, void (*one)(struct update))
{
    struct rounds rounds = {.n = 0};
    size_t done = run(one, &rounds);
    must_be_equal(series, xor_of_changes(), xor_of_updates(done));
    undo(one, done);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

INLINED void by_add(const char *series, void (*one)(struct update))
{
    struct rounds rounds = {.n = 0};
    size_t done = run(one, &rounds);
    must_be_equal(series, sum_of_changes(), sum_of_updates(done));
    undo(undo_add, done);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

INLINED void by_store(const char *series, void (*one)(struct update))
{
    struct rounds rounds = {.n = 0};
    size_t done = run(one, &rounds);
    for (size_t k = 0; k < done; k++) {
        struct update u = update_number(k);
        uint64_t is = shmem_ulong_g(place(u), u.pe);
        if (is != replacement(u))
            job_fail("gups, %s: word %zu of PE %d is %016llx and should be %016llx", series, u.word, u.pe,
                     (unsigned long long)is, (unsigned long long)replacement(u));
    }
    undo(undo_p, done);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

INLINED void by_load_and_store(const char *series, void (*one)(struct update))
{
    struct rounds rounds = {.n = 0};
    size_t done = run(one, &rounds);
    undo(do_xor, done);
    must_be_undone(series, npes == 1 ? 0 : (uint64_t)npes * words / 100);
    report_gups(series, &rounds);
    job_barrier();
    fill_table();
}

static void fill_buckets(size_t from)
{
    for (size_t k = from; k < from + BATCH; k++) {
        struct update u = update_number(k);
        add_to_bucket(u.pe, u.word);
        add_to_bucket(u.pe, u.value);
    }
}

static void apply_bucket(const uint64_t *word, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        table[word[i]] ^= word[i + 1];
}

/* So many batches, or until anybody's time is over, which all hear of in the same exchange. Returns which update comes
 * next. */
static size_t do_batches(size_t from, size_t most, double end)
{
    for (size_t b = 0; b < most; b++) {
        fill_buckets(from);
        from += BATCH;
        if (exchange_buckets(seconds_now() > end, apply_bucket)) break;
    }
    return from;
}

static void by_buckets(const char *series)
{
    struct rounds rounds = {.n = 0};
    size_t done = run_in_rounds(do_batches, &rounds);
    must_be_equal(series, xor_of_changes(), xor_of_updates(done));
    do_batches(0, done / BATCH, HUGE_VAL);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

/* Nothing is exchanged, so what all words together have changed by is not asked. */
static void by_own_words(const char *series)
{
    struct rounds rounds = {.n = 0};
    size_t done = run(own_load_and_store, &rounds);
    undo(own_load_and_store, done);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

static void limits(void)
{
    by_xor("limit atomic_xor", bare_xor);
    by_add("limit atomic_add", bare_add);
    by_store("limit p", bare_store);
    by_load_and_store("limit get and put", bare_load_and_store);
    by_own_words("limit buckets by put");
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    gups_set_up(argc, argv);
    buckets_set_up();
    fill_table();
    touch_pages();
    by_xor("atomic_xor", do_xor);
    by_add("atomic_add", do_add);
    by_store("p", do_p);
    by_load_and_store("get and put", do_get_put);
    by_buckets("buckets by put");
    if ((reach = job_reach(table))) limits();
    job_end();
    return 0;
}

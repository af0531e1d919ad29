/* Random access updates (GUPS): every PE changes words of a table that is spread over all, millions of them, in no
 * order.
 *
 *     oshcc -O2 gups.c -o gups && oshrun -n 2 gups [log2-of-words [batches]]
 *
 * By atomic_xor, by atomic_add, by p, and by a get and a put of the changed word. The last is the classic benchmark's
 * way and may lose an update where two PEs meet in a word: one word in a hundred may be wrong in the end, as there. */
#include "pes.h"
#include "gups.h"

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

/* The first who changes a page has it mapped, which is no part of an update. */
static void touch_pages(void)
{
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < words; i += 512)
            shmem_ulong_atomic_add((unsigned long *)&table[i], 0, pe);
    job_barrier();
}

/* As many updates as come into the time. This and undo() are put together with each way of one update, as a person writes
 * such a loop: an update that is handed over in memory is read again behind the store before it, and misses of the cache
 * come one after the other. */
static inline __attribute__((always_inline)) size_t run(void (*one)(struct update), double *took)
{
    double begin = job_clock();
    size_t done = 0;
    for (size_t b = 0; b < batches && seconds_now() - begin < most_seconds; b++, done += BATCH)
        for (size_t k = done; k < done + BATCH; k++)
            one(update_number(k));
    shmem_quiet();
    *took = job_took(begin);
    return done;
}

static inline __attribute__((always_inline)) void undo(void (*one)(struct update), size_t done)
{
    job_barrier();
    for (size_t k = 0; k < done; k++)
        one(update_number(k));
}

static void by_atomic_xor(void)
{
    double took;
    size_t done = run(do_xor, &took);
    must_be_equal("atomic_xor", xor_of_changes(), xor_of_updates(done));
    undo(do_xor, done);
    must_be_undone("atomic_xor", 0);
    report_gups("atomic_xor", done, took);
}

static void by_atomic_add(void)
{
    double took;
    size_t done = run(do_add, &took);
    must_be_equal("atomic_add", sum_of_changes(), sum_of_updates(done));
    undo(undo_add, done);
    must_be_undone("atomic_add", 0);
    report_gups("atomic_add", done, took);
}

static void by_p(void)
{
    double took;
    size_t done = run(do_p, &took);
    for (size_t k = 0; k < done; k++) {
        struct update u = update_number(k);
        uint64_t is = shmem_ulong_g(place(u), u.pe);
        if (is != replacement(u))
            job_fail("gups, p: word %zu of PE %d is %016llx and should be %016llx", u.word, u.pe,
                     (unsigned long long)is, (unsigned long long)replacement(u));
    }
    undo(undo_p, done);
    must_be_undone("p", 0);
    report_gups("p", done, took);
}

static void by_get_and_put(void)
{
    double took;
    size_t done = run(do_get_put, &took);
    undo(do_xor, done);
    must_be_undone("get and put", npes == 1 ? 0 : (uint64_t)npes * words / 100);
    report_gups("get and put", done, took);
    job_barrier();
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    gups_set_up(argc, argv);
    fill_table();
    touch_pages();
    by_atomic_xor();
    by_atomic_add();
    by_p();
    by_get_and_put();
    job_end();
    return 0;
}

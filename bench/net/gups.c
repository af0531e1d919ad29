/* Random access to the PEs of another half of the job, one word at a time: millions of operations a second of PE 0 alone,
 * and of all PEs of the first half together.
 *
 *     oshrun -n 2 gups [seconds [words]]
 *
 * Each line is one kind of operation; "one each" is the rate where every operation is waited for. Adding is what a
 * histogram does, get_nbi what an index gather does. Standard calls only, so that it runs on other implementations, too. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1 << 16, ONE_EACH = 1000 };

static uint64_t *table;
static size_t words = 1 << 20;
static double seconds = 1;
static int me, npes;
static uint64_t state = 88172645463325252ull;
static double *all; /* at PE 0: the rate of each */

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int half(void) { return npes / 2 ? npes / 2 : 1; }
static int other(uint64_t r) { return npes < 2 ? 0 : half() + (int)(r % (uint64_t)(npes - half())); }

static void add(uint64_t r) { shmem_long_atomic_add((long *)&table[r % words], 1, other(r >> 40)); }
static void inc_32(uint64_t r) { shmem_int_atomic_inc((int *)&table[r % words], other(r >> 40)); }
static void xor_(uint64_t r) { shmem_uint64_atomic_xor(&table[r % words], r, other(r >> 40)); }
static void put(uint64_t r) { shmem_uint64_p(&table[r % words], r, other(r >> 40)); }
static uint64_t old[BATCH];
#if _SHMEM_MAJOR_VERSION > 1 || _SHMEM_MINOR_VERSION >= 5
static void fetch_add_nbi(uint64_t r) { shmem_uint64_atomic_fetch_add_nbi(&old[r % BATCH], &table[r % words], 1, other(r >> 40)); }
#endif
static void get_nbi(uint64_t r) { shmem_uint64_get_nbi(&old[r % BATCH], &table[r % words], 1, other(r >> 40)); }
static void put_32_bytes(uint64_t r) { shmem_uint64_put(&table[r % (words - 4)], old, 4, other(r >> 40)); }
static void fetch_add(uint64_t r) { old[0] += (uint64_t)shmem_long_atomic_fetch_add((long *)&table[r % words], 1, other(r >> 40)); }
static void get(uint64_t r) { old[0] += shmem_uint64_g(&table[r % words], other(r >> 40)); }

static double measure(void (*op)(uint64_t r), int batch)
{
    double begin = now(), took;
    uint64_t n = 0;
    do {
        for (int i = 0; i < batch; i++) op(draw());
        shmem_quiet();
        n += (uint64_t)batch;
        took = now() - begin;
    } while (took < seconds);
    return (double)n / took / 1e6;
}

/* By PE 0 alone, then by all of the first half. */
static void report(const char *what, void (*op)(uint64_t r), int batch)
{
    shmem_barrier_all();
    double alone = me == 0 ? measure(op, batch) : 0;
    shmem_barrier_all();
    double rate = me < half() ? measure(op, batch) : 0, sum = 0;
    shmem_double_p(&all[me], rate, 0);
    shmem_barrier_all();
    for (int i = 0; i < npes; i++) sum += all[i];
    if (me == 0) printf("%-28s %9.3f %9.3f\n", what, alone, sum);
    fflush(stdout);
    shmem_barrier_all();
}

static void add_and_quiet(uint64_t r)
{
    add(r);
    shmem_quiet();
}
static void put_and_quiet(uint64_t r)
{
    put(r);
    shmem_quiet();
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (argc > 1) seconds = atof(argv[1]);
    if (argc > 2) words = (size_t)atol(argv[2]);
    state += (uint64_t)me * 0x9e3779b97f4a7c15ull;
    table = shmem_calloc(words, sizeof *table);
    all = shmem_calloc((size_t)npes, sizeof *all);
    if (!table || !all) shmem_global_exit(1);
    if (me == 0) printf("%-28s %9s %9s  million a second, %zu words at each PE\n", "", "one PE", "half", words);
    report("atomic_add", add, BATCH);
    report("atomic_inc 32", inc_32, BATCH);
    report("atomic_xor", xor_, BATCH);
    report("p", put, BATCH);
    report("put of 32 bytes", put_32_bytes, BATCH);
#if _SHMEM_MAJOR_VERSION > 1 || _SHMEM_MINOR_VERSION >= 5
    report("atomic_fetch_add_nbi", fetch_add_nbi, BATCH);
#endif
    report("get_nbi", get_nbi, BATCH);
    report("atomic_add, one each", add_and_quiet, ONE_EACH);
    report("p, one each", put_and_quiet, ONE_EACH);
    report("atomic_fetch_add, one each", fetch_add, ONE_EACH);
    report("g, one each", get, ONE_EACH);
    shmem_finalize();
    return 0;
}

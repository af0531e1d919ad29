/* Every collective at the sizes around which it may change its way (test/coll/ways.sh runs this with each way forced), one
 * behind the other without a meeting between, which each must stand; sums of doubles have the bits of the team's order. */
#include <math.h>

#include "check.h"

enum { LARGEST = 8193 };
static const size_t sizes[] = {1,   30,   31,   32,   33,   127,  128,  129,  255,  256,  257,  511,     512,
                               513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192,    LARGEST};

static long *source, *dest[2]; /* in turn, as the others may still read and write what the last call was given */
static double *addends, *sums;
static long *mine, *seen;
static double *real_mine, *real_seen;

static long value(int pe, size_t i) { return (long)(check_mix((uint64_t)pe << 40 ^ i) >> 8); }
/* Of many magnitudes, so that another order would give other bits. */
static double real(int pe, size_t i)
{
    uint64_t x = check_mix((uint64_t)pe << 32 ^ i);
    return ((double)(x >> 12) - 1e15) * (double)(1ull << (x & 63));
}

static void check_block(const char *what, const long *at, size_t n, int from, size_t first)
{
    look(seen, at, n * sizeof *seen);
    for (size_t i = 0; i < n; i++)
        CHECK(seen[i] == value(from, first + i), "%s of %zu: element %zu of PE %d: expected %#lx, seen %#lx", what, n, i, from,
              value(from, first + i), seen[i]);
}

static void check_blocks(const char *what, const long *at, size_t n, size_t first)
{
    for (int pe = 0; pe < npes; pe++) check_block(what, at + (size_t)pe * n, n, pe, first);
}

static void moves(size_t n)
{
    int root = (int)(n % (size_t)npes);
    size_t each = n / (size_t)npes, part = n - (size_t)(me & 1);
    CHECK_NUM(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest[0], source, n, root), 0, "broadcast");
    CHECK_NUM(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest[1], source, n), 0, "fcollect");
    check_block("broadcast", dest[0], n, root, 0);
    check_blocks("fcollect", dest[1], n, 0);
    shmem_sync_all();
    CHECK_NUM(shmem_long_collect(SHMEM_TEAM_WORLD, dest[0], source, part), 0, "collect");
    CHECK_NUM(shmem_long_alltoall(SHMEM_TEAM_WORLD, dest[1], source, each), 0, "alltoall");
    for (size_t pe = 0, at = 0; pe < (size_t)npes; at += n - pe % 2, pe++) check_block("collect", dest[0] + at, n - pe % 2, (int)pe, 0);
    check_blocks("alltoall", dest[1], each, (size_t)me * each);
    shmem_sync_all();
    shmem_long_put(dest[0], mine, n, me);
    shmem_quiet();
    shmem_sync_all();
    CHECK_NUM(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest[0], dest[0], n), 0, "fcollect in place");
    check_blocks("fcollect in place", dest[0], n, 0);
}

/* Between machines the order is another one, unless asked for. */
static bool is_in_order(void)
{
    const char *asked = getenv("SHMEM_REPRODUCIBLE");
    return shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes || (asked && *asked == '1');
}

/* The sum of PEs 0 to last - 1, in this order. */
static void check_sums(const char *what, size_t n, int last)
{
    bool exact = is_in_order();
    look(real_seen, sums, n * sizeof *real_seen);
    for (size_t i = 0; i < n; i++) {
        double want = last ? real(0, i) : 0, size = fabs(want);
        for (int pe = 1; pe < last; pe++) want += real(pe, i), size += fabs(real(pe, i));
        bool same = exact ? !memcmp(&real_seen[i], &want, sizeof want) : fabs(real_seen[i] - want) <= size * 1e-14;
        CHECK(same, "%s of %zu: element %zu: expected %a, seen %a", what, n, i, want, real_seen[i]);
    }
}

#define SUM(CALL, last)                                                             \
    do {                                                                            \
        shmem_sync_all();                                                           \
        CHECK_NUM(CALL(SHMEM_TEAM_WORLD, sums, addends, n), 0, #CALL);              \
        check_sums(#CALL, n, last);                                                 \
        shmem_sync_all();                                                           \
        lay(sums, real_mine, n * sizeof *sums);                                     \
        shmem_sync_all();                                                           \
        CHECK_NUM(CALL(SHMEM_TEAM_WORLD, sums, sums, n), 0, #CALL " in place");     \
        check_sums(#CALL " in place", n, last);                                     \
    } while (0)

static void combinations(size_t n)
{
    SUM(shmem_double_sum_reduce, npes);
    SUM(shmem_double_sum_inscan, me + 1);
    SUM(shmem_double_sum_exscan, me);
}

/* Calls in a row, each with what the one before has given: slots are used again while others still read them. */
static void chain(size_t n)
{
    long want = 0;
    shmem_sync_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest[0], source, n);
    for (int pe = 0; pe < npes; pe++) want = (long)((unsigned long)want + (unsigned long)value(pe, n - 1));
    for (int k = 0; k < 6; k++) {
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest[1 - k % 2], dest[k % 2], n);
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest[k % 2], dest[1 - k % 2], n, k % npes);
    }
    look(seen, dest[0], n * sizeof *seen);
    CHECK(seen[n - 1] == want, "chain of %zu: expected %#lx, seen %#lx", n, want, seen[n - 1]);
    shmem_sync_all();
}

int main(void)
{
    check_start();
    size_t all = (size_t)npes * LARGEST;
    source = shmem_malloc(LARGEST * sizeof *source);
    addends = shmem_malloc(LARGEST * sizeof *addends);
    sums = shmem_malloc(LARGEST * sizeof *sums);
    for (int k = 0; k < 2; k++) dest[k] = shmem_malloc(all * sizeof *dest[k]);
    mine = malloc(LARGEST * sizeof *mine);
    seen = malloc(all * sizeof *seen);
    real_mine = malloc(LARGEST * sizeof *real_mine);
    real_seen = malloc(LARGEST * sizeof *real_seen);
    for (size_t i = 0; i < LARGEST; i++) mine[i] = value(me, i), real_mine[i] = real(me, i);
    lay(source, mine, LARGEST * sizeof *mine);
    lay(addends, real_mine, LARGEST * sizeof *real_mine);
    shmem_barrier_all();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        moves(sizes[k]);
        combinations(sizes[k]);
        chain(sizes[k]);
    }
    shmem_barrier_all();
    return check_end();
}

/* timeout: 120 */
/* layouts: 1+1 2+1 */
/* Atomics on words of the default heap, which the CPU may not be able to touch: every type and operation against a model on
 * words that lie side by side and belong to different PEs; and on words that all PEs change at once, what must come out:
 * each number drawn once, no addition and no bit lost, floats too. */
#include "../spec/check.h"

#include <shmemx.h>

enum { STEPS = 40, DRAWS = 300, ADDS = 200, WORDS = 24 };

/* A word is set up and looked at by put and get only. */
static void write_own(void *to, const void *from, size_t bytes) { shmem_putmem(to, from, bytes, me); }
static void read_own(void *to, const void *from, size_t bytes) { shmem_getmem(to, from, bytes, me); }

static void *zeroed(size_t bytes)
{
    char *block = shmem_malloc(bytes), *zeros = calloc(1, bytes);
    write_own(block, zeros, bytes);
    free(zeros);
    shmem_barrier_all();
    return block;
}

/* --- against a model: cell `me` of each PE is this PE's alone --- */

#define FETCHED(call, change, what)                                                  \
    do {                                                                             \
        __typeof__(model) before = model;                                            \
        CHECK_NUM(call, before, "%s at PE %d, step %d", what, pe, n);                \
        change;                                                                      \
    } while (0)
#define LATER(call, change, what)                                                    \
    do {                                                                             \
        __typeof__(model) before = model;                                            \
        call;                                                                        \
        shmem_quiet();                                                               \
        CHECK_NUM(later, before, "%s at PE %d, step %d", what, pe, n);               \
        change;                                                                      \
    } while (0)
#define SILENT(call, change)                                                         \
    do {                                                                             \
        call;                                                                        \
        change;                                                                      \
    } while (0)
#define SUM(a, b) ((__typeof__(a))((uint64_t)(a) + (uint64_t)(b)))

#define BOTH(T, N)                                                                                                     \
    case 0: FETCHED(shmem_##N##_atomic_fetch(cell, pe), , #N " fetch"); break;                                         \
    case 1: SILENT(shmem_##N##_atomic_set(cell, value, pe), model = value); break;                                     \
    case 2: FETCHED(shmem_##N##_atomic_swap(cell, value, pe), model = value, #N " swap"); break;                       \
    case 3: LATER(shmem_##N##_atomic_fetch_nbi(&later, cell, pe), , #N " fetch_nbi"); break;                           \
    case 4: LATER(shmem_##N##_atomic_swap_nbi(&later, cell, value, pe), model = value, #N " swap_nbi"); break;
#define ADDING(T, N)                                                                                                   \
    case 5: FETCHED(shmem_##N##_atomic_compare_swap(cell, model, value, pe), model = value, #N " compare_swap"); break; \
    case 6: FETCHED(shmem_##N##_atomic_compare_swap(cell, (T)(model + 1), value, pe), , #N " compare_swap in vain"); break; \
    case 7: FETCHED(shmem_##N##_atomic_fetch_inc(cell, pe), model = SUM(model, 1), #N " fetch_inc"); break;            \
    case 8: SILENT(shmem_##N##_atomic_inc(cell, pe), model = SUM(model, 1)); break;                                    \
    case 9: FETCHED(shmem_##N##_atomic_fetch_add(cell, value, pe), model = SUM(model, value), #N " fetch_add"); break; \
    case 10: SILENT(shmem_##N##_atomic_add(cell, value, pe), model = SUM(model, value)); break;                        \
    case 11: LATER(shmem_##N##_atomic_fetch_add_nbi(&later, cell, value, pe), model = SUM(model, value), #N " fetch_add_nbi"); break;
#define BITS(T, N)                                                                                                     \
    case 12: FETCHED(shmem_##N##_atomic_fetch_and(cell, value, pe), model &= value, #N " fetch_and"); break;           \
    case 13: SILENT(shmem_##N##_atomic_and(cell, value, pe), model &= value); break;                                   \
    case 14: FETCHED(shmem_##N##_atomic_fetch_or(cell, value, pe), model |= value, #N " fetch_or"); break;             \
    case 15: SILENT(shmem_##N##_atomic_or(cell, value, pe), model |= value); break;                                    \
    case 16: FETCHED(shmem_##N##_atomic_fetch_xor(cell, value, pe), model ^= value, #N " fetch_xor"); break;           \
    case 17: SILENT(shmem_##N##_atomic_xor(cell, value, pe), model ^= value); break;
#define NONE(T, N)

#define DEFINE_MODEL(T, N, ADDING_CASES, BITS_CASES, OPS)                                                              \
    static void model_##N(void)                                                                                        \
    {                                                                                                                  \
        T *cells = zeroed((size_t)npes * sizeof(T));                                                                   \
        struct random r = {check_mix((uint64_t)me + sizeof(T))};                                                       \
        for (int k = 0; k < npes; k++) {                                                                               \
            int pe = (me + k) % npes;                                                                                  \
            T *cell = &cells[me], model = 0, later = 0;                                                                \
            for (int n = 0; n < STEPS; n++) {                                                                          \
                T value = (T)(int64_t)(random_next(&r) >> 11);                                                         \
                switch (random_below(&r, OPS)) {                                                                       \
                    BOTH(T, N) ADDING_CASES(T, N) BITS_CASES(T, N)                                                     \
                }                                                                                                      \
            }                                                                                                          \
            CHECK_NUM(shmem_##N##_atomic_fetch(cell, pe), model, #N ": the cell of PE %d at PE %d at last", me, pe);   \
            shmem_quiet();                                                                                             \
            CHECK_NUM(shmem_##N##_g(cell, pe), model, #N ": the same by get");                                         \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        shmem_free(cells);                                                                                             \
    }
DEFINE_MODEL(int, int, ADDING, NONE, 12)
DEFINE_MODEL(long, long, ADDING, NONE, 12)
DEFINE_MODEL(long long, longlong, ADDING, NONE, 12)
DEFINE_MODEL(size_t, size, ADDING, NONE, 12)
DEFINE_MODEL(ptrdiff_t, ptrdiff, ADDING, NONE, 12)
DEFINE_MODEL(unsigned int, uint, ADDING, BITS, 18)
DEFINE_MODEL(unsigned long, ulong, ADDING, BITS, 18)
DEFINE_MODEL(unsigned long long, ulonglong, ADDING, BITS, 18)
DEFINE_MODEL(int32_t, int32, ADDING, BITS, 18)
DEFINE_MODEL(int64_t, int64, ADDING, BITS, 18)
DEFINE_MODEL(uint32_t, uint32, ADDING, BITS, 18)
DEFINE_MODEL(uint64_t, uint64, ADDING, BITS, 18)
DEFINE_MODEL(float, float, NONE, NONE, 5)
DEFINE_MODEL(double, double, NONE, NONE, 5)

/* --- words of all --- */

static void draw_once(void)
{
    long *counter = zeroed(sizeof *counter), *drawn = zeroed((size_t)(npes * DRAWS) * sizeof *drawn);
    for (int i = 0; i < DRAWS; i++) {
        long n = shmem_long_atomic_fetch_inc(counter, npes - 1);
        if (n < 0 || n >= (long)npes * DRAWS)
            CHECK(false, "number %ld drawn", n);
        else
            shmem_long_atomic_inc(&drawn[n], 0);
    }
    shmem_barrier_all();
    long *seen = malloc((size_t)(npes * DRAWS) * sizeof *seen);
    read_own(seen, drawn, (size_t)(npes * DRAWS) * sizeof *seen);
    for (int i = 0; me == 0 && i < npes * DRAWS; i++) CHECK_NUM(seen[i], 1L, "how often number %d was drawn", i);
    free(seen);
    shmem_barrier_all();
    shmem_free(drawn);
    shmem_free(counter);
}

/* Random words of random PEs, 4 and 8 bytes side by side; the owners' sums must hold all. */
static void add_everywhere(void)
{
    uint32_t *small = zeroed(WORDS * sizeof *small), added[WORDS];
    uint64_t *large = zeroed(WORDS * sizeof *large), sum = 0, *total = zeroed(2 * sizeof *total), all[2];
    struct random r = {(uint64_t)me * 7919};
    for (int i = 0; i < ADDS; i++) {
        size_t w = random_below(&r, WORDS);
        int pe = (int)random_below(&r, (size_t)npes);
        uint64_t n = random_below(&r, 1000);
        shmem_uint32_atomic_add(&small[w], (uint32_t)n, pe);
        shmem_uint64_atomic_add(&large[WORDS - 1 - w], n, pe);
        sum += n;
    }
    shmem_uint64_atomic_add(&total[0], sum, 0);
    shmem_barrier_all();
    read_own(added, small, sizeof added);
    uint64_t here = 0, large_here = 0, seen[WORDS];
    read_own(seen, large, sizeof seen);
    for (int w = 0; w < WORDS; w++) here += added[w];
    for (int w = 0; w < WORDS; w++) large_here += seen[w];
    CHECK_NUM(large_here, here, "what came to words of 8 bytes, against those of 4");
    shmem_uint64_atomic_add(&total[1], here, 0);
    shmem_barrier_all();
    shmem_getmem(all, total, sizeof all, 0);
    CHECK_NUM(all[1], all[0], "what arrived of all additions");
    shmem_barrier_all();
    shmem_free(total);
    shmem_free(large);
    shmem_free(small);
}

/* Each PE has a bit of every word, which it turns on and off. */
static void share_bits(void)
{
    uint64_t *words = zeroed((size_t)npes * sizeof *words), mine = (uint64_t)1 << (me % 64);
    for (int i = 0; i < 3 * npes; i++) {
        int pe = (me + i) % npes;
        CHECK(!(shmem_uint64_atomic_fetch_or(&words[i % npes], mine, pe) & mine), "the bit of PE %d was on", me);
        CHECK(shmem_uint64_atomic_fetch_and(&words[i % npes], ~mine, pe) & mine, "the bit of PE %d was off", me);
        shmem_uint64_atomic_xor(&words[i % npes], mine, pe);
        CHECK(shmem_uint64_atomic_fetch_xor(&words[i % npes], mine, pe) & mine, "the bit of PE %d was off again", me);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < npes; i++) CHECK_NUM(shmem_uint64_g(&words[i], pe), (uint64_t)0, "word %d of PE %d", i, pe);
    shmem_barrier_all();
    shmem_free(words);
}

/* Sums of whole numbers are exact in any order. */
#define DEFINE_FLOATS(T, N)                                                                                            \
    static void add_##N(void)                                                                                          \
    {                                                                                                                  \
        enum { EACH = 32 };                                                                                            \
        T *sums = zeroed(4 * sizeof *sums), values[EACH];                                                              \
        size_t index[EACH];                                                                                            \
        int pes[EACH];                                                                                                 \
        for (int i = 0; i < EACH; i++) {                                                                               \
            index[i] = (size_t)i % 4;                                                                                  \
            pes[i] = (me + i / 4) % npes;                                                                              \
            values[i] = (T)(i + 1);                                                                                    \
        }                                                                                                              \
        shmemx_##N##_scatter_add(sums, values, index, pes, EACH);                                                      \
        shmem_barrier_all();                                                                                           \
        for (int w = 0; w < 4; w++) {                                                                                  \
            T want = 0;                                                                                                \
            for (int pe = 0; pe < npes; pe++)                                                                          \
                for (int i = w; i < EACH; i += 4)                                                                      \
                    if ((pe + i / 4) % npes == me) want += (T)(i + 1);                                                 \
            CHECK_NUM(shmem_##N##_g(&sums[w], me), want, #N " sum %d", w);                                             \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        shmem_free(sums);                                                                                              \
    }
DEFINE_FLOATS(float, float)
DEFINE_FLOATS(double, double)
DEFINE_FLOATS(uint32_t, uint32)
DEFINE_FLOATS(int64_t, int64)

int main(void)
{
    check_start();
    model_int(), model_long(), model_longlong(), model_size(), model_ptrdiff(), model_uint(), model_ulong();
    model_ulonglong(), model_int32(), model_int64(), model_uint32(), model_uint64(), model_float(), model_double();
    draw_once();
    add_everywhere();
    share_bits();
    add_float(), add_double(), add_uint32(), add_int64();
    return check_end();
}

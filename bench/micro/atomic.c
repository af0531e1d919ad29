/* Every atomic, 32 and 64 bits, in the heap and in static data, next to the bare instruction on the same word.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/atomic.c -o atomic && oshrun -n 2 ./atomic
 *
 * With more PEs than one, then: all of them add to one word of PE 0's, each as fast as it can.
 */
#include "bench_shmem.h"

/* Where the series lies, and the same as plain C reaches it. The types are those that every library has all calls for:
 * of Open MPI 4.1 fixed-width names are missing, except for the bitwise operations. */
#define WORDS(type, bits) static type static##bits, *word##bits, *far##bits;
WORDS(int, 32)
WORDS(long, 64)

#define BARE(name, ...) __atomic_##name(__VA_ARGS__, __ATOMIC_SEQ_CST)

/* X(type, bits, operation, the call, the instruction) */
#define OPERATIONS(X, T, bits, word, far)                                                                   \
    X(T, bits, fetch, KEEP(shmem_##T##_atomic_fetch(word, next)), KEEP(BARE(load_n, far)))                  \
    X(T, bits, set, shmem_##T##_atomic_set(word, (T)i, next), BARE(store_n, far, (T)i))                     \
    X(T, bits, swap, KEEP(shmem_##T##_atomic_swap(word, (T)i, next)), KEEP(BARE(exchange_n, far, (T)i)))    \
    X(T, bits, inc, shmem_##T##_atomic_inc(word, next), BARE(add_fetch, far, 1))                            \
    X(T, bits, fetch_inc, KEEP(shmem_##T##_atomic_fetch_inc(word, next)), KEEP(BARE(fetch_add, far, 1)))    \
    X(T, bits, add, shmem_##T##_atomic_add(word, 3, next), BARE(add_fetch, far, 3))                         \
    X(T, bits, fetch_add, KEEP(shmem_##T##_atomic_fetch_add(word, 3, next)), KEEP(BARE(fetch_add, far, 3))) \
    X(T, bits, and, shmem_int##bits##_atomic_and(word, (T)i, next), BARE(and_fetch, far, (T)i))             \
    X(T, bits, fetch_and, KEEP(shmem_int##bits##_atomic_fetch_and(word, (T)i, next)),                       \
      KEEP(BARE(fetch_and, far, (T)i)))                                                                     \
    X(T, bits, or, shmem_int##bits##_atomic_or(word, (T)i, next), BARE(or_fetch, far, (T)i))                \
    X(T, bits, fetch_or, KEEP(shmem_int##bits##_atomic_fetch_or(word, (T)i, next)),                         \
      KEEP(BARE(fetch_or, far, (T)i)))                                                                      \
    X(T, bits, xor, shmem_int##bits##_atomic_xor(word, (T)i, next), BARE(xor_fetch, far, (T)i))             \
    X(T, bits, fetch_xor, KEEP(shmem_int##bits##_atomic_fetch_xor(word, (T)i, next)),                       \
      KEEP(BARE(fetch_xor, far, (T)i)))                                                                     \
    X(T, bits, compare_swap, KEEP(shmem_##T##_atomic_compare_swap(word, (T)i, (T)(i + 1), next)),           \
      KEEP(__sync_val_compare_and_swap(far, (T)i, (T)(i + 1))))

/* As an expression: the bare form is cast to void, since not every result is used. */
#undef KEEP
#define KEEP(x) ({ __asm__ volatile("" : : "r"(x) : "memory"); })
#define LOOPS(T, bits, name, call, bare)  \
    static void name##bits(long n)        \
    {                                     \
        LOOP call;                        \
    }                                     \
    static void bare_##name##bits(long n) \
    {                                     \
        LOOP(void)(bare);                 \
    }

OPERATIONS(LOOPS, int, 32, word32, far32)
OPERATIONS(LOOPS, long, 64, word64, far64)

static const struct operation {
    const char *name;
    bench_work *call, *bare;
    int bits;
} operations[] = {
#define ROW(T, bits, name, call, bare) {#name, name##bits, bare_##name##bits, bits},
    OPERATIONS(ROW, int, 32, , ) OPERATIONS(ROW, long, 64, , )};

/* Open MPI 4.1 dies in its compare_swap of an int: that comes when all else has been measured. */
static bool is_last(const struct operation *o)
{
    return o->call == compare_swap32;
}

static void measure_bits(int bits, const char *where, bool bare, bool last)
{
    char series[64];
    snprintf(series, sizeof series, "%s%d bits, %s", bare ? "limit " : "", bits, where);
    for (size_t k = 0; k < sizeof operations / sizeof operations[0] && !bench_over(); k++) {
        const struct operation *o = &operations[k];
        if (o->bits == bits && is_last(o) == last)
            bench_line("atomics", series, o->name, bench_alone(bare ? o->bare : o->call), "ns");
    }
}

static long *heap;

static void use_heap(void)
{
    word32 = (int *)heap, word64 = heap + 8;
}

static void use_static(void)
{
    word32 = &static32, word64 = &static64;
}

static void measure_where(const char *where, bool last)
{
    measure_bits(64, where, false, last);
    measure_bits(32, where, false, last);
}

static void measure(void)
{
    use_heap();
    measure_where("heap", false);
    measure_bits(64, "heap", true, false);
    measure_bits(32, "heap", true, false);
    measure_bits(32, "heap", true, true);
    use_static();
    measure_where("static data", false);
    use_heap();
    measure_where("heap", true);
    use_static();
    measure_where("static data", true);
}

/* All at once: what one costs each of them. */
static void add_to_first(long n)
{
    LOOP KEEP(shmem_long_atomic_fetch_add(heap, 1, 0));
}

static long *far_first;
static void add_bare(long n)
{
    LOOP KEEP(BARE(fetch_add, far_first, 1));
}

static void measure_contended(void)
{
    bench_at("contended fetch_add", "heap", (size_t)npes, bench_together(add_to_first), "ns");
    bench_at("contended fetch_add", "limit", (size_t)npes, bench_together(add_bare), "ns");
}

static void check(void)
{
    *heap = 0;
    shmem_barrier_all();
    add_to_first(1000);
    shmem_barrier_all();
    bench_must(me != 0 || *heap == 1000L * npes, "the sum of fetch_add");
}

int main(void)
{
    bench_start();
    heap = bench_heap(4096);
    far32 = bench_reach(heap, next);
    far64 = (long *)bench_reach(heap, next) + 8;
    far_first = bench_reach(heap, 0);
    check();
    measure_contended();
    if (npes == 2) bench_by_first(measure);
    shmem_finalize();
    return 0;
}

/* p, g: one element of a neighbour's, next to a bare store and load at the address that shmem_ptr gives.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/element.c -o element && oshrun -n 2 ./element
 */
#include "bench_shmem.h"

enum { WINDOW = 512 };

/* word32, word64: where the series lies; far: the same as plain C reaches it. */
#define ELEMENT(bits)                                                                     \
    static int##bits##_t static##bits[WINDOW], *word##bits, *far##bits;                   \
    static void p##bits(long n)                                                           \
    {                                                                                     \
        LOOP shmem_int##bits##_p(word##bits + i % WINDOW, (int##bits##_t)i, next);        \
    }                                                                                     \
    static void g##bits(long n)                                                           \
    {                                                                                     \
        LOOP KEEP(shmem_int##bits##_g(word##bits + i % WINDOW, next));                    \
    }                                                                                     \
    static void store##bits(long n)                                                       \
    {                                                                                     \
        LOOP((volatile int##bits##_t *)far##bits)[i % WINDOW] = (int##bits##_t)i;         \
    }                                                                                     \
    static void load##bits(long n)                                                        \
    {                                                                                     \
        LOOP KEEP(((volatile int##bits##_t *)far##bits)[i % WINDOW]);                     \
    }                                                                                     \
    static void p_quiet##bits(long n)                                                     \
    {                                                                                     \
        LOOP                                                                              \
        {                                                                                 \
            shmem_int##bits##_p(word##bits + i % WINDOW, (int##bits##_t)i, next);         \
            shmem_quiet();                                                                \
        }                                                                                 \
    }                                                                                     \
    static void store_fence##bits(long n)                                                 \
    {                                                                                     \
        LOOP                                                                              \
        {                                                                                 \
            ((volatile int##bits##_t *)far##bits)[i % WINDOW] = (int##bits##_t)i;         \
            __atomic_thread_fence(__ATOMIC_SEQ_CST);                                      \
        }                                                                                 \
    }                                                                                     \
    static void measure##bits(const char *series)                                         \
    {                                                                                     \
        bench_at("p", series, bits / 8, bench_alone(p##bits), "ns");                      \
        bench_at("g", series, bits / 8, bench_alone(g##bits), "ns");                      \
        bench_at("p and quiet", series, bits / 8, bench_alone(p_quiet##bits), "ns");      \
    }                                                                                     \
    static void limits##bits(void)                                                        \
    {                                                                                     \
        bench_at("p", "limit", bits / 8, bench_alone(store##bits), "ns");                 \
        bench_at("g", "limit", bits / 8, bench_alone(load##bits), "ns");                  \
        bench_at("p and quiet", "limit", bits / 8, bench_alone(store_fence##bits), "ns"); \
    }

ELEMENT(32)
ELEMENT(64)

static void *heap;

static void measure(void)
{
    word32 = heap, word64 = heap;
    measure32("heap");
    measure64("heap");
    word32 = static32, word64 = static64;
    measure32("static data");
    measure64("static data");
    limits32();
    limits64();
}

int main(void)
{
    bench_start();
    heap = bench_heap(WINDOW * sizeof(int64_t));
    far32 = bench_reach(heap, next);
    far64 = bench_reach(heap, next);
    bench_by_first(measure);
    shmem_finalize();
    return 0;
}

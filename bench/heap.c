/* What symmetric memory costs: a block taken and freed, next to malloc and free with as many blocks alive,
 * and with more PEs next to the two barriers that the standard puts into the pair.
 *
 *     oshcc -O2 bench/heap.c -o heap && ./heap && oshrun -n 2 ./heap
 *
 * Alone nobody needs to be met, so that is the allocator itself. Blocks of a page and more also give their
 * memory back when they go, and are closed to access.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, BATCH = 64 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* BATCH blocks taken, then freed in another order: nanoseconds per pair. */
static void symmetric_pairs(size_t bytes)
{
    void *p[BATCH];
    for (int i = 0; i < BATCH; i++)
        p[i] = shmem_malloc(bytes);
    for (int i = 0; i < BATCH; i++)
        shmem_free(p[i * 37 % BATCH]);
}

static void private_pairs(size_t bytes)
{
    void *p[BATCH];
    for (int i = 0; i < BATCH; i++) {
        p[i] = malloc(bytes);
        __asm__ volatile("" : : "r"(p[i]) : "memory");
    }
    for (int i = 0; i < BATCH; i++)
        free(p[i * 37 % BATCH]);
}

static void barriers(size_t bytes)
{
    (void)bytes;
    for (int i = 0; i < 2 * BATCH; i++)
        shmem_barrier_all();
}

static double median_ns(void (*work)(size_t), size_t bytes)
{
    double t[ROUNDS];
    work(bytes);
    for (int r = 0; r < ROUNDS; r++) {
        shmem_barrier_all();
        double begin = now_ns();
        work(bytes);
        t[r] = (now_ns() - begin) / BATCH;
    }
    qsort(t, ROUNDS, sizeof t[0], ascending);
    return t[ROUNDS / 2];
}

/* Small blocks with holes between them, as an old heap has them. */
static void **populate(int blocks)
{
    void **p = malloc(sizeof *p * (size_t)blocks * 2);
    for (int i = 0; i < blocks * 2; i++)
        p[i] = shmem_malloc(16 + (size_t)(i * 2654435761u % 97));
    for (int i = 0; i < blocks; i++) {
        shmem_free(p[2 * i]);
        p[i] = p[2 * i + 1];
    }
    return p;
}

int main(void)
{
    static const size_t sizes[] = {64, 1024, 16384, 1 << 20};
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == 0)
        printf("%10s %10s %14s %14s %14s  (ns, %d PEs)\n", "alive", "bytes", "shmem", "malloc", "2 barriers",
               npes);
    for (int alive = 0; alive <= (npes == 1 ? 100000 : 1000); alive = alive ? alive * 10 : 10) {
        void **live = populate(alive);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            double ours = median_ns(symmetric_pairs, sizes[i]), theirs = median_ns(private_pairs, sizes[i]);
            double meetings = median_ns(barriers, 0);
            if (me == 0) printf("%10d %10zu %14.0f %14.0f %14.0f\n", alive, sizes[i], ours, theirs, meetings);
        }
        for (int i = 0; i < alive; i++)
            shmem_free(live[i]);
        free(live);
    }
    shmem_finalize();
    return 0;
}

/* A word that is changed by a plain store through shmem_ptr, behind the library's back, ends a wait all the same: early in
 * the wait, late in it, with many who wait, and when the one who looks for all of them has gone. */
#include <shmem.h>
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static long word;
static int small[2];
static uint64_t other_word;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void)
{
    static const int delays_ms[] = {0, 5, 50, 400};
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), bad = 0;
    double worst = 0;
    for (int k = 0; k < 4 && n > 1; k++) {
        shmem_barrier_all();
        if (me == 0) {
            usleep((useconds_t)delays_ms[k] * 1000);
            for (int pe = 1; pe < n; pe++) { /* one after the other: he who watches for all may be among the first */
                if (!shmem_ptr(&word, pe)) continue; /* on another machine */
                *(volatile long *)shmem_ptr(&word, pe) = k + 1;
                usleep(3000);
                *(volatile int *)shmem_ptr(&small[1], pe) = -(k + 1);
                *(volatile uint64_t *)shmem_ptr(&other_word, pe) = UINT64_MAX - (uint64_t)k;
            }
        } else if (shmem_ptr(&word, 0)) {
            double begin = now_ms();
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, k + 1);
            shmem_int_wait_until(&small[1], SHMEM_CMP_LE, -(k + 1));
            shmem_uint64_wait_until(&other_word, SHMEM_CMP_EQ, UINT64_MAX - (uint64_t)k);
            double took = now_ms() - begin;
            if (took > worst) worst = took;
            bad += word != k + 1 || small[1] != -(k + 1) || other_word != UINT64_MAX - (uint64_t)k;
        }
    }
    shmem_barrier_all();
    if (bad) fprintf(stderr, "PE %d: %d wrong values\n", me, bad);
    if (me == 1) printf("longest wait %.1f ms\n", worst);
    shmem_finalize();
    return bad != 0;
}

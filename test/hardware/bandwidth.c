/* Bandwidth and time of puts and gets between two PEs' device heaps, and of puts from host memory, by wall clock:
 * PE 0 works, PE 1 waits. Arguments: the largest size in MiB, how long a row may take in ms.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum way { PUT, GET, PUT_FROM_HOST, PUT_NBI, WAYS };
static const char *const names[WAYS] = {"put", "get", "put from host", "put_nbi x 16"};

static char *to, *from, *host;

static void once(enum way way, size_t n)
{
    switch (way) {
    case PUT: shmem_putmem(to, from, n, 1); shmem_quiet(); break;
    case GET: shmem_getmem(from, to, n, 1); break;
    case PUT_FROM_HOST: shmem_putmem(to, host, n, 1); shmem_quiet(); break;
    default:
        for (int i = 0; i < 16; i++) shmem_putmem_nbi(to, from, n, 1);
        shmem_quiet();
    }
}

/* Seconds of one transfer. */
static double measure(enum way way, size_t n, double limit)
{
    int rounds = 0, transfers = way == PUT_NBI ? 16 : 1;
    for (int i = 0; i < 3; i++) once(way, n);
    double start = now(), end;
    do
        for (int i = 0; i < 4; i++, rounds++) once(way, n);
    while ((end = now()) - start < limit && rounds < 4000);
    return (end - start) / rounds / transfers;
}

int main(int argc, char **argv)
{
    size_t largest = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
    double limit = (argc > 2 ? atoi(argv[2]) : 50) * 1e-3;
    shmem_init();
    to = shmem_malloc(largest);
    from = shmem_malloc(largest);
    host = malloc(largest);
    if (!to || !from || !host) {
        fprintf(stderr, "no memory for two blocks of %zu MiB\n", largest >> 20);
        shmem_global_exit(1);
    }
    memset(host, 1, largest);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        printf("%10s", "bytes");
        for (int w = 0; w < WAYS; w++) printf("  %13s us     GB/s", names[w]);
        printf("\n");
        for (size_t n = 8; n <= largest; n *= n < 1 << 20 ? 8 : 4) {
            printf("%10zu", n);
            for (int w = 0; w < WAYS; w++) {
                double s = measure((enum way)w, n, limit);
                printf("  %16.2f %8.3f", s * 1e6, (double)n / s * 1e-9);
            }
            printf("\n");
            fflush(stdout);
        }
    }
    shmem_barrier_all();
    shmem_free(from);
    shmem_free(to);
    shmem_finalize();
    return 0;
}

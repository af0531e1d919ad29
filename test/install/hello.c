/* What every way of building must get right: heap, and a global variable that the neighbour writes. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long flag;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *word = (long *)shmem_malloc(sizeof *word);
    if (!word) shmem_global_exit(1);
    *word = -1;
    shmem_barrier_all();
    shmem_long_p(word, me, (me + 1) % n);
    shmem_long_atomic_add(&flag, me + 1, (me + 1) % n);
    shmem_barrier_all();
    long left = (me + n - 1) % n;
    if (*word != left || flag != left + 1) {
        printf("PE %d: heap %ld, static %ld, expected %ld and %ld\n", me, *word, flag, left, left + 1);
        shmem_global_exit(1);
    }
    if (me == 0) printf("hello from %d PEs\n", n);
    shmem_free(word);
    shmem_finalize();
    return 0;
}

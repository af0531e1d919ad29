/* Put, quiet, then an atomic flag: how to tell another PE that its data is there.
 *
 * A block of doubles goes once around the ring of PEs; each adds one to every element. The receiver waits
 * for its flag alone: no barrier, and no PE but the two is concerned. */
#include <shmem.h>
#include <stdio.h>

enum { COUNT = 256 };

static double block[COUNT]; /* symmetric, for they are static */
static int flag;

static void pass_on(int to)
{
    double next[COUNT];

    for (int i = 0; i < COUNT; i++)
        next[i] = block[i] + 1;
    shmem_double_put(block, next, COUNT, to);
    shmem_quiet();                   /* the block has arrived, and whoever looks sees it */
    shmem_int_atomic_inc(&flag, to); /* only then the flag goes up */
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    if (me == 0) pass_on(1 % n_pes);
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    if (me != 0) pass_on((me + 1) % n_pes);

    if (me == 0) {
        int wrong = 0;
        for (int i = 0; i < COUNT; i++)
            wrong += block[i] != n_pes;
        printf("back after %g hops, wrong elements: %d\n", block[0], wrong);
    }
    shmem_finalize();
    return 0;
}

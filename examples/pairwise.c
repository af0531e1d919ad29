/* Pairwise synchronisation: a PE waits for those it exchanges data with, and for nobody else.
 *
 * A rod is hot at its left end and cold at its right end. Each PE owns a piece of it and, in each step, puts
 * its outermost cells into its neighbours' halos. Then it synchronises with these two neighbours; a barrier
 * would make all wait for all. The result is the same for any number of PEs. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 240, STEPS = 200, LEFT = 0, RIGHT = 1 };

static double halo[2][2];  /* [step % 2][side]: a neighbour may be one step ahead, so there are two */
static double cell[CELLS]; /* the first `count` are this PE's piece */
static int me, n_pes, count;

static void exchange(double halo_now[2])
{
    if (me > 0) shmem_double_p(&halo_now[RIGHT], cell[0], me - 1);
    if (me < n_pes - 1) shmem_double_p(&halo_now[LEFT], cell[count - 1], me + 1);
    shmem_quiet(); /* the cells have arrived; what is left is to tell the neighbours */
    if (me > 0) shmemx_sync_pe(me - 1);
    if (me < n_pes - 1) shmemx_sync_pe(me + 1);
}

static void step(const double halo_now[2])
{
    double left = me > 0 ? halo_now[LEFT] : 100.0, right = me < n_pes - 1 ? halo_now[RIGHT] : 0.0;
    double next[CELLS];

    for (int i = 0; i < count; i++) {
        double before = i > 0 ? cell[i - 1] : left, after = i < count - 1 ? cell[i + 1] : right;
        next[i] = 0.25 * before + 0.5 * cell[i] + 0.25 * after;
    }
    memcpy(cell, next, (size_t)count * sizeof(*cell));
}

/* PE 0 reads each piece as soon as its owner is done. In C11, shmem_sync with a PE is shmemx_sync_pe. */
static void collect(double *rod)
{
    for (int pe = 0; pe < n_pes; pe++) {
        shmem_sync(pe); /* with itself: returns at once */
        shmem_double_get(rod + pe * count, cell, (size_t)count, pe);
    }
}

int main(void)
{
    double rod[CELLS];

    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    if (CELLS % n_pes != 0) {
        if (me == 0) fprintf(stderr, "pairwise: %d cells cannot be shared evenly by %d PEs\n", CELLS, n_pes);
        shmem_finalize();
        return 1;
    }
    count = CELLS / n_pes;

    for (int t = 0; t < STEPS; t++) {
        exchange(halo[t % 2]);
        step(halo[t % 2]);
    }
    if (me == 0)
        collect(rod);
    else
        shmem_sync(0);

    for (int i = 0; me == 0 && i <= 40; i += 5)
        printf("cell %2d: %9.6f degrees\n", i, rod[i]);
    shmem_finalize();
    return 0;
}

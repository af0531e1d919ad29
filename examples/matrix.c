/* A distributed matrix: its rows lie in the memories of all PEs, and any PE updates any element.
 *
 * Row r belongs to PE r % n_pes and is the owner's local row r / n_pes. To write an element, a PE needs the
 * address the element has at itself and the number of the owner. The owner takes no part in it. */
#include <shmem.h>
#include <stdio.h>

enum { ROWS = 6, COLUMNS = 8 };

static float matrix[ROWS][COLUMNS]; /* static data is symmetric: every PE has it, every other PE reaches it */

static void matrix_write(int row, int column, float value)
{
    int n_pes = shmem_n_pes();

    shmem_float_p(&matrix[row / n_pes][column], value, row % n_pes);
}

static float matrix_read(int row, int column)
{
    int n_pes = shmem_n_pes();

    return shmem_float_g(&matrix[row / n_pes][column], row % n_pes);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    /* The elements are dealt out like cards, so most of what a PE writes lies elsewhere. */
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            if ((row + column) % n_pes == me) matrix_write(row, column, 10.0f * row + column);

    shmem_barrier_all(); /* all elements are written, and every PE may see them */

    if (me == 0) {
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++)
                printf("%4.0f", matrix_read(row, column));
            printf("\n");
        }
    }
    shmem_finalize();
    return 0;
}

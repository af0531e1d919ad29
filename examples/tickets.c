/* Tickets by fetch-and-add: every call draws a number that nobody else gets.
 *
 * The PEs draw tickets from one roll, which lies at the last PE, and write their name on a board at PE 0, in
 * the place that the ticket gives. No two write to one place, so the board needs no lock. */
#include <shmem.h>
#include <stdio.h>

enum { DRAWS = 100 };

static int ticket; /* the next number; the one at the last PE counts */

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n_pes = shmem_n_pes(), all = DRAWS * n_pes;
    int *board = shmem_calloc((size_t)all, sizeof(*board));
    if (!board) shmem_global_exit(1);

    for (int i = 0; i < DRAWS; i++) {
        int mine = shmem_int_atomic_fetch_add(&ticket, 1, n_pes - 1);
        shmem_int_atomic_add(&board[mine], me + 1, 0); /* a place written twice would hold a strange sum */
    }
    shmem_barrier_all();

    if (me == 0) {
        for (int pe = 0; pe < n_pes; pe++) {
            int drawn = 0;
            for (int i = 0; i < all; i++)
                drawn += board[i] == pe + 1;
            printf("PE %d holds %d tickets of %d\n", pe, drawn, all);
        }
    }
    shmem_free(board);
    shmem_finalize();
    return 0;
}

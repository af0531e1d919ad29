/* Bulk transfer: one call moves 256 doubles from memory to memory.
 *
 * Each PE puts a block into its right neighbour's memory, then gets the block that its left neighbour has
 * received, which is the one that the PE two to the left has sent. */
#include <shmem.h>
#include <stdio.h>

enum { COUNT = 256 };

int main(void)
{
    double send[COUNT], back[COUNT]; /* one's own side of a transfer may lie anywhere, on the stack too */

    shmem_init();
    int me = shmem_my_pe(), n_pes = shmem_n_pes();
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes, sender = (left + n_pes - 1) % n_pes;

    /* The other side must be symmetric: from shmem_malloc, or static data. */
    double *inbox = shmem_malloc(COUNT * sizeof(*inbox));
    long *errors = shmem_calloc(1, sizeof(*errors));
    if (!inbox || !errors) shmem_global_exit(1);

    for (int i = 0; i < COUNT; i++)
        send[i] = me * 1000 + i;
    shmem_double_put(inbox, send, COUNT, right);
    shmem_barrier_all(); /* all puts have arrived */
    shmem_double_get(back, inbox, COUNT, left);

    for (int i = 0; i < COUNT; i++)
        if (inbox[i] != left * 1000 + i || back[i] != sender * 1000 + i) shmem_long_atomic_inc(errors, 0);
    shmem_barrier_all(); /* all have counted their errors at PE 0 */

    if (me == 0) {
        printf("put from PE %d: %g ... %g\n", left, inbox[0], inbox[COUNT - 1]);
        printf("get from PE %d: %g ... %g\n", left, back[0], back[COUNT - 1]);
        printf("wrong elements on %d PEs: %ld\n", n_pes, *errors);
    }
    int status = shmem_long_g(errors, 0) != 0;
    shmem_free(errors);
    shmem_free(inbox);
    shmem_finalize();
    return status;
}

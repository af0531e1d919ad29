/* Hand-over by message passing: the producer sends, the consumer receives.
 *
 *     mpicc -O2 handover_message_mpi.c -o h && mpirun -n 2 h [blocks-of-each-producer [KiB-of-a-block]]
 */
#ifdef OVER_SYMMETRIC_MEMORY
#include "../apps/pes.h"
#include "mailbox.h"
#define MODEL "message passing in mailboxes"
#else
#include "../apps/ranks.h"
#define MODEL "message passing"
static void mail_open(void) {}
#endif
#include "handover.h"

static uint64_t *block[DEPTH];

/* model: begin */
enum { TAGS = 32768 };

static void produce_all(void)
{
    MPI_Request sending[DEPTH];
    for (int i = 0; i < DEPTH; i++)
        sending[i] = MPI_REQUEST_NULL;
    for (size_t k = 0; k < blocks; k++) {
        MPI_Wait(&sending[k % DEPTH], MPI_STATUS_IGNORE);
        produce(block[k % DEPTH], k);
        moved(block_bytes());
        MPI_Isend(block[k % DEPTH], (int)block_bytes(), MPI_BYTE, partner(), (int)(k % TAGS), MPI_COMM_WORLD,
                  &sending[k % DEPTH]);
    }
    MPI_Waitall(DEPTH, sending, MPI_STATUSES_IGNORE);
}

static void consume_all(void)
{
    for (size_t k = 0; k < blocks; k++) {
        MPI_Recv(block[0], (int)block_bytes(), MPI_BYTE, partner(), (int)(k % TAGS), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        consume(block[0], k);
    }
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    mail_open();
    handover_set_up(argc, argv);
    for (int i = 0; i < DEPTH; i++)
        block[i] = need(malloc(block_bytes()), "blocks");
    run_handover(MODEL, produce_all, consume_all);
    job_end();
    return 0;
}

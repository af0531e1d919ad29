/* Updates by message passing: each is sent to the owner of the element, who has to receive and apply it.
 *
 *     mpicc -O2 updates_message_mpi.c -o u && mpirun -n 2 u [updates-of-each-rank [elements-of-each-rank]]
 *
 * One message for each update, and one for 256 of them. */
#ifdef OVER_SYMMETRIC_MEMORY
#include "../apps/pes.h"
#include "mailbox.h"
#define MODEL "message passing in mailboxes"
#else
#include "../apps/ranks.h"
#define MODEL "message passing"
static void mail_open(void) {}
#endif
#include "updates.h"

enum { MOST = 256 };
static int batch = 1; /* updates in a message */

/* model: begin */
enum { UPDATES, LAST };

/* For each rank: one bucket is filled while the other is sent. */
static struct outbox {
    struct update bucket[2][MOST];
    int which, filled;
    MPI_Request sending;
} *outbox;
static int finished; /* ranks whose last message has come */

static void receive(MPI_Status status)
{
    static struct update inbox[MOST];
    int bytes;
    MPI_Recv(inbox, sizeof inbox, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    for (int i = 0; i < bytes / (int)sizeof *inbox; i++)
        apply(inbox[i]);
    finished += status.MPI_TAG == LAST;
}

static int receive_what_is_there(void)
{
    int there, any = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status), there) {
        receive(status);
        any = 1;
    }
    return any;
}

/* Who only waited for room at the receiver would wait for ever, where the receiver does the same. */
static void finish_sending(struct outbox *out)
{
    int sent;
    while (MPI_Test(&out->sending, &sent, MPI_STATUS_IGNORE), !sent)
        if (!receive_what_is_there()) idle();
}

static void send_bucket(int rank, int tag)
{
    struct outbox *out = &outbox[rank];
    finish_sending(out);
    int bytes = out->filled * (int)sizeof(struct update);
    moved((size_t)bytes);
    MPI_Isend(out->bucket[out->which], bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &out->sending);
    out->which = !out->which;
    out->filled = 0;
    receive_what_is_there();
}

static void update_all(void)
{
    for (size_t k = 0; k < updates; k++) {
        int rank = owner(k);
        struct outbox *out = &outbox[rank];
        if (rank == me) {
            apply(update(k));
            continue;
        }
        out->bucket[out->which][out->filled++] = update(k);
        if (out->filled == batch) send_bucket(rank, UPDATES);
    }
    finished++; /* and this one */
    for (int rank = 0; rank < npes; rank++)
        if (rank != me) send_bucket(rank, LAST);
    while (finished < npes)
        if (!receive_what_is_there()) idle();
    finished = 0;
    for (int rank = 0; rank < npes; rank++)
        finish_sending(&outbox[rank]);
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    mail_open();
    updates_set_up(argc, argv);
    outbox = need(calloc((size_t)npes, sizeof *outbox), "buckets");
    for (int rank = 0; rank < npes; rank++)
        outbox[rank].sending = MPI_REQUEST_NULL;
    run_updates(MODEL ", 1 each", update_all);
    batch = MOST;
    run_updates(MODEL ", 256 each", update_all);
    job_end();
    return 0;
}

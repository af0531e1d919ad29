/* Neighbour aggregation by message passing: who needs rows asks their owners once; then, in every hop, owners send
 * them.
 *
 *     mpicc -O2 neighbours_message_mpi.c -o n && mpirun -n 2 n [vertices-of-the-whole-graph]
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
#include "neighbours.h"

/* model: begin */
enum { ASK, ROWS };

static struct needed needed;
static row_t *fetched;   /* the rows of needed.vertex */
static size_t *begin_at; /* of each owner's part in needed, and the end of the last */
static struct asked {
    uint32_t *vertex; /* rows of this rank that another one needs */
    size_t n;
    row_t *packed;
} *asked;
static MPI_Request *sending;

static void send_to(int rank, const void *data, size_t bytes, int tag)
{
    moved(bytes);
    MPI_Isend(data, (int)bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &sending[rank]);
}

static void ask_owners(void)
{
    needed = find_needed();
    for (size_t i = 0, rank = 0; rank <= (size_t)npes; rank++) {
        while (i < needed.n && owner_of(needed.vertex[i]) < (int)rank)
            i++;
        begin_at[rank] = i;
    }
    for (int rank = 0; rank < npes; rank++)
        if (rank != me)
            send_to(rank, needed.vertex + begin_at[rank], (begin_at[rank + 1] - begin_at[rank]) * sizeof(uint32_t),
                    ASK);
}

static void hear_questions(void)
{
    for (int left = npes - 1; left > 0; left--) {
        MPI_Status status;
        int bytes;
        MPI_Probe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        struct asked *a = &asked[status.MPI_SOURCE];
        a->n = (size_t)bytes / sizeof *a->vertex;
        a->vertex = need(malloc((size_t)bytes + 1), "a question");
        a->packed = need(malloc(a->n * sizeof *a->packed + 1), "an answer");
        MPI_Recv(a->vertex, bytes, MPI_BYTE, status.MPI_SOURCE, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(npes, sending, MPI_STATUSES_IGNORE);
}

static void send_rows(const row_t *own)
{
    for (int rank = 0; rank < npes; rank++) {
        struct asked *a = &asked[rank];
        for (size_t i = 0; i < a->n; i++)
            a->packed[i] = own[place_of(a->vertex[i])];
        if (a->n) send_to(rank, a->packed, a->n * sizeof(row_t), ROWS);
    }
}

static void receive_rows(void)
{
    for (int rank = 0; rank < npes; rank++) {
        size_t bytes = (begin_at[rank + 1] - begin_at[rank]) * sizeof(row_t);
        if (bytes)
            MPI_Recv(fetched + begin_at[rank], (int)bytes, MPI_BYTE, rank, ROWS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(npes, sending, MPI_STATUSES_IGNORE);
}

static const row_t *own_rows;
static const row_t *row_of(size_t e)
{
    return needed.slot[e] < 0 ? &own_rows[place_of(neighbours[e])] : &fetched[needed.slot[e]];
}

static void aggregate(void)
{
    ask_owners();
    hear_questions();
    fetched = need(malloc(needed.n * sizeof *fetched + 1), "rows");
    for (int hop = 0; hop < HOPS; hop++) {
        own_rows = rows[hop % 2];
        send_rows(own_rows);
        receive_rows();
        sum_rows(own_rows, rows[(hop + 1) % 2], row_of);
    }
    for (int rank = 0; rank < npes; rank++)
        free(asked[rank].vertex), free(asked[rank].packed);
    memset(asked, 0, (size_t)npes * sizeof *asked);
    free(fetched);
    free_needed(&needed);
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    mail_open();
    neighbours_set_up(argc, argv);
    begin_at = need(calloc((size_t)npes + 1, sizeof *begin_at), "a list");
    asked = need(calloc((size_t)npes, sizeof *asked), "questions");
    sending = need(calloc((size_t)npes, sizeof *sending), "requests");
    for (int rank = 0; rank < npes; rank++)
        sending[rank] = MPI_REQUEST_NULL;
    run_neighbours(MODEL, aggregate);
    job_end();
    return 0;
}

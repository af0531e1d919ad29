/* MPI and OpenSHMEM in one program; see hybrid.sh. Not a test itself.
 * hybrid INIT FINALIZE: which of mpi and shmem goes first; "id" instead of INIT: a unique id handed over by MPI_Bcast. */
#include <mpi.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

enum { N = 20000 };
static long here[N], from_mpi[N];
static int rank, size, me;

/* The PEs in the opposite order of the ranks: it is the program that says who is who. */
static int init_by_id(void)
{
    shmemx_uniqueid_t id;
    shmemx_init_attr_t attr;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && shmemx_get_uniqueid(&id)) return 1;
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    shmemx_set_attr_uniqueid_args(size - 1 - rank, size, &id, &attr);
    return shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr) || shmem_my_pe() != size - 1 - rank;
}

static int init(const char *first)
{
    if (!strcmp(first, "id")) return init_by_id();
    if (!strcmp(first, "shmem")) shmem_init();
    MPI_Init(NULL, NULL);
    if (!strcmp(first, "mpi")) shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return shmem_my_pe() != rank;
}

/* What a put has brought goes on by MPI, and what MPI has brought by a put, with both in flight. */
static int traffic(int round)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int next_pe = shmem_my_pe() == rank ? next : size - 1 - next;
    long *heap = shmem_malloc(N * sizeof *heap), sum = 0, mine = rank + round, want = 0;
    for (int i = 0; i < N; i++)
        from_mpi[i] = rank * 1000L + i + round;
    shmem_barrier_all();
    shmem_long_put_nbi(heap, from_mpi, N, next_pe);
    MPI_Request requests[2];
    MPI_Irecv(here, N, MPI_LONG, before, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(from_mpi, N, MPI_LONG, next, round, MPI_COMM_WORLD, &requests[1]);
    shmem_barrier_all();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        if (heap[i] != here[i] || here[i] != before * 1000L + i + round) return 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        want += i + round;
    if (sum != want) return 2;
    shmem_free(heap);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 90;
    if (init(argv[1])) return 91;
    me = shmem_my_pe();
    if (shmem_n_pes() != size) return 92;
    for (int i = 0; i < 20; i++) {
        int wrong = traffic(i);
        if (wrong) return wrong;
    }
    if (!strcmp(argv[2], "shmem")) shmem_finalize();
    MPI_Finalize();
    if (strcmp(argv[2], "shmem")) shmem_finalize();
    printf("well %d of %d\n", me, size);
    return 0;
}

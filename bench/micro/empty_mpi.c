/* A job that does nothing: run.py takes its time, from the launcher's start to its exit.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/empty_mpi.c -o empty && time mpirun -n 8 ./empty
 */
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    return 0;
}

/* A job that does nothing: run.py takes its time, from the launcher's start to its exit.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/empty.c -o empty && time oshrun -n 8 ./empty
 */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}

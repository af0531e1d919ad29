/* Three PEs that wait for each other in a circle of pairs: PE i meets i + 1 before i - 1. It must end with a sentence. */
#include <shmemx.h>

int main(void)
{
    shmem_init();
    shmemx_sync_pe((shmem_my_pe() + 1) % shmem_n_pes());
    shmemx_sync_pe((shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes());
    shmem_finalize();
    return 0;
}

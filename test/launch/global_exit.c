/* One PE calls global_exit while all others are in malloc and stdio, and never in the library. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    FILE *out = fopen("/dev/null", "w");
    shmem_barrier_all();
    if (me == 0) {
        usleep(20000);
        printf("last words of the caller\n"); /* in the buffer: its exit must flush */
        shmem_global_exit(7);
    }
    for (size_t i = 0;; i++) {
        char *block = malloc(100 + i % 5000);
        if (out && block) fprintf(out, "%p\n", (void *)block);
        free(block);
    }
}

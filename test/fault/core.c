/* A job of huge heaps, of which one PE aborts: what must be in the core file and what must not. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char huge_bss[1ul << 30]; /* one page of it is written, before init; another afterwards, by a peer */
long plain = 4711;
static long *block;

int main(int argc, char **argv)
{
    huge_bss[100 << 20] = 42;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    block = shmem_malloc(1 << 20);
    block[5] = 815;
    shmem_char_p(&huge_bss[700 << 20], 43, (me + 1) % npes);
    shmem_long_p(&plain, 4712, (me + 1) % npes);
    shmem_barrier_all();
    if (argc > 1 && me == 1) { /* for a debugger to look at */
        FILE *f = fopen(argv[1], "w");
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
        for (;;)
            pause();
    }
    if (me == 1) abort();
    shmem_barrier_all();
    return 0;
}

/* What the PEs of the tests on several hosts do: argv[1] says what. Not a test itself. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long never; /* nobody writes it */
static int me, npes;

static void say(const char *what)
{
    char text[200], host[64] = "";
    gethostname(host, sizeof host - 1);
    int n = snprintf(text, sizeof text, "%s %d of %d on %s, process %d\n", what, me, npes, host, (int)getpid());
    if (write(1, text, (size_t)n) < 0) _exit(99);
}

/* Every PE to every other: the ways between all pairs are taken. */
static int move(void)
{
    long *heap = shmem_calloc((size_t)npes, sizeof *heap);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&heap[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        if (heap[pe] != pe + 1) return 1;
    shmem_free(heap);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 98;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (!strcmp(argv[1], "move") && move()) shmem_global_exit(97);
    if (!strcmp(argv[1], "team")) { /* argv[2]: how many PEs a machine has */
        if (shmem_team_n_pes(SHMEM_TEAM_SHARED) != atoi(argv[2])) shmem_global_exit(96);
    }
    say("up");
    /* Without a word between machines since shmem_init: what tells of a death is not in the way of data. */
    if (!strcmp(argv[1], "asleep")) shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    if (!strcmp(argv[1], "moved-asleep")) {
        if (move()) shmem_global_exit(97);
        say("moved");
        shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    }
    if (!strcmp(argv[1], "pause")) { /* argv[2]: seconds in which a test does something */
        sleep((unsigned)atoi(argv[2]));
        if (move()) shmem_global_exit(97);
    }
    shmem_finalize();
    say("well");
    return 0;
}

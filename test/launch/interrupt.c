/* PEs that are interrupted where they meet others; see interrupt.sh. Not a test itself.
 * interrupt WHERE WHO: WHO goes there: the number of a PE, or "rest", all but PE 0. */
#define _GNU_SOURCE
#include <shmem.h>
#include <shmemx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int claims;
static volatile sig_atomic_t signalled;

static int leave(int can_return)
{
    if (can_return || !signalled) return 0;
    if (claims && shmemx_claim_report()) fputs("the program says why\n", stderr);
    return 1;
}

static void on_signal(int sig) { signalled = sig; }

static void meet(const char *where, shmem_team_t team, shmem_team_t all)
{
    static long a[4096], b[4096];
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (!strcmp(where, "barrier_all")) shmem_barrier_all();
    if (!strcmp(where, "sync_all")) shmem_sync_all();
    if (!strcmp(where, "team_sync")) shmem_team_sync(team);
    if (!strcmp(where, "sync_pe")) shmemx_sync_pe((me + 1) % n);
    if (!strcmp(where, "malloc")) shmem_malloc(64);
    if (!strcmp(where, "broadcast")) shmem_long_broadcast(all, a, b, 4096, 0);
    if (!strcmp(where, "reduce")) shmem_long_sum_reduce(all, a, b, 7);
    if (!strcmp(where, "agree")) shmemx_agree(all, a, 8, NULL, NULL);
    if (!strcmp(where, "split")) shmem_team_split_strided(all, 0, 1, n, NULL, 0, &team);
    if (!strcmp(where, "finalize")) shmem_finalize();
    if (!strcmp(where, "exit")) exit(0);
}

int main(int argc, char **argv)
{
    const char *where = argv[1], *who = argv[2], *number = getenv("SHMEM_PE");
    int am = strcmp(who, "rest") ? !strcmp(who, number) : strcmp(number, "0");
    shmem_team_t team = SHMEM_TEAM_INVALID;
    claims = argc > 3;
    setvbuf(stderr, NULL, _IOLBF, 0);
    signal(SIGUSR1, on_signal);
    if (am) shmemx_set_interrupt(leave);
    if (!strcmp(where, "init") && strcmp(number, "0")) { /* PE 0 never comes */
        usleep(100000);
        puts("up");
        fflush(stdout);
    }
    if (!strcmp(where, "init") && !strcmp(number, "0")) pause();
    shmem_init();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    puts("up");
    fflush(stdout);
    if (am) {
        meet(where, team, SHMEM_TEAM_WORLD);
    } else {
        for (;;) pause();
    }
    return 3;
}

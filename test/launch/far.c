/* PEs of several machines wait in the way argv[1] says until the last PE calls global_exit; each says when it leaves. Not a
 * test itself: far.sh runs it. */
#define _GNU_SOURCE
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long flag, lock;
static int me;

static void leaves(void)
{
    char text[32];
    int n = snprintf(text, sizeof text, "left %d\n", me);
    if (write(1, text, (size_t)n) < 0) _exit(99);
}

static void wait_as(const char *how)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    if (!strcmp(how, "lock")) {
        if (me == shmem_n_pes() - 1) shmem_set_lock(&lock);
        shmem_barrier_all();
    }
    if (me == shmem_n_pes() - 1) {
        usleep(300000); /* the others are asleep */
        shmem_global_exit(7);
    }
    if (!strcmp(how, "word")) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 42);
    if (!strcmp(how, "lock")) shmem_set_lock(&lock);
    if (!strcmp(how, "world")) shmem_barrier_all();
    if (!strcmp(how, "team")) shmem_team_sync(team);
    if (!strcmp(how, "shared")) { /* of this machine alone: its last member does not come */
        if (shmem_team_my_pe(SHMEM_TEAM_SHARED) < shmem_team_n_pes(SHMEM_TEAM_SHARED) - 1)
            shmem_team_sync(SHMEM_TEAM_SHARED);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 42);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    atexit(leaves);
    shmem_barrier_all();
    wait_as(argc > 1 ? argv[1] : "word");
    return 1;
}

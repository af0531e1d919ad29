/* timeout: 120 */
/* shmemx_sync_pe: pairs that cross, rings, stars, mixed with meetings of teams; what was put before is there behind; the
 * k-th call of one side meets the k-th of the other, however far one is ahead. And shmem_sync(pe) of C11. */
#include <pshmem.h>
#include <shmemx.h>
#include <unistd.h>

#include "check.h"

static long *seen; /* [from]: the round that PE has written here */

static void meet(int pe, long round)
{
    shmem_long_p(&seen[me], round, pe);
    CHECK_NUM(shmemx_sync_pe(pe), 0, "with PE %d", pe);
    long theirs = LOOK(&seen[pe]);
    CHECK(theirs >= round, "with PE %d: expected its store of round %ld, seen %ld", pe, round, theirs);
    CHECK(theirs <= round + 1, "with PE %d: it is at round %ld, this PE at %ld", pe, theirs, round);
}

static void begin(void)
{
    shmem_barrier_all();
    lay_byte(seen, 0, (size_t)npes * sizeof *seen);
    shmem_barrier_all();
}

/* Everybody with everybody, in the order of the xor: pairs cross without waiting for others. */
static void all_pairs(void)
{
    begin();
    for (long round = 1; round <= 300; round++)
        for (int x = 1; x < 8; x++)
            if ((me ^ x) < npes) meet(me ^ x, round);
}

/* The edges in one order for all, (0,1), (1,2), ..., (n-1,0): in any other they would wait in a circle. */
static void ring(void)
{
    begin();
    if (npes < 3) return;
    for (long round = 1; round <= 300; round++) {
        meet(me ? left : right, round);
        meet(me ? right : left, round);
    }
}

/* PE 0 with each in turn; they come when they like. */
static void star(void)
{
    begin();
    for (long round = 1; round <= 200; round++) {
        if (me == 0)
            for (int i = 1; i < npes; i++) meet(i, round);
        else
            meet(0, round);
    }
}

static void mixed(void)
{
    shmem_team_t team;
    begin();
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team), 0, "split");
    struct random mine = {(uint64_t)me};
    for (long round = 1; round <= 200; round++) {
        if (random_below(&mine, 20) == 0) usleep(300);
        if ((me ^ 1) < npes) meet(me ^ 1, round);
        if (round % 3 == 0) shmem_team_sync(team);
        if (round % 5 == 0) shmem_barrier_all();
        if (round % 7 == 0) shmem_sync_all();
    }
    shmem_team_destroy(team);
}

/* Itself: at once, as often as wanted. */
static void alone(void)
{
    for (int k = 0; k < 1000; k++) CHECK_NUM(shmemx_sync_pe(me), 0, "itself");
    CHECK_NUM(pshmemx_sync_pe(me), 0, "itself");
}

/* One argument: a PE of any integer type, or a team. */
static void by_type(void)
{
    int partner = me ^ 1;
    begin();
    shmem_sync(SHMEM_TEAM_WORLD);
    if (partner < npes) {
        shmem_sync(partner);
        shmem_sync((long)partner);
        shmem_sync((unsigned char)partner);
        shmem_sync((short)partner);
        shmem_sync((size_t)partner);
        shmem_sync((long long)partner);
        shmem_sync((int64_t)partner);
    }
    static long sync[SHMEM_SYNC_SIZE];
    shmem_sync(0, 0, npes, sync);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    seen = shmem_calloc((size_t)npes, sizeof *seen);
    alone();
    all_pairs();
    ring();
    star();
    mixed();
    by_type();
    return check_end();
}

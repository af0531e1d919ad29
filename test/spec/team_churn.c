/* timeout: 120 */
/* args: 3000 */
/* Teams made and destroyed thousands of times, several at once, in changing order, used in between: places are found
 * again, numbers of meetings begin anew, stale handles are no new teams, and a full table of teams is an error that all
 * PEs learn of, not a hang. */
#include "check.h"

enum { ALIVE = 24, TRIES = 1100 };

static long *cell;

static void use(shmem_team_t team, long round)
{
    int n = shmem_team_n_pes(team), my = shmem_team_my_pe(team);
    long mine = round * 100 + my;
    LAY(cell, mine);
    CHECK_NUM(shmem_long_sum_reduce(team, cell + 1, cell, 1), 0, "round %ld", round);
    CHECK_NUM(LOOK(cell + 1), round * 100 * n + (long)n * (n - 1) / 2, "round %ld, team of %d", round, n);
    shmem_team_sync(team); /* cell[1] is written again by the next use, of another team */
}

static void churn(int rounds)
{
    shmem_team_t alive[ALIVE] = {SHMEM_TEAM_INVALID};
    struct random r = {42};
    for (int k = 0; k < ALIVE; k++) alive[k] = SHMEM_TEAM_INVALID;
    for (int k = 0; k < rounds; k++) {
        size_t which = random_below(&r, ALIVE);
        int kind = (int)random_below(&r, 3), start = (int)random_below(&r, npes);
        shmem_team_t old = alive[which], other;
        if (old != SHMEM_TEAM_INVALID) {
            if (k % 3 == 0) use(old, k);
            shmem_team_destroy(old);
        }
        if (kind == 0)
            shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, npes - start, NULL, 0, &alive[which]);
        else if (kind == 1)
            shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes - start, NULL, 0, &alive[which]);
        else
            shmem_team_split_2d(SHMEM_TEAM_WORLD, start + 1, NULL, 0, &alive[which], NULL, 0, &other);
        if (kind == 2) {
            CHECK(other != SHMEM_TEAM_INVALID, "round %d", k);
            shmem_team_destroy(other);
        }
        CHECK(alive[which] == SHMEM_TEAM_INVALID || alive[which] != old, "round %d: the handle of a team is used again", k);
        if (alive[which] != SHMEM_TEAM_INVALID && k % 5 == 0) use(alive[which], k);
    }
    for (int k = 0; k < ALIVE; k++) shmem_team_destroy(alive[k]);
}

/* All that there are: the next split fails on every PE alike, and after one is destroyed it succeeds. */
static void exhaust(void)
{
    static shmem_team_t all[TRIES];
    int n = 0, rc = 0;
    while (n < TRIES && !(rc = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &all[n]))) n++;
    CHECK(n >= 64, "only %d teams could be made", n);
    if (n == TRIES) return;
    CHECK(all[n] == SHMEM_TEAM_INVALID, "a failed split gave %p", (void *)all[n]);
    static long least, mine;
    mine = n;
    shmem_long_min_reduce(SHMEM_TEAM_WORLD, &least, &mine, 1);
    CHECK_NUM(least, mine, "the PEs disagree on how many teams there are");
    shmem_team_t row, column;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) != 0, "2d of a full table");
    CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID, "%p %p", (void *)row, (void *)column);
    shmem_team_destroy(all[0]);
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &all[0]), 0, "after a destroy");
    for (int k = 0; k < n; k++) shmem_team_destroy(all[k]);
}

int main(int argc, char **argv)
{
    check_start();
    cell = shmem_calloc(2, sizeof *cell);
    churn(argc > 1 ? atoi(argv[1]) : 3000);
    exhaust();
    churn(200);
    return check_end();
}

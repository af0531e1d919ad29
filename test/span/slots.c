/* npes: 4 */
/* label: ucx */
/* env: SHMEM_MACHINES=3+1 */
/* timeout: 120 */
/* Teams over several machines come and go: each works from its first meeting on, whoever had its place before; when all
 * places are taken a split says so, on all members, and goes on when some are free. Teams and active sets that are left
 * open at finalize do not trouble the next init. */
#include "../spec/check.h"

enum { MANY = 700, PLACES = 512 };

static long dest[8], source[8];

/* Leaves the cells of its place in use: several meetings, with and without bytes. */
static void use(shmem_team_t team, int k)
{
    if (team == SHMEM_TEAM_INVALID) return;
    int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
    source[0] = k + mine;
    shmem_long_sum_reduce(team, dest, source, 1);
    CHECK_NUM(dest[0], (long)n * k + n * (n - 1) / 2, "team %d", k);
    for (int i = 0; i < k % 3; i++) shmem_team_sync(team);
}

static shmem_team_t split(int start, int stride, int n)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, n, NULL, 0, &team);
    return team;
}

static void come_and_go(void)
{
    for (int k = 0; k < MANY; k++) {
        shmem_team_t team = k % 3 == 0   ? split(0, 1, npes)
                            : k % 3 == 1 ? split(npes - 1, -1, 2)
                                         : split(0, 1, 2); /* on one machine */
        use(team, k);
        shmem_team_destroy(team);
    }
}

static void all_taken(void)
{
    static shmem_team_t team[PLACES + 1];
    int n = 0;
    while (n <= PLACES && (team[n] = split(0, 1, npes)) != SHMEM_TEAM_INVALID) n++;
    CHECK_NUM(n, PLACES, "teams at once");
    use(team[n - 1], n);
    for (int k = 0; k < n; k += 7) {
        shmem_team_destroy(team[k]);
        team[k] = split(npes - 1, -1, npes);
        CHECK(team[k] != SHMEM_TEAM_INVALID, "no place for a team though one was given back");
        use(team[k], k);
    }
    shmem_team_t shared = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 1, 1, NULL, 0, &shared);
    CHECK((shared != SHMEM_TEAM_INVALID) == (shmem_team_my_pe(SHMEM_TEAM_SHARED) == 0), "places on one machine are others");
    shmem_team_destroy(shared);
    for (int k = n - 1; k >= 0; k--) shmem_team_destroy(team[k]);
}

static void sets(int round)
{
    static long sync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    for (int k = 0; k < 5; k++)
        for (int start = 0; start < npes; start++) {
            source[0] = me + round;
            if (me < start) continue;
            shmem_long_sum_to_all(dest, source, 1, start, 0, npes - start, work, sync);
            CHECK_NUM(dest[0], (long)(npes - start) * (start + npes - 1 + 2 * round) / 2, "set from %d on", start);
        }
}

int main(void)
{
    int bad = 0;
    for (int round = 0; round < 3; round++) {
        check_start();
        come_and_go();
        if (round == 0) all_taken();
        sets(round);
        use(split(0, 1, npes), round); /* left open */
        use(split(0, 1, npes - 1), round);
        bad |= check_end();
    }
    return bad;
}

/* Jobs that init again: meetings on streams go on where the last ones of the team's slot ended, and begin anew in teams
 * whose slots served others before. */
/* layouts: 1+1 2+1 */
/* timeout: 120 */
#include "stream.h"

static void once(int round)
{
    shmem_team_t team;
    void *stream = stream_new();
    long *sum = shmem_malloc(sizeof *sum), one = me + round, have;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
    lay(sum, &one, sizeof one);
    shmem_barrier_all();
    for (int i = 0; i <= round; i++) { /* an even number of meetings, and an odd one */
        ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream));
        ON(shmemx_barrier_on_stream(team, stream));
    }
    ON(shmemx_barrier_on_stream(team, stream));
    ON(shmemx_long_sum_reduce_on_stream(round % 2 ? team : SHMEM_TEAM_WORLD, sum, sum, 1, stream));
    ACL(aclrtSynchronizeStream(stream));
    look(&have, sum, sizeof have);
    CHECK_NUM(have, (long)npes * (npes - 1) / 2 + (long)npes * round, "round %d", round);
    shmem_barrier_all();
    ACL(aclrtDestroyStream(stream));
    shmem_team_destroy(team);
    shmem_free(sum);
}

int main(void)
{
    for (int round = 0; round < 4; round++) {
        check_start();
        runtime_find();
        once(round);
        if (round == 3) break;
        shmem_finalize();
        check_ctx = SHMEM_CTX_INVALID;
    }
    return check_end();
}

/* npes: 2 */
/* Handles of the past are recognised in every call that takes one: here those that must not end the job. Those that must
 * are in test/bad. A team handle survives the destruction of others and the reuse of their places. */
#include "check.h"

int main(void)
{
    check_start();
    for (int round = 0; round < 3; round++) { /* a job may begin anew; handles of before are not those of now */
        static shmem_team_t before;
        shmem_team_t a, b, c;
        CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &a), 0, "a");
        CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &b), 0, "b");
        shmem_team_destroy(a);
        CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &c), 0, "c");
        CHECK(c != a && c != b && c != before, "round %d: %p %p %p, before %p", round, (void *)a, (void *)b, (void *)c,
              (void *)before);
        CHECK_NUM(shmem_team_my_pe(b), me, "b");
        CHECK_NUM(shmem_team_my_pe(c), npes - 1 - me, "c");
        shmem_team_sync(b);
        shmem_team_sync(c);
        before = c;
        shmem_finalize();
        shmem_init();
        CHECK_NUM(shmem_team_my_pe(SHMEM_TEAM_WORLD), me, "world again");
    }
    return check_end();
}

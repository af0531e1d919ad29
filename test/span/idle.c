/* npes: 4 */
/* label: ucx */
/* env: SHMEM_MACHINES=3+1 */
/* A member that brings nothing to its first large collectives, and so has sent nothing to another machine when it waits for
 * all to be complete. */
#include "../spec/check.h"

enum { N = 5000 };

static long dest[4 * N], source[N];

int main(void)
{
    check_start();
    for (int i = 0; i < N; i++) source[i] = me * N + i;
    size_t mine = me == 1 ? 0 : N;
    shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, mine);
    for (size_t at = 0, pe = 0; pe < (size_t)npes; pe++)
        for (size_t i = 0; pe != 1 && i < N; i++, at++) CHECK_NUM(dest[at], (long)(pe * N + i), "collect, element %zu", at);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, N, 3);
    CHECK_NUM(dest[N - 1], 4L * N - 1, "broadcast");
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, 40); /* less than one element for each member, then none */
    CHECK_NUM(dest[39], (long)(me + 1) * 39 + (long)me * (me + 1) / 2 * N, "inscan");
    return check_end();
}

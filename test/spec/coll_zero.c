/* Collectives of no elements: NULL will do for every pointer, the result is 0, and they may be mixed with others. */
#include "check.h"

static long sync_array[SHMEM_REDUCE_SYNC_SIZE];

#define MOVES(TYPE, NAME)                                                                                              \
    CHECK_NUM(shmem_##NAME##_broadcast(team, NULL, NULL, 0, 0), 0, #NAME);                                             \
    CHECK_NUM(shmem_##NAME##_collect(team, NULL, NULL, 0), 0, #NAME);                                                  \
    CHECK_NUM(shmem_##NAME##_fcollect(team, NULL, NULL, 0), 0, #NAME);                                                 \
    CHECK_NUM(shmem_##NAME##_alltoall(team, NULL, NULL, 0), 0, #NAME);                                                 \
    CHECK_NUM(shmem_##NAME##_alltoalls(team, NULL, NULL, 1, 1, 0), 0, #NAME);
#define BITS(TYPE, NAME)                                                                                               \
    CHECK_NUM(shmem_##NAME##_and_reduce(team, NULL, NULL, 0), 0, #NAME);                                               \
    CHECK_NUM(shmem_##NAME##_or_reduce(team, NULL, NULL, 0), 0, #NAME);                                                \
    CHECK_NUM(shmem_##NAME##_xor_reduce(team, NULL, NULL, 0), 0, #NAME);
#define ORDER(TYPE, NAME)                                                                                              \
    CHECK_NUM(shmem_##NAME##_max_reduce(team, NULL, NULL, 0), 0, #NAME);                                               \
    CHECK_NUM(shmem_##NAME##_min_reduce(team, NULL, NULL, 0), 0, #NAME);
#define ARITHMETIC(TYPE, NAME)                                                                                         \
    CHECK_NUM(shmem_##NAME##_sum_reduce(team, NULL, NULL, 0), 0, #NAME);                                               \
    CHECK_NUM(shmem_##NAME##_prod_reduce(team, NULL, NULL, 0), 0, #NAME);                                              \
    CHECK_NUM(shmem_##NAME##_sum_inscan(team, NULL, NULL, 0), 0, #NAME);                                               \
    CHECK_NUM(shmem_##NAME##_sum_exscan(team, NULL, NULL, 0), 0, #NAME);

static void team_forms(shmem_team_t team)
{
    SHMEM_RMA_TYPES(MOVES)
    SHMEM_REDUCE_BITWISE_TYPES(BITS)
    SHMEM_REDUCE_COMPARE_TYPES(ORDER)
    SHMEM_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)
    CHECK_NUM(shmem_broadcastmem(team, NULL, NULL, 0, 0), 0, "mem");
    CHECK_NUM(shmem_collectmem(team, NULL, NULL, 0), 0, "mem");
    CHECK_NUM(shmem_fcollectmem(team, NULL, NULL, 0), 0, "mem");
    CHECK_NUM(shmem_alltoallmem(team, NULL, NULL, 0), 0, "mem");
    CHECK_NUM(shmem_alltoallsmem(team, NULL, NULL, 1, 1, 0), 0, "mem");
}

static void set_forms(void)
{
    shmem_broadcast32(NULL, NULL, 0, 0, 0, 0, npes, sync_array);
    shmem_broadcast64(NULL, NULL, 0, 0, 0, 0, npes, sync_array);
    shmem_collect32(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_collect64(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_fcollect32(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_fcollect64(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_alltoall32(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_alltoall64(NULL, NULL, 0, 0, 0, npes, sync_array);
    shmem_alltoalls32(NULL, NULL, 1, 1, 0, 0, 0, npes, sync_array);
    shmem_alltoalls64(NULL, NULL, 1, 1, 0, 0, 0, npes, sync_array);
    shmem_long_sum_to_all(NULL, NULL, 0, 0, 0, npes, NULL, sync_array);
    shmem_complexd_prod_to_all(NULL, NULL, 0, 0, 0, npes, NULL, sync_array);
}

/* A collect to which only the last PE brings something. */
static void one_brings(void)
{
    static long from, to = -1;
    from = 77;
    shmem_sync_all();
    CHECK_NUM(shmem_long_collect(SHMEM_TEAM_WORLD, &to, me == npes - 1 ? &from : NULL, me == npes - 1), 0, "collect");
    CHECK_NUM(to, 77L, "collect");
}

int main(void)
{
    check_start();
    team_forms(SHMEM_TEAM_WORLD);
    team_forms(SHMEM_TEAM_SHARED);
    set_forms();
    one_brings();
    return check_end();
}

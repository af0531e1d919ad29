/* Collectives over teams. */
#include "api/coll.h"
#include "api/api.h"
#include "core/order.h"

HM_API(void, shmem_barrier_all, (void))
{
    hm_barrier_all("shmem_barrier_all");
}

HM_API(void, shmem_sync_all, (void))
{
    hm_sync_all("shmem_sync_all");
}

HM_API(int, shmem_team_sync, (shmem_team_t team))
{
    hm_team_sync(hm_api_team(team, "shmem_team_sync"), "shmem_team_sync");
    return 0;
}

/* Moves of elements. `name` is what follows shmem_, PARAMS what follows source, the rest calls the floor
 * below. */
#define MOVE(TYPE, name, PARAMS, function, ...)                                                       \
    HM_API(int, shmem_##name, (shmem_team_t team, TYPE * dest, const TYPE *source, HM_UNWRAP PARAMS)) \
    {                                                                                                 \
        const char *const call = "shmem_" #name;                                                      \
        return function(hm_api_team(team, call), dest, source, __VA_ARGS__, call);                    \
    }
#define MOVES(TYPE, SIZE, alltoall, alltoalls, broadcast, collect, fcollect)                             \
    MOVE(TYPE, alltoall, (size_t nelems), hm_alltoall, hm_bytes(nelems, SIZE))                           \
    MOVE(TYPE, alltoalls, (ptrdiff_t dst, ptrdiff_t sst, size_t nelems), hm_alltoalls, dst, sst, nelems, \
         SIZE)                                                                                           \
    MOVE(TYPE, broadcast, (size_t nelems, int PE_root), hm_broadcast, hm_bytes(nelems, SIZE), PE_root)   \
    MOVE(TYPE, collect, (size_t nelems), hm_collect, hm_bytes(nelems, SIZE))                             \
    MOVE(TYPE, fcollect, (size_t nelems), hm_fcollect, hm_bytes(nelems, SIZE))
#define TYPED(TYPE, NAME)                                                                          \
    MOVES(TYPE, sizeof(TYPE), NAME##_alltoall, NAME##_alltoalls, NAME##_broadcast, NAME##_collect, \
          NAME##_fcollect)
SHMEM_RMA_TYPES(TYPED)
MOVES(void, 1, alltoallmem, alltoallsmem, broadcastmem, collectmem, fcollectmem)

#define REDUCE(TYPE, NAME, stem, OP)                                                                         \
    HM_API(int, shmem_##NAME##_##stem, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce)) \
    {                                                                                                        \
        const char *const call = "shmem_" #NAME "_" #stem;                                                   \
        return hm_reduce(hm_api_team(team, call), dest, source, nreduce, HM_KIND_OF(TYPE), OP, call);        \
    }
#define BITWISE(TYPE, NAME)                   \
    REDUCE(TYPE, NAME, and_reduce, HM_OP_AND) \
    REDUCE(TYPE, NAME, or_reduce, HM_OP_OR)   \
    REDUCE(TYPE, NAME, xor_reduce, HM_OP_XOR)
SHMEM_REDUCE_BITWISE_TYPES(BITWISE)
#define COMPARE(TYPE, NAME) \
    REDUCE(TYPE, NAME, max_reduce, HM_OP_MAX) REDUCE(TYPE, NAME, min_reduce, HM_OP_MIN)
SHMEM_REDUCE_COMPARE_TYPES(COMPARE)
#define ARITHMETIC(TYPE, NAME) \
    REDUCE(TYPE, NAME, sum_reduce, HM_OP_SUM) REDUCE(TYPE, NAME, prod_reduce, HM_OP_PROD)
SHMEM_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)

#define SCAN(TYPE, NAME, stem, inclusive)                                                                   \
    HM_API(int, shmem_##NAME##_##stem, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems)) \
    {                                                                                                       \
        const char *const call = "shmem_" #NAME "_" #stem;                                                  \
        return hm_scan(hm_api_team(team, call), dest, source, nelems, HM_KIND_OF(TYPE), inclusive, call);   \
    }
#define SCANS(TYPE, NAME) SCAN(TYPE, NAME, sum_inscan, true) SCAN(TYPE, NAME, sum_exscan, false)
SHMEM_REDUCE_ARITHMETIC_TYPES(SCANS)

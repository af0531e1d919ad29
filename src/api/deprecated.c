/* What the standard keeps for old programs: active sets, atomics of before 1.4, names of before 1.2. */
#include "api/amo.h"
#include "api/api.h"
#include "api/coll.h"
#include "api/wait.h"
#include "core/amo.h"
#include "core/order.h"

/* --- active sets; pSync and pWrk are left alone --- */

HM_API(void, shmem_barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    (void)pSync;
    hm_set_barrier(hm_api_set(PE_start, logPE_stride, PE_size, "shmem_barrier"), "shmem_barrier");
}

HM_API(void, shmem_sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    (void)pSync;
    hm_set_sync(hm_api_set(PE_start, logPE_stride, PE_size, "shmem_sync"), "shmem_sync");
}

/* `name` is what follows shmem_, PARAMS what stands between source and the set, the rest calls the floor
 * below. */
#define MOVE(name, PARAMS, function, ...)                                                                  \
    HM_API(void, shmem_##name,                                                                             \
           (void *dest, const void *source, HM_UNWRAP PARAMS, int PE_start, int logPE_stride, int PE_size, \
            long *pSync))                                                                                  \
    {                                                                                                      \
        const char *const call = "shmem_" #name;                                                           \
        (void)pSync;                                                                                       \
        function(hm_api_set(PE_start, logPE_stride, PE_size, call), dest, source, __VA_ARGS__, call);      \
    }
#define MOVES(BITS, BYTES)                                                                               \
    MOVE(alltoall##BITS, (size_t nelems), hm_alltoall, hm_bytes(nelems, BYTES))                          \
    MOVE(alltoalls##BITS, (ptrdiff_t dst, ptrdiff_t sst, size_t nelems), hm_alltoalls, dst, sst, nelems, \
         BYTES)                                                                                          \
    MOVE(broadcast##BITS, (size_t nelems, int PE_root), hm_broadcast_to_others, hm_bytes(nelems, BYTES), \
         PE_root)                                                                                        \
    MOVE(collect##BITS, (size_t nelems), hm_collect, hm_bytes(nelems, BYTES))                            \
    MOVE(fcollect##BITS, (size_t nelems), hm_fcollect, hm_bytes(nelems, BYTES))
MOVES(32, 4)
MOVES(64, 8)

static size_t count_of(int nreduce, const char *call)
{
    if (nreduce < 0) hm_die(call, "nreduce is %d, but a number of elements cannot be negative", nreduce);
    return (size_t)nreduce;
}

#define TO_ALL(TYPE, NAME, stem, OP)                                                                        \
    HM_API(void, shmem_##NAME##_##stem,                                                                     \
           (TYPE * dest, const TYPE *source, int nreduce, int PE_start, int logPE_stride, int PE_size,      \
            TYPE *pWrk, long *pSync))                                                                       \
    {                                                                                                       \
        const char *const call = "shmem_" #NAME "_" #stem;                                                  \
        (void)pWrk;                                                                                         \
        (void)pSync;                                                                                        \
        hm_reduce(hm_api_set(PE_start, logPE_stride, PE_size, call), dest, source, count_of(nreduce, call), \
                  HM_KIND_OF(TYPE), OP, call);                                                              \
    }
#define BITWISE(TYPE, NAME)                   \
    TO_ALL(TYPE, NAME, and_to_all, HM_OP_AND) \
    TO_ALL(TYPE, NAME, or_to_all, HM_OP_OR)   \
    TO_ALL(TYPE, NAME, xor_to_all, HM_OP_XOR)
SHMEM_TO_ALL_BITWISE_TYPES(BITWISE)
#define COMPARE(TYPE, NAME) \
    TO_ALL(TYPE, NAME, max_to_all, HM_OP_MAX) TO_ALL(TYPE, NAME, min_to_all, HM_OP_MIN)
SHMEM_TO_ALL_COMPARE_TYPES(COMPARE)
#define ARITHMETIC(TYPE, NAME) \
    TO_ALL(TYPE, NAME, sum_to_all, HM_OP_SUM) TO_ALL(TYPE, NAME, prod_to_all, HM_OP_PROD)
SHMEM_TO_ALL_ARITHMETIC_TYPES(ARITHMETIC)

/* --- atomics of before 1.4 --- */

#define AMO(ret, NAME, stem, params, ...)                  \
    HM_API(ret, shmem_##NAME##_##stem, params)             \
    {                                                      \
        const char *const call = "shmem_" #NAME "_" #stem; \
        struct hm_ctx *const c = &hm_ctx_default;          \
        __VA_ARGS__                                        \
    }
#define EXTENDED(TYPE, NAME)                                                                              \
    AMO(TYPE, NAME, fetch, (const TYPE *source, int pe),                                                  \
        return HM_VALUE(TYPE, HM_AMO(HM_AMO_FETCH, source, 0, 0));)                                       \
    AMO(void, NAME, set, (TYPE * dest, TYPE value, int pe), HM_AMO(HM_AMO_SET, dest, HM_BITS(value), 0);) \
    AMO(TYPE, NAME, swap, (TYPE * dest, TYPE value, int pe),                                              \
        return HM_VALUE(TYPE, HM_AMO(HM_AMO_SWAP, dest, HM_BITS(value), 0));)
SHMEM_OLD_AMO_EXTENDED_TYPES(EXTENDED)
#define STANDARD(TYPE, NAME)                                                                         \
    AMO(TYPE, NAME, cswap, (TYPE * dest, TYPE cond, TYPE value, int pe),                             \
        return (TYPE)HM_AMO(HM_AMO_CAS, dest, (uint64_t)value, (uint64_t)cond);)                     \
    AMO(TYPE, NAME, finc, (TYPE * dest, int pe), return (TYPE)HM_AMO(HM_AMO_FETCH_ADD, dest, 1, 0);) \
    AMO(void, NAME, inc, (TYPE * dest, int pe), HM_AMO(HM_AMO_ADD, dest, 1, 0);)                     \
    AMO(TYPE, NAME, fadd, (TYPE * dest, TYPE value, int pe),                                         \
        return (TYPE)HM_AMO(HM_AMO_FETCH_ADD, dest, (uint64_t)value, 0);)                            \
    AMO(void, NAME, add, (TYPE * dest, TYPE value, int pe), HM_AMO(HM_AMO_ADD, dest, (uint64_t)value, 0);)
SHMEM_OLD_AMO_TYPES(STANDARD)

/* --- waits of before 1.4: until the word differs --- */

#define WAIT(TYPE, NAME)                                                                                \
    HM_API(void, shmem_##NAME##_wait, (TYPE * ivar, TYPE cmp_value))                                    \
    {                                                                                                   \
        hm_world_need("shmem_" #NAME "_wait");                                                          \
        hm_wait_word(ivar, SHMEM_CMP_NE, (int64_t)cmp_value, HM_WORD_OF(TYPE), "shmem_" #NAME "_wait"); \
    }
SHMEM_OLD_WAIT_TYPES(WAIT)

HM_API(void, shmem_wait, (long *ivar, long cmp_value))
{
    hm_world_need("shmem_wait");
    hm_wait_word(ivar, SHMEM_CMP_NE, cmp_value, HM_WORD_OF(long), "shmem_wait");
}

HM_API(void, shmem_wait_until, (long *ivar, int cmp, long cmp_value))
{
    hm_world_need("shmem_wait_until");
    hm_wait_word(ivar, cmp, cmp_value, HM_WORD_OF(long), "shmem_wait_until");
}

/* --- names of before 1.2 --- */

HM_API(void, start_pes, (int npes))
{
    (void)npes;
    hm_world_start_pes();
}

HM_API(int, _my_pe, (void))
{
    hm_world_need("_my_pe");
    return hm_world.pe;
}

HM_API(int, _num_pes, (void))
{
    hm_world_need("_num_pes");
    return hm_world.npes;
}

HM_API(void *, shmalloc, (size_t size))
{
    hm_world_need("shmalloc");
    return hm_malloc(size, "shmalloc");
}

HM_API(void, shfree, (void *ptr))
{
    hm_world_need("shfree");
    hm_free(ptr, "shfree");
}

HM_API(void *, shrealloc, (void *ptr, size_t size))
{
    hm_world_need("shrealloc");
    return hm_realloc(ptr, size, "shrealloc");
}

HM_API(void *, shmemalign, (size_t alignment, size_t size))
{
    hm_world_need("shmemalign");
    return hm_align(alignment, size, "shmemalign");
}

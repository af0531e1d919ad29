/* Point-to-point synchronisation. */
#include "api/wait.h"
#include "api/api.h"

#define ONE(TYPE, NAME)                                                                               \
    HM_API(void, shmem_##NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value))                   \
    {                                                                                                 \
        hm_world_need("shmem_" #NAME "_wait_until");                                                  \
        hm_wait_word(ivar, cmp, (int64_t)cmp_value, HM_WORD_OF(TYPE), "shmem_" #NAME "_wait_until");  \
    }                                                                                                 \
    HM_API(int, shmem_##NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value))                          \
    {                                                                                                 \
        hm_world_need("shmem_" #NAME "_test");                                                        \
        return hm_test_word(ivar, cmp, (int64_t)cmp_value, HM_WORD_OF(TYPE), "shmem_" #NAME "_test"); \
    }

/* all and any, of one value or one value each; `values` points to them. */
#define ARRAY(TYPE, NAME, ret, stem, function, VALUE, values, vector)                                    \
    HM_API(ret, shmem_##NAME##_##stem, (TYPE * ivars, size_t nelems, const int *status, int cmp, VALUE)) \
    {                                                                                                    \
        hm_world_need("shmem_" #NAME "_" #stem);                                                         \
        return function(ivars, nelems, status, cmp, values, vector, HM_WORD_OF(TYPE),                    \
                        "shmem_" #NAME "_" #stem);                                                       \
    }
#define SOME(TYPE, NAME, stem, function, VALUE, values, vector)                                \
    HM_API(size_t, shmem_##NAME##_##stem,                                                      \
           (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUE)) \
    {                                                                                          \
        hm_world_need("shmem_" #NAME "_" #stem);                                               \
        return function(ivars, nelems, indices, status, cmp, values, vector, HM_WORD_OF(TYPE), \
                        "shmem_" #NAME "_" #stem);                                             \
    }
#define BOTH(TYPE, NAME, ret, stem, function)                                 \
    ARRAY(TYPE, NAME, ret, stem, function, TYPE cmp_value, &cmp_value, false) \
    ARRAY(TYPE, NAME, ret, stem##_vector, function, const TYPE *cmp_values, cmp_values, true)
#define BOTH_SOME(TYPE, NAME, stem, function)                           \
    SOME(TYPE, NAME, stem, function, TYPE cmp_value, &cmp_value, false) \
    SOME(TYPE, NAME, stem##_vector, function, const TYPE *cmp_values, cmp_values, true)

#define TYPED(TYPE, NAME)                                 \
    ONE(TYPE, NAME)                                       \
    BOTH(TYPE, NAME, void, wait_until_all, hm_wait_all)   \
    BOTH(TYPE, NAME, size_t, wait_until_any, hm_wait_any) \
    BOTH_SOME(TYPE, NAME, wait_until_some, hm_wait_some)  \
    BOTH(TYPE, NAME, int, test_all, hm_test_all)          \
    BOTH(TYPE, NAME, size_t, test_any, hm_test_any)       \
    BOTH_SOME(TYPE, NAME, test_some, hm_test_some)
SHMEM_WAIT_TYPES(TYPED)

HM_API(uint64_t, shmem_signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))
{
    hm_world_need("shmem_signal_wait_until");
    return (uint64_t)hm_wait_word(sig_addr, cmp, (int64_t)cmp_value, HM_WORD_U64, "shmem_signal_wait_until");
}

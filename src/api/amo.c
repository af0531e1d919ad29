/* Atomic memory operations. On mapped memory they are complete when they return, the non-blocking ones too.
 */
#include "core/amo.h"
#include "api/amo.h"
#include "api/api.h"

#define EXTENDED(TYPE, NAME)                                                                          \
    HM_API_BOTH(shmem, TYPE, NAME##_atomic_fetch, (const TYPE *source, int pe),                       \
                return HM_VALUE(TYPE, HM_AMO(HM_AMO_FETCH, source, 0, 0));)                           \
    HM_API_BOTH(shmem, void, NAME##_atomic_set, (TYPE * dest, TYPE value, int pe),                    \
                HM_AMO(HM_AMO_SET, dest, HM_BITS(value), 0);)                                         \
    HM_API_BOTH(shmem, TYPE, NAME##_atomic_swap, (TYPE * dest, TYPE value, int pe),                   \
                return HM_VALUE(TYPE, HM_AMO(HM_AMO_SWAP, dest, HM_BITS(value), 0));)                 \
    HM_API_BOTH(shmem, void, NAME##_atomic_fetch_nbi, (TYPE * fetch, const TYPE *source, int pe),     \
                HM_AMO_NBI(HM_AMO_FETCH, fetch, source, 0, 0);)                         \
    HM_API_BOTH(shmem, void, NAME##_atomic_swap_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                HM_AMO_NBI(HM_AMO_SWAP, fetch, dest, HM_BITS(value), 0);)
SHMEM_AMO_EXTENDED_TYPES(EXTENDED)

#define STANDARD(TYPE, NAME)                                                                            \
    HM_API_BOTH(shmem, TYPE, NAME##_atomic_compare_swap, (TYPE * dest, TYPE cond, TYPE value, int pe),  \
                return (TYPE)HM_AMO(HM_AMO_CAS, dest, (uint64_t)value, (uint64_t)cond);)                \
    HM_API_BOTH(shmem, TYPE, NAME##_atomic_fetch_inc, (TYPE * dest, int pe),                            \
                return (TYPE)HM_AMO(HM_AMO_FETCH_ADD, dest, 1, 0);)                                     \
    HM_API_BOTH(shmem, void, NAME##_atomic_inc, (TYPE * dest, int pe), HM_AMO(HM_AMO_ADD, dest, 1, 0);) \
    HM_API_BOTH(shmem, void, NAME##_atomic_compare_swap_nbi,                                            \
                (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe),                             \
                HM_AMO_NBI(HM_AMO_CAS, fetch, dest, (uint64_t)value, (uint64_t)cond);)              \
    HM_API_BOTH(shmem, void, NAME##_atomic_fetch_inc_nbi, (TYPE * fetch, TYPE * dest, int pe),          \
                HM_AMO_NBI(HM_AMO_FETCH_ADD, fetch, dest, 1, 0);)                                   \
    UPDATE(TYPE, NAME, atomic_fetch_add, HM_AMO_FETCH_ADD, atomic_add, HM_AMO_ADD, atomic_fetch_add_nbi)

/* dest = dest <op> value, with and without the old value. */
#define UPDATE(TYPE, NAME, fetching, FETCH_OP, silent, OP, fetching_nbi)                             \
    HM_API_BOTH(shmem, TYPE, NAME##_##fetching, (TYPE * dest, TYPE value, int pe),                   \
                return (TYPE)HM_AMO(FETCH_OP, dest, (uint64_t)value, 0);)                            \
    HM_API_BOTH(shmem, void, NAME##_##silent, (TYPE * dest, TYPE value, int pe),                     \
                HM_AMO(OP, dest, (uint64_t)value, 0);)                                               \
    HM_API_BOTH(shmem, void, NAME##_##fetching_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                HM_AMO_NBI(FETCH_OP, fetch, dest, (uint64_t)value, 0);)
SHMEM_AMO_TYPES(STANDARD)

#define BITWISE(TYPE, NAME)                                                                              \
    UPDATE(TYPE, NAME, atomic_fetch_and, HM_AMO_FETCH_AND, atomic_and, HM_AMO_AND, atomic_fetch_and_nbi) \
    UPDATE(TYPE, NAME, atomic_fetch_or, HM_AMO_FETCH_OR, atomic_or, HM_AMO_OR, atomic_fetch_or_nbi)      \
    UPDATE(TYPE, NAME, atomic_fetch_xor, HM_AMO_FETCH_XOR, atomic_xor, HM_AMO_XOR, atomic_fetch_xor_nbi)
SHMEM_AMO_BITWISE_TYPES(BITWISE)

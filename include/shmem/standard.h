/* Every function of OpenSHMEM 1.6, chapter by chapter, for whoever defines what a declaration is:
 *
 *     SHMEM_API(ret, name, params)        one function
 *     SHMEM_NORETURN, SHMEM_OLD           in front of ret: never returns; deprecated by the standard
 *
 * shmem.h expands this list to the functions, pshmem.h to their profiling twins. Hence no include guard.
 */

/* A function and its twin that takes a context first. */
#define SHMEM_API_CTX(ret, stem, ...)           \
    SHMEM_API(ret, shmem_##stem, (__VA_ARGS__)) \
    SHMEM_API(ret, shmem_ctx_##stem, (shmem_ctx_t ctx, __VA_ARGS__))

/* --- Library setup, exit and query --- */
SHMEM_API(void, shmem_init, (void))
SHMEM_API(int, shmem_my_pe, (void))
SHMEM_API(int, shmem_n_pes, (void))
SHMEM_API(void, shmem_finalize, (void))
SHMEM_API(void, shmem_query_initialized, (int *initialized))
SHMEM_API(SHMEM_NORETURN void, shmem_global_exit, (int status))
SHMEM_API(int, shmem_pe_accessible, (int pe))
SHMEM_API(int, shmem_addr_accessible, (const void *addr, int pe))
SHMEM_API(void *, shmem_ptr, (const void *dest, int pe))
SHMEM_API(void *, shmem_team_ptr, (shmem_team_t team, const void *dest, int pe))
SHMEM_API(void, shmem_info_get_version, (int *major, int *minor))
SHMEM_API(void, shmem_info_get_name, (char *name))
SHMEM_API(SHMEM_OLD void, start_pes, (int npes))

/* --- Thread support --- */
SHMEM_API(int, shmem_init_thread, (int requested, int *provided))
SHMEM_API(void, shmem_query_thread, (int *provided))

/* --- Memory management --- */
SHMEM_API(void *, shmem_malloc, (size_t size))
SHMEM_API(void, shmem_free, (void *ptr))
SHMEM_API(void *, shmem_realloc, (void *ptr, size_t size))
SHMEM_API(void *, shmem_align, (size_t alignment, size_t size))
SHMEM_API(void *, shmem_malloc_with_hints, (size_t size, long hints))
SHMEM_API(void *, shmem_calloc, (size_t count, size_t size))

/* --- Teams --- */
SHMEM_API(int, shmem_team_my_pe, (shmem_team_t team))
SHMEM_API(int, shmem_team_n_pes, (shmem_team_t team))
SHMEM_API(int, shmem_team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
SHMEM_API(int, shmem_team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
SHMEM_API(int, shmem_team_split_strided,
          (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
           long config_mask, shmem_team_t *new_team))
SHMEM_API(int, shmem_team_split_2d,
          (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
           shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
           shmem_team_t *yaxis_team))
SHMEM_API(void, shmem_team_destroy, (shmem_team_t team))

/* --- Communication contexts --- */
SHMEM_API(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx))
SHMEM_API(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
SHMEM_API(void, shmem_ctx_destroy, (shmem_ctx_t ctx))
SHMEM_API(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))

/* --- Remote memory access --- */
#define SHMEM_DECLARE(TYPE, NAME)                                                                   \
    SHMEM_API_CTX(void, NAME##_put, TYPE *dest, const TYPE *source, size_t nelems, int pe)          \
    SHMEM_API_CTX(void, NAME##_p, TYPE *dest, TYPE value, int pe)                                   \
    SHMEM_API_CTX(void, NAME##_iput, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                  size_t nelems, int pe)                                                            \
    SHMEM_API_CTX(void, NAME##_ibput, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                             \
    SHMEM_API_CTX(void, NAME##_get, TYPE *dest, const TYPE *source, size_t nelems, int pe)          \
    SHMEM_API_CTX(TYPE, NAME##_g, const TYPE *source, int pe)                                       \
    SHMEM_API_CTX(void, NAME##_iget, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                  size_t nelems, int pe)                                                            \
    SHMEM_API_CTX(void, NAME##_ibget, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                             \
    SHMEM_API_CTX(void, NAME##_put_nbi, TYPE *dest, const TYPE *source, size_t nelems, int pe)      \
    SHMEM_API_CTX(void, NAME##_get_nbi, TYPE *dest, const TYPE *source, size_t nelems, int pe)
SHMEM_RMA_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(BITS, BYTES)                                                                 \
    SHMEM_API_CTX(void, put##BITS, void *dest, const void *source, size_t nelems, int pe)          \
    SHMEM_API_CTX(void, iput##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,  \
                  size_t nelems, int pe)                                                           \
    SHMEM_API_CTX(void, ibput##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                            \
    SHMEM_API_CTX(void, get##BITS, void *dest, const void *source, size_t nelems, int pe)          \
    SHMEM_API_CTX(void, iget##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,  \
                  size_t nelems, int pe)                                                           \
    SHMEM_API_CTX(void, ibget##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                            \
    SHMEM_API_CTX(void, put##BITS##_nbi, void *dest, const void *source, size_t nelems, int pe)    \
    SHMEM_API_CTX(void, get##BITS##_nbi, void *dest, const void *source, size_t nelems, int pe)
SHMEM_SIZES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

SHMEM_API_CTX(void, putmem, void *dest, const void *source, size_t nelems, int pe)
SHMEM_API_CTX(void, getmem, void *dest, const void *source, size_t nelems, int pe)
SHMEM_API_CTX(void, putmem_nbi, void *dest, const void *source, size_t nelems, int pe)
SHMEM_API_CTX(void, getmem_nbi, void *dest, const void *source, size_t nelems, int pe)

/* --- Atomic memory operations --- */
#define SHMEM_DECLARE(TYPE, NAME)                                                         \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch, const TYPE *source, int pe)                  \
    SHMEM_API_CTX(void, NAME##_atomic_set, TYPE *dest, TYPE value, int pe)                \
    SHMEM_API_CTX(TYPE, NAME##_atomic_swap, TYPE *dest, TYPE value, int pe)               \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_nbi, TYPE *fetch, const TYPE *source, int pe) \
    SHMEM_API_CTX(void, NAME##_atomic_swap_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHMEM_AMO_EXTENDED_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME)                                                                       \
    SHMEM_API_CTX(TYPE, NAME##_atomic_compare_swap, TYPE *dest, TYPE cond, TYPE value, int pe)          \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch_inc, TYPE *dest, int pe)                                    \
    SHMEM_API_CTX(void, NAME##_atomic_inc, TYPE *dest, int pe)                                          \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch_add, TYPE *dest, TYPE value, int pe)                        \
    SHMEM_API_CTX(void, NAME##_atomic_add, TYPE *dest, TYPE value, int pe)                              \
    SHMEM_API_CTX(void, NAME##_atomic_compare_swap_nbi, TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, \
                  int pe)                                                                               \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_inc_nbi, TYPE *fetch, TYPE *dest, int pe)                   \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_add_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHMEM_AMO_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME)                                                                 \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch_and, TYPE *dest, TYPE value, int pe)                  \
    SHMEM_API_CTX(void, NAME##_atomic_and, TYPE *dest, TYPE value, int pe)                        \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch_or, TYPE *dest, TYPE value, int pe)                   \
    SHMEM_API_CTX(void, NAME##_atomic_or, TYPE *dest, TYPE value, int pe)                         \
    SHMEM_API_CTX(TYPE, NAME##_atomic_fetch_xor, TYPE *dest, TYPE value, int pe)                  \
    SHMEM_API_CTX(void, NAME##_atomic_xor, TYPE *dest, TYPE value, int pe)                        \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_and_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe) \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_or_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)  \
    SHMEM_API_CTX(void, NAME##_atomic_fetch_xor_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHMEM_AMO_BITWISE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME)                                                    \
    SHMEM_API(SHMEM_OLD TYPE, shmem_##NAME##_fetch, (const TYPE *source, int pe))    \
    SHMEM_API(SHMEM_OLD void, shmem_##NAME##_set, (TYPE * dest, TYPE value, int pe)) \
    SHMEM_API(SHMEM_OLD TYPE, shmem_##NAME##_swap, (TYPE * dest, TYPE value, int pe))
SHMEM_OLD_AMO_EXTENDED_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME)                                                                 \
    SHMEM_API(SHMEM_OLD TYPE, shmem_##NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe)) \
    SHMEM_API(SHMEM_OLD TYPE, shmem_##NAME##_finc, (TYPE * dest, int pe))                         \
    SHMEM_API(SHMEM_OLD void, shmem_##NAME##_inc, (TYPE * dest, int pe))                          \
    SHMEM_API(SHMEM_OLD TYPE, shmem_##NAME##_fadd, (TYPE * dest, TYPE value, int pe))             \
    SHMEM_API(SHMEM_OLD void, shmem_##NAME##_add, (TYPE * dest, TYPE value, int pe))
SHMEM_OLD_AMO_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

/* --- Signaling operations --- */
#define SHMEM_DECLARE(TYPE, NAME)                                                             \
    SHMEM_API_CTX(void, NAME##_put_signal, TYPE *dest, const TYPE *source, size_t nelems,     \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                    \
    SHMEM_API_CTX(void, NAME##_put_signal_nbi, TYPE *dest, const TYPE *source, size_t nelems, \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
SHMEM_RMA_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(BITS, BYTES)                                                             \
    SHMEM_API_CTX(void, put##BITS##_signal, void *dest, const void *source, size_t nelems,     \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                     \
    SHMEM_API_CTX(void, put##BITS##_signal_nbi, void *dest, const void *source, size_t nelems, \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
SHMEM_SIZES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

SHMEM_API_CTX(void, putmem_signal, void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
              uint64_t signal, int sig_op, int pe)
SHMEM_API_CTX(void, putmem_signal_nbi, void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
              uint64_t signal, int sig_op, int pe)
SHMEM_API_CTX(void, signal_add, uint64_t *sig_addr, uint64_t signal, int pe)
SHMEM_API_CTX(void, signal_set, uint64_t *sig_addr, uint64_t signal, int pe)
SHMEM_API(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr))

/* --- Communication sessions --- */
SHMEM_API(void, shmem_ctx_session_start,
          (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask))
SHMEM_API(void, shmem_ctx_session_stop, (shmem_ctx_t ctx))

/* --- Collectives --- */
SHMEM_API(void, shmem_barrier_all, (void))
SHMEM_API(void, shmem_sync_all, (void))
SHMEM_API(int, shmem_team_sync, (shmem_team_t team))
SHMEM_API(SHMEM_OLD void, shmem_barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
SHMEM_API(SHMEM_OLD void, shmem_sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))

#define SHMEM_DECLARE(TYPE, NAME)                                                                          \
    SHMEM_API(int, shmem_##NAME##_alltoall,                                                                \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems))                         \
    SHMEM_API(                                                                                             \
        int, shmem_##NAME##_alltoalls,                                                                     \
        (shmem_team_t team, TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems)) \
    SHMEM_API(int, shmem_##NAME##_broadcast,                                                               \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems, int PE_root))            \
    SHMEM_API(int, shmem_##NAME##_collect,                                                                 \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems))                         \
    SHMEM_API(int, shmem_##NAME##_fcollect,                                                                \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems))
SHMEM_RMA_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

SHMEM_API(int, shmem_alltoallmem, (shmem_team_t team, void *dest, const void *source, size_t nelems))
SHMEM_API(int, shmem_alltoallsmem,
          (shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems))
SHMEM_API(int, shmem_broadcastmem,
          (shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root))
SHMEM_API(int, shmem_collectmem, (shmem_team_t team, void *dest, const void *source, size_t nelems))
SHMEM_API(int, shmem_fcollectmem, (shmem_team_t team, void *dest, const void *source, size_t nelems))

#define SHMEM_DECLARE(BITS, BYTES)                                                                         \
    SHMEM_API(SHMEM_OLD void, shmem_alltoall##BITS,                                                        \
              (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
               long *pSync))                                                                               \
    SHMEM_API(SHMEM_OLD void, shmem_alltoalls##BITS,                                                       \
              (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start,  \
               int logPE_stride, int PE_size, long *pSync))                                                \
    SHMEM_API(SHMEM_OLD void, shmem_broadcast##BITS,                                                       \
              (void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, \
               int PE_size, long *pSync))                                                                  \
    SHMEM_API(SHMEM_OLD void, shmem_collect##BITS,                                                         \
              (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
               long *pSync))                                                                               \
    SHMEM_API(SHMEM_OLD void, shmem_fcollect##BITS,                                                        \
              (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
               long *pSync))
SHMEM_DECLARE(32, 4)
SHMEM_DECLARE(64, 8)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE_REDUCE(TYPE, NAME, op) \
    SHMEM_API(int, shmem_##NAME##_##op, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce))
#define SHMEM_DECLARE(TYPE, NAME)                \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, and_reduce) \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, or_reduce)  \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, xor_reduce)
SHMEM_REDUCE_BITWISE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#define SHMEM_DECLARE(TYPE, NAME) \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, max_reduce) SHMEM_DECLARE_REDUCE(TYPE, NAME, min_reduce)
SHMEM_REDUCE_COMPARE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#define SHMEM_DECLARE(TYPE, NAME)                 \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, sum_reduce)  \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, prod_reduce) \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, sum_inscan)  \
    SHMEM_DECLARE_REDUCE(TYPE, NAME, sum_exscan)
SHMEM_REDUCE_ARITHMETIC_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#undef SHMEM_DECLARE_REDUCE

#define SHMEM_DECLARE_TO_ALL(TYPE, NAME, op)                                                              \
    SHMEM_API(SHMEM_OLD void, shmem_##NAME##_##op,                                                        \
              (TYPE * dest, const TYPE *source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
               TYPE *pWrk, long *pSync))
#define SHMEM_DECLARE(TYPE, NAME)                \
    SHMEM_DECLARE_TO_ALL(TYPE, NAME, and_to_all) \
    SHMEM_DECLARE_TO_ALL(TYPE, NAME, or_to_all)  \
    SHMEM_DECLARE_TO_ALL(TYPE, NAME, xor_to_all)
SHMEM_TO_ALL_BITWISE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#define SHMEM_DECLARE(TYPE, NAME) \
    SHMEM_DECLARE_TO_ALL(TYPE, NAME, max_to_all) SHMEM_DECLARE_TO_ALL(TYPE, NAME, min_to_all)
SHMEM_TO_ALL_COMPARE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#define SHMEM_DECLARE(TYPE, NAME) \
    SHMEM_DECLARE_TO_ALL(TYPE, NAME, sum_to_all) SHMEM_DECLARE_TO_ALL(TYPE, NAME, prod_to_all)
SHMEM_TO_ALL_ARITHMETIC_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
#undef SHMEM_DECLARE_TO_ALL

/* --- Point-to-point synchronisation --- */
#define SHMEM_DECLARE(TYPE, NAME)                                                                            \
    SHMEM_API(void, shmem_##NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value))                       \
    SHMEM_API(void, shmem_##NAME##_wait_until_all,                                                           \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value))                     \
    SHMEM_API(size_t, shmem_##NAME##_wait_until_any,                                                         \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value))                     \
    SHMEM_API(size_t, shmem_##NAME##_wait_until_some,                                                        \
              (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, TYPE cmp_value))   \
    SHMEM_API(void, shmem_##NAME##_wait_until_all_vector,                                                    \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values))             \
    SHMEM_API(size_t, shmem_##NAME##_wait_until_any_vector,                                                  \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values))             \
    SHMEM_API(                                                                                               \
        size_t, shmem_##NAME##_wait_until_some_vector,                                                       \
        (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const TYPE *cmp_values)) \
    SHMEM_API(int, shmem_##NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value))                              \
    SHMEM_API(int, shmem_##NAME##_test_all,                                                                  \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value))                     \
    SHMEM_API(size_t, shmem_##NAME##_test_any,                                                               \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value))                     \
    SHMEM_API(size_t, shmem_##NAME##_test_some,                                                              \
              (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, TYPE cmp_value))   \
    SHMEM_API(int, shmem_##NAME##_test_all_vector,                                                           \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values))             \
    SHMEM_API(size_t, shmem_##NAME##_test_any_vector,                                                        \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values))             \
    SHMEM_API(                                                                                               \
        size_t, shmem_##NAME##_test_some_vector,                                                             \
        (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const TYPE *cmp_values))
SHMEM_WAIT_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME) \
    SHMEM_API(SHMEM_OLD void, shmem_##NAME##_wait, (TYPE * ivar, TYPE cmp_value))
SHMEM_OLD_WAIT_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE
SHMEM_API(SHMEM_OLD void, shmem_wait_until, (long *ivar, int cmp, long cmp_value))
SHMEM_API(SHMEM_OLD void, shmem_wait, (long *ivar, long cmp_value))
SHMEM_API(uint64_t, shmem_signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))

/* --- Memory ordering --- */
SHMEM_API(void, shmem_fence, (void))
SHMEM_API(void, shmem_ctx_fence, (shmem_ctx_t ctx))
SHMEM_API(void, shmem_quiet, (void))
SHMEM_API(void, shmem_ctx_quiet, (shmem_ctx_t ctx))
SHMEM_API_CTX(void, pe_quiet, const int *target_pes, size_t npes)

/* --- Distributed locking --- */
SHMEM_API(void, shmem_clear_lock, (long *lock))
SHMEM_API(void, shmem_set_lock, (long *lock))
SHMEM_API(int, shmem_test_lock, (long *lock))

/* --- Profiling --- */
SHMEM_API(void, shmem_pcontrol, (int level, ...))

/* --- Names of before OpenSHMEM 1.2 --- */
SHMEM_API(SHMEM_OLD int, _my_pe, (void))
SHMEM_API(SHMEM_OLD int, _num_pes, (void))
SHMEM_API(SHMEM_OLD void *, shmalloc, (size_t size))
SHMEM_API(SHMEM_OLD void, shfree, (void *ptr))
SHMEM_API(SHMEM_OLD void *, shrealloc, (void *ptr, size_t size))
SHMEM_API(SHMEM_OLD void *, shmemalign, (size_t alignment, size_t size))

#undef SHMEM_API_CTX

/* The generic forms in C++: overloads that call the C functions. They come from the same tables of distinct
 * types as the C11 ones, so what one accepts, the other does. */
#ifndef SHMEM_OVERLOAD_H
#define SHMEM_OVERLOAD_H

/* One overload, and one with a context in front. x is the prefix of the C function, op what follows the type
 * in it. */
#define SHMEM_CXX(x, ret, NAME, op, params, args) \
    SHMEM_OLD_CXX inline ret x##op params         \
    {                                             \
        return x##NAME##op args;                  \
    }
#define SHMEM_CXX_CTX(x, ret, NAME, op, params, args)      \
    inline ret x##op(SHMEM_UNWRAP params)                  \
    {                                                      \
        return x##NAME##op(SHMEM_UNWRAP args);             \
    }                                                      \
    inline ret x##op(shmem_ctx_t ctx, SHMEM_UNWRAP params) \
    {                                                      \
        return x##ctx_##NAME##op(ctx, SHMEM_UNWRAP args);  \
    }
#define SHMEM_UNWRAP(...) __VA_ARGS__

/* A user's header may be included inside extern "C". */
extern "C++" {

#define SHMEM_OLD_CXX
/* --- Remote memory access, put with signal, collectives of all types --- */
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                                      \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, put, (TYPE * dest, const TYPE *source, size_t nelems, int pe),     \
                  (dest, source, nelems, pe))                                                               \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, p, (TYPE * dest, TYPE value, int pe), (dest, value, pe))           \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, iput,                                                              \
                  (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),   \
                  (dest, source, dst, sst, nelems, pe))                                                     \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, ibput,                                                             \
                  (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
                   size_t nblocks, int pe),                                                                 \
                  (dest, source, dst, sst, bsize, nblocks, pe))                                             \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, get, (TYPE * dest, const TYPE *source, size_t nelems, int pe),     \
                  (dest, source, nelems, pe))                                                               \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, g, (const TYPE *source, int pe), (source, pe))                     \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, iget,                                                              \
                  (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),   \
                  (dest, source, dst, sst, nelems, pe))                                                     \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, ibget,                                                             \
                  (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,             \
                   size_t nblocks, int pe),                                                                 \
                  (dest, source, dst, sst, bsize, nblocks, pe))                                             \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, put_nbi, (TYPE * dest, const TYPE *source, size_t nelems, int pe), \
                  (dest, source, nelems, pe))                                                               \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, get_nbi, (TYPE * dest, const TYPE *source, size_t nelems, int pe), \
                  (dest, source, nelems, pe))                                                               \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, put_signal,                                                        \
                  (TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,     \
                   int sig_op, int pe),                                                                     \
                  (dest, source, nelems, sig_addr, signal, sig_op, pe))                                     \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, put_signal_nbi,                                                    \
                  (TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,     \
                   int sig_op, int pe),                                                                     \
                  (dest, source, nelems, sig_addr, signal, sig_op, pe))                                     \
    SHMEM_CXX(shmem_, int, NAME##_, alltoall,                                                               \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems),                          \
              (team, dest, source, nelems))                                                                 \
    SHMEM_CXX(                                                                                              \
        shmem_, int, NAME##_, alltoalls,                                                                    \
        (shmem_team_t team, TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems),  \
        (team, dest, source, dst, sst, nelems))                                                             \
    SHMEM_CXX(shmem_, int, NAME##_, broadcast,                                                              \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems, int PE_root),             \
              (team, dest, source, nelems, PE_root))                                                        \
    SHMEM_CXX(shmem_, int, NAME##_, collect,                                                                \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems),                          \
              (team, dest, source, nelems))                                                                 \
    SHMEM_CXX(shmem_, int, NAME##_, fcollect,                                                               \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems),                          \
              (team, dest, source, nelems))                                                                 \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, max_reduce)                                                     \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, min_reduce)
#define SHMEM_CXX_REDUCE(x, TYPE, NAME, op)                                                           \
    SHMEM_CXX(x, int, NAME, op, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce), \
              (team, dest, source, nreduce))
SHMEM_DISTINCT_RMA_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

/* --- Atomic memory operations --- */
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                                      \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, atomic_fetch, (const TYPE *source, int pe), (source, pe))          \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_set, (TYPE * dest, TYPE value, int pe), (dest, value, pe))  \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, atomic_swap, (TYPE * dest, TYPE value, int pe), (dest, value, pe)) \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_fetch_nbi, (TYPE * fetch, const TYPE *source, int pe),      \
                  (fetch, source, pe))                                                                      \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_swap_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe),  \
                  (fetch, dest, value, pe))
SHMEM_DISTINCT_AMO_EXTENDED_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                                      \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, atomic_compare_swap, (TYPE * dest, TYPE cond, TYPE value, int pe), \
                  (dest, cond, value, pe))                                                                  \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, atomic_fetch_inc, (TYPE * dest, int pe), (dest, pe))               \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_inc, (TYPE * dest, int pe), (dest, pe))                     \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME##_, atomic_fetch_add, (TYPE * dest, TYPE value, int pe),               \
                  (dest, value, pe))                                                                        \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_add, (TYPE * dest, TYPE value, int pe), (dest, value, pe))  \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_compare_swap_nbi,                                           \
                  (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe),                               \
                  (fetch, dest, cond, value, pe))                                                           \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_fetch_inc_nbi, (TYPE * fetch, TYPE * dest, int pe),         \
                  (fetch, dest, pe))                                                                        \
    SHMEM_CXX_CTX(shmem_, void, NAME##_, atomic_fetch_add_nbi,                                              \
                  (TYPE * fetch, TYPE * dest, TYPE value, int pe), (fetch, dest, value, pe))
SHMEM_DISTINCT_AMO_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

#define SHMEM_DEFINE_BITWISE(TYPE, NAME, fetching, silent, fetching_nbi)                              \
    SHMEM_CXX_CTX(shmem_, TYPE, NAME, fetching, (TYPE * dest, TYPE value, int pe), (dest, value, pe)) \
    SHMEM_CXX_CTX(shmem_, void, NAME, silent, (TYPE * dest, TYPE value, int pe), (dest, value, pe))   \
    SHMEM_CXX_CTX(shmem_, void, NAME, fetching_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe),  \
                  (fetch, dest, value, pe))
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                      \
    SHMEM_DEFINE_BITWISE(TYPE, NAME##_, atomic_fetch_and, atomic_and, atomic_fetch_and_nbi) \
    SHMEM_DEFINE_BITWISE(TYPE, NAME##_, atomic_fetch_or, atomic_or, atomic_fetch_or_nbi)    \
    SHMEM_DEFINE_BITWISE(TYPE, NAME##_, atomic_fetch_xor, atomic_xor, atomic_fetch_xor_nbi)
SHMEM_DISTINCT_AMO_BITWISE_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
#undef SHMEM_DEFINE_BITWISE

/* --- Reductions and scans --- */
#define SHMEM_DEFINE(TYPE, NAME, a, z)                  \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, and_reduce) \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, or_reduce)  \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, xor_reduce)
SHMEM_DISTINCT_REDUCE_BITWISE_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
#define SHMEM_DEFINE(TYPE, NAME, a, z)                   \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, sum_reduce)  \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, prod_reduce) \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, sum_inscan)  \
    SHMEM_CXX_REDUCE(shmem_, TYPE, NAME##_, sum_exscan)
SHMEM_DISTINCT_REDUCE_ARITHMETIC_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

/* std::complex<float> and <double> have the layout of C's complex types. <complex> is not included for that:
 * any class with the value type float or double, real() and imag(), and room for two values is taken for one.
 */
template <class V, size_t size> struct shmem_complex_of;
template <> struct shmem_complex_of<float, 2 * sizeof(float)> {
    typedef shmem_complexf_t type;
};
template <> struct shmem_complex_of<double, 2 * sizeof(double)> {
    typedef shmem_complexd_t type;
};
#define SHMEM_COMPLEX_OF(Z) typename shmem_complex_of<typename Z::value_type, sizeof(Z)>::type
#define SHMEM_CXX_COMPLEX(op)                                                                           \
    template <class Z>                                                                                  \
    inline auto op(shmem_team_t team, Z *dest, const Z *source, size_t nreduce)                         \
        ->decltype((void)source->real(), (void)source->imag(),                                          \
                   op(team, (SHMEM_COMPLEX_OF(Z) *)dest, (const SHMEM_COMPLEX_OF(Z) *)source, nreduce)) \
    {                                                                                                   \
        return op(team, (SHMEM_COMPLEX_OF(Z) *)dest, (const SHMEM_COMPLEX_OF(Z) *)source, nreduce);     \
    }
SHMEM_CXX_COMPLEX(shmem_sum_reduce)
SHMEM_CXX_COMPLEX(shmem_prod_reduce)
SHMEM_CXX_COMPLEX(shmem_sum_inscan)
SHMEM_CXX_COMPLEX(shmem_sum_exscan)

/* --- Signals, pairwise and team synchronisation --- */
inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}
inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}
inline int shmem_sync(shmem_team_t team)
{
    return shmem_team_sync(team);
}
#define SHMEM_DEFINE(TYPE, NAME, a, z)               \
    inline int shmem_sync(TYPE pe)                   \
    {                                                \
        return shmemx_sync_pe(static_cast<int>(pe)); \
    }
SHMEM_DISTINCT_INTEGER_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

/* --- Point-to-point synchronisation. wait_until on long is the C function of that name. --- */
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                                       \
    SHMEM_CXX(shmem_, void, NAME##_, wait_until_all,                                                         \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value),                     \
              (ivars, nelems, status, cmp, cmp_value))                                                       \
    SHMEM_CXX(shmem_, size_t, NAME##_, wait_until_any,                                                       \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value),                     \
              (ivars, nelems, status, cmp, cmp_value))                                                       \
    SHMEM_CXX(shmem_, size_t, NAME##_, wait_until_some,                                                      \
              (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, TYPE cmp_value),   \
              (ivars, nelems, indices, status, cmp, cmp_value))                                              \
    SHMEM_CXX(shmem_, void, NAME##_, wait_until_all_vector,                                                  \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values),             \
              (ivars, nelems, status, cmp, cmp_values))                                                      \
    SHMEM_CXX(shmem_, size_t, NAME##_, wait_until_any_vector,                                                \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values),             \
              (ivars, nelems, status, cmp, cmp_values))                                                      \
    SHMEM_CXX(                                                                                               \
        shmem_, size_t, NAME##_, wait_until_some_vector,                                                     \
        (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const TYPE *cmp_values), \
        (ivars, nelems, indices, status, cmp, cmp_values))                                                   \
    SHMEM_CXX(shmem_, int, NAME##_, test, (TYPE * ivar, int cmp, TYPE cmp_value), (ivar, cmp, cmp_value))    \
    SHMEM_CXX(shmem_, int, NAME##_, test_all,                                                                \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value),                     \
              (ivars, nelems, status, cmp, cmp_value))                                                       \
    SHMEM_CXX(shmem_, size_t, NAME##_, test_any,                                                             \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value),                     \
              (ivars, nelems, status, cmp, cmp_value))                                                       \
    SHMEM_CXX(shmem_, size_t, NAME##_, test_some,                                                            \
              (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, TYPE cmp_value),   \
              (ivars, nelems, indices, status, cmp, cmp_value))                                              \
    SHMEM_CXX(shmem_, int, NAME##_, test_all_vector,                                                         \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values),             \
              (ivars, nelems, status, cmp, cmp_values))                                                      \
    SHMEM_CXX(shmem_, size_t, NAME##_, test_any_vector,                                                      \
              (TYPE * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values),             \
              (ivars, nelems, status, cmp, cmp_values))                                                      \
    SHMEM_CXX(                                                                                               \
        shmem_, size_t, NAME##_, test_some_vector,                                                           \
        (TYPE * ivars, size_t nelems, size_t * indices, const int *status, int cmp, const TYPE *cmp_values), \
        (ivars, nelems, indices, status, cmp, cmp_values))
SHMEM_DISTINCT_WAIT_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

/* The overload that takes long is the C function itself, so the call of the table's `long` row is not written
 * again. */
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                   \
    SHMEM_CXX(shmem_, void, NAME##_, wait_until, (TYPE * ivar, int cmp, TYPE cmp_value), \
              (ivar, cmp, cmp_value))
SHMEM_DISTINCT_WAIT_BUT_LONG_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
#undef SHMEM_OLD_CXX

/* --- The atomics of before 1.4: calling the C ones from here is not what the program is to be warned of ---
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define SHMEM_OLD_CXX SHMEM_OLD
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                          \
    SHMEM_CXX(shmem_, TYPE, NAME##_, fetch, (const TYPE *source, int pe), (source, pe))         \
    SHMEM_CXX(shmem_, void, NAME##_, set, (TYPE * dest, TYPE value, int pe), (dest, value, pe)) \
    SHMEM_CXX(shmem_, TYPE, NAME##_, swap, (TYPE * dest, TYPE value, int pe), (dest, value, pe))
SHMEM_DISTINCT_OLD_AMO_EXTENDED_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                           \
    SHMEM_CXX(shmem_, TYPE, NAME##_, cswap, (TYPE * dest, TYPE cond, TYPE value, int pe),        \
              (dest, cond, value, pe))                                                           \
    SHMEM_CXX(shmem_, TYPE, NAME##_, finc, (TYPE * dest, int pe), (dest, pe))                    \
    SHMEM_CXX(shmem_, void, NAME##_, inc, (TYPE * dest, int pe), (dest, pe))                     \
    SHMEM_CXX(shmem_, TYPE, NAME##_, fadd, (TYPE * dest, TYPE value, int pe), (dest, value, pe)) \
    SHMEM_CXX(shmem_, void, NAME##_, add, (TYPE * dest, TYPE value, int pe), (dest, value, pe))
SHMEM_DISTINCT_OLD_AMO_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
#undef SHMEM_OLD_CXX
#pragma GCC diagnostic pop
}

#endif

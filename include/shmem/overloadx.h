/* The generic forms of shmemx.h in C++: see shmem/overload.h. */
#ifndef SHMEM_OVERLOADX_H
#define SHMEM_OVERLOADX_H

extern "C++" {

#define SHMEM_OLD_CXX
#define SHMEM_CXX_INDEXED(TYPE, NAME, op)                                                          \
    SHMEM_CXX_CTX(shmemx_, void, NAME, op,                                                         \
                  (TYPE * dest, const TYPE *source, const size_t *index, const int *pe, size_t n), \
                  (dest, source, index, pe, n))
#define SHMEM_CXX_BLOCKS(TYPE, NAME, op)                                                        \
    SHMEM_CXX_CTX(shmemx_, void, NAME, op,                                                      \
                  (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                   size_t nblocks, int pe),                                                     \
                  (dest, source, dst, sst, bsize, nblocks, pe))

#define SHMEM_DEFINE(TYPE, NAME, a, z)            \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, gather)      \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, gather_nbi)  \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, scatter)     \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, scatter_nbi) \
    SHMEM_CXX_BLOCKS(TYPE, NAME##_, ibput)        \
    SHMEM_CXX_BLOCKS(TYPE, NAME##_, ibget)
SHMEM_DISTINCT_RMA_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

#define SHMEM_DEFINE(TYPE, NAME, a, z)            \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, scatter_add) \
    SHMEM_CXX_INDEXED(TYPE, NAME##_, scatter_add_nbi)
SHMEM_DISTINCT_ACCUMULATE_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE

/* Without a team: the world. */
#define SHMEM_CXX_SCAN(TYPE, NAME, op)                                    \
    SHMEM_CXX_REDUCE(shmemx_, TYPE, NAME, op)                             \
    inline int shmemx_##op(TYPE *dest, const TYPE *source, size_t nelems) \
    {                                                                     \
        return shmemx_##NAME##op(SHMEM_TEAM_WORLD, dest, source, nelems); \
    }
#define SHMEM_DEFINE(TYPE, NAME, a, z)        \
    SHMEM_CXX_SCAN(TYPE, NAME##_, sum_inscan) \
    SHMEM_CXX_SCAN(TYPE, NAME##_, sum_exscan)
SHMEM_DISTINCT_REDUCE_ARITHMETIC_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
SHMEM_CXX_COMPLEX(shmemx_sum_inscan)
SHMEM_CXX_COMPLEX(shmemx_sum_exscan)

#define SHMEM_DEFINE(TYPE, NAME, a, z)                                                                   \
    SHMEM_CXX(shmemx_, int, NAME##_, sum_reduce_on_stream,                                               \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce, void *stream),        \
              (team, dest, source, nreduce, stream))
SHMEM_DISTINCT_REDUCE_ARITHMETIC_TYPES(SHMEM_DEFINE, , )
#undef SHMEM_DEFINE
template <class Z>
inline auto shmemx_sum_reduce_on_stream(shmem_team_t team, Z *dest, const Z *source, size_t nreduce, void *stream)
    ->decltype((void)source->real(), (void)source->imag(),
               shmemx_sum_reduce_on_stream(team, (SHMEM_COMPLEX_OF(Z) *)dest,
                                           (const SHMEM_COMPLEX_OF(Z) *)source, nreduce, stream))
{
    return shmemx_sum_reduce_on_stream(team, (SHMEM_COMPLEX_OF(Z) *)dest, (const SHMEM_COMPLEX_OF(Z) *)source,
                                       nreduce, stream);
}
#undef SHMEM_OLD_CXX

inline void shmemx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    shmemx_ctx_signal_add(ctx, sig_addr, signal, pe);
}
inline void shmemx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    shmemx_ctx_signal_set(ctx, sig_addr, signal, pe);
}
}

#endif

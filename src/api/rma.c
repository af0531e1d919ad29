/* Remote memory access. The non-blocking forms say so to the floor below: on mapped memory there is no difference. */
#include "core/rma.h"
#include "api/api.h"

#define PUT(TYPE, NAME, stem, NBI)                                                                    \
    HM_API_BOTH(shmem, void, NAME##_##stem, (TYPE * dest, const TYPE *source, size_t nelems, int pe), \
                hm_put(c, dest, source, hm_bytes(nelems, sizeof(TYPE)), pe, NBI, call);)
#define GET(TYPE, NAME, stem, NBI)                                                                    \
    HM_API_BOTH(shmem, void, NAME##_##stem, (TYPE * dest, const TYPE *source, size_t nelems, int pe), \
                hm_get(c, dest, source, hm_bytes(nelems, sizeof(TYPE)), pe, NBI, call);)
#define P(TYPE, NAME)                                                     \
    HM_API_BOTH(shmem, void, NAME##_p, (TYPE * dest, TYPE value, int pe), \
                hm_p(c, dest, &value, sizeof value, pe, call);)
#define G(TYPE, NAME)                                                            \
    HM_API_BOTH(shmem, TYPE, NAME##_g, (const TYPE *source, int pe), TYPE value; \
                hm_g(c, &value, source, sizeof value, pe, call); return value;)
#define IPUT(TYPE, NAME)                                                                                \
    HM_API_BOTH(shmem, void, NAME##_iput,                                                               \
                (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
                hm_iput(c, dest, source, dst, sst, 1, nelems, sizeof(TYPE), pe, call);)
#define IGET(TYPE, NAME)                                                                                \
    HM_API_BOTH(shmem, void, NAME##_iget,                                                               \
                (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
                hm_iget(c, dest, source, dst, sst, 1, nelems, sizeof(TYPE), pe, call);)
#define IBPUT(TYPE, NAME)                                                                     \
    HM_API_BOTH(shmem, void, NAME##_ibput,                                                    \
                (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                 size_t nblocks, int pe),                                                     \
                hm_iput(c, dest, source, dst, sst, bsize, nblocks, sizeof(TYPE), pe, call);)
#define IBGET(TYPE, NAME)                                                                     \
    HM_API_BOTH(shmem, void, NAME##_ibget,                                                    \
                (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                 size_t nblocks, int pe),                                                     \
                hm_iget(c, dest, source, dst, sst, bsize, nblocks, sizeof(TYPE), pe, call);)
#define TYPED(TYPE, NAME)          \
    PUT(TYPE, NAME, put, false)    \
    PUT(TYPE, NAME, put_nbi, true) \
    GET(TYPE, NAME, get, false)    \
    GET(TYPE, NAME, get_nbi, true) \
    P(TYPE, NAME)                  \
    G(TYPE, NAME)                  \
    IPUT(TYPE, NAME)               \
    IGET(TYPE, NAME)               \
    IBPUT(TYPE, NAME)              \
    IBGET(TYPE, NAME)
SHMEM_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                                                   \
    HM_API_BOTH(shmem, void, put##BITS, (void *dest, const void *source, size_t nelems, int pe),             \
                hm_put(c, dest, source, hm_bytes(nelems, BYTES), pe, false, call);)                          \
    HM_API_BOTH(shmem, void, put##BITS##_nbi, (void *dest, const void *source, size_t nelems, int pe),       \
                hm_put(c, dest, source, hm_bytes(nelems, BYTES), pe, true, call);)                           \
    HM_API_BOTH(shmem, void, get##BITS, (void *dest, const void *source, size_t nelems, int pe),             \
                hm_get(c, dest, source, hm_bytes(nelems, BYTES), pe, false, call);)                          \
    HM_API_BOTH(shmem, void, get##BITS##_nbi, (void *dest, const void *source, size_t nelems, int pe),       \
                hm_get(c, dest, source, hm_bytes(nelems, BYTES), pe, true, call);)                           \
    HM_API_BOTH(shmem, void, iput##BITS,                                                                     \
                (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),       \
                hm_iput(c, dest, source, dst, sst, 1, nelems, BYTES, pe, call);)                             \
    HM_API_BOTH(shmem, void, iget##BITS,                                                                     \
                (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),       \
                hm_iget(c, dest, source, dst, sst, 1, nelems, BYTES, pe, call);)                             \
    HM_API_BOTH(shmem, void, ibput##BITS,                                                                    \
                (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, \
                 int pe),                                                                                    \
                hm_iput(c, dest, source, dst, sst, bsize, nblocks, BYTES, pe, call);)                        \
    HM_API_BOTH(shmem, void, ibget##BITS,                                                                    \
                (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, \
                 int pe),                                                                                    \
                hm_iget(c, dest, source, dst, sst, bsize, nblocks, BYTES, pe, call);)
SHMEM_SIZES(SIZED)

HM_API_BOTH(shmem, void, putmem, (void *dest, const void *source, size_t nelems, int pe),
            hm_put(c, dest, source, nelems, pe, false, call);)
HM_API_BOTH(shmem, void, putmem_nbi, (void *dest, const void *source, size_t nelems, int pe),
            hm_put(c, dest, source, nelems, pe, true, call);)
HM_API_BOTH(shmem, void, getmem, (void *dest, const void *source, size_t nelems, int pe),
            hm_get(c, dest, source, nelems, pe, false, call);)
HM_API_BOTH(shmem, void, getmem_nbi, (void *dest, const void *source, size_t nelems, int pe),
            hm_get(c, dest, source, nelems, pe, true, call);)

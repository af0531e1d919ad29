/* Signaling operations. */
#include "api/api.h"
#include "core/rma.h"
#include "core/wait.h"

#define PUT_SIGNAL(TYPE, NAME, stem, NBI)                                                                    \
    HM_API_BOTH(shmem, void, NAME##_##stem,                                                                  \
                (TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,        \
                 int sig_op, int pe),                                                                        \
                hm_put_signal(c, dest, source, hm_bytes(nelems, sizeof(TYPE)), sig_addr, signal, sig_op, pe, \
                              NBI, call);)
#define TYPED(TYPE, NAME) \
    PUT_SIGNAL(TYPE, NAME, put_signal, false) PUT_SIGNAL(TYPE, NAME, put_signal_nbi, true)
SHMEM_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                                                   \
    HM_API_BOTH(                                                                                             \
        shmem, void, put##BITS##_signal,                                                                     \
        (void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,     \
         int pe),                                                                                            \
        hm_put_signal(c, dest, source, hm_bytes(nelems, BYTES), sig_addr, signal, sig_op, pe, false, call);) \
    HM_API_BOTH(                                                                                             \
        shmem, void, put##BITS##_signal_nbi,                                                                 \
        (void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,     \
         int pe),                                                                                            \
        hm_put_signal(c, dest, source, hm_bytes(nelems, BYTES), sig_addr, signal, sig_op, pe, true, call);)
SHMEM_SIZES(SIZED)

HM_API_BOTH(shmem, void, putmem_signal,
            (void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
             int pe),
            hm_put_signal(c, dest, source, nelems, sig_addr, signal, sig_op, pe, false, call);)
HM_API_BOTH(shmem, void, putmem_signal_nbi,
            (void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
             int pe),
            hm_put_signal(c, dest, source, nelems, sig_addr, signal, sig_op, pe, true, call);)

HM_API_BOTH(shmem, void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe),
            hm_signal(c, sig_addr, signal, SHMEM_SIGNAL_ADD, pe, call);)
HM_API_BOTH(shmem, void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe),
            hm_signal(c, sig_addr, signal, SHMEM_SIGNAL_SET, pe, call);)

HM_API(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr))
{
    hm_world_need("shmem_signal_fetch");
    return (uint64_t)hm_word_fetch(sig_addr, HM_WORD_U64, "shmem_signal_fetch");
}

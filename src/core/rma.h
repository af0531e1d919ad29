/* Put and get: the only ones of the library. Typed, sized, mem, ctx, signal forms and collectives arrive here. */
#ifndef HM_RMA_H
#define HM_RMA_H

#include <string.h>

#include "base/base.h"
#include "core/ctx.h"
#include "core/move.h"
#include "core/symm.h"
#include "core/wait.h"

/* The cold halves: empty transfers, checks, other ways than mapped memory. */
HM_COLD void hm_put_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                         const char *call);
HM_COLD void hm_get_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                         const char *call);

/* `nbi` is constant at every call; on mapped memory a transfer is done when it returns, either way. */
HM_INLINE void hm_put(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                      const char *call)
{
    const struct hm_peer *peer;
    char *to = hm_symm_map(dest, bytes, pe, &peer);
    if (hm_likely(to != NULL)) {
        hm_move_out(to, source, bytes);
        hm_bell_look(peer->bell, dest, bytes);
    } else {
        hm_put_slow(ctx, dest, source, bytes, pe, nbi, call);
    }
}

HM_INLINE void hm_get(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                      const char *call)
{
    const struct hm_peer *peer;
    const char *from = hm_symm_map(source, bytes, pe, &peer);
    if (hm_likely(from != NULL))
        hm_move_in(dest, from, bytes);
    else
        hm_get_slow(ctx, dest, source, bytes, pe, nbi, call);
}

/* The same for one element of up to 8 bytes, by value: the good path then needs no memory of its own. */
HM_COLD void hm_p_slow(struct hm_ctx *ctx, void *dest, uint64_t word, size_t size, int pe, const char *call);
HM_COLD uint64_t hm_g_slow(struct hm_ctx *ctx, const void *source, size_t size, int pe, const char *call);

/* One element of constant size: a single load or store where the machine has one. `value` points to a local copy. */
HM_INLINE void hm_p_here(char *to, const void *value, size_t size, struct hm_bell *bell, void *dest)
{
    switch (size) {
    case 1: *(volatile uint8_t *)to = *(const uint8_t *)value; break;
    case 2: { uint16_t v; memcpy(&v, value, 2); *(volatile uint16_t *)to = v; break; }
    case 4: { uint32_t v; memcpy(&v, value, 4); *(volatile uint32_t *)to = v; break; }
    case 8: { uint64_t v; memcpy(&v, value, 8); *(volatile uint64_t *)to = v; break; }
    default: memcpy(to, value, size);
    }
    hm_bell_look(bell, dest, size);
}

HM_INLINE void hm_p(struct hm_ctx *ctx, void *dest, const void *value, size_t size, int pe, const char *call)
{
    if (hm_symm_has(pe)) {
        const struct hm_peer *peer = &hm_symm.peer[pe];
        char *to;
        if (hm_likely((to = hm_symm_in_heap(dest, size, peer)) != NULL)) {
            hm_p_here(to, value, size, peer->bell, dest);
            return;
        }
        if (hm_likely((to = hm_symm_in_data(dest, size, peer)) != NULL)) {
            hm_p_here(to, value, size, peer->bell, dest);
            return;
        }
    }
    if (size <= sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, value, size);
        hm_p_slow(ctx, dest, word, size, pe, call);
    } else {
        hm_put_slow(ctx, dest, value, size, pe, false, call);
    }
}

HM_INLINE void hm_g(struct hm_ctx *ctx, void *value, const void *source, size_t size, int pe, const char *call)
{
    const struct hm_peer *peer;
    const char *from = hm_symm_map(source, size, pe, &peer);
    if (hm_likely(from != NULL)) {
        switch (size) {
        case 1: *(uint8_t *)value = *(const volatile uint8_t *)from; break;
        case 2: { uint16_t v = *(const volatile uint16_t *)from; memcpy(value, &v, 2); break; }
        case 4: { uint32_t v = *(const volatile uint32_t *)from; memcpy(value, &v, 4); break; }
        case 8: { uint64_t v = *(const volatile uint64_t *)from; memcpy(value, &v, 8); break; }
        default: memcpy(value, from, size);
        }
    } else if (size <= sizeof(uint64_t)) {
        uint64_t word = hm_g_slow(ctx, source, size, pe, call);
        memcpy(value, &word, size);
    } else {
        hm_get_slow(ctx, value, source, size, pe, false, call);
    }
}

/* Strided: `size` is bytes of an element; dst, sst in elements; blocks of `block` elements, nblocks of them (iput: block
 * 1). Strides count from block start to block start and must be >= block: checked. */
void hm_iput(struct hm_ctx *ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block,
             size_t nblocks, size_t size, int pe, const char *call);
void hm_iget(struct hm_ctx *ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block,
             size_t nblocks, size_t size, int pe, const char *call);

/* Put with signal: the data, then (ordered behind it) the signal. sig_op 0 set, 1 add. */
void hm_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                   uint64_t signal, int sig_op, int pe, bool nbi, const char *call);
/* Ends the job with a sentence where a signal cannot be given so. */
void hm_signal_check(uint64_t *sig_addr, int sig_op, int pe, const char *call);
void hm_signal(struct hm_ctx *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, const char *call);

/* Indexed: element i of `dest` (private or symmetric, contiguous) is element index[i] of `source` on PE pe[i] (world or
 * context numbers), i < n; `size` bytes each. scatter is the reverse: element index[i] of dest on pe[i] is source[i]. */
void hm_gather(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
               size_t size, const char *call);
void hm_scatter(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
                size_t size, const char *call);
enum hm_add { HM_ADD_U32, HM_ADD_U64, HM_ADD_F32, HM_ADD_F64 };
void hm_scatter_add(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
                    enum hm_add type, const char *call);

#endif

/* Atomics on symmetric words: CPU atomics on mapped memory, a transport's elsewhere. `size` is 4 or 8 and constant at every call; values travel
 * in the low bytes of a uint64_t (floats as their bits). */
#ifndef HM_AMO_H
#define HM_AMO_H

#include <string.h>

#include "base/base.h"
#include "core/ctx.h"
#include "core/symm.h"
#include "core/wait.h"
#include "transport/transport.h" /* enum hm_amo */

HM_COLD uint64_t hm_amo_slow(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                             int pe, const char *call);

/* The word is not mapped here: on another machine, or in a device heap. */
HM_COLD uint64_t hm_amo_unmapped(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                                 int pe, const char *call);

/* What hm_amo calls off the good path: with arguments that all fit in registers, and a value that comes back, the good
 * path needs no stack. */
#define HM_AMO_WHAT(op, size, pe) ((uint64_t)(op) | (uint64_t)(size) << 8 | (uint64_t)(uint32_t)(pe) << 32)
HM_COLD uint64_t hm_amo_cold(struct hm_ctx *ctx, uint64_t what, void *addr, uint64_t value, uint64_t cond,
                             const char *call);
/* Rings the bell for a change of addr and returns old. */
HM_COLD uint64_t hm_amo_ring(struct hm_bell *bell, const void *addr, size_t size, uint64_t old);

#define HM_AMO_DO(T, U)                                                                                                \
    switch (op) {                                                                                                      \
    case HM_AMO_FETCH: return __atomic_load_n((T *)at, __ATOMIC_SEQ_CST);                                              \
    case HM_AMO_SET: __atomic_store_n((T *)at, (T)value, __ATOMIC_RELEASE); return 0;                                  \
    case HM_AMO_SWAP: return __atomic_exchange_n((T *)at, (T)value, __ATOMIC_SEQ_CST);                                 \
    case HM_AMO_CAS: {                                                                                                 \
        T old = (T)cond;                                                                                               \
        __atomic_compare_exchange_n((T *)at, &old, (T)value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
        return old;                                                                                                    \
    }                                                                                                                  \
    case HM_AMO_FETCH_ADD: return __atomic_fetch_add((T *)at, (T)value, __ATOMIC_SEQ_CST);                             \
    case HM_AMO_ADD: __atomic_fetch_add((T *)at, (T)value, __ATOMIC_SEQ_CST); return 0;                                \
    case HM_AMO_FETCH_AND: return __atomic_fetch_and((T *)at, (T)value, __ATOMIC_SEQ_CST);                             \
    case HM_AMO_AND: __atomic_fetch_and((T *)at, (T)value, __ATOMIC_SEQ_CST); return 0;                                \
    case HM_AMO_FETCH_OR: return __atomic_fetch_or((T *)at, (T)value, __ATOMIC_SEQ_CST);                               \
    case HM_AMO_OR: __atomic_fetch_or((T *)at, (T)value, __ATOMIC_SEQ_CST); return 0;                                  \
    case HM_AMO_FETCH_XOR: return __atomic_fetch_xor((T *)at, (T)value, __ATOMIC_SEQ_CST);                             \
    case HM_AMO_XOR: __atomic_fetch_xor((T *)at, (T)value, __ATOMIC_SEQ_CST); return 0;                                \
    }

HM_INLINE uint64_t hm_amo_do32(enum hm_amo op, void *at, uint64_t value, uint64_t cond)
{
    HM_AMO_DO(uint32_t, )
    return 0;
}

HM_INLINE uint64_t hm_amo_do64(enum hm_amo op, void *at, uint64_t value, uint64_t cond)
{
    HM_AMO_DO(uint64_t, )
    return 0;
}
#undef HM_AMO_DO

/* There is no atomic add of floats: the sum is formed here and put in place if nobody was quicker. */
#define HM_AMO_ADD_FLOAT(name, T, U)                                                                                   \
    HM_INLINE void name(void *at, uint64_t value)                                                                      \
    {                                                                                                                  \
        U *word = at, old = __atomic_load_n(word, __ATOMIC_RELAXED), bits = (U)value;                                  \
        T sum, more;                                                                                                   \
        memcpy(&more, &bits, sizeof more);                                                                             \
        do {                                                                                                           \
            memcpy(&sum, &old, sizeof sum);                                                                            \
            sum += more;                                                                                               \
            memcpy(&bits, &sum, sizeof bits);                                                                          \
        } while (!__atomic_compare_exchange_n(word, &old, bits, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));            \
    }
HM_AMO_ADD_FLOAT(hm_amo_add_f32, float, uint32_t)
HM_AMO_ADD_FLOAT(hm_amo_add_f64, double, uint64_t)

HM_INLINE uint64_t hm_amo_here(enum hm_amo op, char *at, uint64_t value, uint64_t cond, size_t size, struct hm_bell *bell,
                               void *addr)
{
    uint64_t old = size == 8 ? hm_amo_do64(op, at, value, cond) : hm_amo_do32(op, at, value, cond);
    if (op == HM_AMO_FETCH) return old;
    __asm__ volatile("" ::: "memory"); /* as in hm_bell_look */
    if (hm_unlikely(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED))) return hm_amo_ring(bell, addr, size, old);
    return old;
}

HM_INLINE uint64_t hm_amo(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                          int pe, const char *call)
{
    if (hm_symm_has(pe) && hm_likely(((uintptr_t)addr & (size - 1)) == 0)) {
        const struct hm_peer *peer = &hm_symm.peer[pe];
        char *at;
        if (hm_likely((at = hm_symm_in_heap(addr, size, peer)) != NULL))
            return hm_amo_here(op, at, value, cond, size, peer->bell, addr);
        if (hm_likely((at = hm_symm_in_data(addr, size, peer)) != NULL))
            return hm_amo_here(op, at, value, cond, size, peer->bell, addr);
    }
    return hm_amo_cold(ctx, HM_AMO_WHAT(op, size, pe), addr, value, cond, call);
}

/* The same without waiting for the value, which is in `fetch` behind a quiet; on mapped memory at once. */
HM_COLD void hm_amo_nbi_slow(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                             int pe, const char *call, void *fetch);
HM_INLINE void hm_amo_nbi(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                          int pe, const char *call, void *fetch)
{
    const struct hm_peer *peer;
    char *at = hm_symm_map(addr, size, pe, &peer);
    if (hm_unlikely(at == NULL || ((uintptr_t)addr & (size - 1)) != 0)) {
        hm_amo_nbi_slow(ctx, op, addr, value, cond, size, pe, call, fetch);
        return;
    }
    uint64_t old = size == 8 ? hm_amo_do64(op, at, value, cond) : hm_amo_do32(op, at, value, cond);
    memcpy(fetch, &old, size);
    if (op != HM_AMO_FETCH) hm_bell_look(peer->bell, addr, size);
}

#endif

/* The cold halves of p and g, where the value sits in the first `size` bytes of the word, and of atomics. */
#include "core/amo.h"
#include "core/rma.h"

void hm_p_slow(struct hm_ctx *ctx, void *dest, uint64_t word, size_t size, int pe, const char *call)
{
    hm_put_slow(ctx, dest, &word, size, pe, false, call);
}

uint64_t hm_g_slow(struct hm_ctx *ctx, const void *source, size_t size, int pe, const char *call)
{
    uint64_t word = 0;
    hm_get_slow(ctx, &word, source, size, pe, false, call);
    return word;
}

uint64_t hm_amo_cold(struct hm_ctx *ctx, uint64_t what, void *addr, uint64_t value, uint64_t cond, const char *call)
{
    return hm_amo_slow(ctx, (enum hm_amo)(what & 0xff), addr, value, cond, what >> 8 & 0xff, (int)(what >> 32), call);
}

uint64_t hm_amo_ring(struct hm_bell *bell, const void *addr, size_t size, uint64_t old)
{
    hm_bell_ring_for(bell, addr, size);
    return old;
}

/* The cold halves of p and g. The value sits in the first `size` bytes of the word. */
#include "core/rma.h"

void hm_p_slow(struct hm_ctx *ctx, void *dest, uint64_t word, size_t size, int pe, const char *call)
{
    hm_put_slow(ctx, dest, &word, size, pe, call);
}

uint64_t hm_g_slow(struct hm_ctx *ctx, const void *source, size_t size, int pe, const char *call)
{
    uint64_t word = 0;
    hm_get_slow(ctx, &word, source, size, pe, call);
    return word;
}

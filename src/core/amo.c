#include "core/amo.h"

#include "base/log.h"
#include "core/far.h"
#include "core/world.h"

static bool gives_value(enum hm_amo op)
{
    return op == HM_AMO_FETCH || op == HM_AMO_SWAP || op == HM_AMO_CAS || op == HM_AMO_FETCH_ADD ||
           op == HM_AMO_FETCH_AND || op == HM_AMO_FETCH_OR || op == HM_AMO_FETCH_XOR;
}

uint64_t hm_amo_slow(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size, int pe,
                     const char *call)
{
    const struct hm_peer *peer;
    const char *arg = op == HM_AMO_FETCH ? "source" : "dest";
    char *at = hm_symm_find(addr, size, pe, &peer, call, arg); /* hm_symm_map has been asked */
    if ((uintptr_t)addr & (size - 1))
        hm_die(call, "%s: %p is not aligned to the %zu bytes of its type; atomics need that", arg, addr, size);
    hm_ctx_count(gives_value(op) ? &ctx->reads : &ctx->writes, 1);
    if (!at) return hm_far_amo(ctx, op, addr, value, cond, size, pe);
    uint64_t old = size == 8 ? hm_amo_do64(op, at, value, cond) : hm_amo_do32(op, at, value, cond);
    if (op != HM_AMO_FETCH) hm_bell_look(peer->bell, addr, size);
    return old;
}

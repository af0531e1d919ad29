#include "core/amo.h"

#include "base/log.h"
#include "core/agent.h"
#include "core/device.h"
#include "core/far.h"
#include "core/world.h"

/* What the good path has not looked at. The word where it is mapped, NULL: far. */
static char *find(struct hm_ctx *ctx, enum hm_amo op, void *addr, size_t size, int pe, const struct hm_peer **peer,
                  const char *call)
{
    const char *arg = op == HM_AMO_FETCH ? "source" : "dest";
    char *at = hm_symm_find(addr, size, pe, peer, call, arg); /* hm_symm_map has been asked */
    if ((uintptr_t)addr & (size - 1))
        hm_die(call, "%s: %p is not aligned to the %zu bytes of its type; atomics need that", arg, addr, size);
    hm_ctx_count(hm_amo_is_silent(op) ? &ctx->writes : &ctx->reads, 1);
    return at;
}

uint64_t hm_amo_unmapped(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size, int pe,
                         const char *call)
{
    if (hm_device_holds(addr, 1)) return hm_agent_amo(ctx, op, hm_device_offset(addr), value, cond, size, pe, call);
    return hm_far_amo(ctx, op, addr, value, cond, size, pe);
}

static uint64_t do_mapped(enum hm_amo op, void *addr, char *at, const struct hm_peer *peer, uint64_t value, uint64_t cond,
                          size_t size)
{
    uint64_t old = size == 8 ? hm_amo_do64(op, at, value, cond) : hm_amo_do32(op, at, value, cond);
    if (op != HM_AMO_FETCH) hm_bell_look(peer->bell, addr, size);
    return old;
}

uint64_t hm_amo_slow(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size, int pe,
                     const char *call)
{
    const struct hm_peer *peer;
    char *at = find(ctx, op, addr, size, pe, &peer, call);
    if (!at) return hm_amo_unmapped(ctx, op, addr, value, cond, size, pe, call);
    return do_mapped(op, addr, at, peer, value, cond, size);
}

/* The CPU cannot write the result there. */
static bool is_device(const void *fetch) { return hm_device_any() && hm_device_side(fetch) != HM_SIDE_HOST; }

void hm_amo_nbi_slow(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size, int pe,
                     const char *call, void *fetch)
{
    const struct hm_peer *peer;
    char *at = find(ctx, op, addr, size, pe, &peer, call);
    if (is_device(fetch) || (!at && hm_device_holds(addr, 1))) {
        uint64_t got = at ? do_mapped(op, addr, at, peer, value, cond, size)
                          : hm_amo_unmapped(ctx, op, addr, value, cond, size, pe, call);
        hm_device_move(fetch, &got, size, call);
        return;
    }
    if (!at) {
        hm_far_amo_nbi(ctx, op, addr, value, cond, size, pe, fetch);
        return;
    }
    uint64_t old = do_mapped(op, addr, at, peer, value, cond, size);
    memcpy(fetch, &old, size);
}

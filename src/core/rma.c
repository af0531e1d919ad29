#include "core/rma.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/agent.h"
#include "core/amo.h"
#include "core/device.h"
#include "core/far.h"
#include "core/huge.h"
#include "core/order.h"
#include "core/world.h"

void hm_put_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi, const char *call)
{
    const struct hm_peer *peer;
    if (!bytes && hm_world.ready) return; /* any pointer will do for nothing */
    if (hm_device_any() && hm_device_put(ctx, dest, source, bytes, pe, nbi, call)) {
        hm_ctx_count(&ctx->writes, 1);
        return;
    }
    char *to = hm_symm_reach(dest, bytes, pe, &peer, call, "dest");
    hm_ctx_count(&ctx->writes, 1);
    if (!to) {
        hm_far_put(ctx, dest, source, bytes, pe, nbi);
        return;
    }
    hm_move_out(to, source, bytes);
    hm_bell_look(peer->bell, dest, bytes);
}

void hm_get_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi, const char *call)
{
    const struct hm_peer *peer;
    if (!bytes && hm_world.ready) return;
    if (hm_device_any() && hm_device_get(ctx, dest, source, bytes, pe, nbi, call)) {
        hm_ctx_count(&ctx->reads, 1);
        return;
    }
    const char *from = hm_symm_reach(source, bytes, pe, &peer, call, "source");
    hm_ctx_count(&ctx->reads, 1);
    if (from)
        hm_move_in(dest, from, bytes);
    else
        hm_far_get(ctx, dest, source, bytes, pe, nbi);
}

/* --- strided --- */

/* Bytes from the first to behind the last of n blocks; SIZE_MAX when that overflows, which no segment can hold. */
static size_t span_of(ptrdiff_t stride, size_t block, size_t nblocks, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(nblocks - 1, (size_t)stride, &n) || __builtin_add_overflow(n, block, &n) ||
        __builtin_mul_overflow(n, size, &n))
        return SIZE_MAX;
    return n;
}

static void check_stride(ptrdiff_t stride, size_t block, const char *call, const char *arg)
{
    if (hm_likely(stride > 0 && (size_t)stride >= block)) return;
    if (block == 1) hm_die(call, "%s: the stride is %td, it must be 1 or more elements", arg, stride);
    hm_die(call, "%s: the stride is %td, it must be at least the block of %zu elements", arg, stride, block);
}

/* Specialised by constant size, so that an element is one load and one store. */
HM_INLINE void copy_elements(char *to, const char *from, size_t to_step, size_t from_step, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++, to += to_step, from += from_step) memcpy(to, from, size);
}

static void copy_strided(char *to, const char *from, ptrdiff_t dst, ptrdiff_t sst, size_t block, size_t nblocks,
                         size_t size, size_t past_caches_from)
{
    size_t to_step = (size_t)dst * size, from_step = (size_t)sst * size, bytes = block * size;
    if (to_step == bytes && from_step == bytes) {
        hm_move(to, from, bytes * nblocks, past_caches_from);
        return;
    }
    switch (bytes) {
    case 1: copy_elements(to, from, to_step, from_step, nblocks, 1); return;
    case 2: copy_elements(to, from, to_step, from_step, nblocks, 2); return;
    case 4: copy_elements(to, from, to_step, from_step, nblocks, 4); return;
    case 8: copy_elements(to, from, to_step, from_step, nblocks, 8); return;
    case 16: copy_elements(to, from, to_step, from_step, nblocks, 16); return;
    default:
        for (size_t i = 0; i < nblocks; i++, to += to_step, from += from_step) hm_move(to, from, bytes, past_caches_from);
    }
}

/* Steps and block in bytes. A block is copied out of source before put returns, so the whole is, too. */
static HM_COLD void far_iput(struct hm_ctx *ctx, char *dest, const char *source, size_t to_step, size_t from_step,
                             size_t block, size_t nblocks, int pe)
{
    if (to_step == block && from_step == block) {
        hm_far_put(ctx, dest, source, block * nblocks, pe, false);
        return;
    }
    for (size_t i = 0; i < nblocks; i++, dest += to_step, source += from_step)
        hm_far_put(ctx, dest, source, block, pe, false);
}

/* The blocks are asked for all at once, which takes a round trip rather than one each. */
static HM_COLD void far_iget(struct hm_ctx *ctx, char *dest, const char *source, size_t to_step, size_t from_step,
                             size_t block, size_t nblocks, int pe)
{
    if ((to_step == block && from_step == block) || nblocks == 1) {
        hm_far_get(ctx, dest, source, block * nblocks, pe, false);
        return;
    }
    for (size_t i = 0; i < nblocks; i++, dest += to_step, source += from_step)
        hm_far_get(ctx, dest, source, block, pe, true);
    hm_far_quiet(ctx);
}

/* Of local memory. The runtime may have to be asked, so indexed calls do it once, not for each element. */
static bool is_device(const void *local) { return hm_device_any() && hm_device_side(local) != HM_SIDE_HOST; }

/* Is device memory at one end? */
static bool on_device(const void *symmetric, const void *local)
{
    return hm_device_holds(symmetric, 1) || is_device(local);
}

static HM_COLD void device_iput(struct hm_ctx *ctx, char *dest, const char *source, size_t to_step, size_t from_step,
                                size_t block, size_t nblocks, int pe, const char *call)
{
    for (size_t i = 0; i < nblocks; i++, dest += to_step, source += from_step)
        hm_device_put(ctx, dest, source, block, pe, true, call);
    if (ctx->on_device) hm_device_quiet(ctx);
}

static HM_COLD void device_iget(struct hm_ctx *ctx, char *dest, const char *source, size_t to_step, size_t from_step,
                                size_t block, size_t nblocks, int pe, const char *call)
{
    for (size_t i = 0; i < nblocks; i++, dest += to_step, source += from_step)
        hm_device_get(ctx, dest, source, block, pe, true, call);
    if (ctx->on_device) hm_device_quiet(ctx);
}

void hm_iput(struct hm_ctx *ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block,
             size_t nblocks, size_t size, int pe, const char *call)
{
    const struct hm_peer *peer;
    hm_world_need(call);
    if (!block || !nblocks) return;
    check_stride(dst, block, call, "dst");
    check_stride(sst, block, call, "sst");
    size_t bytes = span_of(dst, block, nblocks, size);
    char *to = hm_symm_reach(dest, bytes, pe, &peer, call, "dest");
    hm_ctx_count(&ctx->writes, 1);
    if (on_device(dest, source)) {
        device_iput(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, block * size, nblocks, pe, call);
        return;
    }
    if (hm_unlikely(!to)) {
        far_iput(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, block * size, nblocks, pe);
        return;
    }
    copy_strided(to, source, dst, sst, block, nblocks, size, hm_moves.out_from);
    hm_bell_look(peer->bell, dest, bytes);
}

void hm_iget(struct hm_ctx *ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block,
             size_t nblocks, size_t size, int pe, const char *call)
{
    const struct hm_peer *peer;
    hm_world_need(call);
    if (!block || !nblocks) return;
    check_stride(dst, block, call, "dst");
    check_stride(sst, block, call, "sst");
    size_t bytes = span_of(sst, block, nblocks, size);
    const char *from = hm_symm_reach(source, bytes, pe, &peer, call, "source");
    hm_ctx_count(&ctx->reads, 1);
    if (on_device(source, dest))
        device_iget(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, block * size, nblocks, pe, call);
    else if (hm_likely(from != NULL))
        copy_strided(dest, from, dst, sst, block, nblocks, size, hm_moves.in_from);
    else
        far_iget(ctx, dest, source, (size_t)dst * size, (size_t)sst * size, block * size, nblocks, pe);
}

/* --- signals --- */

/* The word of a signal where it is mapped, NULL where the transport leads to it; *op is what is done to it. */
HM_INLINE char *signal_at(uint64_t *sig_addr, int sig_op, int pe, const struct hm_peer **peer, enum hm_amo *op,
                          const char *call)
{
    char *at = hm_symm_reach(sig_addr, sizeof *sig_addr, pe, peer, call, "sig_addr");
    if (hm_unlikely((uintptr_t)sig_addr & 7))
        hm_die(call, "sig_addr: %p is not aligned to 8 bytes", (void *)sig_addr);
    if (hm_unlikely((unsigned)sig_op > 1))
        hm_die(call, "sig_op: %d is none of SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD", sig_op);
    *op = sig_op ? HM_AMO_ADD : HM_AMO_SET;
    return at;
}

void hm_signal_check(uint64_t *sig_addr, int sig_op, int pe, const char *call)
{
    const struct hm_peer *peer;
    enum hm_amo op;
    (void)signal_at(sig_addr, sig_op, pe, &peer, &op, call);
}

void hm_signal(struct hm_ctx *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, const char *call)
{
    const struct hm_peer *peer;
    enum hm_amo op;
    char *at = signal_at(sig_addr, sig_op, pe, &peer, &op, call);
    hm_ctx_count(&ctx->writes, 1);
    if (hm_unlikely(!at) && hm_device_holds(sig_addr, 1)) {
        hm_agent_amo(ctx, op, hm_device_offset(sig_addr), signal, 0, sizeof signal, pe, call);
        return;
    }
    if (hm_unlikely(!at)) {
        hm_far_put_signal(ctx, NULL, NULL, 0, sig_addr, signal, op, pe, false);
        return;
    }
    if (op == HM_AMO_SET)
        __atomic_store_n((uint64_t *)at, signal, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add((uint64_t *)at, signal, __ATOMIC_ACQ_REL);
    hm_bell_look(peer->bell, sig_addr, sizeof *sig_addr);
}

/* Data and signal may go different ways: the data arrives before the signal begins. */
static HM_COLD void device_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                                      uint64_t signal, int sig_op, int pe, const char *call)
{
    const struct hm_peer *peer;
    enum hm_amo op;
    signal_at(sig_addr, sig_op, pe, &peer, &op, call);
    hm_put_slow(ctx, dest, source, bytes, pe, false, call);
    hm_quiet(ctx);
    hm_signal(ctx, sig_addr, signal, sig_op, pe, call);
}

/* A PE is either mapped, data and signal alike, or far. */
static HM_COLD void put_signal_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                                    uint64_t signal, int sig_op, int pe, bool nbi, const char *call)
{
    const struct hm_peer *peer;
    enum hm_amo op;
    if (on_device(dest, source) || hm_device_holds(sig_addr, 1)) {
        device_put_signal(ctx, dest, source, bytes, sig_addr, signal, sig_op, pe, call);
        return;
    }
    char *to = bytes ? hm_symm_reach(dest, bytes, pe, &peer, call, "dest") : NULL;
    if (to || !bytes) {
        if (to) hm_put_slow(ctx, dest, source, bytes, pe, nbi, call);
        hm_signal(ctx, sig_addr, signal, sig_op, pe, call);
        return;
    }
    signal_at(sig_addr, sig_op, pe, &peer, &op, call);
    hm_ctx_count(&ctx->writes, 2);
    hm_far_put_signal(ctx, dest, source, bytes, sig_addr, signal, op, pe, nbi);
}

void hm_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                   uint64_t signal, int sig_op, int pe, bool nbi, const char *call)
{
    const struct hm_peer *peer;
    char *to = hm_symm_map(dest, bytes, pe, &peer);
    if (hm_unlikely(!to)) {
        put_signal_slow(ctx, dest, source, bytes, sig_addr, signal, sig_op, pe, nbi, call);
        return;
    }
    hm_move_out(to, source, bytes);
    hm_bell_look(peer->bell, dest, bytes);
    hm_signal(ctx, sig_addr, signal, sig_op, pe, call); /* release: behind the data */
}

/* --- indexed --- */

HM_INLINE char *element_of(const void *base, size_t index, size_t size)
{
    size_t o;
    if (hm_unlikely(__builtin_mul_overflow(index, size, &o))) o = SIZE_MAX / 2;
    return (char *)((uintptr_t)base + o);
}

/* Never NULL in a job without far PEs; one that has some takes ways of its own, below. */
HM_INLINE const char *element_at(const void *base, size_t index, size_t size, int pe, const struct hm_peer **peer,
                                 const char *call, const char *arg)
{
    return hm_symm_reach(element_of(base, index, size), size, pe, peer, call, arg);
}

HM_INLINE int element_pe(const struct hm_ctx *ctx, int pe, const char *call)
{
    return hm_unlikely(ctx->team != NULL) ? hm_team_world_pe(ctx->team, pe, call) : pe;
}

/* Some PEs are far, or there is device memory. All elements are asked for at once. */
static HM_COLD void gather_apart(struct hm_ctx *ctx, char *dest, const void *source, const size_t *index, const int *pe,
                               size_t n, size_t size, const char *call)
{
    const struct hm_peer *peer;
    const bool local = is_device(dest);
    for (size_t i = 0; i < n; i++, dest += size) {
        int world = element_pe(ctx, pe[i], call);
        const char *at = element_at(source, index[i], size, world, &peer, call, "source");
        if (local || hm_device_holds(element_of(source, index[i], size), 1))
            hm_device_get(ctx, dest, element_of(source, index[i], size), size, world, true, call);
        else if (at)
            memcpy(dest, at, size);
        else
            hm_far_get(ctx, dest, element_of(source, index[i], size), size, world, true);
    }
    if (ctx->on_device) hm_device_quiet(ctx);
    if (ctx->lane) hm_far_quiet(ctx);
}

static HM_COLD void scatter_apart(struct hm_ctx *ctx, void *dest, const char *source, const size_t *index, const int *pe,
                                size_t n, size_t size, const char *call)
{
    const struct hm_peer *peer;
    const bool local = is_device(source);
    for (size_t i = 0; i < n; i++, source += size) {
        int world = element_pe(ctx, pe[i], call);
        char *at = (char *)element_at(dest, index[i], size, world, &peer, call, "dest");
        if (local || hm_device_holds(element_of(dest, index[i], size), 1)) {
            hm_device_put(ctx, element_of(dest, index[i], size), source, size, world, true, call);
        } else if (at) {
            memcpy(at, source, size);
            hm_bell_look(peer->bell, (const char *)dest + index[i] * size, size);
        } else {
            hm_far_put(ctx, element_of(dest, index[i], size), source, size, world, false);
        }
    }
    if (ctx->on_device) hm_device_quiet(ctx); /* then source may be reused */
}

/* What all elements of a gather from the heap have in common: where it is in the heap, and how many there are from there on. */
struct reach {
    size_t offset, places;
    unsigned npes;
    const struct hm_peer *peer;
};

HM_INLINE struct reach reach_of(const void *source, size_t size)
{
    size_t o = (uintptr_t)source - hm_symm.heap_base;
    size_t places = o < hm_symm.heap_limit ? (hm_symm.heap_limit - o) / size : 0;
    return (struct reach){o, places, hm_symm.npes, hm_symm.peer};
}

/* Elements far apart cost a miss each, of the cache and of the page table. They are asked for this many ahead, so that the
 * misses overlap; the ring holds the addresses that are on their way. */
enum { GATHER_AHEAD = 32 };

HM_INLINE const char *gather_from(struct hm_ctx *ctx, const struct reach *r, const void *source, size_t index, int pe,
                                  size_t size, const char *call)
{
    const struct hm_peer *peer;
    const char *at;
    pe = element_pe(ctx, pe, call);
    if (hm_likely(index < r->places && (unsigned)pe < r->npes && r->peer[pe].heap))
        at = r->peer[pe].heap + r->offset + index * size;
    else
        at = element_at(source, index, size, pe, &peer, call, "source");
    __builtin_prefetch(at);
    return at;
}

HM_INLINE void gather_size(struct hm_ctx *ctx, char *dest, const void *source, const size_t *index, const int *pe,
                           size_t n, size_t size, const char *call)
{
    const struct reach r = reach_of(source, size);
    const char *ring[GATHER_AHEAD];
    size_t first = n < GATHER_AHEAD ? n : GATHER_AHEAD;
    for (size_t i = 0; i < first; i++) ring[i] = gather_from(ctx, &r, source, index[i], pe[i], size, call);
    for (size_t i = 0, next = first; i < n; i++, next++, dest += size) {
        memcpy(dest, ring[i % GATHER_AHEAD], size);
        if (hm_likely(next < n))
            ring[i % GATHER_AHEAD] = gather_from(ctx, &r, source, index[next], pe[next], size, call);
    }
}

void hm_gather(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
               size_t size, const char *call)
{
    hm_world_need(call);
    hm_ctx_count(&ctx->reads, n);
    if (hm_unlikely(hm_far_any()) || hm_device_any()) {
        if (size) gather_apart(ctx, dest, source, index, pe, n, size, call);
        return;
    }
    switch (size) {
    case 4: gather_size(ctx, dest, source, index, pe, n, 4, call); break;
    case 8: gather_size(ctx, dest, source, index, pe, n, 8, call); break;
    case 0: return;
    default: gather_size(ctx, dest, source, index, pe, n, size, call);
    }
    hm_huge_note(ctx, source, index, pe, n, size);
}

HM_INLINE void scatter_size(struct hm_ctx *ctx, void *dest, const char *source, const size_t *index, const int *pe,
                            size_t n, size_t size, const char *call)
{
    const struct hm_peer *peer;
    for (size_t i = 0; i < n; i++, source += size) {
        int world = element_pe(ctx, pe[i], call);
        memcpy((char *)element_at(dest, index[i], size, world, &peer, call, "dest"), source, size);
        hm_bell_look(peer->bell, (const char *)dest + index[i] * size, size);
    }
}

void hm_scatter(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
                size_t size, const char *call)
{
    hm_world_need(call);
    hm_ctx_count(&ctx->writes, n);
    if (hm_unlikely(hm_far_any()) || hm_device_any()) {
        if (size) scatter_apart(ctx, dest, source, index, pe, n, size, call);
        return;
    }
    switch (size) {
    case 4: scatter_size(ctx, dest, source, index, pe, n, 4, call); break;
    case 8: scatter_size(ctx, dest, source, index, pe, n, 8, call); break;
    case 0: return;
    default: scatter_size(ctx, dest, source, index, pe, n, size, call);
    }
    hm_huge_note(ctx, dest, index, pe, n, size);
}

static void add_element(char *at, const char *value, enum hm_add type)
{
    switch (type) {
    case HM_ADD_U32: __atomic_fetch_add((uint32_t *)at, *(const uint32_t *)value, __ATOMIC_SEQ_CST); return;
    case HM_ADD_U64: __atomic_fetch_add((uint64_t *)at, *(const uint64_t *)value, __ATOMIC_SEQ_CST); return;
    case HM_ADD_F32: hm_amo_add_f32(at, *(const uint32_t *)value); return;
    case HM_ADD_F64: hm_amo_add_f64(at, *(const uint64_t *)value); return;
    }
}

/* The sum of two floats, all as bits. */
static uint64_t sum_of(uint64_t a, const char *value, enum hm_add type)
{
    if (type == HM_ADD_F64) {
        double x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, value, sizeof y);
        x += y;
        memcpy(&a, &x, sizeof a);
        return a;
    }
    uint32_t bits = (uint32_t)a;
    float x, y;
    memcpy(&x, &bits, sizeof x);
    memcpy(&y, value, sizeof y);
    x += y;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static HM_COLD void add_unmapped(struct hm_ctx *ctx, char *dest, const char *value, enum hm_add type, int pe, const char *call)
{
    size_t size = type == HM_ADD_U32 || type == HM_ADD_F32 ? 4 : 8;
    uint64_t word = size == 4 ? *(const uint32_t *)value : *(const uint64_t *)value;
    if (type == HM_ADD_U32 || type == HM_ADD_U64) {
        hm_amo_unmapped(ctx, HM_AMO_ADD, dest, word, 0, size, pe, call);
        return;
    }
    if (hm_device_holds(dest, 1)) {
        hm_agent_add_float(ctx, hm_device_offset(dest), word, size, pe, call);
        return;
    }
    if (hm_far_add_float(ctx, dest, word, size, pe)) return;
    uint64_t old, seen = hm_amo_unmapped(ctx, HM_AMO_FETCH, dest, 0, 0, size, pe, call);
    do {
        old = seen;
        seen = hm_amo_unmapped(ctx, HM_AMO_CAS, dest, sum_of(old, value, type), old, size, pe, call);
    } while (seen != old);
}

/* Device memory as the CPU can read it. */
static HM_COLD char *take_aside(const void *source, size_t bytes, const char *call)
{
    char *aside = malloc(bytes);
    if (!aside) hm_die(call, "out of memory for the %zu bytes of source, which are on the device", bytes);
    hm_device_move(aside, source, bytes, call);
    return aside;
}

/* Nothing passes an atomic add, so that each would wait for its miss of the cache alone: what comes so many later is asked
 * for before it. Elsewhere than in a heap that is mapped here nothing is gained by that. */
enum { ADD_AHEAD = 16 };

HM_INLINE void add_soon(struct hm_ctx *ctx, const struct reach *r, size_t index, int pe, size_t size, const char *call)
{
    pe = element_pe(ctx, pe, call);
    if (hm_likely(index < r->places && (unsigned)pe < r->npes && r->peer[pe].heap))
        __builtin_prefetch(r->peer[pe].heap + r->offset + index * size, 1);
}

void hm_scatter_add(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
                    enum hm_add type, const char *call)
{
    const struct hm_peer *peer;
    const char *from = source;
    size_t size = type == HM_ADD_U32 || type == HM_ADD_F32 ? 4 : 8;
    hm_world_need(call);
    hm_ctx_count(&ctx->writes, n);
    if (n && (uintptr_t)dest & (size - 1))
        hm_die(call, "dest: %p is not aligned to the %zu bytes of its type; atomics need that", dest, size);
    char *aside = hm_device_any() && n && hm_device_side(source) != HM_SIDE_HOST ? take_aside(source, n * size, call) : NULL;
    if (aside) from = aside;
    const struct reach r = reach_of(dest, size);
    for (size_t i = 0; i < n; i++, from += size) {
        if (hm_likely(i + ADD_AHEAD < n)) add_soon(ctx, &r, index[i + ADD_AHEAD], pe[i + ADD_AHEAD], size, call);
        int world = element_pe(ctx, pe[i], call);
        char *at = (char *)element_at(dest, index[i], size, world, &peer, call, "dest");
        if (hm_unlikely(!at)) {
            add_unmapped(ctx, element_of(dest, index[i], size), from, type, world, call);
            continue;
        }
        add_element(at, from, type);
        hm_bell_look(peer->bell, (const char *)dest + index[i] * size, size);
    }
    free(aside);
    hm_huge_note(ctx, dest, index, pe, n, size);
}

#include "core/rma.h"

#include "base/log.h"
#include "core/amo.h"
#include "core/huge.h"
#include "core/world.h"
#include "transport/transport.h"

/* The PE is not mapped here. A transport may reach it: this is where its put and get are called once there is one. */
static HM_COLD void unreachable_pe(int pe, const char *call)
{
    const struct hm_transport *transport = hm_transport_for(pe);
    hm_die(call, "PE %d cannot be reached from here: %s", pe,
           transport ? "its transport has no lane" : "its memory is not mapped and no transport leads to it");
}

void hm_put_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    const struct hm_peer *peer;
    if (!bytes && hm_world.ready) return; /* any pointer will do for nothing */
    char *to = hm_symm_find(dest, bytes, pe, &peer, call, "dest");
    if (!to) unreachable_pe(pe, call);
    memcpy(to, source, bytes);
    hm_bell_look(peer->bell, dest, bytes);
    hm_ctx_count(&ctx->writes, 1);
}

void hm_get_slow(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    const struct hm_peer *peer;
    if (!bytes && hm_world.ready) return;
    const char *from = hm_symm_find(source, bytes, pe, &peer, call, "source");
    if (!from) unreachable_pe(pe, call);
    memcpy(dest, from, bytes);
    hm_ctx_count(&ctx->reads, 1);
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
                         size_t size)
{
    size_t to_step = (size_t)dst * size, from_step = (size_t)sst * size, bytes = block * size;
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, bytes * nblocks);
        return;
    }
    switch (bytes) {
    case 1: copy_elements(to, from, to_step, from_step, nblocks, 1); return;
    case 2: copy_elements(to, from, to_step, from_step, nblocks, 2); return;
    case 4: copy_elements(to, from, to_step, from_step, nblocks, 4); return;
    case 8: copy_elements(to, from, to_step, from_step, nblocks, 8); return;
    case 16: copy_elements(to, from, to_step, from_step, nblocks, 16); return;
    default: copy_elements(to, from, to_step, from_step, nblocks, bytes);
    }
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
    char *to = hm_symm_map(dest, bytes, pe, &peer);
    if (hm_unlikely(!to) && !(to = hm_symm_find(dest, bytes, pe, &peer, call, "dest"))) unreachable_pe(pe, call);
    copy_strided(to, source, dst, sst, block, nblocks, size);
    hm_bell_look(peer->bell, dest, bytes);
    hm_ctx_count(&ctx->writes, 1);
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
    const char *from = hm_symm_map(source, bytes, pe, &peer);
    if (hm_unlikely(!from) && !(from = hm_symm_find(source, bytes, pe, &peer, call, "source"))) unreachable_pe(pe, call);
    copy_strided(dest, from, dst, sst, block, nblocks, size);
    hm_ctx_count(&ctx->reads, 1);
}

/* --- signals --- */

void hm_signal(struct hm_ctx *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, const char *call)
{
    const struct hm_peer *peer;
    char *at = hm_symm_map(sig_addr, sizeof *sig_addr, pe, &peer);
    if (hm_unlikely(!at)) at = hm_symm_find(sig_addr, sizeof *sig_addr, pe, &peer, call, "sig_addr");
    if (hm_unlikely(!at)) unreachable_pe(pe, call);
    if (hm_unlikely((uintptr_t)sig_addr & 7))
        hm_die(call, "sig_addr: %p is not aligned to 8 bytes", (void *)sig_addr);
    if (sig_op == 0)
        __atomic_store_n((uint64_t *)at, signal, __ATOMIC_RELEASE);
    else if (hm_likely(sig_op == 1))
        __atomic_fetch_add((uint64_t *)at, signal, __ATOMIC_ACQ_REL);
    else
        hm_die(call, "sig_op: %d is none of SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD", sig_op);
    hm_bell_look(peer->bell, sig_addr, sizeof *sig_addr);
    hm_ctx_count(&ctx->writes, 1);
}

void hm_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                   uint64_t signal, int sig_op, int pe, const char *call)
{
    const struct hm_peer *peer;
    char *to = hm_symm_map(dest, bytes, pe, &peer);
    if (hm_likely(to != NULL)) {
        memcpy(to, source, bytes);
        hm_bell_look(peer->bell, dest, bytes);
    } else {
        hm_put_slow(ctx, dest, source, bytes, pe, call);
    }
    hm_signal(ctx, sig_addr, signal, sig_op, pe, call); /* release: behind the data */
}

/* --- indexed --- */

HM_INLINE const char *element_at(const void *base, size_t index, size_t size, int pe, const struct hm_peer **peer,
                                 const char *call, const char *arg)
{
    size_t o;
    if (hm_unlikely(__builtin_mul_overflow(index, size, &o))) o = SIZE_MAX / 2;
    const char *addr = (const char *)((uintptr_t)base + o), *at = hm_symm_map(addr, size, pe, peer);
    if (hm_unlikely(!at) && !(at = hm_symm_find(addr, size, pe, peer, call, arg))) unreachable_pe(pe, call);
    return at;
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
    if (hm_unlikely(ctx->team != NULL)) pe = hm_team_world_pe(ctx->team, pe, call);
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
        int world = ctx->team ? hm_team_world_pe(ctx->team, pe[i], call) : pe[i];
        memcpy((char *)element_at(dest, index[i], size, world, &peer, call, "dest"), source, size);
        hm_bell_look(peer->bell, (const char *)dest + index[i] * size, size);
    }
}

void hm_scatter(struct hm_ctx *ctx, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
                size_t size, const char *call)
{
    hm_world_need(call);
    hm_ctx_count(&ctx->writes, n);
    switch (size) {
    case 4: scatter_size(ctx, dest, source, index, pe, n, 4, call); break;
    case 8: scatter_size(ctx, dest, source, index, pe, n, 8, call); break;
    case 0: return;
    default: scatter_size(ctx, dest, source, index, pe, n, size, call);
    }
    hm_huge_note(ctx, dest, index, pe, n, size);
}

/* There is no atomic add of floats: the sum is formed here and put in place if nobody was quicker. */
static void add_float(uint32_t *at, float value)
{
    uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED), bits;
    do {
        float sum;
        memcpy(&sum, &old, sizeof sum);
        sum += value;
        memcpy(&bits, &sum, sizeof bits);
    } while (!__atomic_compare_exchange_n(at, &old, bits, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static void add_double(uint64_t *at, double value)
{
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED), bits;
    do {
        double sum;
        memcpy(&sum, &old, sizeof sum);
        sum += value;
        memcpy(&bits, &sum, sizeof bits);
    } while (!__atomic_compare_exchange_n(at, &old, bits, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static void add_element(char *at, const char *value, enum hm_add type)
{
    switch (type) {
    case HM_ADD_U32: __atomic_fetch_add((uint32_t *)at, *(const uint32_t *)value, __ATOMIC_SEQ_CST); return;
    case HM_ADD_U64: __atomic_fetch_add((uint64_t *)at, *(const uint64_t *)value, __ATOMIC_SEQ_CST); return;
    case HM_ADD_F32: add_float((uint32_t *)at, *(const float *)value); return;
    case HM_ADD_F64: add_double((uint64_t *)at, *(const double *)value); return;
    }
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
    for (size_t i = 0; i < n; i++, from += size) {
        int world = ctx->team ? hm_team_world_pe(ctx->team, pe[i], call) : pe[i];
        add_element((char *)element_at(dest, index[i], size, world, &peer, call, "dest"), from, type);
        hm_bell_look(peer->bell, (const char *)dest + index[i] * size, size);
    }
    hm_huge_note(ctx, dest, index, pe, n, size);
}

#define _GNU_SOURCE
#include "core/ctx.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "core/device.h"
#include "core/far.h"
#include "core/order.h"
#include "core/world.h"

enum { CTX_TAG = 0xc, INDEX_SHIFT = 4, INDEX_BITS = 16, GENERATION_SHIFT = INDEX_SHIFT + INDEX_BITS };
enum { MAX_CONTEXTS = 1 << 14, PRIVATE = 1, SERIALIZED = 2, NOSTORE = 4 };
#define SESSION_OPEN 0x80000000u

struct hm_ctx hm_ctx_default = {.generation = 1, .team_handle = HM_TEAM_WORLD_HANDLE, .session_ops = SIZE_MAX};

struct hm_ctx hm_ctx_inner = {.generation = 1, .team_handle = HM_TEAM_WORLD_HANDLE, .session_ops = SIZE_MAX};

static struct hm_ctx contexts[MAX_CONTEXTS]; /* index 0 stands for the default context and stays unused */
static unsigned highest;                     /* no context in use lies above it */

static hm_handle handle_of(unsigned index, uint32_t generation)
{
    return (hm_handle)generation << GENERATION_SHIFT | (hm_handle)index << INDEX_SHIFT | CTX_TAG;
}

struct hm_ctx *hm_ctx_get(hm_handle handle, const char *call)
{
    if (handle == HM_CTX_DEFAULT_HANDLE) return &hm_ctx_default;
    unsigned index = handle >> INDEX_SHIFT & ((1u << INDEX_BITS) - 1);
    if ((handle & ((1u << INDEX_SHIFT) - 1)) == CTX_TAG && index < MAX_CONTEXTS) {
        struct hm_ctx *ctx = &contexts[index];
        uint32_t generation = (uint32_t)(handle >> GENERATION_SHIFT);
        if (hm_likely(ctx->generation == generation && generation & 1)) return ctx;
        hm_world_need(call);
        if (generation && generation <= ctx->generation)
            hm_die(call, "ctx: this context was destroyed (by shmem_ctx_destroy, or with its team) and cannot be used "
                   "any more");
    }
    hm_world_need(call);
    if (!handle) hm_die(call, "ctx: SHMEM_CTX_INVALID given; check the result of shmem_ctx_create");
    hm_die(call, "ctx: %#lx is no context handle; use SHMEM_CTX_DEFAULT or a handle that shmem_ctx_create or "
           "shmem_team_create_ctx returned", (unsigned long)handle);
}

/* A private context outlives its team, whose entry may serve another one by now. */
static bool has_team(const struct hm_ctx *ctx)
{
    return ctx->team->handle == ctx->team_handle && ctx->team->generation & 1;
}

bool hm_ctx_is_valid(hm_handle handle)
{
    unsigned index = handle >> INDEX_SHIFT & ((1u << INDEX_BITS) - 1);
    if (!hm_world.ready) return false;
    if (handle == HM_CTX_DEFAULT_HANDLE) return true;
    if (!index || index >= MAX_CONTEXTS) return false;
    const struct hm_ctx *ctx = &contexts[index];
    uint32_t generation = __atomic_load_n(&ctx->generation, __ATOMIC_ACQUIRE);
    return generation & 1 && handle == handle_of(index, generation) && (!ctx->team || has_team(ctx));
}

int hm_ctx_world_pe(const struct hm_ctx *ctx, int pe, const char *call)
{
    if (hm_unlikely(!has_team(ctx)))
        hm_die(call, "ctx: the team of this private context was destroyed; only shmem_ctx_destroy is left for it");
    return hm_team_world_pe(ctx->team, pe, call);
}

static struct hm_ctx *entry_take(unsigned *index)
{
    for (unsigned i = 1; i < MAX_CONTEXTS; i++) {
        uint32_t g = __atomic_load_n(&contexts[i].generation, __ATOMIC_RELAXED);
        if (g & 1 || !__atomic_compare_exchange_n(&contexts[i].generation, &g, g + 1, false, __ATOMIC_ACQUIRE,
                                                  __ATOMIC_RELAXED))
            continue;
        unsigned top = __atomic_load_n(&highest, __ATOMIC_RELAXED);
        while (top < i && !__atomic_compare_exchange_n(&highest, &top, i, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        *index = i;
        return &contexts[i];
    }
    return NULL;
}

static uint64_t (*program_gettid)(void);
void hm_ctx_register_gettid(uint64_t (*gettid_fn)(void)) { program_gettid = gettid_fn; }
static uint64_t this_thread(void) { return program_gettid ? program_gettid() : (uint64_t)syscall(SYS_gettid); }

int hm_ctx_create(hm_handle team_handle, long options, hm_handle *handle, const char *call)
{
    hm_world_need(call);
    *handle = 0;
    struct hm_team *team = hm_team_get(team_handle, call);
    unsigned index;
    if (!team || options & ~(long)(PRIVATE | SERIALIZED | NOSTORE)) return -1;
    struct hm_ctx *ctx = entry_take(&index);
    if (!ctx) return -1;
    ctx->options = (uint32_t)options;
    ctx->team = team == hm_team_world ? NULL : team;
    ctx->team_handle = team_handle;
    ctx->session = 0;
    ctx->session_ops = SIZE_MAX;
    ctx->writes = ctx->reads = 0;
    ctx->owned = hm_options.check && options & PRIVATE;
    if (ctx->owned) ctx->owner = this_thread();
    *handle = handle_of(index, ctx->generation);
    return 0;
}

static void end(struct hm_ctx *ctx)
{
    hm_quiet(ctx);
    if (ctx->lane) hm_far_close(ctx);
    if (ctx->on_device) hm_device_close(ctx);
    __atomic_fetch_add(&ctx->generation, 1, __ATOMIC_RELEASE);
}

void hm_ctx_destroy(hm_handle handle, const char *call)
{
    if (!handle) return;
    struct hm_ctx *ctx = hm_ctx_get(handle, call);
    if (ctx == &hm_ctx_default) hm_die(call, "ctx: SHMEM_CTX_DEFAULT cannot be destroyed");
    if (ctx->owned && ctx->owner != this_thread())
        hm_die(call, "ctx: a private context must be destroyed by the thread that created it");
    end(ctx);
}

void hm_ctx_destroy_all(struct hm_team *team)
{
    for (unsigned i = 1; i <= highest; i++) {
        struct hm_ctx *ctx = &contexts[i];
        if (!(ctx->generation & 1) || (team && ctx->team != team)) continue;
        /* Private contexts stay with their threads; at finalize (no team) all of them end. */
        if (team && ctx->options & PRIVATE) continue;
        end(ctx);
    }
    if (!team && hm_ctx_default.lane) hm_far_close(&hm_ctx_default);
    if (!team && hm_ctx_inner.lane) hm_far_close(&hm_ctx_inner);
    if (!team && hm_ctx_default.on_device) hm_device_close(&hm_ctx_default);
    if (!team && hm_ctx_inner.on_device) hm_device_close(&hm_ctx_inner);
}

void hm_ctx_quiet_all(void)
{
    hm_quiet(&hm_ctx_default);
    for (unsigned i = 1; i <= highest; i++)
        if (contexts[i].generation & 1) hm_quiet(&contexts[i]);
}

int hm_ctx_get_team(hm_handle handle, hm_handle *team, const char *call)
{
    *team = 0;
    if (!handle) return -1;
    *team = hm_ctx_get(handle, call)->team_handle;
    return 0;
}

/* A session is a hint about what is to come; on mapped memory there is nothing to prepare, a transport reads it. */
void hm_ctx_session_start(hm_handle handle, long options, const size_t *total_ops, const char *call)
{
    if (!handle) return;
    struct hm_ctx *ctx = hm_ctx_get(handle, call);
    ctx->session |= SESSION_OPEN | (uint32_t)options;
    if (total_ops) ctx->session_ops = *total_ops;
}

void hm_ctx_session_stop(hm_handle handle, const char *call)
{
    if (!handle) return;
    struct hm_ctx *ctx = hm_ctx_get(handle, call);
    ctx->session = 0;
    ctx->session_ops = SIZE_MAX;
}

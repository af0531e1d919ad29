/* Memory ordering. */
#include "api/api.h"
#include "core/order.h"

/* The context of fence and quiet: NULL for CTX_INVALID, on which they do nothing. */
HM_INLINE struct hm_ctx *ctx_to_order(shmem_ctx_t ctx, const char *call)
{
    if (ctx == SHMEM_CTX_INVALID) return NULL;
    hm_world_need(call);
    return ctx == SHMEM_CTX_DEFAULT ? &hm_ctx_default : hm_ctx_get(hm_handle_of_ctx(ctx), call);
}

HM_API(void, shmem_fence, (void))
{
    hm_world_need("shmem_fence");
    hm_fence(&hm_ctx_default);
}

HM_API(void, shmem_ctx_fence, (shmem_ctx_t ctx))
{
    struct hm_ctx *c = ctx_to_order(ctx, "shmem_ctx_fence");
    if (c) hm_fence(c);
}

HM_API(void, shmem_quiet, (void))
{
    hm_world_need("shmem_quiet");
    hm_quiet(&hm_ctx_default);
}

HM_API(void, shmem_ctx_quiet, (shmem_ctx_t ctx))
{
    struct hm_ctx *c = ctx_to_order(ctx, "shmem_ctx_quiet");
    if (c) hm_quiet(c);
}

/* Quiet as far as the listed PEs go: on mapped memory there is one quiet for all. */
static void quiet_of_pes(struct hm_ctx *ctx, const int *pes, size_t n, const char *call)
{
    int members = ctx->team ? ctx->team->size : hm_world.npes;
    for (size_t i = 0; i < n; i++) {
        if (pes[i] < 0 || pes[i] >= members)
            hm_die(call, "target_pes[%zu] is %d, but the PEs of the context are 0 to %d", i, pes[i],
                   members - 1);
    }
    hm_quiet(ctx);
}

HM_API(void, shmem_pe_quiet, (const int *target_pes, size_t npes))
{
    hm_world_need("shmem_pe_quiet");
    if (npes) quiet_of_pes(&hm_ctx_default, target_pes, npes, "shmem_pe_quiet");
}

HM_API(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int *target_pes, size_t npes))
{
    struct hm_ctx *c = ctx_to_order(ctx, "shmem_ctx_pe_quiet");
    if (c && npes) quiet_of_pes(c, target_pes, npes, "shmem_ctx_pe_quiet");
}

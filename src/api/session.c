/* Communication sessions: hints. */
#include "api/api.h"

HM_API(void, shmem_ctx_session_start,
       (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask))
{
    if (ctx == SHMEM_CTX_INVALID) return;
    hm_world_need("shmem_ctx_session_start");
    const size_t *total_ops =
        config && (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS) ? &config->total_ops : NULL;
    hm_ctx_session_start(hm_handle_of_ctx(ctx), options, total_ops, "shmem_ctx_session_start");
}

HM_API(void, shmem_ctx_session_stop, (shmem_ctx_t ctx))
{
    if (ctx == SHMEM_CTX_INVALID) return;
    hm_world_need("shmem_ctx_session_stop");
    hm_ctx_session_stop(hm_handle_of_ctx(ctx), "shmem_ctx_session_stop");
}

/* Communication contexts. */
#include "api/api.h"

HM_API(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx))
{
    hm_handle handle = 0;
    hm_world_need("shmem_ctx_create");
    int rc = hm_ctx_create(HM_TEAM_WORLD_HANDLE, options, &handle, "shmem_ctx_create");
    *ctx = (shmem_ctx_t)handle;
    return rc;
}

HM_API(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
    hm_handle handle = 0;
    hm_world_need("shmem_team_create_ctx");
    int rc = hm_ctx_create(hm_handle_of_team(team), options, &handle, "shmem_team_create_ctx");
    *ctx = (shmem_ctx_t)handle;
    return rc;
}

HM_API(void, shmem_ctx_destroy, (shmem_ctx_t ctx))
{
    if (ctx == SHMEM_CTX_INVALID) return;
    hm_world_need("shmem_ctx_destroy");
    hm_ctx_destroy(hm_handle_of_ctx(ctx), "shmem_ctx_destroy");
}

HM_API(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
    hm_handle handle = 0;
    hm_world_need("shmem_ctx_get_team");
    int rc = hm_ctx_get_team(hm_handle_of_ctx(ctx), &handle, "shmem_ctx_get_team");
    *team = (shmem_team_t)handle;
    return rc;
}

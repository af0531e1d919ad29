/* Teams. */
#include "api/api.h"

HM_API(int, shmem_team_my_pe, (shmem_team_t team))
{
    hm_world_need("shmem_team_my_pe");
    const struct hm_team *t = hm_team_get(hm_handle_of_team(team), "shmem_team_my_pe");
    return t ? t->me : -1;
}

HM_API(int, shmem_team_n_pes, (shmem_team_t team))
{
    hm_world_need("shmem_team_n_pes");
    const struct hm_team *t = hm_team_get(hm_handle_of_team(team), "shmem_team_n_pes");
    return t ? t->size : -1;
}

HM_API(int, shmem_team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
    struct hm_team_config have = {0};
    hm_world_need("shmem_team_get_config");
    int rc = hm_team_get_config(hm_handle_of_team(team), config_mask, &have, "shmem_team_get_config");
    if (rc != 0 || config_mask == 0) return rc;
    if (!config) return -1;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS) config->num_contexts = have.num_contexts;
    return 0;
}

HM_API(int, shmem_team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
    hm_world_need("shmem_team_translate_pe");
    return hm_team_translate(hm_handle_of_team(src_team), src_pe, hm_handle_of_team(dest_team),
                             "shmem_team_translate_pe");
}

/* The inner form of a configuration: NULL when the mask takes nothing from it. */
static const struct hm_team_config *config_of(const shmem_team_config_t *config, long mask,
                                              struct hm_team_config *room)
{
    if (!config || !(mask & SHMEM_TEAM_NUM_CONTEXTS)) return NULL;
    room->num_contexts = config->num_contexts;
    return room;
}

HM_API(int, shmem_team_split_strided,
       (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
        long config_mask, shmem_team_t *new_team))
{
    struct hm_team_config room;
    hm_handle handle = 0;
    hm_world_need("shmem_team_split_strided");
    int rc = hm_team_split_strided(hm_handle_of_team(parent_team), start, stride, size,
                                   config_of(config, config_mask, &room), config_mask, &handle,
                                   "shmem_team_split_strided");
    *new_team = (shmem_team_t)handle;
    return rc;
}

HM_API(int, shmem_team_split_2d,
       (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
        shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
        shmem_team_t *yaxis_team))
{
    struct hm_team_config xroom, yroom;
    hm_handle x = 0, y = 0;
    hm_world_need("shmem_team_split_2d");
    int rc = hm_team_split_2d(
        hm_handle_of_team(parent_team), xrange, config_of(xaxis_config, xaxis_mask, &xroom), xaxis_mask, &x,
        config_of(yaxis_config, yaxis_mask, &yroom), yaxis_mask, &y, "shmem_team_split_2d");
    *xaxis_team = (shmem_team_t)x;
    *yaxis_team = (shmem_team_t)y;
    return rc;
}

HM_API(void, shmem_team_destroy, (shmem_team_t team))
{
    hm_world_need("shmem_team_destroy");
    hm_team_destroy(hm_handle_of_team(team), "shmem_team_destroy");
}

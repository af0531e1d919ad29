/* The C11 type-generic forms of shmemx.h: see shmem/generic.h. */
#ifndef SHMEM_GENERICX_H
#define SHMEM_GENERICX_H

#define SHMEM_ACC SHMEM_DISTINCT_ACCUMULATE_TYPES
#define shmemx_gather(...) SHMEM_FORM_5(__VA_ARGS__)(SHMEM_RMA, shmemx_, _gather, __VA_ARGS__)
#define shmemx_gather_nbi(...) SHMEM_FORM_5(__VA_ARGS__)(SHMEM_RMA, shmemx_, _gather_nbi, __VA_ARGS__)
#define shmemx_scatter(...) SHMEM_FORM_5(__VA_ARGS__)(SHMEM_RMA, shmemx_, _scatter, __VA_ARGS__)
#define shmemx_scatter_nbi(...) SHMEM_FORM_5(__VA_ARGS__)(SHMEM_RMA, shmemx_, _scatter_nbi, __VA_ARGS__)
#define shmemx_scatter_add(...) SHMEM_FORM_5(__VA_ARGS__)(SHMEM_ACC, shmemx_, _scatter_add, __VA_ARGS__)
#define shmemx_scatter_add_nbi(...) \
    SHMEM_FORM_5(__VA_ARGS__)(SHMEM_ACC, shmemx_, _scatter_add_nbi, __VA_ARGS__)

#define shmemx_ibput(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmemx_, _ibput, __VA_ARGS__)
#define shmemx_ibget(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmemx_, _ibget, __VA_ARGS__)
#define shmemx_signal_add(...) \
    SHMEM_3_OR_4(shmemx_signal_add, shmemx_ctx_signal_add, __VA_ARGS__)(__VA_ARGS__)
#define shmemx_signal_set(...) \
    SHMEM_3_OR_4(shmemx_signal_set, shmemx_ctx_signal_set, __VA_ARGS__)(__VA_ARGS__)

/* Without a team: the world. */
#define SHMEM_WORLD_SCAN(z, dest, ...) \
    SHMEM_BY_2ND(SHMEM_RED_SUM, shmemx_, z, SHMEM_TEAM_WORLD, dest, __VA_ARGS__)
#define SHMEM_TEAM_SCAN(z, ...) SHMEM_BY_2ND(SHMEM_RED_SUM, shmemx_, z, __VA_ARGS__)
#define shmemx_sum_inscan(...) \
    SHMEM_3_OR_4(SHMEM_WORLD_SCAN, SHMEM_TEAM_SCAN, __VA_ARGS__)(_sum_inscan, __VA_ARGS__)
#define shmemx_sum_exscan(...) \
    SHMEM_3_OR_4(SHMEM_WORLD_SCAN, SHMEM_TEAM_SCAN, __VA_ARGS__)(_sum_exscan, __VA_ARGS__)

#define shmemx_sum_reduce_on_stream(...) \
    SHMEM_BY_2ND(SHMEM_RED_SUM, shmemx_, _sum_reduce_on_stream, __VA_ARGS__)

#endif

/* The extensions of shmemx.h. */
#include "api/api.h"
#include "api/coll.h"
#include "core/copies.h"
#include "core/order.h"
#include "core/remote.h"
#include "core/rma.h"
#include "core/wait.h"

HM_API(int, shmemx_sync_pe, (int pe))
{
    hm_world_need("shmemx_sync_pe");
    hm_sync_pe(pe, "shmemx_sync_pe");
    return 0;
}

/* --- indexed access: the floor below turns the PE numbers, which are many, into those of the world --- */

HM_INLINE struct hm_ctx *ctx_of_many(shmem_ctx_t ctx, const char *call)
{
    return ctx == SHMEM_CTX_DEFAULT ? &hm_ctx_default : hm_ctx_get(hm_handle_of_ctx(ctx), call);
}

#define INDEXED(TYPE, name, LAST, function, what)                                                 \
    HM_API(void, shmemx_##name,                                                                   \
           (TYPE * dest, const TYPE *source, const size_t *index, const int *pe, HM_UNWRAP LAST)) \
    {                                                                                             \
        hm_world_need("shmemx_" #name);                                                           \
        function(&hm_ctx_default, dest, source, index, pe, n, what, "shmemx_" #name);             \
    }                                                                                             \
    HM_API(void, shmemx_ctx_##name,                                                               \
           (shmem_ctx_t ctx, TYPE * dest, const TYPE *source, const size_t *index, const int *pe, \
            HM_UNWRAP LAST))                                                                      \
    {                                                                                             \
        hm_world_need("shmemx_ctx_" #name);                                                       \
        struct hm_ctx *const c = ctx_of_many(ctx, "shmemx_ctx_" #name);                           \
        function(c, dest, source, index, pe, n, what, "shmemx_ctx_" #name);                       \
    }

#define MOVE(TYPE, NAME)                                                  \
    INDEXED(TYPE, NAME##_gather, (size_t n), hm_gather, sizeof(TYPE))     \
    INDEXED(TYPE, NAME##_gather_nbi, (size_t n), hm_gather, sizeof(TYPE)) \
    INDEXED(TYPE, NAME##_scatter, (size_t n), hm_scatter, sizeof(TYPE))   \
    INDEXED(TYPE, NAME##_scatter_nbi, (size_t n), hm_scatter, sizeof(TYPE))
SHMEM_RMA_TYPES(MOVE)

INDEXED(void, gathermem, (size_t n, size_t bytes), hm_gather, bytes)
INDEXED(void, gathermem_nbi, (size_t n, size_t bytes), hm_gather, bytes)
INDEXED(void, scattermem, (size_t n, size_t bytes), hm_scatter, bytes)
INDEXED(void, scattermem_nbi, (size_t n, size_t bytes), hm_scatter, bytes)

/* Two's complement: signed and unsigned add alike. */
#define ADD_OF(TYPE)               \
    _Generic((TYPE)0, float        \
             : HM_ADD_F32, double  \
             : HM_ADD_F64, default \
             : sizeof(TYPE) == 8 ? HM_ADD_U64 : HM_ADD_U32)
#define ACCUMULATE(TYPE, NAME)                                                  \
    INDEXED(TYPE, NAME##_scatter_add, (size_t n), hm_scatter_add, ADD_OF(TYPE)) \
    INDEXED(TYPE, NAME##_scatter_add_nbi, (size_t n), hm_scatter_add, ADD_OF(TYPE))
SHMEM_ACCUMULATE_TYPES(ACCUMULATE)

/* --- counters: on mapped memory what is issued is complete --- */

static uint64_t counted(shmem_ctx_t handle, bool writes, const char *call)
{
    hm_world_need(call);
    const struct hm_ctx *ctx = hm_ctx_get((uintptr_t)handle, call);
    return __atomic_load_n(writes ? &ctx->writes : &ctx->reads, __ATOMIC_RELAXED);
}

#define COUNTER(name, WRITES)                                              \
    HM_API(void, name, (shmem_ctx_t ctx, uint64_t *cntr_value))            \
    {                                                                      \
        *cntr_value = counted(ctx, WRITES, #name);                         \
    }
COUNTER(shmemx_pcntr_get_issued_write, true)
COUNTER(shmemx_pcntr_get_issued_read, false)
COUNTER(shmemx_pcntr_get_completed_write, true)
COUNTER(shmemx_pcntr_get_completed_read, false)

HM_API(void, shmemx_pcntr_get_completed_target, (uint64_t * cntr_value))
{
    hm_world_need("shmemx_pcntr_get_completed_target");
    *cntr_value = 0;
}

HM_API(void, shmemx_pcntr_get_all, (shmem_ctx_t ctx, shmemx_pcntr_t *pcntr))
{
    uint64_t writes = counted(ctx, true, "shmemx_pcntr_get_all");
    uint64_t reads = counted(ctx, false, "shmemx_pcntr_get_all");
    *pcntr = (shmemx_pcntr_t){.completed_put = writes, .completed_get = reads, .pending_put = writes,
                              .pending_get = reads, .target = 0};
}

HM_API(void, shmemx_register_gettid, (uint64_t(*gettid_fn)(void)))
{
    hm_ctx_register_gettid(gettid_fn);
}

/* --- for libraries and languages on top of this one --- */

_Static_assert(SHMEMX_AGREE_MAX == HM_AGREE_MAX, "as shmemx.h says it");
HM_API(int, shmemx_agree, (shmem_team_t team, const void *mine, size_t bytes, void *theirs, int *pe))
{
    return hm_agree(hm_api_team(team, "shmemx_agree"), mine, bytes, theirs, pe, "shmemx_agree");
}

HM_API(int, shmemx_ctx_is_valid, (shmem_ctx_t ctx))
{
    return hm_ctx_is_valid(hm_handle_of_ctx(ctx));
}

HM_API(int, shmemx_team_is_valid, (shmem_team_t team))
{
    return hm_team_is_valid(hm_handle_of_team(team));
}

HM_API(void, shmemx_keep_memory, (int on))
{
    hm_remote_keep(on != 0);
}

HM_API(void, shmemx_set_interrupt, (int (*fn)(int can_return)))
{
    hm_wait_set_interrupt(fn);
}

HM_API(int, shmemx_is_descendant, (void))
{
    return hm_world_is_descendant();
}

HM_API(int, shmemx_other_copy, (char *other, size_t other_size, char *own, size_t own_size))
{
    return hm_copies_find(other, other_size, own, own_size);
}

HM_API(int, shmemx_claim_report, (void))
{
    return hm_world_claim_report();
}

/* --- names that other libraries ship for what 1.6 has adopted --- */

#define BLOCKS(TYPE, name, function, SIZE)                                                    \
    HM_API_BOTH(shmemx, void, name,                                                           \
                (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                 size_t nblocks, int pe),                                                     \
                function(c, dest, source, dst, sst, bsize, nblocks, SIZE, pe, call);)
#define TYPED(TYPE, NAME) \
    BLOCKS(TYPE, NAME##_ibput, hm_iput, sizeof(TYPE)) BLOCKS(TYPE, NAME##_ibget, hm_iget, sizeof(TYPE))
SHMEM_RMA_TYPES(TYPED)
#define SIZED(BITS, BYTES) BLOCKS(void, ibput##BITS, hm_iput, BYTES) BLOCKS(void, ibget##BITS, hm_iget, BYTES)
SHMEM_SIZES(SIZED)

HM_API_BOTH(shmemx, void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe),
            hm_signal(c, sig_addr, signal, SHMEM_SIGNAL_ADD, pe, call);)
HM_API_BOTH(shmemx, void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe),
            hm_signal(c, sig_addr, signal, SHMEM_SIGNAL_SET, pe, call);)

#define SCAN(TYPE, NAME, stem, inclusive)                                                                    \
    HM_API(int, shmemx_##NAME##_##stem, (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems)) \
    {                                                                                                        \
        const char *const call = "shmemx_" #NAME "_" #stem;                                                  \
        return hm_scan(hm_api_team(team, call), dest, source, nelems, HM_KIND_OF(TYPE), inclusive, call);    \
    }
#define SCANS(TYPE, NAME) SCAN(TYPE, NAME, sum_inscan, true) SCAN(TYPE, NAME, sum_exscan, false)
SHMEM_REDUCE_ARITHMETIC_TYPES(SCANS)

/* Operations in the order of streams. */
#include "api/api.h"
#include "api/coll.h"
#include "coll/kernel.h"
#include "core/stream.h"

_Static_assert(SHMEMX_STREAM_UNSUPPORTED == -ENOTSUP && SHMEMX_STREAM_NO_MEMORY == -ENOMEM &&
                   SHMEMX_STREAM_LOST == -ENODEV && SHMEMX_STREAM_REFUSED == -EIO,
               "as shmemx.h says it");

HM_API(int, shmemx_putmem_on_stream, (void *dest, const void *source, size_t bytes, int pe, void *stream))
{
    return hm_stream_put(dest, source, bytes, pe, stream, "shmemx_putmem_on_stream");
}

HM_API(int, shmemx_getmem_on_stream, (void *dest, const void *source, size_t bytes, int pe, void *stream))
{
    return hm_stream_get(dest, source, bytes, pe, stream, "shmemx_getmem_on_stream");
}

HM_API(int, shmemx_putmem_signal_on_stream,
       (void *dest, const void *source, size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
        void *stream))
{
    return hm_stream_put_signal(dest, source, bytes, sig_addr, signal, sig_op, pe, stream,
                                "shmemx_putmem_signal_on_stream");
}

HM_API(int, shmemx_signal_wait_until_on_stream, (uint64_t * sig_addr, int cmp, uint64_t value, void *stream))
{
    return hm_stream_wait(sig_addr, cmp, value, stream, "shmemx_signal_wait_until_on_stream");
}

HM_API(int, shmemx_quiet_on_stream, (void *stream))
{
    return hm_stream_quiet(stream, "shmemx_quiet_on_stream");
}

HM_API(int, shmemx_barrier_on_stream, (shmem_team_t team, void *stream))
{
    return hm_stream_barrier(hm_api_team(team, "shmemx_barrier_on_stream"), stream, "shmemx_barrier_on_stream");
}

HM_API(int, shmemx_broadcastmem_on_stream,
       (shmem_team_t team, void *dest, const void *source, size_t bytes, int PE_root, void *stream))
{
    const char *const call = "shmemx_broadcastmem_on_stream";
    return hm_stream_broadcast(hm_api_team(team, call), dest, source, bytes, PE_root, stream, call);
}

static int reduce(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, void *stream,
                  const char *call)
{
    struct hm_stream_sum sum = {hm_kernel_of(kind, HM_OP_SUM), hm_kind_size(kind), (uint8_t)kind, HM_OP_SUM};
    return hm_stream_reduce(team, dest, source, n, &sum, stream, call);
}

#define SUM(TYPE, NAME)                                                                               \
    HM_API(int, shmemx_##NAME##_sum_reduce_on_stream,                                                 \
           (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce, void *stream))        \
    {                                                                                                 \
        const char *const call = "shmemx_" #NAME "_sum_reduce_on_stream";                             \
        return reduce(hm_api_team(team, call), dest, source, nreduce, HM_KIND_OF(TYPE), stream, call); \
    }
SHMEM_REDUCE_ARITHMETIC_TYPES(SUM)

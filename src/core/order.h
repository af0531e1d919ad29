/* Ordering, and the meetings of the whole world. A context that never used a transport has no lane to wait for. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include "base/base.h"
#include "core/ctx.h"
#include "core/device.h"
#include "core/far.h"

/* Stores before are seen before stores behind, by everybody. */
HM_INLINE void hm_fence(struct hm_ctx *ctx)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (hm_unlikely(ctx->lane != NULL)) hm_far_fence(ctx);
    if (hm_unlikely(ctx->on_device)) hm_device_quiet(ctx);
}
/* What has been begun by other means than stores is complete. */
HM_INLINE void hm_quiet_beyond_stores(struct hm_ctx *ctx)
{
    if (hm_unlikely(ctx->on_device)) hm_device_quiet(ctx);
    if (hm_unlikely(ctx->lane != NULL)) hm_far_quiet(ctx);
}
/* Everything before is complete and visible to all PEs. */
HM_INLINE void hm_quiet(struct hm_ctx *ctx)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    hm_quiet_beyond_stores(ctx);
}

void hm_barrier_all(const char *call); /* quiet of the default context, then sync of the world */
void hm_sync_all(const char *call);
void hm_team_sync(struct hm_team *team, const char *call);
void hm_set_barrier(struct hm_team *set, const char *call); /* active sets */
void hm_set_sync(struct hm_team *set, const char *call);
void hm_sync_pe(int pe, const char *call); /* shmemx_sync_pe */
bool hm_pair_is_ahead(int a, int b); /* PE a has come to meet PE b, which has not come yet */

/* Locks: first come first served; see lock.c. */
void hm_lock_set(long *lock, const char *call);
int hm_lock_test(long *lock, const char *call); /* 0: acquired, 1: not */
void hm_lock_clear(long *lock, const char *call);

/* The symmetric heap as the API sees it (alloc.c): collective, checked, with the barriers the standard wants. */
void *hm_malloc(size_t size, const char *call);
/* "host", or the kind of the device heap. */
void *hm_malloc_on(const char *kind, size_t alignment, size_t size, bool zero, const char *call);
void *hm_calloc(size_t count, size_t size, const char *call);
void *hm_align(size_t alignment, size_t size, const char *call);
void *hm_malloc_with_hints(size_t size, long hints, const char *call);
void *hm_realloc(void *ptr, size_t size, const char *call);
void hm_free(void *ptr, const char *call);

#endif

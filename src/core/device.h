/* The device heap: a second symmetric heap, of memory that the CPU cannot touch (memkind/device.h). Jobs with
 * SHMEM_HEAP_KIND other than host have one.
 *
 * Its addresses are device addresses of this PE; an offset leads to the same place on the others, whose heaps are attached
 * here under addresses of their own. Bytes move by copies of the runtime, on a flow of the context. Words that are
 * changed by atomics, and waits, are the owner's agent's business (core/agent.h): that is the one way of all atomics on
 * such words.
 *
 * With a device heap the good path of hm_symm_map is closed, so every access comes to a cold half, which asks here first.
 * Jobs without one pay nothing.
 */
#ifndef HM_DEVICE_H
#define HM_DEVICE_H

#include "base/base.h"
#include "core/ctx.h"
#include "memkind/device.h"
#include "memkind/memkind.h"

#define HM_DEVICE_PHASE ((size_t)1 << 30)

struct hm_device {
    const struct hm_memkind *kind; /* NULL: there is no device heap */
    const struct hm_device_ops *ops;
    int number; /* of this process's device */
    char *base; /* this PE's device heap */
    size_t size;
    size_t phase; /* base is this far behind a multiple of HM_DEVICE_PHASE, on every PE; 0 where they differ */
    size_t limit; /* its top: what was never allocated is outside */
    char **peer;  /* [npes] where that PE's is attached here, this PE's own; NULL: on another machine */
};
extern struct hm_device hm_device;

HM_INLINE bool hm_device_any(void) { return hm_unlikely(hm_device.ops != NULL); }
HM_INLINE size_t hm_device_offset(const void *addr) { return (uintptr_t)addr - (uintptr_t)hm_device.base; }
/* Is it in what has been allocated of the device heap? */
HM_INLINE bool hm_device_holds(const void *addr, size_t bytes)
{
    size_t o = hm_device_offset(addr);
    return hm_device_any() && o < hm_device.limit && bytes <= hm_device.limit - o;
}
/* Is it an address of this PE's device heap, allocated or not? */
HM_INLINE bool hm_device_spans(const void *addr) { return hm_device_offset(addr) < hm_device.size; }
/* What memory an address of this process is. */
enum hm_side hm_device_side(const void *addr);
/* What the runtime says of this process's device. */
void hm_device_ask(struct hm_device_info *info, const char *call);

/* At init, behind the host's heap, collective; ends the job with a sentence. */
void hm_device_start(const char *call);
/* At finalize: when nobody uses the memory any more (all have met), peers let go; when all have, the owner. */
void hm_device_detach(void);
void hm_device_stop(void);

/* The runtime refused: ends the job with a sentence. `pe`: at whose memory, -1: nobody's. */
HM_NORETURN HM_COLD void hm_device_fail(const char *call, const char *what, int pe, int error);

/* Each of these does what its namesake without `device` does if device memory takes part, and is false if none does. PE
 * numbers and ranges are checked here; the caller counts. */
HM_COLD bool hm_device_put(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                           const char *call);
HM_COLD bool hm_device_get(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi,
                           const char *call);

/* Between this PE's own memories, whatever they are; done when they return. */
HM_COLD void hm_device_move(void *to, const void *from, size_t bytes, const char *call);
HM_COLD void hm_device_set(void *at, int byte, size_t bytes, const char *call);

/* fence and quiet of what is under way on the flow of a context; the context ends. */
HM_COLD void hm_device_quiet(struct hm_ctx *ctx);
HM_COLD void hm_device_complete(struct hm_ctx *ctx, const char *call); /* of copies alone */
HM_COLD void hm_device_close(struct hm_ctx *ctx);

#endif

/* PEs that are reached through a transport: what hm_symm_reach and its kin lead to when they give no
 * address. Addresses have been checked there. All of this is off the good path. */
#ifndef HM_FAR_H
#define HM_FAR_H

#include "core/ctx.h"
#include "core/symm.h"
#include "transport/transport.h"

/* At init, after the segments, whose descriptors are given (-1: none), are mapped; collective where a transport is used.
 * Ends the job with a sentence. */
void hm_far_start(const int descriptor[HM_SEGMENTS], const char *call);
/* For messages, which hold `kind` first: as in transport.h, on hm_ctx_inner. The bytes are copied. */
void hm_far_message(int pe, const void *message, size_t bytes);
size_t hm_far_message_max(void); /* 0: the transport has none */
/* Writes an aligned word of 8 bytes in the work memory of a PE and wakes who waits there, one way, without an answer: the
 * word is not ordered with anything else and must not be written in any other way while it is under way. */
void hm_far_tell(struct hm_place word, uint64_t value);
/* Pages of this PE's heap go back to the system, by `pages`, but what the transport holds. False: not all. */
bool hm_far_give_back(size_t offset, size_t bytes, bool (*pages)(size_t offset, size_t bytes));
/* At finalize: completes what is under way on all contexts, before the last meeting; behind it;
 * and when all have come that far. */
void hm_far_leave(void);
void hm_far_part(void);
void hm_far_stop(void);
/* The process ends without finalize. */
void hm_far_halt(void);

/* "ucx tcp/eth0": how this PE's operations reach that far PE, to which it connects. */
void hm_far_way(int pe, char *text, size_t size);

/* Is there any PE that is reached so? */
HM_INLINE bool hm_far_any(void)
{
    return hm_symm.far != NULL;
}

HM_COLD void hm_far_put(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi);
HM_COLD void hm_far_get(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi);
HM_COLD uint64_t hm_far_amo(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond,
                            size_t size, int pe);
/* An `op` that gives a value, which is in `fetch` behind a quiet. */
HM_COLD void hm_far_amo_nbi(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                            int pe, void *fetch);
/* Adds to a float or a double, of which `value` holds the bits. False: no way leads there, use compare and swap. */
HM_COLD bool hm_far_add_float(struct hm_ctx *ctx, void *addr, uint64_t value, size_t size, int pe);
/* `bytes` may be 0. */
HM_COLD void hm_far_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes,
                               uint64_t *sig_addr, uint64_t signal, enum hm_amo op, int pe, bool nbi);
/* The same by place, for the library's own traffic, on hm_ctx_inner: complete behind hm_far_quiet(&hm_ctx_inner). `source`
 * may be reused on return unless `nbi`. The signal is set, behind the data, as an atomic of 8 bytes. */
void hm_far_put_at(struct hm_place dest, const void *source, size_t bytes, bool nbi);
void hm_far_get_at(void *dest, struct hm_place source, size_t bytes, bool nbi);
uint64_t hm_far_amo_at(enum hm_amo op, struct hm_place word, size_t size, uint64_t value, uint64_t cond);
void hm_far_put_signal_at(struct hm_place dest, const void *source, size_t bytes, struct hm_place signal, uint64_t value);
/* The place of a symmetric address on PE `pe`, unchecked. */
struct hm_place hm_far_place(const void *addr, int pe);

HM_COLD void hm_far_fence(struct hm_ctx *ctx);
HM_COLD void hm_far_quiet(struct hm_ctx *ctx);
/* The context ends; behind its quiet. */
HM_COLD void hm_far_close(struct hm_ctx *ctx);

#endif

/* The agent: a thread of each PE that has a device heap, which does there what copies cannot.
 *
 * All atomics and signals on words of a device heap are executed by the owner's agent, whoever asks: one way for each word. So
 * they are atomic among themselves, not against kernels of the device. PEs of the same machine ask through rings in job
 * memory, others through messages. The agent serves while its PE computes, waits or is blocked in the runtime. It waits for
 * nobody: a request is done with this PE's own memory alone.
 */
#ifndef HM_AGENT_H
#define HM_AGENT_H

#include "core/ctx.h"
#include "transport/transport.h" /* enum hm_amo */

/* By hm_device_start, behind the attaching; and at finalize behind the last meeting. */
void hm_agent_start(const char *call);
void hm_agent_stop(void);
/* The process ends without finalize. */
void hm_agent_halt(void);

/* Copies of this PE that are under way on `ctx` are completed first. What has no value to give back may return earlier: it
 * is done behind hm_agent_quiet. `offset`: in the device heap. */
HM_COLD uint64_t hm_agent_amo(struct hm_ctx *ctx, enum hm_amo op, size_t offset, uint64_t value, uint64_t cond, size_t size,
                              int pe, const char *call);
/* Adds to a float or a double, of which `value` holds the bits; done behind hm_agent_quiet. */
HM_COLD void hm_agent_add_float(struct hm_ctx *ctx, size_t offset, uint64_t value, size_t size, int pe, const char *call);
/* To and from the device heap of a PE of another machine; `from` and `to` are host memory. Done when they return. */
HM_COLD void hm_agent_put(struct hm_ctx *ctx, int pe, size_t offset, const void *from, size_t bytes, const char *call);
HM_COLD void hm_agent_get(struct hm_ctx *ctx, void *to, int pe, size_t offset, size_t bytes, const char *call);
/* What this PE has asked for on the context so far is done. */
HM_COLD void hm_agent_quiet(struct hm_ctx *ctx);

/* By the progress thread of the transport: false for a message of another kind. */
bool hm_agent_heard(int from, const void *bytes, size_t n);

#endif

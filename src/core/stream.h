/* Operations in the order of a stream of the program's (memkind/device.h), which nobody waits for when they are called.
 *
 * A put or get between device memories of this machine goes on the stream as it is. Everything else (host memory at
 * an end, far PEs, data with a signal, waits, meetings) is a call in the stream that hands the operation to a thread
 * of this PE, the worker, and comes back when that is done with it; so it blocks that stream alone. The worker has
 * all operations whose turn has come in a list and does a step of each in turn. It waits for no other PE: what is not
 * there yet is looked at again when this PE's bell rings, and now and then, as streams ring no bell. So the order in which streams come to their operations can lead
 * to no deadlock that was not the program's.
 *
 * Arguments are checked at the call and end the job with a sentence as those of other calls do. What goes wrong in a
 * stream's turn does the same then. The functions return 0, or -errno where the operation was not put on the stream:
 * -ENOTSUP, -ENOMEM, -ENODEV, or -EIO for all that the runtime may have had against it.
 */
#ifndef HM_STREAM_H
#define HM_STREAM_H

#include "base/base.h"
#include "core/team.h"

/* How members' elements become one: acc[i] += more[i], i < n. `type` tells types apart for the members. */
struct hm_stream_sum {
    void (*combine)(void *to, const void *a, const void *b, size_t n);
    size_t size;
    uint8_t type, op;
};

int hm_stream_put(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call);
int hm_stream_get(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call);
int hm_stream_put_signal(void *dest, const void *source, size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op,
                         int pe, void *stream, const char *call);
int hm_stream_wait(uint64_t *sig_addr, int cmp, uint64_t value, void *stream, const char *call);
int hm_stream_quiet(void *stream, const char *call);
/* The k-th of these that a PE comes to in its streams is the k-th of the others, for each team. */
int hm_stream_barrier(struct hm_team *team, void *stream, const char *call);
int hm_stream_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, void *stream,
                        const char *call);
int hm_stream_reduce(struct hm_team *team, void *dest, const void *source, size_t n, const struct hm_stream_sum *sum,
                     void *stream, const char *call);

/* Has a copy that the runtime does by itself failed? Ends the job with a sentence then; what is still under way is not waited
 * for. `of`: one stream, which must exist. Asked while there is one of which nobody knows. */
extern uint32_t hm_stream_copies_open;
HM_COLD void hm_stream_ask_copies(const char *call);
HM_COLD void hm_stream_ask_copies_of(void *stream, const char *call);
HM_INLINE bool hm_stream_has_copies(void) { return hm_unlikely(__atomic_load_n(&hm_stream_copies_open, __ATOMIC_RELAXED)); }

/* At finalize, before this PE leaves: waits for what is on streams, and says what is left when that takes long. */
void hm_stream_stop(const char *call);
/* The process ends without finalize: lets go of streams that wait for the worker. */
void hm_stream_halt(void);

#endif

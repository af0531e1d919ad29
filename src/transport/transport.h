/* Transports: how bytes reach a PE whose memory is not mapped here.
 *
 * A transport is one file that defines one `const struct hm_transport`, and one line in transports.def, whose order is the
 * preference. What crosses this contract are world PE numbers, segments and offsets, never another PE's pointers. Checks
 * (PE, range, alignment) are done before; a transport only moves bytes. Functions return 0 or -errno; an error is final
 * for the PE it names, and the caller ends the job.
 *
 * A lane is the transport's part of one context: operations on different lanes do not wait for each other. Any thread may
 * call for a lane, several at a time unless the context says otherwise.
 */
#ifndef HM_TRANSPORT_H
#define HM_TRANSPORT_H

#include "base/base.h"

enum hm_segment_id { HM_SEGMENT_HEAP, HM_SEGMENT_DATA }; /* further ones: device heaps */

struct hm_place {
    int pe;
    enum hm_segment_id segment;
    uint64_t offset;
};

struct hm_lane; /* the transport's own */

#define HM_TRANSPORT_ADDRESS_MAX 128 /* of the 256 bytes that a PE may give to the exchange at init */

struct hm_transport {
    const char *name; /* as shmem-info --paths says it */

    /* Can it be used here at all? NULL, or why not, in a clause that lives for ever. Loads what it needs. */
    const char *(*probe)(void);

    /* Before the exchange: opens this PE's end and writes how others find it. After it: `addresses` are those of all PEs,
     * `stride` bytes apart, and live until stop. Connections are made at the first use, not here. */
    int (*start)(void *address, size_t *bytes);
    int (*join)(int me, int npes, const void *addresses, size_t stride);
    /* Is this PE reached by it? */
    bool (*reaches)(int pe);
    /* Memory of this PE that others will name by segment and offset; grow tells of newly allocated parts. */
    int (*add_segment)(enum hm_segment_id segment, void *base, size_t bytes);
    int (*grow)(enum hm_segment_id segment, uint64_t offset, size_t bytes);
    void (*stop)(void); /* safe after half a start */

    int (*lane_open)(struct hm_lane **lane);
    void (*lane_close)(struct hm_lane *lane); /* completes what is under way */

    /* put: returns when `from` may be reused; complete after quiet. get: returns with the bytes in place. The nbi forms
     * leave both sides alone until quiet. */
    int (*put)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes);
    int (*get)(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes);
    int (*put_nbi)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes);
    int (*get_nbi)(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes);
    /* One word of 4 or 8 bytes; `op` is enum hm_amo. fetch NULL: no result wanted, may return before it is done. Exact
     * against CPU atomics of the owner's machine on the same word. */
    int (*atomic)(struct hm_lane *lane, int op, struct hm_place word, size_t size, uint64_t value, uint64_t cond,
                  uint64_t *fetch);
    /* The signal is seen at the target only after the data of this call. */
    int (*put_signal)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes, struct hm_place signal,
                      uint64_t value, int sig_op);
    int (*fence)(struct hm_lane *lane); /* order per target PE */
    int (*quiet)(struct hm_lane *lane); /* everything of the lane is done and visible to all PEs */
};

/* The first transport that probes well and reaches the PE; NULL when there is none. */
const struct hm_transport *hm_transport_for(int pe);

#endif

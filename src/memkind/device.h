/* Kinds whose memory the CPU cannot touch: the HBM of an accelerator, through its vendor's runtime.
 *
 * A kind is one file that defines one `const struct hm_memkind` whose `device` leads to this, and one line in kinds.def. The
 * runtime is found by dlopen, and every process uses one device. What leaves the owner of a heap is a token, which travels
 * to the peers over the bootstrap; each of them attaches the heap and gets an address of its own for it, which only the
 * runtime can follow.
 *
 * Functions return 0 or -errno and set their outputs only on success; what failed in the runtime is told by `why`, for the
 * thread that called. -ENODEV: the device is lost. -ENOTSUP: this kind or this runtime cannot do it. Any thread may call
 * anything at any time: copy, set, finish and the stream_ functions once it has called enter, the others without, too.
 * Nothing here waits for another PE.
 */
#ifndef HM_MEMKIND_DEVICE_H
#define HM_MEMKIND_DEVICE_H

#include "base/base.h"

/* What a process gives to those who are to attach its memory. A descriptor (-1: none) travels by SCM_RIGHTS. */
struct hm_token {
    int descriptor;
    uint16_t bytes;
    uint8_t blob[144];
};

/* Whose memory an address is, as copies must know. */
enum hm_side {
    HM_SIDE_HOST,  /* private or symmetric memory of the CPU */
    HM_SIDE_OWN,   /* of this process's device: its heap, or what the program has allocated there */
    HM_SIDE_PEER,  /* an attached heap */
};

struct hm_flow; /* an order of copies: a stream of the runtime */

struct hm_device_info {
    char name[64];          /* "Ascend910B" */
    size_t free_bytes, total_bytes;
    bool peer_loads;        /* kernels of this device can follow the addresses that attach gives */
    int dlpack;             /* the device type of DLPack, 0: it has none */
};

struct hm_device_ops {
    /* Once in a process, behind devices() > 0: takes a device for it. end gives back everything that is still open. */
    int (*begin)(int device);
    void (*end)(void);
    /* Binds the calling thread to the device; cheap when it is already. Threads of the program's own may be bound to
     * another device: leave puts that back. Calls may be nested. */
    int (*enter)(void);
    void (*leave)(void);
    int (*info)(struct hm_device_info *info);

    /* The heap of this process: `bytes` (a multiple of grain) of device memory, not zeroed. One for a process. -ENOMEM: not
     * enough is free. */
    size_t (*grain)(void);
    int (*make)(size_t bytes, void **at);
    /* The number by which the owners know who may attach (a process number as the device driver sees it). */
    int (*whoami)(int32_t *id);
    /* Once, to all of those; then attach in their processes, detach in all of them before drop in the owner's. `owner_device`
     * is the device of the owner, which may be the same as this process's. */
    int (*share)(void *at, const int32_t *ids, int n, struct hm_token *token);
    int (*attach)(const struct hm_token *token, int owner_device, size_t bytes, void **at);
    int (*detach)(void *at);
    int (*drop)(void *at);

    int (*flow_open)(struct hm_flow **flow);
    void (*flow_close)(struct hm_flow *flow);
    /* Copies behind what was begun on this flow before. A copy with HOST on a side is done when the call returns, unless `nbi`:
     * then it may be under way, and the host memory must stay as it is until finish. A copy between device memories may
     * be under way, always. Any addresses, lengths and alignments; the kind stages where the runtime wants that. -ENOTSUP:
     * the runtime lets nobody but the owner write at an unaligned address of this heap. */
    int (*copy)(struct hm_flow *flow, void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes,
                bool nbi);
    int (*set)(struct hm_flow *flow, void *at, int byte, size_t bytes); /* own memory; may be under way */
    /* All that was begun on this flow is done, and seen by everybody who shares the memory. That a stream of the program's could
     * not be let go on behind a stream_call is told here, or by the next stream_copy or stream_call, once. */
    int (*finish)(struct hm_flow *flow);

    /* Is it device memory of the runtime's, in this process? For any address: HM_SIDE_HOST when not. */
    enum hm_side (*side_of)(const void *at);

    /* On a stream of the program's (the runtime's own handle): in its order, without waiting for it. copy: -ENOTSUP where that
     * takes more than one copy of the runtime's; one that fails in its turn is told to who synchronises the stream. call: `fn`
     * runs on a thread of the runtime's or of the kind's, and what is on the stream behind it waits until fn returns; fn calls
     * nothing of the runtime, but may wait. Other streams go on. */
    int (*stream_copy)(void *stream, void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes);
    int (*stream_call)(void *stream, void (*fn)(void *arg), void *arg);

    /* What fails on a stream is told by the runtime to who synchronises it. Behind what is on the stream by now: *mark, which is
     * made when it is NULL and may be used again, by any stream. ask: -EAGAIN: the stream has not come to the mark, or nobody can
     * tell yet; 0: it has, and nothing has failed that the runtime would still tell; -EALREADY: the same, but the runtime has
     * told this thread of a failure before (why says which); anything else: what has failed, told once. `stream`: NULL where it
     * may have been destroyed. Waits for no stream: for a millisecond at most. NULL: the kind cannot. */
    int (*stream_mark)(void **mark, void *stream);
    int (*stream_ask)(void *mark, void *stream);
    void (*mark_drop)(void *mark);

    /* All that is on streams of this process's device is done, the program's own among them; tells once what failed there.
     * Waits for as long as the program lets streams wait. -ENOTSUP: the runtime has no such call. */
    int (*stream_drain)(void);

    /* What went wrong in this thread's last call that failed: "aclrtMemcpy: error 507053 (device memory): <the runtime's own
     * words>". Lives until the thread's next call. */
    const char *(*why)(void);
};

#endif

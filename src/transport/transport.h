/* Transports: how bytes reach a PE whose memory is not mapped here.
 *
 * A transport is a folder src/transport/NAME and one line in transports.def, whose order is the preference:
 * the first that can be used serves the whole job. It is built as a module, which exports one symbol, below,
 * and uses none of the library: what it may ask for is in struct hm_transport_host. So a job that needs no
 * transport loads nothing of it. What crosses this contract are world PE numbers, segments and offsets, never
 * another PE's pointers. Checks (PE, range, alignment, empty transfers) are done before; a transport only
 * moves bytes.
 *
 * A lane is the transport's part of one context: operations on different lanes do not wait for each other.
 * Any thread may call for a lane, several at a time unless the context says otherwise.
 *
 * The owner of the memory takes no part: what is sent to it arrives while it computes, sleeps or waits for
 * anything. What is issued on a lane goes its way without further calls, too.
 *
 * An error is final. Functions of the ladder return -errno, having logged why; an operation tells it to
 * host->fail, which ends the job and does not return.
 */
#ifndef HM_TRANSPORT_H
#define HM_TRANSPORT_H

#include "base/base.h"

/* WORK is memory of the library's own (core/work.h). Further ones: device heaps. */
enum hm_segment_id { HM_SEGMENT_HEAP, HM_SEGMENT_DATA, HM_SEGMENT_WORK, HM_SEGMENTS };

struct hm_place {
    int pe;
    enum hm_segment_id segment;
    uint64_t offset;
};

/* Atomics on a word: those with a result, and those without one. SET has none, FETCH only one. */
enum hm_amo {
    HM_AMO_FETCH,
    HM_AMO_SET,
    HM_AMO_SWAP,
    HM_AMO_CAS,
    HM_AMO_FETCH_ADD,
    HM_AMO_ADD,
    HM_AMO_FETCH_AND,
    HM_AMO_AND,
    HM_AMO_FETCH_OR,
    HM_AMO_OR,
    HM_AMO_FETCH_XOR,
    HM_AMO_XOR
};

HM_INLINE bool hm_amo_is_silent(enum hm_amo op)
{
    return op == HM_AMO_SET || op == HM_AMO_ADD || op == HM_AMO_AND || op == HM_AMO_OR || op == HM_AMO_XOR;
}

struct hm_lane; /* the transport's own */

/* A thread that waits for what others do to this PE may serve it itself, instead of the transport's own thread, which need not
 * be woken for it then. take: gives a number, 0 when somebody else serves, too. With it serve does what there is to do now, and
 * says whether there was something; one who does not call it for some ms has lost the number, serve says so, and give does
 * nothing. What the host is told is told by one thread at a time. */
enum hm_served { HM_SERVED_NOTHING, HM_SERVED, HM_SERVED_BY_OTHERS };
struct hm_helm {
    uint32_t (*take)(void);
    enum hm_served (*serve)(uint32_t mine);
    void (*give)(uint32_t mine);
};

/* What the floor above gives to a transport. */
struct hm_transport_host {
    int pe, npes;
    int spin; /* how often a wait looks before it calls idle for the first time: 0 with fewer cores than PEs */
    size_t extent; /* memory is registered by pieces of so many bytes; 0: as the transport likes */
    /* Other PEs have changed memory of this one: wakes who waits for that. By any thread. */
    void (*moved)(void);
    /* A message has come from PE `from`. Called by the progress thread, or who serves in its place, who must not wait in it
     * but may send; the bytes are there until it returns. */
    void (*heard)(int from, const void *bytes, size_t n);
    /* The time that was asked for with wake_at has come. By the progress thread; gives the next such time, 0: none. */
    uint64_t (*tick)(void);
    /* Called by waits again and again while nothing moves: lets others run, and leaves for good when the
     * job is being ended. The caller holds no lock then. */
    void (*idle)(void);
    /* Ends the job with a sentence. `pe`: to which no operation leads any more, -1: none in particular. */
    void (*fail)(int pe, const char *why) HM_NORETURN;
    void (*say)(const char *prefix, const char *fmt, ...) HM_PRINTF(2, 3); /* hm_log_line */
};

struct hm_transport {
    const char *name; /* as shmem-info --paths says it */

    /* Can it be used here at all? NULL, or why not, in a clause that lives for ever. */
    const char *(*probe)(void);

    /* The ladder, by one thread: start, then add_segment for memory of this PE that others will name by
     * segment and offset, as large on every PE (its descriptor, by which it may be mapped once more; -1: it is
     * used where it is), then address, which writes how others find all this into `room` bytes and gives their number, or
     * -ENOSPC. After the exchange join: addresses[i] is the one of PE i, and lives until
     * stop. Connections are made at the first use, not here. Before the PEs leave, in a meeting that no
     * operation outlives, each calls leave: from then on others may go. */
    int (*start)(const struct hm_transport_host *host);
    int (*add_segment)(enum hm_segment_id segment, int descriptor, void *base, size_t bytes);
    /* For whole pages of this PE's memory that the system is to have back, so that others come in their place: calls
     * `pages` for them, piece by piece, and for none that the network holds, as a card goes on with those it has. True
     * when that was all of [offset, offset + bytes), and each call true. NULL: it holds none. */
    bool (*give_back)(enum hm_segment_id segment, size_t offset, size_t bytes, bool (*pages)(size_t offset, size_t bytes));
    int (*address)(void *address, size_t room, size_t *bytes);
    int (*join)(const void *const *addresses);
    void (*leave)(void);
    void (*stop)(void); /* safe after half a start */
    /* The process ends with the job still open: threads of the transport's own must not run any more when
     * it returns. */
    void (*halt)(void);

    int (*lane_open)(struct hm_lane **lane);
    void (*lane_close)(struct hm_lane *lane); /* behind a quiet; all are closed before stop */

    /* put: returns when `from` may be reused; complete after quiet. get: returns with the bytes in place.
     * The nbi forms leave both sides alone until quiet. */
    void (*put)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes);
    void (*get)(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes);
    void (*put_nbi)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes);
    void (*get_nbi)(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes);
    /* One word of 4 or 8 bytes, value and result in the low bytes. Without a result it may return before
     * it is done. Exact against CPU atomics of the owner's machine on the same word. */
    uint64_t (*atomic)(struct hm_lane *lane, enum hm_amo op, struct hm_place word, size_t size,
                       uint64_t value, uint64_t cond);
    /* The signal, an atomic of 8 bytes without result, is seen at the target only after the data of this
     * call. `nbi` as above. */
    void (*put_signal)(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes,
                       struct hm_place signal, uint64_t value, enum hm_amo op, bool nbi);
    /* At most message_max bytes to PE `pe`, whose progress thread gives them to host->heard, once, in the order of
     * this lane's messages to that PE; no order with puts and atomics. May return before they have left: `done` is
     * called when `from` may be reused, by any thread, perhaps before the return; it calls nothing of the transport.
     * Never waits for other PEs, so that the progress thread may call it, too. */
    size_t message_max;
    void (*message)(struct hm_lane *lane, int pe, const void *from, size_t bytes, void (*done)(void *arg), void *arg);
    /* Has the progress thread call host->tick at that time (ns, CLOCK_MONOTONIC) or soon behind. An earlier time goes
     * before a later one; past times mean at once. Any thread, cheap when the thread is awake anyway. */
    void (*wake_at)(uint64_t ns);
    const struct hm_helm *helm; /* NULL: nobody can serve in the progress thread's place */
    void (*fence)(struct hm_lane *lane); /* order per target PE */
    void (*quiet)(struct hm_lane *lane); /* everything of the lane is done and visible to all PEs */

    /* What carries the bytes of this lane to that PE, to which it connects, for people: "tcp/eth0", "rc_verbs/mlx5_0:1".
     * 0 or -errno. NULL: it cannot tell. */
    int (*way)(struct hm_lane *lane, int pe, char *text, size_t size);
};

/* What a module exports, by this name. */
struct hm_transport_module {
    const char *version; /* HM_VERSION: of the library that it was built with */
    const struct hm_transport *transport;
};
#define HM_TRANSPORT_SYMBOL "hm_transport_module"

/* The first transport that can be loaded and probes well. NULL: there is none; then *why says why the last
 * one cannot, in a clause. */
const struct hm_transport *hm_transport_find(const char **why);
/* The i-th of transports.def, loaded, and its name, or why it cannot be used; *name is NULL behind the
 * last. */
const struct hm_transport *hm_transport_at(unsigned i, const char **name, const char **why);

#endif

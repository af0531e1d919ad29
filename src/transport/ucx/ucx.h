/* The transport over UCX: what its files share.
 *
 * A PE has one target worker, which all remote endpoints lead to and which is progressed by the progress thread, or by a
 * thread that waits, in its place (helm.c). A lane, of a context, is a worker of its own that only initiates. Over TCP, UCX does puts
 * and atomics in software at the target, so it is who serves the target worker that stores them; where a
 * network card does it, he has nothing to do.
 */
#ifndef HM_UCX_H
#define HM_UCX_H

#include <pthread.h>
#include <signal.h>
#include <ucp/api/ucp.h>

#include "transport/transport.h"

/* What is needed to reach one extent of a segment of another PE. */
struct hm_ucx_key {
    uint64_t base; /* of the segment, as the other PE names it */
    ucp_rkey_h rkey;
};

/* Do all messages and puts of an endpoint take one TCP connection? */
enum hm_ucx_streaming { HM_UCX_UNKNOWN, HM_UCX_YES, HM_UCX_NO };

/* The way from one lane to one PE, made at the first use. */
struct hm_ucx_link {
    int pe;
    unsigned shift; /* of offsets: to the number of the extent */
    struct hm_lane *lane;
    ucp_ep_h ep;
    enum hm_ucx_streaming streaming;
    struct hm_ucx_key **keys[HM_SEGMENTS]; /* by extent; each is fetched at its first use */
};

struct hm_lane {
    ucp_worker_h worker;
    int fd; /* readable when there may be something to progress, once the worker is armed */
    struct hm_ucx_link **link; /* [npes] */
    pthread_mutex_t making;    /* of links */
    uint64_t junk;             /* where results go that nobody wants */
    uint32_t unfinished;       /* requests whose callback has not come yet */
    uint32_t asked;            /* bytes of large gets */
    /* A lane has something under way while issued and drained differ. */
    uint64_t issued, drained;
    uint64_t spoken;  /* `issued` behind the last message */
    uint32_t sending;  /* messages whose bytes are still needed */
    uint32_t speaking; /* callers that are just sending one */
    uint32_t inside;  /* callers */
    bool unapplied;   /* atomics without result, since the last flush */
    /* the progress thread's */
    uint64_t seen, flushing;
    bool helped, watched;
    uint32_t flushes;
    struct hm_lane *next, *next_spare;
};

/* How others find a PE: this, with the worker's address. */
struct hm_ucx_address {
    uint8_t shift; /* its memory is registered in extents of so many bytes, 1 << shift */
    char worker[];
};

/* Memory of this PE. */
struct hm_ucx_segment {
    char *base; /* as UCX sees it */
    size_t bytes;
    ucp_mem_h *extent; /* NULL: not yet registered */
    bool is_mapped_twice;
};

struct hm_ucx {
    const struct hm_transport_host *host;
    ucp_context_h context;
    ucp_worker_h target;
    int target_fd;
    bool has_card; /* registering pins: it reads and writes by itself */
    unsigned shift;
    uint32_t workers; /* that are open */
    size_t enlisted;  /* bytes of segments */
    struct hm_ucx_segment segment[HM_SEGMENTS];
    const void *const *addresses;
    bool leaving; /* from now on others may close their ends */
};
extern struct hm_ucx hm_ucx;

bool hm_ucx_has_old_protocols(void);
int hm_ucx_errno(ucs_status_t status);
/* Says what went wrong, returns -errno. */
int hm_ucx_say(const char *what, ucs_status_t status);
int hm_ucx_worker_open(ucp_worker_h *worker, int *fd);
/* Threads that UCX starts in between take no signals: those are for the program's own. */
void hm_ucx_signals_off(sigset_t *before);
void hm_ucx_signals_back(const sigset_t *before);

/* log.c */
void hm_ucx_hear_log(void);
void hm_ucx_fail(int pe, ucs_status_t status) HM_NORETURN; /* pe: -1 for none */

/* open.c */
const char *hm_ucx_probe(void);
int hm_ucx_start(const struct hm_transport_host *host);
int hm_ucx_address(void *address, size_t room, size_t *bytes);
int hm_ucx_join(const void *const *addresses);
void hm_ucx_leave(void);
void hm_ucx_stop(void);

/* memory.c: the owner's side and the user's. */
/* How memory is to be registered: once the context is there. */
void hm_ucx_memory_open(void);
void hm_ucx_memory_close(void);
/* Could so many bytes be pinned besides what the workers need, where the network pins and there is a limit? */
ucs_status_t hm_ucx_try_to_pin(size_t bytes);
/* A clause about this PE's limit of locked memory; empty where there is none. */
void hm_ucx_lock_limit(char *text, size_t room);
int hm_ucx_add_segment(enum hm_segment_id segment, int descriptor, void *base, size_t bytes);
bool hm_ucx_give_back(enum hm_segment_id segment, size_t offset, size_t bytes, bool (*pages)(size_t offset, size_t bytes));
/* Messages about keys: those that the target worker answers, and those that tell a lane. */
ucs_status_t hm_ucx_hear_keys(ucp_worker_h worker, struct hm_lane *lane);
/* Where a place is, for UCX, and how many of the bytes from there on have the same key. */
uint64_t hm_ucx_remote(struct hm_ucx_link *link, struct hm_place place, ucp_rkey_h *key);
size_t hm_ucx_piece(const struct hm_ucx_link *link, uint64_t offset, size_t bytes);
void hm_ucx_keys_drop(struct hm_ucx_link *link);

/* message.c */
enum hm_ucx_message {
    HM_UCX_MESSAGE,
    HM_UCX_ASK_KEY,
    HM_UCX_TELL_KEY,
    HM_UCX_PIECE,
    HM_UCX_ASK_BLOCK,
    HM_UCX_TELL_BLOCK
};
enum { HM_UCX_MESSAGE_MAX = 64 << 10 };
ucs_status_t hm_ucx_on_message(ucp_worker_h worker, enum hm_ucx_message id, ucp_am_recv_callback_t call, void *arg);
ucs_status_t hm_ucx_hear_messages(void);
void hm_ucx_message(struct hm_lane *lane, int pe, const void *from, size_t bytes, void (*done)(void *arg), void *arg);

/* stream.c: large puts and gets over TCP. */
ucs_status_t hm_ucx_hear_streams(ucp_worker_h worker, struct hm_lane *lane); /* NULL: the target worker */
bool hm_ucx_streams(struct hm_ucx_link *link, size_t bytes); /* is an operation of so many bytes one of these? */
/* Sends the first part of a put, whose length it gives; the rest is to follow as a put of UCX's. `unfinished` counts
 * what still needs `from`. */
size_t hm_ucx_stream_put(struct hm_ucx_link *link, struct hm_place to, const void *from, size_t bytes,
                         uint32_t *unfinished);
void hm_ucx_stream_get(struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes);
void hm_ucx_stream_get_nbi(struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes);

/* lane.c */
int hm_ucx_lane_open(struct hm_lane **lane);
void hm_ucx_lane_close(struct hm_lane *lane);
/* All lanes, which are closed by now, end; behind the progress thread. */
void hm_ucx_lanes_drop(void);
struct hm_ucx_link *hm_ucx_link_to(struct hm_lane *lane, int pe);
/* Has it anything that is not known to be complete? And: all that had been issued by then is. */
bool hm_ucx_is_under_way(const struct hm_lane *lane);
void hm_ucx_drained(struct hm_lane *lane, uint64_t issued);
void hm_ucx_enter(struct hm_lane *lane);
/* `issued`: something that is complete only behind a quiet. */
void hm_ucx_left(struct hm_lane *lane, bool issued);
/* Until the request is done, which is freed then. */
void hm_ucx_wait(struct hm_lane *lane, ucs_status_ptr_t request, int pe);
/* Until that counts no more than `most`; and: until no more requests of the lane are unfinished. */
void hm_ucx_wait_count(struct hm_lane *lane, const uint32_t *unfinished, uint32_t most);
void hm_ucx_wait_few(struct hm_lane *lane, uint32_t most);
/* One turn of a wait; `still` counts those in which nothing has moved. */
void hm_ucx_turn(struct hm_lane *lane, int *still);
/* Ends the job unless it went well. */
void hm_ucx_check(ucs_status_t status, int pe);
/* For requests that nobody waits for by themselves. */
void hm_ucx_request_done(void *request, ucs_status_t status, void *link);
void hm_ucx_note(struct hm_ucx_link *link, ucs_status_ptr_t request);

/* thread.c */
int hm_ucx_thread_start(void);
void hm_ucx_thread_halt(void);
void hm_ucx_thread_add(struct hm_lane *lane);
void hm_ucx_thread_forget(void); /* all lanes */
void hm_ucx_thread_kick(void);   /* a lane has something under way now, and had not before */
void hm_ucx_thread_send(void);   /* a lane has a message that must be helped away */
void hm_ucx_thread_wake_at(uint64_t ns);
void hm_ucx_thread_rouse(void); /* it is to look at everything at once */
/* Is it woken by what comes for the target worker? And: it is to look whether who has the helm does his duty. */
void hm_ucx_thread_hear_target(bool on);
void hm_ucx_thread_mind(void);

/* helm.c */
extern const struct hm_helm hm_ucx_helm;
bool hm_ucx_helm_is_taken(void);
void hm_ucx_helm_open(void);
void hm_ucx_helm_close(void); /* from now on nobody serves */
/* Takes it from one who has not looked since the last tick. */
void hm_ucx_helm_tick(void);
/* False: somebody has it. Else nobody takes it before it is released. */
bool hm_ucx_helm_hold(void);
void hm_ucx_helm_release(void);

/* way.c */
int hm_ucx_way(struct hm_lane *lane, int pe, char *text, size_t size);

/* op.c */
extern const struct hm_transport hm_ucx_transport;

#endif

/* The transport over UCX: what its files share.
 *
 * A PE has one target worker, which all remote endpoints lead to and which the progress thread alone
 * progresses. A lane, of a context, is a worker of its own that only initiates. Over TCP, UCX does puts
 * and atomics in software at the target, so it is the target's progress thread that stores them; where a
 * network card does it, the thread has nothing to do.
 */
#ifndef HM_UCX_H
#define HM_UCX_H

#include <pthread.h>
#include <signal.h>
#include <ucp/api/ucp.h>

#include "transport/transport.h"

/* The way from one lane to one PE, made at the first use. */
struct hm_ucx_link {
    int pe;
    struct hm_lane *lane;
    ucp_ep_h ep;
    ucp_rkey_h key[HM_SEGMENTS]; /* NULL: that PE has no such segment */
};

struct hm_lane {
    ucp_worker_h worker;
    int fd; /* readable when there may be something to progress, once the worker is armed */
    struct hm_ucx_link **link; /* [npes] */
    pthread_mutex_t making;    /* of links */
    uint64_t junk;             /* where results go that nobody wants */
    uint32_t unfinished;       /* requests whose callback has not come yet */
    /* A lane has something under way while issued and drained differ. */
    uint64_t issued, drained;
    uint32_t inside; /* callers */
    /* the progress thread's */
    uint64_t seen, flushing;
    bool helped, watched;
    uint32_t flushes;
    struct hm_lane *next, *next_spare;
};

/* How others find a PE: this, then the packed keys, then the worker's address. */
struct hm_ucx_address {
    uint64_t base[HM_SEGMENTS];
    uint32_t key_bytes[HM_SEGMENTS];
    uint32_t worker_bytes;
    char text[];
};

struct hm_ucx {
    const struct hm_transport_host *host;
    ucp_context_h context;
    ucp_worker_h target;
    int target_fd;
    ucp_mem_h memory[HM_SEGMENTS];
    void *base[HM_SEGMENTS];
    size_t bytes[HM_SEGMENTS];
    const void *const *addresses;
    bool leaving; /* from now on others may close their ends */
};
extern struct hm_ucx hm_ucx;

int hm_ucx_errno(ucs_status_t status);
/* Says what went wrong, returns -errno. */
int hm_ucx_say(const char *what, ucs_status_t status);
int hm_ucx_worker_open(ucp_worker_h *worker, int *fd);
/* Threads that UCX starts in between take no signals: those are for the program's own. */
void hm_ucx_signals_off(sigset_t *before);
void hm_ucx_signals_back(const sigset_t *before);

/* open.c */
const char *hm_ucx_probe(void);
int hm_ucx_start(const struct hm_transport_host *host);
int hm_ucx_add_segment(enum hm_segment_id segment, int descriptor, void *base, size_t bytes);
int hm_ucx_address(void *address, size_t room, size_t *bytes);
int hm_ucx_join(const void *const *addresses);
void hm_ucx_leave(void);
void hm_ucx_stop(void);

/* lane.c */
int hm_ucx_lane_open(struct hm_lane **lane);
void hm_ucx_lane_close(struct hm_lane *lane);
/* All lanes, which are closed by now, end; behind the progress thread. */
void hm_ucx_lanes_drop(void);
struct hm_ucx_link *hm_ucx_link_to(struct hm_lane *lane, int pe);
uint64_t hm_ucx_remote(const struct hm_ucx_link *link, struct hm_place place, ucp_rkey_h *key);
/* Has it anything that is not known to be complete? And: all that had been issued by then is. */
bool hm_ucx_is_under_way(const struct hm_lane *lane);
void hm_ucx_drained(struct hm_lane *lane, uint64_t issued);
void hm_ucx_enter(struct hm_lane *lane);
/* `issued`: something that is complete only behind a quiet. */
void hm_ucx_left(struct hm_lane *lane, bool issued);
/* Until the request is done, which is freed then. */
void hm_ucx_wait(struct hm_lane *lane, ucs_status_ptr_t request, int pe);
/* Until no more than `most` requests are unfinished. */
void hm_ucx_wait_few(struct hm_lane *lane, uint32_t most);
/* For requests that nobody waits for by themselves. */
void hm_ucx_request_done(void *request, ucs_status_t status, void *link);
void hm_ucx_note(struct hm_ucx_link *link, ucs_status_ptr_t request);

/* thread.c */
int hm_ucx_thread_start(void);
void hm_ucx_thread_halt(void);
void hm_ucx_thread_add(struct hm_lane *lane);
void hm_ucx_thread_forget(void); /* all lanes */
void hm_ucx_thread_kick(void);   /* a lane has something under way now, and had not before */

/* op.c */
extern const struct hm_transport hm_ucx_transport;

#endif

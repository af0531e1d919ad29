/* What the files of stream.c share: an operation whose turn comes, the worker that does it, and meetings on streams. */
#ifndef HM_STREAM_OP_H
#define HM_STREAM_OP_H

#include "core/ctx.h"
#include "core/stream.h"
#include "core/sync.h"
#include "core/wait.h"

struct hm_stream_op;

/* One step: -EAGAIN: what it needs is not there yet; 0: it went on; 1: it is done. */
typedef int hm_stream_step(struct hm_stream_op *op);

struct hm_stream_op {
    struct hm_stream_op *next;          /* in the worker's list */
    struct hm_stream_op *older, *newer; /* among all that are on streams */
    uint32_t done;                      /* what the stream waits for */
    hm_stream_step *step;
    const char *call;
    char *dest;
    const char *source;
    size_t bytes, at; /* at: so far */
    int pe;           /* world number; -1: no particular one */
    uint64_t *sig_addr, signal;
    int sig_op;       /* put_signal: the operation; wait: the comparison */
    /* of a team's */
    struct hm_team *team;
    hm_handle handle;
    struct hm_purpose purpose;
    int phase, root;
    bool has_come, has_told; /* to the meeting of this phase; the next machine */
    int round;               /* of the leaders' meeting; 0: the members of this machine have not all come */
    /* of a reduction: this member's share of n elements, and the member that is next in the chunk */
    struct hm_stream_sum sum;
    size_t n, first, share;
    int member;
    char *acc, *more;
    /* while it waits */
    unsigned steps;            /* in vain */
    int64_t have;              /* what the word was */
    struct hm_blocked *shown;  /* to the launcher; NULL: it is not */
};

/* An error as it is documented for the caller, told to who debugs. pe -1: nobody's in particular. */
int hm_stream_refused(int error, int pe, const char *call);

/* On the stream as a copy of the runtime's; -ENOTSUP: it is for the worker. What refused is returned as hm_stream_refused has
 * it. await: at finalize, for all of them; ends the job with a sentence when one has failed. */
int hm_stream_copy_to(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call);
int hm_stream_copy_from(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call);
void hm_stream_await_copies(const char *call);
/* By the worker, now and then: false when there is nothing to look for. */
bool hm_stream_watch_copies(uint64_t *looked);

/* Of the host, for what is on streams: shows in the launcher's report. */
void hm_stream_wait_begin(struct hm_wait *w, const char *call);

/* Bytes that one step moves, so that large transfers hold up no others. */
#define HM_STREAM_PIECE ((size_t)16 << 20)

/* The worker runs from the first operation on. */
int hm_stream_start_worker(const char *call);
void hm_stream_wake_worker(void);
/* Puts the operation on the stream; it is freed when it is done, or at once when it could not be put there. */
int hm_stream_enqueue(struct hm_stream_op *op, void *stream);
/* Of the worker's copies and signals; its PE numbers are world numbers. */
struct hm_ctx *hm_stream_ctx(void);
/* All that this PE began, on streams and by host calls of the default context, is complete. */
void hm_stream_complete(void);

/* How many members of this machine have not come to the meeting that the operation waits in, and who is the first (-1:
 * unknown). */
int hm_stream_missing(const struct hm_stream_op *op, int *first);

hm_stream_step hm_stream_step_barrier, hm_stream_step_broadcast, hm_stream_step_reduce;

#endif

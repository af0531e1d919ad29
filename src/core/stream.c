#include "core/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/device.h"
#include "core/order.h"
#include "core/rma.h"
#include "core/stream_op.h"
#include "core/wait.h"
#include "core/world.h"

/* --- what is refused at once --- */

int hm_stream_refused(int error, int pe, const char *call)
{
    char whose[24] = "";
    if (pe >= 0) snprintf(whose, sizeof whose, " (PE %d)", pe);
    hm_debug("%s%s: not put on the stream: %s", call, whose, hm_device.ops->why());
    if (error == -EAGAIN) return -ENOMEM; /* a limit, which is lower again when streams go on */
    return error == -ENOTSUP || error == -ENOMEM || error == -ENODEV ? error : -EIO;
}

static int usable(void *stream, const char *call)
{
    hm_world_need(call);
    if (!hm_device_any()) {
        hm_debug("%s: this job has no device heap, so there are no streams of its kind; set SHMEM_HEAP_KIND", call);
        return -ENOTSUP;
    }
    if (hm_stream_has_copies()) hm_stream_ask_copies_of(stream, call);
    if (hm_device.ops->stream_call) return 0;
    hm_debug("%s: kind %s has nothing that can be done in the order of a stream", call, hm_device.kind->name);
    return -ENOTSUP;
}

static struct hm_stream_op *make(hm_stream_step *step, int pe, const char *call)
{
    struct hm_stream_op *op = calloc(1, sizeof *op);
    if (!op) {
        hm_debug("%s: out of memory", call);
        return NULL;
    }
    op->step = step;
    op->pe = pe;
    op->call = call;
    return op;
}

static int put_on(struct hm_stream_op *op, void *stream)
{
    const char *call = op->call;
    int pe = op->pe, e = hm_stream_start_worker(call);
    if (e) {
        free(op);
        return e;
    }
    e = hm_device.ops->enter();
    if (e) {
        free(op);
        return hm_stream_refused(e, pe, call);
    }
    e = hm_stream_enqueue(op, stream);
    if (e) e = hm_stream_refused(e, pe, call);
    hm_device.ops->leave();
    return e;
}

/* --- steps of the worker --- */

static bool next_piece(struct hm_stream_op *op, size_t *at, size_t *n)
{
    size_t left = op->bytes - op->at;
    *at = op->at;
    *n = left < HM_STREAM_PIECE ? left : HM_STREAM_PIECE;
    op->at += *n;
    return *n > 0;
}

/* Complete in the order of the stream: nobody can tell later whether it was. */
static int step_put(struct hm_stream_op *op)
{
    size_t at, n;
    if (next_piece(op, &at, &n)) {
        hm_put_slow(hm_stream_ctx(), op->dest + at, op->source + at, n, op->pe, false, op->call);
        return 0;
    }
    if (op->bytes) hm_quiet(hm_stream_ctx());
    if (!op->sig_addr) return 1;
    hm_signal(hm_stream_ctx(), op->sig_addr, op->signal, op->sig_op, op->pe, op->call);
    hm_quiet(hm_stream_ctx());
    return 1;
}

static int step_get(struct hm_stream_op *op)
{
    size_t at, n;
    if (!next_piece(op, &at, &n)) return 1;
    hm_get_slow(hm_stream_ctx(), op->dest + at, op->source + at, n, op->pe, false, op->call);
    return 0;
}

static uint64_t word_now(struct hm_stream_op *op)
{
    uint64_t have;
    if (!hm_device_holds(op->sig_addr, 1)) return (uint64_t)hm_word_load(op->sig_addr, HM_WORD_U64);
    hm_get_slow(hm_stream_ctx(), &have, op->sig_addr, sizeof have, hm_world.pe, false, op->call);
    return have;
}

static int step_wait(struct hm_stream_op *op)
{
    op->have = (int64_t)word_now(op);
    return hm_word_is(op->have, op->sig_op, (int64_t)op->signal, HM_WORD_U64) ? 1 : -EAGAIN;
}

static int step_quiet(struct hm_stream_op *op)
{
    (void)op;
    hm_stream_complete();
    return 1;
}

/* --- calls --- */

static void check(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    const struct hm_peer *peer;
    (void)hm_symm_reach(addr, bytes, pe, &peer, call, arg);
}

static int enqueue_transfer(hm_stream_step *step, void *dest, const void *source, size_t bytes, int pe, void *stream,
                            const char *call)
{
    struct hm_stream_op *op = make(step, pe, call);
    if (!op) return -ENOMEM;
    op->dest = dest;
    op->source = source;
    op->bytes = bytes;
    return put_on(op, stream);
}

int hm_stream_put(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    int e = usable(stream, call);
    if (e || !bytes) return e;
    check(dest, bytes, pe, call, "dest");
    e = hm_stream_copy_to(dest, source, bytes, pe, stream, call);
    return e == -ENOTSUP ? enqueue_transfer(step_put, dest, source, bytes, pe, stream, call) : e;
}

int hm_stream_get(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    int e = usable(stream, call);
    if (e || !bytes) return e;
    check(source, bytes, pe, call, "source");
    e = hm_stream_copy_from(dest, source, bytes, pe, stream, call);
    return e == -ENOTSUP ? enqueue_transfer(step_get, dest, source, bytes, pe, stream, call) : e;
}

int hm_stream_put_signal(void *dest, const void *source, size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op,
                         int pe, void *stream, const char *call)
{
    int e = usable(stream, call);
    if (e) return e;
    if (bytes) check(dest, bytes, pe, call, "dest");
    hm_signal_check(sig_addr, sig_op, pe, call);
    /* By the worker as a whole: a copy of the stream's own might fail, and the signal would come all the same. */
    struct hm_stream_op *op = make(step_put, pe, call);
    if (!op) return -ENOMEM;
    op->dest = dest;
    op->source = source;
    op->bytes = bytes;
    op->sig_addr = sig_addr;
    op->signal = signal;
    op->sig_op = sig_op;
    return put_on(op, stream);
}

int hm_stream_wait(uint64_t *sig_addr, int cmp, uint64_t value, void *stream, const char *call)
{
    int e = usable(stream, call);
    if (e) return e;
    hm_wait_check(sig_addr, cmp, HM_WORD_U64, call, "sig_addr");
    struct hm_stream_op *op = make(step_wait, -1, call);
    if (!op) return -ENOMEM;
    op->sig_addr = sig_addr;
    op->sig_op = cmp;
    op->signal = value;
    return put_on(op, stream);
}

int hm_stream_quiet(void *stream, const char *call)
{
    int e = usable(stream, call);
    if (e) return e;
    struct hm_stream_op *op = make(step_quiet, -1, call);
    return op ? put_on(op, stream) : -ENOMEM;
}

/* --- of teams --- */

static struct hm_stream_op *make_for(hm_stream_step *step, struct hm_team *team, const struct hm_purpose *purpose,
                                     const char *call)
{
    struct hm_stream_op *op = make(step, -1, call);
    if (!op) return NULL;
    op->team = team;
    op->handle = team->handle;
    op->purpose = *purpose;
    return op;
}

int hm_stream_barrier(struct hm_team *team, void *stream, const char *call)
{
    static const struct hm_purpose purpose = {.kind = HM_COLL_BARRIER};
    int e = usable(stream, call);
    if (e) return e;
    struct hm_stream_op *op = make_for(hm_stream_step_barrier, team, &purpose, call);
    return op ? put_on(op, stream) : -ENOMEM;
}

int hm_stream_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, void *stream,
                        const char *call)
{
    struct hm_purpose purpose = {.kind = HM_COLL_BROADCAST, .root = root, .size = bytes};
    int e = usable(stream, call);
    if (e) return e;
    if ((unsigned)root >= (unsigned)team->size)
        hm_die(call, "PE_root: %d is not in the team, whose PEs are 0 to %d", root, team->size - 1);
    if (bytes) hm_symm_require(dest, bytes, call, "dest");
    if (bytes && team->me == root) hm_symm_require(source, bytes, call, "source");
    struct hm_stream_op *op = make_for(hm_stream_step_broadcast, team, &purpose, call);
    if (!op) return -ENOMEM;
    op->dest = dest;
    op->source = source;
    op->bytes = bytes;
    op->root = root;
    op->pe = hm_team_pe(team, root);
    return put_on(op, stream);
}

int hm_stream_reduce(struct hm_team *team, void *dest, const void *source, size_t n, const struct hm_stream_sum *sum,
                     void *stream, const char *call)
{
    size_t bytes;
    int e = usable(stream, call);
    if (e) return e;
    if (__builtin_mul_overflow(n, sum->size, &bytes)) bytes = SIZE_MAX;
    struct hm_purpose purpose = {.kind = HM_COLL_REDUCE, .type = sum->type, .op = sum->op, .size = bytes};
    if (n) {
        hm_symm_require(dest, bytes, call, "dest");
        hm_symm_require(source, bytes, call, "source");
    }
    struct hm_stream_op *op = make_for(hm_stream_step_reduce, team, &purpose, call);
    if (!op) return -ENOMEM;
    op->dest = dest;
    op->source = source;
    op->n = n;
    op->sum = *sum;
    return put_on(op, stream);
}

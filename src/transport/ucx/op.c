/* The operations, and the table of all that this transport is. */
#include <string.h>

#include "base/version.h"
#include "transport/ucx/ucx.h"

enum { MOST_UNFINISHED = 1024 }; /* requests of a lane that nobody waits for yet */

static const ucp_request_param_t plain = {0};

static ucp_request_param_t unattended(struct hm_ucx_link *link)
{
    __atomic_fetch_add(&link->lane->unfinished, 1, __ATOMIC_RELAXED);
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = hm_ucx_request_done,
                                 .user_data = link};
}

static struct hm_place beyond(struct hm_place place, size_t n)
{
    place.offset += n;
    return place;
}

/* How much of a put has gone in pieces: 0 or nearly all. */
static size_t streamed(struct hm_ucx_link *link, struct hm_place to, const void *from, size_t bytes,
                       uint32_t *unfinished)
{
    return hm_ucx_streams(link, bytes) ? hm_ucx_stream_put(link, to, from, bytes, unfinished) : 0;
}

/* Memory of another PE may be registered in extents: an operation that crosses from one to the next is two. */
static void put_unattended(struct hm_ucx_link *link, struct hm_place to, const void *from, size_t bytes)
{
    size_t done = streamed(link, to, from, bytes, &link->lane->unfinished);
    for (size_t n; done < bytes; done += n) {
        ucp_rkey_h key;
        uint64_t at = hm_ucx_remote(link, beyond(to, done), &key);
        ucp_request_param_t param = unattended(link);
        n = hm_ucx_piece(link, to.offset + done, bytes - done);
        hm_ucx_note(link, ucp_put_nbx(link->ep, (const char *)from + done, n, at, key, &param));
    }
}

static void put_here(struct hm_lane *lane, struct hm_ucx_link *link, struct hm_place to, const void *from,
                     size_t bytes)
{
    uint32_t unfinished = 0;
    size_t done = streamed(link, to, from, bytes, &unfinished);
    for (size_t n; done < bytes; done += n) {
        ucp_rkey_h key;
        uint64_t at = hm_ucx_remote(link, beyond(to, done), &key);
        n = hm_ucx_piece(link, to.offset + done, bytes - done);
        hm_ucx_wait(lane, ucp_put_nbx(link->ep, (const char *)from + done, n, at, key, &plain), to.pe);
    }
    hm_ucx_wait_count(lane, &unfinished, 0);
}

static void put(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes)
{
    hm_ucx_enter(lane);
    put_here(lane, hm_ucx_link_to(lane, to.pe), to, from, bytes);
    hm_ucx_left(lane, true);
}

static void put_nbi(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes)
{
    hm_ucx_enter(lane);
    hm_ucx_wait_few(lane, MOST_UNFINISHED);
    put_unattended(hm_ucx_link_to(lane, to.pe), to, from, bytes);
    hm_ucx_left(lane, true);
}

static void get_here(struct hm_lane *lane, struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes)
{
    for (size_t n; bytes; bytes -= n, from.offset += n, to = (char *)to + n) {
        ucp_rkey_h key;
        uint64_t at = hm_ucx_remote(link, from, &key);
        n = hm_ucx_piece(link, from.offset, bytes);
        hm_ucx_wait(lane, ucp_get_nbx(link->ep, to, n, at, key, &plain), from.pe);
    }
}

static void get(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes)
{
    hm_ucx_enter(lane);
    struct hm_ucx_link *link = hm_ucx_link_to(lane, from.pe);
    if (hm_ucx_streams(link, bytes))
        hm_ucx_stream_get(link, to, from, bytes);
    else
        get_here(lane, link, to, from, bytes);
    hm_ucx_left(lane, false);
}

static void get_unattended(struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes)
{
    for (size_t n; bytes; bytes -= n, from.offset += n, to = (char *)to + n) {
        ucp_rkey_h key;
        uint64_t at = hm_ucx_remote(link, from, &key);
        ucp_request_param_t param = unattended(link);
        n = hm_ucx_piece(link, from.offset, bytes);
        hm_ucx_note(link, ucp_get_nbx(link->ep, to, n, at, key, &param));
    }
}

static void get_nbi(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes)
{
    hm_ucx_enter(lane);
    hm_ucx_wait_few(lane, MOST_UNFINISHED);
    struct hm_ucx_link *link = hm_ucx_link_to(lane, from.pe);
    if (hm_ucx_streams(link, bytes))
        hm_ucx_stream_get_nbi(link, to, from, bytes);
    else
        get_unattended(link, to, from, bytes);
    hm_ucx_left(lane, true);
}

/* --- atomics --- */

/* UCX has no atomic load and store: adding nothing is the one, a swap whose result is dropped the other. */
static ucp_atomic_op_t op_of(enum hm_amo op)
{
    switch (op) {
    case HM_AMO_SET:
    case HM_AMO_SWAP:
        return UCP_ATOMIC_OP_SWAP;
    case HM_AMO_CAS:
        return UCP_ATOMIC_OP_CSWAP;
    case HM_AMO_AND:
    case HM_AMO_FETCH_AND:
        return UCP_ATOMIC_OP_AND;
    case HM_AMO_OR:
    case HM_AMO_FETCH_OR:
        return UCP_ATOMIC_OP_OR;
    case HM_AMO_XOR:
    case HM_AMO_FETCH_XOR:
        return UCP_ATOMIC_OP_XOR;
    default:
        return UCP_ATOMIC_OP_ADD;
    }
}

static bool is_silent(enum hm_amo op)
{
    return op == HM_AMO_SET || op == HM_AMO_ADD || op == HM_AMO_AND || op == HM_AMO_OR || op == HM_AMO_XOR;
}

static void with_reply(ucp_request_param_t *param, size_t size, void *reply)
{
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param->datatype = ucp_dt_make_contig(size);
    if (!reply) return;
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param->reply_buffer = reply;
}

/* UCX takes the operand out of `value` before it returns. An atomic without result it declares complete at
 * once, and frees the request by itself even where that is not so yet: such a request must not have a
 * callback. The quiet waits for it. */
static void silent(struct hm_ucx_link *link, enum hm_amo op, struct hm_place word, size_t size,
                   uint64_t value)
{
    ucp_rkey_h key;
    uint64_t at = hm_ucx_remote(link, word, &key);
    bool is_set = op == HM_AMO_SET;
    __atomic_store_n(&link->lane->unapplied, true, __ATOMIC_RELAXED);
    ucp_request_param_t param = is_set ? unattended(link) : plain;
    with_reply(&param, size, is_set ? &link->lane->junk : NULL);
    ucs_status_ptr_t request = ucp_atomic_op_nbx(link->ep, op_of(op), &value, 1, at, key, &param);
    if (is_set)
        hm_ucx_note(link, request);
    else
        hm_ucx_wait(link->lane, request, word.pe); /* later versions may give one */
}

static uint64_t fetching(struct hm_lane *lane, struct hm_ucx_link *link, enum hm_amo op, struct hm_place word,
                         size_t size, uint64_t value, uint64_t cond)
{
    ucp_rkey_h key;
    uint64_t at = hm_ucx_remote(link, word, &key), operand = value, reply = 0;
    if (op == HM_AMO_FETCH) operand = 0;
    if (op == HM_AMO_CAS) {
        operand = cond;
        reply = value; /* as UCX wants it: the new value lies where the old one will */
    }
    ucp_request_param_t param = plain;
    with_reply(&param, size, &reply);
    hm_ucx_wait(lane, ucp_atomic_op_nbx(link->ep, op_of(op), &operand, 1, at, key, &param), word.pe);
    return size == 4 ? (uint32_t)reply : reply;
}

static uint64_t atomic(struct hm_lane *lane, enum hm_amo op, struct hm_place word, size_t size,
                       uint64_t value, uint64_t cond)
{
    uint64_t old = 0;
    hm_ucx_enter(lane);
    struct hm_ucx_link *link = hm_ucx_link_to(lane, word.pe);
    if (is_silent(op)) {
        hm_ucx_wait_few(lane, MOST_UNFINISHED);
        silent(link, op, word, size, value);
    } else {
        old = fetching(lane, link, op, word, size, value, cond);
    }
    hm_ucx_left(lane, is_silent(op));
    return old;
}

/* --- order --- */

static void order(struct hm_lane *lane)
{
    ucs_status_t status = ucp_worker_fence(lane->worker);
    if (status != UCS_OK) hm_ucx_fail(-1, status);
}

static void put_signal(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes,
                       struct hm_place signal, uint64_t value, enum hm_amo op, bool nbi)
{
    hm_ucx_enter(lane);
    hm_ucx_wait_few(lane, MOST_UNFINISHED);
    struct hm_ucx_link *link = hm_ucx_link_to(lane, to.pe);
    if (nbi)
        put_unattended(link, to, from, bytes);
    else
        put_here(lane, link, to, from, bytes);
    order(lane);
    silent(link, op, signal, sizeof value, value);
    hm_ucx_left(lane, true);
}

/* Where a card does the puts, one that is behind an atomic is not behind what the target's CPU makes of it: UCX orders only
 * what is on the wire. */
static void fence(struct hm_lane *lane)
{
    hm_ucx_enter(lane);
    if (hm_ucx.has_card && __atomic_exchange_n(&lane->unapplied, false, __ATOMIC_RELAXED))
        hm_ucx_wait(lane, ucp_worker_flush_nbx(lane->worker, &plain), -1);
    else
        order(lane);
    hm_ucx_left(lane, false);
}

static void quiet(struct hm_lane *lane)
{
    if (!hm_ucx_is_under_way(lane)) return;
    uint64_t issued = __atomic_load_n(&lane->issued, __ATOMIC_SEQ_CST);
    hm_ucx_enter(lane);
    __atomic_store_n(&lane->unapplied, false, __ATOMIC_RELAXED);
    hm_ucx_wait(lane, ucp_worker_flush_nbx(lane->worker, &plain), -1);
    hm_ucx_wait_few(lane, 0);
    hm_ucx_drained(lane, issued);
    hm_ucx_left(lane, false);
}

const struct hm_transport hm_ucx_transport = {
    .name = "ucx",
    .probe = hm_ucx_probe,
    .start = hm_ucx_start,
    .add_segment = hm_ucx_add_segment,
    .give_back = hm_ucx_give_back,
    .address = hm_ucx_address,
    .join = hm_ucx_join,
    .leave = hm_ucx_leave,
    .stop = hm_ucx_stop,
    .halt = hm_ucx_thread_halt,
    .lane_open = hm_ucx_lane_open,
    .lane_close = hm_ucx_lane_close,
    .put = put,
    .get = get,
    .put_nbi = put_nbi,
    .get_nbi = get_nbi,
    .atomic = atomic,
    .put_signal = put_signal,
    .message_max = HM_UCX_MESSAGE_MAX,
    .message = hm_ucx_message,
    .wake_at = hm_ucx_thread_wake_at,
    .helm = &hm_ucx_helm,
    .fence = fence,
    .quiet = quiet,
    .way = hm_ucx_way,
};

__attribute__((visibility("default"))) const struct hm_transport_module hm_transport_module = {
    .version = HM_VERSION,
    .transport = &hm_ucx_transport,
};

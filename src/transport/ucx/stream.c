/* Large puts and gets over TCP.
 *
 * UCX makes them of messages of its own: it copies on both sides what the kernel copies once more, and the target
 * answers each message. Here they travel in pieces, which are messages of ours. A piece goes to the kernel out of the
 * memory where it lies, is copied to its place by whoever progresses the worker that it comes to, and nobody answers.
 *
 * What is left of a put, its last line, is a put of UCX's behind the pieces on the same connection. So the answer to
 * that one tells of all, and a fence and a quiet hold for the whole as for any other put. A get is a question for each
 * block, and the owner answers with pieces. Few blocks are asked for at a time, so that few pieces wait in the owner.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ucx/ucx.h"

enum {
    LEAST = 64 << 10, /* bytes of an operation that goes in pieces */
    /* Two fit what UCX receives at a time. The kernel's own pieces are of 64 KiB less their heads: two such hold one of
     * ours, while a crumb in a third would make all half as fast. */
    PIECE = 120 << 10,
    LINE = 64,
    MOST_PIECES = 1024, /* that a put has under way before it waits */
    /* A get asks for so many blocks at a time, and a lane begins no get without waiting when it has asked for more
     * bytes: UCX takes 8 KiB for each piece that waits in the owner. */
    BLOCK = 4 * PIECE,
    BLOCKS = 3,
    MOST_ASKED = 4 << 20,
};

/* Where a piece of a put belongs. */
struct spot {
    uint32_t segment;
    uint64_t offset;
};

/* A get that is under way. Messages carry its address there and back. */
struct fetch {
    struct hm_ucx_link *link;
    struct hm_place from;
    char *to;
    size_t bytes, asked, come;
    uint32_t
        *unfinished; /* counts gets that nobody waits for by themselves; NULL: somebody waits for `is_done` */
    bool is_done;
};

struct question {
    struct spot spot;
    uint64_t fetch, at, bytes;
};

struct answer {
    uint64_t fetch, at;
};

/* --- which links --- */

/* UCX's description of an endpoint has a line for each connection: way.c. Only where there is no other may messages
 * and puts not pass each other. */
static bool is_stream(struct hm_ucx_link *link)
{
    char *text = NULL;
    size_t bytes;
    int lanes = 0, tcp = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return false;
    ucp_ep_print_info(link->ep, f);
    if (fclose(f)) return false;
    for (char *lane = text; (lane = strstr(lane, "lane[")) != NULL; lanes++) {
        char *end = strchrnul(lane, '\n'), *name = memmem(lane, (size_t)(end - lane), ":tcp/", 5);
        tcp += name != NULL;
        lane = end;
    }
    free(text);
    return lanes == 1 && tcp == 1;
}

bool hm_ucx_streams(struct hm_ucx_link *link, size_t bytes)
{
    if (hm_likely(bytes < LEAST) || hm_ucx.has_card) return false;
    enum hm_ucx_streaming is = __atomic_load_n(&link->streaming, __ATOMIC_RELAXED);
    if (is == HM_UCX_UNKNOWN) {
        is = is_stream(link) ? HM_UCX_YES : HM_UCX_NO;
        __atomic_store_n(&link->streaming, is, __ATOMIC_RELAXED);
    }
    return is == HM_UCX_YES;
}

/* --- pieces --- */

/* A message that is not yet taken out of the sender's memory. */
struct sent {
    union {
        struct spot spot;
        struct question question;
        struct answer answer;
    } head; /* UCX reads it until the request is done */
    uint32_t *unfinished;
    int pe; /* that must be there; -1: an answer to somebody who may be gone */
};

static void finish(struct sent *sent, ucs_status_t status)
{
    if (sent->pe >= 0) hm_ucx_check(status, sent->pe);
    if (sent->unfinished) __atomic_fetch_sub(sent->unfinished, 1, __ATOMIC_RELEASE);
    free(sent);
}

static void sent_done(void *request, ucs_status_t status, void *sent)
{
    ucp_request_free(request);
    finish(sent, status);
}

static void send_it(ucp_ep_h ep, enum hm_ucx_message id, size_t head_bytes, const void *from, size_t bytes,
                    struct sent what)
{
    struct sent *sent = malloc(sizeof *sent);
    if (!sent) hm_ucx.host->fail(what.pe, "out of memory");
    *sent = what;
    if (what.unfinished) __atomic_fetch_add(what.unfinished, 1, __ATOMIC_RELAXED);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER | (id == HM_UCX_ASK_BLOCK ? UCP_AM_SEND_FLAG_REPLY : 0),
        .cb.send = sent_done,
        .user_data = sent,
    };
    ucs_status_ptr_t request = ucp_am_send_nbx(ep, id, &sent->head, head_bytes, from, bytes, &param);
    if (!UCS_PTR_IS_PTR(request)) finish(sent, UCS_PTR_STATUS(request));
}

/* Pieces end where lines do, so that no word comes in two. */
static size_t piece_at(uint64_t offset, uint64_t end)
{
    uint64_t n = PIECE - (offset & (LINE - 1));
    return n < end - offset ? n : end - offset;
}

/* --- put --- */

size_t hm_ucx_stream_put(struct hm_ucx_link *link, struct hm_place to, const void *from, size_t bytes,
                         uint32_t *unfinished)
{
    uint64_t begin = to.offset, last_line = (begin + bytes - 1) & ~(uint64_t)(LINE - 1);
    for (size_t n; to.offset < last_line; to.offset += n) {
        struct spot spot = {to.segment, to.offset};
        n = piece_at(to.offset, last_line);
        hm_ucx_wait_count(link->lane, unfinished, MOST_PIECES);
        send_it(link->ep, HM_UCX_PIECE, sizeof spot, (const char *)from + (to.offset - begin), n,
                (struct sent){.head.spot = spot, .unfinished = unfinished, .pe = to.pe});
    }
    return last_line - begin;
}

/* On the target worker: by the progress thread. */
static ucs_status_t piece_came(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct spot spot;
    (void)arg;
    (void)header_length;
    (void)param;
    memcpy(&spot, header, sizeof spot);
    memcpy(hm_ucx.segment[spot.segment].base + spot.offset, data, length);
    return UCS_OK;
}

/* --- get --- */

static size_t block_at(size_t at, size_t bytes)
{
    return bytes - at < BLOCK ? bytes - at : BLOCK;
}

static void ask_block(struct hm_ucx_link *link, struct hm_place from, size_t at, size_t bytes,
                      struct fetch *f)
{
    struct question q = {{from.segment, from.offset + at}, (uintptr_t)f, at, bytes};
    __atomic_fetch_add(&link->lane->asked, (uint32_t)bytes, __ATOMIC_RELAXED);
    send_it(link->ep, HM_UCX_ASK_BLOCK, sizeof q, NULL, 0, (struct sent){.head.question = q, .pe = from.pe});
}

static void ask_next(struct fetch *f)
{
    size_t at = f->asked, n = block_at(at, f->bytes);
    f->asked += n;
    ask_block(f->link, f->from, at, n, f);
}

/* The answers may come to another thread at once, and be all that was missing. */
static void ask_first(struct fetch *f)
{
    struct hm_ucx_link *link = f->link;
    struct hm_place from = f->from;
    size_t bytes = f->bytes, first = bytes < BLOCKS * BLOCK ? bytes : BLOCKS * BLOCK;
    f->asked = first;
    for (size_t at = 0; at < first; at += BLOCK)
        ask_block(link, from, at, block_at(at, first), f);
}

/* On the target worker: by the progress thread. */
static ucs_status_t asked(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    struct question q;
    (void)arg;
    (void)header_length;
    (void)data;
    (void)length;
    memcpy(&q, header, sizeof q);
    const char *base = hm_ucx.segment[q.spot.segment].base;
    uint64_t begin = q.spot.offset, end = begin + q.bytes;
    for (uint64_t at = begin, n; at < end; at += n) {
        struct answer a = {q.fetch, q.at + (at - begin)};
        n = piece_at(at, end);
        send_it(param->reply_ep, HM_UCX_TELL_BLOCK, sizeof a, base + at, n,
                (struct sent){.head.answer = a, .pe = -1});
    }
    return UCS_OK;
}

/* Who waits may be gone as soon as it is done. */
static void fetched(struct fetch *f)
{
    uint32_t *unfinished = f->unfinished;
    if (!unfinished) {
        __atomic_store_n(&f->is_done, true, __ATOMIC_RELEASE);
        return;
    }
    free(f);
    __atomic_fetch_sub(unfinished, 1, __ATOMIC_RELEASE);
}

/* By whichever thread progresses the lane, one at a time. */
static ucs_status_t answered(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct answer a;
    (void)arg;
    (void)header_length;
    (void)param;
    memcpy(&a, header, sizeof a);
    struct fetch *f = (struct fetch *)(uintptr_t)a.fetch;
    memcpy(f->to + a.at, data, length);
    f->come += length;
    __atomic_fetch_sub(&f->link->lane->asked, (uint32_t)length, __ATOMIC_RELAXED);
    if (f->asked < f->bytes && f->asked - f->come <= (BLOCKS - 1) * BLOCK) ask_next(f);
    if (f->come == f->bytes) fetched(f);
    return UCS_OK;
}

void hm_ucx_stream_get(struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes)
{
    struct fetch f = {.link = link, .from = from, .to = to, .bytes = bytes};
    int still = 0;
    ask_first(&f);
    while (!__atomic_load_n(&f.is_done, __ATOMIC_ACQUIRE))
        hm_ucx_turn(link->lane, &still);
}

void hm_ucx_stream_get_nbi(struct hm_ucx_link *link, void *to, struct hm_place from, size_t bytes)
{
    hm_ucx_wait_count(link->lane, &link->lane->asked, MOST_ASKED);
    struct fetch *f = malloc(sizeof *f);
    if (!f) hm_ucx.host->fail(from.pe, "out of memory");
    *f = (struct fetch){
        .link = link, .from = from, .to = to, .bytes = bytes, .unfinished = &link->lane->unfinished};
    __atomic_fetch_add(f->unfinished, 1, __ATOMIC_RELAXED);
    ask_first(f);
}

ucs_status_t hm_ucx_hear_streams(ucp_worker_h worker, struct hm_lane *lane)
{
    if (lane) return hm_ucx_on_message(worker, HM_UCX_TELL_BLOCK, answered, lane);
    ucs_status_t status = hm_ucx_on_message(worker, HM_UCX_PIECE, piece_came, NULL);
    return status == UCS_OK ? hm_ucx_on_message(worker, HM_UCX_ASK_BLOCK, asked, NULL) : status;
}

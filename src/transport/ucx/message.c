/* Messages: active messages of UCX to the target worker of a PE. They go eagerly, so that they need nothing of the
 * sender's but its progress, which is the progress thread's duty. */
#include <stdlib.h>

#include "transport/ucx/ucx.h"

/* The bytes before each message. */
struct head {
    int32_t from;
};

ucs_status_t hm_ucx_on_message(ucp_worker_h worker, enum hm_ucx_message id, ucp_am_recv_callback_t call, void *arg)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = id,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = call,
        .arg = arg,
    };
    return ucp_worker_set_am_recv_handler(worker, &param);
}

static ucs_status_t heard(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    const struct head *head = header;
    (void)arg;
    (void)header_length;
    (void)param;
    hm_ucx.host->heard(head->from, data, length);
    return UCS_OK;
}

ucs_status_t hm_ucx_hear_messages(void) { return hm_ucx_on_message(hm_ucx.target, HM_UCX_MESSAGE, heard, NULL); }

/* What was sent and is not yet taken out of the sender's memory. */
struct sent {
    struct head head; /* UCX reads it until the request is done */
    struct hm_ucx_link *link;
    void (*done)(void *arg);
    void *arg;
};

static void finish(struct sent *sent, ucs_status_t status)
{
    struct sent s = *sent;
    free(sent);
    hm_ucx_check(status, s.link->pe);
    if (s.done) s.done(s.arg);
    __atomic_fetch_sub(&s.link->lane->sending, 1, __ATOMIC_RELEASE);
}

static void sent_done(void *request, ucs_status_t status, void *sent)
{
    ucp_request_free(request);
    finish(sent, status);
}

/* Has all that this lane was given so far left UCX's buffers, as nothing was under way before the last message? Then the
 * progress thread need not look after it, nor stand in the way of who comes next. A flush that has nothing to wait for says
 * so at once; any other goes on by itself. */
static bool has_left(struct hm_ucx_link *link, uint64_t now)
{
    struct hm_lane *lane = link->lane;
    if (now - 1 != __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST)) return false;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request = ucp_ep_flush_nbx(link->ep, &param);
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
    if (request) return false;
    hm_ucx_drained(lane, now);
    return true;
}

/* `inside` is for callers that progress the lane: this one does not. */
void hm_ucx_message(struct hm_lane *lane, int pe, const void *from, size_t bytes, void (*done)(void *arg), void *arg)
{
    struct hm_ucx_link *link = hm_ucx_link_to(lane, pe);
    struct sent *sent = malloc(sizeof *sent);
    if (!sent) hm_ucx.host->fail(pe, "out of memory");
    *sent = (struct sent){.head.from = hm_ucx.host->pe, .link = link, .done = done, .arg = arg};
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = sent_done,
        .user_data = sent,
    };
    __atomic_fetch_add(&lane->speaking, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&lane->sending, 1, __ATOMIC_SEQ_CST);
    ucs_status_ptr_t request = ucp_am_send_nbx(link->ep, HM_UCX_MESSAGE, &sent->head, sizeof sent->head, from, bytes, &param);
    uint64_t now = __atomic_add_fetch(&lane->issued, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->spoken, now, __ATOMIC_RELEASE);
    bool waits = UCS_PTR_IS_PTR(request), left = false;
    if (!waits) {
        finish(sent, UCS_PTR_STATUS(request));
        left = has_left(link, now);
    }
    __atomic_fetch_sub(&lane->speaking, 1, __ATOMIC_SEQ_CST);
    if (waits)
        hm_ucx_thread_send();
    else if (!left && now - 1 == __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST))
        hm_ucx_thread_kick();
}

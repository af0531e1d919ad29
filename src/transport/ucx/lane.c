/* Lanes: a worker that initiates, its links to PEs, and how callers wait for it. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ucx/ucx.h"

/* --- open and close --- */

/* A worker and its connections are dear, contexts come and go: lanes that were closed serve the next ones. */
static struct {
    pthread_mutex_t lock;
    struct hm_lane *lanes;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct hm_lane *spare_take(void)
{
    pthread_mutex_lock(&spare.lock);
    struct hm_lane *lane = spare.lanes;
    if (lane) spare.lanes = lane->next_spare;
    pthread_mutex_unlock(&spare.lock);
    return lane;
}

static int lane_make(struct hm_lane **lane)
{
    sigset_t before;
    struct hm_lane *l = calloc(1, sizeof *l);
    struct hm_ucx_link **link = calloc((size_t)hm_ucx.host->npes, sizeof(struct hm_ucx_link *));
    int e = -ENOMEM;
    if (!l || !link) goto free_memory;
    hm_ucx_signals_off(&before);
    e = hm_ucx_worker_open(&l->worker, &l->fd);
    hm_ucx_signals_back(&before);
    if (e) goto free_memory;
    ucs_status_t status = hm_ucx_hear_keys(l->worker, l);
    if (status == UCS_OK) status = hm_ucx_hear_streams(l->worker, l);
    if (status != UCS_OK) {
        e = hm_ucx_say("a worker cannot be told of messages", status);
        goto close_worker;
    }
    l->link = link;
    pthread_mutex_init(&l->making, NULL);
    hm_ucx_thread_add(l);
    *lane = l;
    return 0;
close_worker:
    ucp_worker_destroy(l->worker);
free_memory:
    free(link);
    free(l);
    return e;
}

int hm_ucx_lane_open(struct hm_lane **lane)
{
    *lane = spare_take();
    return *lane ? 0 : lane_make(lane);
}

void hm_ucx_lane_close(struct hm_lane *lane)
{
    pthread_mutex_lock(&spare.lock);
    lane->next_spare = spare.lanes;
    spare.lanes = lane;
    pthread_mutex_unlock(&spare.lock);
}

static void lane_drop(struct hm_lane *lane)
{
    int npes = hm_ucx.host->npes;
    for (int i = 0; i < npes; i++)
        if (lane->link[i]) hm_ucx_keys_drop(lane->link[i]);
    ucp_worker_destroy(lane->worker); /* and its endpoints, which may still call back with their links */
    for (int i = 0; i < npes; i++)
        free(lane->link[i]);
    pthread_mutex_destroy(&lane->making);
    free(lane->link);
    free(lane);
}

void hm_ucx_lanes_drop(void)
{
    struct hm_lane *lane;
    while ((lane = spare_take()) != NULL)
        lane_drop(lane);
    hm_ucx_thread_forget();
}

/* --- links --- */

/* An endpoint has failed: the other end is gone, or the way to it. */
static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    const struct hm_ucx_link *link = arg;
    (void)ep;
    if (!__atomic_load_n(&hm_ucx.leaving, __ATOMIC_SEQ_CST))
        hm_ucx_fail(link->pe, status);
}

static struct hm_ucx_link *link_make(struct hm_lane *lane, int pe)
{
    const struct hm_ucx_address *a = hm_ucx.addresses[pe];
    struct hm_ucx_link *link = calloc(1, sizeof *link);
    if (!link) hm_ucx.host->fail(pe, "out of memory");
    link->pe = pe;
    link->lane = lane;
    link->shift = a->shift;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)a->worker,
        .err_mode = hm_ucx_has_old_protocols() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = {.cb = on_error, .arg = link},
    };
    ucs_status_t status = ucp_ep_create(lane->worker, &params, &link->ep);
    if (status != UCS_OK) hm_ucx_fail(pe, status);
    return link;
}

struct hm_ucx_link *hm_ucx_link_to(struct hm_lane *lane, int pe)
{
    struct hm_ucx_link *link = __atomic_load_n(&lane->link[pe], __ATOMIC_ACQUIRE);
    if (hm_likely(link != NULL)) return link;
    pthread_mutex_lock(&lane->making);
    link = lane->link[pe];
    if (!link) {
        link = link_make(lane, pe);
        __atomic_store_n(&lane->link[pe], link, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lane->making);
    return link;
}

/* --- callers --- */

bool hm_ucx_is_under_way(const struct hm_lane *lane)
{
    return __atomic_load_n(&lane->issued, __ATOMIC_SEQ_CST) !=
           __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST);
}

/* It never goes back: whoever issues next tells from it whether the progress thread knows of this lane. */
void hm_ucx_drained(struct hm_lane *lane, uint64_t issued)
{
    uint64_t have = __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST);
    while (have < issued && !__atomic_compare_exchange_n(&lane->drained, &have, issued, false,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
}

void hm_ucx_enter(struct hm_lane *lane)
{
    __atomic_fetch_add(&lane->inside, 1, __ATOMIC_SEQ_CST);
}

void hm_ucx_left(struct hm_lane *lane, bool issued)
{
    if (issued) {
        uint64_t before = __atomic_fetch_add(&lane->issued, 1, __ATOMIC_SEQ_CST);
        if (before == __atomic_load_n(&lane->drained, __ATOMIC_SEQ_CST)) hm_ucx_thread_kick();
    }
    __atomic_fetch_sub(&lane->inside, 1, __ATOMIC_SEQ_CST);
}

enum { YIELDS = 100, LONGEST_SLEEP_MS = 5 };

/* Asleep in the kernel; not for long, as another thread may progress what this one waits for. */
static void sleep_on(struct hm_lane *lane, int ms)
{
    if (ucp_worker_arm(lane->worker) != UCS_OK) return;
    struct pollfd p = {.fd = lane->fd, .events = POLLIN};
    poll(&p, 1, ms);
}

void hm_ucx_turn(struct hm_lane *lane, int *still)
{
    const struct hm_transport_host *host = hm_ucx.host;
    if (ucp_worker_progress(lane->worker)) {
        *still = 0;
        return;
    }
    if (++*still <= host->spin) {
        hm_relax();
        return;
    }
    host->idle();
    int slept = *still - host->spin - YIELDS;
    if (slept > 0) sleep_on(lane, slept < LONGEST_SLEEP_MS ? slept : LONGEST_SLEEP_MS);
}

void hm_ucx_check(ucs_status_t status, int pe)
{
    if (hm_likely(status == UCS_OK) || __atomic_load_n(&hm_ucx.leaving, __ATOMIC_SEQ_CST)) return;
    hm_ucx_fail(pe, status);
}

void hm_ucx_wait(struct hm_lane *lane, ucs_status_ptr_t request, int pe)
{
    if (!request) return;
    if (UCS_PTR_IS_ERR(request)) {
        hm_ucx_check(UCS_PTR_STATUS(request), pe);
        return;
    }
    ucs_status_t status;
    int still = 0;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        hm_ucx_turn(lane, &still);
    ucp_request_free(request);
    hm_ucx_check(status, pe);
}

void hm_ucx_wait_count(struct hm_lane *lane, const uint32_t *unfinished, uint32_t most)
{
    int still = 0;
    while (__atomic_load_n(unfinished, __ATOMIC_ACQUIRE) > most)
        hm_ucx_turn(lane, &still);
}

void hm_ucx_wait_few(struct hm_lane *lane, uint32_t most) { hm_ucx_wait_count(lane, &lane->unfinished, most); }

void hm_ucx_request_done(void *request, ucs_status_t status, void *arg)
{
    struct hm_ucx_link *link = arg;
    hm_ucx_check(status, link->pe);
    ucp_request_free(request);
    __atomic_fetch_sub(&link->lane->unfinished, 1, __ATOMIC_RELEASE);
}

/* Before the call `unfinished` was counted up: the callback may come before the call returns to us, in
 * another thread. */
void hm_ucx_note(struct hm_ucx_link *link, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request)) return;
    __atomic_fetch_sub(&link->lane->unfinished, 1, __ATOMIC_RELEASE);
    hm_ucx_check(UCS_PTR_STATUS(request), link->pe); /* NULL is UCS_OK */
}

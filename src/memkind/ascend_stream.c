/* Streams of the program's: copies and calls in their order, which nobody waits for.
 *
 * The runtime runs host functions of all streams of a context on one thread, so one that waits would hold up those of other
 * streams. So the host function only tells, a helper thread does what is to be done and writes a word of device memory, and
 * the stream waits for that word.
 */
#include "memkind/ascend.h"

#include <stdlib.h>
#include <string.h>

static struct hm_gates gates = HM_GATES_NONE;
static uint64_t *words; /* of the gates, in device memory */

static bool can_call(void) { return words; }

int hm_ascend_stream_begin(void)
{
    void *at = NULL;
    size_t bytes = HM_GATES * sizeof *words;
    if (!hm_acl.aclrtLaunchHostFunc || !hm_acl.aclrtValueWait) return 0;
    int rc = hm_acl_call(aclrtMalloc, &at, bytes, 0);
    if (!rc) rc = hm_acl_call(aclrtMemset, at, bytes, 0, bytes);
    if (rc) {
        if (at) hm_acl.aclrtFree(at);
        return rc;
    }
    words = at;
    hm_gates_reset(&gates);
    return 0;
}

void hm_ascend_stream_end(void)
{
    if (words) hm_acl.aclrtFree(words);
    words = NULL;
}

/* --- what failed behind its call --- */

static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static int failure;
static char failure_text[900];

static void remember(int rc)
{
    pthread_mutex_lock(&failure_lock);
    if (!failure) {
        memcpy(failure_text, hm_vendor_why(), strnlen(hm_vendor_why(), sizeof failure_text - 1) + 1);
        failure_text[sizeof failure_text - 1] = '\0';
        __atomic_store_n(&failure, rc, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&failure_lock);
}

int hm_ascend_stream_failure(void)
{
    if (hm_likely(!__atomic_load_n(&failure, __ATOMIC_ACQUIRE))) return 0;
    pthread_mutex_lock(&failure_lock);
    int rc = failure;
    if (rc) hm_vendor_say("behind an earlier call on a stream: %s", failure_text);
    failure = 0;
    pthread_mutex_unlock(&failure_lock);
    return rc;
}

/* --- calls --- */

struct call {
    void (*fn)(void *);
    void *arg;
    struct hm_gate gate;
};

static void run(void *arg)
{
    struct call *call = arg;
    call->fn(call->arg);
    int rc = hm_ascend_enter();
    if (!rc) {
        rc = hm_acl_call(aclrtMemcpy, &words[call->gate.index], 8, &call->gate.ticket, 8, ACL_H2D);
        hm_ascend_leave();
    }
    if (rc) remember(rc);
    hm_gate_give(&gates, &call->gate);
    free(call);
}

/* On the runtime's thread. Without a helper the call is made here: late for others, but made. */
static void tell(void *call)
{
    if (hm_helpers_run(run, call)) run(call);
}

static int unsupported(void)
{
    hm_vendor_say("the runtime has no %s: nothing can be called in the order of a stream",
                  hm_acl.aclrtLaunchHostFunc ? "aclrtValueWait" : "aclrtLaunchHostFunc");
    return -ENOTSUP;
}

static int enqueue(void *stream, struct call *call)
{
    uint64_t *word = &words[call->gate.index], ticket = call->gate.ticket;
    int rc = hm_acl_call(aclrtLaunchHostFunc, stream, tell, call);
    if (rc) {
        hm_gate_give(&gates, &call->gate);
        free(call);
        return rc;
    }
    return hm_acl_call(aclrtValueWait, word, ticket, 0, stream);
}

int hm_ascend_stream_call(void *stream, void (*fn)(void *arg), void *arg)
{
    int rc = hm_ascend_stream_failure();
    if (rc) return rc;
    if (!can_call()) return unsupported();
    struct call *call = malloc(sizeof *call);
    if (!call) return -ENOMEM;
    *call = (struct call){.fn = fn, .arg = arg};
    rc = hm_gate_take(&gates, &call->gate);
    if (rc) {
        hm_vendor_say("%d calls wait on streams already", HM_GATES);
        free(call);
        return rc;
    }
    return enqueue(stream, call);
}

/* --- copies that are more than one asynchronous copy: by a helper, with a flow of its own --- */

struct copying {
    void *to;
    const void *from;
    enum hm_side to_side, from_side;
    size_t bytes;
};

static int copy_with(struct copying *c)
{
    struct hm_flow *flow;
    int rc = hm_ascend_flow_open(&flow);
    if (rc) return rc;
    rc = hm_ascend_copy(flow, c->to, c->to_side, c->from, c->from_side, c->bytes, false);
    if (!rc) rc = hm_ascend_finish(flow);
    hm_ascend_flow_close(flow);
    return rc;
}

static void copy_now(void *arg)
{
    int rc = hm_ascend_enter();
    if (!rc) {
        rc = copy_with(arg);
        hm_ascend_leave();
    }
    if (rc) remember(rc);
    free(arg);
}

int hm_ascend_stream_copy(void *stream, void *to, enum hm_side to_side, const void *from, enum hm_side from_side,
                          size_t bytes)
{
    int rc = hm_ascend_stream_failure();
    if (rc || !bytes) return rc;
    if (hm_ascend_is_plain(to, to_side, from, from_side))
        return hm_acl_call(aclrtMemcpyAsync, to, bytes, from, bytes, ACL_D2D, stream);
    struct copying *c = malloc(sizeof *c);
    if (!c) return -ENOMEM;
    *c = (struct copying){to, from, to_side, from_side, bytes};
    rc = hm_ascend_stream_call(stream, copy_now, c);
    if (rc) free(c);
    return rc;
}

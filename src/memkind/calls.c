#include "memkind/calls.h"

#include <stdlib.h>
#include <string.h>

#include "memkind/vendor.h"

/* --- gates --- */

static int take(struct hm_calls *calls, struct hm_gate *gate)
{
    int rc = 0;
    pthread_mutex_lock(&calls->lock);
    if (calls->n) gate->index = calls->free[--calls->n];
    else if (calls->fresh < HM_GATES) gate->index = calls->fresh++;
    else rc = -EAGAIN;
    if (!rc) gate->ticket = ++calls->ticket[gate->index];
    pthread_mutex_unlock(&calls->lock);
    if (rc) hm_vendor_say("%d calls wait on streams already", HM_GATES);
    return rc;
}

static void give(struct hm_calls *calls, const struct hm_gate *gate)
{
    pthread_mutex_lock(&calls->lock);
    calls->free[calls->n++] = gate->index;
    pthread_mutex_unlock(&calls->lock);
}

bool hm_calls_any(struct hm_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    bool any = calls->n < calls->fresh;
    pthread_mutex_unlock(&calls->lock);
    return any;
}

void hm_calls_begin(struct hm_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    memset(calls->ticket, 0, sizeof calls->ticket);
    calls->n = calls->fresh = 0;
    __atomic_store_n(&calls->failure, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&calls->lock);
}

/* --- what failed behind its call --- */

static void remember(struct hm_calls *calls, int rc)
{
    pthread_mutex_lock(&calls->lock);
    if (!calls->failure) {
        strncpy(calls->failure_text, hm_vendor_why(), sizeof calls->failure_text - 1);
        __atomic_store_n(&calls->failure, rc, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&calls->lock);
}

int hm_calls_failure(struct hm_calls *calls)
{
    if (hm_likely(!__atomic_load_n(&calls->failure, __ATOMIC_ACQUIRE))) return 0;
    pthread_mutex_lock(&calls->lock);
    int rc = calls->failure;
    if (rc) hm_vendor_say("behind an earlier call on a stream: %s", calls->failure_text);
    __atomic_store_n(&calls->failure, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&calls->lock);
    return rc;
}

/* --- calls --- */

struct call {
    struct hm_calls *calls;
    void (*fn)(void *);
    void *arg;
    struct hm_gate gate;
};

static void run(void *arg)
{
    struct call *call = arg;
    (void)__atomic_load_n(&call->calls->made, __ATOMIC_SEQ_CST);
    call->fn(call->arg);
    __atomic_add_fetch(&call->calls->made, 1, __ATOMIC_SEQ_CST);
    int rc = call->calls->ops->open(&call->gate);
    if (rc) remember(call->calls, rc);
    give(call->calls, &call->gate);
    free(call);
}

/* On the runtime's thread. Without a helper the call is made here: others are late then, but nothing is lost. */
static void tell(void *call)
{
    if (hm_helpers_run(run, call)) run(call);
}

int hm_calls_call(struct hm_calls *calls, void *stream, void (*fn)(void *arg), void *arg)
{
    int rc = hm_calls_failure(calls);
    if (rc) return rc;
    struct call *call = malloc(sizeof *call);
    if (!call) return -ENOMEM;
    *call = (struct call){calls, fn, arg, {0, 0}};
    rc = take(calls, &call->gate);
    if (rc) goto freed;
    struct hm_gate gate = call->gate; /* the call is gone when it has been made */
    rc = calls->ops->launch(stream, tell, call);
    if (!rc) return calls->ops->await(stream, &gate);
    give(calls, &gate);
freed:
    free(call);
    return rc;
}

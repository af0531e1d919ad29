/* Streams of the program's, of the kind ascend (calls.h). The runtime runs host functions of all streams of a context on one
 * thread: hicann/runtime, ApiImpl::LaunchHostFunc.
 */
#include "memkind/ascend.h"
#include "memkind/calls.h"

static uint64_t *words; /* of the gates, in device memory; NULL: the runtime cannot do it */

/* A stream is used in its own context: ours, or the one that the program's thread was in. */
#define ON_STREAM(name, ...)                                                                                           \
    ({                                                                                                                 \
        int code_ = hm_acl.name(__VA_ARGS__);                                                                          \
        if (hm_unlikely(code_ == ACL_OTHER_CONTEXT) && hm_ascend_as_before(true)) {                                    \
            code_ = hm_acl.name(__VA_ARGS__);                                                                          \
            hm_ascend_as_before(false);                                                                                \
        }                                                                                                              \
        hm_acl_result(#name, code_);                                                                                   \
    })

static int launch(void *stream, void (*fn)(void *), void *arg) { return ON_STREAM(aclrtLaunchHostFunc, stream, fn, arg); }
static int await(void *stream, const struct hm_gate *gate)
{
    return ON_STREAM(aclrtValueWait, &words[gate->index], gate->ticket, 0, stream);
}

static int open_gate(const struct hm_gate *gate)
{
    int rc = hm_ascend_enter();
    if (rc) return rc;
    rc = hm_acl_call(aclrtMemcpy, &words[gate->index], sizeof *words, &gate->ticket, sizeof *words, ACL_H2D);
    hm_ascend_leave();
    return rc;
}

static const struct hm_calls_ops table = {launch, await, open_gate};
static struct hm_calls calls = HM_CALLS(&table);

/* The words are had here, since a stream that is held back would hold back what allocates. */
int hm_ascend_stream_begin(void)
{
    void *at = NULL;
    size_t bytes = HM_GATES * sizeof *words;
    if (!hm_acl.aclrtLaunchHostFunc || !hm_acl.aclrtValueWait) return 0;
    int rc = hm_acl_call(aclrtMalloc, &at, bytes, 0);
    if (rc) return rc;
    rc = hm_acl_call(aclrtMemset, at, bytes, 0, bytes);
    if (rc) {
        hm_acl.aclrtFree(at);
        return rc;
    }
    words = at;
    hm_calls_begin(&calls);
    return 0;
}

void hm_ascend_stream_end(void)
{
    if (words) hm_acl.aclrtFree(words);
    words = NULL;
}

int hm_ascend_stream_failure(void) { return hm_calls_failure(&calls); }

static int unsupported(void)
{
    hm_vendor_say("the runtime has no %s: nothing can be called in the order of a stream",
                  hm_acl.aclrtLaunchHostFunc ? "aclrtValueWait" : "aclrtLaunchHostFunc");
    return -ENOTSUP;
}

int hm_ascend_stream_call(void *stream, void (*fn)(void *arg), void *arg)
{
    return words ? hm_calls_call(&calls, stream, fn, arg) : unsupported();
}

int hm_ascend_stream_copy(void *stream, void *to, enum hm_side to_side, const void *from, enum hm_side from_side,
                          size_t bytes)
{
    int rc = hm_calls_failure(&calls);
    if (rc || !bytes) return rc;
    if (hm_ascend_is_plain(to, to_side, from, from_side))
        return ON_STREAM(aclrtMemcpyAsync, to, bytes, from, bytes, ACL_D2D, stream);
    hm_vendor_say("this takes more than one copy of the runtime's");
    return -ENOTSUP;
}

int hm_ascend_stream_drain(void)
{
    if (hm_acl.aclrtSynchronizeDevice) return hm_acl_call(aclrtSynchronizeDevice);
    hm_vendor_say("the runtime has no aclrtSynchronizeDevice");
    return -ENOTSUP;
}

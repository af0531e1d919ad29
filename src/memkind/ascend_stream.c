/* Streams of the program's, of the kind ascend (calls.h). The runtime runs host functions of all streams of a context on one
 * thread: hicann/runtime, ApiImpl::LaunchHostFunc.
 */
#include "memkind/ascend.h"
#include "memkind/calls.h"

#include "base/os.h"

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

/* --- what became of copies --- */

/* An event tells that the stream has come there, not what failed: that is told by a call that synchronises, to whoever
 * makes it first (hicann/runtime, Stream::GetError). */
int hm_ascend_stream_mark(void **mark, void *stream)
{
    bool can = hm_acl.aclrtCreateEvent && hm_acl.aclrtDestroyEvent && hm_acl.aclrtRecordEvent && hm_acl.aclrtQueryEventStatus;
    if (!can || !hm_acl.aclrtSynchronizeDeviceWithTimeout) {
        hm_vendor_say("the runtime cannot be asked what became of a copy on a stream");
        return -ENOTSUP;
    }
    int rc = *mark ? 0 : hm_acl_call(aclrtCreateEvent, mark);
    return rc ? rc : hm_acl_call(aclrtRecordEvent, *mark, stream);
}

void hm_ascend_mark_drop(void *mark) { (void)hm_acl_fails(hm_acl.aclrtDestroyEvent(mark)); }

static int synchronised(const char *call, int code)
{
    if (code != ACL_NO_TIME) return hm_acl_result(call, code);
    (void)hm_acl_fails(code);
    return -EAGAIN;
}

static int ask_stream(void *stream)
{
    int status = ACL_STREAM_IDLE, rc = hm_acl_call(aclrtStreamQuery, stream, &status);
    if (rc) return rc;
    if (status != ACL_STREAM_IDLE) return -EAGAIN;
    return synchronised("aclrtSynchronizeStreamWithTimeout", hm_acl.aclrtSynchronizeStreamWithTimeout(stream, 1));
}

/* The runtime knows which streams still exist, but it comes to an end of them only when all are idle: when one is not, it is
 * asked again later, and ever less. */
static int ask_device(void)
{
    static uint64_t next, pause;
    enum { PAUSE_NS = 5000000, PAUSE_MOST_NS = 320000000 };
    uint64_t now = hm_os_now(), before = __atomic_load_n(&pause, __ATOMIC_RELAXED);
    if (now < __atomic_load_n(&next, __ATOMIC_RELAXED) || hm_calls_any(&calls)) return -EAGAIN;
    int rc = synchronised("aclrtSynchronizeDeviceWithTimeout", hm_acl.aclrtSynchronizeDeviceWithTimeout(1));
    uint64_t later = rc != -EAGAIN ? 0 : !before ? PAUSE_NS : before < PAUSE_MOST_NS ? before * 2 : before;
    __atomic_store_n(&pause, later, __ATOMIC_RELAXED);
    __atomic_store_n(&next, later ? now + later : 0, __ATOMIC_RELAXED);
    return rc;
}

/* The program may have synchronised first: the runtime keeps for each thread what it told it last. Codes of the device. */
static int told_already(void)
{
    static int said;
    int code = hm_acl.aclrtPeekAtLastError ? hm_acl.aclrtPeekAtLastError(ACL_OF_THREAD) : 0;
    if (code / 1000 != 507 || code == ACL_NO_TIME || code == __atomic_exchange_n(&said, code, __ATOMIC_RELAXED)) return 0;
    hm_vendor_say("error %d", code);
    return -EALREADY;
}

int hm_ascend_stream_ask(void *mark, void *stream)
{
    bool by_stream = stream && hm_acl.aclrtStreamQuery && hm_acl.aclrtSynchronizeStreamWithTimeout;
    int status = 0, rc = hm_acl_call(aclrtQueryEventStatus, mark, &status);
    if (rc) return rc;
    if (status != ACL_EVENT_RECORDED) return -EAGAIN;
    rc = by_stream ? ask_stream(stream) : ask_device();
    return rc ? rc : told_already();
}

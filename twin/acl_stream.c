/* Streams and events. */
#include "facade.h"

#define STREAM(handle, s)                                                                                              \
    struct tw_stream *s;                                                                                               \
    do {                                                                                                               \
        int rc_ = tw_stream_find(handle, &s);                                                                  \
        if (rc_) return twin_status(rc_);                                                                              \
    } while (0)
#define EVENT(handle, e)                                                                                               \
    struct tw_event *e;                                                                                                \
    do {                                                                                                               \
        int rc_ = tw_event_find(handle, &e);                                                                           \
        if (rc_) return twin_status(rc_);                                                                              \
    } while (0)

/* --- streams --- */

TWIN_API aclError aclrtCreateStream(aclrtStream *stream)
{
    ENTER(aclrtCreateStream, READY | CONTEXT | ORDERS);
    NEED(stream);
    return twin_status(tw_stream_make(device, (struct tw_stream **)stream));
}

/* The flags change speeds on the hardware, or make streams for what the twin has not. */
TWIN_API aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    ENTER(aclrtCreateStreamWithConfig, READY | CONTEXT | ORDERS);
    NEED(stream);
    (void)priority;
    if (flag & 0x34) return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "flags 0x%x", flag);
    return twin_status(tw_stream_make(device, (struct tw_stream **)stream));
}

TWIN_API aclError aclrtDestroyStream(aclrtStream stream)
{
    ENTER(aclrtDestroyStream, READY | CONTEXT | ORDERS);
    NEED(stream);
    STREAM(stream, s);
    return twin_status(tw_stream_drop(s));
}

static aclError wait_for_stream(struct tw_stream *s, int64_t ms)
{
    TW_COUNT(waits_stream);
    tw_clock_spend((uint64_t)tw_shared->config.wait_ns);
    return twin_status(tw_stream_wait(s, ms));
}

TWIN_API aclError aclrtSynchronizeStream(aclrtStream stream)
{
    ENTER(aclrtSynchronizeStream, READY | CONTEXT | ORDERS);
    STREAM(stream, s);
    return wait_for_stream(s, -1);
}

TWIN_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    ENTER(aclrtSynchronizeStreamWithTimeout, READY | CONTEXT | ORDERS);
    STREAM(stream, s);
    if (timeout < -1 || !timeout) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "a timeout of %d ms", timeout);
    return wait_for_stream(s, timeout);
}

TWIN_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    ENTER(aclrtStreamQuery, READY | CONTEXT);
    bool idle;
    NEED(status);
    STREAM(stream, s);
    TW_COUNT(queries);
    int rc = tw_stream_idle(s, &idle);
    if (rc == TW_OK) *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return twin_status(rc);
}

TWIN_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    ENTER(aclrtLaunchHostFunc, READY | CONTEXT | ORDERS);
    NEED(fn);
    STREAM(stream, s);
    return twin_status(tw_stream_call(s, fn, args));
}

/* --- events --- */

TWIN_API aclError aclrtCreateEvent(aclrtEvent *event)
{
    ENTER(aclrtCreateEvent, READY | CONTEXT | ORDERS);
    NEED(event);
    return twin_status(
        tw_event_make(device, TW_EVENT_PLAIN, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC, (struct tw_event **)event));
}

static aclError check_flags(uint32_t flag)
{
    if (flag && !(flag & ~(ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE)))
        return ACL_SUCCESS;
    return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%x", flag);
}

TWIN_API aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    ENTER(aclrtCreateEventWithFlag, READY | CONTEXT | ORDERS);
    NEED(event);
    aclError e = check_flags(flag);
    enum tw_event_kind kind = flag & ACL_EVENT_SYNC ? TW_EVENT_FLAG : TW_EVENT_PLAIN;
    return e ? e : twin_status(tw_event_make(device, kind, flag, (struct tw_event **)event));
}

TWIN_API aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    ENTER(aclrtCreateEventExWithFlag, READY | CONTEXT | ORDERS);
    NEED(event);
    aclError e = check_flags(flag);
    return e ? e : twin_status(tw_event_make(device, TW_EVENT_EX, flag, (struct tw_event **)event));
}

TWIN_API aclError aclrtDestroyEvent(aclrtEvent event)
{
    ENTER(aclrtDestroyEvent, READY | ORDERS);
    NEED(event);
    EVENT(event, e);
    return twin_status(tw_event_drop(e));
}

TWIN_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    ENTER(aclrtRecordEvent, READY | CONTEXT | ORDERS);
    NEED(event);
    EVENT(event, e);
    STREAM(stream, s);
    if (tw_event_device(e) != device)
        return twin_refuse(ACL_ERROR_RT_STREAM_CONTEXT, "the event is one of device %d, the stream of device %d",
                           tw_event_device(e), device);
    return twin_status(tw_event_record(e, s));
}

TWIN_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    ENTER(aclrtResetEvent, READY | CONTEXT | ORDERS);
    NEED(event);
    EVENT(event, e);
    STREAM(stream, s);
    if (tw_event_kind(e) != TW_EVENT_FLAG)
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "only events of aclrtCreateEventWithFlag(ACL_EVENT_SYNC) are reset");
    return twin_status(tw_event_reset(e, s));
}

static aclError event_done(aclrtEvent event, bool *done)
{
    EVENT(event, e);
    TW_COUNT(queries);
    return twin_status(tw_event_done(e, done));
}

TWIN_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    ENTER(aclrtQueryEvent, READY | CONTEXT);
    bool done;
    NEED(event);
    NEED(status);
    EVENT(event, e);
    if (tw_event_kind(e) == TW_EVENT_EX)
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "not for events of aclrtCreateEventExWithFlag");
    aclError error = event_done(event, &done);
    if (!error) *status = done ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return error;
}

TWIN_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    ENTER(aclrtQueryEventStatus, READY | CONTEXT);
    bool done;
    NEED(event);
    NEED(status);
    aclError error = event_done(event, &done);
    if (!error) *status = done ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return error;
}

TWIN_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    ENTER(aclrtQueryEventWaitStatus, READY | CONTEXT);
    bool done;
    NEED(event);
    NEED(status);
    EVENT(event, e);
    if (tw_event_kind(e) == TW_EVENT_EX)
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "not for events of aclrtCreateEventExWithFlag");
    TW_COUNT(queries);
    int rc = tw_event_waits_done(e, &done);
    if (rc == TW_OK) *status = done ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return twin_status(rc);
}

static aclError wait_for_event(aclrtEvent event, int64_t ms)
{
    NEED(event);
    EVENT(event, e);
    TW_COUNT(waits_event);
    tw_clock_spend((uint64_t)tw_shared->config.wait_ns);
    return twin_status(tw_event_wait(e, ms));
}

TWIN_API aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    ENTER(aclrtSynchronizeEvent, READY | CONTEXT | ORDERS);
    return wait_for_event(event, -1);
}

TWIN_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    ENTER(aclrtSynchronizeEventWithTimeout, READY | CONTEXT | ORDERS);
    if (timeout < -1 || !timeout) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "a timeout of %d ms", timeout);
    return wait_for_event(event, timeout);
}

static aclError stream_wait(aclrtStream stream, aclrtEvent event, int64_t ms)
{
    NEED(event);
    EVENT(event, e);
    STREAM(stream, s);
    if (!(tw_event_flags(e) & ACL_EVENT_SYNC))
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "streams wait for events with ACL_EVENT_SYNC only");
    return twin_status(tw_stream_wait_event(s, e, ms));
}

TWIN_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    ENTER(aclrtStreamWaitEvent, READY | CONTEXT | ORDERS);
    return stream_wait(stream, event, -1);
}

TWIN_API aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    ENTER(aclrtStreamWaitEventWithTimeout, READY | CONTEXT | ORDERS);
    if (timeout < 0) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "a timeout of %d s", timeout);
    return stream_wait(stream, event, timeout ? timeout * 1000ll : -1);
}

/* --- modelled times --- */

static aclError time_of(aclrtEvent event, uint64_t *ns)
{
    NEED(event);
    EVENT(event, e);
    if (!(tw_event_flags(e) & ACL_EVENT_TIME_LINE))
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "the event was made without ACL_EVENT_TIME_LINE");
    return twin_status(tw_event_time(e, ns));
}

TWIN_API aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    ENTER(aclrtEventElapsedTime, READY | CONTEXT);
    uint64_t start = 0, end = 0;
    NEED(ms);
    aclError e = time_of(startEvent, &start);
    if (!e) e = time_of(endEvent, &end);
    if (!e) *ms = (float)((double)(int64_t)(end - start) / 1e6);
    return e;
}

TWIN_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    ENTER(aclrtEventGetTimestamp, READY | CONTEXT);
    uint64_t ns;
    NEED(timestamp);
    aclError e = time_of(event, &ns);
    if (!e) *timestamp = ns / 1000;
    return e;
}

/* --- callbacks in a thread of the program --- */

TWIN_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    ENTER(aclrtSubscribeReport, READY | CONTEXT);
    STREAM(stream, s);
    return twin_status(tw_report_subscribe(threadId, s));
}

TWIN_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    ENTER(aclrtUnSubscribeReport, READY | CONTEXT);
    STREAM(stream, s);
    return twin_status(tw_report_unsubscribe(threadId, s));
}

TWIN_API aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                                      aclrtStream stream)
{
    ENTER(aclrtLaunchCallback, READY | CONTEXT | ORDERS);
    NEED(fn);
    STREAM(stream, s);
    return twin_status(tw_report_launch(s, fn, userData, blockType == ACL_CALLBACK_BLOCK));
}

TWIN_API aclError aclrtProcessReport(int32_t timeout)
{
    ENTER(aclrtProcessReport, READY);
    if (timeout < -1 || !timeout) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "a timeout of %d ms", timeout);
    return twin_status(tw_report_process(timeout));
}

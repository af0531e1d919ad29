/* Streams and events. Rules: 06 (aclrtSynchronizeStream, aclrtStreamQuery, aclrtDestroyStream), 07 (events of three
 * kinds), 11-03 (asynchronous copies), 11-09 (words), 12 (host functions), FAQ (streams and events belong to
 * devices). */
/* also: late address thread */
#include "twin_test.h"

static aclrtStream a, b;
static char *d, *e; /* device memory */
static uint64_t *h; /* page-locked */
static _Atomic int gate, calls, holding;

static void hold(void *arg)
{
    (void)arg;
    holding = 1;
    while (!gate) usleep(200);
    calls++;
}

static uint64_t word_at(const void *at)
{
    uint64_t v = 0;
    OK(aclrtMemcpy(&v, 8, at, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    return v;
}

static void put(char *at, uint64_t v, aclrtStream s)
{
    static int slot;
    uint64_t *from = h + 1000 + slot++ % 1000;
    *from = v;
    OK(aclrtMemcpyAsync(at, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
}

static bool idle(aclrtStream s)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    OK(aclrtStreamQuery(s, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
}

static bool recorded(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

/* In a stream one after the other, between streams in any order; a call returns while its stream is held. */
static void order(void)
{
    gate = 0;
    OK(aclrtMemset(d, 64, 0, 64));
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    double start = seconds();
    put(d, 1, a);
    OK(aclrtMemcpyAsync(d + 8, 8, d, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, a));
    OK(aclrtMemsetAsync(d + 16, 8, 0x11, 8, a));
    CHECK(seconds() - start < 1); /* nobody has opened the gate: a call that waited would never return */
    put(d + 24, 4, b);
    OK(aclrtSynchronizeStream(b)); /* b is not held by a */
    CHECK(word_at(d + 24) == 4);
    CHECK(word_at(d) == 0 && word_at(d + 8) == 0 && !idle(a));
    gate = 1;
    OK(aclrtSynchronizeStream(a));
    CHECK(word_at(d) == 1 && word_at(d + 8) == 1 && word_at(d + 16) == 0x1111111111111111);
    CHECK(idle(a));
}

static void timeouts(void)
{
    gate = 0;
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 20));
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(20));
    gate = 1;
    OK(aclrtSynchronizeStreamWithTimeout(a, 10000));
    OK(aclrtSynchronizeDevice());
}

/* 07: a record captures what was submitted before; a wait takes the latest record at its own submission. */
static void captured(aclrtEvent event)
{
    gate = 0;
    OK(aclrtMemset(d, 64, 0, 64));
    put(d, 5, a);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtMemcpyAsync(d + 8, 8, d, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    OK(aclrtRecordEvent(event, a)); /* does not move what b waits for */
    OK(aclrtSynchronizeStream(b));
    CHECK(word_at(d + 8) == 5);
    CHECK(!recorded(event));
    REFUSED(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    gate = 1;
    OK(aclrtSynchronizeEvent(event));
    CHECK(recorded(event));
    OK(aclrtSynchronizeStream(a));
}

/* The stream waits until the other's work is done, and seen. */
static void ordered_by_event(aclrtEvent event)
{
    for (uint64_t i = 1; i <= 50; i++) {
        put(d, i, a);
        OK(aclrtRecordEvent(event, a));
        OK(aclrtStreamWaitEvent(b, event));
        OK(aclrtMemcpyAsync(d + 8, 8, d, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
        OK(aclrtSynchronizeStream(b));
        CHECK(word_at(d + 8) == i);
    }
    OK(aclrtSynchronizeStream(a));
}

static void events(void)
{
    aclrtEvent plain, flag, ex, line;
    aclrtEventWaitStatus waits;
    aclrtEventStatus status;
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&flag, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&line, ACL_EVENT_TIME_LINE));
    CHECK(!recorded(plain) && !recorded(flag) &&
          recorded(ex)); /* 07: nothing recorded: only the new kind is complete */
    OK(aclrtSynchronizeEvent(plain));                           /* nothing to wait for */
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEvent(b, plain));
    OK(aclrtStreamWaitEvent(b, ex));
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(b, line)); /* not without ACL_EVENT_SYNC */
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(plain, a));
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(ex, a));
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(ex, &status));
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventWaitStatus(ex, &waits));
    captured(plain);
    captured(ex);
    ordered_by_event(plain);
    ordered_by_event(ex);
    /* The kind with a flag: a wait may come before the record; a reset makes it ready for the next. */
    OK(aclrtStreamWaitEvent(b, flag));
    put(d, 0, a);
    OK(aclrtMemcpyAsync(d + 8, 8, d + 16, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    OK(aclrtSynchronizeStream(a));
    CHECK(!idle(b));
    put(d + 16, 9, a);
    OK(aclrtRecordEvent(flag, a));
    OK(aclrtSynchronizeStream(b));
    CHECK(word_at(d + 8) == 9 && recorded(flag));
    OK(aclrtQueryEventWaitStatus(flag, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtResetEvent(flag, b));
    OK(aclrtSynchronizeStream(b));
    CHECK(!recorded(flag));
    OK(aclrtStreamWaitEvent(b, flag)); /* the trap of the documents' figure: reset, it waits for another record */
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20));
    OK(aclrtRecordEvent(flag, a));
    OK(aclrtSynchronizeStream(b));
    OK(aclrtDestroyEvent(plain));
    OK(aclrtDestroyEvent(flag));
    OK(aclrtDestroyEvent(ex));
    OK(aclrtDestroyEvent(line));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(line));
}

/* 07: an event may be destroyed before it is done. */
static void early_end(void)
{
    aclrtEvent event;
    gate = 0;
    OK(aclrtCreateEvent(&event));
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtDestroyEvent(event));
    CHECK(!idle(b));
    gate = 1;
    OK(aclrtSynchronizeStream(b));
}

/* 11-03: page-locked memory makes copies asynchronous, other memory makes the call wait; none inside the host. */
static void host_memory(void)
{
    uint64_t plain = 33;
    gate = 1;
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    OK(aclrtMemcpyAsync(d, 8, &plain, 8, ACL_MEMCPY_HOST_TO_DEVICE, a));
    CHECK(word_at(d) == 33); /* without a wait: it is done */
    plain = 0;
    OK(aclrtMemcpyAsync(&plain, 8, d, 8, ACL_MEMCPY_DEVICE_TO_HOST, a));
    CHECK(plain == 33);
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpyAsync(h, 8, &plain, 8, ACL_MEMCPY_HOST_TO_HOST, a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(d, 8, h, 8, ACL_MEMCPY_DEVICE_TO_HOST, a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(d, 8, h, 0, ACL_MEMCPY_HOST_TO_DEVICE, a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(d, 8, h, 9, ACL_MEMCPY_HOST_TO_DEVICE, a));
    OK(aclrtMemcpyAsync(h, 8, d, 8, ACL_MEMCPY_DEFAULT, NULL)); /* the device's own stream */
    OK(aclrtSynchronizeStream(NULL));
    CHECK(*h == 33);
}

static void forbidden(void *arg)
{
    void *p;
    (void)arg;
    CHECK(aclrtMalloc(&p, 8, ACL_MEM_MALLOC_HUGE_FIRST) != 0);
    CHECK(aclrtSynchronizeStream(a) != 0);
    CHECK(aclrtMemcpyAsync(d, 8, d + 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, a) != 0);
    calls++;
}

/* 12: what a host function must not do is refused here. */
static void host_functions(void)
{
    int before = calls;
    OK(aclrtLaunchHostFunc(a, forbidden, NULL));
    OK(aclrtSynchronizeStream(a));
    CHECK(calls == before + 1);
}

static void count(void *arg)
{
    (void)arg;
    calls++;
}

/* ApiImpl::LaunchHostFunc: a thread for each context. A function that waits holds up those of its context's other streams. */
static void one_at_a_time(void)
{
    aclrtContext first, other;
    aclrtStream beside;
    int before = calls;
    gate = holding = 0;
    OK(aclrtLaunchHostFunc(a, hold, NULL));
    while (!holding) usleep(200);
    OK(aclrtLaunchHostFunc(b, count, NULL));
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 50));
    CHECK(calls == before);
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateContext(&other, 0));
    OK(aclrtCreateStream(&beside));
    OK(aclrtLaunchHostFunc(beside, count, NULL));
    OK(aclrtSynchronizeStream(beside));
    CHECK(calls == before + 1);
    OK(aclrtDestroyStream(beside));
    OK(aclrtDestroyContext(other));
    OK(aclrtSetCurrentContext(first));
    gate = 1;
    OK(aclrtSynchronizeStream(a));
    OK(aclrtSynchronizeStream(b));
    CHECK(calls == before + 3);
}

/* 11-09: words. */
static void words(void)
{
    OK(aclrtMemset(e, 64, 0, 64));
    OK(aclrtValueWait(e, 3, ACL_STREAM_WAIT_VALUE_GEQ, b));
    put(d, 0, a);
    OK(aclrtMemcpyAsync(d + 8, 8, d, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    OK(aclrtValueWrite(e, 2, 0, a));
    OK(aclrtSynchronizeStream(a));
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20));
    put(d, 8, a); /* what is before the write in its stream is seen by whom the write lets go on */
    OK(aclrtValueWrite(e, 3, 0, a));
    OK(aclrtSynchronizeStream(b));
    CHECK(word_at(d + 8) == 8);
    OK(aclrtValueWait(e, 3, ACL_STREAM_WAIT_VALUE_EQ, b));
    OK(aclrtValueWait(e, 6, ACL_STREAM_WAIT_VALUE_AND, b));
    OK(aclrtValueWait(e, 0, ACL_STREAM_WAIT_VALUE_NOR, b));
    OK(aclrtSynchronizeStream(b));
    REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtValueWrite(e + 4, 3, 0, a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(h, 3, 0, a));
}

/* FAQ: streams and events belong to the device they were made on; a stream may wait for an event of another. */
static void two_devices(void)
{
    aclrtStream s;
    aclrtEvent event, other;
    OK(aclrtCreateEvent(&event));
    OK(aclrtRecordEvent(event, a));
    OK(aclrtSetDevice(1));
    OK(aclrtCreateStream(&s));
    OK(aclrtCreateEvent(&other));
    REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetAsync(d, 8, 0, 8, a));
    REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event, s));
    OK(aclrtStreamWaitEvent(s, event));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyEvent(other));
    OK(aclrtDestroyStream(s));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(s));
    OK(aclrtResetDevice(1));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0)); /* two uses, one left */
    OK(aclrtDestroyEvent(event));
}

/* --- callbacks in a thread of our own --- */

static _Atomic int stop, ran_here;
static pthread_t server_thread;

static void callback(void *arg)
{
    CHECK(pthread_equal(pthread_self(), server_thread));
    ran_here++;
    if (arg) hold(NULL);
}

static void *server(void *arg)
{
    (void)arg;
    while (!stop) {
        aclError got = aclrtProcessReport(50);
        CHECK(got == 0 || got == ACL_ERROR_RT_REPORT_TIMEOUT);
        aclGetRecentErrMsg();
    }
    return NULL;
}

static void callbacks(void)
{
    aclrtStream s;
    OK(aclrtCreateStream(&s));
    REFUSED(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(callback, NULL, ACL_CALLBACK_BLOCK, s));
    pthread_create(&server_thread, NULL, server, NULL);
    OK(aclrtSubscribeReport((uint64_t)server_thread, s));
    REFUSED(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtSubscribeReport((uint64_t)pthread_self(), s)); /* one for each stream */
    for (int i = 0; i < 20; i++)
        OK(aclrtLaunchCallback(callback, NULL, i % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(ran_here >= 19); /* the last one blocks: those before have been run */
    gate = 0;
    OK(aclrtLaunchCallback(callback, &gate, ACL_CALLBACK_NO_BLOCK, s));
    OK(aclrtSynchronizeStream(s)); /* the stream goes on */
    OK(aclrtLaunchCallback(callback, NULL, ACL_CALLBACK_BLOCK, s));
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(s, 20));
    gate = 1;
    OK(aclrtSynchronizeStream(s));
    CHECK(ran_here == 22);
    OK(aclrtUnSubscribeReport((uint64_t)server_thread, s));
    stop = 1;
    pthread_join(server_thread, NULL);
    OK(aclrtDestroyStream(s));
}

/* 04: a reduction of memory of the stream's device. */
static void reductions(void)
{
    float *x = (float *)h, *y = x + 64;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i;
        y[i] = 100.5f - (float)i * 2;
    }
    OK(aclrtMemcpyAsync(d, 256, x, 256, ACL_MEMCPY_HOST_TO_DEVICE, a));
    OK(aclrtMemcpyAsync(e, 256, y, 256, ACL_MEMCPY_HOST_TO_DEVICE, a));
    OK(aclrtReduceAsync(d, e, 256, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, a, NULL));
    OK(aclrtReduceAsync(e, d, 256, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_FLOAT, a, NULL));
    OK(aclrtSynchronizeStream(a));
    OK(aclrtMemcpy(x, 256, d, 256, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(y, 256, e, 256, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 64; i++) {
        float sum = 100.5f - (float)i, was = 100.5f - (float)i * 2;
        CHECK(x[i] == sum && y[i] == (was > sum ? was : sum));
    }
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            aclrtReduceAsync(d, e, 256, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT16, a, NULL));
}

/* Many threads, a stream each, and all of them at one more. */
static aclrtStream common;

static void *crowd(void *arg)
{
    char *mine = d + 4096 * (long)arg;
    uint64_t *mine_here = h + 512 * (long)arg;
    aclrtStream s;
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&s));
    for (uint64_t i = 1; i <= 200; i++) {
        mine_here[0] = i;
        OK(aclrtMemcpyAsync(mine, 8, mine_here, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
        OK(aclrtMemcpyAsync(mine + 8, 8, mine, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtMemcpyAsync(mine_here + 1, 8, mine + 8, 8, ACL_MEMCPY_DEVICE_TO_HOST, s));
        OK(aclrtMemsetAsync(mine + 16, 8, (int)i, 8, common));
        OK(aclrtSynchronizeStream(s));
        CHECK(mine_here[1] == i);
    }
    OK(aclrtDestroyStream(s));
    OK(aclrtResetDevice(0));
    return NULL;
}

static void crowds(void)
{
    pthread_t t[6];
    OK(aclrtCreateStream(&common));
    for (long i = 0; i < 6; i++) pthread_create(&t[i], NULL, crowd, (void *)i);
    for (long i = 0; i < 6; i++) pthread_join(t[i], NULL);
    OK(aclrtSynchronizeStream(common));
    OK(aclrtDestroyStream(common));
}

int main(void)
{
    test_begin();
    begin_on(0);
    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    OK(aclrtMalloc((void **)&d, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&e, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&h, 65536));
    order();
    timeouts();
    events();
    early_end();
    host_memory();
    host_functions();
    one_at_a_time();
    words();
    two_devices();
    callbacks();
    reductions();
    crowds();
    OK(aclrtDestroyStream(a));
    OK(aclrtDestroyStream(b));
    OK(aclrtFree(d));
    OK(aclrtFree(e));
    OK(aclrtFreeHost(h));
    end_on(0);
    CHECK(driver_ends());
    return test_end();
}

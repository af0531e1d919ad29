/* The fault switch: any call fails with any code, or takes longer, from the environment or at run time; a device is
 * lost after some calls. The sentence names the call and the code, as for all errors. */
#include "twin_test.h"

static void begin_with(const char *faults)
{
    setenv("HBMESH_TWIN_FAULT", faults, 1);
    begin_on(0);
}

static void by_environment(void)
{
    char *d, h[8] = "";
    aclrtStream s;
    begin_with(
        "aclrtMemcpyAsync:3=507056,aclrtMalloc:2-3=207001,aclrtMemset:2-=107000,aclrtSynchronizeStream:*=stall:60");
    OK(aclrtMalloc((void **)&d, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    void *p;
    REFUSED(207001, aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    REFUSED(207001, aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateStream(&s));
    for (int i = 1; i <= 5; i++) {
        if (i == 3) REFUSED(507056, aclrtMemcpyAsync(d, 8, h, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
        else OK(aclrtMemcpyAsync(d, 8, h, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    }
    OK(aclrtMemset(d, 8, 0, 8));
    for (int i = 0; i < 4; i++) REFUSED(107000, aclrtMemset(d, 8, 0, 8));
    double start = seconds();
    OK(aclrtSynchronizeStream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(seconds() - start >= 0.12); /* no sooner; how much later is this machine's affair */
    OK(aclFinalize());
    OK(aclInit(NULL)); /* the count begins again with the process's next use */
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc((void **)&d, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(d, 8, 0, 8));
    OK(aclFinalize());
}

static void at_run_time(void)
{
    int32_t d;
    uint32_t n;
    begin_with("");
    CHECK(twin_fault("aclrtGetDevice:1=507010") == 0);
    REFUSED(507010, aclrtGetDevice(&d));
    OK(aclrtGetDevice(&d));
    CHECK(twin_fault("aclrtGetDeviceCount:*=507000") == 0);
    REFUSED(507000, aclrtGetDeviceCount(&n));
    REFUSED(507000, aclrtGetDeviceCount(&n));
    CHECK(twin_fault(NULL) == 0);
    OK(aclrtGetDeviceCount(&n));
    OK(aclFinalize());
}

static void of_a_device(void)
{
    void *p;
    int done = 0;
    begin_with("device:0@5=lost");
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    while (done < 20 && aclrtMemset(p, 64, 0, 64) == 0) done++;
    CHECK(done == 4); /* five calls use the device, the sixth finds it lost */
    aclGetRecentErrMsg();
    REFUSED(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtMemset(p, 64, 0, 64));
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclFinalize());
}

/* A task that goes wrong on the device shows when its stream is waited for, once; the stream goes on. */
static void of_a_task(void)
{
    char *d, c = 0;
    aclrtStream s, t;
    aclrtEvent event;
    begin_with("task:2=507013,task:5=507053");
    OK(aclrtMalloc((void **)&d, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(d, 64, 0, 64));
    OK(aclrtCreateStream(&s));
    OK(aclrtCreateStream(&t));
    OK(aclrtCreateEvent(&event));
    for (int i = 1; i <= 3; i++) OK(aclrtMemsetAsync(d + i, 1, i, 1, s));
    REFUSED(507013, aclrtSynchronizeStream(s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemcpy(&c, 1, d + 2, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(c == 0);
    OK(aclrtMemcpy(&c, 1, d + 3, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(c == 3);
    OK(aclrtMemsetAsync(d, 1, 4, 1, s));
    OK(aclrtRecordEvent(event, s)); /* the fifth: nobody hangs for an event that went wrong */
    OK(aclrtStreamWaitEvent(t, event));
    OK(aclrtSynchronizeStream(t));
    REFUSED(507053, aclrtSynchronizeDevice());
    OK(aclFinalize());
}

static void not_understood(void)
{
    static const char *const bad[] = {"x",
                                      "aclrtMalloc:0=5",
                                      "aclrtMalloc:3",
                                      "aclrtMalloc:3=stall:",
                                      "aclrtMalloc:4-2=5",
                                      "device:99=lost",
                                      "device:1=found",
                                      "aclrtMalloc:1=0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("HBMESH_TWIN_FAULT", bad[i], 1);
        aclError e = aclInit(NULL);
        const char *m = aclGetRecentErrMsg();
        CHECK(e == ACL_ERROR_INVALID_PARAM && m && strstr(m, bad[i]));
    }
    unsetenv("HBMESH_TWIN_FAULT");
}

int main(void)
{
    test_begin();
    not_understood();
    by_environment();
    at_run_time();
    of_a_task();
    of_a_device();
    CHECK(driver_ends());
    return test_end();
}

/* Device memory of one process. Rules: 11-01 (aclrtMalloc, aclrtFree, aclrtGetMemInfo), 11-02 (host memory), 11-03
 * (aclrtMemcpy, aclrtMemset), 11-04 (virtual memory), 04 (devices), 25-01 (codes). */
/* also: late address */
#include "twin_test.h"

/* "Device IDs: [0, count - 1]"; "aclrtGetDevice without aclrtSetDevice: an error"; 107002 without a context. */
static void devices(void)
{
    uint32_t n = 0;
    int32_t d = -1;
    void *p;
    REFUSED(ACL_ERROR_UNINITIALIZE, aclrtGetDeviceCount(&n));
    OK(aclInit(NULL));
    REFUSED(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    OK(aclrtGetDeviceCount(&n));
    CHECK(n == 8);
    CHECK(!strcmp(aclrtGetSocName(), "Ascend910B-twin"));
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&d));
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&p, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    REFUSED(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(8));
    REFUSED(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
    OK(aclrtSetDevice(3));
    OK(aclrtGetDevice(&d));
    CHECK(d == 3);
    OK(aclrtSetDevice(3));
    OK(aclrtResetDevice(3));
    OK(aclrtGetDevice(&d)); /* it was set twice: one use is left */
    OK(aclrtResetDevice(3));
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&d));
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetDevice(3));
    OK(aclFinalize());
    REFUSED(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

/* 02: aclFinalizeReference undoes one aclInit, aclFinalize all. */
static void references(void)
{
    uint64_t left = 9;
    OK(aclInit(NULL));
    REFUSED(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    REFUSED(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    OK(aclFinalizeReference(&left));
    CHECK(left == 2);
    OK(aclFinalizeReference(NULL));
    uint32_t n;
    OK(aclrtGetDeviceCount(&n));
    OK(aclFinalizeReference(&left));
    CHECK(left == 0);
    REFUSED(ACL_ERROR_UNINITIALIZE, aclrtGetDeviceCount(&n));
}

static void *in_a_context(void *context)
{
    int32_t d = -1;
    aclrtContext now = NULL;
    OK(aclrtSetCurrentContext(context));
    OK(aclrtGetDevice(&d));
    OK(aclrtGetCurrentContext(&now));
    CHECK(d == 4 && now == context);
    return NULL;
}

/* 05: the thread's context goes with its device; one that was made has streams of its own and outlives a reset. */
static void contexts(void)
{
    aclrtContext first, own, again, c = NULL;
    aclrtStream s, t;
    int32_t d = -1;
    pthread_t thread;
    begin_on(3);
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(NULL));
    OK(aclrtGetCurrentContext(&first));
    OK(aclrtCreateStream(&s));
    OK(aclrtCreateContext(&own, 4));
    OK(aclrtGetDevice(&d));
    OK(aclrtGetCurrentContext(&c));
    CHECK(d == 4 && c == own && own != first);
    OK(aclrtCreateStream(&t));
    OK(aclrtSynchronizeStream(t));
    OK(aclrtSynchronizeStream(NULL));
    REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(s));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtSynchronizeStream(s));
    REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(t));
    OK(aclrtSetDevice(4)); /* the device's own context is another */
    OK(aclrtGetCurrentContext(&again));
    CHECK(again != own);
    REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(t));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyContext(again));
    OK(aclrtResetDevice(4)); /* the context that was made is a use, too */
    pthread_create(&thread, NULL, in_a_context, own);
    pthread_join(thread, NULL);
    OK(aclrtSetCurrentContext(own));
    OK(aclrtDestroyStream(t));
    OK(aclrtDestroyContext(own));
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&d));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(own));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtDestroyStream(s));
    OK(aclrtResetDevice(3));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(first));
    OK(aclFinalize());
}

static void *elsewhere(void *arg)
{
    int32_t d;
    (void)arg;
    REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&d)); /* the device is the thread's */
    OK(aclrtSetDevice(2));
    OK(aclrtGetDevice(&d));
    CHECK(d == 2);
    OK(aclrtResetDevice(2));
    return NULL;
}

static void threads(void)
{
    pthread_t t;
    int32_t d;
    begin_on(1);
    pthread_create(&t, NULL, elsewhere, NULL);
    pthread_join(t, NULL);
    OK(aclrtGetDevice(&d));
    CHECK(d == 1);
    end_on(1);
}

/* Copies in all directions keep the bytes; the host cannot load from a device address. */
static void copies(void)
{
    char out[5000], in[5000];
    char *a, *b;
    for (size_t i = 0; i < sizeof out; i++) out[i] = (char)(i * 31 + 7);
    OK(aclrtMalloc((void **)&a, 5000, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&b, 5000, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0); /* 11-01: 64-byte aligned */
    CHECK(faults(a) && faults(b + 4999));
    OK(aclrtMemcpy(a, 5000, out, 5000, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(b + 1, 4999, a + 3, 4900, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(in, sizeof in, b + 1, 4900, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(!memcmp(in, out + 3, 4900));
    OK(aclrtMemset(a, 5000, 0x5a, 100));
    OK(aclrtMemcpy(in, sizeof in, a, 101, ACL_MEMCPY_DEFAULT));
    CHECK(in[0] == 0x5a && in[99] == 0x5a && in[100] == out[100]);
    OK(aclrtMemcpy(in, 5, out, 5, ACL_MEMCPY_HOST_TO_HOST));
    CHECK(!memcmp(in, out, 5));
    OK(aclrtMemcpy(a, 8, out, 8, ACL_MEMCPY_DEVICE_TO_HOST)); /* 11-03: the kind has no meaning any more */
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(a, 5, out, 6, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(a, 5, out, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(NULL, 5, out, 5, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(a, 5, 0, 6));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(in, 5, 0, 5)); /* host memory that is not of the runtime */
    OK(aclrtFree(b));
    OK(aclrtFree(a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(a));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(NULL));
}

static void blocks(void)
{
    enum { N = 300 };
    char *p[N];
    unsigned char c;
    size_t size[N];
    for (int i = 0; i < N; i++) {
        size[i] = (size_t)(i * 7919 % 40000) + 1;
        OK(aclrtMalloc((void **)&p[i], size[i], ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemset(p[i], size[i], i & 255, size[i]));
    }
    for (int i = 0; i < N; i += 2) OK(aclrtFree(p[i]));
    for (int i = 0; i < N; i += 2) {
        OK(aclrtMalloc((void **)&p[i], size[i], ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemset(p[i], size[i], i & 255, size[i]));
    }
    for (int i = 0; i < N; i++) {
        OK(aclrtMemcpy(&c, 1, p[i], 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(c == (i & 255));
        OK(aclrtMemcpy(&c, 1, p[i] + size[i] - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(c == (i & 255));
    }
    for (int i = 0; i < N; i++) OK(aclrtFree(p[i]));
}

/* aclrtGetMemInfo, and a sentence that says what was asked for and what there is. */
static void sizes(void)
{
    size_t all, free0, free1;
    void *p;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free0, &all));
    CHECK(all == (size_t)32 << 30 && free0 == all);
    OK(aclrtMalloc(&p, 64 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free1, &all));
    CHECK(free0 - free1 == 66 * MIB); /* 11-01: 32 bytes more are taken, and so another page of 2 MiB */
    OK(aclrtFree(p));
    OK(aclrtMallocAlign32(&p, 64 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free1, &all));
    CHECK(free0 - free1 == 64 * MIB);
    OK(aclrtFree(p));
    CHECK(aclrtMalloc(&p, (size_t)33 << 30, ACL_MEM_MALLOC_HUGE_ONLY) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    const char *m = aclGetRecentErrMsg();
    CHECK(m && strstr(m, "35435577344 bytes") && strstr(m, "34359738368 of 34359738368 bytes are free"));
    CHECK(!aclGetRecentErrMsg()); /* 13: fetching clears */
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtGetMemInfo(ACL_DDR_MEM, &free1, &all));
    CHECK(all == 0 && free1 == 0);
}

static void host_memory(void)
{
    void *p, *device;
    aclrtPtrAttributes a;
    OK(aclrtMallocHost(&p, 100));
    CHECK((uintptr_t)p % 64 == 0);
    memset(p, 1, 100);
    OK(aclrtPointerGetAttributes(p, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtMemset(p, 100, 2, 100));
    CHECK(((char *)p)[99] == 2);
    OK(aclrtPointerGetAttributes(&a, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    OK(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtPointerGetAttributes(device, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && a.location.id == 0);
    OK(aclrtFree(device));
    OK(aclrtFreeHost(p));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(p));
    REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtHostRegisterV2((char *)board + 1, 4096, ACL_HOST_REG_PINNED));
    OK(aclrtHostRegisterV2(board, 4096, ACL_HOST_REG_PINNED));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(board, 4096, ACL_HOST_REG_PINNED));
    OK(aclrtHostUnregister(board));
}

/* 11-04: sizes and places of mappings; what one reserved range may hold; when physical memory is really freed. */
static void virtual_memory(void)
{
    aclrtDrvMemHandle h, h2;
    aclrtPhysicalMemProp prop = device_memory(0), other = device_memory(1);
    size_t g = 0, all, free0, free1;
    char *p, c = 0;
    OK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &g));
    CHECK(g == PAGE);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free0, &all));
    OK(aclrtMallocPhysical(&h, 4 * PAGE, &prop, 0));
    OK(aclrtReserveMemAddress((void **)&p, 16 * PAGE, 0, NULL, 0));
    CHECK(faults(p));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(p, 1, 0, 1)); /* nothing is there yet */
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(p, 2 * PAGE, 0, h, 0));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(p, 4 * PAGE, PAGE, h, 0));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(p + 14 * PAGE, 4 * PAGE, 0, h, 0));
    OK(aclrtMapMem(p + 4 * PAGE, 4 * PAGE, 0, h, 0));
    aclrtMemAccessDesc d = {ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0}};
    OK(aclrtMemSetAccess(p + 4 * PAGE, 4 * PAGE, &d, 1));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetAccess(p + 4 * PAGE, PAGE, &d, 1));
    CHECK(faults(p + 4 * PAGE));
    OK(aclrtMallocPhysical(&h2, 4 * PAGE, &prop, 0));
    OK(aclrtMapMem(p + 8 * PAGE, 4 * PAGE, 0, h2, 0));
    OK(aclrtMemset(p + 4 * PAGE, 8 * PAGE, 3, 8 * PAGE)); /* over the joint of two mappings */
    OK(aclrtMemcpy(&c, 1, p + 12 * PAGE - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(c == 3);
    aclrtDrvMemHandle foreign;
    OK(aclrtMallocPhysical(&foreign, PAGE, &other, 0));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(p, PAGE, 0, foreign, 0)); /* two devices in one range */
    OK(aclrtFreePhysical(foreign));
    REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtReleaseMemAddress(p)); /* unmap comes first */
    OK(aclrtFreePhysical(h));
    OK(aclrtMemcpy(&c, 1, p + 4 * PAGE, 1, ACL_MEMCPY_DEVICE_TO_HOST)); /* it is mapped: still there */
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free1, &all));
    CHECK(free0 - free1 == 8 * PAGE);
    OK(aclrtUnmapMem(p + 4 * PAGE));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free1, &all));
    CHECK(free0 - free1 == 4 * PAGE);
    OK(aclrtUnmapMem(p + 8 * PAGE));
    OK(aclrtFreePhysical(h2));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(h2));
    OK(aclrtReleaseMemAddress(p));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free1, &all));
    CHECK(free0 == free1);
    REFUSED(ACL_ERROR_RT_PARAM_INVALID,
            aclrtReserveMemAddress((void **)&p, PAGE, 0, (void *)PAGE, 0)); /* not in 16..24 TiB */
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress((void **)&p, PAGE, PAGE, NULL, 0));
}

/* 05, FAQ: a copy between devices needs peer access, which is opened in one direction at a time. */
static void peers(void)
{
    char *a, *b, c = 9;
    int32_t can = 0;
    OK(aclrtMalloc((void **)&a, MIB, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc((void **)&b, MIB, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtMemcpy(b, MIB, a, MIB, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtDeviceCanAccessPeer(&can, 1, 0));
    CHECK(can == 1);
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceCanAccessPeer(&can, 1, 1));
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtMemset(a, MIB, 42, MIB));
    OK(aclrtMemcpy(b, MIB, a, MIB, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(&c, 1, b + MIB - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(c == 42);
    OK(aclrtSetDevice(0));
    REFUSED(ACL_ERROR_RT_NO_PERMISSION,
            aclrtMemcpy(b, MIB, a, MIB, ACL_MEMCPY_DEVICE_TO_DEVICE)); /* the other direction */
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtMemcpy(b, MIB, a, MIB, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtFree(a));
    OK(aclrtFree(b));
    /* 11-04: between devices, reserved addresses of one process are copied by aclrtMemcpyAsync only. */
    aclrtDrvMemHandle h, h1;
    aclrtStream s;
    a = mapped(0, PAGE, &h);
    b = mapped(1, PAGE, &h1);
    OK(aclrtCreateStream(&s));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(b, PAGE, a, PAGE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpyAsync(b, PAGE, a, PAGE, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyStream(s));
    unmapped(a, h);
    unmapped(b, h1);
    OK(aclrtResetDeviceForce(1));
    OK(aclrtResetDevice(0));
}

/* 8 x 32 GB fit this machine: what is not touched does not exist. */
static void lazy(void)
{
    char *p[8], c;
    char line[256];
    long rss = 0;
    aclrtDrvMemHandle h[8];
    for (int d = 0; d < 8; d++) {
        OK(aclrtSetDevice(d));
        p[d] = mapped(d, (size_t)32 << 30, &h[d]);
        OK(aclrtMemset(p[d], (size_t)32 << 30, 0, (size_t)32 << 30)); /* zeroes cost nothing either */
        OK(aclrtMemcpy(p[d] + ((size_t)31 << 30), 1, "x", 1, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(&c, 1, p[d] + ((size_t)31 << 30), 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(c == 'x');
    }
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &rss);
    if (f) fclose(f);
    CHECK(rss > 0 && rss < 200 * 1024);
    for (int d = 0; d < 8; d++) {
        OK(aclrtSetDevice(d));
        unmapped(p[d], h[d]);
        OK(aclrtResetDeviceForce(d));
    }
}

int main(void)
{
    test_begin();
    devices();
    references();
    contexts();
    threads();
    begin_on(0);
    copies();
    blocks();
    sizes();
    host_memory();
    virtual_memory();
    peers();
    lazy();
    OK(aclrtSetDevice(0));
    end_on(0);
    CHECK(driver_ends());
    return test_end();
}

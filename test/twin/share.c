/* Memory shared between processes. Rules: 11-04 (handles: export, import, lists of processes), 11-07 (keys:
 * alignment, who closes first, which copies), 04 (peer access), FAQ (alignment to pages). */
/* also: late address */
#include "twin_test.h"

enum { N = 8, BYTES = 2 * PAGE };

static void put_word(void *at, uint64_t v) { OK(aclrtMemcpy(at, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }

static uint64_t word_at(const void *at)
{
    uint64_t v = 0;
    OK(aclrtMemcpy(&v, 8, at, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    return v;
}

/* Every process maps the memory of all, side by side in one range for each, and writes a word of its own to each. */
static void all_to_all(int me, int n)
{
    aclrtDrvMemHandle h[N];
    char *p[N];
    uint64_t token;
    begin_on(me);
    p[me] = mapped(me, BYTES, &h[me]);
    OK(aclrtMemset(p[me], BYTES, 0, BYTES));
    OK(aclrtMemExportToShareableHandleV2(h[me], ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                         ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &token));
    board->word[me] = token;
    meet(n);
    for (int i = 0; i < n; i++) {
        if (i == me) continue;
        uint64_t theirs = board->word[i];
        OK(aclrtDeviceEnablePeerAccess(i, 0));
        OK(aclrtMemImportFromShareableHandleV2(&theirs, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &h[i]));
        OK(aclrtReserveMemAddress((void **)&p[i], BYTES, 0, NULL, 0));
        OK(aclrtMapMem(p[i], BYTES, 0, h[i], 0));
        CHECK(faults(p[i]));
    }
    for (int i = 0; i < n; i++) put_word(p[i] + PAGE + 8 * me, (uint64_t)(100 * me + i + 1));
    meet(n);
    for (int i = 0; i < n; i++) CHECK(word_at(p[me] + PAGE + 8 * i) == (uint64_t)(100 * i + me + 1));
    /* A stream moves it from device to device. */
    aclrtStream s;
    OK(aclrtCreateStream(&s));
    int next = (me + 1) % n;
    OK(aclrtMemcpyAsync(p[next], PAGE, p[me] + PAGE, PAGE, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    OK(aclrtSynchronizeStream(s));
    meet(n);
    for (int i = 0; i < n; i++) CHECK(word_at(p[me] + 8 * i) == (uint64_t)(100 * i + (me + n - 1) % n + 1));
    meet(n);
    OK(aclrtDestroyStream(s));
    for (int i = 0; i < n; i++) unmapped(p[i], h[i]);
    end_on(me);
}

/* Lists of processes, and what is exported or imported twice, or where it cannot be. */
static void handle_rules(int me, int n)
{
    aclrtDrvMemHandle h, h2;
    aclrtPhysicalMemProp prop = device_memory(0);
    uint64_t token, again;
    int32_t pid;
    begin_on(me);
    OK(aclrtDeviceGetBareTgid(&pid));
    CHECK(pid == getpid());
    board->word[10 + me] = (uint64_t)pid;
    if (me == 0) {
        OK(aclrtMallocPhysical(&h, BYTES, &prop, 0));
        OK(aclrtMemExportToShareableHandle(h, ACL_MEM_HANDLE_TYPE_NONE, 0, &token));
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtMemExportToShareableHandle(h, ACL_MEM_HANDLE_TYPE_NONE, 0, &again));
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtMemImportFromShareableHandle(token, 0, &h2));
        board->word[0] = token;
    }
    meet(n);
    if (me == 1) REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtMemImportFromShareableHandle(board->word[0], 1, &h2));
    meet(n);
    if (me == 0) {
        pid = (int32_t)board->word[11];
        OK(aclrtMemSetPidToShareableHandle(token, &pid, 1));
    }
    meet(n);
    if (me == 1) {
        REFUSED(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemImportFromShareableHandle(board->word[0], 99, &h2));
        REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemImportFromShareableHandle(board->word[0] + 1, 1, &h2));
        OK(aclrtMemImportFromShareableHandle(board->word[0], 1, &h2));
        aclrtDrvMemHandle h3;
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtMemImportFromShareableHandle(board->word[0], 1, &h3)); /* one to one */
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtMemExportToShareableHandle(h2, ACL_MEM_HANDLE_TYPE_NONE, 1, &again));
        REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                aclrtMemImportFromShareableHandleV2(board->text, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &h3));
    }
    meet(n);
    size_t free_bytes, total;
    if (me == 0) OK(aclrtFreePhysical(h)); /* it is really free when all have freed it */
    meet(n);
    if (me == 0) {
        OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        CHECK(total - free_bytes == BYTES);
    }
    meet(n);
    if (me == 1) {
        char *p;
        OK(aclrtReserveMemAddress((void **)&p, BYTES, 0, NULL, 0));
        OK(aclrtMapMem(p, BYTES, 0, h2, 0));
        put_word(p, 7); /* not gone */
        CHECK(word_at(p) == 7);
        aclrtDrvMemHandle own;
        prop.location.id = 0;
        OK(aclrtMallocPhysical(&own, BYTES, &prop, 0));
        char *q;
        OK(aclrtReserveMemAddress((void **)&q, 2 * BYTES, 0, NULL, 0));
        OK(aclrtMapMem(q, BYTES, 0, own, 0)); /* own and imported memory: not in one range */
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(q + BYTES, BYTES, 0, h2, 0));
        unmapped(q, own);
        unmapped(p, h2);
    }
    meet(n);
    if (me == 0) {
        OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        CHECK(total == free_bytes);
    }
    meet(n);
    end_on(me);
}

/* 11-07. Process 0 on device 0 exports; process 1 on device 1 imports. */
static void key_rules(int me, int n)
{
    char key[65], *slab, *small, *p, *local;
    aclrtStream s;
    begin_on(me);
    if (me == 0) {
        OK(aclrtMalloc((void **)&slab, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
        OK(aclrtMalloc((void **)&small, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
        REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtIpcMemGetExportKey(small, 4096, key, 65, 1));
        REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtIpcMemGetExportKey(slab + 64, 4096, key, 65, 1));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(slab, 4 * MIB, key, 64, 1));
        OK(aclrtIpcMemGetExportKey(slab, 4 * MIB, key, 65, 0));
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtIpcMemImportByKey((void **)&p, key, 0));
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtFree(slab)); /* shared: not before it is closed */
        int32_t pid;
        memcpy(board->text[0], key, 65);
        meet(n);
        pid = (int32_t)board->word[1];
        OK(aclrtIpcMemSetImportPid(key, &pid, 1));
        put_word(slab, 11);
        meet(n);
        meet(n);
        REFUSED(ACL_ERROR_RT_IPC_ERROR, aclrtIpcMemClose(key)); /* importers close first */
        meet(n);
        meet(n);
        CHECK(word_at(slab + 64) == 11);
        OK(aclrtIpcMemClose(key));
        OK(aclrtFree(slab));
        OK(aclrtFree(small));
    } else {
        uint64_t v = 5;
        board->word[1] = (uint64_t)getpid();
        meet(n);
        meet(n);
        memcpy(key, board->text[0], 65);
        OK(aclrtIpcMemImportByKey((void **)&p, key, 0));
        OK(aclrtMalloc((void **)&local, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtCreateStream(&s));
        CHECK(faults(p));
        /* without access to the peer: nothing */
        REFUSED(ACL_ERROR_RT_NO_PERMISSION, aclrtMemcpyAsync(local, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtDeviceEnablePeerAccess(0, 0));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(&v, 8, p, 8, ACL_MEMCPY_DEVICE_TO_HOST));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(local, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(p + 64, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
        REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(local, 64, p, 64, ACL_MEMCPY_DEFAULT, s));
        OK(aclrtMemcpyAsync(local, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s)); /* the one that is allowed */
        OK(aclrtMemcpyAsync(p + 64, 64, local, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtSynchronizeStream(s));
        CHECK(word_at(local) == 11);
        meet(n);
        meet(n);
        OK(aclrtIpcMemClose(key));
        REFUSED(ACL_ERROR_RT_INVALID_HANDLE, aclrtIpcMemClose(key));
        OK(aclrtDestroyStream(s));
        OK(aclrtFree(local));
        meet(n);
    }
    end_on(me);
}

/* On one device two processes may do with a key's memory what they like. */
static void same_device(int me, int n)
{
    char key[65], *p;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(5));
    if (me == 0) {
        OK(aclrtMalloc((void **)&p, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
        OK(aclrtIpcMemGetExportKey(p, 4 * MIB, board->text[0], 65, 1));
        meet(n);
        meet(n);
        CHECK(word_at(p + 8) == 77);
        OK(aclrtIpcMemClose(board->text[0]));
    } else {
        meet(n);
        memcpy(key, board->text[0], 65);
        OK(aclrtIpcMemImportByKey((void **)&p, key, 0));
        put_word(p, 77);
        OK(aclrtMemcpy(p + 8, 8, p, 8, ACL_MEMCPY_DEFAULT));
        OK(aclrtIpcMemClose(key));
        meet(n);
    }
    end_on(5);
}

int main(void)
{
    test_begin();
    for (int n = 1; n <= N; n *= 2) processes(n, all_to_all);
    processes(2, handle_rules);
    processes(2, key_rules);
    processes(2, same_device);
    CHECK(driver_ends());
    return test_end();
}

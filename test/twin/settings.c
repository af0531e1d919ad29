/* What HBMESH_TWIN makes of a node, and HBMESH_TWIN_STRICT of the rules. Rules: 04 (aclrtDeviceCanAccessPeer: one
 * server), 11-04 (handles inside a server, or for others where the series has that), older aclcppdevg_03_0106
 * (aclrtMemcpyAsync: aligned to 64 bytes, page-locked host memory; the kind counts). */
/* also: address */
#include "twin_test.h"

static void node(const char *text)
{
    if (text) setenv("HBMESH_TWIN", text, 1);
    else unsetenv("HBMESH_TWIN");
}

static void small_node(void)
{
    uint32_t n;
    size_t free_bytes, total;
    void *p;
    node("devices=2,hbm=64M,soc=Ascend910_9382");
    begin_on(1);
    OK(aclrtGetDeviceCount(&n));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    CHECK(n == 2 && total == 64 * MIB && !strcmp(aclrtGetSocName(), "Ascend910_9382"));
    OK(aclrtMallocAlign32(&p, 62 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    void *q;
    CHECK(aclrtMalloc(&q, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    CHECK(strstr(aclGetRecentErrMsg(), "2097152 of 67108864 bytes are free"));
    /* another configuration while the node runs: refused, with the one that is */
    node("devices=3");
    pid_t pid = fork();
    if (!pid) execl("/proc/self/exe", "settings", "other", (char *)NULL);
    int status;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(aclFinalize());
}

static int other_configuration(void)
{
    aclError e = aclInit(NULL);
    const char *m = aclGetRecentErrMsg();
    return !(e == ACL_ERROR_RT_NO_DEVICE && m && strstr(m, "devices=2,hbm=64M"));
}

static void no_device(void)
{
    uint32_t n = 9;
    node("devices=0");
    OK(aclInit(NULL));
    REFUSED(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&n));
    CHECK(n == 0);
    OK(aclFinalize());
}

static void from_a_file(void)
{
    char path[] = "/tmp/hbmesh-twin-XXXXXX", text[80];
    uint32_t n;
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "# a node\ndevices=5\nhbm=1G # each\nlinks=roce\n");
    fclose(f);
    snprintf(text, sizeof text, "@%s", path);
    node(text);
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&n));
    CHECK(n == 5);
    OK(aclFinalize());
    unlink(path);
}

static void not_understood(void)
{
    static const char *const bad[] = {"devices=99", "hbm=5",       "hccs=3us",       "roce=5us:100",
                                      "x=1",        "devices",     "@/no/such/file", "devices=2,servers=3",
                                      "links=rope", "hbm_bw=0GB/s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        node(bad[i]);
        CHECK(aclInit(NULL) == ACL_ERROR_RT_PARAM_INVALID);
        const char *m = aclGetRecentErrMsg();
        CHECK(m && strstr(m, "HBMESH_TWIN: "));
    }
}

/* Two servers of two devices. */
static void servers(int me, int n)
{
    int32_t can = 9;
    uint64_t token = 0;
    aclrtDrvMemHandle h;
    aclrtPhysicalMemProp prop = device_memory(1);
    begin_on(me ? 2 : 1);
    OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    OK(aclrtDeviceCanAccessPeer(&can, 1, 2));
    CHECK(can == 0);
    REFUSED(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDeviceEnablePeerAccess(me ? 1 : 2, 0));
    bool fabric = board->word[3];
    char out[128];
    if (!me) {
        OK(aclrtMallocPhysical(&h, PAGE, &prop, 0));
        if (fabric) OK(aclrtMemExportToShareableHandleV2(h, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, out));
        else OK(aclrtMemExportToShareableHandleV2(h, 1, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &token));
        memcpy(board->text[0], out, sizeof out);
        board->word[0] = token;
    }
    meet(n);
    if (me && !fabric) {
        token = board->word[0];
        REFUSED(ACL_ERROR_RT_NO_PERMISSION,
                aclrtMemImportFromShareableHandleV2(&token, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &h));
    } else if (me) {
        memcpy(out, board->text[0], sizeof out);
        OK(aclrtMemImportFromShareableHandleV2(out, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &h));
        OK(aclrtFreePhysical(h));
    }
    meet(n);
    OK(aclFinalize());
}

/* Older documents. */
static void strict(void)
{
    char *d, *h, plain[64];
    aclrtStream s;
    node(NULL);
    setenv("HBMESH_TWIN_STRICT", "1", 1);
    begin_on(0);
    OK(aclrtCreateStream(&s));
    OK(aclrtMalloc((void **)&d, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&h, 4096));
    OK(aclrtMemcpyAsync(d, 8, h, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    OK(aclrtMemcpyAsync(d + 64, 64, d, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtMemcpyAsync(d + 8, 8, h, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    REFUSED(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtMemcpyAsync(d, 8, h + 32, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    char *aligned = (char *)(((uintptr_t)plain + 63) / 64 * 64);
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(d, 1, aligned, 1, ACL_MEMCPY_HOST_TO_DEVICE, s));
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(d, 8, plain, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(d + 3, 8, plain + 1, 8, ACL_MEMCPY_HOST_TO_DEVICE)); /* synchronous ones take any address */
    OK(aclrtSynchronizeStream(s));
    OK(aclFinalize());
    unsetenv("HBMESH_TWIN_STRICT");
}

/* At 2, mappings of another device's memory are under the rules of imports by key; they are not else. */
static void mapped_peers(int me, int n)
{
    uint64_t token, v = 3;
    aclrtDrvMemHandle h;
    bool hard = board->word[3];
    setenv("HBMESH_TWIN_STRICT", hard ? "2" : "0", 1);
    begin_on(me);
    char *p;
    if (!me) {
        p = mapped(0, PAGE, &h);
        OK(aclrtMemExportToShareableHandleV2(h, 1, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &token));
        board->word[0] = token;
    }
    meet(n);
    if (me) {
        token = board->word[0];
        OK(aclrtMemImportFromShareableHandleV2(&token, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &h));
        OK(aclrtReserveMemAddress((void **)&p, PAGE, 0, NULL, 0));
        OK(aclrtMapMem(p, PAGE, 0, h, 0));
        if (hard) REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
        else OK(aclrtMemcpy(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    meet(n);
    OK(aclFinalize());
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "other")) return other_configuration();
    test_begin();
    not_understood();
    small_node();
    no_device();
    from_a_file();
    node("devices=4,servers=2");
    processes(2, servers);
    CHECK(driver_ends());
    node("devices=4,servers=2,fabric=on");
    board->word[3] = 1;
    processes(2, servers);
    CHECK(driver_ends());
    strict();
    for (int hard = 0; hard < 2; hard++) {
        board->word[3] = (uint64_t)hard;
        processes(2, mapped_peers);
    }
    CHECK(driver_ends());
    return test_end();
}

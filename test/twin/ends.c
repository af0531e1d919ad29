/* Ends: of processes, of the driver, of devices; children of fork; how many processes a device takes. Whatever is
 * killed, nothing is left, nothing hangs, and what was lost says so. Rules: 25-01 (507010, 507901), 04
 * (aclrtResetDevice frees what lies on the device), 11-04 (memory lives until all have freed it), device runtimes do
 * not support fork without exec. */
/* also: address thread */
#include "twin_test.h"

#include <dirent.h>

static size_t used_on(int device)
{
    size_t free_bytes = 0, total = 0;
    OK(aclrtSetDevice(device));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    OK(aclrtResetDevice(device));
    return total - free_bytes;
}

static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* --- processes --- */

/* 0 stays; 1 takes memory of every kind and is killed; what 0 has imported from it stays until 0 lets go. */
static void victim(void)
{
    aclrtDrvMemHandle h;
    uint64_t token;
    void *p;
    begin_on(1);
    char *q = mapped(1, 8 * PAGE, &h);
    OK(aclrtMalloc(&p, 64 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(q, 8 * PAGE, 7, 8 * PAGE));
    OK(aclrtMemExportToShareableHandleV2(h, 1, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &token));
    board->word[0] = token;
    meet(2);
    for (;;) pause();
}

static void killed_user(void)
{
    pid_t pid = fork();
    if (!pid) victim();
    begin_on(0);
    meet(2);
    aclrtDrvMemHandle h;
    uint64_t token = board->word[0];
    char *p, c = 0;
    OK(aclrtMemImportFromShareableHandleV2(&token, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &h));
    CHECK(used_on(1) == (16 + 66 + 2) * MIB);
    OK(aclrtSetDevice(0));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 200 && used_on(1) != 16 * MIB; i++) usleep(10000);
    CHECK(used_on(1) == 16 * MIB); /* all but what is imported here */
    OK(aclrtSetDevice(0));
    OK(aclrtReserveMemAddress((void **)&p, 8 * PAGE, 0, NULL, 0));
    OK(aclrtMapMem(p, 8 * PAGE, 0, h, 0));
    OK(aclrtMemcpy(&c, 1, p + PAGE, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(c == 7);
    unmapped(p, h);
    CHECK(used_on(1) == 0);
    OK(aclrtSetDevice(0));
    end_on(0);
    CHECK(driver_ends());
}

/* The last user is killed: the driver goes, too. */
static void killed_last_user(void)
{
    pid_t pid = fork();
    if (!pid) {
        begin_on(0);
        board->turn = 1000;
        for (;;) pause();
    }
    while (board->turn != 1000) usleep(1000);
    CHECK(driver_is_there());
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK(driver_ends());
    board->turn = 0;
}

/* A child of fork holds nothing open, and may do nothing. */
static void forked(void)
{
    uint32_t n;
    void *p;
    int status;
    begin_on(0);
    OK(aclrtMalloc(&p, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    pid_t pid = fork();
    if (!pid) {
        char c;
        REFUSED(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtGetDeviceCount(&n));
        REFUSED(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtMemcpy(&c, 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        REFUSED(ACL_ERROR_RT_DEV_SETUP_ERROR, aclFinalize());
        REFUSED(ACL_ERROR_RT_DEV_SETUP_ERROR, aclInit(NULL));
        while (board->word[5] != 1) usleep(1000);
        _exit(0);
    }
    OK(aclrtMemset(p, MIB, 1, MIB)); /* the parent is not disturbed */
    OK(aclrtFree(p));
    end_on(0);
    CHECK(driver_ends()); /* though the child is still there */
    board->word[5] = 1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Resetting a device frees its memory and streams; finalizing frees all and closes every descriptor. */
static void reset_and_finalize(void)
{
    void *p;
    aclrtStream s;
    aclrtDrvMemHandle h;
    int before = descriptors();
    for (int round = 0; round < 20; round++) {
        begin_on(2);
        OK(aclrtMalloc(&p, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMalloc(&p, 400, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtCreateStream(&s));
        OK(aclrtMemsetAsync(p, 400, 1, 400, s));
        OK(aclrtMalloc(&p, 400, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemsetAsync(p, 400, 1, 400, NULL));
        OK(aclrtResetDevice(2));
        CHECK(used_on(2) == 0);
        OK(aclrtSetDevice(2));
        mapped(2, PAGE, &h);
        OK(aclFinalize());
    }
    CHECK(descriptors() == before);
    CHECK(driver_ends());
}

static void limits(int me, int n)
{
    OK(aclInit(NULL));
    meet(n);
    if (me < 3) OK(aclrtSetDevice(0));
    meet(n);
    if (me == 3) REFUSED(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtSetDevice(0));
    if (me == 3) OK(aclrtSetDevice(1));
    meet(n);
    if (me == 0) OK(aclrtResetDevice(0));
    meet(n);
    if (me == 3) OK(aclrtSetDevice(0));
    meet(n);
    OK(aclFinalize());
}

/* --- devices and driver --- */

static void *stuck_waiter(void *arg)
{
    OK(aclrtSetDevice(0));
    aclError e = aclrtSynchronizeStream(arg);
    CHECK(e == (aclError)board->word[9]);
    CHECK(strstr(aclGetRecentErrMsg(), "aclrtSynchronizeStream failed"));
    return NULL;
}

/* A word that nobody will write, a stream behind it, a thread that waits: all of it ends when the device is lost. */
static void lose(bool driver)
{
    aclError code = driver ? ACL_ERROR_RT_SOCKET_CLOSE : ACL_ERROR_RT_LOST_HEARTBEAT;
    aclrtStream s;
    uint64_t *word;
    char c;
    pthread_t t;
    uint32_t n;
    board->word[9] = (uint64_t)code;
    begin_on(0);
    OK(aclrtCreateStream(&s));
    OK(aclrtMalloc((void **)&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(word, 64, 0, 64));
    OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, s));
    OK(aclrtMemsetAsync(word, 64, 0, 64, s));
    pthread_create(&t, NULL, stuck_waiter, s);
    usleep(30000);
    if (driver) kill(driver_pid(), SIGKILL);
    else CHECK(twin_fault("device:0@2=lost") == 0);
    double start = seconds();
    while (aclrtMemcpy(&c, 1, word, 1, ACL_MEMCPY_DEVICE_TO_HOST) == 0 && seconds() - start < 10) usleep(1000);
    REFUSED(code, aclrtMemcpy(&c, 1, word, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    REFUSED(code, aclrtMemset(word, 8, 0, 8));
    REFUSED(code, aclrtSynchronizeStream(s));
    REFUSED(code, aclrtMemsetAsync(word, 64, 0, 64, s));
    pthread_join(t, NULL);
    if (driver) REFUSED(code, aclrtGetDeviceCount(&n));
    else OK(aclrtSetDevice(1)); /* the others go on */
    OK(aclFinalize());
    OK(aclInit(NULL)); /* and once more, with a new driver: all is well */
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc((void **)&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(word, 64, 0, 64));
    OK(aclFinalize());
    CHECK(twin_fault(NULL) == 0);
    CHECK(driver_ends());
}

static void lose_in_child(int me, int n)
{
    (void)n;
    lose(me == 0);
}

/* Another process sees the loss, too. */
static void lost_for_all(int me, int n)
{
    void *p;
    begin_on(4);
    OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    meet(n);
    if (me == 0) {
        CHECK(twin_fault("device:4=lost") == 0);
        REFUSED(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtMemset(p, 64, 0, 64));
    }
    meet(n);
    REFUSED(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtMemset(p, 64, 0, 64));
    meet(n);
    OK(aclFinalize());
}

/* Many begin and end at once: each finds a driver, whoever started it, and none is left over. */
static void come_and_go(int me, int n)
{
    for (int round = 0; round < 15; round++) {
        begin_on(me % 8);
        CHECK(used_on(me % 8) == 0);
        OK(aclFinalize());
        if (round % 3 == 0) usleep((useconds_t)(me * 300));
    }
    (void)n;
}

int main(void)
{
    test_begin();
    killed_user();
    killed_last_user();
    forked();
    reset_and_finalize();
    setenv("HBMESH_TWIN", "procs=3", 1);
    processes(4, limits);
    unsetenv("HBMESH_TWIN");
    CHECK(driver_ends());
    for (int me = 0; me < 2; me++) {
        pid_t pid = fork();
        if (!pid) {
            lose_in_child(me, 2);
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
        CHECK(WIFEXITED(status));
    }
    processes(3, lost_for_all);
    CHECK(driver_ends());
    processes(8, come_and_go);
    CHECK(driver_ends());
    return test_end();
}

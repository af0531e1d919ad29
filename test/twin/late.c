/* Arrival is not visibility. With HBMESH_TWIN_LATE on, a flag that is written some other way shows before the data of
 * a copy that was not waited for, every time; after a wait never. Rules: 11-03 ("success of the call means that the
 * task was handed over, not that it was done; wait before reading"), 07 (an event that is complete has done all it
 * captured), 06 (aclrtStreamQuery), 11-09 (a word written by a stream comes behind the stream's earlier tasks). */
/* env: HBMESH_TWIN_LATE=1 HBMESH_TWIN_SEED=20 */
/* timeout: 120 */
/* also: address */
#include "twin_test.h"

enum { TIMES = 10000, WORDS = 512 };

static char *data, *flag;
static uint64_t *from;
static aclrtStream s;

static void put_data(uint64_t v)
{
    for (int i = 0; i < WORDS; i++) from[i] = v;
    OK(aclrtMemcpyAsync(data, WORDS * 8, from, WORDS * 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
}

static uint64_t word_at(const void *at)
{
    uint64_t v = 0;
    OK(aclrtMemcpy(&v, 8, at, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    return v;
}

static void put_flag(uint64_t v) { OK(aclrtMemcpy(flag, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }

/* How many words are not v yet. */
static int stale(uint64_t v)
{
    static uint64_t seen[WORDS];
    int n = 0;
    OK(aclrtMemcpy(seen, sizeof seen, data, sizeof seen, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < WORDS; i++) n += seen[i] != v;
    return n;
}

static void share_with(int me)
{
    uint64_t token = board->word[0];
    aclrtDrvMemHandle h;
    begin_on(0);
    if (me == 0) {
        data = mapped(0, PAGE, &h);
        OK(aclrtMemset(data, PAGE, 0, PAGE));
        OK(aclrtMemExportToShareableHandleV2(h, 1, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &token));
        board->word[0] = token;
        meet(2);
    } else {
        meet(2);
        token = board->word[0];
        OK(aclrtMemImportFromShareableHandleV2(&token, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &h));
        OK(aclrtReserveMemAddress((void **)&data, PAGE, 0, NULL, 0));
        OK(aclrtMapMem(data, PAGE, 0, h, 0));
    }
    flag = data + MIB;
    OK(aclrtMallocHost((void **)&from, WORDS * 8));
    OK(aclrtCreateStream(&s));
}

/* Process 0 puts data and then the flag; process 1 waits for the flag and looks at the data. */
static void put_then_flag(int me, bool quiet)
{
    int late = 0;
    meet(2);
    for (uint64_t v = 1; v <= TIMES; v++) {
        uint64_t mark = v + (quiet ? TIMES : 0);
        if (me == 0) {
            put_data(mark);
            if (quiet) OK(aclrtSynchronizeStream(s));
            put_flag(mark);
            while (board->word[1] != mark) sched_yield();
            OK(aclrtSynchronizeStream(s));
        } else {
            while (word_at(flag) != mark) sched_yield();
            late += stale(mark) == WORDS;
            board->word[1] = mark;
        }
    }
    if (me == 1)
        printf("%s: %d of %d times the flag was before the data\n", quiet ? "with a wait" : "without", late, TIMES);
    if (me == 1) CHECK(late == (quiet ? 0 : TIMES));
}

static void in_two_processes(int me, int n)
{
    (void)n;
    share_with(me);
    CHECK(twin_late("5000000:6000000") == 0); /* no machine is so busy that the other does not come to look */
    put_then_flag(me, false);
    put_then_flag(me, true);
    meet(2);
    end_on(0);
}

/* --- in one process: what makes copies seen --- */

static void nothing(void *arg) { (void)arg; }

/* Without a wait it comes by itself, in parts and out of order, within the given time. */
static void by_itself(void)
{
    int parts_seen = 0, later_first = 0;
    CHECK(twin_late("5000:60000") == 0);
    for (uint64_t v = 1; v <= 40; v++) {
        static uint64_t seen[WORDS];
        put_data(v);
        double start = seconds();
        while (stale(v) && seconds() - start < 5) {
            OK(aclrtMemcpy(seen, sizeof seen, data, sizeof seen, ACL_MEMCPY_DEVICE_TO_HOST));
            bool first = seen[0] == v, last = seen[WORDS - 1] == v;
            parts_seen += first != last;
            later_first += last && !first;
            usleep(500);
        }
        CHECK(stale(v) == 0);
    }
    CHECK(parts_seen > 0 && later_first > 0);
    CHECK(twin_late("1") == 0);
}

static void by_waits(void)
{
    aclrtStream other;
    aclrtEvent event;
    aclrtStreamStatus status;
    uint64_t v = 1000;
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEvent(&event));
    for (int round = 0; round < 200; round++) {
        put_data(++v); /* the stream is waited for */
        CHECK(stale(v) == WORDS);
        OK(aclrtSynchronizeStream(s));
        CHECK(stale(v) == 0);
        OK(aclrtMemcpyAsync(from, 8, data + PAGE / 2, 8, ACL_MEMCPY_DEVICE_TO_HOST, s)); /* to the host likewise */
        CHECK(from[0] == v);
        OK(aclrtSynchronizeStream(s));
        CHECK(from[0] == 0);
        put_data(++v); /* it is found idle: once it says so, it is so */
        do OK(aclrtStreamQuery(s, &status));
        while (status != ACL_STREAM_STATUS_COMPLETE);
        CHECK(stale(v) == 0);
        put_data(++v); /* an event behind it is waited for */
        OK(aclrtRecordEvent(event, s));
        CHECK(stale(v) == WORDS);
        OK(aclrtSynchronizeEvent(event));
        CHECK(stale(v) == 0);
        put_data(++v); /* found complete */
        OK(aclrtRecordEvent(event, s));
        aclrtEventRecordedStatus recorded;
        do OK(aclrtQueryEventStatus(event, &recorded));
        while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE);
        CHECK(stale(v) == 0);
        put_data(++v); /* waited for by another stream */
        OK(aclrtRecordEvent(event, s));
        OK(aclrtStreamWaitEvent(other, event));
        OK(aclrtMemcpyAsync(data + 2 * WORDS * 8, 8, data, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
        OK(aclrtSynchronizeStream(other));
        CHECK(word_at(data + 2 * WORDS * 8) == v);
    }
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(other));
}

/* A stream's own later tasks find what they need. */
static void by_later_tasks(void)
{
    uint64_t v = 100000;
    for (int round = 0; round < 200; round++) {
        put_data(++v); /* read */
        OK(aclrtMemcpyAsync(data + PAGE / 2, WORDS * 8, data, WORDS * 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtMemcpyAsync(data, 8, data + PAGE / 2 + 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtMemsetAsync(data + PAGE / 2 + 8, 8, 0, 8, s)); /* what the copy before reads is overwritten */
        OK(aclrtSynchronizeStream(s));
        CHECK(word_at(data) == v && word_at(data + PAGE / 2) == v && word_at(data + PAGE / 2 + 8) == 0);
        put_data(++v); /* a word behind it */
        OK(aclrtValueWrite(flag, v, 0, s));
        while (word_at(flag) != v) sched_yield();
        CHECK(stale(v) == 0);
        put_data(++v); /* a host function */
        OK(aclrtLaunchHostFunc(s, nothing, NULL));
        OK(aclrtSynchronizeStream(s));
        CHECK(stale(v) == 0);
    }
}

/* Two copies in two streams: either may be first. */
static void either_order(void)
{
    aclrtStream other;
    int first = 0, second = 0;
    OK(aclrtCreateStream(&other));
    CHECK(twin_late("0:2000") == 0);
    for (uint64_t v = 1; v <= 300; v++) {
        from[0] = from[1] = 7000000 + v;
        OK(aclrtMemcpyAsync(data, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
        OK(aclrtMemcpyAsync(data + 8, 8, from + 1, 8, ACL_MEMCPY_HOST_TO_DEVICE, other));
        for (bool a = false, b = false; !a || !b;) {
            b = word_at(data + 8) == from[1];
            a = word_at(data) == from[0];
            first += a && !b;
            second += b && !a;
        }
        OK(aclrtSynchronizeStream(s));
        OK(aclrtSynchronizeStream(other));
    }
    CHECK(first > 0 && second > 0);
    OK(aclrtDestroyStream(other));
}

static void in_one_process(int me, int n)
{
    aclrtDrvMemHandle h;
    (void)me, (void)n;
    begin_on(0);
    data = mapped(0, PAGE, &h);
    flag = data + MIB;
    OK(aclrtMallocHost((void **)&from, WORDS * 8));
    OK(aclrtCreateStream(&s));
    by_waits();
    by_later_tasks();
    by_itself();
    either_order();
    CHECK(twin_late("x") == -1 && twin_late("5:1") == -1);
    CHECK(twin_late("0") == 0);
    put_data(1); /* off: it is there when its turn has come */
    OK(aclrtLaunchHostFunc(s, nothing, NULL));
    double start = seconds();
    while (stale(1) && seconds() - start < 5) usleep(100);
    CHECK(stale(1) == 0);
    OK(aclrtDestroyStream(s));
    unmapped(data, h);
    end_on(0);
}

int main(void)
{
    test_begin();
    if (!getenv("HBMESH_TWIN_LATE")) setenv("HBMESH_TWIN_LATE", "1", 1);
    processes(1, in_one_process);
    processes(2, in_two_processes);
    CHECK(driver_ends());
    return test_end();
}

/* The modelled clock: what is in doc/twin.md, by numbers. Copies take latency and bytes / bandwidth; links, copy
 * engines and memories are queues; host calls cost what the configuration says; events have the times of what they
 * captured. */
/* also: late address */
#include "twin_test.h"

enum { BYTES = 10000000, CALL = 100, WAIT = 1000, APART = 3 * CALL + WAIT };
static const char model[] =
    "call=100ns,wait=1us,host_func=7us,pcie=3us:20GB/s,hccs=2us:25GB/s,roce=5us:100Gb/s,hbm_bw=1000GB/s,"
    "hbm_latency=400ns";

static char *d[4], *h;
static aclrtStream s, t;

static void set_up(const char *more)
{
    char text[400];
    snprintf(text, sizeof text, "%s%s", model, more);
    setenv("HBMESH_TWIN", text, 1);
    begin_on(0);
    for (int i = 3; i >= 0; i--) {
        OK(aclrtSetDevice(i));
        OK(aclrtMalloc((void **)&d[i], 2 * BYTES, ACL_MEM_MALLOC_HUGE_ONLY));
        for (int k = 0; k < 4; k++)
            if (k != i) OK(aclrtDeviceEnablePeerAccess(k, 0));
    }
    OK(aclrtMallocHost((void **)&h, 2 * BYTES));
    OK(aclrtCreateStream(&s));
    OK(aclrtCreateStream(&t));
}

static void take_down(void)
{
    OK(aclrtFreeHost(h));
    OK(aclFinalize());
    CHECK(driver_ends());
}

static void took(const char *file, int line, uint64_t ns, uint64_t least, uint64_t most)
{
    if (ns >= least && ns <= most) return;
    board->failures++;
    fprintf(stderr, "%s:%d: %llu ns instead of %llu to %llu\n", file, line, (unsigned long long)ns,
            (unsigned long long)least, (unsigned long long)most);
}

/* The process's modelled time of what is done here, from a node at rest. Streams that meet at a queue do so in any
 * order: `off` is what their calls are apart, and what the second wait costs. */
#define TAKES(ns, off, ...)                                                                                            \
    do {                                                                                                               \
        twin_reset(1);                                                                                                 \
        __VA_ARGS__;                                                                                                   \
        took(__FILE__, __LINE__, twin_now(), (uint64_t)(ns), (uint64_t)(ns) + (off));                                  \
    } while (0)

static void put(int to, int from, aclrtStream stream)
{
    size_t at = stream == t ? BYTES : 0; /* each its own bytes */
    OK(aclrtMemcpyAsync(d[to] + at, BYTES, d[from] + at, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void one(void) { OK(aclrtSynchronizeStream(s)); }

static void both(void)
{
    OK(aclrtSynchronizeStream(s));
    OK(aclrtSynchronizeStream(t));
}

static void copies(void)
{
    enum { HCCS = BYTES / 25 };
    TAKES(CALL + 3000 + BYTES / 20, 0, OK(aclrtMemcpy(d[0], BYTES, h, BYTES, ACL_MEMCPY_HOST_TO_DEVICE)));
    TAKES(CALL + 3000 + BYTES / 20, 0, OK(aclrtMemcpy(h, BYTES, d[0], BYTES, ACL_MEMCPY_DEVICE_TO_HOST)));
    TAKES(CALL + 400 + 2 * BYTES / 1000, 0,
          OK(aclrtMemcpy(d[0], BYTES, d[0] + BYTES, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    TAKES(CALL + 2000 + HCCS, 0, OK(aclrtMemcpy(d[1], BYTES, d[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    TAKES(CALL + 400 + BYTES / 1000, 0, OK(aclrtMemset(d[0], BYTES, 0, BYTES)));
    TAKES(CALL, 0, put(1, 0, s)); /* handed over, not waited for */
    OK(aclrtSynchronizeStream(s));
    TAKES(CALL + 2000 + HCCS, 0, put(1, 0, s); one());
    TAKES(CALL + 2 * (2000 + HCCS), 0, put(1, 0, s); put(1, 0, s); one());             /* one stream: in order */
    TAKES(CALL + 2000 + 2 * HCCS, APART, put(1, 0, s); put(1, 0, t); both());           /* one link: in turn */
    TAKES(CALL + 2000 + HCCS, APART, put(1, 0, s); put(2, 0, t); both());               /* two links: at once */
    TAKES(CALL + 2000 + HCCS, APART, put(1, 0, s); put(0, 1, t); both());               /* and so are two directions */
    TAKES(2 * CALL + WAIT, 0, OK(aclrtSynchronizeStream(s)); twin_spend(CALL));        /* nothing to wait for */
}

static void network(void)
{
    enum { ROCE = BYTES * 2 / 25 };
    TAKES(CALL + 5000 + ROCE, 0, put(1, 0, s); one());
    TAKES(CALL + 5000 + 2 * ROCE, APART, put(1, 0, s); put(2, 0, t); both()); /* one port on the way out */
    TAKES(CALL + 5000 + 2 * ROCE, APART, put(2, 0, s); put(2, 1, t); both()); /* and one on the way in */
    TAKES(CALL + 5000 + ROCE, APART, put(1, 0, s); put(3, 2, t); both());
    for (size_t bytes = 8; bytes <= 1 << 22; bytes *= 8) { /* 5 us to begin with, towards 100 Gb/s */
        twin_reset(1);
        OK(aclrtMemcpyAsync(d[1], bytes, d[0], bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
        OK(aclrtSynchronizeStream(s));
        took(__FILE__, __LINE__, twin_now(), CALL + 5000 + bytes * 2 / 25, CALL + 5000 + bytes * 2 / 25 + 1);
    }
}

static void nothing(void *arg) { (void)arg; }

static void events_and_kernels(void)
{
    aclrtEvent begin, end;
    float ms = 0;
    uint64_t us = 0;
    OK(aclrtCreateEvent(&begin));
    OK(aclrtCreateEvent(&end));
    twin_reset(1);
    OK(aclrtRecordEvent(begin, s));
    put(1, 0, s);
    OK(aclrtRecordEvent(end, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtEventElapsedTime(&ms, begin, end));
    CHECK(ms > 0.4019f && ms < 0.4022f);
    OK(aclrtEventGetTimestamp(end, &us));
    CHECK(us == 402);
    /* A kernel of 1 ms beside a copy; what waits for both comes after the later of them. */
    TAKES(CALL + 1000000, APART, CHECK(twin_launch(s, 1000000, NULL, NULL) == 0); put(1, 0, t); both());
    TAKES(CALL + 1000000 + 402000, APART, CHECK(twin_launch(s, 1000000, NULL, NULL) == 0); OK(aclrtRecordEvent(end, s));
          OK(aclrtStreamWaitEvent(t, end)); put(1, 0, t); both());
    TAKES(CALL + 7000, 0, OK(aclrtLaunchHostFunc(s, nothing, NULL)); one());
    TAKES(50000, 0, twin_spend(30000); twin_meet(50000); twin_meet(40000));
    OK(aclrtDestroyEvent(begin));
    OK(aclrtDestroyEvent(end));
}

/* What a host function computes and learns is its stream's time. */
static void computes(void *arg)
{
    uint64_t *seen = arg;
    seen[0] = twin_now();
    twin_meet(30000);
    twin_spend(2000);
    seen[1] = twin_now();
}

static void in_a_host_function(void)
{
    uint64_t seen[2];
    TAKES(32000 + 7000, 0, OK(aclrtLaunchHostFunc(s, computes, seen)); one());
    CHECK(seen[0] == CALL && seen[1] == 32000);
}

/* A kernel reads and writes where the twin itself does. */
static void add_one(void *arg)
{
    uint64_t *word = twin_memory(arg, 8);
    ++*word;
}

static void kernels(void)
{
    uint64_t v = 41;
    OK(aclrtMemcpyAsync(d[0], 8, memcpy(h, &v, 8), 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    CHECK(twin_launch(s, 100, add_one, d[0]) == 0);
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemcpy(&v, 8, d[0], 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(v == 42 && twin_memory(&v, 8) == NULL);
}

static void counts(void)
{
    struct twin_counts c;
    uint64_t v = 1;
    twin_reset(0);
    OK(aclrtMemcpy(d[0], 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(&v, 8, d[0], 8, ACL_MEMCPY_DEVICE_TO_HOST));
    put(1, 0, s);
    put(0, 0, s); /* to itself: nothing to do, but it is a task */
    OK(aclrtMemsetAsync(d[0], 100, 0, 100, s));
    OK(aclrtSynchronizeStream(s));
    twin_counts(&c);
    CHECK(c.sync_copies[TWIN_H2D] == 1 && c.sync_bytes[TWIN_D2H] == 8 && c.async_copies[TWIN_P2P] == 1);
    CHECK(c.async_copies[TWIN_D2D] == 1 && c.async_bytes[TWIN_P2P] == BYTES && c.async_bytes[TWIN_SET] == 100);
    CHECK(c.stream_waits == 1 && c.calls == 6 && c.host_funcs == 0);
}

/* Processes that meet: queues are the node's, clocks each process's own. */
static void two_processes(int me, int n)
{
    OK(aclInit(NULL));
    for (int i = 0; i < 2; i++) {
        OK(aclrtSetDevice(i));
        OK(aclrtMalloc((void **)&d[i], BYTES, ACL_MEM_MALLOC_HUGE_ONLY));
        OK(aclrtDeviceEnablePeerAccess(!i, 0));
    }
    meet(n);
    if (!me) twin_reset(1);
    meet(n);
    if (me) twin_reset(1);
    meet(n);
    OK(aclrtMemcpy(d[1], BYTES, d[0], BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE)); /* the same link */
    board->word[me] = twin_now();
    meet(n);
    uint64_t a = board->word[0], b = board->word[1], first = a < b ? a : b, last = a < b ? b : a;
    took(__FILE__, __LINE__, first, CALL + 402000, CALL + 402000);
    took(__FILE__, __LINE__, last, CALL + 802000, CALL + 802000);
    twin_meet(last);
    CHECK(twin_now() == last && twin_node_now() == last);
    meet(n);
    OK(aclFinalize());
}

/* The log has a line for each operation. */
static void logged(void)
{
    char path[] = "/tmp/hbmesh-twin-log-XXXXXX", line[256], want[64];
    int lines = 0, p2p = 0;
    close(mkstemp(path));
    setenv("HBMESH_TWIN_LOG", path, 1);
    pid_t pid = fork();
    if (!pid) {
        set_up("");
        twin_reset(1);
        put(1, 0, s);
        OK(aclrtSynchronizeStream(s));
        OK(aclFinalize());
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    snprintf(want, sizeof want, "%d,p2p,0,1,%d,", (int)pid, BYTES);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long long start = 0, end = 0;
        char *tail = strrchr(line, ',');
        if (!lines++) CHECK(!strcmp(line, "pid,what,device,peer,bytes,stream,start_ns,end_ns\n"));
        if (strncmp(line, want, strlen(want)) || !tail) continue;
        while (tail > line && tail[-1] != ',') tail--;
        CHECK(sscanf(tail, "%llu,%llu", &start, &end) == 2 && start == CALL && end == CALL + 402000);
        p2p++;
    }
    if (f) fclose(f);
    CHECK(lines == 2 && p2p == 1);
    unlink(path);
    unsetenv("HBMESH_TWIN_LOG");
}

int main(void)
{
    test_begin();
    logged();
    set_up("");
    copies();
    events_and_kernels();
    in_a_host_function();
    kernels();
    counts();
    take_down();
    set_up(",links=roce");
    network();
    take_down();
    setenv("HBMESH_TWIN", model, 1);
    processes(2, two_processes);
    CHECK(driver_ends());
    return test_end();
}

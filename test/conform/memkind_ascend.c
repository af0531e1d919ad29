/* timeout: 200 */
/* The kind ascend on the software NPU: how many of the runtime's calls an operation takes, and what comes of each call that
 * fails: a sentence that names it, nothing left behind, no hang.
 */
#define _GNU_SOURCE
#include "device_faults.h"

#include "../../twin/twin.h"

static void *twin(const char *name)
{
    static void *library;
    if (!library) library = dlopen(getenv("SHMEM_ASCEND_LIBRARY"), RTLD_NOW);
    void *at = library ? dlsym(library, name) : NULL;
    CHECK(at);
    return at;
}

/* Of this process, from now on. */
static bool fault(const char *text) { return ((int (*)(const char *))twin("twin_fault"))(text) == 0; }

/* From the next start of the runtime on (end shuts it down): it reads the variable then. */
static void fault_from_start(const char *text)
{
    if (text) setenv("HBMESH_TWIN_FAULT", text, 1);
    else unsetenv("HBMESH_TWIN_FAULT");
}

/* --- counts --- */

static struct twin_counts counts(void)
{
    struct twin_counts c;
    ((void (*)(struct twin_counts *))twin("twin_counts"))(&c);
    return c;
}

static uint64_t total(const uint64_t *by_way)
{
    uint64_t n = 0;
    for (int i = 0; i < TWIN_WAYS; i++) n += by_way[i];
    return n;
}

/* Since `before`: synchronous copies, asynchronous ones, waits. */
static bool took(const struct twin_counts *before, uint64_t sync, uint64_t async, uint64_t waits)
{
    struct twin_counts c = counts();
    uint64_t s = total(c.sync_copies) - total(before->sync_copies), a = total(c.async_copies) - total(before->async_copies);
    uint64_t w = c.stream_waits + c.event_waits + c.device_waits - before->stream_waits - before->event_waits - before->device_waits;
    if (s == sync && a == async && w == waits) return true;
    printf("%llu synchronous copies, %llu asynchronous, %llu waits\n", (unsigned long long)s, (unsigned long long)a,
           (unsigned long long)w);
    return false;
}

#define TAKES(sync, async, waits, what)                                                                                \
    do {                                                                                                               \
        struct twin_counts before_ = counts();                                                                         \
        CHECK(what);                                                                                                   \
        CHECK(took(&before_, sync, async, waits));                                                                     \
    } while (0)

static void few_calls(void)
{
    struct hm_flow *f;
    static char host[1 << 20];
    open_world(8 << 20, false);
    NEED(ops->flow_open(&f) == 0);
    char *own = heap[me], *far = heap[1 - me] + (size_t)me * (4 << 20);
    static const size_t sizes[] = {8, 64, 4096, 65536, 1 << 20};
    for (size_t i = 0; i < HM_COUNT(sizes); i++) {
        size_t n = sizes[i];
        TAKES(0, 1, 1, !ops->copy(f, far, HM_SIDE_PEER, own, HM_SIDE_OWN, n, false) && !ops->finish(f));
        TAKES(0, 1, 1, !ops->copy(f, own, HM_SIDE_OWN, far, HM_SIDE_PEER, n, false) && !ops->finish(f));
        TAKES(1, 0, 0, !ops->copy(f, far, HM_SIDE_PEER, host, HM_SIDE_HOST, n, false) && !ops->finish(f));
        TAKES(1, 0, 0, !ops->copy(f, host, HM_SIDE_HOST, far, HM_SIDE_PEER, n, false) && !ops->finish(f));
        TAKES(1, 0, 0, !ops->copy(f, own, HM_SIDE_OWN, host, HM_SIDE_HOST, n, false) && !ops->finish(f));
    }
    TAKES(1, 0, 0, !ops->copy(f, far + 8, HM_SIDE_PEER, host, HM_SIDE_HOST, 8, false) && !ops->finish(f));
    TAKES(1, 0, 0, !ops->copy(f, host, HM_SIDE_HOST, far + 8, HM_SIDE_PEER, 8, false) && !ops->finish(f));
    TAKES(0, 0, 0, !ops->finish(f));
    TAKES(0, 10, 1, ({
              int rc = 0;
              for (int i = 0; i < 10; i++) rc |= ops->copy(f, far + i * 64, HM_SIDE_PEER, host, HM_SIDE_HOST, 64, true);
              !rc && !ops->finish(f);
          }));
    ops->flow_close(f);
    close_world();
}

/* --- calls that fail --- */

static void each_call_fails(void)
{
    static const char *const calls[] = {
#define HM_ACL(set, result, name, arguments) #name,
#include "memkind/ascend.def"
#undef HM_ACL
    };
    all_fail(calls, HM_COUNT(calls), 507000, 15);
}

static void falls_back(void)
{
    one_falls_back("aclrtMallocPhysical", 200001, "SHMEM_ASCEND_IPC");
    one_falls_back("aclrtReserveMemAddress", 207000, "SHMEM_ASCEND_IPC");
    one_falls_back("aclrtMapMem", 207000, "SHMEM_ASCEND_IPC");
    one_falls_back("aclrtMemExportToShareableHandle", 207000, "SHMEM_ASCEND_IPC");
}

/* --- a device is lost --- */

static void lost_device(void)
{
    struct hm_flow *f;
    char host[1000] = {0};
    open_world(8 << 20, false);
    NEED(ops->flow_open(&f) == 0);
    meet();
    if (me == 1) meet(); /* it is lost when its own process uses it */
    else CHECK(fault("device:0=lost"));
    int rc = ops->copy(f, heap[0], side(0), host, HM_SIDE_HOST, sizeof host, false);
    if (me == 0) meet();
    if (me == 0) CHECK(rc == -ENODEV && strstr(ops->why(), "aclrtMemcpy: error 507"));
    else CHECK(rc == 0 || (rc == -ENODEV && *ops->why())); /* what others see of it is the hardware's affair */
    rc = ops->copy(f, heap[0], side(0), heap[1], side(1), sizeof host, false);
    if (!rc) rc = ops->finish(f);
    CHECK((me && !rc) || (rc == -ENODEV && *ops->why()));
    ops->flow_close(f);
    ops->leave();
    ops->end();
}

static void nothing(void *unused) { (void)unused; }

/* A stream that could not be let go on behind a call is told of once. */
static void late_failure(void)
{
    struct hm_flow *f;
    void *stream[2] = {NULL};
    int rc = 0;
    open_world(8 << 20, false);
    NEED(ops->flow_open(&f) == 0);
    for (int i = 0; i < 2; i++) NEED(((int (*)(void **))twin("aclrtCreateStream"))(&stream[i]) == 0);
    CHECK(fault("aclrtMemcpy:1=507052"));
    CHECK(ops->stream_call(stream[0], nothing, NULL) == 0);
    for (int i = 0; i < 5000 && !rc; i++, usleep(1000)) rc = ops->finish(f);
    CHECK(rc == -EIO && strstr(ops->why(), "aclrtMemcpy: error 507052"));
    CHECK(ops->finish(f) == 0);
    CHECK(fault(NULL));
    CHECK(ops->stream_call(stream[1], nothing, NULL) == 0); /* whose word is the same, and lets both go on */
    for (int i = 0; i < 2; i++) {
        CHECK(((int (*)(void *))twin("aclrtSynchronizeStream"))(stream[i]) == 0);
        CHECK(((int (*)(void *))twin("aclrtDestroyStream"))(stream[i]) == 0);
    }
    ops->flow_close(f);
    close_world();
}

/* --- other versions of the library --- */

/* What another library makes the kind say while it is asked and used; NULL: there is none. */
static const char *said_with(const char *folder, bool works)
{
    static char said[4096];
    char path[4096];
    const char *why = "?";
    int wire[2], old = dup(2), n = 0;
    snprintf(path, sizeof path, "%s/twin/%s/libascendcl.so", getenv("BUILD"), folder);
    if (strcmp(folder, "none") != 0 && access(path, R_OK) != 0) return NULL;
    setenv("SHMEM_ASCEND_LIBRARY", path, 1);
    NEED(pipe(wire) == 0 && dup2(wire[1], 2) == 2 && close(wire[1]) == 0);
    int rc = works ? scenario() : 0;
    CHECK((kind->devices(&why) > 0) == works && rc == 0 && (works || *why));
    ops->end();
    dup2(old, 2);
    for (int got; n < (int)sizeof said - 1 && (got = (int)read(wire[0], said + n, sizeof said - 1 - (size_t)n)) > 0;) n += got;
    said[n] = '\0';
    return said;
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* One function of many that belong together is missing: one line that names it, and the other way does. */
static void half_a_library(void)
{
    const char *said = said_with("half", true);
    if (!said) return;
    CHECK(lines(said) == 1 && strstr(said, "aclrtMapMem"));
}

/* An older version without the better way, or no library: nothing to say. */
static void keys_only(void)
{
    const char *said = said_with("keys", true);
    if (said) CHECK(!*said && shared->token[0].bytes);
}
static void no_library(void)
{
    const char *said = said_with("none", false), *why = "?";
    CHECK(!*said && kind->devices(&why) == 0 && strstr(why, "none/libascendcl.so"));
    CHECK(ops->begin(0) == -ENOTSUP && *ops->why());
}

/* --- a program that uses the runtime itself --- */

static void beside_a_program(void)
{
    int (*set)(int32_t) = (int (*)(int32_t))twin("aclrtSetDevice");
    int (*get)(int32_t *) = (int (*)(int32_t *))twin("aclrtGetDevice");
    int32_t device = -1;
    void *its = NULL, *at;
    const char *why;
    NEED(((int (*)(const char *))twin("aclInit"))(NULL) == 0 && set(3) == 0);
    NEED(((int (*)(void **, size_t, int))twin("aclrtMalloc"))(&its, 1 << 20, 0) == 0);
    NEED(kind->devices(&why) > 0 && ops->begin(1) == 0);
    CHECK(set(3) == 0 && ops->enter() == 0 && get(&device) == 0 && device == 1);
    CHECK(ops->enter() == 0);
    ops->leave();
    CHECK(get(&device) == 0 && device == 1);
    CHECK(ops->make(ops->grain(), &at) == 0 && ops->side_of(its) == HM_SIDE_OWN && ops->drop(at) == 0);
    ops->leave();
    CHECK(get(&device) == 0 && device == 3);
    ops->end();
    char host[64];
    CHECK(set(3) == 0); /* its runtime and its memory are what they were */
    CHECK(((int (*)(void *, size_t, const void *, size_t, int))twin("aclrtMemcpy"))(host, 64, its, 64, 2) == 0);
}

/* A program with a context of its own, and a stream in it. */
static void another_context(void)
{
    int (*current)(void **) = (int (*)(void **))twin("aclrtGetCurrentContext");
    int (*sync)(void *) = (int (*)(void *))twin("aclrtSynchronizeStream");
    void *its = NULL, *now_it_is = NULL, *stream = NULL;
    char host[64] = "written", back[64] = "";
    struct hm_flow *f;
    NEED(((int (*)(const char *))twin("aclInit"))(NULL) == 0);
    open_world(8 << 20, false);
    ops->leave();
    NEED(((int (*)(void **, int32_t))twin("aclrtCreateContext"))(&its, 0) == 0);
    NEED(((int (*)(void **))twin("aclrtCreateStream"))(&stream) == 0);
    NEED(ops->enter() == 0);
    CHECK(current(&now_it_is) == 0 && now_it_is != its);
    NEED(ops->flow_open(&f) == 0);
    CHECK(ops->copy(f, heap[0], HM_SIDE_OWN, host, HM_SIDE_HOST, sizeof host, false) == 0);
    CHECK(ops->stream_call(stream, nothing, NULL) == 0);
    CHECK(ops->stream_copy(stream, heap[0] + 4096, HM_SIDE_OWN, heap[0], HM_SIDE_OWN, sizeof host) == 0);
    CHECK(current(&now_it_is) == 0 && now_it_is != its);
    ops->leave();
    CHECK(current(&now_it_is) == 0 && now_it_is == its);
    CHECK(sync(stream) == 0);
    NEED(ops->enter() == 0);
    CHECK(ops->copy(f, back, HM_SIDE_HOST, heap[0] + 4096, HM_SIDE_OWN, sizeof back, false) == 0 && !strcmp(back, "written"));
    ops->flow_close(f);
    close_world();
    CHECK(current(&now_it_is) == 0 && now_it_is == its);
}

/* --- running --- */

static const struct test tests[] = {
    {"few calls", 2, few_calls},        {"each call fails", 1, each_call_fails}, {"falls back", 1, falls_back},
    {"lost device", 2, lost_device},    {"late failure", 1, late_failure},       {"beside a program", 1, beside_a_program},
    {"half a library", 1, half_a_library}, {"keys only", 1, keys_only},          {"no library", 1, no_library},
    {"another context", 1, another_context},
};

int main(void)
{
    int wrong = 0;
    open_shared();
    use_twin("SHMEM_ASCEND_LIBRARY", "libascendcl.so");
    kind = hm_memkind_find("ascend");
    ops = kind->device;
    if (!getenv("SHMEM_ASCEND_LIBRARY") || !strstr(getenv("SHMEM_ASCEND_LIBRARY"), "twin")) {
        printf("there is no software NPU in this build\n");
        return 77;
    }
    for (size_t t = 0; t < HM_COUNT(tests); t++) wrong += !run_test(&tests[t]);
    return wrong != 0;
}

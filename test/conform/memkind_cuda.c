/* timeout: 200 */
/* The kind cuda on the software devices: what comes of each call of the driver that fails, and of old drivers and devices. */
#define _GNU_SOURCE
#include "device_faults.h"

static void *twin(const char *name)
{
    static void *library;
    if (!library) library = dlopen(getenv("SHMEM_CUDA_LIBRARY"), RTLD_NOW);
    void *at = library ? dlsym(library, name) : NULL;
    CHECK(at);
    return at;
}

static void fault_from_start(const char *text)
{
    ((int (*)(const char *))twin("twin_fault"))(NULL);
    if (text) CHECK(((int (*)(const char *))twin("twin_fault"))(text) == 0);
}

static void each_call_fails(void)
{
    static const char *const calls[] = {
#define HM_CUDA(set, name, arguments) #name,
#include "memkind/cuda.def"
#undef HM_CUDA
    };
    all_fail(calls, HM_COUNT(calls), 999, 15);
}

static void falls_back(void)
{
    one_falls_back("cuMemCreate", 801, "SHMEM_CUDA_IPC");
    one_falls_back("cuMemMap", 800, "SHMEM_CUDA_IPC");
    one_falls_back("cuMemSetAccess", 801, "SHMEM_CUDA_IPC");
    one_falls_back("cuMemExportToShareableHandle", 801, "SHMEM_CUDA_IPC");
}

/* A device without mapping, as its attributes say: the legacy way, or a sentence where only the other is asked for. */
static void old_device(void)
{
    setenv("HBMESH_TWIN_CUDA_LEGACY", "1", 1);
    CHECK(scenario() == 0 && shared->token[0].descriptor == -1);
    ops->end();
    setenv("SHMEM_CUDA_IPC", "vmm", 1);
    CHECK(scenario() == -ENOTSUP && strstr(ops->why(), "SHMEM_CUDA_IPC"));
    ops->end();
}

/* Streams that cannot wait for words: calls in their order are refused, everything else goes. */
static void no_waits(void)
{
    void *stream = NULL, *at;
    const char *why;
    NEED(kind->devices(&why) > 0);
    fault_from_start("cuStreamWaitValue64_v2:*=801");
    NEED(ops->begin(0) == 0 && ops->enter() == 0 && ops->make(ops->grain(), &at) == 0);
    CHECK(((int (*)(void **, unsigned))twin("cuStreamCreate"))(&stream, 1) == 0);
    CHECK(ops->stream_call(stream, free, NULL) == -ENOTSUP && *ops->why());
    CHECK(ops->stream_copy(stream, at, HM_SIDE_OWN, (char *)at + 4096, HM_SIDE_OWN, 100) == 0);
    CHECK(ops->stream_copy(stream, at, HM_SIDE_OWN, "some", HM_SIDE_HOST, 4) == -ENOTSUP);
    CHECK(((int (*)(void *))twin("cuStreamSynchronize"))(stream) == 0);
    ops->leave();
    ops->end();
}

static const struct test tests[] = {
    {"each call fails", 1, each_call_fails},
    {"falls back", 1, falls_back},
    {"old device", 1, old_device},
    {"no waits", 1, no_waits},
};

int main(void)
{
    int wrong = 0;
    open_shared();
    use_twin("SHMEM_CUDA_LIBRARY", "libcuda.so.1");
    kind = hm_memkind_find("cuda");
    ops = kind->device;
    if (!getenv("SHMEM_CUDA_LIBRARY") || !strstr(getenv("SHMEM_CUDA_LIBRARY"), "twin")) {
        printf("there are no software devices in this build\n");
        return 77;
    }
    for (size_t t = 0; t < HM_COUNT(tests); t++) wrong += !run_test(&tests[t]);
    return wrong != 0;
}

/* Memory of CUDA devices, through the driver, libcuda.so.1. Several processes may share a device.
 *
 * Copies are asynchronous, on a stream of the flow's own which no other stream waits for: synchronous calls would wait for the
 * program's default stream. With unified addresses the driver sees from an address whose memory it is, and takes any
 * alignment and any host memory.
 */
#define _GNU_SOURCE
#include "memkind/device.h"
#include "memkind/memkind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memkind/calls.h"
#include "memkind/vendor.h"

/* Layouts and values of the driver's interface, as documented; LP64. */
struct cuda_location {
    int32_t type, id;
};
struct cuda_memory {
    int32_t type, handles;
    struct cuda_location location;
    void *other;
    uint8_t flags[8];
};
struct cuda_access {
    struct cuda_location location;
    int32_t flags;
};
struct cuda_key {
    uint8_t bytes[64];
};
enum { PINNED = 1, ON_DEVICE = 1, DESCRIPTOR = 1, READ_WRITE = 3, NON_BLOCKING = 1, PORTABLE_MAPPED = 3, LAZY_PEERS = 1 };
enum { HAS_UNIFIED = 41, HAS_VMM = 102, HAS_DESCRIPTORS = 103, MEMORY_TYPE = 2, TYPE_DEVICE = 2 };
enum { NO_DEVICE = 100, NOT_READY = 600, NO_TIMING = 2 };

/* --- the library --- */

static struct {
#define HM_CUDA(set, name, arguments) int(*name) arguments;
#include "memkind/cuda.def"
#undef HM_CUDA
} cu;

enum { NEEDED = 0, VMM = 1, LEGACY = 2, MORE = 4 };

static const struct hm_vendor_function functions[] = {
#define HM_CUDA(set, name, arguments) {#name, (void **)&cu.name, set, set == MORE},
#include "memkind/cuda.def"
#undef HM_CUDA
};
static const char *const homes[] = {NULL};
static struct hm_vendor vendor = {.kind = "cuda", .variable = "SHMEM_CUDA_LIBRARY", .file = "libcuda.so.1", .homes = homes,
                                  .functions = functions, .n = HM_COUNT(functions)};

static bool whole(unsigned missing) { return (missing & (VMM | LEGACY)) != (VMM | LEGACY); }

/* --- errors --- */

static const struct {
    int code, error;
} codes[] = {
    {1, EINVAL},   {2, ENOMEM},   {4, ENODEV},   {46, ENODEV},  {100, ENODEV}, {101, ENODEV}, {201, EINVAL}, {214, ENODEV},
    {217, ENOTSUP}, {219, ENODEV}, {400, EINVAL}, {600, EAGAIN}, {700, ENODEV}, {702, ENODEV}, {709, ENODEV}, {710, ENODEV},
    {714, ENODEV}, {715, ENODEV}, {716, ENODEV}, {717, ENODEV}, {718, ENODEV}, {719, ENODEV}, {800, ENOTSUP}, {801, ENOTSUP},
};

static HM_COLD int failed(const char *call, int code)
{
    const char *name = NULL, *words = NULL;
    int error = EIO;
    for (size_t i = 0; i < HM_COUNT(codes); i++)
        if (codes[i].code == code) error = codes[i].error;
    if (cu.cuGetErrorName) (void)cu.cuGetErrorName(code, &name);
    if (cu.cuGetErrorString) (void)cu.cuGetErrorString(code, &words);
    hm_vendor_say("%s: error %d (%s)%s%s", call, code, name ? name : "not a code we know", words ? ": " : "", words ? words : "");
    return -error;
}

HM_INLINE int result(const char *call, int code) { return hm_likely(code == 0) ? 0 : failed(call, code); }
#define CALL(name, ...) (result(#name, cu.name(__VA_ARGS__)))

static uint64_t number(const void *at) { return (uint64_t)(uintptr_t)at; }
static void *address(uint64_t at) { return (void *)(uintptr_t)at; }

/* --- the process and its device --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of begin, end, make, drop */
static struct {
    bool begun, can_map;
    int number, device;
    void *context; /* the primary one, which programs by the runtime API have, too */
} own;
static struct hm_peers peers = HM_PEERS_NONE;

static int count(int *n)
{
    int code = cu.cuInit(0);
    *n = 0;
    if (code == NO_DEVICE) return 0;
    return code ? failed("cuInit", code) : CALL(cuDeviceGetCount, n);
}

static int cuda_devices(const char **why)
{
    return hm_vendor_devices(&vendor, whole, &lock, count, "the driver finds no device", why);
}

static _Thread_local struct {
    int depth;
    bool pushed;
} bound;

static int cuda_enter(void)
{
    void *current = NULL;
    if (bound.depth++) return 0;
    bound.pushed = false;
    int rc = CALL(cuCtxGetCurrent, &current);
    if (!rc && current != own.context) {
        rc = CALL(cuCtxPushCurrent_v2, own.context);
        bound.pushed = !rc;
    }
    if (rc) bound.depth = 0;
    return rc;
}

static void cuda_leave(void)
{
    void *ours;
    if (!--bound.depth && bound.pushed) (void)cu.cuCtxPopCurrent_v2(&ours);
}

#define ENTERED(what) HM_ENTERED(cuda_enter, cuda_leave, what)

static bool has(int attribute)
{
    int value = 0;
    return !cu.cuDeviceGetAttribute(&value, attribute, own.device) && value;
}

static int cuda_info(struct hm_device_info *info)
{
    struct hm_device_info got = {.peer_loads = true, .dlpack = 2};
    int rc = CALL(cuDeviceGetName, got.name, (int)sizeof got.name, own.device);
    if (!rc) rc = ENTERED(CALL(cuMemGetInfo_v2, &got.free_bytes, &got.total_bytes));
    if (!rc) *info = got;
    return rc;
}

/* --- the heap --- */

static struct {
    uint64_t at, handle;
    size_t bytes;
    int descriptor; /* -1: by the legacy way */
    struct cuda_key key;
} slab;
enum { GRAIN = 2 << 20 };

static bool way_is_whole(unsigned way)
{
    const char *only = hm_vendor_setting("SHMEM_CUDA_IPC");
    if (only && strcmp(only, way == VMM ? "vmm" : "legacy") != 0) return false;
    return !(vendor.missing & way) && (way != VMM || own.can_map);
}

static struct cuda_memory of_device(void)
{
    return (struct cuda_memory){.type = PINNED, .handles = DESCRIPTOR, .location = {ON_DEVICE, own.device}};
}

static size_t cuda_grain(void)
{
    size_t bytes = 0;
    struct cuda_memory what = of_device();
    if (!way_is_whole(VMM) || cu.cuMemGetAllocationGranularity(&bytes, &what, 0) || bytes < GRAIN) return GRAIN;
    return bytes % GRAIN ? GRAIN * bytes : bytes;
}

static int map(uint64_t handle, size_t bytes, uint64_t *at)
{
    uint64_t got = 0;
    struct cuda_access access = {.location = {ON_DEVICE, own.device}, .flags = READ_WRITE};
    int rc = CALL(cuMemAddressReserve, &got, bytes, 0, 0, 0);
    if (rc) return rc;
    rc = CALL(cuMemMap, got, bytes, 0, handle, 0);
    if (rc) goto release;
    rc = CALL(cuMemSetAccess, got, bytes, &access, 1);
    if (rc) goto unmap;
    *at = got;
    return 0;
unmap:
    cu.cuMemUnmap(got, bytes);
release:
    cu.cuMemAddressFree(got, bytes);
    return rc;
}

/* All of it, whatever fails; the first failure is the one that is told. */
static int unmap(uint64_t at, size_t bytes, uint64_t handle)
{
    int rc = CALL(cuMemUnmap, at, bytes), code = cu.cuMemRelease(handle);
    if (!rc) rc = result("cuMemRelease", code);
    code = cu.cuMemAddressFree(at, bytes);
    return rc ? rc : result("cuMemAddressFree", code);
}

static int make_mapped(size_t bytes)
{
    uint64_t handle = 0;
    struct cuda_memory what = of_device();
    int rc = CALL(cuMemCreate, &handle, bytes, &what, 0);
    if (rc) return rc;
    rc = map(handle, bytes, &slab.at);
    if (rc) goto freed;
    rc = CALL(cuMemExportToShareableHandle, &slab.descriptor, handle, DESCRIPTOR, 0);
    if (rc) goto unmapped;
    slab.handle = handle;
    return 0;
unmapped:
    cu.cuMemUnmap(slab.at, bytes);
    cu.cuMemAddressFree(slab.at, bytes);
    slab.at = 0;
freed:
    slab.descriptor = -1;
    cu.cuMemRelease(handle);
    return rc;
}

static int make_plain(size_t bytes)
{
    uint64_t at = 0;
    int rc = CALL(cuMemAlloc_v2, &at, bytes);
    if (rc) return rc;
    rc = CALL(cuIpcGetMemHandle, &slab.key, at);
    if (rc) cu.cuMemFree_v2(at);
    else slab.at = at;
    return rc;
}

static int make(size_t bytes)
{
    int rc = -ENOTSUP;
    if (slab.at) {
        hm_vendor_say("this process has its device heap already");
        return -EBUSY;
    }
    if (!way_is_whole(VMM) && !way_is_whole(LEGACY))
        hm_vendor_say("there is no way to share memory: SHMEM_CUDA_IPC asks for one that this driver or device does not have");
    memset(&slab, 0, sizeof slab);
    slab.descriptor = -1;
    if (way_is_whole(VMM)) rc = make_mapped(bytes);
    if (rc == -ENOTSUP && way_is_whole(LEGACY)) rc = make_plain(bytes);
    if (!rc) slab.bytes = bytes;
    return rc;
}

static int cuda_make(size_t bytes, void **at)
{
    pthread_mutex_lock(&lock);
    int rc = ENTERED(make(bytes));
    if (!rc) *at = address(slab.at);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int drop(void)
{
    int rc = slab.descriptor >= 0 ? unmap(slab.at, slab.bytes, slab.handle) : CALL(cuMemFree_v2, slab.at);
    if (slab.descriptor >= 0) close(slab.descriptor);
    memset(&slab, 0, sizeof slab);
    return rc;
}

static int cuda_drop(void *at)
{
    int rc = -EINVAL;
    pthread_mutex_lock(&lock);
    if (at && number(at) == slab.at) rc = ENTERED(drop());
    else hm_vendor_say("%p is not the device heap of this process", at);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- sharing --- */

static int cuda_whoami(int32_t *id)
{
    *id = (int32_t)getpid();
    return 0;
}

/* Whoever gets the descriptor may; the legacy key is for all of this user. */
static int cuda_share(void *at, const int32_t *ids, int n, struct hm_token *token)
{
    (void)ids, (void)n;
    if (!at || number(at) != slab.at) {
        hm_vendor_say("%p is not the device heap of this process", at);
        return -EINVAL;
    }
    struct hm_token got = {.descriptor = slab.descriptor, .bytes = sizeof slab.key};
    memcpy(got.blob, &slab.key, sizeof slab.key);
    *token = got;
    return 0;
}

static int attach(const struct hm_token *token, size_t bytes, struct hm_peer *peer)
{
    uint64_t handle = 0, at = 0;
    struct cuda_key key;
    int rc;
    if (token->descriptor < 0) {
        memcpy(&key, token->blob, sizeof key);
        rc = CALL(cuIpcOpenMemHandle_v2, &at, key, LAZY_PEERS);
        peer->at = address(at);
        return rc;
    }
    rc = CALL(cuMemImportFromShareableHandle, &handle, address((uint64_t)token->descriptor), DESCRIPTOR);
    if (rc) return rc;
    rc = map(handle, bytes, &at);
    if (rc) cu.cuMemRelease(handle);
    peer->at = address(at);
    peer->handle = address(handle);
    peer->mapped = true;
    return rc;
}

static int let_go(const struct hm_peer *peer)
{
    return peer->mapped ? unmap(number(peer->at), peer->bytes, number(peer->handle))
                        : CALL(cuIpcCloseMemHandle, number(peer->at));
}

static int cuda_attach(const struct hm_token *token, int owner_device, size_t bytes, void **at)
{
    struct hm_peer peer = {.bytes = bytes, .device = owner_device, .near = owner_device == own.number};
    if (token->bytes != sizeof slab.key) {
        hm_vendor_say("the token is not one of kind cuda");
        return -EINVAL;
    }
    int rc = ENTERED(attach(token, bytes, &peer));
    if (rc) return rc;
    rc = hm_peers_add(&peers, &peer);
    if (rc) let_go(&peer);
    else *at = peer.at;
    return rc;
}

static int cuda_detach(void *at)
{
    struct hm_peer peer;
    if (hm_peers_take(&peers, at, &peer)) return ENTERED(let_go(&peer));
    hm_vendor_say("nothing is attached at %p", at);
    return -EINVAL;
}

static enum hm_side cuda_side_of(const void *at)
{
    struct hm_peer peer;
    int type = 0;
    if (slab.at && number(at) - slab.at < slab.bytes) return HM_SIDE_OWN;
    if (hm_peers_find(&peers, at, &peer)) return HM_SIDE_PEER;
    if (!at || !cu.cuPointerGetAttribute || ENTERED(cu.cuPointerGetAttribute(&type, MEMORY_TYPE, number(at)))) return HM_SIDE_HOST;
    return type == TYPE_DEVICE ? HM_SIDE_OWN : HM_SIDE_HOST;
}

/* --- flows --- */

struct hm_flow {
    struct hm_flow_head head;
};
static struct hm_flows flows = HM_FLOWS_NONE;

static int make_stream(void **stream) { return ENTERED(CALL(cuStreamCreate, stream, NON_BLOCKING)); }

static int cuda_flow_open(struct hm_flow **flow) { return hm_flows_open(&flows, sizeof **flow, make_stream, flow); }

static int settle(struct hm_flow *f)
{
    if (!f->head.busy) return 0;
    f->head.busy = false;
    return CALL(cuStreamSynchronize, f->head.stream);
}

static void cuda_flow_close(struct hm_flow *flow)
{
    struct hm_flow *f = hm_flows_take(&flows, flow);
    if (!f) return;
    (void)ENTERED((settle(f), cu.cuStreamDestroy_v2(f->head.stream)));
    hm_flow_free(f);
}

static int copy(struct hm_flow *f, void *to, const void *from, size_t bytes, bool both_host, bool wait)
{
    int rc = both_host ? settle(f) : CALL(cuMemcpyAsync, number(to), number(from), bytes, f->head.stream);
    if (rc) return rc;
    if (both_host) memmove(to, from, bytes);
    else f->head.busy = true;
    return wait ? settle(f) : 0;
}

static int cuda_copy(struct hm_flow *f, void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes,
                     bool nbi)
{
    bool to_host = to_side == HM_SIDE_HOST, from_host = from_side == HM_SIDE_HOST;
    if (!bytes || to == from) return 0;
    pthread_mutex_lock(&f->head.lock);
    int rc = copy(f, to, from, bytes, to_host && from_host, (to_host || from_host) && !nbi);
    pthread_mutex_unlock(&f->head.lock);
    return rc;
}

static int cuda_set(struct hm_flow *f, void *at, int byte, size_t bytes)
{
    if (!bytes) return 0;
    pthread_mutex_lock(&f->head.lock);
    int rc = CALL(cuMemsetD8Async, number(at), (unsigned char)byte, bytes, f->head.stream);
    if (!rc) f->head.busy = true;
    pthread_mutex_unlock(&f->head.lock);
    return rc;
}

/* --- streams of the program's --- */

static uint64_t *words; /* of the gates, page-locked, so that a helper can write them without the driver; NULL: it cannot */

static int launch(void *stream, void (*fn)(void *), void *arg) { return CALL(cuLaunchHostFunc, stream, fn, arg); }
static int await(void *stream, const struct hm_gate *gate)
{
    return CALL(cuStreamWaitValue64_v2, stream, number(&words[gate->index]), gate->ticket, 0);
}
static int open_gate(const struct hm_gate *gate)
{
    __atomic_store_n(&words[gate->index], gate->ticket, __ATOMIC_SEQ_CST);
    return 0;
}

static const struct hm_calls_ops calls_ops = {launch, await, open_gate};
static struct hm_calls calls = HM_CALLS(&calls_ops);

/* Some devices and virtual machines cannot wait for words: a wait that is over at once tells. */
static void stream_begin(void)
{
    struct hm_flow *f;
    void *at = NULL;
    if (!cu.cuLaunchHostFunc || !cu.cuStreamWaitValue64_v2) return;
    if (cu.cuMemHostAlloc(&at, HM_GATES * sizeof *words, PORTABLE_MAPPED)) return;
    memset(at, 0, HM_GATES * sizeof *words);
    bool can = !cuda_flow_open(&f);
    if (can) {
        can = !cu.cuStreamWaitValue64_v2(f->head.stream, number(at), 0, 0) && !cu.cuStreamSynchronize(f->head.stream);
        cuda_flow_close(f);
    }
    if (can) words = at;
    else cu.cuMemFreeHost(at);
    hm_calls_begin(&calls);
}

static void stream_end(void)
{
    if (words) cu.cuMemFreeHost(words);
    words = NULL;
}

static int unsupported(void)
{
    hm_vendor_say("%s: nothing can be called in the order of a stream here",
                  !cu.cuLaunchHostFunc ? "the driver has no cuLaunchHostFunc" : "streams cannot wait (cuStreamWaitValue64)");
    return -ENOTSUP;
}

static int cuda_stream_call(void *stream, void (*fn)(void *arg), void *arg)
{
    return words ? hm_calls_call(&calls, stream, fn, arg) : unsupported();
}

/* Host memory that is not page-locked would make the call wait for the stream. */
static int cuda_stream_copy(void *stream, void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes)
{
    int rc = hm_calls_failure(&calls);
    if (rc || !bytes) return rc;
    if (to_side != HM_SIDE_HOST && from_side != HM_SIDE_HOST)
        return CALL(cuMemcpyAsync, number(to), number(from), bytes, stream);
    hm_vendor_say("a copy of the driver's from or to the host may wait for the stream");
    return -ENOTSUP;
}

static int cuda_stream_drain(void)
{
    if (cu.cuCtxSynchronize) return CALL(cuCtxSynchronize);
    hm_vendor_say("the driver has no cuCtxSynchronize");
    return -ENOTSUP;
}

static int cuda_stream_mark(void **mark, void *stream)
{
    if (!cu.cuEventCreate || !cu.cuEventDestroy_v2 || !cu.cuEventRecord || !cu.cuEventQuery) {
        hm_vendor_say("the driver has no events");
        return -ENOTSUP;
    }
    int rc = *mark ? 0 : CALL(cuEventCreate, mark, NO_TIMING);
    return rc ? rc : CALL(cuEventRecord, *mark, stream);
}

/* A failure stays: every call of the context tells it, whoever has been told before. */
static int cuda_stream_ask(void *mark, void *stream)
{
    int code = cu.cuEventQuery(mark);
    (void)stream;
    return code == NOT_READY ? -EAGAIN : result("cuEventQuery", code);
}

static void cuda_mark_drop(void *mark) { (void)cu.cuEventDestroy_v2(mark); }

static int cuda_finish(struct hm_flow *f)
{
    pthread_mutex_lock(&f->head.lock);
    int rc = settle(f);
    pthread_mutex_unlock(&f->head.lock);
    return rc ? rc : hm_calls_failure(&calls);
}

/* --- begin and end --- */

static int take_device(int device)
{
    int n, unified = 0, rc = count(&n);
    if (rc) return rc;
    if (device < 0 || device >= n) {
        hm_vendor_say("there is no device %d: the driver has %d", device, n);
        return -ENODEV;
    }
    own.number = device;
    rc = CALL(cuDeviceGet, &own.device, device);
    if (!rc) rc = CALL(cuDeviceGetAttribute, &unified, HAS_UNIFIED, own.device);
    if (rc) return rc;
    if (!unified) {
        hm_vendor_say("device %d has no unified addresses", device);
        return -ENOTSUP;
    }
    return CALL(cuDevicePrimaryCtxRetain, &own.context, own.device);
}

static int begin(int device)
{
    int rc = take_device(device);
    if (rc) return rc;
    own.can_map = has(HAS_VMM) && has(HAS_DESCRIPTORS);
    rc = cuda_enter();
    if (rc) {
        cu.cuDevicePrimaryCtxRelease_v2(own.device);
        return rc;
    }
    stream_begin();
    cuda_leave();
    own.begun = true;
    return 0;
}

static int cuda_begin(int device)
{
    if (!hm_vendor_open(&vendor, whole)) {
        hm_vendor_say("%s", vendor.why);
        return -ENOTSUP;
    }
    pthread_mutex_lock(&lock);
    int rc = own.begun ? -EBUSY : begin(device);
    pthread_mutex_unlock(&lock);
    return rc;
}

static void cuda_end(void)
{
    struct hm_peer peer;
    if (!own.begun) return;
    hm_helpers_end();
    pthread_mutex_lock(&lock);
    if (!cuda_enter()) {
        while (flows.first) cuda_flow_close(NULL);
        stream_end();
        while (hm_peers_take(&peers, NULL, &peer)) let_go(&peer);
        if (slab.at) drop();
        cuda_leave();
    }
    cu.cuDevicePrimaryCtxRelease_v2(own.device);
    memset(&own, 0, sizeof own);
    pthread_mutex_unlock(&lock);
}

static const struct hm_device_ops ops = {
    .begin = cuda_begin,
    .end = cuda_end,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .info = cuda_info,
    .grain = cuda_grain,
    .make = cuda_make,
    .whoami = cuda_whoami,
    .share = cuda_share,
    .attach = cuda_attach,
    .detach = cuda_detach,
    .drop = cuda_drop,
    .flow_open = cuda_flow_open,
    .flow_close = cuda_flow_close,
    .copy = cuda_copy,
    .set = cuda_set,
    .finish = cuda_finish,
    .side_of = cuda_side_of,
    .stream_copy = cuda_stream_copy,
    .stream_call = cuda_stream_call,
    .stream_mark = cuda_stream_mark,
    .stream_ask = cuda_stream_ask,
    .mark_drop = cuda_mark_drop,
    .stream_drain = cuda_stream_drain,
    .why = hm_vendor_why,
};

const struct hm_memkind hm_memkind_cuda = {.name = "cuda", .can = 0, .devices = cuda_devices, .device = &ops};

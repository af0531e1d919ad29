/* HBM of Ascend NPUs, through libascendcl.so: devices, the heap and how it is shared. */
#define _GNU_SOURCE
#include "memkind/ascend.h"
#include "memkind/memkind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

struct hm_acl hm_acl;
struct hm_ascend hm_ascend = {.device = -1, .peers = HM_PEERS_NONE};

/* --- the library --- */

enum { NEEDED = 0, VMM = 1, KEY = 2, MORE = 4 };

static const struct hm_vendor_function functions[] = {
#define HM_ACL(set, result, name, arguments) {#name, (void **)&hm_acl.name, set, set == MORE},
#include "memkind/ascend.def"
#undef HM_ACL
};
static const char *const homes[] = {"ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", NULL};
static struct hm_vendor vendor = {.kind = "ascend", .variable = "SHMEM_ASCEND_LIBRARY", .file = "libascendcl.so",
                                  .homes = homes, .functions = functions, .n = HM_COUNT(functions)};

static bool whole(unsigned missing) { return (missing & (VMM | KEY)) != (VMM | KEY); }

/* --- errors --- */

static const struct {
    int code, error;
    const char *name;
} codes[] = {
    {100000, EINVAL, "invalid parameter"},        {100001, EINVAL, "not initialised"},
    {107000, EINVAL, "invalid parameter"},        {107001, ENODEV, "invalid device"},
    {107002, EINVAL, "no context"},               {107003, EINVAL, "the stream is of another context"},
    {107008, ENOTSUP, "unaligned address"},       {107016, EINVAL, "invalid type of memory"},
    {107017, EINVAL, "invalid handle"},           {107019, ETIMEDOUT, "wait timeout"},
    {107020, ETIMEDOUT, "task timeout"},          {107022, ENODEV, "device task aborting"},
    {200000, ENOMEM, "bad allocation"},           {200001, ENOTSUP, "call not supported"},
    {200003, ENOTSUP, "unaligned address"},       {200006, ENOTSUP, "feature not supported"},
    {207000, ENOTSUP, "feature not supported"},   {207001, ENOMEM, "out of memory"},
    {207004, ENODEV, "no device"},                {207005, ENOMEM, "no resources"},
    {207006, EPERM, "no permission"},             {207012, ENOMEM, "over a limit"},
    {207018, ENOMEM, "device out of memory"},     {207020, ETIMEDOUT, "driver timeout"},
    {207021, ENOTSUP, "invalid type of link"},    {507010, ENODEV, "lost heartbeat"},
    {507013, ENODEV, "DMA error"},                {507022, EIO, "IPC error"},
    {507033, ENODEV, "device setup error"},       {507046, ETIMEDOUT, "stream synchronisation timeout"},
    {507051, ENODEV, "message to the device failed"}, {507052, EIO, "copying failed"},
    {507053, ENODEV, "device memory error"},      {507054, ENODEV, "HBM ECC error"},
    {507055, ENODEV, "suspected device memory error"}, {507056, ENODEV, "link error"},
    {507057, ENODEV, "suspected remote error"},   {507899, EIO, "driver error"},
    {507901, ENODEV, "device disconnected"},
};

/* The runtime heaps its sentences up until they are read; the last one stands first. */
static const char *recent_words(void)
{
    const char *words = hm_acl.aclGetRecentErrMsg ? hm_acl.aclGetRecentErrMsg() : NULL;
    return words ? words : "";
}

bool hm_acl_fails(int code)
{
    if (code) (void)recent_words();
    return code != 0;
}

int hm_acl_failed(const char *call, int code)
{
    const char *name = "not a code we know", *words = recent_words();
    int error = EIO;
    for (size_t i = 0; i < HM_COUNT(codes); i++)
        if (codes[i].code == code) name = codes[i].name, error = codes[i].error;
    hm_vendor_say("%s: error %d (%s)%s%.*s", call, code, name, *words ? ": " : "", (int)strcspn(words, "\n"), words);
    return -error;
}

/* --- the process and its device --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of begin, end, make, drop */
static bool initialised, initialised_by_us;
static void *context;         /* of the device, where the runtime tells */
static uint32_t device_holds; /* how often we have taken it: given back as often, for the runtime counts */

static bool has_contexts(void) { return hm_acl.aclrtGetCurrentContext && hm_acl.aclrtSetCurrentContext; }

/* A program that uses the runtime may have done this, and may do it later: it is told to ignore the second time. */
static int initialise(void)
{
    if (initialised) return 0;
    int code = hm_acl.aclInit(NULL);
    if (code && code != ACL_REPEATED) return hm_acl_failed("aclInit", code);
    initialised_by_us = !code;
    initialised = true;
    return 0;
}

static void finalise(void)
{
    if (initialised && initialised_by_us) {
        if (hm_acl.aclFinalizeReference) hm_acl.aclFinalizeReference(NULL);
        else hm_acl.aclFinalize();
    }
    initialised = initialised_by_us = false;
}

static int count(int *n)
{
    uint32_t found = 0;
    int code = hm_acl.aclrtGetDeviceCount(&found);
    if (code == ACL_UNINITIALISED) {
        (void)recent_words();
        int rc = initialise();
        if (rc) return rc;
        code = hm_acl.aclrtGetDeviceCount(&found);
    }
    *n = (int)found;
    return hm_acl_result("aclrtGetDeviceCount", code);
}

static int ascend_devices(const char **why)
{
    return hm_vendor_devices(&vendor, whole, &lock, count, "the runtime finds no device", why);
}

static int take_device(int device)
{
    int rc = hm_acl_call(aclrtSetDevice, device);
    if (rc) return rc;
    __atomic_fetch_add(&device_holds, 1, __ATOMIC_RELAXED);
    return 0;
}

static void give_device(int device)
{
    for (; device_holds; device_holds--) hm_acl.aclrtResetDevice(device);
}

/* What the calling thread was bound to when it entered. */
static _Thread_local struct {
    int depth, device; /* -1: to nothing */
    void *context;
} before;

int hm_ascend_enter(void)
{
    if (before.depth++) return 0;
    int rc = 0;
    before.device = -1;
    before.context = NULL;
    if (context) {
        if (hm_acl_fails(hm_acl.aclrtGetCurrentContext(&before.context))) before.context = NULL;
        if (before.context != context) rc = hm_acl_call(aclrtSetCurrentContext, context);
    } else {
        int32_t device;
        if (!hm_acl_fails(hm_acl.aclrtGetDevice(&device))) before.device = device;
        if (before.device != hm_ascend.device) rc = take_device(hm_ascend.device);
    }
    if (rc) before.depth = 0;
    return rc;
}

/* A thread that was bound to nothing stays with the device: there is no call that undoes it. */
void hm_ascend_leave(void)
{
    if (--before.depth) return;
    if (context) {
        if (before.context && before.context != context) hm_acl.aclrtSetCurrentContext(before.context);
    } else if (before.device >= 0 && before.device != hm_ascend.device) {
        hm_acl.aclrtSetDevice(before.device);
    }
}

bool hm_ascend_as_before(bool back)
{
    if (!context || !before.depth || !before.context || before.context == context) return false;
    return !hm_acl.aclrtSetCurrentContext(back ? before.context : context);
}

/* --- the heap: one slab. It is exported once, and when it is made: that may be what a way cannot do here --- */

static struct {
    void *at, *handle; /* handle: the way of virtual memory, NULL: by key */
    size_t bytes;
    char key[80];
    uint64_t shared;
} slab;
enum { GRAIN = 2 << 20 };

static bool way_is_whole(unsigned way)
{
    const char *only = hm_vendor_setting("SHMEM_ASCEND_IPC");
    if (only && strcmp(only, way == VMM ? "vmm" : "key") != 0) return false;
    return !(vendor.missing & way);
}

static struct acl_physical of_device(int device)
{
    return (struct acl_physical){.memory = ACL_HBM_HUGE, .location = {(uint32_t)device, ACL_DEVICE}};
}

static size_t ascend_grain(void)
{
    size_t bytes = 0;
    struct acl_physical what = of_device(hm_ascend.device);
    if (!way_is_whole(VMM) || hm_acl_fails(hm_acl.aclrtMemGetAllocationGranularity(&what, 0, &bytes)))
        return GRAIN;
    if (bytes < GRAIN) return GRAIN;
    return bytes % GRAIN ? GRAIN * bytes : bytes;
}

/* Addresses for physical memory. What a mapping allows is set where the runtime can: older ones allow all. */
static int map(void *handle, size_t bytes, void **at)
{
    void *got = NULL;
    struct acl_access access = {.flags = ACL_READ_WRITE, .location = {(uint32_t)hm_ascend.device, ACL_DEVICE}};
    int rc = hm_acl_call(aclrtReserveMemAddress, &got, bytes, 0, NULL, 0);
    if (rc) return rc;
    rc = hm_acl_call(aclrtMapMem, got, bytes, 0, handle, 0);
    if (rc) goto release;
    rc = hm_acl.aclrtMemSetAccess ? hm_acl_call(aclrtMemSetAccess, got, bytes, &access, 1) : 0;
    if (rc && rc != -ENOTSUP) goto unmap;
    *at = got;
    return 0;
unmap:
    hm_acl.aclrtUnmapMem(got);
release:
    hm_acl.aclrtReleaseMemAddress(got);
    return rc;
}

/* All of it, whatever fails; the first failure is the one that is told. */
static int unmap(void *at, void *handle)
{
    int rc = hm_acl_call(aclrtUnmapMem, at), code = hm_acl.aclrtFreePhysical(handle);
    if (!rc) rc = hm_acl_result("aclrtFreePhysical", code);
    code = hm_acl.aclrtReleaseMemAddress(at);
    return rc ? rc : hm_acl_result("aclrtReleaseMemAddress", code);
}

static int make_mapped(size_t bytes)
{
    void *handle = NULL;
    struct acl_physical what = of_device(hm_ascend.device);
    int rc = hm_acl_call(aclrtMallocPhysical, &handle, bytes, &what, 0);
    if (rc) return rc;
    rc = map(handle, bytes, &slab.at);
    if (rc) goto freed;
    rc = hm_acl_call(aclrtMemExportToShareableHandle, handle, 0, 0, &slab.shared);
    if (rc) goto unmapped;
    slab.handle = handle;
    return 0;
unmapped:
    hm_acl.aclrtUnmapMem(slab.at);
    hm_acl.aclrtReleaseMemAddress(slab.at);
    slab.at = NULL;
freed:
    hm_acl.aclrtFreePhysical(handle);
    return rc;
}

/* One that begins on a page: smaller blocks are cut out of pages, and cannot be exported. */
static int make_plain(size_t bytes)
{
    void *at = NULL;
    int rc = hm_acl_call(aclrtMalloc, &at, bytes, ACL_HUGE_ONLY);
    if (rc) return rc;
    rc = hm_acl_call(aclrtIpcMemGetExportKey, at, bytes, slab.key, ACL_KEY_BYTES, 0);
    if (rc) hm_acl.aclrtFree(at);
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
    if (!way_is_whole(VMM) && !way_is_whole(KEY)) hm_vendor_say("SHMEM_ASCEND_IPC asks for a way that this runtime does not have");
    memset(&slab, 0, sizeof slab);
    if (way_is_whole(VMM)) rc = make_mapped(bytes);
    if (rc == -ENOTSUP && way_is_whole(KEY)) rc = make_plain(bytes);
    if (!rc) slab.bytes = bytes;
    return rc;
}

static int ascend_make(size_t bytes, void **at)
{
    pthread_mutex_lock(&lock);
    int rc = HM_ASCEND_ENTERED(make(bytes));
    if (!rc) *at = slab.at;
    pthread_mutex_unlock(&lock);
    return rc;
}

static int ascend_whoami(int32_t *id)
{
    *id = (int32_t)getpid();
    return hm_acl.aclrtDeviceGetBareTgid ? hm_acl_call(aclrtDeviceGetBareTgid, id) : 0;
}

/* --- sharing --- */

struct blob {
    uint64_t shared;
    uint32_t by_key;
    char key[80];
};

static int ascend_share(void *at, const int32_t *ids, int n, struct hm_token *token)
{
    _Static_assert(sizeof(struct blob) <= sizeof token->blob, "a blob in a token");
    struct blob blob = {0};
    int rc = 0;
    if (!at || at != slab.at) {
        hm_vendor_say("%p is not the device heap of this process", at);
        return -EINVAL;
    }
    if (n > 0) {
        int32_t *who = (int32_t *)(uintptr_t)ids; /* read only, in spite of the prototypes */
        rc = slab.handle ? hm_acl_call(aclrtMemSetPidToShareableHandle, slab.shared, who, (size_t)n)
                         : hm_acl_call(aclrtIpcMemSetImportPid, slab.key, who, (size_t)n);
    }
    if (rc) return rc;
    blob.by_key = !slab.handle;
    blob.shared = slab.shared;
    memcpy(blob.key, slab.key, sizeof blob.key);
    *token = (struct hm_token){.descriptor = -1, .bytes = sizeof blob};
    memcpy(token->blob, &blob, sizeof blob);
    return 0;
}

/* This device reads and writes that one; the other direction is asked for where that one attaches ours. */
static bool reached[1024];
static int reach(int device)
{
    int32_t can = 0;
    if (device == hm_ascend.device) return 0;
    if (device >= 0 && (size_t)device < HM_COUNT(reached) && __atomic_load_n(&reached[device], __ATOMIC_ACQUIRE)) return 0;
    int rc = hm_acl_call(aclrtDeviceCanAccessPeer, &can, hm_ascend.device, device);
    if (rc) return rc;
    if (!can) {
        hm_vendor_say("aclrtDeviceCanAccessPeer: device %d cannot reach device %d", hm_ascend.device, device);
        return -ENOTSUP;
    }
    rc = hm_acl_call(aclrtDeviceEnablePeerAccess, device, 0);
    if (!rc && (size_t)device < HM_COUNT(reached)) __atomic_store_n(&reached[device], true, __ATOMIC_RELEASE);
    return rc;
}

/* What is documented of memory by key is tried with mapped memory: may the host copy it? */
static bool is_closed(const void *at)
{
    char word[64];
    return hm_acl_fails(hm_acl.aclrtMemcpy(word, sizeof word, at, sizeof word, ACL_D2H));
}

static int attach(const struct blob *blob, struct hm_peer *peer)
{
    void *at = NULL;
    int rc;
    if (blob->by_key) {
        rc = hm_acl_call(aclrtIpcMemImportByKey, &at, blob->key, 0);
        if (rc) return rc;
        peer->at = at;
        peer->closed = !peer->near;
        memcpy(peer->key, blob->key, sizeof peer->key);
        return 0;
    }
    rc = hm_acl_call(aclrtMemImportFromShareableHandle, blob->shared, hm_ascend.device, &peer->handle);
    if (rc) return rc;
    rc = map(peer->handle, peer->bytes, &at);
    if (rc) {
        hm_acl.aclrtFreePhysical(peer->handle);
        return rc;
    }
    peer->at = at;
    peer->closed = !peer->near && is_closed(at);
    return 0;
}

static int let_go(struct hm_peer *peer)
{
    return peer->handle ? unmap(peer->at, peer->handle) : hm_acl_call(aclrtIpcMemClose, peer->key);
}

static int ascend_attach(const struct hm_token *token, int owner_device, size_t bytes, void **at)
{
    struct blob blob;
    struct hm_peer peer = {.bytes = bytes, .device = owner_device, .near = owner_device == hm_ascend.device};
    if (token->bytes != sizeof blob) {
        hm_vendor_say("the token is not one of kind ascend");
        return -EINVAL;
    }
    memcpy(&blob, token->blob, sizeof blob);
    int rc = HM_ASCEND_ENTERED(reach(owner_device) ?: attach(&blob, &peer));
    if (rc) return rc;
    rc = hm_peers_add(&hm_ascend.peers, &peer);
    if (rc) let_go(&peer);
    else *at = peer.at;
    return rc;
}

static int ascend_detach(void *at)
{
    struct hm_peer peer;
    if (hm_peers_take(&hm_ascend.peers, at, &peer)) return HM_ASCEND_ENTERED(let_go(&peer));
    hm_vendor_say("nothing is attached at %p", at);
    return -EINVAL;
}

static int drop(void)
{
    int rc;
    if (slab.handle) {
        rc = unmap(slab.at, slab.handle);
    } else {
        rc = hm_acl_call(aclrtIpcMemClose, slab.key);
        int code = hm_acl.aclrtFree(slab.at);
        if (!rc) rc = hm_acl_result("aclrtFree", code);
    }
    memset(&slab, 0, sizeof slab);
    return rc;
}

static int ascend_drop(void *at)
{
    int rc = -EINVAL;
    pthread_mutex_lock(&lock);
    if (at && at == slab.at) rc = HM_ASCEND_ENTERED(drop());
    else hm_vendor_say("%p is not the device heap of this process", at);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- begin and end --- */

static int begin(int device)
{
    int n, rc = initialise();
    if (!rc) rc = count(&n);
    if (rc) return rc;
    if (device < 0 || device >= n) {
        hm_vendor_say("there is no device %d: the runtime has %d", device, n);
        return -ENODEV;
    }
    rc = take_device(device);
    if (rc) return rc;
    hm_ascend.device = device;
    context = NULL;
    if (has_contexts() && hm_acl.aclrtGetCurrentContext(&context)) context = NULL;
    rc = hm_ascend_stream_begin();
    if (!rc) return 0;
    give_device(device);
    hm_ascend.device = -1;
    return rc;
}

static int ascend_begin(int device)
{
    if (!hm_vendor_open(&vendor, whole)) {
        hm_vendor_say("%s", vendor.why);
        return -ENOTSUP;
    }
    pthread_mutex_lock(&lock);
    int rc = hm_ascend.device >= 0 ? -EBUSY : begin(device);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Whatever is still open goes, in the order that the runtime wants: what leads to others' memory before our own. */
static void ascend_end(void)
{
    struct hm_peer peer;
    if (hm_ascend.device < 0) return;
    hm_helpers_end();
    pthread_mutex_lock(&lock);
    if (!hm_ascend_enter()) {
        hm_ascend_flows_end();
        hm_ascend_stream_end();
        while (hm_peers_take(&hm_ascend.peers, NULL, &peer)) let_go(&peer);
        if (slab.at) drop();
        hm_ascend_leave();
    }
    give_device(hm_ascend.device);
    hm_ascend.device = -1;
    context = NULL;
    memset(reached, 0, sizeof reached);
    finalise();
    pthread_mutex_unlock(&lock);
}

/* --- what is asked --- */

static int ascend_info(struct hm_device_info *info)
{
    const char *name = hm_acl.aclrtGetSocName ? hm_acl.aclrtGetSocName() : NULL;
    struct hm_device_info got = {.peer_loads = true};
    int rc = HM_ASCEND_ENTERED(hm_acl_call(aclrtGetMemInfo, ACL_HBM, &got.free_bytes, &got.total_bytes));
    if (rc) return rc;
    snprintf(got.name, sizeof got.name, "%s", name ? name : "Ascend");
    got.dlpack = 12; /* kDLExtDev: what PyTorch calls the device type that torch_npu registers itself as */
    *info = got;
    return 0;
}

/* Where the driver has the addresses of all devices, 16 to 24 TiB (memfabric_hybrid: DEVMM_SVM_MEM_START; aclrtReserveMemAddress
 * grants wishes there alone). It is believed where this process's own memory lies there, too; else the runtime is asked. */
static bool is_where_devices_are(const void *at) { return (uintptr_t)at >> 43 == 2; }
static bool is_far_from_devices(const void *at) { return is_where_devices_are(slab.at) && !is_where_devices_are(at); }

static enum hm_side ascend_side_of(const void *at)
{
    struct hm_peer peer;
    struct acl_pointer attributes;
    if (slab.at && (uintptr_t)at - (uintptr_t)slab.at < slab.bytes) return HM_SIDE_OWN;
    if (hm_peers_find(&hm_ascend.peers, at, &peer)) return HM_SIDE_PEER;
    if (is_far_from_devices(at)) return HM_SIDE_HOST;
    if (!at || !hm_acl.aclrtPointerGetAttributes || HM_ASCEND_ENTERED(hm_acl_fails(hm_acl.aclrtPointerGetAttributes(at, &attributes))))
        return HM_SIDE_HOST;
    return attributes.location.type == ACL_DEVICE ? HM_SIDE_OWN : HM_SIDE_HOST;
}

const struct hm_device_ops hm_ascend_ops = {
    .begin = ascend_begin,
    .end = ascend_end,
    .enter = hm_ascend_enter,
    .leave = hm_ascend_leave,
    .info = ascend_info,
    .grain = ascend_grain,
    .make = ascend_make,
    .whoami = ascend_whoami,
    .share = ascend_share,
    .attach = ascend_attach,
    .detach = ascend_detach,
    .drop = ascend_drop,
    .flow_open = hm_ascend_flow_open,
    .flow_close = hm_ascend_flow_close,
    .copy = hm_ascend_copy,
    .set = hm_ascend_set,
    .finish = hm_ascend_finish,
    .side_of = ascend_side_of,
    .stream_copy = hm_ascend_stream_copy,
    .stream_call = hm_ascend_stream_call,
    .stream_mark = hm_ascend_stream_mark,
    .stream_ask = hm_ascend_stream_ask,
    .mark_drop = hm_ascend_mark_drop,
    .stream_drain = hm_ascend_stream_drain,
    .why = hm_vendor_why,
};

const struct hm_memkind hm_memkind_ascend = {.name = "ascend", .can = 0, .devices = ascend_devices, .device = &hm_ascend_ops};

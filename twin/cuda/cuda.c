/* A second facade of the engine: the CUDA driver's interface, as far as the kind cuda calls it. Names, values and rules as in
 * CUDA's documentation of the driver API; declared by ourselves. What it is there for: the kind's code runs, and the traps of
 * the interface are here. It says nothing about the speed of such devices.
 *
 * Traps: host functions of all streams run one at a time; copies from pageable memory return when they have been taken over,
 * to it when they are done, so both wait for the stream; mappings are closed until access to them is set, and others' memory
 * until peer access is; legacy handles are not for mapped memory, nor for the process that made them; the context is one of
 * the thread; nothing works in a child of fork; when
 * the device has failed in a task, all later calls of the process fail with the same code.
 */
#define _GNU_SOURCE
#include "../engine/engine.h"
#include "../twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TWIN_API __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    ALREADY_MAPPED = 208,
    PEER_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    ECC_UNCORRECTABLE = 214,
    UNKNOWN = 999
};

static const struct {
    int code;
    const char *name, *words;
} texts[] = {
    {OK, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {ALREADY_MAPPED, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {PEER_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int code_of(int status)
{
    switch (status) {
    case TW_OK: return OK;
    case TW_NO_MEMORY:
    case TW_NO_HOST_MEMORY: return OUT_OF_MEMORY;
    case TW_NO_DEVICE: return INVALID_DEVICE;
    case TW_NO_CONTEXT: return INVALID_CONTEXT;
    case TW_OTHER_CONTEXT:
    case TW_HANDLE: return INVALID_HANDLE;
    case TW_FORBIDDEN: return NOT_PERMITTED;
    case TW_UNSUPPORTED: return NOT_SUPPORTED;
    case TW_LOST:
    case TW_GONE: return ECC_UNCORRECTABLE;
    case TW_FORKED: return NOT_INITIALIZED;
    case TW_START: return NO_DEVICE;
    case TW_FAULT: return tw_fault_code;
    case TW_INVALID:
    case TW_ALIGN:
    case TW_IN_USE: return INVALID_VALUE;
    default: return UNKNOWN;
    }
}

/* --- contexts: the primary ones; a stack for each thread --- */

struct context {
    int device;
    _Atomic int holds;
    struct tw_context *engine; /* what the engine has for it */
};
static struct context contexts[TW_DEVICES];
static _Thread_local struct {
    struct context *at[16];
    int n;
} stack;
static _Atomic bool ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct context *current(void)
{
    struct context *c = stack.n ? stack.at[stack.n - 1] : NULL;
    return c && atomic_load_explicit(&c->holds, memory_order_relaxed) ? c : NULL;
}

enum { ANY, READY, CONTEXT, ORDERS };

/* The documents say of these that the process is in an inconsistent state and any further work returns the same error. */
static int ruin(void)
{
    int code = atomic_load_explicit(&tw_task_fault, memory_order_relaxed);
    return code == ECC_UNCORRECTABLE || code == ILLEGAL_ADDRESS || (code >= 714 && code <= 719) ? code : OK;
}

/* Begins every call: 0, or what it returns. */
static int enter(const char *call, int needs, int *device)
{
    if (tw_forked()) return NOT_INITIALIZED;
    if (needs == ANY) return OK;
    if (!atomic_load_explicit(&ready, memory_order_acquire)) return NOT_INITIALIZED;
    const struct context *c = current();
    *device = c ? c->device : -1;
    if (needs >= CONTEXT && !c) return INVALID_CONTEXT;
    if (c && tw_context_current() != c->engine) tw_context_set(c->engine);
    if (needs == ORDERS && tw_in_host_func()) return NOT_PERMITTED;
    if (c && __builtin_expect(ruin() != OK, 0)) return ruin();
    TW_COUNT(calls);
    tw_clock_spend((uint64_t)tw_shared->config.call_ns);
    if (atomic_load_explicit(&tw_faults, memory_order_relaxed) && tw_fault_meet(call, *device))
        return tw_fault_code;
    return code_of(tw_alive(*device));
}

#define ENTER(call, needs)                                                                                             \
    int device = -1, entered = enter(#call, needs, &device);                                                           \
    if (__builtin_expect(entered != OK, 0)) return entered;                                                            \
    (void)device
#define REFUSE_UNLESS(what)                                                                                            \
    if (!(what)) return INVALID_VALUE

TWIN_API int cuGetErrorName(int code, const char **name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code) return *name = texts[i].name, OK;
    return *name = NULL, INVALID_VALUE;
}

TWIN_API int cuGetErrorString(int code, const char **words)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code) return *words = texts[i].words, OK;
    return *words = NULL, INVALID_VALUE;
}

static int initialize(void)
{
    const char *faults = getenv("HBMESH_TWIN_FAULT");
    if (ready) return OK;
    if (faults && tw_fault_read(faults)) return INVALID_VALUE;
    if (tw_late_read(getenv("HBMESH_TWIN_LATE"), getenv("HBMESH_TWIN_SEED"))) return INVALID_VALUE;
    int rc = tw_attach();
    if (rc) {
        fprintf(stderr, "twin: %s\n", tw_reason());
        return code_of(rc);
    }
    tw_clock_open();
    for (int d = 0; d < TW_DEVICES; d++) contexts[d].device = d;
    ready = true;
    return tw_shared->config.devices ? OK : NO_DEVICE;
}

TWIN_API int cuInit(unsigned flags)
{
    ENTER(cuInit, ANY);
    REFUSE_UNLESS(!flags);
    pthread_mutex_lock(&lock);
    int e = initialize();
    pthread_mutex_unlock(&lock);
    return e;
}

TWIN_API int cuDriverGetVersion(int *version)
{
    ENTER(cuDriverGetVersion, ANY);
    *version = 12020;
    return OK;
}

/* --- devices --- */

TWIN_API int cuDeviceGetCount(int *n)
{
    ENTER(cuDeviceGetCount, READY);
    REFUSE_UNLESS(n);
    *n = tw_shared->config.devices;
    return OK;
}

static bool is_device(int d) { return d >= 0 && d < tw_shared->config.devices; }

TWIN_API int cuDeviceGet(int *out, int ordinal)
{
    ENTER(cuDeviceGet, READY);
    REFUSE_UNLESS(out);
    if (!is_device(ordinal)) return INVALID_DEVICE;
    *out = ordinal;
    return OK;
}

TWIN_API int cuDeviceGetName(char *name, int room, int d)
{
    ENTER(cuDeviceGetName, READY);
    REFUSE_UNLESS(name && room > 0);
    if (!is_device(d)) return INVALID_DEVICE;
    snprintf(name, (size_t)room, "CUDA twin");
    return OK;
}

/* Unified addresses, mapping, descriptors, waiting for words: 1; what it does not know: 0. */
TWIN_API int cuDeviceGetAttribute(int *value, int attribute, int d)
{
    ENTER(cuDeviceGetAttribute, READY);
    REFUSE_UNLESS(value);
    if (!is_device(d)) return INVALID_DEVICE;
    const char *legacy = getenv("HBMESH_TWIN_CUDA_LEGACY"); /* an old device */
    bool mapping = attribute == 102 || attribute == 103;
    *value = attribute == 41 || attribute == 93 || (mapping && !(legacy && *legacy == '1'));
    return OK;
}

TWIN_API int cuDeviceCanAccessPeer(int *can, int d, int peer)
{
    ENTER(cuDeviceCanAccessPeer, READY);
    REFUSE_UNLESS(can);
    if (!is_device(d) || !is_device(peer)) return INVALID_DEVICE;
    *can = d != peer && tw_server_of(d) == tw_server_of(peer);
    return OK;
}

TWIN_API int cuDevicePrimaryCtxRetain(void **context, int d)
{
    ENTER(cuDevicePrimaryCtxRetain, READY);
    REFUSE_UNLESS(context);
    if (!is_device(d)) return INVALID_DEVICE;
    int rc = tw_device_use(d);
    if (rc) return code_of(rc);
    contexts[d].engine = tw_context_current();
    contexts[d].holds++;
    *context = &contexts[d];
    return OK;
}

TWIN_API int cuDevicePrimaryCtxRelease_v2(int d)
{
    ENTER(cuDevicePrimaryCtxRelease_v2, READY);
    if (!is_device(d)) return INVALID_DEVICE;
    if (!contexts[d].holds) return INVALID_CONTEXT;
    contexts[d].holds--;
    return code_of(tw_device_leave(d, false));
}

static bool is_context(const void *c)
{
    return !c || ((const struct context *)c >= contexts && (const struct context *)c < contexts + TW_DEVICES);
}

TWIN_API int cuCtxGetCurrent(void **context)
{
    ENTER(cuCtxGetCurrent, READY);
    REFUSE_UNLESS(context);
    *context = current();
    return OK;
}

TWIN_API int cuCtxSetCurrent(void *context)
{
    ENTER(cuCtxSetCurrent, READY);
    if (!is_context(context)) return INVALID_CONTEXT;
    if (!stack.n) stack.n = 1;
    stack.at[stack.n - 1] = context;
    if (!context) stack.n--;
    return OK;
}

TWIN_API int cuCtxPushCurrent_v2(void *context)
{
    ENTER(cuCtxPushCurrent_v2, READY);
    if (!context || !is_context(context) || stack.n == 16) return INVALID_CONTEXT;
    stack.at[stack.n++] = context;
    return OK;
}

TWIN_API int cuCtxPopCurrent_v2(void **context)
{
    ENTER(cuCtxPopCurrent_v2, READY);
    if (!stack.n) return INVALID_CONTEXT;
    stack.n--;
    if (context) *context = stack.at[stack.n];
    return OK;
}

TWIN_API int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    ENTER(cuMemGetInfo_v2, CONTEXT);
    REFUSE_UNLESS(unused && total);
    *total = tw_shared->config.hbm;
    *unused = *total - atomic_load(&tw_shared->device[device].used);
    return OK;
}

/* --- memory --- */

static void *address(uint64_t at) { return (void *)(uintptr_t)at; }

TWIN_API int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
    ENTER(cuMemAlloc_v2, ORDERS);
    void *got;
    REFUSE_UNLESS(at && bytes);
    int rc = tw_malloc(device, bytes, bytes >= TW_PAGE / 2, &got);
    if (!rc) *at = (uintptr_t)got;
    return code_of(rc);
}

TWIN_API int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    ENTER(cuMemHostAlloc, ORDERS);
    REFUSE_UNLESS(at && bytes && flags < 8);
    return code_of(tw_host_malloc(bytes, at));
}

TWIN_API int cuMemFreeHost(void *at)
{
    ENTER(cuMemFreeHost, ORDERS);
    return code_of(tw_host_free(at));
}

TWIN_API int cuPointerGetAttribute(void *value, int attribute, uint64_t at)
{
    ENTER(cuPointerGetAttribute, CONTEXT);
    REFUSE_UNLESS(value && attribute == 2);
    if (tw_piece_at(address(at))) *(unsigned *)value = 2;
    else if (tw_host_kind(address(at), 1) != TW_PAGEABLE) *(unsigned *)value = 1;
    else return INVALID_VALUE;
    return OK;
}

/* --- keys and mappings: what the engine does not know of them --- */

enum { ENTRIES = 4096 };
struct entry {
    uintptr_t at;    /* 0: unused */
    uint64_t token;  /* of a key */
    size_t bytes;
    uint64_t access; /* of a mapping: bits of the devices that have it */
};
static struct table {
    struct entry at[ENTRIES];
    int top;
} keys, maps;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry *entry(struct table *of, uintptr_t at, bool make)
{
    struct entry *unused = NULL;
    for (int i = 0; i < of->top; i++) {
        if (of->at[i].at == at) return &of->at[i];
        if (!of->at[i].at) unused = &of->at[i];
    }
    if (!make || (!unused && of->top == ENTRIES)) return NULL;
    if (!unused) unused = &of->at[of->top++];
    *unused = (struct entry){.at = at};
    return unused;
}

struct key {
    uint8_t bytes[64];
};
static const char key_head[8] = "twinkey";

TWIN_API int cuMemFree_v2(uint64_t at)
{
    ENTER(cuMemFree_v2, ORDERS);
    uint64_t token = 0;
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&keys, at, false);
    if (e) token = e->token, e->at = 0;
    pthread_mutex_unlock(&entries_lock);
    if (token) tw_key_close(token);
    return code_of(tw_free(address(at)));
}

static int key_of(struct entry *e, struct key *key)
{
    const struct tw_piece *piece = tw_piece_at(address(e->at));
    int rc = e->token ? TW_OK : tw_key_export(address(e->at), piece->bytes, TW_SHARE_ANYBODY, &e->token);
    if (rc) {
        e->at = 0;
        return code_of(rc);
    }
    memset(key, 0, sizeof *key);
    memcpy(key->bytes, key_head, sizeof key_head);
    memcpy(key->bytes + sizeof key_head, &e->token, sizeof e->token);
    return OK;
}

TWIN_API int cuIpcGetMemHandle(struct key *key, uint64_t at)
{
    ENTER(cuIpcGetMemHandle, CONTEXT);
    const struct tw_piece *piece = tw_piece_at(address(at));
    REFUSE_UNLESS(key && piece && !piece->reserved && piece->physical->origin == TW_MINE && piece->va == at);
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&keys, at, true);
    int code = e ? key_of(e, key) : OUT_OF_MEMORY;
    pthread_mutex_unlock(&entries_lock);
    return code;
}

TWIN_API int cuIpcOpenMemHandle_v2(uint64_t *at, struct key key, unsigned flags)
{
    ENTER(cuIpcOpenMemHandle_v2, ORDERS);
    uint64_t token;
    void *got;
    REFUSE_UNLESS(at && flags == 1 && !memcmp(key.bytes, key_head, sizeof key_head));
    memcpy(&token, key.bytes + sizeof key_head, sizeof token);
    int rc = tw_key_import(token, device, &got);
    if (rc) return code_of(rc);
    int home = tw_piece_at(got)->physical->home;
    if (home != device && (rc = tw_peer_set(device, home, true))) return PEER_UNSUPPORTED;
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&keys, (uintptr_t)got, true);
    if (e) e->token = token;
    pthread_mutex_unlock(&entries_lock);
    *at = (uintptr_t)got;
    return e ? OK : OUT_OF_MEMORY;
}

TWIN_API int cuIpcCloseMemHandle(uint64_t at)
{
    ENTER(cuIpcCloseMemHandle, ORDERS);
    uint64_t token = 0;
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&keys, at, false);
    if (e) token = e->token, e->at = 0;
    pthread_mutex_unlock(&entries_lock);
    return token ? code_of(tw_key_close(token)) : INVALID_VALUE;
}

struct memory {
    int32_t type, handles, location_type, location;
    void *other;
    uint8_t flags[8];
};
struct access {
    int32_t location_type, location, flags;
};

static bool is_right(const struct memory *m)
{
    return m && m->type == 1 && !(m->handles & ~1) && m->location_type == 1 && is_device(m->location) && !m->other;
}

TWIN_API int cuMemGetAllocationGranularity(size_t *bytes, const struct memory *what, int option)
{
    ENTER(cuMemGetAllocationGranularity, READY);
    REFUSE_UNLESS(bytes && is_right(what) && (option == 0 || option == 1));
    *bytes = TW_PAGE;
    return OK;
}

TWIN_API int cuMemCreate(uint64_t *handle, size_t bytes, const struct memory *what, uint64_t flags)
{
    ENTER(cuMemCreate, ORDERS);
    struct tw_physical *m;
    REFUSE_UNLESS(handle && bytes && bytes % TW_PAGE == 0 && is_right(what) && !flags);
    int rc = tw_physical_make(what->location, bytes, &m);
    if (!rc) *handle = (uintptr_t)m;
    return code_of(rc);
}

TWIN_API int cuMemRelease(uint64_t handle)
{
    ENTER(cuMemRelease, ORDERS);
    struct tw_physical *m = tw_physical_check(address(handle));
    return m ? code_of(tw_physical_free(m)) : INVALID_VALUE;
}

TWIN_API int cuMemAddressReserve(uint64_t *at, size_t bytes, size_t alignment, uint64_t wish, uint64_t flags)
{
    ENTER(cuMemAddressReserve, ORDERS);
    void *got;
    REFUSE_UNLESS(at && bytes && bytes % TW_PAGE == 0 && !(alignment & (alignment - 1)) && !flags);
    int rc = tw_reserve(bytes, address(wish), &got);
    if (!rc) *at = (uintptr_t)got;
    return code_of(rc);
}

TWIN_API int cuMemAddressFree(uint64_t at, size_t bytes)
{
    ENTER(cuMemAddressFree, ORDERS);
    REFUSE_UNLESS(bytes);
    return code_of(tw_unreserve(address(at)));
}

TWIN_API int cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
    ENTER(cuMemMap, ORDERS);
    struct tw_physical *m = tw_physical_check(address(handle));
    REFUSE_UNLESS(m && bytes && bytes % TW_PAGE == 0 && !offset && !flags);
    int rc = tw_map(address(at), bytes, m);
    if (rc) return code_of(rc);
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&maps, at, true);
    if (e) e->bytes = bytes, e->access = 0;
    pthread_mutex_unlock(&entries_lock);
    return e ? OK : OUT_OF_MEMORY;
}

TWIN_API int cuMemUnmap(uint64_t at, size_t bytes)
{
    ENTER(cuMemUnmap, ORDERS);
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&maps, at, false);
    bool right = e && e->bytes == bytes;
    if (right) e->at = 0;
    pthread_mutex_unlock(&entries_lock);
    return right ? code_of(tw_unmap(address(at))) : INVALID_VALUE;
}

/* 3: read and write; 0: none. For a device that lies elsewhere only where it can be reached. */
TWIN_API int cuMemSetAccess(uint64_t at, size_t bytes, const struct access *access, size_t n)
{
    ENTER(cuMemSetAccess, ORDERS);
    const struct tw_piece *piece = tw_piece_at(address(at));
    REFUSE_UNLESS(piece && access && n);
    int code = OK;
    pthread_mutex_lock(&entries_lock);
    struct entry *e = entry(&maps, at, false);
    if (!e || e->bytes != bytes) code = INVALID_VALUE;
    for (size_t i = 0; !code && i < n; i++) {
        int d = access[i].location;
        if (access[i].location_type != 1 || !is_device(d) || (access[i].flags != 3 && access[i].flags)) code = INVALID_VALUE;
        else if (tw_server_of(d) != tw_server_of(piece->physical->home)) code = INVALID_DEVICE;
        else if (access[i].flags) e->access |= 1ull << d;
        else e->access &= ~(1ull << d);
    }
    pthread_mutex_unlock(&entries_lock);
    return code;
}

/* The descriptor is a file that holds the name of the export; who has it may import. */
TWIN_API int cuMemExportToShareableHandle(void *shared, uint64_t handle, int type, uint64_t flags)
{
    ENTER(cuMemExportToShareableHandle, CONTEXT);
    struct tw_physical *m = tw_physical_check(address(handle));
    uint64_t token = m ? m->token : 0;
    REFUSE_UNLESS(shared && m && type == 1 && !flags && m->origin == TW_MINE);
    int rc = token ? TW_OK : tw_physical_export(m, TW_SHARE_ANYBODY, &token);
    if (rc) return code_of(rc);
    int fd = memfd_create("cuda-twin-memory", MFD_CLOEXEC);
    if (fd < 0 || write(fd, &token, sizeof token) != sizeof token) return UNKNOWN;
    memcpy(shared, &fd, sizeof fd);
    return OK;
}

TWIN_API int cuMemImportFromShareableHandle(uint64_t *handle, void *shared, int type)
{
    ENTER(cuMemImportFromShareableHandle, ORDERS);
    struct tw_physical *m;
    uint64_t token;
    REFUSE_UNLESS(handle && type == 1);
    if (pread((int)(intptr_t)shared, &token, sizeof token, 0) != sizeof token) return INVALID_VALUE;
    int rc = tw_physical_import(token, device, 0, &m);
    if (!rc) *handle = (uintptr_t)m;
    return code_of(rc);
}

/* --- streams --- */

#define STREAM(handle, s)                                                                                              \
    struct tw_stream *s;                                                                                               \
    do {                                                                                                               \
        int rc_ = tw_stream_find(handle, &s);                                                                          \
        if (rc_) return code_of(rc_);                                                                                  \
    } while (0)

TWIN_API int cuStreamCreate(void **stream, unsigned flags)
{
    ENTER(cuStreamCreate, ORDERS);
    REFUSE_UNLESS(stream && flags <= 1);
    return code_of(tw_stream_make(device, (struct tw_stream **)stream));
}

TWIN_API int cuStreamDestroy_v2(void *stream)
{
    ENTER(cuStreamDestroy_v2, ORDERS);
    REFUSE_UNLESS(stream);
    STREAM(stream, s);
    return code_of(tw_stream_drop(s));
}

TWIN_API int cuStreamSynchronize(void *stream)
{
    ENTER(cuStreamSynchronize, ORDERS);
    STREAM(stream, s);
    TW_COUNT(waits_stream);
    tw_clock_spend((uint64_t)tw_shared->config.wait_ns);
    return code_of(tw_stream_wait(s, -1));
}

TWIN_API int cuCtxSynchronize(void)
{
    ENTER(cuCtxSynchronize, ORDERS);
    TW_COUNT(waits_device);
    tw_clock_spend((uint64_t)tw_shared->config.wait_ns);
    return code_of(tw_streams_wait(device, -1));
}

TWIN_API int cuStreamQuery(void *stream)
{
    ENTER(cuStreamQuery, CONTEXT);
    bool idle;
    STREAM(stream, s);
    int rc = tw_stream_idle(s, &idle);
    return rc ? code_of(rc) : idle ? OK : NOT_READY;
}

#define EVENT(handle, e)                                                                                               \
    struct tw_event *e;                                                                                                \
    do {                                                                                                               \
        int rc_ = tw_event_find(handle, &e);                                                                           \
        if (rc_) return code_of(rc_);                                                                                  \
    } while (0)

TWIN_API int cuEventCreate(void **event, unsigned flags)
{
    ENTER(cuEventCreate, ORDERS);
    REFUSE_UNLESS(event && flags <= 3);
    return code_of(tw_event_make(device, TW_EVENT_EX, flags, (struct tw_event **)event));
}

TWIN_API int cuEventDestroy_v2(void *event)
{
    ENTER(cuEventDestroy_v2, ORDERS);
    REFUSE_UNLESS(event);
    EVENT(event, e);
    return code_of(tw_event_drop(e));
}

TWIN_API int cuEventRecord(void *event, void *stream)
{
    ENTER(cuEventRecord, ORDERS);
    REFUSE_UNLESS(event);
    EVENT(event, e);
    STREAM(stream, s);
    return tw_event_device(e) == device ? code_of(tw_event_record(e, s)) : INVALID_HANDLE;
}

TWIN_API int cuEventQuery(void *event)
{
    ENTER(cuEventQuery, CONTEXT);
    bool done;
    REFUSE_UNLESS(event);
    EVENT(event, e);
    TW_COUNT(queries);
    int rc = tw_event_done(e, &done);
    return rc ? code_of(rc) : done ? OK : NOT_READY;
}

TWIN_API int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *arg)
{
    ENTER(cuLaunchHostFunc, ORDERS);
    REFUSE_UNLESS(fn);
    STREAM(stream, s);
    return code_of(tw_stream_call(s, fn, arg));
}

TWIN_API int cuStreamWaitValue64_v2(void *stream, uint64_t word, uint64_t value, unsigned flags)
{
    ENTER(cuStreamWaitValue64_v2, ORDERS);
    STREAM(stream, s);
    REFUSE_UNLESS(word && word % 8 == 0 && flags <= 3);
    if (!tw_piece_at(address(word)) && tw_host_kind(address(word), 8) == TW_PAGEABLE) return INVALID_VALUE;
    return code_of(tw_stream_await(s, address(word), value, flags));
}

/* --- copies --- */

static int check_end(int device, const void *p, size_t bytes, bool *pageable)
{
    *pageable = false;
    if (!tw_is_device(p)) {
        *pageable = tw_host_kind(p, bytes) == TW_PAGEABLE;
        return OK;
    }
    const struct tw_piece *piece = tw_piece_at(p);
    if (!piece || (uintptr_t)p - piece->va + bytes > piece->bytes) return INVALID_VALUE;
    if (!piece->reserved) return tw_peer_get(device, piece->physical->home) ? OK : ILLEGAL_ADDRESS;
    pthread_mutex_lock(&entries_lock);
    const struct entry *e = entry(&maps, piece->va, false);
    bool may = e && e->access >> device & 1;
    pthread_mutex_unlock(&entries_lock);
    return may ? OK : ILLEGAL_ADDRESS;
}

enum { STAGED = 64 << 10 }; /* more than that from pageable memory is done on return */

static int copy_staged(struct tw_stream *s, void *to, const void *from, size_t bytes)
{
    void *taken = malloc(bytes);
    if (!taken) return OUT_OF_MEMORY;
    memcpy(taken, from, bytes);
    int rc = tw_stream_wait(s, -1);
    if (!rc) rc = tw_stream_copy(s, to, taken, bytes, false);
    if (rc) free(taken);
    else rc = tw_stream_kernel(s, 0, free, taken); /* no host function: those may be waiting */
    return code_of(rc);
}

TWIN_API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    ENTER(cuMemcpyAsync, ORDERS);
    bool to_pageable, from_pageable;
    STREAM(stream, s);
    if (!bytes) return OK;
    REFUSE_UNLESS(to && from);
    int code = check_end(device, address(to), bytes, &to_pageable);
    if (!code) code = check_end(device, address(from), bytes, &from_pageable);
    if (code) return code;
    if (from_pageable && !to_pageable && bytes <= STAGED) return copy_staged(s, address(to), address(from), bytes);
    return code_of(tw_stream_copy(s, address(to), address(from), bytes, to_pageable || from_pageable));
}

TWIN_API int cuMemsetD8Async(uint64_t at, unsigned char byte, size_t bytes, void *stream)
{
    ENTER(cuMemsetD8Async, ORDERS);
    bool pageable;
    STREAM(stream, s);
    if (!bytes) return OK;
    int code = check_end(device, address(at), bytes, &pageable);
    if (code || pageable) return code ? code : INVALID_VALUE;
    return code_of(tw_stream_set(s, address(at), byte, bytes));
}

/* --- the twin's own --- */

TWIN_API int twin_fault(const char *text) { return tw_fault_read(text); }
TWIN_API int twin_late(const char *text) { return tw_late_read(text, NULL); }

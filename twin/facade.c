/* Errors and their sentences, init and finalize, and what the twin has beyond the runtime. */
#define _GNU_SOURCE
#include "facade.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int twin_strict;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool ready;
static uint64_t inits; /* calls of aclInit that have not been undone */
static _Thread_local const char *current_call = "";
static _Thread_local char messages[2][2048]; /* what went wrong, newest first; what was last fetched */
static _Thread_local aclError last_error;

/* --- errors --- */

aclError twin_refuse(aclError code, const char *fmt, ...)
{
    char line[600], rest[sizeof messages[0]];
    va_list args;
    va_start(args, fmt);
    int n = snprintf(line, sizeof line, "E%c9999: [PID: %d] %s failed, ret = %d: ", code < 200000 ? 'H' : 'Z', tw_pid(),
                     current_call, code);
    vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    memcpy(rest, messages[0], sizeof rest);
    snprintf(messages[0], sizeof messages[0], "%s\n%.*s", line, (int)(sizeof rest - sizeof line - 1), rest);
    return last_error = code;
}

static const struct {
    enum tw_status status;
    aclError code;
} codes[] = {
    {TW_INVALID, ACL_ERROR_RT_PARAM_INVALID},
    {TW_NO_DEVICE, ACL_ERROR_RT_INVALID_DEVICEID},
    {TW_NO_CONTEXT, ACL_ERROR_RT_CONTEXT_NULL},
    {TW_OTHER_CONTEXT, ACL_ERROR_RT_STREAM_CONTEXT},
    {TW_HANDLE, ACL_ERROR_RT_INVALID_HANDLE},
    {TW_NO_MEMORY, ACL_ERROR_RT_MEMORY_ALLOCATION},
    {TW_NO_HOST_MEMORY, ACL_ERROR_BAD_ALLOC},
    {TW_LIMIT, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL},
    {TW_ALIGN, ACL_ERROR_RT_ADDR_UNALIGNED},
    {TW_FORBIDDEN, ACL_ERROR_RT_NO_PERMISSION},
    {TW_IN_USE, ACL_ERROR_RT_IPC_ERROR},
    {TW_UNSUPPORTED, ACL_ERROR_RT_FEATURE_NOT_SUPPORT},
    {TW_TIMEOUT_STREAM, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT},
    {TW_TIMEOUT_EVENT, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT},
    {TW_TIMEOUT_REPORT, ACL_ERROR_RT_REPORT_TIMEOUT},
    {TW_LOST, ACL_ERROR_RT_LOST_HEARTBEAT},
    {TW_GONE, ACL_ERROR_RT_SOCKET_CLOSE},
    {TW_FORKED, ACL_ERROR_RT_DEV_SETUP_ERROR},
    {TW_START, ACL_ERROR_RT_NO_DEVICE},
    {TW_BROKEN, ACL_ERROR_RT_SUSPECT_REMOTE_ERROR},
    {TW_SUBSCRIBE, ACL_ERROR_RT_STREAM_NO_CB_REG},
};

aclError twin_status(int status)
{
    aclError code = status == TW_FAULT ? tw_fault_code : ACL_ERROR_RT_INTERNAL_ERROR;
    if (status == TW_OK) return ACL_SUCCESS;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if ((int)codes[i].status == status) code = codes[i].code;
    return twin_refuse(code, "%s", tw_reason());
}

TWIN_API const char *aclGetRecentErrMsg(void)
{
    if (!messages[0][0]) return NULL;
    memcpy(messages[1], messages[0], sizeof messages[1]);
    messages[0][0] = 0;
    return messages[1];
}

TWIN_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    return level == ACL_RT_THREAD_LEVEL ? last_error : ACL_SUCCESS;
}

TWIN_API aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    aclError code = aclrtPeekAtLastError(level);
    last_error = ACL_SUCCESS;
    return code;
}

static aclError meet_fault(const char *call, int device)
{
    return twin_status(tw_fault_meet(call, device));
}

aclError twin_enter(const char *call, int needs, int *device)
{
    current_call = call;
    if (__builtin_expect(tw_forked(), 0)) return twin_status(tw_alive(-1));
    if (needs && !atomic_load_explicit(&ready, memory_order_acquire))
        return twin_refuse(ACL_ERROR_UNINITIALIZE, "aclInit has not been called");
    if (!needs) return ACL_SUCCESS;
    *device = tw_device_current();
    if (needs & CONTEXT && *device < 0)
        return twin_refuse(ACL_ERROR_RT_CONTEXT_NULL, "the thread has no device: aclrtSetDevice comes first");
    if (needs & ORDERS && tw_in_host_func())
        return twin_refuse(ACL_ERROR_RT_INTERNAL_ERROR, "a host function must not call this");
    TW_COUNT(calls);
    tw_clock_spend((uint64_t)tw_shared->config.call_ns);
    if (__builtin_expect(atomic_load_explicit(&tw_faults, memory_order_relaxed), 0)) {
        aclError e = meet_fault(call, *device);
        if (e) return e;
    }
    int rc = tw_alive(needs & CONTEXT ? *device : -1);
    return __builtin_expect(rc, 0) ? twin_status(rc) : ACL_SUCCESS;
}

/* --- init --- */

static aclError read_options(void)
{
    const char *strict = getenv("HBMESH_TWIN_STRICT"), *faults = getenv("HBMESH_TWIN_FAULT");
    const char *late = getenv("HBMESH_TWIN_LATE");
    twin_strict = strict ? atoi(strict) : 0;
    tw_fault_read(NULL);
    if (faults && tw_fault_read(faults))
        return twin_refuse(ACL_ERROR_INVALID_PARAM, "HBMESH_TWIN_FAULT: '%s' is not understood", faults);
    if (tw_late_read(late, getenv("HBMESH_TWIN_SEED")))
        return twin_refuse(ACL_ERROR_INVALID_PARAM, "HBMESH_TWIN_LATE: '%s' is not understood", late);
    return ACL_SUCCESS;
}

static aclError initialize(const char *path)
{
    int rc;
    if (ready) inits++;
    if (ready) return twin_refuse(ACL_ERROR_REPEAT_INITIALIZE, "initialised already (which may be ignored)");
    if (path && *path) {
        FILE *f = fopen(path, "re");
        if (!f) return twin_refuse(100003, "the configuration %s cannot be read", path);
        fclose(f);
    }
    aclError e = read_options();
    if (e) return e;
    if ((rc = tw_attach()) != TW_OK) return twin_status(rc);
    tw_clock_open();
    inits = 1;
    ready = true;
    return ACL_SUCCESS;
}

TWIN_API aclError aclInit(const char *configPath)
{
    ENTER(aclInit, ANY);
    pthread_mutex_lock(&lock);
    aclError e = initialize(configPath);
    pthread_mutex_unlock(&lock);
    return e;
}

static void finalize(void)
{
    for (int d = 0; d < tw_shared->config.devices; d++)
        if (tw_device_open(d)) tw_device_leave(d, true);
    inits = 0;
    ready = false;
    tw_detach();
}

static aclError undo_init(uint64_t uses, uint64_t *left)
{
    pthread_mutex_lock(&lock);
    bool was = ready;
    inits -= uses < inits ? uses : inits;
    if (was && !inits) finalize();
    if (left) *left = inits;
    pthread_mutex_unlock(&lock);
    return was ? ACL_SUCCESS : twin_refuse(ACL_ERROR_REPEAT_FINALIZE, "not initialised, or finalized already");
}

TWIN_API aclError aclFinalize(void)
{
    ENTER(aclFinalize, ANY);
    return undo_init(UINT64_MAX, NULL);
}

TWIN_API aclError aclFinalizeReference(uint64_t *refCount)
{
    ENTER(aclFinalizeReference, ANY);
    return undo_init(1, refCount);
}

TWIN_API const char *aclrtGetSocName(void)
{
    int device;
    return twin_enter("aclrtGetSocName", READY, &device) ? NULL : tw_shared->config.soc;
}

TWIN_API aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    ENTER(aclrtGetVersion, ANY);
    NEED(majorVersion);
    NEED(minorVersion);
    NEED(patchVersion);
    *majorVersion = 1;
    *minorVersion = 15;
    *patchVersion = 0;
    return ACL_SUCCESS;
}

/* --- the twin's own --- */

static uint64_t get(_Atomic uint64_t *v) { return atomic_load_explicit(v, memory_order_relaxed); }

TWIN_API void twin_counts(struct twin_counts *c)
{
    for (int w = 0; w < TWIN_WAYS; w++) {
        c->sync_copies[w] = get(&tw_live.copies[0][w]);
        c->sync_bytes[w] = get(&tw_live.bytes[0][w]);
        c->async_copies[w] = get(&tw_live.copies[1][w]);
        c->async_bytes[w] = get(&tw_live.bytes[1][w]);
    }
    c->stream_waits = get(&tw_live.waits_stream);
    c->event_waits = get(&tw_live.waits_event);
    c->device_waits = get(&tw_live.waits_device);
    c->queries = get(&tw_live.queries);
    c->host_funcs = get(&tw_live.host_funcs);
    c->kernels = get(&tw_live.kernels);
    c->records = get(&tw_live.records);
    c->stream_event_waits = get(&tw_live.event_waits);
    c->words = get(&tw_live.words);
    c->calls = get(&tw_live.calls);
}

TWIN_API uint64_t twin_now(void) { return tw_clock_now(); }
TWIN_API uint64_t twin_node_now(void) { return tw_shared ? atomic_load(&tw_shared->latest) : 0; }

TWIN_API uint64_t twin_stream_now(void *stream)
{
    struct tw_stream *s;
    return tw_context_current() && tw_stream_find(stream, &s) == TW_OK ? tw_stream_clock(s) : 0;
}

TWIN_API void twin_spend(uint64_t ns) { tw_clock_spend(ns); }

TWIN_API void twin_meet(uint64_t ns)
{
    if (tw_shared) tw_clock_meet(ns);
}

TWIN_API void twin_reset(int clock)
{
    _Atomic uint64_t *all = (_Atomic uint64_t *)&tw_live;
    for (size_t i = 0; i < sizeof tw_live / sizeof *all; i++) atomic_store(&all[i], 0);
    if (clock && tw_shared) tw_clock_reset();
}

TWIN_API int twin_launch(void *stream, uint64_t ns, void (*fn)(void *), void *arg)
{
    ENTER(twin_launch, READY | CONTEXT | ORDERS);
    struct tw_stream *s;
    int rc = tw_stream_find(stream, &s);
    return twin_status(rc ? rc : tw_stream_kernel(s, ns, fn, arg));
}

TWIN_API void *twin_memory(const void *device_address, size_t bytes)
{
    return tw_is_device(device_address) ? tw_secret(device_address, bytes) : NULL;
}

TWIN_API int twin_fault(const char *text) { return tw_fault_read(text); }
TWIN_API int twin_late(const char *text) { return tw_late_read(text, NULL); }

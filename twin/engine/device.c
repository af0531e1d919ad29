/* Devices as this process and its threads use them. A thread uses a device through a context: the device's own, or one
 * that was made. */
#include "engine.h"

#include <stdlib.h>

/* Never given back: a thread may still point to one that is gone. */
struct tw_context {
    struct tw_context *next;
    int device;
    bool own; /* the device's */
    _Atomic bool gone;
    pthread_mutex_t calls; /* held by the host function that runs */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int uses;
    struct tw_context *own;
    _Atomic uint64_t peers; /* bits: those it may reach */
} devices[TW_DEVICES];
static struct tw_context *contexts;
static _Thread_local struct tw_context *current;

int tw_server_of(int device)
{
    const struct tw_config *c = &tw_shared->config;
    return device / ((c->devices + c->servers - 1) / c->servers);
}

static int check(int device)
{
    if (device >= 0 && device < tw_shared->config.devices) return TW_OK;
    return tw_fail(TW_NO_DEVICE, "there is no device %d: there are %d", device, tw_shared->config.devices);
}

static struct tw_context *make_context(int device, bool own)
{
    struct tw_context *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (struct tw_context){.next = contexts, .device = device, .own = own, .calls = PTHREAD_MUTEX_INITIALIZER};
    return contexts = c;
}

/* One use more, under the lock. */
static int open_device(int device)
{
    struct tw_reply r;
    int rc = TW_OK;
    if (!devices[device].uses) {
        rc = tw_request(&(struct tw_request){.op = TW_OPEN, .device = device}, &r, NULL);
        if (rc) return rc;
        if (!(devices[device].own = make_context(device, true))) return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    }
    devices[device].uses++;
    return TW_OK;
}

/* What is on the device goes, and whoever uses it has no context any more. */
static void close_device(int device)
{
    struct tw_reply r;
    tw_streams_drop(device, NULL);
    tw_free_device(device);
    for (struct tw_context *c = contexts; c; c = c->next)
        if (c->device == device) atomic_store(&c->gone, true);
    devices[device].own = NULL;
    atomic_store(&devices[device].peers, 0);
    tw_request(&(struct tw_request){.op = TW_CLOSE, .device = device}, &r, NULL);
}

int tw_device_use(int device)
{
    int rc = check(device);
    if (rc == TW_OK) rc = tw_alive(device);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    rc = open_device(device);
    if (rc == TW_OK) current = devices[device].own;
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_device_leave(int device, bool all)
{
    int rc = check(device);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    if (!devices[device].uses) rc = tw_fail(TW_NO_CONTEXT, "device %d is not in use", device);
    else if (all) devices[device].uses = 0;
    else devices[device].uses--;
    if (rc == TW_OK && !devices[device].uses) close_device(device);
    pthread_mutex_unlock(&lock);
    return rc;
}

struct tw_context *tw_context_current(void)
{
    struct tw_context *c = current;
    return c && !atomic_load_explicit(&c->gone, memory_order_relaxed) ? c : NULL;
}

int tw_device_current(void)
{
    const struct tw_context *c = tw_context_current();
    return c ? c->device : -1;
}

bool tw_device_open(int device)
{
    pthread_mutex_lock(&lock);
    bool open = devices[device].uses > 0;
    pthread_mutex_unlock(&lock);
    return open;
}

void tw_context_call(struct tw_context *c, void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&c->calls);
    fn(arg);
    pthread_mutex_unlock(&c->calls);
}

/* --- contexts of one's own: each is a use of its device --- */

int tw_context_make(int device, struct tw_context **out)
{
    int rc = check(device);
    if (rc == TW_OK) rc = tw_alive(device);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    rc = open_device(device);
    if (rc == TW_OK && !(*out = current = make_context(device, false)))
        rc = tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct tw_context *find(const void *handle)
{
    struct tw_context *c = contexts;
    while (c && c != handle) c = c->next;
    return c && !c->gone ? c : NULL;
}

int tw_context_set(void *handle)
{
    pthread_mutex_lock(&lock);
    struct tw_context *c = find(handle);
    if (c) current = c;
    pthread_mutex_unlock(&lock);
    return c ? TW_OK : tw_fail(TW_HANDLE, "%p is no context, or its device was reset", handle);
}

int tw_context_drop(void *handle)
{
    pthread_mutex_lock(&lock);
    struct tw_context *c = find(handle);
    int rc = !c ? tw_fail(TW_HANDLE, "%p is no context", handle)
             : c->own ? tw_fail(TW_INVALID, "a device's own context goes when the device is reset") : TW_OK;
    if (rc == TW_OK) {
        tw_streams_drop(c->device, c);
        atomic_store(&c->gone, true);
        if (!--devices[c->device].uses) close_device(c->device);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_peer_set(int device, int peer, bool on)
{
    int rc = check(device);
    if (rc == TW_OK) rc = check(peer);
    if (rc) return rc;
    if (device == peer) return tw_fail(TW_INVALID, "device %d is no peer of itself", device);
    if (tw_server_of(device) != tw_server_of(peer))
        return tw_fail(TW_UNSUPPORTED, "devices %d and %d are on different servers", device, peer);
    if (on) atomic_fetch_or(&devices[device].peers, 1ull << peer);
    else atomic_fetch_and(&devices[device].peers, ~(1ull << peer));
    return TW_OK;
}

bool tw_peer_get(int device, int peer)
{
    return device == peer || atomic_load_explicit(&devices[device].peers, memory_order_relaxed) >> peer & 1;
}

/* Devices as this process and its threads use them. */
#include "engine.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int uses;
    _Atomic unsigned life; /* odd: open. A thread's device is one of a certain life */
    _Atomic uint64_t peers; /* bits: those it may reach */
} devices[TW_DEVICES];
static _Thread_local int current = -1;
static _Thread_local unsigned current_life;

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

int tw_device_use(int device)
{
    struct tw_reply r;
    int rc = check(device);
    if (rc == TW_OK) rc = tw_alive(device);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    if (!devices[device].uses) rc = tw_request(&(struct tw_request){.op = TW_OPEN, .device = device}, &r, NULL);
    if (rc == TW_OK && !devices[device].uses++) atomic_fetch_add(&devices[device].life, 1);
    if (rc == TW_OK) {
        current = device;
        current_life = atomic_load(&devices[device].life);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_device_leave(int device, bool all)
{
    struct tw_reply r;
    int rc = check(device);
    if (rc) return rc;
    pthread_mutex_lock(&lock);
    if (!devices[device].uses) rc = tw_fail(TW_NO_CONTEXT, "device %d is not in use", device);
    else if (all) devices[device].uses = 0;
    else devices[device].uses--;
    if (rc == TW_OK && !devices[device].uses) {
        tw_streams_drop(device);
        tw_free_device(device);
        atomic_fetch_add(&devices[device].life, 1);
        atomic_store(&devices[device].peers, 0);
        tw_request(&(struct tw_request){.op = TW_CLOSE, .device = device}, &r, NULL);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_device_current(void)
{
    int device = current;
    return device >= 0 && atomic_load_explicit(&devices[device].life, memory_order_relaxed) == current_life ? device
                                                                                                            : -1;
}

bool tw_device_open(int device) { return atomic_load(&devices[device].life) & 1; }

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

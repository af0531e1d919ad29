/* Puts and gets on streams that are one copy of the runtime's between device memories of this machine. Nobody hears of their
 * end but who synchronises the stream; so finalize waits for the device if there were any. */
#include <pthread.h>
#include <stdio.h>

#include "base/log.h"
#include "core/device.h"
#include "core/stream_op.h"
#include "core/wait.h"
#include "core/world.h"

/* --- the last ones, for a sentence about one that fails --- */

enum { NOTES = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */
static struct {
    const char *call;
    int pe;
} note[NOTES]; /* the latest of number n at n % NOTES */
static uint64_t copies;

static void remember(const char *call, int pe)
{
    pthread_mutex_lock(&lock);
    note[copies % NOTES].call = call;
    note[copies++ % NOTES].pe = pe;
    pthread_mutex_unlock(&lock);
}

static void list_last(char *text, size_t size)
{
    size_t n = 0;
    for (uint64_t i = copies > NOTES ? copies - NOTES : 0; i < copies && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s (PE %d)", n ? ", " : "", note[i % NOTES].call, note[i % NOTES].pe);
}

/* --- copies --- */

/* The copy of symmetric device memory on a PE of this machine, NULL: it is something else. */
static char *device_at(const void *addr, int pe)
{
    if (!hm_device_holds(addr, 1) || !hm_device.peer[pe]) return NULL;
    return hm_device.peer[pe] + hm_device_offset(addr);
}

static enum hm_side side_at(int pe) { return pe == hm_world.pe ? HM_SIDE_OWN : HM_SIDE_PEER; }

static int copy(void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes, int pe,
                void *stream, const char *call)
{
    if (!to || !from || to_side == HM_SIDE_HOST || from_side == HM_SIDE_HOST) return -ENOTSUP;
    if (!hm_device.ops->stream_copy) return -ENOTSUP;
    int e = hm_device.ops->enter();
    if (!e) {
        e = hm_device.ops->stream_copy(stream, to, to_side, from, from_side, bytes);
        hm_device.ops->leave();
    }
    if (!e) remember(call, pe);
    return e && e != -ENOTSUP ? hm_stream_refused(e, pe, call) : e;
}

int hm_stream_copy_to(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    return copy(device_at(dest, pe), side_at(pe), source, hm_device_side(source), bytes, pe, stream, call);
}

int hm_stream_copy_from(void *dest, const void *source, size_t bytes, int pe, void *stream, const char *call)
{
    return copy(dest, hm_device_side(dest), device_at(source, pe), side_at(pe), bytes, pe, stream, call);
}

/* --- the end --- */

static HM_NORETURN HM_COLD void failed(int error, const char *call)
{
    char last[NOTES * 80] = "";
    list_last(last, sizeof last);
    if (error == -ENODEV) hm_device_fail(call, "", -1, error);
    hm_die(call, "something on a stream of this PE has failed; the last copies there were of %s: %s", last, hm_device.ops->why());
}

void hm_stream_await_copies(const char *call)
{
    struct hm_wait w;
    if (!copies || !hm_device.ops->stream_drain) return;
    hm_stream_wait_begin(&w, call);
    hm_wait_nap(&w, 0);
    int e = hm_device.ops->enter();
    if (!e) {
        e = hm_device.ops->stream_drain();
        hm_device.ops->leave();
    }
    hm_wait_end(&w);
    if (e && e != -ENOTSUP) failed(e, call);
    copies = 0;
}

/* Copies of the kind ascend: which calls of the runtime an order of copies takes.
 *
 * What the documents of all versions allow: synchronous copies have any addresses and any host memory, but do not wait for
 * streams, so what is under way on the flow is completed first; asynchronous ones have page-locked host memory and addresses
 * aligned to 64; between devices they are asynchronous. Another device's memory that was imported by key is `closed`: only
 * asynchronous copies between devices. So an aligned copy between device memories is one asynchronous copy; a copy from or to
 * the host is one synchronous copy; the rest goes through memory of the flow's own, on the device or page-locked.
 */
#include "memkind/ascend.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNED = 64, BOUNCE = 64 << 10, PINNED = 512 << 10, STAGE = 1 << 20, BACKS = 64 };

/* Memory of the flow's own, taken from the front to the end; all is free again when nothing is under way. */
struct arena {
    char *at;
    size_t used;
};

struct hm_flow {
    struct hm_flow_head head;
    struct arena pinned, stage;
    struct {
        void *to;
        const void *from;
        size_t bytes;
    } back[BACKS]; /* from `pinned`, once the stream is through */
    unsigned backs;
};

static struct hm_flows flows = HM_FLOWS_NONE;

/* --- the runtime's calls --- */

static int now(void *to, const void *from, size_t bytes, int kind)
{
    return hm_acl_call(aclrtMemcpy, to, bytes, from, bytes, kind);
}

static int later(struct hm_flow *f, void *to, const void *from, size_t bytes, int kind)
{
    int rc = hm_acl_call(aclrtMemcpyAsync, to, bytes, from, bytes, kind, f->head.stream);
    if (!rc) f->head.busy = true;
    return rc;
}

static int settle(struct hm_flow *f)
{
    if (!f->head.busy) return 0;
    int rc = hm_acl_call(aclrtSynchronizeStream, f->head.stream);
    for (unsigned i = 0; !rc && i < f->backs; i++) memcpy(f->back[i].to, f->back[i].from, f->back[i].bytes);
    f->head.busy = false;
    f->backs = 0;
    f->pinned.used = f->stage.used = 0;
    return rc;
}

/* Room in an arena for `bytes`, at most its size. */
static int room(struct hm_flow *f, struct arena *a, size_t bytes, void **at)
{
    size_t size = a == &f->pinned ? PINNED : STAGE;
    int rc = 0;
    if (!a->at)
        rc = a == &f->pinned ? hm_acl_call(aclrtMallocHost, (void **)&a->at, size)
                             : hm_acl_call(aclrtMalloc, (void **)&a->at, size, ACL_HUGE_ONLY);
    if (!rc && a->used + bytes > size) rc = settle(f);
    if (rc) return rc;
    if (!f->head.busy) a->used = 0;
    *at = a->at + a->used;
    a->used += hm_round_up(bytes, ALIGNED);
    return 0;
}

/* --- where the ends of a copy lie --- */

enum place { HOST, NEAR, FAR, CLOSED }; /* on this device; on another one; there, and not for the host */

static enum place place_of(const void *at, enum hm_side side)
{
    struct hm_peer peer;
    if (side == HM_SIDE_HOST) return HOST;
    if (side == HM_SIDE_OWN || !hm_peers_find(&hm_ascend.peers, at, &peer) || peer.near) return NEAR;
    return peer.closed ? CLOSED : FAR;
}

static size_t phase(const void *at) { return (uintptr_t)at % ALIGNED; }
static bool are_aligned(const void *a, const void *b) { return !phase(a) && !phase(b); }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* --- from and to the host --- */

/* Under way, through page-locked memory. */
static int bounce(struct hm_flow *f, void *to, const void *from, size_t bytes, bool to_device)
{
    void *pinned;
    int rc = 0;
    if (!to_device && f->backs == BACKS) rc = settle(f);
    if (!rc) rc = room(f, &f->pinned, bytes, &pinned);
    if (rc) return rc;
    if (to_device) {
        memcpy(pinned, from, bytes);
        return later(f, to, pinned, bytes, ACL_H2D);
    }
    rc = later(f, pinned, from, bytes, ACL_D2H);
    if (rc) return rc;
    f->back[f->backs].to = to;
    f->back[f->backs].from = pinned;
    f->back[f->backs++].bytes = bytes;
    return 0;
}

/* One synchronous copy: cheaper than an asynchronous one and its end, and quite as good for the next call. */
static int with_host(struct hm_flow *f, void *to, const void *from, size_t bytes, bool to_device, bool nbi)
{
    if (nbi && bytes <= BOUNCE && !phase(to_device ? to : from)) return bounce(f, to, from, bytes, to_device);
    int rc = settle(f);
    return rc ? rc : now(to, from, bytes, to_device ? ACL_H2D : ACL_D2H);
}

/* --- between devices, where that is more than one copy --- */

/* Whatever lies from the boundary before `from` on may be read, too: heaps begin and end on boundaries. */
static int read_far(struct hm_flow *f, const char *from, size_t bytes, void **at)
{
    size_t before = phase(from);
    void *stage = NULL;
    int rc = room(f, &f->stage, before + bytes, &stage);
    if (!rc) rc = later(f, stage, from - before, before + bytes, ACL_D2D);
    *at = (char *)stage + before;
    return rc;
}

static int far_to_here(struct hm_flow *f, char *to, const char *from, size_t bytes, bool to_host)
{
    int rc = 0;
    for (size_t n; !rc && bytes; to += n, from += n, bytes -= n) {
        void *stage;
        n = least(bytes, STAGE / 2 - phase(from));
        rc = read_far(f, from, n, &stage);
        if (!rc) rc = settle(f);
        if (!rc) rc = now(to, stage, n, to_host ? ACL_D2H : ACL_D2D);
    }
    return rc;
}

/* At unaligned addresses of a closed device this is what newer versions allow, and older ones refuse: there only the owner can
 * write a part of a line. */
static int here_to_far(struct hm_flow *f, char *to, const char *from, size_t bytes, bool from_host)
{
    int rc = from_host ? 0 : settle(f); /* a copy under way may write what is read now */
    for (size_t n; !rc && bytes; to += n, from += n, bytes -= n) {
        void *stage;
        n = least(bytes, STAGE / 2);
        rc = room(f, &f->stage, n, &stage);
        if (!rc) rc = now(stage, from, n, from_host ? ACL_H2D : ACL_D2D);
        if (!rc) rc = later(f, to, stage, n, ACL_D2D);
    }
    return rc;
}

/* A few bytes by way of the host, which may write anywhere. */
static int by_host(struct hm_flow *f, char *to, const char *from, size_t bytes)
{
    char some[ALIGNED];
    int rc = settle(f);
    if (!rc) rc = now(some, from, bytes, ACL_D2H);
    return rc ? rc : now(to, some, bytes, ACL_H2D);
}

static int unaligned_to_far(struct hm_flow *f, char *to, const char *from, size_t bytes, enum place where)
{
    size_t head = where == FAR && phase(to) ? least(bytes, ALIGNED - phase(to)) : 0;
    int rc = head ? by_host(f, to, from, head) : 0;
    if (rc || head == bytes) return rc;
    if (are_aligned(to + head, from + head)) return later(f, to + head, from + head, bytes - head, ACL_D2D);
    return here_to_far(f, to + head, from + head, bytes - head, false);
}

static int unaligned_from_far(struct hm_flow *f, char *to, const char *from, size_t bytes)
{
    size_t head = phase(to) == phase(from) ? least(bytes, (ALIGNED - phase(to)) % ALIGNED) : bytes;
    int rc = far_to_here(f, to, from, head, false);
    return rc || head == bytes ? rc : later(f, to + head, from + head, bytes - head, ACL_D2D);
}

static int far_through_host(struct hm_flow *f, char *to, enum place to_place, const char *from, enum place from_place,
                            size_t bytes)
{
    char some[8192];
    int rc = 0;
    for (size_t n; !rc && bytes; to += n, from += n, bytes -= n) {
        n = least(bytes, sizeof some);
        rc = from_place == CLOSED ? far_to_here(f, some, from, n, true) : with_host(f, some, from, n, false, false);
        if (!rc) rc = to_place == CLOSED ? here_to_far(f, to, some, n, true) : with_host(f, to, some, n, true, false);
    }
    return rc;
}

/* Between two others: through this device, which is the one that has access to both. */
static int far_to_far(struct hm_flow *f, char *to, enum place to_place, const char *from, enum place from_place, size_t bytes)
{
    int rc = 0;
    if (!are_aligned(to, from)) return far_through_host(f, to, to_place, from, from_place, bytes);
    for (size_t n; !rc && bytes; to += n, from += n, bytes -= n) {
        void *stage;
        n = least(bytes, STAGE / 4);
        rc = read_far(f, from, n, &stage);
        if (!rc) rc = later(f, to, stage, n, ACL_D2D);
    }
    return rc;
}

static int between_devices(struct hm_flow *f, char *to, enum place to_place, const char *from, enum place from_place,
                           size_t bytes)
{
    if (to_place != NEAR && from_place != NEAR) return far_to_far(f, to, to_place, from, from_place, bytes);
    if (are_aligned(to, from)) return later(f, to, from, bytes, ACL_D2D);
    if (to_place != NEAR) return unaligned_to_far(f, to, from, bytes, to_place);
    if (from_place != NEAR) return unaligned_from_far(f, to, from, bytes);
    int rc = settle(f);
    return rc ? rc : now(to, from, bytes, ACL_D2D);
}

static int between_hosts(struct hm_flow *f, void *to, const void *from, size_t bytes)
{
    int rc = settle(f);
    if (!rc) memmove(to, from, bytes);
    return rc;
}

/* --- the contract --- */

static int copy(struct hm_flow *f, void *to, enum place to_place, const void *from, enum place from_place, size_t bytes,
                bool nbi)
{
    int rc;
    if (to_place == HOST && from_place == HOST) return between_hosts(f, to, from, bytes);
    if (from_place == HOST && to_place == CLOSED) {
        rc = here_to_far(f, to, from, bytes, true);
        return rc || nbi ? rc : settle(f);
    }
    if (to_place == HOST && from_place == CLOSED) return far_to_here(f, to, from, bytes, true);
    if (to_place == HOST || from_place == HOST) return with_host(f, to, from, bytes, from_place == HOST, nbi);
    return between_devices(f, to, to_place, from, from_place, bytes);
}

int hm_ascend_copy(struct hm_flow *f, void *to, enum hm_side to_side, const void *from, enum hm_side from_side,
                   size_t bytes, bool nbi)
{
    enum place to_place = place_of(to, to_side), from_place = place_of(from, from_side);
    if (!bytes || to == from) return 0;
    pthread_mutex_lock(&f->head.lock);
    int rc = copy(f, to, to_place, from, from_place, bytes, nbi);
    pthread_mutex_unlock(&f->head.lock);
    return rc;
}

bool hm_ascend_is_plain(const void *to, enum hm_side to_side, const void *from, enum hm_side from_side)
{
    enum place to_place = place_of(to, to_side), from_place = place_of(from, from_side);
    if (to_place == HOST || from_place == HOST || !are_aligned(to, from)) return false;
    return to_place == NEAR || from_place == NEAR;
}

int hm_ascend_set(struct hm_flow *f, void *at, int byte, size_t bytes)
{
    if (!bytes) return 0;
    pthread_mutex_lock(&f->head.lock);
    int rc = hm_acl_call(aclrtMemsetAsync, at, bytes, byte, bytes, f->head.stream);
    if (!rc) f->head.busy = true;
    pthread_mutex_unlock(&f->head.lock);
    return rc;
}

int hm_ascend_finish(struct hm_flow *f)
{
    pthread_mutex_lock(&f->head.lock);
    int rc = settle(f);
    pthread_mutex_unlock(&f->head.lock);
    return rc ? rc : hm_ascend_stream_failure();
}

static int make_stream(void **stream) { return HM_ASCEND_ENTERED(hm_acl_call(aclrtCreateStream, stream)); }

int hm_ascend_flow_open(struct hm_flow **flow) { return hm_flows_open(&flows, sizeof **flow, make_stream, flow); }

static int give_back(struct hm_flow *f)
{
    int rc = settle(f);
    hm_acl.aclrtDestroyStream(f->head.stream);
    if (f->pinned.at) hm_acl.aclrtFreeHost(f->pinned.at);
    if (f->stage.at) hm_acl.aclrtFree(f->stage.at);
    return rc;
}

void hm_ascend_flow_close(struct hm_flow *flow)
{
    struct hm_flow *f = hm_flows_take(&flows, flow);
    if (!f) return;
    (void)HM_ASCEND_ENTERED(give_back(f));
    hm_flow_free(f);
}

void hm_ascend_flows_end(void)
{
    while (flows.first) hm_ascend_flow_close(NULL);
}

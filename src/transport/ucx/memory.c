/* Memory, of which others know segments and offsets.
 *
 * Where registering pins memory it is done by extents, each at its first use by another PE, which asks the owner's
 * progress thread for the key; a network that pins nothing needs one extent a segment. What is pinned is a second
 * mapping of the memory: what UCX and the kernel do to ranges that are registered (a child of fork gets none of them)
 * is not the program's concern then. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "transport/ucx/ucx.h"

enum {
    WHOLE = 63,          /* the shift where a segment is one extent */
    USUAL_EXTENT = 22,   /* 4 MiB */
    LEAST_EXTENT = 20,
    MOST_EXTENTS = 4096, /* of a segment: a link has a pointer for each */
    WORKER_PINS = 11 << 20,
};

static const char *const names[HM_SEGMENTS] = {"heap", "static data", "work memory"};

/* --- how to register --- */

/* Bytes of this process that are pinned for devices, in KiB, as the kernel counts them. */
static long pinned(void)
{
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmPin: %ld", &kib) == 1) break;
    fclose(f);
    return kib;
}

static ucs_status_t enlist(void *base, size_t bytes, ucp_mem_h *memory)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = base,
        .length = bytes,
        .flags = UCP_MEM_MAP_NONBLOCK, /* what is lazy shall not be touched as a whole, where that can be had */
    };
    return ucp_mem_map(hm_ucx.context, &params, memory);
}

/* Trying. */
static ucs_status_t enlist_anything(size_t bytes, long *pins_kib)
{
    ucp_mem_h memory;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return UCS_ERR_NO_MEMORY;
    long before = pinned();
    ucs_status_t status = enlist(at, bytes, &memory);
    *pins_kib = pinned() - before;
    if (status == UCS_OK) ucp_mem_unmap(hm_ucx.context, memory);
    munmap(at, bytes);
    return status;
}

/* Does registering pin? Tried with a page; and so it is when a page is too much. */
static bool pins(void)
{
    long kib;
    return enlist_anything(4096, &kib) != UCS_OK || kib > 0;
}

/* What the workers will pin: they do so by and by, once they have connections. */
static size_t owed(void)
{
    size_t all = __atomic_load_n(&hm_ucx.workers, __ATOMIC_RELAXED) * WORKER_PINS,
           have = (size_t)pinned() << 10, enlisted = __atomic_load_n(&hm_ucx.enlisted, __ATOMIC_RELAXED);
    have -= have < enlisted ? have : enlisted;
    return all < have ? 0 : all - have;
}

/* A worker that cannot pin its queues is no error for UCX: it hears nothing for ever. So it is seen to before that what
 * they need remains. A process that may lock what it likes despite its limit is known by trying only. */
ucs_status_t hm_ucx_try_to_pin(size_t bytes)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    long kib;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY) return UCS_OK;
    bytes += owed();
    return ((uint64_t)pinned() << 10) + bytes <= limit.rlim_cur ? UCS_OK : enlist_anything(bytes, &kib);
}

void hm_ucx_memory_open(void)
{
    size_t wish = hm_ucx.host->extent;
    hm_ucx.has_card = pins();
    hm_ucx.shift = wish ? LEAST_EXTENT : hm_ucx.has_card ? USUAL_EXTENT : WHOLE;
    while (wish && (size_t)1 << hm_ucx.shift < wish)
        hm_ucx.shift++;
}

/* --- the owner --- */

static size_t extents(const struct hm_ucx_segment *s) { return ((s->bytes - 1) >> hm_ucx.shift) + 1; }

/* The memory once more, or where it is when it has no descriptor. */
static char *map_again(struct hm_ucx_segment *s, int descriptor, void *base)
{
    if (descriptor < 0 || hm_ucx.shift == WHOLE) return base;
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, s->bytes, MADV_DONTDUMP);
    s->is_mapped_twice = true;
    return at;
}

int hm_ucx_add_segment(enum hm_segment_id segment, int descriptor, void *base, size_t bytes)
{
    struct hm_ucx_segment *s = &hm_ucx.segment[segment];
    s->bytes = bytes;
    while (hm_ucx.shift != WHOLE && extents(s) > MOST_EXTENTS)
        hm_ucx.shift++;
    s->base = map_again(s, descriptor, base);
    s->extent = calloc(MOST_EXTENTS, sizeof(ucp_mem_h));
    if (!s->base || !s->extent) return -ENOMEM;
    return 0;
}

void hm_ucx_memory_close(void)
{
    for (int i = 0; i < HM_SEGMENTS; i++) {
        struct hm_ucx_segment *s = &hm_ucx.segment[i];
        for (size_t k = 0; s->extent && k < MOST_EXTENTS; k++)
            if (s->extent[k]) ucp_mem_unmap(hm_ucx.context, s->extent[k]);
        if (s->is_mapped_twice) munmap(s->base, s->bytes);
        free(s->extent);
        *s = (struct hm_ucx_segment){0};
    }
}

/* Held while an extent is registered, and while pages are given back. */
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;

static ucs_status_t enlist_extent_locked(struct hm_ucx_segment *s, uint64_t extent)
{
    if (s->extent[extent]) return UCS_OK;
    size_t at = extent << hm_ucx.shift, end = hm_ucx.shift == WHOLE ? s->bytes : at + ((size_t)1 << hm_ucx.shift);
    if (end > s->bytes) end = s->bytes;
    ucs_status_t status = hm_ucx.shift == WHOLE ? UCS_OK : hm_ucx_try_to_pin(end - at);
    if (status == UCS_OK) status = enlist(s->base + at, end - at, &s->extent[extent]);
    if (status == UCS_OK) __atomic_fetch_add(&hm_ucx.enlisted, end - at, __ATOMIC_RELAXED);
    return status;
}

static ucs_status_t enlist_extent(struct hm_ucx_segment *s, uint64_t extent)
{
    pthread_mutex_lock(&pages_lock);
    ucs_status_t status = enlist_extent_locked(s, extent);
    pthread_mutex_unlock(&pages_lock);
    return status;
}

/* Runs of extents that are not registered. */
bool hm_ucx_give_back(enum hm_segment_id segment, size_t offset, size_t bytes, bool (*pages)(size_t offset, size_t bytes))
{
    struct hm_ucx_segment *s = &hm_ucx.segment[segment];
    size_t from = offset, end = offset + bytes;
    bool all = true;
    if (hm_ucx.shift == WHOLE || !s->extent) return pages(offset, bytes);
    pthread_mutex_lock(&pages_lock);
    for (size_t at = offset, next; at < end; at = next) {
        next = ((at >> hm_ucx.shift) + 1) << hm_ucx.shift;
        if (next > end) next = end;
        bool is_held = s->extent[at >> hm_ucx.shift] != NULL;
        if (is_held && from < at) all &= pages(from, at - from);
        if (is_held) all = false, from = next;
    }
    if (from < end) all &= pages(from, end - from);
    pthread_mutex_unlock(&pages_lock);
    return all;
}

/* --- question and answer --- */

struct question {
    int32_t from;
    uint32_t segment;
    uint64_t extent;
};

/* Before the key; or, when `key_bytes` is 0, before a clause that says why there is none. */
struct answer {
    int32_t from;
    uint32_t segment;
    uint64_t extent;
    uint64_t base;
    uint64_t key_bytes;
};

struct told {
    struct answer head;
    char text[];
};

static void told_done(void *request, ucs_status_t status, void *told)
{
    (void)status; /* who asked may be gone */
    ucp_request_free(request);
    free(told);
}

/* UCX takes no copy before the request is done. */
static void tell(ucp_ep_h to, const struct answer *head, const void *text, size_t bytes)
{
    struct told *told = malloc(sizeof *told + bytes);
    if (!told) return;
    told->head = *head;
    memcpy(told->text, text, bytes);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = told_done,
        .user_data = told,
    };
    ucs_status_ptr_t request =
        ucp_am_send_nbx(to, HM_UCX_TELL_KEY, &told->head, sizeof told->head, told->text, bytes, &param);
    if (!UCS_PTR_IS_PTR(request)) free(told);
}

void hm_ucx_lock_limit(char *text, size_t room)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    *text = '\0';
    if (limit.rlim_cur == RLIM_INFINITY) return;
    snprintf(text, room,
             "; it may lock %llu KiB: raise that limit (ulimit -l unlimited, memlock in limits.conf, LimitMEMLOCK of the "
             "service that starts the job)", (unsigned long long)limit.rlim_cur >> 10);
}

static void say_refused(const struct answer *head, ucs_status_t status, char *text, size_t room)
{
    const struct hm_ucx_segment *s = &hm_ucx.segment[head->segment];
    size_t extent = hm_ucx.shift == WHOLE ? s->bytes : (size_t)1 << hm_ucx.shift;
    int n = snprintf(text, room, "PE %d cannot pin %zu KiB more of its %s for the network (%s), it has pinned %ld KiB",
                     hm_ucx.host->pe, (extent < s->bytes ? extent : s->bytes) >> 10, names[head->segment],
                     ucs_status_string(status), pinned());
    hm_ucx_lock_limit(text + n, room - (size_t)n);
}

static void refuse(ucp_ep_h to, const struct answer *head, ucs_status_t status)
{
    char text[512];
    say_refused(head, status, text, sizeof text);
    tell(to, head, text, strlen(text) + 1);
}

/* On the target worker: by the progress thread. */
static ucs_status_t asked(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    struct question q;
    void *key;
    (void)arg;
    (void)data;
    (void)length;
    (void)header_length;
    memcpy(&q, header, sizeof q);
    struct answer a = {.from = hm_ucx.host->pe, .segment = q.segment, .extent = q.extent};
    struct hm_ucx_segment *s = &hm_ucx.segment[q.segment];
    a.base = (uintptr_t)s->base;
    ucs_status_t status = !s->extent || q.extent >= extents(s) ? UCS_ERR_NO_ELEM : enlist_extent(s, q.extent);
    if (status == UCS_OK) status = ucp_rkey_pack(hm_ucx.context, s->extent[q.extent], &key, &a.key_bytes);
    if (status != UCS_OK) {
        refuse(param->reply_ep, &a, status);
        return UCS_OK;
    }
    tell(param->reply_ep, &a, key, a.key_bytes);
    ucp_rkey_buffer_release(key);
    return UCS_OK;
}

/* --- the user --- */

static struct hm_ucx_key *key_make(struct hm_ucx_link *link, uint64_t base, const void *packed)
{
    struct hm_ucx_key *key = malloc(sizeof *key);
    if (!key) hm_ucx.host->fail(link->pe, "out of memory");
    key->base = base;
    hm_ucx_check(ucp_ep_rkey_unpack(link->ep, packed, &key->rkey), link->pe);
    return key;
}

static void key_drop(struct hm_ucx_key *key)
{
    if (!key) return;
    ucp_rkey_destroy(key->rkey);
    free(key);
}

/* By whichever thread progresses the lane. Several threads may have asked for the same: the first answer counts. */
static ucs_status_t told(void *arg, const void *header, size_t header_length, void *data, size_t length,
                         const ucp_am_recv_param_t *param)
{
    struct hm_lane *lane = arg;
    struct answer a;
    (void)header_length;
    (void)length;
    (void)param;
    memcpy(&a, header, sizeof a);
    if (!a.key_bytes) hm_ucx.host->fail(-1, data);
    struct hm_ucx_link *link = lane->link[a.from];
    struct hm_ucx_key *key = key_make(link, a.base, data), *none = NULL;
    if (!__atomic_compare_exchange_n(&link->keys[a.segment][a.extent], &none, key, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        key_drop(key);
    return UCS_OK;
}

ucs_status_t hm_ucx_hear_keys(ucp_worker_h worker, struct hm_lane *lane)
{
    return lane ? hm_ucx_on_message(worker, HM_UCX_TELL_KEY, told, lane)
                : hm_ucx_on_message(worker, HM_UCX_ASK_KEY, asked, NULL);
}

/* Segments are as large on other PEs as they are here. */
static struct hm_ucx_key **keys_of(struct hm_ucx_link *link, enum hm_segment_id segment)
{
    struct hm_ucx_key **keys = __atomic_load_n(&link->keys[segment], __ATOMIC_ACQUIRE), **none = NULL;
    if (hm_likely(keys != NULL)) return keys;
    size_t n = ((hm_ucx.segment[segment].bytes - 1) >> link->shift) + 1;
    keys = calloc(n, sizeof(struct hm_ucx_key *));
    if (!keys) hm_ucx.host->fail(link->pe, "out of memory");
    if (__atomic_compare_exchange_n(&link->keys[segment], &none, keys, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return keys;
    free(keys);
    return none;
}

static HM_COLD struct hm_ucx_key *fetch_key(struct hm_ucx_link *link, enum hm_segment_id segment, uint64_t extent,
                                            struct hm_ucx_key **at)
{
    struct question q = {hm_ucx.host->pe, segment, extent};
    struct hm_ucx_key *key;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY};
    hm_ucx_wait(link->lane, ucp_am_send_nbx(link->ep, HM_UCX_ASK_KEY, &q, sizeof q, NULL, 0, &param), link->pe);
    int still = 0;
    while (!(key = __atomic_load_n(at, __ATOMIC_ACQUIRE)))
        hm_ucx_turn(link->lane, &still);
    return key;
}

uint64_t hm_ucx_remote(struct hm_ucx_link *link, struct hm_place place, ucp_rkey_h *rkey)
{
    uint64_t extent = place.offset >> link->shift;
    struct hm_ucx_key **at = &keys_of(link, place.segment)[extent], *key = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (hm_unlikely(!key)) key = fetch_key(link, place.segment, extent, at);
    *rkey = key->rkey;
    return key->base + place.offset;
}

size_t hm_ucx_piece(const struct hm_ucx_link *link, uint64_t offset, size_t bytes)
{
    uint64_t extent = (uint64_t)1 << link->shift, left = extent - (offset & (extent - 1));
    return bytes < left ? bytes : left;
}

void hm_ucx_keys_drop(struct hm_ucx_link *link)
{
    for (int i = 0; i < HM_SEGMENTS; i++) {
        if (!link->keys[i]) continue;
        size_t n = ((hm_ucx.segment[i].bytes - 1) >> link->shift) + 1;
        for (size_t k = 0; k < n; k++)
            key_drop(link->keys[i][k]);
        free(link->keys[i]);
    }
}

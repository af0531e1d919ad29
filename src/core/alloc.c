/* The collective allocation calls.
 *
 * Every PE runs the same allocator on the same calls, so a PE finds the offset of a new block by itself; the
 * PEs only have to meet, and the meeting checks that all of them came for the same. A PE touches nothing but
 * its own memory and its own mappings here, which makes one meeting do for all calls but one:
 *
 * malloc, calloc, align   do everything first, then meet. Nobody gets an address before all PEs have entered, so nobody
 *                         can reach a PE that has not opened or zeroed its block yet. That the block may be used here is
 *                         known before: its last owner was freed in a call that all PEs had entered.
 * free                    meets first, then releases: what a PE does with the block before its own call is done before
 *                         any PE gives the memory back. Whoever takes the place again does so in a malloc, which ends
 *                         only when all PEs have entered it, that is when all have released.
 * realloc                 meets first, as free does, and is then done if the block can grow or shrink where it is: the
 *                         PE writes nothing. A block that moves is copied, and a PE that returned early could put into a
 *                         block that its owner is still copying into: so they meet again.
 */
#include "core/alloc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/inlined.h"
#include "core/pages.h"
#include "core/symm.h"
#include "core/team.h"
#include "core/wait.h"
#include "core/world.h"
#include "memkind/memkind.h"

enum { AGE_CALLS = 32 }; /* see core/pages.h */
#define FREED_RING 256
#define PUNCH_FROM ((size_t)1 << 20) /* a zeroed block of this size costs nothing until it is touched */

struct range {
    size_t offset, bytes;
};

/* A heap: that of the host, or that of the device, which has no pages to close or give back. */
struct area {
    struct hm_heap *heap; /* NULL: there is none */
    char *base;
    size_t size, phase; /* hm_heap_set_phase */
    const char *name;
    bool on_device;
    struct range freed[FREED_RING]; /* for messages: the last blocks that were freed */
    unsigned freed_count;
};
static struct area host = {.name = "symmetric heap"}, device = {.name = "device heap", .on_device = true};

static struct {
    size_t page;
    unsigned calls;
    int busy; /* with what a thread is */
    pthread_t last; /* thread that was in a call, below SHMEM_THREAD_MULTIPLE */
} alloc;

enum { WITH_NOTHING, WITH_A_CALL, WITH_PAGES };

static char *at(size_t offset)
{
    return (char *)hm_symm.heap_base + offset;
}

/* --- pages --- */

static void page_change(void *call, size_t offset, size_t bytes, bool freed)
{
    if (freed)
        hm_pages_freed(offset, bytes);
    else
        hm_pages_taken(offset, bytes, call);
}

enum change { TAKEN, FREED, RESIZED };

/* The pages that a block touches, or does not any more. */
static void settle_pages(struct hm_heap *heap, size_t offset, size_t bytes, enum change change, const char *call)
{
    if (!hm_pages_may_rest())
        hm_heap_page_changes(heap, page_change, (void *)call);
    else if (change == RESIZED || (change == TAKEN ? hm_heap_has_new_pages(heap) : bytes >= HM_PAGES_NO_REST))
        hm_heap_page_changes_in(heap, offset, bytes, page_change, (void *)call);
    else if (hm_heap_resting(heap) > hm_pages_rest_limit())
        hm_heap_page_changes(heap, page_change, (void *)call);
}

/* What has rested long enough is closed; all, when nothing that rested has been taken again. */
static void age(const char *call)
{
    if (!hm_pages_is_time() || hm_heap_pages_rested(host.heap, page_change, (void *)call)) return;
    hm_heap_page_changes(host.heap, page_change, (void *)call);
    hm_pages_rest_no_more();
}

static void set_limit(size_t top)
{
    __atomic_store_n(&hm_symm.real_heap_limit, top, __ATOMIC_RELEASE);
    __atomic_store_n(&hm_symm.heap_limit, hm_symm_is_open() ? top : 0, __ATOMIC_RELEASE);
    hm_inlined_tell();
}

/* After a block came, went or changed its length: other threads may access memory meanwhile, so a limit falls before
 * pages are closed and rises after they are opened. */
static void settle(struct area *a, size_t offset, size_t bytes, enum change change, const char *call)
{
    if (a->on_device) {
        __atomic_store_n(&hm_device.limit, hm_heap_top(a->heap), __ATOMIC_RELEASE);
        return;
    }
    size_t old = hm_symm.real_heap_limit, top = hm_heap_top(a->heap);
    if (top < old) set_limit(top);
    settle_pages(a->heap, offset, bytes, change, call);
    if (top > old) set_limit(top);
}

/* --- blocks --- */

enum { THREAD_MULTIPLE = 3 }; /* SHMEM_THREAD_MULTIPLE */

/* Where the program's threads are not in calls at a time it is a plain word, and an atomic exchange would take longer than
 * much of the rest. Two that are so all the same are most often noticed, as one waits for the other PEs there. */
static bool try_to_enter(int with, int *seen)
{
    if (hm_world.thread_level != THREAD_MULTIPLE) {
        *seen = __atomic_load_n(&alloc.busy, __ATOMIC_RELAXED);
        if (*seen == WITH_NOTHING) __atomic_store_n(&alloc.busy, with, __ATOMIC_RELAXED);
        return *seen == WITH_NOTHING;
    }
    *seen = WITH_NOTHING;
    return __atomic_compare_exchange_n(&alloc.busy, seen, with, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void leave(void)
{
    __atomic_store_n(&alloc.busy, WITH_NOTHING, __ATOMIC_RELEASE);
}

static void enter(const char *call)
{
    int with;
    hm_world_need(call);
    while (hm_unlikely(!try_to_enter(WITH_A_CALL, &with))) {
        if (with == WITH_A_CALL)
            hm_die(call, "another thread of this PE is in a call that allocates or frees symmetric memory; these "
                         "calls are "
                         "collective, so a program may make only one at a time");
        sched_yield();
    }
    __atomic_store_n(&alloc.last, pthread_self(), __ATOMIC_RELAXED);
    if (hm_unlikely(++alloc.calls % AGE_CALLS == 0)) age(call);
}

/* A thread of the library's may wait while one of the program's is in a call. */
static bool may_be_in_a_call(void)
{
    return hm_world.thread_level != THREAD_MULTIPLE && __atomic_load_n(&alloc.last, __ATOMIC_RELAXED) != pthread_self();
}

void hm_alloc_tidy(void)
{
    int with;
    if (!hm_pages_may_rest() || may_be_in_a_call() || !try_to_enter(WITH_PAGES, &with)) return;
    age(NULL);
    leave();
}

static void meet(const struct hm_purpose *purpose, const char *call)
{
    struct hm_sync *world = &hm_team_world->sync;
    if (world->size > 1 || hm_device_any()) hm_quiet(&hm_ctx_default); /* else nobody is there who could see it */
    hm_sync_enter(world, purpose, call);
}

/* Where shmem_malloc and its kin allocate when nobody says where. */
static struct area *usual(void)
{
    return device.heap && strcmp(hm_options.malloc_on, "host") ? &device : &host;
}

static struct area *area_of(const void *addr)
{
    if (device.heap && hm_device_offset(addr) < device.size) return &device;
    return (uintptr_t)addr - hm_symm.heap_base < hm_symm.heap_size ? &host : NULL;
}

static size_t offset_in(const struct area *a, const void *addr) { return (size_t)((const char *)addr - a->base); }

/* Running out of the heap happens to all PEs at once, running out of private memory to this one alone. */
static void need_records(const struct area *a, const char *call)
{
    if (hm_heap_starved(a->heap))
        hm_die(
            call,
            "out of memory for the records of the %s; free private memory, or allocate fewer and "
            "larger blocks", a->name);
}

static size_t block_take(struct area *a, size_t bytes, size_t align, const char *call)
{
    size_t offset = hm_heap_alloc(a->heap, bytes, align);
    need_records(a, call);
    if (offset != HM_HEAP_NONE) {
        settle(a, offset, bytes, TAKEN, call);
        return offset;
    }
    hm_debug("%s: no room for %zu bytes (alignment %zu) in the %s of %zu bytes: %zu are free, "
             "the largest "
             "piece is %zu; SHMEM_SYMMETRIC_SIZE makes it larger",
             call, bytes, align, a->name, a->size, hm_heap_free_bytes(a->heap),
             hm_heap_largest(a->heap));
    return HM_HEAP_NONE;
}

static void block_release(struct area *a, size_t offset, size_t length, const char *call)
{
    a->freed[a->freed_count++ % FREED_RING] = (struct range){offset, length};
    hm_heap_free(a->heap, offset);
    settle(a, offset, length, FREED, call);
}

/* The heap, the offset and the length of the block that begins at `ptr`; ends the job with a sentence when none does. */
static struct area *block_need(const void *ptr, size_t *offset, size_t *length, const char *call)
{
    struct area *a = area_of(ptr);
    char what[256];
    if (a) *offset = offset_in(a, ptr);
    if (a && (*length = hm_heap_length(a->heap, *offset)) != 0) return a;
    if (a)
        hm_alloc_describe(ptr, what, sizeof what);
    else
        hm_symm_describe(ptr, what, sizeof what);
    hm_die(call,
           "ptr: %p is %s; pass the address that shmem_malloc, shmem_calloc, shmem_align or shmem_realloc "
           "returned, and free it once",
           ptr, what);
}

static void block_zero(const struct area *a, size_t offset, size_t bytes, const char *call)
{
    if (a->on_device) {
        hm_device_set(a->base + offset, 0, bytes, call);
        return;
    }
    size_t from = hm_round_up(offset, alloc.page), to = hm_round_down(offset + bytes, alloc.page);
    if (bytes < PUNCH_FROM || !hm_pages_give_back(from, to - from)) from = to = offset + bytes;
    memset(at(offset), 0, from - offset);
    memset(at(to), 0, offset + bytes - to);
}

/* What the meeting compares: on all PEs the same heap and offset. */
static uint64_t place_of(const struct area *a, size_t offset)
{
    return a->on_device && offset != HM_HEAP_NONE ? offset | (uint64_t)1 << 62 : offset;
}

/* Takes a block on this PE, then meets the others: they all come with the same offset, HM_HEAP_NONE included.
 */
static void *take_and_meet(struct area *a, struct hm_purpose *purpose, size_t bytes, size_t align, bool zero, long hints,
                           const char *call)
{
    enter(call);
    size_t offset = block_take(a, bytes, align, call);
    if (offset != HM_HEAP_NONE && hints != 0) hm_heap_set_hints(a->heap, offset, hints);
    if (offset != HM_HEAP_NONE && zero) block_zero(a, offset, bytes, call);
    purpose->size = bytes;
    purpose->dest = place_of(a, offset);
    meet(purpose, call);
    leave();
    return offset != HM_HEAP_NONE ? a->base + offset : NULL;
}

/* --- the calls --- */

void *hm_malloc(size_t size, const char *call)
{
    hm_world_need(call);
    if (size == 0) return NULL;
    struct hm_purpose purpose = {.kind = HM_COLL_MALLOC};
    return take_and_meet(usual(), &purpose, size, HM_HEAP_MIN_ALIGN, false, 0, call);
}

void *hm_calloc(size_t count, size_t size, const char *call)
{
    hm_world_need(call);
    size_t bytes;
    if (count == 0 || size == 0) return NULL;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX; /* which no heap has: NULL, behind the barrier */
    struct hm_purpose purpose = {.kind = HM_COLL_CALLOC};
    return take_and_meet(usual(), &purpose, bytes, HM_HEAP_MIN_ALIGN, true, 0, call);
}

/* Words that others change by atomics and signals are best where the CPU reaches them. */
static struct area *area_for(long hints)
{
    enum { REMOTE_WORDS = 1 | 2 }; /* SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE */
    return hints & REMOTE_WORDS ? &host : usual();
}

void *hm_malloc_with_hints(size_t size, long hints, const char *call)
{
    hm_world_need(call);
    if (size == 0) return NULL;
    struct hm_purpose purpose = {.kind = HM_COLL_HINTS, .root = (int32_t)(hints ^ hints >> 16 >> 16)};
    return take_and_meet(area_for(hints), &purpose, size, HM_HEAP_MIN_ALIGN, false, hints, call);
}

/* Whether an offset that suits `align` gives a multiple of it as an address, too, depends on where the heap begins, which a
 * PE can say of itself alone. */
static bool all_aligned(const struct hm_sync *s)
{
    for (int i = 0; i < s->size; i++)
        if (!*(const char *)hm_sync_theirs(s, i)) return false;
    return true;
}

/* In this heap, at an address that is a multiple of `align` on all PEs, or NULL. */
static void *aligned_in(struct area *a, struct hm_purpose *purpose, size_t size, size_t align, bool zero, const char *call)
{
    struct hm_sync *sync = &hm_team_world->sync;
    bool ask = align > alloc.page;
    if (ask) *(char *)hm_sync_mine(sync, 1) = (((uintptr_t)a->base - a->phase) & (align - 1)) == 0;
    char *block = take_and_meet(a, purpose, size, align < HM_HEAP_MIN_ALIGN ? HM_HEAP_MIN_ALIGN : align, zero, 0, call);
    if (block == NULL || !ask || all_aligned(sync)) return block;
    hm_debug("%s: the heap of some PE does not begin at a multiple of %zu", call, align);
    enter(call);
    block_release(a, offset_in(a, block), size, call);
    leave();
    return NULL;
}

static void check_alignment(size_t align, const char *call)
{
    if (align == 0 || (align & (align - 1)) != 0) hm_die(call, "alignment: %zu is not a power of two", align);
}

void *hm_align(size_t align, size_t size, const char *call)
{
    hm_world_need(call);
    check_alignment(align, call);
    if (size == 0) return NULL;
    struct hm_purpose purpose = {.kind = HM_COLL_ALIGN, .root = __builtin_ctzll(align)};
    return aligned_in(usual(), &purpose, size, align, false, call);
}

static struct area *area_named(const char *kind, const char *call)
{
    if (!kind) hm_die(call, "kind: NULL; name a kind of memory, such as \"host\"");
    if (device.heap && !strcmp(kind, hm_device.kind->name)) return &device;
    if (strcmp(kind, "host"))
        hm_die(call, "kind: this job has no heap of kind \"%s\"; it has host%s%s (SHMEM_HEAP_KIND)", kind,
               device.heap ? " and " : "", device.heap ? hm_device.kind->name : "");
    return &host;
}

void *hm_malloc_on(const char *kind, size_t align, size_t size, bool zero, const char *call)
{
    hm_world_need(call);
    struct area *a = area_named(kind, call);
    check_alignment(align, call);
    if (size == 0) return NULL;
    struct hm_purpose purpose = {.kind = zero ? HM_COLL_CALLOC : HM_COLL_ALIGN, .root = __builtin_ctzll(align)};
    return aligned_in(a, &purpose, size, align, zero, call);
}

/* The block moves: HM_HEAP_NONE where there is no room, and it stays as it was. */
static size_t block_move(struct area *a, size_t old, size_t length, size_t size, const char *call)
{
    size_t offset = block_take(a, size, HM_HEAP_MIN_ALIGN, call), keeps = length < size ? length : size;
    if (offset == HM_HEAP_NONE) return HM_HEAP_NONE;
    if (a->on_device)
        hm_device_move(a->base + offset, a->base + old, keeps, call);
    else
        memcpy(at(offset), at(old), keeps);
    hm_heap_set_hints(a->heap, offset, hm_heap_hints(a->heap, old));
    block_release(a, old, length, call);
    hm_sync_again(&hm_team_world->sync, call);
    return offset;
}

void *hm_realloc(void *ptr, size_t size, const char *call)
{
    size_t offset, length;
    if (ptr == NULL) return hm_malloc(size, call);
    if (size == 0) {
        hm_free(ptr, call);
        return NULL;
    }
    enter(call);
    struct area *a = block_need(ptr, &offset, &length, call);
    struct hm_purpose purpose = {.kind = HM_COLL_REALLOC, .size = size, .dest = place_of(a, offset)};
    meet(&purpose, call);
    bool in_place = hm_heap_resize(a->heap, offset, size) == 0;
    need_records(a, call);
    if (in_place)
        settle(a, offset, length > size ? length : size, RESIZED, call);
    else
        offset = block_move(a, offset, length, size, call);
    leave();
    return offset != HM_HEAP_NONE ? a->base + offset : NULL;
}

void hm_free(void *ptr, const char *call)
{
    size_t offset, length;
    hm_world_need(call);
    if (ptr == NULL) return;
    enter(call);
    struct area *a = block_need(ptr, &offset, &length, call);
    struct hm_purpose purpose = {.kind = HM_COLL_FREE, .dest = place_of(a, offset)};
    meet(&purpose, call);
    block_release(a, offset, length, call);
    leave();
}

/* --- questions --- */

bool hm_alloc_holds(const void *addr, size_t bytes)
{
    const struct area *a = area_of(addr);
    size_t first, length, offset = a ? offset_in(a, addr) : 0;
    return a && a->heap && hm_heap_find(a->heap, offset, &first, &length) && bytes <= first + length - offset;
}

static const struct range *freed_find(const struct area *a, size_t offset)
{
    unsigned n = a->freed_count < FREED_RING ? a->freed_count : FREED_RING;
    for (unsigned i = 1; i <= n; i++) {
        const struct range *r = &a->freed[(a->freed_count - i) % FREED_RING];
        if (offset - r->offset < r->bytes) return r;
    }
    return NULL;
}

void hm_alloc_describe(const void *addr, char *text, size_t size)
{
    const struct area *a = area_of(addr);
    size_t first, length, offset = a ? offset_in(a, addr) : 0;
    const char *heap = a && a->on_device ? "device heap" : "heap";
    if (!a || a->heap == NULL) {
        snprintf(text, size, "at %s offset %zu", heap, offset);
        return;
    }
    if (hm_heap_find(a->heap, offset, &first, &length)) {
        snprintf(text, size, "%zu bytes inside the block of %zu bytes at %s offset %zu", offset - first,
                 length, heap, first);
        return;
    }
    const struct range *freed = freed_find(a, offset);
    if (freed != NULL)
        snprintf(text, size, "%s the block of %zu bytes at %s offset %zu that was freed",
                 offset == freed->offset ? "the beginning of" : "inside", freed->bytes, heap, freed->offset);
    else if (hm_heap_before(a->heap, offset, &first, &length))
        snprintf(text, size, "%zu bytes behind the end of the block of %zu bytes at %s offset %zu",
                 offset - (first + length), length, heap, first);
    else
        snprintf(text, size, "at %s offset %zu, where nothing is allocated", heap, offset);
}

/* --- start and stop --- */

static int area_open(struct area *a, char *base, size_t size, size_t phase)
{
    a->heap = hm_heap_open(size, alloc.page);
    if (a->heap == NULL) return -ENOMEM;
    if (hm_options.check) hm_heap_set_guard(a->heap, HM_LINE);
    a->base = base;
    a->size = size;
    a->phase = phase;
    hm_heap_set_phase(a->heap, phase);
    return 0;
}

static void area_close(struct area *a)
{
    if (a->heap) hm_heap_close(a->heap);
    a->heap = NULL;
    a->freed_count = 0;
}

int hm_alloc_start(size_t heap_size, int own_heap)
{
    hm_alloc_stop();
    alloc.page = hm_os_page();
    int e = area_open(&host, (char *)hm_symm.heap_base, heap_size, 0);
    if (!e && hm_device_any()) e = area_open(&device, hm_device.base, hm_device.size, hm_device.phase);
    if (e) return e;
    hm_symm.heap_size = heap_size;
    set_limit(0);
    hm_pages_start(own_heap);
    hm_wait_tidy = hm_alloc_tidy;
    return 0;
}

void hm_alloc_stop(void)
{
    if (host.heap == NULL) return;
    set_limit(0);
    hm_wait_tidy = NULL;
    area_close(&host);
    area_close(&device);
    hm_pages_stop();
    alloc.busy = WITH_NOTHING;
}

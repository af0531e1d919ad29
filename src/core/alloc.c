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
#define _GNU_SOURCE
#include "core/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/device.h"
#include "core/far.h"
#include "core/heap.h"
#include "core/symm.h"
#include "core/team.h"
#include "core/world.h"
#include "memkind/memkind.h"

#define FREED_RING 256
#define CLOSED_MAX 8192
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
    int file; /* the heap's descriptor; -1: none */
    dev_t device;
    ino_t inode;
    bool busy; /* a thread is in one of the calls */
    struct range closed[CLOSED_MAX]; /* page ranges that no view here can access, in order */
    int closed_count, closed_limit;
} alloc = {.file = -1};

static char *at(size_t offset)
{
    return (char *)hm_symm.heap_base + offset;
}

/* --- pages --- */

/* Closes or opens all views of [offset, offset + bytes) that this PE has: its own and those of its peers. */
static int set_views(size_t offset, size_t bytes, bool open)
{
    const struct hm_memkind *kind = hm_symm.heap_kind;
    int (*set)(void *at, size_t bytes) = open ? kind->open : kind->close;
    int rc = set(at(offset), bytes);
    for (unsigned i = 0; i < hm_symm.npes; i++) {
        char *heap = hm_symm.peer[i].heap;
        if (heap == NULL || heap == at(0)) continue;
        int e = set(heap + offset, bytes);
        if (e) rc = e;
    }
    /* closed pages are holes that a core dump would fill; that the advice is not taken harms nobody */
    (void)madvise(at(offset), bytes, open ? MADV_DODUMP : MADV_DONTDUMP);
    return rc;
}

/* The kernel keeps an entry for each piece of a mapping that differs from its neighbours, vm.max_map_count of
 * them in a process, and a closed range cuts every view once. So ranges are closed only as long as they need
 * no more than a quarter of that number; further ones stay open, and an access to them is found under --check
 * alone. */
static int closed_limit(void)
{
    long maps = 65530;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    if (f != NULL) {
        if (fscanf(f, "%ld", &maps) != 1) maps = 65530;
        fclose(f);
    }
    long limit = maps / 4 / (hm_world.npes + 1);
    return limit < CLOSED_MAX ? (int)limit : CLOSED_MAX;
}

/* The first closed range that ends behind `offset`. */
static int closed_find(size_t offset)
{
    int from = 0, to = alloc.closed_count;
    while (from < to) {
        int i = (from + to) / 2;
        if (alloc.closed[i].offset + alloc.closed[i].bytes > offset)
            to = i;
        else
            from = i + 1;
    }
    return from;
}

static void closed_replace(int i, int old, const struct range *with, int n)
{
    memmove(&alloc.closed[i + n], &alloc.closed[i + old],
            (size_t)(alloc.closed_count - i - old) * sizeof alloc.closed[0]);
    for (int k = 0; k < n; k++)
        alloc.closed[i + k] = with[k];
    alloc.closed_count += n - old;
}

static void pages_close(size_t offset, size_t bytes)
{
    int i = closed_find(offset);
    struct range all = {offset, bytes};
    int first = i, joined = 0;
    if (i > 0 && alloc.closed[i - 1].offset + alloc.closed[i - 1].bytes == offset) {
        first = i - 1;
        all.offset = alloc.closed[first].offset;
        all.bytes += alloc.closed[first].bytes;
        joined++;
    }
    if (i < alloc.closed_count && alloc.closed[i].offset == offset + bytes) {
        all.bytes += alloc.closed[i].bytes;
        joined++;
    }
    if (joined == 0 && alloc.closed_count >= alloc.closed_limit) return;
    int rc = set_views(offset, bytes, false);
    if (rc != 0) {
        hm_debug("freed pages stay open to access: mprotect: %s", strerror(-rc));
        alloc.closed_limit = 0;
        (void)set_views(offset, bytes, true);
        return;
    }
    closed_replace(first, joined, &all, 1);
}

/* Opens what is closed of [offset, offset + bytes). */
static void pages_open(size_t offset, size_t bytes, const char *call)
{
    size_t end = offset + bytes;
    int i = closed_find(offset);
    while (i < alloc.closed_count && alloc.closed[i].offset < end) {
        struct range c = alloc.closed[i], rest[2];
        size_t from = c.offset > offset ? c.offset : offset, c_end = c.offset + c.bytes;
        size_t to = c_end < end ? c_end : end;
        int n = 0;
        if (c.offset < from) rest[n++] = (struct range){c.offset, from - c.offset};
        if (to < c_end && alloc.closed_count + n <= alloc.closed_limit)
            rest[n++] = (struct range){to, c_end - to};
        else
            to = c_end; /* one range more than allowed: the rest is opened too */
        int rc = set_views(from, to - from, true);
        if (rc != 0)
            hm_die(call,
                   "cannot open %zu bytes of the symmetric heap at offset %zu to access: mprotect: %s; raise "
                   "vm.max_map_count or RLIMIT_AS",
                   to - from, from, strerror(-rc));
        closed_replace(i, 1, rest, n);
        i += n;
    }
}

/* A program may close every descriptor it finds, and the number may then name a file of its own: so ours lies where few
 * look, and is asked who it is before each use. */
static void file_keep(int descriptor)
{
    struct stat st;
    alloc.file = fcntl(descriptor, F_DUPFD_CLOEXEC, 300);
    if (alloc.file < 0) alloc.file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (alloc.file >= 0 && fstat(alloc.file, &st) == 0) {
        alloc.device = st.st_dev;
        alloc.inode = st.st_ino;
    }
}

static bool file_is_ours(void)
{
    struct stat st;
    return alloc.file >= 0 && fstat(alloc.file, &st) == 0 && st.st_dev == alloc.device && st.st_ino == alloc.inode;
}

static bool give_back(size_t offset, size_t bytes)
{
    return hm_symm.heap_kind->give_back(alloc.file, offset, bytes) == 0;
}

/* Gives the memory of whole pages of this PE's heap back; they read as zero afterwards. What a network has pinned stays:
 * then it is false. */
static bool pages_give_back(size_t offset, size_t bytes)
{
    return file_is_ours() && hm_far_give_back(offset, bytes, give_back);
}

static void page_change(void *arg, size_t offset, size_t bytes, bool freed)
{
    if (!freed) {
        pages_open(offset, bytes, arg);
        return;
    }
    if (!pages_give_back(offset, bytes)) hm_debug("cannot give back %zu bytes of the heap: %m", bytes);
    pages_close(offset, bytes);
}

/* What lies above the top was never allocated, or has been freed: no core file needs it. */
static void advise_dump(size_t from, size_t to)
{
    if (from < to) (void)madvise(at(from), to - from, MADV_DODUMP);
    if (to < from) (void)madvise(at(to), from - to, MADV_DONTDUMP);
}

static void set_limit(size_t top)
{
    __atomic_store_n(&hm_symm.real_heap_limit, top, __ATOMIC_RELEASE);
    __atomic_store_n(&hm_symm.heap_limit, hm_symm_is_open() ? top : 0, __ATOMIC_RELEASE);
}

/* After blocks came or went: other threads may access memory meanwhile, so a limit falls before pages are
 * closed and rises after they are opened. */
static void settle(struct area *a, const char *call)
{
    if (a->on_device) {
        __atomic_store_n(&hm_device.limit, hm_heap_top(a->heap), __ATOMIC_RELEASE);
        return;
    }
    size_t old = hm_symm.real_heap_limit, top = hm_heap_top(a->heap);
    if (top < old) set_limit(top);
    hm_heap_page_changes(a->heap, page_change, (void *)call);
    if (top > old) set_limit(top);
    advise_dump(old, top);
}

/* --- blocks --- */

static void enter(const char *call)
{
    hm_world_need(call);
    if (__atomic_exchange_n(&alloc.busy, true, __ATOMIC_ACQUIRE))
        hm_die(call, "another thread of this PE is in a call that allocates or frees symmetric memory; these "
                     "calls are "
                     "collective, so a program may make only one at a time");
}

static void leave(void)
{
    __atomic_store_n(&alloc.busy, false, __ATOMIC_RELEASE);
}

static void meet(const struct hm_purpose *purpose, const char *call)
{
    hm_quiet(&hm_ctx_default);
    hm_sync_enter(&hm_team_world->sync, purpose, call);
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
        settle(a, call);
        return offset;
    }
    hm_debug("%s: no room for %zu bytes (alignment %zu) in the %s of %zu bytes: %zu are free, "
             "the largest "
             "piece is %zu; SHMEM_SYMMETRIC_SIZE makes it larger",
             call, bytes, align, a->name, a->size, hm_heap_free_bytes(a->heap),
             hm_heap_largest(a->heap));
    return HM_HEAP_NONE;
}

static void block_release(struct area *a, size_t offset, const char *call)
{
    a->freed[a->freed_count++ % FREED_RING] = (struct range){offset, hm_heap_length(a->heap, offset)};
    hm_heap_free(a->heap, offset);
    settle(a, call);
}

/* The heap and the offset of the block that begins at `ptr`; ends the job with a sentence when none does. */
static struct area *block_need(const void *ptr, size_t *offset, const char *call)
{
    struct area *a = area_of(ptr);
    char what[256];
    if (a) *offset = offset_in(a, ptr);
    if (a && hm_heap_length(a->heap, *offset) != 0) return a;
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
    if (bytes < PUNCH_FROM || !pages_give_back(from, to - from)) from = to = offset + bytes;
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
    block_release(a, offset_in(a, block), call);
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
static size_t block_move(struct area *a, size_t old, size_t size, const char *call)
{
    size_t offset = block_take(a, size, HM_HEAP_MIN_ALIGN, call), length = hm_heap_length(a->heap, old);
    if (offset == HM_HEAP_NONE) return HM_HEAP_NONE;
    if (length > size) length = size;
    if (a->on_device)
        hm_device_move(a->base + offset, a->base + old, length, call);
    else
        memcpy(at(offset), at(old), length);
    hm_heap_set_hints(a->heap, offset, hm_heap_hints(a->heap, old));
    block_release(a, old, call);
    hm_sync_again(&hm_team_world->sync, call);
    return offset;
}

void *hm_realloc(void *ptr, size_t size, const char *call)
{
    size_t offset;
    if (ptr == NULL) return hm_malloc(size, call);
    if (size == 0) {
        hm_free(ptr, call);
        return NULL;
    }
    enter(call);
    struct area *a = block_need(ptr, &offset, call);
    struct hm_purpose purpose = {.kind = HM_COLL_REALLOC, .size = size, .dest = place_of(a, offset)};
    meet(&purpose, call);
    bool in_place = hm_heap_resize(a->heap, offset, size) == 0;
    need_records(a, call);
    if (in_place)
        settle(a, call);
    else
        offset = block_move(a, offset, size, call);
    leave();
    return offset != HM_HEAP_NONE ? a->base + offset : NULL;
}

void hm_free(void *ptr, const char *call)
{
    size_t offset;
    hm_world_need(call);
    if (ptr == NULL) return;
    enter(call);
    struct area *a = block_need(ptr, &offset, call);
    struct hm_purpose purpose = {.kind = HM_COLL_FREE, .dest = place_of(a, offset)};
    meet(&purpose, call);
    block_release(a, offset, call);
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
    file_keep(own_heap);
    alloc.closed_limit = closed_limit();
    hm_symm.heap_size = heap_size;
    set_limit(0);
    advise_dump(heap_size, 0);
    return 0;
}

void hm_alloc_stop(void)
{
    if (host.heap == NULL) return;
    set_limit(0);
    area_close(&host);
    area_close(&device);
    if (file_is_ours()) close(alloc.file);
    alloc.file = -1;
    alloc.busy = false;
    alloc.closed_count = 0;
}

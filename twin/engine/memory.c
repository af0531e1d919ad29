/* Physical memory, device addresses, and what joins them.
 *
 * Device addresses come from one arena of reserved addresses that nobody may touch: a load or store of the host there
 * is a fault. A table with an entry for each of its pages leads from an address to the piece it lies in, and so to a
 * second, secret mapping of the same memory, which the engine copies through. Copies read the table without a lock;
 * who changes it holds one. Pieces are never given back to malloc, so that a copy that races with a free (a fault of
 * the program) reads an old piece at worst.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNIT = 512, UNITS = (2 << 20) / UNIT };

/* Taken addresses, sorted. */
struct range {
    struct range *next;
    uintptr_t va;
    size_t bytes;
    enum { WHOLE, PARTS, RESERVED, FOREIGN } kind;
    int device;
    struct tw_piece *piece;  /* all but RESERVED */
    uint16_t *lengths, used; /* PARTS: units of the block that begins there, 0: none does */
};

struct tw_arena tw_arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static struct tw_physical *physicals;
static struct tw_piece *spare_pieces;

static size_t round_up(size_t bytes) { return (bytes + TW_PAGE - 1) / TW_PAGE * TW_PAGE; }

/* --- the arena --- */

static void *reserve_addresses(void *at, size_t bytes)
{
    int fixed = at ? MAP_FIXED_NOREPLACE : 0;
    void *p = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

/* Where the runtime has its own, from 16 TiB on, or elsewhere; as much as can be had. It stays for the process's
 * life. */
int tw_memory_open(void)
{
    if (tw_arena.base) return TW_OK;
    for (size_t bytes = (size_t)4 << 40; bytes >= (size_t)1 << 35; bytes /= 2) {
        char *p = reserve_addresses((void *)((uintptr_t)17 << 40), bytes);
        if (!p) p = reserve_addresses(NULL, bytes);
        if (!p) continue;
        size_t entries = bytes / TW_PAGE * sizeof *tw_arena.table;
        void *table = mmap(NULL, entries, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (table == MAP_FAILED) break;
        uintptr_t base = ((uintptr_t)p + TW_PAGE - 1) / TW_PAGE * TW_PAGE;
        tw_arena.table = table;
        tw_arena.base = base;
        tw_arena.bytes = bytes - TW_PAGE;
        return TW_OK;
    }
    return tw_fail(TW_NO_HOST_MEMORY, "no room for device addresses: %s", strerror(errno));
}

static struct range *range_at(uintptr_t va)
{
    for (struct range *r = ranges; r && r->va <= va; r = r->next)
        if (va - r->va < r->bytes) return r;
    return NULL;
}

/* The first gap of `bytes`, or the one at `expected`. NULL: none. */
static struct range *take_addresses(size_t bytes, uintptr_t expected)
{
    struct range **at = &ranges, *r;
    uintptr_t va = expected ? expected : tw_arena.base;
    bytes = round_up(bytes);
    for (; *at; at = &(*at)->next) {
        if (va + bytes <= (*at)->va) break;
        if (va >= (*at)->va + (*at)->bytes) continue;
        if (expected) return NULL;
        va = (*at)->va + (*at)->bytes;
    }
    if (va < tw_arena.base || va - tw_arena.base > tw_arena.bytes || bytes > tw_arena.bytes - (va - tw_arena.base))
        return NULL;
    if (!(r = calloc(1, sizeof *r))) return NULL;
    r->va = va;
    r->bytes = bytes;
    r->next = *at;
    *at = r;
    return r;
}

static void drop_range(struct range *r)
{
    struct range **at = &ranges;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    free(r->lengths);
    free(r);
}

/* --- pieces --- */

static void set_table(uintptr_t va, size_t bytes, struct tw_piece *piece)
{
    for (size_t page = (va - tw_arena.base) / TW_PAGE, n = round_up(bytes) / TW_PAGE; n--; page++)
        atomic_store_explicit(&tw_arena.table[page], piece, memory_order_release);
}

static struct tw_piece *join(uintptr_t va, size_t bytes, struct tw_physical *m, bool reserved)
{
    struct tw_piece *piece = spare_pieces;
    if (piece) spare_pieces = piece->next;
    else if (!(piece = calloc(1, sizeof *piece))) return NULL;
    *piece = (struct tw_piece){.va = va, .bytes = bytes, .secret = m->secret, .physical = m, .reserved = reserved};
    m->maps++;
    set_table(va, bytes, piece);
    return piece;
}

/* --- physical memory --- */

static int tell_driver(struct tw_physical *m)
{
    struct tw_request q = {.op = m->origin == TW_MINE ? TW_FREE : TW_RELEASE, .id = m->id};
    struct tw_reply r;
    int rc = m->told ? TW_OK : tw_request(&q, &r, NULL);
    if (rc == TW_OK || rc == TW_GONE) m->told = true;
    return rc;
}

/* Gone when it is freed, nothing is joined to it, and no task will use it. */
static void settle(struct tw_physical *m)
{
    if (!m->freed || m->maps) return;
    tell_driver(m);
    if (atomic_load(&m->pins)) return;
    munmap(m->mapping, m->whole);
    struct tw_physical **at = &physicals;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    free(m);
}

static void part(struct tw_piece *piece)
{
    set_table(piece->va, piece->bytes, NULL);
    piece->physical->maps--;
    piece->next = spare_pieces;
    spare_pieces = piece;
}

void tw_hold(struct tw_physical *m) { atomic_fetch_add(&m->pins, 1); }

void tw_let(struct tw_physical *m)
{
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&m->pins, 1) == 1) settle(m);
    pthread_mutex_unlock(&lock);
}

static struct tw_physical *adopt(int fd, const struct tw_reply *r, size_t whole)
{
    struct tw_physical *m = calloc(1, sizeof *m);
    void *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (at == MAP_FAILED || !m) {
        tw_fail(TW_NO_HOST_MEMORY, "%zu bytes of device memory cannot be mapped: %s", whole, strerror(errno));
        if (at != MAP_FAILED) munmap(at, whole);
        free(m);
        return NULL;
    }
    madvise(at, whole, MADV_DONTDUMP);
    madvise(at, whole, MADV_DONTFORK);
    *m = (struct tw_physical){.id = r->id, .whole = whole, .mapping = at, .next = physicals};
    return physicals = m;
}

static int make(int device, size_t bytes, struct tw_physical **out)
{
    struct tw_request q = {.op = TW_ALLOCATE, .device = device, .bytes = round_up(bytes)};
    struct tw_reply r;
    int fd, rc = tw_request(&q, &r, &fd);
    if (rc) return rc;
    struct tw_physical *m = adopt(fd, &r, q.bytes);
    if (!m) {
        tw_request(&(struct tw_request){.op = TW_FREE, .id = r.id}, &r, NULL);
        return TW_NO_HOST_MEMORY;
    }
    m->bytes = bytes;
    m->secret = m->mapping;
    m->home = m->user = device;
    *out = m;
    return TW_OK;
}

static int import(uint64_t token, int device, uint32_t flags, struct tw_physical **out)
{
    struct tw_request q = {.op = TW_IMPORT, .device = device, .id = token, .flags = flags};
    struct tw_reply r;
    int fd, rc = tw_request(&q, &r, &fd);
    if (rc) return rc;
    struct tw_physical *m = adopt(fd, &r, r.whole);
    if (!m) {
        tw_request(&(struct tw_request){.op = TW_RELEASE, .id = r.id}, &r, NULL);
        return TW_NO_HOST_MEMORY;
    }
    m->token = token;
    m->bytes = r.bytes;
    m->secret = m->mapping + r.offset;
    m->home = r.device;
    m->user = device;
    m->origin = flags & TW_SHARE_KEY ? TW_KEY : TW_IMPORTED;
    *out = m;
    return TW_OK;
}

int tw_physical_make(int device, size_t bytes, struct tw_physical **out)
{
    pthread_mutex_lock(&lock);
    int rc = make(device, bytes, out);
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_physical_import(uint64_t token, int device, uint32_t flags, struct tw_physical **out)
{
    pthread_mutex_lock(&lock);
    int rc = import(token, device, flags, out);
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct tw_physical *known(const void *handle)
{
    struct tw_physical *m = physicals;
    while (m && m != handle) m = m->next;
    return m && !m->freed && m->origin != TW_KEY ? m : NULL;
}

struct tw_physical *tw_physical_check(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct tw_physical *m = known(handle);
    pthread_mutex_unlock(&lock);
    return m;
}

int tw_physical_free(struct tw_physical *m)
{
    pthread_mutex_lock(&lock);
    m->freed = true;
    settle(m);
    pthread_mutex_unlock(&lock);
    return TW_OK;
}

int tw_physical_export(struct tw_physical *m, uint32_t flags, uint64_t *token)
{
    struct tw_request q = {.op = TW_EXPORT, .id = m->id, .bytes = m->bytes, .flags = flags};
    struct tw_reply r;
    if (m->origin != TW_MINE) return tw_fail(TW_IN_USE, "the handle is imported: only its maker exports it");
    int rc = tw_request(&q, &r, NULL);
    if (rc == TW_OK) *token = m->token = r.id;
    return rc;
}

int tw_allow(uint64_t token, const int32_t *pids, size_t n)
{
    struct tw_request q = {.op = TW_ALLOW, .id = token, .count = (uint32_t)n};
    struct tw_reply r;
    if (n > TW_PIDS) return tw_fail(TW_LIMIT, "%zu processes at once, %d are possible", n, TW_PIDS);
    memcpy(q.pids, pids, n * sizeof *pids);
    return tw_request(&q, &r, NULL);
}

/* --- malloc: a page or more, or a part of one --- */

static int malloc_whole(int device, size_t bytes, int kind, struct range **out)
{
    struct tw_physical *m;
    int rc = make(device, bytes, &m);
    if (rc) return rc;
    struct range *r = take_addresses(bytes, 0);
    if (!r || !(r->piece = join(r->va, round_up(bytes), m, false))) {
        if (r) drop_range(r);
        m->freed = true;
        settle(m);
        return tw_fail(TW_NO_HOST_MEMORY, "no device addresses for %zu bytes", bytes);
    }
    r->kind = kind;
    r->device = device;
    *out = r;
    return TW_OK;
}

/* The first run of free units; unit 0 is left out, so that no block looks like a page. 0: none. */
static size_t find_units(const struct range *r, size_t n)
{
    for (size_t at = 1, run = 1; at + n <= UNITS;) {
        for (run = 0; run < n && !r->lengths[at + run]; run++) {
        }
        if (run == n) return at;
        at += run + r->lengths[at + run];
    }
    return 0;
}

static int malloc_part(int device, size_t bytes, void **p)
{
    size_t n = (bytes + UNIT - 1) / UNIT, at = 0;
    struct range *r = ranges;
    for (; r; r = r->next)
        if (r->kind == PARTS && r->device == device && (at = find_units(r, n))) break;
    if (!r) {
        uint16_t *lengths = calloc(UNITS + 1, sizeof *lengths);
        int rc = lengths ? malloc_whole(device, TW_PAGE, PARTS, &r) : tw_fail(TW_NO_HOST_MEMORY, "no host memory");
        if (rc) {
            free(lengths);
            return rc;
        }
        r->lengths = lengths;
        at = 1;
    }
    r->lengths[at] = (uint16_t)n;
    r->used++;
    *p = (void *)(r->va + at * UNIT);
    return TW_OK;
}

int tw_malloc(int device, size_t bytes, bool page, void **p)
{
    struct range *r;
    pthread_mutex_lock(&lock);
    int rc = page || bytes > TW_PAGE / 2 ? malloc_whole(device, bytes, WHOLE, &r) : malloc_part(device, bytes, p);
    if (rc == TW_OK && (page || bytes > TW_PAGE / 2)) *p = (void *)r->va;
    pthread_mutex_unlock(&lock);
    return rc;
}

static int free_whole(struct range *r)
{
    struct tw_physical *m = r->piece->physical;
    int rc = tell_driver(m);
    if (rc && rc != TW_GONE) return rc;
    part(r->piece);
    drop_range(r);
    m->freed = true;
    settle(m);
    return TW_OK;
}

static int free_block(struct range *r, uintptr_t va)
{
    size_t at = (va - r->va) / UNIT;
    if ((va - r->va) % UNIT || !r->lengths[at]) return tw_fail(TW_INVALID, "%p is no beginning of a block", (void *)va);
    r->lengths[at] = 0;
    return --r->used ? TW_OK : free_whole(r);
}

int tw_free(void *p)
{
    int rc;
    pthread_mutex_lock(&lock);
    struct range *r = range_at((uintptr_t)p);
    if (r && r->kind == PARTS) rc = free_block(r, (uintptr_t)p);
    else if (r && r->kind == WHOLE && r->va == (uintptr_t)p) rc = free_whole(r);
    else rc = tw_fail(TW_INVALID, "no allocation begins at %p", p);
    pthread_mutex_unlock(&lock);
    return rc;
}

void tw_free_device(int device)
{
    pthread_mutex_lock(&lock);
    for (struct range *r = ranges, *next; r; r = next) {
        next = r->next;
        if ((r->kind == WHOLE || r->kind == PARTS) && r->device == device) free_whole(r);
    }
    pthread_mutex_unlock(&lock);
}

/* --- reserved addresses --- */

int tw_reserve(size_t bytes, void *expected, void **p)
{
    pthread_mutex_lock(&lock);
    struct range *r = take_addresses(bytes, (uintptr_t)expected);
    if (r) {
        r->kind = RESERVED;
        *p = (void *)r->va;
    }
    pthread_mutex_unlock(&lock);
    return r ? TW_OK : tw_fail(TW_NO_HOST_MEMORY, "no %zu device addresses%s", bytes, expected ? " at that place" : "");
}

static struct tw_piece *first_piece(const struct range *r)
{
    struct tw_piece *piece;
    for (size_t page = (r->va - tw_arena.base) / TW_PAGE, n = r->bytes / TW_PAGE; n--; page++)
        if ((piece = atomic_load(&tw_arena.table[page]))) return piece;
    return NULL;
}

int tw_unreserve(void *p)
{
    int rc = TW_OK;
    pthread_mutex_lock(&lock);
    struct range *r = range_at((uintptr_t)p);
    if (!r || r->kind != RESERVED || r->va != (uintptr_t)p) rc = tw_fail(TW_INVALID, "%p begins no reserved range", p);
    else if (first_piece(r)) rc = tw_fail(TW_IN_USE, "memory is mapped in the range at %p: unmap it first", p);
    else drop_range(r);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* One range holds memory of one device, and either our own or imported. */
static int check_join(const struct range *r, uintptr_t va, size_t bytes, const struct tw_physical *m)
{
    if (!r || r->kind != RESERVED || va % TW_PAGE)
        return tw_fail(TW_INVALID, "%p is not in a reserved range", (void *)va);
    if (bytes != m->bytes) return tw_fail(TW_INVALID, "%zu bytes, the physical memory has %zu", bytes, m->bytes);
    if (va + bytes > r->va + r->bytes) return tw_fail(TW_INVALID, "the mapping leaves the reserved range");
    for (size_t at = 0; at < bytes; at += TW_PAGE)
        if (tw_piece_at((void *)(va + at)))
            return tw_fail(TW_IN_USE, "memory is mapped at %p already", (void *)(va + at));
    const struct tw_piece *other = first_piece(r);
    if (!other) return TW_OK;
    if (other->physical->home != m->home)
        return tw_fail(TW_INVALID, "the reserved range has memory of device %d: none of device %d can join it",
                       other->physical->home, m->home);
    if (other->physical->origin != m->origin)
        return tw_fail(TW_INVALID, "the reserved range cannot have memory of this process and imported memory");
    return TW_OK;
}

int tw_map(void *p, size_t bytes, struct tw_physical *m)
{
    pthread_mutex_lock(&lock);
    int rc = check_join(range_at((uintptr_t)p), (uintptr_t)p, bytes, m);
    if (rc == TW_OK && !join((uintptr_t)p, bytes, m, true)) rc = tw_fail(TW_NO_HOST_MEMORY, "no host memory");
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_unmap(void *p)
{
    int rc = TW_OK;
    pthread_mutex_lock(&lock);
    struct tw_piece *piece = tw_piece_at(p);
    if (!piece || !piece->reserved || piece->va != (uintptr_t)p) {
        rc = tw_fail(TW_INVALID, "no mapping begins at %p", p);
    } else {
        struct tw_physical *m = piece->physical;
        part(piece);
        settle(m);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- keys --- */

int tw_key_export(void *p, size_t bytes, uint32_t flags, uint64_t *token)
{
    struct tw_reply reply;
    pthread_mutex_lock(&lock);
    struct range *r = range_at((uintptr_t)p);
    int rc = TW_OK;
    if (!r || (r->kind != WHOLE && r->kind != PARTS)) rc = tw_fail(TW_INVALID, "%p lies in no allocation", p);
    else if (r->kind == PARTS || r->va != (uintptr_t)p)
        rc =
            tw_fail(TW_ALIGN, "%p is a part of a page of device memory, and shared memory must be aligned to pages", p);
    else if (bytes > r->bytes) rc = tw_fail(TW_INVALID, "%zu bytes, the memory has %zu", bytes, r->bytes);
    if (rc == TW_OK) {
        struct tw_request q = {
            .op = TW_EXPORT, .id = r->piece->physical->id, .bytes = bytes, .flags = flags | TW_SHARE_KEY};
        rc = tw_request(&q, &reply, NULL);
        if (rc == TW_OK) *token = reply.id;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct range *foreign(uint64_t token)
{
    struct range *r = ranges;
    while (r && !(r->kind == FOREIGN && r->piece->physical->token == token)) r = r->next;
    return r;
}

static int key_import(uint64_t token, int device, void **p)
{
    struct tw_physical *m;
    struct range *r = foreign(token);
    if (!r) {
        int rc = import(token, device, TW_SHARE_KEY, &m);
        if (rc) return rc;
        r = take_addresses(m->bytes, 0);
        if (!r || !(r->piece = join(r->va, m->bytes, m, false))) {
            if (r) drop_range(r);
            m->freed = true;
            settle(m);
            return tw_fail(TW_NO_HOST_MEMORY, "no device addresses");
        }
        r->kind = FOREIGN;
    }
    r->piece->physical->imports++;
    *p = (void *)r->va;
    return TW_OK;
}

int tw_key_import(uint64_t token, int device, void **p)
{
    pthread_mutex_lock(&lock);
    int rc = key_import(token, device, p);
    pthread_mutex_unlock(&lock);
    return rc;
}

int tw_key_close(uint64_t token)
{
    int rc = TW_OK;
    pthread_mutex_lock(&lock);
    struct range *r = foreign(token);
    if (!r) {
        struct tw_reply reply;
        rc = tw_request(&(struct tw_request){.op = TW_CLOSE_KEY, .id = token}, &reply, NULL);
    } else if (!--r->piece->physical->imports) {
        rc = free_whole(r);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- the end --- */

/* The addresses stay reserved, so that stale pointers fault; all that is behind them goes. No task is under way. */
void tw_memory_close(void)
{
    pthread_mutex_lock(&lock);
    while (ranges) {
        struct tw_piece *piece;
        while ((piece = first_piece(ranges))) part(piece);
        drop_range(ranges);
    }
    while (physicals) {
        struct tw_physical *m = physicals;
        physicals = m->next;
        munmap(m->mapping, m->whole);
        free(m);
    }
    pthread_mutex_unlock(&lock);
    tw_host_close();
}

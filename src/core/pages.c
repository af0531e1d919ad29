#define _GNU_SOURCE
#include "core/pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/far.h"
#include "core/symm.h"
#include "core/world.h"
#include "memkind/memkind.h"

enum {
    CLOSED_MAX = 8192,
    REST_NS = 50000000,
};
#define REST_BYTES ((size_t)128 << 20)

struct range {
    size_t offset, bytes;
};

/* Ranges of pages, in order and apart from each other. */
struct set {
    struct range *range;
    int count;
};

static struct range closed_ranges[CLOSED_MAX];

static struct {
    struct set closed; /* what no view here can access */
    int closed_limit;
    bool rests;     /* what is freed rests: memory is taken again soon */
    size_t rest_limit;
    uint64_t aged;  /* ns: the last time */
    size_t dumped;  /* before this offset core files have the own view, but what is closed */
    int file;       /* the heap's descriptor; -1: none */
    dev_t device;
    ino_t inode;
} pages = {.closed.range = closed_ranges, .file = -1};

/* --- sets --- */

static size_t end_of(const struct range *r) { return r->offset + r->bytes; }

/* The first range that ends behind `offset`. */
static int set_find(const struct set *s, size_t offset)
{
    int from = 0, to = s->count;
    while (from < to) {
        int i = (from + to) / 2;
        if (end_of(&s->range[i]) > offset)
            to = i;
        else
            from = i + 1;
    }
    return from;
}

static void set_replace(struct set *s, int i, int old, const struct range *with, int n)
{
    if (n != old)
        memmove(&s->range[i + n], &s->range[i + old], (size_t)(s->count - i - old) * sizeof s->range[0]);
    for (int k = 0; k < n; k++) s->range[i + k] = with[k];
    s->count += n - old;
}

/* A range that is to come into the set takes the place of `count` ranges from `first` on, its neighbours. */
struct joint {
    int first, count;
    struct range all;
};

static struct joint set_joint(const struct set *s, size_t offset, size_t bytes)
{
    int i = set_find(s, offset);
    struct joint j = {i, 0, {offset, bytes}};
    if (i > 0 && end_of(&s->range[i - 1]) == offset) {
        j.first = i - 1;
        j.all.offset = s->range[i - 1].offset;
        j.all.bytes += s->range[i - 1].bytes;
        j.count++;
    }
    if (i < s->count && s->range[i].offset == offset + bytes) {
        j.all.bytes += s->range[i].bytes;
        j.count++;
    }
    return j;
}

static void set_join(struct set *s, const struct joint *j) { set_replace(s, j->first, j->count, &j->all, 1); }

/* The part of a range that lies in [offset, end), and what it leaves of the range. */
struct cut {
    size_t from, to;
    struct range rest[2];
    int rests;
};

static struct cut cut_of(const struct range *r, size_t offset, size_t end)
{
    struct cut c = {.from = r->offset > offset ? r->offset : offset, .to = end_of(r) < end ? end_of(r) : end};
    if (r->offset < c.from) c.rest[c.rests++] = (struct range){r->offset, c.from - r->offset};
    if (c.to < end_of(r)) c.rest[c.rests++] = (struct range){c.to, end_of(r) - c.to};
    return c;
}

/* --- views --- */

static char *at(size_t offset) { return (char *)hm_symm.heap_base + offset; }

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

/* What lies behind the blocks was never allocated, or has been freed: no core file needs it. */
static void dump_up_to(size_t end)
{
    if (end <= pages.dumped) return;
    (void)madvise(at(pages.dumped), end - pages.dumped, MADV_DODUMP);
    pages.dumped = end;
}

static void dump_less(size_t offset, size_t bytes)
{
    if (offset + bytes != pages.dumped) return;
    (void)madvise(at(offset), bytes, MADV_DONTDUMP);
    pages.dumped = offset;
}

static void close_views(size_t offset, size_t bytes)
{
    struct joint j = set_joint(&pages.closed, offset, bytes);
    if (j.count == 0 && pages.closed.count >= pages.closed_limit) {
        dump_less(offset, bytes);
        return;
    }
    int rc = set_views(offset, bytes, false);
    if (rc != 0) {
        hm_debug("freed pages stay open to access: mprotect: %s", strerror(-rc));
        pages.closed_limit = 0;
        (void)set_views(offset, bytes, true);
        return;
    }
    set_join(&pages.closed, &j);
}

/* Opens what is closed of [offset, offset + bytes). False: nothing was. */
static bool open_views(size_t offset, size_t bytes, const char *call)
{
    int i = set_find(&pages.closed, offset);
    bool any = false;
    for (; i < pages.closed.count && pages.closed.range[i].offset < offset + bytes; any = true) {
        const struct range r = pages.closed.range[i];
        struct cut c = cut_of(&r, offset, offset + bytes);
        if (c.to < end_of(&r) && pages.closed.count - 1 + c.rests > pages.closed_limit) {
            c.to = end_of(&r); /* one range more than allowed: the rest is opened too */
            c.rests--;
        }
        int rc = set_views(c.from, c.to - c.from, true);
        if (rc != 0)
            hm_die(call,
                   "cannot open %zu bytes of the symmetric heap at offset %zu to access: mprotect: %s; raise "
                   "vm.max_map_count or RLIMIT_AS",
                   c.to - c.from, c.from, strerror(-rc));
        set_replace(&pages.closed, i, 1, c.rest, c.rests);
        i += c.rests;
    }
    return any;
}

/* --- the system's memory --- */

/* A program may close every descriptor it finds, and the number may then name a file of its own: so ours lies where few
 * look, and is asked who it is before each use. */
static void file_keep(int descriptor)
{
    struct stat st;
    pages.file = fcntl(descriptor, F_DUPFD_CLOEXEC, 300);
    if (pages.file < 0) pages.file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (pages.file >= 0 && fstat(pages.file, &st) == 0) {
        pages.device = st.st_dev;
        pages.inode = st.st_ino;
    }
}

static bool file_is_ours(void)
{
    struct stat st;
    return pages.file >= 0 && fstat(pages.file, &st) == 0 && st.st_dev == pages.device && st.st_ino == pages.inode;
}

static bool give_back(size_t offset, size_t bytes)
{
    return hm_symm.heap_kind->give_back(pages.file, offset, bytes) == 0;
}

bool hm_pages_give_back(size_t offset, size_t bytes)
{
    return file_is_ours() && hm_far_give_back(offset, bytes, give_back);
}

/* --- taken and freed --- */

/* Pages that had been closed are taken again. */
static void begin_to_rest(void)
{
    if (pages.rests || hm_options.check) return;
    __atomic_store_n(&pages.rests, true, __ATOMIC_RELAXED);
    pages.aged = hm_os_now();
}

void hm_pages_taken(size_t offset, size_t bytes, const char *call)
{
    if (open_views(offset, bytes, call)) begin_to_rest();
    dump_up_to(offset + bytes);
}

void hm_pages_freed(size_t offset, size_t bytes)
{
    if (!hm_pages_give_back(offset, bytes)) hm_debug("cannot give back %zu bytes of the heap: %m", bytes);
    close_views(offset, bytes);
}

bool hm_pages_may_rest(void) { return __atomic_load_n(&pages.rests, __ATOMIC_RELAXED); }

size_t hm_pages_rest_limit(void) { return pages.rest_limit; }

bool hm_pages_is_time(void)
{
    uint64_t now;
    if (!pages.rests || (now = hm_os_now()) - pages.aged < REST_NS) return false;
    pages.aged = now;
    return true;
}

void hm_pages_rest_no_more(void) { __atomic_store_n(&pages.rests, false, __ATOMIC_RELAXED); }

/* --- start and stop --- */

void hm_pages_start(int own_heap)
{
    file_keep(own_heap);
    pages.closed_limit = closed_limit();
    pages.rest_limit = hm_symm.heap_size / 2 < REST_BYTES ? hm_symm.heap_size / 2 : REST_BYTES;
    pages.dumped = 0;
    (void)madvise(at(0), hm_symm.heap_size, MADV_DONTDUMP);
}

void hm_pages_stop(void)
{
    if (file_is_ours()) close(pages.file);
    pages.file = -1;
    pages.closed.count = 0;
    pages.rests = false;
}

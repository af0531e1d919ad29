/* The heap's records: one for each block and each free range, which together tile [0, size) without a gap;
 * two free ranges never touch. They hang in a treap ordered by offset, in which every record knows the
 * largest free range below it, so the lowest range that is large enough, the record that holds an offset and
 * the neighbours are all found in O(log n). Priorities are a hash of the offset: the same blocks give the
 * same tree, and placement depends on the history of calls alone.
 *
 * Placement is first fit by address: it keeps the top low, and all PEs agree on it without talking. */
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

#define NIL 0u /* record 0 is never used: its `largest` of 0 saves the tests for empty subtrees */
#define LINE_FROM ((size_t)64 << 10)
#define PAGE_FROM ((size_t)2 << 20)

struct record {
    size_t offset, bytes; /* bytes: a multiple of HM_HEAP_MIN_ALIGN */
    size_t asked;         /* 0: free */
    size_t largest;       /* bytes of the largest free range in this subtree */
    long hints;
    uint32_t left, right; /* `left` also links the unused records */
};

struct hm_heap {
    size_t size, page, guard, phase, free_bytes;
    struct record *record;
    uint32_t records, root, unused, unused_count;
    size_t dirty_from, dirty_to; /* whole pages where blocks came or went since the last page_changes */
    uint64_t *held;              /* a bit for each page that a block touched at the last page_changes */
    bool starved;
};

/* --- the tree --- */

static uint64_t priority(const struct record *r)
{
    uint64_t x = r->offset / HM_HEAP_MIN_ALIGN + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t largest_of(const struct record *all, const struct record *r)
{
    size_t n = r->asked ? 0 : r->bytes;
    if (all[r->left].largest > n) n = all[r->left].largest;
    if (all[r->right].largest > n) n = all[r->right].largest;
    return n;
}

static void refresh(struct hm_heap *h, uint32_t i)
{
    h->record[i].largest = largest_of(h->record, &h->record[i]);
}

/* Cuts tree `i` into what lies before `offset` and the rest. */
static void tree_split(struct hm_heap *h, uint32_t i, size_t offset, uint32_t *before, uint32_t *rest)
{
    if (i == NIL) {
        *before = *rest = NIL;
        return;
    }
    struct record *r = &h->record[i];
    if (r->offset < offset) {
        tree_split(h, r->right, offset, &r->right, rest);
        *before = i;
    } else {
        tree_split(h, r->left, offset, before, &r->left);
        *rest = i;
    }
    refresh(h, i);
}

/* Everything in a lies before everything in b. */
static uint32_t tree_join(struct hm_heap *h, uint32_t a, uint32_t b)
{
    if (a == NIL) return b;
    if (b == NIL) return a;
    struct record *ra = &h->record[a], *rb = &h->record[b];
    if (priority(ra) > priority(rb)) {
        ra->right = tree_join(h, ra->right, b);
        refresh(h, a);
        return a;
    }
    rb->left = tree_join(h, a, rb->left);
    refresh(h, b);
    return b;
}

static uint32_t tree_with(struct hm_heap *h, uint32_t at, uint32_t i)
{
    struct record *r = &h->record[i], *here = &h->record[at];
    if (at == NIL || priority(r) > priority(here)) {
        tree_split(h, at, r->offset, &r->left, &r->right);
        refresh(h, i);
        return i;
    }
    if (r->offset < here->offset)
        here->left = tree_with(h, here->left, i);
    else
        here->right = tree_with(h, here->right, i);
    refresh(h, at);
    return at;
}

static uint32_t tree_without(struct hm_heap *h, uint32_t at, size_t offset)
{
    struct record *here = &h->record[at];
    if (here->offset == offset) return tree_join(h, here->left, here->right);
    if (offset < here->offset)
        here->left = tree_without(h, here->left, offset);
    else
        here->right = tree_without(h, here->right, offset);
    refresh(h, at);
    return at;
}

/* The record that holds `offset` < size: there always is one. */
static uint32_t tree_find(const struct hm_heap *h, size_t offset)
{
    uint32_t i = h->root, found = NIL;
    while (i != NIL) {
        const struct record *r = &h->record[i];
        if (r->offset <= offset) found = i;
        i = r->offset <= offset ? r->right : r->left;
    }
    return found;
}

static uint32_t tree_last(const struct hm_heap *h)
{
    uint32_t i = h->root;
    while (h->record[i].right != NIL)
        i = h->record[i].right;
    return i;
}

/* --- records --- */

/* Makes sure of `n` unused records, so that no change fails halfway. */
static int records_reserve(struct hm_heap *h, uint32_t n)
{
    if (h->unused_count >= n) return 0;
    uint64_t more = h->records ? (uint64_t)h->records * 2 : 64;
    struct record *record = more <= UINT32_MAX ? realloc(h->record, more * sizeof *record) : NULL;
    if (record == NULL) {
        h->starved = true;
        return -ENOMEM;
    }
    if (h->records == 0) memset(record, 0, sizeof *record);
    for (uint32_t i = h->records ? h->records : 1; i < more; i++) {
        record[i].left = h->unused;
        h->unused = i;
        h->unused_count++;
    }
    h->record = record;
    h->records = (uint32_t)more;
    return 0;
}

static void record_put(struct hm_heap *h, size_t offset, size_t bytes, size_t asked, long hints)
{
    if (bytes == 0) return;
    uint32_t i = h->unused;
    h->unused = h->record[i].left;
    h->unused_count--;
    h->record[i] = (struct record){.offset = offset, .bytes = bytes, .asked = asked, .hints = hints};
    h->root = tree_with(h, h->root, i);
    if (!asked) h->free_bytes += bytes;
}

/* Takes the record out and returns what it said. */
static struct record record_take(struct hm_heap *h, uint32_t i)
{
    struct record r = h->record[i];
    h->root = tree_without(h, h->root, r.offset);
    h->record[i].left = h->unused;
    h->unused = i;
    h->unused_count++;
    if (!r.asked) h->free_bytes -= r.bytes;
    return r;
}

/* Puts a free range back, joined with its free neighbours. */
static void range_free(struct hm_heap *h, size_t offset, size_t bytes)
{
    if (bytes == 0) return;
    uint32_t i = offset + bytes < h->size ? tree_find(h, offset + bytes) : NIL;
    if (i != NIL && !h->record[i].asked) bytes += record_take(h, i).bytes;
    i = offset > 0 ? tree_find(h, offset - 1) : NIL;
    if (i != NIL && !h->record[i].asked) {
        struct record before = record_take(h, i);
        offset = before.offset;
        bytes += before.bytes;
    }
    record_put(h, offset, bytes, 0, 0);
}

static void touch_pages(struct hm_heap *h, size_t offset, size_t bytes)
{
    size_t from = hm_round_down(offset, h->page), to = hm_round_up(offset + bytes, h->page);
    bool none = h->dirty_from == h->dirty_to;
    if (none || from < h->dirty_from) h->dirty_from = from;
    if (none || to > h->dirty_to) h->dirty_to = to;
}

/* --- the interface --- */

struct hm_heap *hm_heap_open(size_t size, size_t page)
{
    struct hm_heap *h = calloc(1, sizeof *h);
    if (h == NULL) return NULL;
    h->size = size;
    h->page = page;
    h->held = calloc(size / page / 64 + 1, sizeof *h->held);
    if (h->held == NULL || records_reserve(h, 1) != 0) {
        hm_heap_close(h);
        return NULL;
    }
    record_put(h, 0, size, 0, 0);
    return h;
}

void hm_heap_close(struct hm_heap *h)
{
    if (h == NULL) return;
    free(h->held);
    free(h->record);
    free(h);
}

void hm_heap_set_guard(struct hm_heap *h, size_t bytes)
{
    h->guard = hm_round_up(bytes, HM_HEAP_MIN_ALIGN);
}

void hm_heap_set_phase(struct hm_heap *h, size_t phase) { h->phase = phase; }

static size_t aligned_from(const struct hm_heap *h, size_t offset, size_t align)
{
    return hm_round_up(offset + h->phase, align) - h->phase;
}

static bool fits(const struct hm_heap *h, const struct record *r, size_t bytes, size_t align)
{
    if (r->asked || r->bytes < bytes) return false;
    return aligned_from(h, r->offset, align) - r->offset <= r->bytes - bytes;
}

/* The first range that fits. Ranges that are long enough and yet cannot hold the aligned block are tried in
 * turn: there are few, as they must be shorter than bytes + align. */
static uint32_t first_fit(const struct hm_heap *h, uint32_t i, size_t bytes, size_t align)
{
    const struct record *r = &h->record[i];
    if (r->largest < bytes) return NIL;
    uint32_t found = first_fit(h, r->left, bytes, align);
    if (found != NIL) return found;
    return fits(h, r, bytes, align) ? i : first_fit(h, r->right, bytes, align);
}

static size_t block_align(const struct hm_heap *h, size_t bytes, size_t align)
{
    if (align < HM_HEAP_MIN_ALIGN) align = HM_HEAP_MIN_ALIGN;
    if (bytes >= LINE_FROM && align < HM_LINE) align = HM_LINE;
    if (bytes >= PAGE_FROM && align < h->page) align = h->page;
    return align;
}

size_t hm_heap_alloc(struct hm_heap *h, size_t asked, size_t align)
{
    h->starved = false;
    if (asked == 0 || asked > h->size || align > h->size) return HM_HEAP_NONE;
    size_t bytes = hm_round_up(asked, HM_HEAP_MIN_ALIGN);
    align = block_align(h, bytes, align);
    uint32_t i = first_fit(h, h->root, bytes + h->guard, align);
    if (i != NIL)
        bytes += h->guard;
    else if (h->guard)
        i = first_fit(h, h->root, bytes, align);
    if (i == NIL || records_reserve(h, 2) != 0) return HM_HEAP_NONE;

    struct record r = record_take(h, i);
    size_t at = aligned_from(h, r.offset, align);
    record_put(h, r.offset, at - r.offset, 0, 0);
    record_put(h, at, bytes, asked, 0);
    record_put(h, at + bytes, r.offset + r.bytes - (at + bytes), 0, 0);
    touch_pages(h, at, bytes);
    return at;
}

/* The record of the block that begins at `offset`, or NIL. */
static uint32_t block_at(const struct hm_heap *h, size_t offset)
{
    uint32_t i = offset < h->size ? tree_find(h, offset) : NIL;
    return i != NIL && h->record[i].asked && h->record[i].offset == offset ? i : NIL;
}

int hm_heap_free(struct hm_heap *h, size_t offset)
{
    uint32_t i = block_at(h, offset);
    if (i == NIL) return -ENOENT;
    struct record r = record_take(h, i);
    range_free(h, r.offset, r.bytes);
    touch_pages(h, r.offset, r.bytes);
    return 0;
}

/* The end of the free range behind a record, or of the record itself. */
static size_t room_end(const struct hm_heap *h, const struct record *r)
{
    size_t end = r->offset + r->bytes;
    const struct record *next = &h->record[end < h->size ? tree_find(h, end) : NIL];
    return next->asked ? end : end + next->bytes;
}

int hm_heap_resize(struct hm_heap *h, size_t offset, size_t asked)
{
    h->starved = false;
    uint32_t i = block_at(h, offset);
    if (i == NIL) return -ENOENT;
    if (asked == 0 || asked > h->size) return -ENOMEM;
    size_t bytes = hm_round_up(asked, HM_HEAP_MIN_ALIGN), end = room_end(h, &h->record[i]);
    if (bytes > end - offset) return -ENOMEM;
    if (records_reserve(h, 1) != 0) return -ENOMEM;
    if (bytes + h->guard <= end - offset) bytes += h->guard;
    struct record r = record_take(h, i);
    if (end > offset + r.bytes) record_take(h, tree_find(h, offset + r.bytes));
    record_put(h, offset, bytes, asked, r.hints);
    record_put(h, offset + bytes, end - (offset + bytes), 0, 0);
    touch_pages(h, offset, bytes > r.bytes ? bytes : r.bytes);
    return 0;
}

bool hm_heap_starved(const struct hm_heap *h)
{
    return h->starved;
}

bool hm_heap_find(const struct hm_heap *h, size_t offset, size_t *first, size_t *bytes)
{
    if (offset >= h->size) return false;
    const struct record *r = &h->record[tree_find(h, offset)];
    if (offset - r->offset >= r->asked) return false;
    *first = r->offset;
    *bytes = r->asked;
    return true;
}

bool hm_heap_before(const struct hm_heap *h, size_t offset, size_t *first, size_t *bytes)
{
    if (offset >= h->size) offset = h->size - 1;
    const struct record *r = &h->record[tree_find(h, offset)];
    if (!r->asked && r->offset > 0) r = &h->record[tree_find(h, r->offset - 1)];
    if (!r->asked) return false;
    *first = r->offset;
    *bytes = r->asked;
    return true;
}

size_t hm_heap_length(const struct hm_heap *h, size_t offset)
{
    return h->record[block_at(h, offset)].asked; /* of record NIL: 0 */
}

void hm_heap_set_hints(struct hm_heap *h, size_t offset, long hints)
{
    uint32_t i = block_at(h, offset);
    if (i != NIL) h->record[i].hints = hints;
}

long hm_heap_hints(const struct hm_heap *h, size_t offset)
{
    return h->record[block_at(h, offset)].hints;
}

size_t hm_heap_top(const struct hm_heap *h)
{
    const struct record *last = &h->record[tree_last(h)];
    return last->asked ? h->size : hm_round_up(last->offset, h->page);
}

size_t hm_heap_free_bytes(const struct hm_heap *h)
{
    return h->free_bytes;
}
size_t hm_heap_largest(const struct hm_heap *h)
{
    return h->record[h->root].largest;
}

/* --- pages --- */

static bool bit_get(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

/* The end of the run of equal bits that begins at i, at most `end`. */
static size_t bits_run(const uint64_t *bits, size_t i, size_t end)
{
    uint64_t flip = bit_get(bits, i) ? ~(uint64_t)0 : 0;
    while (i < end) {
        uint64_t differ = (bits[i / 64] ^ flip) >> (i % 64);
        if (differ != 0) {
            i += (size_t)__builtin_ctzll(differ);
            break;
        }
        i = (i / 64 + 1) * 64;
    }
    return i < end ? i : end;
}

static void bits_set(uint64_t *bits, size_t from, size_t to, bool value)
{
    while (from < to) {
        size_t n = 64 - from % 64 < to - from ? 64 - from % 64 : to - from;
        uint64_t mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << (from % 64);
        bits[from / 64] = value ? bits[from / 64] | mask : bits[from / 64] & ~mask;
        from += n;
    }
}

/* The first run of whole pages in [from, to) that no block touches; an empty one at `to` where there is none.
 */
static void free_pages(const struct hm_heap *h, size_t from, size_t to, size_t *first, size_t *end)
{
    for (size_t at = from * h->page; at < to * h->page;) {
        const struct record *r = &h->record[tree_find(h, at)];
        *first = hm_round_up(r->offset, h->page) / h->page;
        *end = (r->offset + r->bytes) / h->page;
        if (*first < from) *first = from;
        if (*end > to) *end = to;
        if (!r->asked && *first < *end) return;
        at = r->offset + r->bytes;
    }
    *first = *end = to;
}

/* Pages [from, to) are all held now, or all free: visits those that were not so before. */
static void visit_changes(struct hm_heap *h, size_t from, size_t to, bool held,
                          void (*visit)(void *arg, size_t offset, size_t bytes, bool freed), void *arg)
{
    while (from < to) {
        size_t end = bits_run(h->held, from, to);
        if (bit_get(h->held, from) != held) {
            bits_set(h->held, from, end, held);
            visit(arg, from * h->page, (end - from) * h->page, !held);
        }
        from = end;
    }
}

void hm_heap_page_changes(struct hm_heap *h,
                          void (*visit)(void *arg, size_t offset, size_t bytes, bool freed), void *arg)
{
    size_t from = h->dirty_from / h->page, to = h->dirty_to / h->page;
    h->dirty_from = h->dirty_to = 0;
    while (from < to) {
        size_t first, end;
        free_pages(h, from, to, &first, &end);
        visit_changes(h, from, first, true, visit, arg);
        visit_changes(h, first, end, false, visit, arg);
        from = end;
    }
}

/* --- the whole structure --- */

struct walk {
    const struct hm_heap *heap;
    const char *why;
    size_t end, free_bytes; /* of the records so far, in order */
    uint32_t count;
    bool free; /* the record before was free */
};

static const char *record_wrong(const struct walk *w, const struct record *r)
{
    const struct record *all = w->heap->record;
    if (r->offset != w->end) return "a gap or an overlap between records";
    if (r->bytes == 0 || r->bytes % HM_HEAP_MIN_ALIGN)
        return "a length that is no multiple of the least alignment";
    if (r->bytes > w->heap->size - r->offset) return "a record that ends behind the heap";
    size_t asked = hm_round_up(r->asked, HM_HEAP_MIN_ALIGN);
    if (r->asked && r->bytes != asked && r->bytes != asked + w->heap->guard)
        return "a block not as long as asked";
    if (!r->asked && w->free) return "two free ranges that were not joined";
    if (r->largest != largest_of(all, r)) return "a wrong largest range";
    if (r->left != NIL && priority(&all[r->left]) > priority(r)) return "a left child above its parent";
    if (r->right != NIL && priority(&all[r->right]) > priority(r)) return "a right child above its parent";
    return NULL;
}

static void walk_tree(struct walk *w, uint32_t i)
{
    if (i == NIL || w->why != NULL) return;
    const struct record *r = &w->heap->record[i];
    walk_tree(w, r->left);
    if (w->why != NULL) return;
    w->why = record_wrong(w, r);
    w->end = r->offset + r->bytes;
    w->free = !r->asked;
    w->free_bytes += r->asked ? 0 : r->bytes;
    w->count++;
    walk_tree(w, r->right);
}

bool hm_heap_valid(const struct hm_heap *h, const char **why)
{
    struct walk w = {.heap = h};
    walk_tree(&w, h->root);
    uint32_t unused = 0;
    for (uint32_t i = h->unused; i != NIL && unused <= h->records; i = h->record[i].left)
        unused++;
    if (w.why == NULL && w.end != h->size) w.why = "records that end before the heap does";
    if (w.why == NULL && w.free_bytes != h->free_bytes) w.why = "a wrong sum of free bytes";
    if (w.why == NULL && unused != h->unused_count) w.why = "a wrong number of unused records";
    if (w.why == NULL && w.count + unused + 1 != h->records) w.why = "a record that is lost";
    if (w.why == NULL && h->record[NIL].largest != 0) w.why = "record 0 is in use";
    *why = w.why;
    return w.why == NULL;
}

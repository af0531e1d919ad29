/* The heap's records: one for each block and each free range, which together tile [0, size) without a gap;
 * two free ranges never touch. They are a list in order of offset, and hang in a treap in the same order, in which
 * every record knows the largest free range below it, so the lowest range that is large enough and the record
 * that holds an offset are found in O(log n), and the neighbours at once. A record's rank in the treap is its own
 * for ever: its range can grow and shrink where it hangs. So a block that is taken is one record put in at most,
 * and one that is freed is at most two taken out.
 *
 * Placement is first fit by address: it keeps the top low, and all PEs agree on it without talking.
 *
 * The last blocks that were freed are kept, apart from what else is free: a further block of just such a length takes the
 * place of one as it is, and the tree is left alone. As soon as something else is asked for, or they become too many, they
 * are joined to the free ranges, so first fit sees all that is free. Nobody outside can tell but by the place: what they
 * lie on is free in all that is said of pages, top and sums. */
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

#define NIL 0u /* record 0 is never used: its `largest` of 0 saves the tests for empty subtrees */
#define LINE_FROM ((size_t)64 << 10)
#define PAGE_FROM ((size_t)2 << 20)
#define IS_KEPT SIZE_MAX /* as `asked`: no block, and no free range yet */
enum { KEPT = 32, SEEN_BITS = 8 };

struct record {
    size_t offset, bytes; /* bytes: a multiple of HM_HEAP_MIN_ALIGN */
    size_t asked;         /* 0: free; or IS_KEPT */
    size_t largest;       /* bytes of the largest free range in this subtree */
    long hints;
    uint32_t left, right; /* `left` also links the unused records */
    uint32_t before, behind; /* in the list, which record NIL closes to a ring */
    uint32_t up;
    uint32_t rank; /* no two have the same; parents have higher ones */
};

struct hm_heap {
    size_t size, page, guard, phase, free_bytes;
    unsigned shift; /* log2 of page */
    struct record *record;
    uint32_t records, root, unused, unused_count;
    uint32_t seen[1 << SEEN_BITS]; /* by where a block begins: what most likely is its record */
    struct kept {
        size_t bytes;
        uint32_t record;
    } kept[KEPT];
    unsigned kept_count;
    size_t top; /* behind the last page that a block touches; ... */
    bool top_sinks; /* ... or, when that page was freed, less than this */
    size_t dirty_from, dirty_to; /* pages where blocks came or went since the last page_changes */
    uint64_t *touched;           /* a bit for each page that a block touches */
    uint16_t *ends;              /* of each page: how many blocks begin or end there; no other block touches one between */
    uint64_t *held;              /* the same, as the owner of the pages has been told */
    uint64_t *old;               /* free and yet held already at the last hm_heap_pages_rested */
    size_t resting;              /* pages that are free and held */
    bool woken;                  /* some such were taken since then */
    bool has_new;                /* pages were taken that are not held */
    bool starved;
};

/* --- the tree --- */

/* One to one, so no two records are of the same rank. */
static uint32_t rank_of(uint32_t i)
{
    i ^= i >> 16;
    i *= 0x7feb352du;
    i ^= i >> 15;
    i *= 0x846ca68bu;
    return i ^ i >> 16;
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

/* What record i says of itself has changed, or what lies below it. */
static void tree_update(struct hm_heap *h, uint32_t i)
{
    for (; i != NIL; i = h->record[i].up) {
        size_t before = h->record[i].largest;
        refresh(h, i);
        if (h->record[i].largest == before) return;
    }
}

/* `new` hangs where `old` did. */
static void tree_replace(struct hm_heap *h, uint32_t old, uint32_t new)
{
    uint32_t up = h->record[old].up;
    uint32_t *link = up == NIL ? &h->root : h->record[up].left == old ? &h->record[up].left : &h->record[up].right;
    *link = new;
    h->record[new].up = up; /* of NIL it means nothing */
}

/* Record i and its parent change places. */
static void tree_rotate_up(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i], *parent = &h->record[r->up];
    uint32_t down = r->up, between;
    tree_replace(h, down, i);
    if (parent->left == i) {
        between = parent->left = r->right;
        r->right = down;
    } else {
        between = parent->right = r->left;
        r->left = down;
    }
    h->record[between].up = down;
    parent->up = i;
    refresh(h, down);
    refresh(h, i);
}

/* Puts record i, which is in the list, into the tree: of its neighbours there the one that hangs lower has room below it. */
static void tree_put(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i];
    uint32_t before = r->before, behind = r->behind;
    if (behind != NIL && h->record[behind].left == NIL) {
        h->record[behind].left = i;
        r->up = behind;
    } else if (before != NIL) {
        h->record[before].right = i;
        r->up = before;
    } else {
        h->root = i;
        r->up = NIL;
    }
    if (!r->asked) tree_update(h, i); /* a block is no room for anybody */
    while (r->up != NIL && r->rank > h->record[r->up].rank) tree_rotate_up(h, i);
}

static void tree_take(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i];
    while (r->left != NIL && r->right != NIL)
        tree_rotate_up(h, h->record[r->left].rank > h->record[r->right].rank ? r->left : r->right);
    tree_replace(h, i, r->left != NIL ? r->left : r->right);
    if (!r->asked) tree_update(h, r->up);
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

/* Puts a record before `behind`; NIL: at the end. */
static uint32_t record_put(struct hm_heap *h, size_t offset, size_t bytes, size_t asked, uint32_t behind)
{
    uint32_t i = h->unused, before = h->record[behind].before;
    h->unused = h->record[i].left;
    h->unused_count--;
    h->record[i] = (struct record){.offset = offset, .bytes = bytes, .asked = asked, .before = before, .behind = behind,
                                   .rank = rank_of(i)};
    h->record[before].behind = h->record[behind].before = i;
    tree_put(h, i);
    return i;
}

static void record_drop(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i];
    tree_take(h, i);
    h->record[r->before].behind = r->behind;
    h->record[r->behind].before = r->before;
    r->asked = 0;
    r->left = h->unused;
    h->unused = i;
    h->unused_count++;
}

/* Two neighbours become one free range: one of them grows, the other is dropped, that which hangs lower. */
static uint32_t records_join(struct hm_heap *h, uint32_t a, uint32_t b)
{
    bool is_a_above = h->record[a].rank > h->record[b].rank;
    uint32_t above = is_a_above ? a : b, below = is_a_above ? b : a;
    size_t offset = h->record[a].offset, bytes = h->record[a].bytes + h->record[b].bytes;
    record_drop(h, below);
    struct record *r = &h->record[above];
    r->offset = offset;
    r->bytes = bytes;
    r->asked = 0;
    r->hints = 0;
    tree_update(h, above);
    return above;
}

/* Block `i` becomes a free range, or part of one. */
static void record_free(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i];
    uint32_t before = r->before, behind = r->behind;
    bool joins_before = before != NIL && !h->record[before].asked, joins_behind = behind != NIL && !h->record[behind].asked;
    if (joins_behind) i = records_join(h, i, behind);
    if (joins_before) i = records_join(h, before, i);
    if (joins_before || joins_behind) return;
    r->asked = 0;
    r->hints = 0;
    tree_update(h, i);
}

static bool is_block(const struct record *r) { return r->asked != 0 && r->asked != IS_KEPT; }

/* --- freed blocks that are kept --- */

static void kept_join(struct hm_heap *h)
{
    for (unsigned k = 0; k < h->kept_count; k++) record_free(h, h->kept[k].record);
    h->kept_count = 0;
}

static void kept_put(struct hm_heap *h, uint32_t i)
{
    struct record *r = &h->record[i];
    if (h->kept_count == KEPT) kept_join(h);
    h->kept[h->kept_count++] = (struct kept){r->bytes, i};
    r->asked = IS_KEPT;
    r->hints = 0;
}

/* The last one of just this length at a place that suits, or NIL. */
static uint32_t kept_take(struct hm_heap *h, size_t bytes, size_t align)
{
    for (unsigned k = h->kept_count; k-- > 0;) {
        uint32_t i = h->kept[k].record;
        if (h->kept[k].bytes != bytes || ((h->record[i].offset + h->phase) & (align - 1)) != 0) continue;
        h->kept[k] = h->kept[--h->kept_count];
        return i;
    }
    return NIL;
}

/* --- pages --- */

/* The bits of pages [from, to) in a word between that of `from` and that of to - 1. */
static inline uint64_t bits_in(size_t word, size_t from, size_t to)
{
    uint64_t bits = ~(uint64_t)0;
    if (word == from / 64) bits <<= from % 64;
    if (word == (to - 1) / 64) bits &= ~(uint64_t)0 >> (63 - (to - 1) % 64);
    return bits;
}

/* Some of [from, to) may have changed. */
static void pages_dirty(struct hm_heap *h, size_t from, size_t to)
{
    bool none = h->dirty_from == h->dirty_to;
    if (none || from < h->dirty_from) h->dirty_from = from;
    if (none || to > h->dirty_to) h->dirty_to = to;
}

/* Most often pages that come and go are held, all of them: then words in between are of one kind. */
static bool are_held(const struct hm_heap *h, size_t from, size_t to)
{
    const uint64_t *held = h->held;
    size_t w = from / 64, last = (to - 1) / 64;
    uint64_t all = held[w] | ~bits_in(w, from, to);
    if (w == last) return all == ~(uint64_t)0;
    all &= held[last] | ~bits_in(last, from, to);
    for (w++; w + 4 <= last; w += 4) all &= held[w] & held[w + 1] & held[w + 2] & held[w + 3];
    for (; w < last; w++) all &= held[w];
    return all == ~(uint64_t)0;
}

static void bits_set(uint64_t *word, size_t from, size_t to)
{
    size_t first = from / 64, last = (to - 1) / 64;
    word[first] |= bits_in(first, from, to);
    if (last > first + 1) memset(&word[first + 1], 0xff, (last - first - 1) * sizeof *word);
    if (last > first) word[last] |= bits_in(last, from, to);
}

static void bits_clear(uint64_t *word, size_t from, size_t to)
{
    size_t first = from / 64, last = (to - 1) / 64;
    word[first] &= ~bits_in(first, from, to);
    if (last > first + 1) memset(&word[first + 1], 0, (last - first - 1) * sizeof *word);
    if (last > first) word[last] &= ~bits_in(last, from, to);
}

/* How many of [from, to) are held. */
static size_t count_held(const struct hm_heap *h, size_t from, size_t to)
{
    size_t n = 0;
    if (are_held(h, from, to)) return to - from;
    for (size_t w = from / 64; w * 64 < to; w++) n += (size_t)__builtin_popcountll(h->held[w] & bits_in(w, from, to));
    return n;
}

/* No block touched any of these pages, and one does now. */
static void pages_take(struct hm_heap *h, size_t from, size_t to)
{
    if (from >= to) return;
    size_t rested = count_held(h, from, to);
    h->resting -= rested;
    if (rested) h->woken = true;
    if (rested < to - from) h->has_new = true;
    bits_set(h->touched, from, to);
    pages_dirty(h, from, to);
    if (to > h->top || (to == h->top && h->top_sinks)) {
        h->top = to;
        h->top_sinks = false;
    }
}

static void pages_free(struct hm_heap *h, size_t from, size_t to)
{
    if (from >= to) return;
    h->resting += count_held(h, from, to);
    bits_clear(h->touched, from, to);
    bits_clear(h->old, from, to);
    pages_dirty(h, from, to);
    if (to == h->top) h->top_sinks = true;
}

static void block_comes(struct hm_heap *h, size_t offset, size_t bytes)
{
    size_t first = offset >> h->shift, last = (offset + bytes - 1) >> h->shift;
    size_t from = h->ends[first]++ ? first + 1 : first, to = last + 1;
    if (last != first && h->ends[last]++) to--;
    pages_take(h, from, to);
}

static void block_goes(struct hm_heap *h, size_t offset, size_t bytes)
{
    size_t first = offset >> h->shift, last = (offset + bytes - 1) >> h->shift;
    size_t from = --h->ends[first] ? first + 1 : first, to = last + 1;
    if (last != first && --h->ends[last]) to--;
    pages_free(h, from, to);
}

/* It was `before` bytes long and is `bytes` from now on. */
static void block_changes(struct hm_heap *h, size_t offset, size_t before, size_t bytes)
{
    size_t first = offset >> h->shift, old = (offset + before - 1) >> h->shift, new = (offset + bytes - 1) >> h->shift;
    if (old == new) return;
    bool others_at_old = old != first && --h->ends[old], others_at_new = new != first && h->ends[new]++;
    if (new > old)
        pages_take(h, old + 1, others_at_new ? new : new + 1);
    else
        pages_free(h, new + 1, others_at_old ? old : old + 1);
}

/* --- the interface --- */

struct hm_heap *hm_heap_open(size_t size, size_t page)
{
    struct hm_heap *h = calloc(1, sizeof *h);
    if (h == NULL) return NULL;
    h->size = size;
    h->page = page;
    h->shift = (unsigned)__builtin_ctzll(page);
    h->held = calloc(size / page / 64 + 1, sizeof *h->held);
    h->touched = calloc(size / page / 64 + 1, sizeof *h->touched);
    h->old = calloc(size / page / 64 + 1, sizeof *h->old);
    h->ends = calloc(size / page + 1, sizeof *h->ends);
    if (h->held == NULL || h->touched == NULL || h->old == NULL || h->ends == NULL || records_reserve(h, 1) != 0) {
        hm_heap_close(h);
        return NULL;
    }
    h->record[record_put(h, 0, size, 0, NIL)].rank = UINT32_MAX; /* the last range changes most often: it hangs at the top */
    h->free_bytes = size;
    return h;
}

void hm_heap_close(struct hm_heap *h)
{
    if (h == NULL) return;
    free(h->held);
    free(h->touched);
    free(h->old);
    free(h->ends);
    free(h->record);
    free(h);
}

void hm_heap_set_guard(struct hm_heap *h, size_t bytes)
{
    h->guard = hm_round_up(bytes, HM_HEAP_MIN_ALIGN);
}

void hm_heap_set_phase(struct hm_heap *h, size_t phase) { h->phase = phase; }

/* hm_round_up for powers of two that the compiler does not know. */
static size_t power_up(size_t n, size_t unit) { return (n + unit - 1) & ~(unit - 1); }

static size_t aligned_from(const struct hm_heap *h, size_t offset, size_t align)
{
    return power_up(offset + h->phase, align) - h->phase;
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

/* A block comes to lie in free range `i`, which goes on as what is left of it: behind the block, or else before it. Gives the
 * block's record. */
static uint32_t range_take(struct hm_heap *h, uint32_t i, size_t at, size_t bytes, size_t asked)
{
    struct record *r = &h->record[i];
    size_t from = r->offset, end = from + r->bytes;
    uint32_t block = i;
    if (at + bytes < end) {
        r->offset = at + bytes;
        r->bytes = end - r->offset;
        tree_update(h, i);
        block = record_put(h, at, bytes, asked, i);
        if (from < at) record_put(h, from, at - from, 0, block);
    } else if (from < at) {
        r->bytes = at - from;
        tree_update(h, i);
        block = record_put(h, at, bytes, asked, r->behind);
    } else {
        r->asked = asked;
        tree_update(h, i);
    }
    return block;
}

/* A block in free memory that was not kept: its record, or NIL. */
static uint32_t block_put(struct hm_heap *h, size_t bytes, size_t align, size_t asked)
{
    size_t guarded = bytes + h->guard;
    uint32_t i = first_fit(h, h->root, guarded, align);
    if (i == NIL && h->guard) i = first_fit(h, h->root, guarded = bytes, align);
    if (i == NIL || records_reserve(h, 2) != 0) return NIL;
    return range_take(h, i, aligned_from(h, h->record[i].offset, align), guarded, asked);
}

/* A list of what was looked for last is a table of what comes next: blocks are freed by where they begin. */
static uint32_t *seen_at(struct hm_heap *h, size_t offset)
{
    return &h->seen[offset * 0x9e3779b97f4a7c15u >> (64 - SEEN_BITS)];
}

size_t hm_heap_alloc(struct hm_heap *h, size_t asked, size_t align)
{
    h->starved = false;
    if (asked == 0 || asked > h->size || align > h->size) return HM_HEAP_NONE;
    size_t bytes = hm_round_up(asked, HM_HEAP_MIN_ALIGN);
    align = block_align(h, bytes, align);
    uint32_t i = kept_take(h, bytes, align);
    if (i != NIL) {
        h->record[i].asked = asked;
    } else {
        kept_join(h);
        i = block_put(h, bytes, align, asked);
        if (i == NIL) return HM_HEAP_NONE;
    }
    struct record *r = &h->record[i];
    h->free_bytes -= r->bytes;
    *seen_at(h, r->offset) = i;
    block_comes(h, r->offset, r->bytes);
    return r->offset;
}

/* The record of the block that begins at `offset`, or NIL. */
static uint32_t block_at(struct hm_heap *h, size_t offset)
{
    uint32_t *seen = seen_at(h, offset), i = *seen;
    if (h->record[i].offset == offset && is_block(&h->record[i])) return i;
    i = offset < h->size ? tree_find(h, offset) : NIL;
    if (i == NIL || h->record[i].offset != offset || !is_block(&h->record[i])) return NIL;
    return *seen = i;
}

int hm_heap_free(struct hm_heap *h, size_t offset)
{
    uint32_t i = block_at(h, offset);
    if (i == NIL) return -ENOENT;
    size_t bytes = h->record[i].bytes;
    h->free_bytes += bytes;
    block_goes(h, offset, bytes);
    if (h->guard)
        record_free(h, i); /* under --check: a place is taken again as late as may be */
    else
        kept_put(h, i);
    return 0;
}

/* The end of the free range behind a record, or of the record itself. */
static size_t room_end(const struct hm_heap *h, const struct record *r)
{
    const struct record *next = &h->record[r->behind];
    return r->offset + r->bytes + (r->behind == NIL || next->asked ? 0 : next->bytes);
}

/* Block `i` becomes `bytes` long, of the room that it has up to `end`. */
static void block_resize(struct hm_heap *h, uint32_t i, size_t end, size_t bytes, size_t asked)
{
    struct record *r = &h->record[i], *behind = &h->record[r->behind];
    bool is_behind_free = end > r->offset + r->bytes;
    h->free_bytes += r->bytes;
    h->free_bytes -= bytes;
    r->bytes = bytes;
    r->asked = asked;
    size_t from = r->offset + bytes;
    if (!is_behind_free) {
        if (from < end) record_put(h, from, end - from, 0, r->behind);
    } else if (from == end) {
        record_drop(h, r->behind);
    } else {
        behind->offset = from;
        behind->bytes = end - from;
        tree_update(h, r->behind);
    }
}

int hm_heap_resize(struct hm_heap *h, size_t offset, size_t asked)
{
    h->starved = false;
    uint32_t i = block_at(h, offset);
    if (i == NIL) return -ENOENT;
    kept_join(h); /* there may be room behind this block */
    if (asked == 0 || asked > h->size) return -ENOMEM;
    size_t bytes = hm_round_up(asked, HM_HEAP_MIN_ALIGN), end = room_end(h, &h->record[i]);
    if (bytes > end - offset) return -ENOMEM;
    if (records_reserve(h, 1) != 0) return -ENOMEM;
    if (bytes + h->guard <= end - offset) bytes += h->guard;
    size_t before = h->record[i].bytes;
    block_resize(h, i, end, bytes, asked);
    block_changes(h, offset, before, bytes);
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
    if (!is_block(r) || offset - r->offset >= r->asked) return false;
    *first = r->offset;
    *bytes = r->asked;
    return true;
}

bool hm_heap_before(const struct hm_heap *h, size_t offset, size_t *first, size_t *bytes)
{
    if (offset >= h->size) offset = h->size - 1;
    const struct record *r = &h->record[tree_find(h, offset)];
    while (!is_block(r) && r != &h->record[NIL]) r = &h->record[r->before];
    if (!is_block(r)) return false;
    *first = r->offset;
    *bytes = r->asked;
    return true;
}

size_t hm_heap_length(struct hm_heap *h, size_t offset)
{
    return h->record[block_at(h, offset)].asked; /* of record NIL: 0 */
}

void hm_heap_set_hints(struct hm_heap *h, size_t offset, long hints)
{
    uint32_t i = block_at(h, offset);
    if (i != NIL) h->record[i].hints = hints;
}

long hm_heap_hints(struct hm_heap *h, size_t offset)
{
    return h->record[block_at(h, offset)].hints;
}

/* Behind the last block; behind that there are free ranges and kept records, no more than twice as many as can be kept. */
static size_t top_of_blocks(const struct hm_heap *h)
{
    uint32_t i = h->record[NIL].before;
    while (i != NIL && !is_block(&h->record[i])) i = h->record[i].before;
    return i == NIL ? 0 : ((h->record[i].offset + h->record[i].bytes - 1) >> h->shift) + 1;
}

size_t hm_heap_top(struct hm_heap *h)
{
    if (h->top_sinks) {
        h->top = top_of_blocks(h);
        h->top_sinks = false;
    }
    return h->top << h->shift;
}

size_t hm_heap_free_bytes(const struct hm_heap *h)
{
    return h->free_bytes;
}
size_t hm_heap_largest(const struct hm_heap *h)
{
    return h->record[h->root].largest;
}

/* --- page changes --- */

enum which { CHANGED, TAKEN, FREED, RESTED };

static uint64_t pages_word(const struct hm_heap *h, size_t word, enum which which)
{
    uint64_t touched = h->touched[word], held = h->held[word];
    switch (which) {
    case CHANGED: return touched ^ held;
    case TAKEN: return touched & ~held;
    case FREED: return held & ~touched;
    default: return held & ~touched & h->old[word];
    }
}

/* The first page of [from, to) that is such a one (`is`), or is not; `to` where there is none. */
static size_t pages_find(const struct hm_heap *h, size_t from, size_t to, enum which which, bool is)
{
    for (size_t w = from / 64; w * 64 < to; w++) {
        uint64_t word = pages_word(h, w, which), found = (is ? word : ~word) & bits_in(w, from, to);
        if (found) return w * 64 + (size_t)__builtin_ctzll(found);
    }
    return to;
}

/* The owner is told of pages [from, to). */
static void tell(struct hm_heap *h, size_t from, size_t to, bool freed, hm_heap_visit *visit, void *arg)
{
    for (size_t w = from / 64; w <= (to - 1) / 64; w++) {
        uint64_t bits = bits_in(w, from, to);
        h->held[w] = freed ? h->held[w] & ~bits : h->held[w] | bits;
    }
    if (freed) h->resting -= to - from;
    visit(arg, from * h->page, (to - from) * h->page, freed);
}

static void tell_changes(struct hm_heap *h, size_t from, size_t to, hm_heap_visit *visit, void *arg)
{
    for (size_t i = from, end; (i = pages_find(h, i, to, CHANGED, true)) < to; i = end) {
        bool freed = h->held[i / 64] >> (i % 64) & 1;
        end = pages_find(h, i, to, freed ? FREED : TAKEN, false);
        tell(h, i, end, freed, visit, arg);
    }
}

void hm_heap_page_changes_in(struct hm_heap *h, size_t offset, size_t bytes, hm_heap_visit *visit, void *arg)
{
    h->has_new = false;
    tell_changes(h, offset >> h->shift, ((offset + bytes - 1) >> h->shift) + 1, visit, arg);
}

void hm_heap_page_changes(struct hm_heap *h, hm_heap_visit *visit, void *arg)
{
    if (h->dirty_from == h->dirty_to) return;
    tell_changes(h, h->dirty_from, h->dirty_to, visit, arg);
    h->dirty_from = h->dirty_to = 0;
    h->has_new = false;
}

bool hm_heap_has_new_pages(const struct hm_heap *h) { return h->has_new; }

bool hm_heap_pages_rested(struct hm_heap *h, hm_heap_visit *visit, void *arg)
{
    bool woken = h->woken;
    h->woken = false;
    for (size_t i = h->dirty_from, end; (i = pages_find(h, i, h->dirty_to, RESTED, true)) < h->dirty_to; i = end) {
        end = pages_find(h, i, h->dirty_to, RESTED, false);
        tell(h, i, end, true, visit, arg);
    }
    for (size_t w = h->dirty_from / 64; w * 64 < h->dirty_to; w++) h->old[w] = pages_word(h, w, FREED);
    return woken;
}

size_t hm_heap_resting(const struct hm_heap *h) { return h->resting * h->page; }

/* --- the whole structure --- */

struct walk {
    const struct hm_heap *heap;
    const char *why;
    size_t end, free_bytes; /* of the records so far, in order */
    uint32_t count, last;
    unsigned kept;
    size_t top;
    bool free; /* the record before was free */
};

static const char *record_wrong(const struct walk *w, const struct record *r, uint32_t i)
{
    const struct record *all = w->heap->record;
    if (r->offset != w->end) return "a gap or an overlap between records";
    if (r->bytes == 0 || r->bytes % HM_HEAP_MIN_ALIGN)
        return "a length that is no multiple of the least alignment";
    if (r->bytes > w->heap->size - r->offset) return "a record that ends behind the heap";
    size_t asked = hm_round_up(r->asked, HM_HEAP_MIN_ALIGN);
    if (is_block(r) && r->bytes != asked && r->bytes != asked + w->heap->guard)
        return "a block not as long as asked";
    if (!r->asked && w->free) return "two free ranges that were not joined";
    if (r->largest != largest_of(all, r)) return "a wrong largest range";
    if ((r->left != NIL && all[r->left].up != i) || (r->right != NIL && all[r->right].up != i))
        return "a child with another parent";
    if (r->left != NIL && all[r->left].rank > r->rank) return "a left child above its parent";
    if (r->right != NIL && all[r->right].rank > r->rank) return "a right child above its parent";
    return NULL;
}

static void walk_tree(struct walk *w, uint32_t i)
{
    if (i == NIL || w->why != NULL) return;
    const struct record *r = &w->heap->record[i];
    walk_tree(w, r->left);
    if (w->why != NULL) return;
    w->why = record_wrong(w, r, i);
    if (w->why == NULL && (r->before != w->last || w->heap->record[w->last].behind != i)) w->why = "a list in another order";
    w->last = i;
    w->end = r->offset + r->bytes;
    w->free = !r->asked;
    w->free_bytes += is_block(r) ? 0 : r->bytes;
    w->kept += r->asked == IS_KEPT;
    if (is_block(r)) w->top = power_up(w->end, w->heap->page);
    w->count++;
    walk_tree(w, r->right);
}

static bool kept_are_marked(const struct hm_heap *h)
{
    for (unsigned k = 0; k < h->kept_count; k++) {
        const struct record *r = &h->record[h->kept[k].record];
        if (r->asked != IS_KEPT || r->bytes != h->kept[k].bytes) return false;
    }
    return true;
}

bool hm_heap_valid(const struct hm_heap *h, const char **why)
{
    struct walk w = {.heap = h};
    walk_tree(&w, h->root);
    uint32_t unused = 0;
    for (uint32_t i = h->unused; i != NIL && unused <= h->records; i = h->record[i].left)
        unused++;
    if (w.why == NULL && (h->record[NIL].before != w.last || h->record[w.last].behind != NIL)) w.why = "a list that goes on";
    if (w.why == NULL && w.end != h->size) w.why = "records that end before the heap does";
    if (w.why == NULL && w.free_bytes != h->free_bytes) w.why = "a wrong sum of free bytes";
    if (w.why == NULL && (w.kept != h->kept_count || !kept_are_marked(h))) w.why = "a freed block that is kept nowhere";
    size_t top = h->top << h->shift;
    if (w.why == NULL && (h->top_sinks ? w.top > top : w.top != top)) w.why = "a wrong top";
    if (w.why == NULL && unused != h->unused_count) w.why = "a wrong number of unused records";
    if (w.why == NULL && w.count + unused + 1 != h->records) w.why = "a record that is lost";
    if (w.why == NULL && h->record[NIL].largest != 0) w.why = "record 0 is in use";
    *why = w.why;
    return w.why == NULL;
}

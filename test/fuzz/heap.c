/* The heap's allocator against a model that knows an owner for every 16 bytes: placement, lengths, pages,
 * sums.
 *
 *     heap [SEED [ROUNDS]]
 *
 * A failure prints the seed and the step, which is all it takes to see it again. */
/* with: src/core/heap.c src/base/os.c src/base/log.c */
/* timeout: 120 */
#define _GNU_SOURCE
#include "core/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT HM_HEAP_MIN_ALIGN
#define PAGE ((size_t)256)
#define PAGES 96
#define SIZE (PAGES * PAGE)
#define UNITS (SIZE / UNIT)
#define SLOTS 512
#define KEPT 32
#define IS_KEPT (SLOTS + 1) /* as an owner */

static uint64_t seed, state;
static long step;

static uint64_t rnd(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static size_t below(size_t n)
{
    return rnd() % n;
}

#define CHECK(cond, ...)                                                             \
    do {                                                                             \
        if (!(cond)) {                                                               \
            printf("%s:%d: seed %llu, step %ld: not true: %s: ", __FILE__, __LINE__, \
                   (unsigned long long)seed, step, #cond);                           \
            printf(__VA_ARGS__);                                                     \
            puts("");                                                                \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static void check_valid(const struct hm_heap *heap)
{
    const char *why = "";
    CHECK(hm_heap_valid(heap, &why), "%s", why);
}

/* --- the model --- */

struct block {
    size_t offset, asked, extent; /* extent: with padding and guard; asked 0: no block */
    long hints;
};

static struct model {
    struct block block[SLOTS];
    int owner[UNITS]; /* slot + 1, 0: free, IS_KEPT */
    bool held[PAGES];
    size_t guard, phase;
    struct block kept[KEPT]; /* the last that were freed, which are not joined yet */
    int kept_count;
} m;

static void model_own(const struct block *b, int owner)
{
    for (size_t u = b->offset / UNIT; u < (b->offset + b->extent) / UNIT; u++)
        m.owner[u] = owner;
}

static void model_join(void)
{
    while (m.kept_count > 0) model_own(&m.kept[--m.kept_count], 0);
}

static void model_keep(const struct block *b)
{
    if (m.guard) {
        model_own(b, 0);
        return;
    }
    if (m.kept_count == KEPT) model_join();
    m.kept[m.kept_count++] = *b;
    model_own(b, IS_KEPT);
}

/* The last kept one of just this length, or HM_HEAP_NONE, and then none is kept any more. */
static size_t model_take_kept(size_t bytes, size_t align)
{
    for (int k = m.kept_count; k-- > 0;) {
        size_t offset = m.kept[k].offset;
        if (m.kept[k].extent != bytes || (offset + m.phase) % align != 0) continue;
        m.kept[k] = m.kept[--m.kept_count];
        return offset;
    }
    model_join();
    return HM_HEAP_NONE;
}

static bool is_taken(size_t unit) { return m.owner[unit] && m.owner[unit] != IS_KEPT; }

static size_t free_run(size_t unit)
{
    size_t n = 0;
    while (unit + n < UNITS && !m.owner[unit + n])
        n++;
    return n * UNIT;
}

/* The lowest offset where a free range has room: what first fit must give. */
static size_t model_place(size_t bytes, size_t align)
{
    for (size_t o = 0; o < SIZE; o += UNIT)
        if ((o + m.phase) % align == 0 && !m.owner[o / UNIT] && free_run(o / UNIT) >= bytes) return o;
    return HM_HEAP_NONE;
}

static size_t rounded(size_t asked)
{
    return hm_round_up(asked, UNIT);
}

static void check_sums(struct hm_heap *heap)
{
    size_t sum = 0, largest = 0, top = 0;
    for (size_t u = 0; u < UNITS; u++) {
        if (is_taken(u)) top = hm_round_up((u + 1) * UNIT, PAGE);
        if (!is_taken(u)) sum += UNIT;
        if (m.owner[u]) continue;
        if (u > 0 && !m.owner[u - 1]) continue;
        if (free_run(u) > largest) largest = free_run(u);
    }
    CHECK(hm_heap_free_bytes(heap) == sum, "%zu, expected %zu", hm_heap_free_bytes(heap), sum);
    CHECK(hm_heap_largest(heap) == largest, "%zu, expected %zu", hm_heap_largest(heap), largest);
    CHECK(hm_heap_top(heap) == top, "%zu, expected %zu", hm_heap_top(heap), top);
}

static void check_find(struct hm_heap *heap, size_t offset)
{
    size_t first = 1, bytes = 1;
    bool found = hm_heap_find(heap, offset, &first, &bytes);
    int owner = offset < SIZE && is_taken(offset / UNIT) ? m.owner[offset / UNIT] : 0;
    const struct block *b = &m.block[owner ? owner - 1 : 0];
    bool inside = owner && offset - b->offset < b->asked;
    CHECK(found == inside, "offset %zu: found %d, expected %d", offset, found, inside);
    if (found)
        CHECK(first == b->offset && bytes == b->asked, "%zu+%zu, expected %zu+%zu", first, bytes, b->offset,
              b->asked);
    bool begins = owner && b->offset == offset;
    CHECK(hm_heap_length(heap, offset) == (begins ? b->asked : 0), "offset %zu: %zu", offset,
          hm_heap_length(heap, offset));
    CHECK(hm_heap_hints(heap, offset) == (begins ? b->hints : 0), "offset %zu: %ld", offset,
          hm_heap_hints(heap, offset));
}

static void check_before(const struct hm_heap *heap, size_t offset)
{
    size_t u = (offset < SIZE ? offset : SIZE - 1) / UNIT, first, bytes;
    while (u > 0 && !is_taken(u))
        u--;
    bool found = hm_heap_before(heap, offset, &first, &bytes);
    CHECK(found == is_taken(u), "offset %zu: %d", offset, found);
    if (!found) return;
    const struct block *b = &m.block[m.owner[u] - 1];
    CHECK(first == b->offset && bytes == b->asked, "%zu+%zu, expected %zu+%zu", first, bytes, b->offset,
          b->asked);
}

/* --- pages --- */

struct changes {
    size_t end;
    bool any, last_freed;
};

static void page_seen(void *arg, size_t offset, size_t bytes, bool freed)
{
    struct changes *c = arg;
    CHECK(bytes > 0 && offset % PAGE == 0 && bytes % PAGE == 0 && offset + bytes <= SIZE, "%zu+%zu", offset,
          bytes);
    CHECK(!c->any || offset >= c->end, "%zu comes behind %zu", offset, c->end);
    CHECK(!c->any || offset > c->end || freed != c->last_freed, "two ranges that touch at %zu", offset);
    for (size_t p = offset / PAGE; p < (offset + bytes) / PAGE; p++) {
        CHECK(m.held[p] == freed, "page %zu was %sheld before", p, m.held[p] ? "" : "not ");
        m.held[p] = !freed;
    }
    *c = (struct changes){offset + bytes, true, freed};
}

static void check_pages(struct hm_heap *heap)
{
    struct changes c = {0};
    hm_heap_page_changes(heap, page_seen, &c);
    for (size_t p = 0; p < PAGES; p++) {
        bool held = false;
        for (size_t u = p * PAGE / UNIT; u < (p + 1) * PAGE / UNIT; u++)
            held = held || is_taken(u);
        CHECK(m.held[p] == held, "page %zu: visited as %d, expected %d", p, m.held[p], held);
    }
}

/* --- steps --- */

static size_t random_size(void)
{
    static const size_t most[] = {15, 40, 300, 2000, SIZE + 100};
    return 1 + below(most[below(HM_COUNT(most))]);
}

/* Often one that another block had that was freed. */
static size_t asked_size(void)
{
    return m.kept_count > 0 && below(2) ? m.kept[below((size_t)m.kept_count)].extent : random_size();
}

static void step_alloc(struct hm_heap *heap, int slot)
{
    struct block *b = &m.block[slot];
    size_t asked = asked_size(), align = UNIT << (below(4) ? 0 : below(7));
    size_t extent = rounded(asked) + m.guard, expected = asked <= SIZE ? model_take_kept(extent, align) : HM_HEAP_NONE;
    if (expected == HM_HEAP_NONE && asked <= SIZE) expected = model_place(extent, align);
    if (expected == HM_HEAP_NONE && asked <= SIZE) {
        extent = rounded(asked);
        expected = model_place(extent, align);
    }
    size_t offset = hm_heap_alloc(heap, asked, align);
    CHECK(offset == expected, "%zu bytes aligned to %zu at %zd, expected %zd", asked, align, (ssize_t)offset,
          (ssize_t)expected);
    if (offset == HM_HEAP_NONE) return;
    *b = (struct block){offset, asked, extent, 0};
    model_own(b, slot + 1);
    if (below(2)) hm_heap_set_hints(heap, offset, b->hints = (long)rnd());
}

static void step_free(struct hm_heap *heap, int slot)
{
    struct block *b = &m.block[slot];
    size_t inside = b->offset + UNIT;
    if (b->extent > UNIT) CHECK(hm_heap_free(heap, inside) == -ENOENT, "freed the inside of a block");
    CHECK(hm_heap_free(heap, b->offset) == 0, "block at %zu", b->offset);
    CHECK(hm_heap_free(heap, b->offset) == -ENOENT, "freed twice");
    model_keep(b);
    b->asked = 0;
}

static void step_resize(struct hm_heap *heap, int slot)
{
    struct block *b = &m.block[slot];
    model_join();
    size_t asked = asked_size(), end = (b->offset + b->extent) / UNIT;
    size_t room = b->extent + (end < UNITS ? free_run(end) : 0);
    int expected = rounded(asked) <= room ? 0 : -ENOMEM;
    int rc = hm_heap_resize(heap, b->offset, asked);
    CHECK(rc == expected, "%zu to %zu bytes gives %d, room is %zu", b->asked, asked, rc, room);
    if (rc != 0) return;
    model_own(b, 0);
    b->asked = asked;
    b->extent = rounded(asked) + (rounded(asked) + m.guard <= room ? m.guard : 0);
    model_own(b, slot + 1);
}

static void run_against_model(long steps, size_t guard, size_t phase)
{
    struct hm_heap *heap = hm_heap_open(SIZE, PAGE);
    CHECK(heap != NULL, "open");
    memset(&m, 0, sizeof m);
    m.guard = guard;
    m.phase = phase;
    hm_heap_set_guard(heap, guard);
    hm_heap_set_phase(heap, phase);
    for (step = 0; step < steps; step++) {
        int slot = (int)below(step / 1000 % 2 ? SLOTS : 40);
        if (m.block[slot].asked == 0)
            step_alloc(heap, slot);
        else if (below(3) == 0)
            step_resize(heap, slot);
        else
            step_free(heap, slot);
        check_valid(heap);
        check_sums(heap);
        if (below(3)) check_pages(heap);
        for (int i = 0; i < 8; i++)
            check_find(heap, below(SIZE + 64));
        for (int i = 0; i < 8; i++)
            check_find(heap, m.block[below(SLOTS)].offset);
        check_before(heap, below(SIZE + 64));
    }
    hm_heap_close(heap);
}

/* Everything joins again after the heap was full, in whatever order the blocks go. */
static void run_exhaustion(size_t size, size_t block)
{
    size_t n = size / block, *at = malloc(n * sizeof *at);
    struct hm_heap *heap = hm_heap_open(size, 4096);
    CHECK(heap != NULL && at != NULL, "open");
    for (size_t i = 0; i < n; i++) {
        at[i] = hm_heap_alloc(heap, block, UNIT);
        CHECK(at[i] == i * block, "block %zu at %zd", i, (ssize_t)at[i]);
    }
    CHECK(hm_heap_alloc(heap, 1, UNIT) == HM_HEAP_NONE && !hm_heap_starved(heap), "a full heap gives more");
    CHECK(hm_heap_largest(heap) == 0 && hm_heap_free_bytes(heap) == 0 && hm_heap_top(heap) == size, "full");
    check_valid(heap);
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = below(i + 1), keep = at[i];
        at[i] = at[k];
        at[k] = keep;
    }
    for (size_t i = 0; i < n; i++) {
        CHECK(hm_heap_free(heap, at[i]) == 0, "block at %zu", at[i]);
        if (i % 4096 == 0) check_valid(heap);
    }
    check_valid(heap);
    CHECK(hm_heap_free_bytes(heap) == size && hm_heap_top(heap) == 0, "not free: %zu", hm_heap_free_bytes(heap));
    CHECK(hm_heap_alloc(heap, size, UNIT) == 0, "not joined: %zu", hm_heap_largest(heap));
    hm_heap_close(heap);
    free(at);
}

struct touched {
    uint64_t hash;
};

static void fold_page(void *arg, size_t offset, size_t bytes, bool freed)
{
    struct touched *t = arg;
    t->hash = (t->hash ^ offset ^ bytes << 20 ^ freed) * 0x100000001b3u;
}

/* Blocks of all sizes come and go in a heap of 1 GiB; two heaps that see the same calls give the same
 * offsets. */
static void run_churn(long steps)
{
    enum { LIVE = 4000 };
    static size_t at[LIVE];
    struct hm_heap *a = hm_heap_open((size_t)1 << 30, 4096), *b = hm_heap_open((size_t)1 << 30, 4096);
    struct touched ta = {0}, tb = {0};
    CHECK(a != NULL && b != NULL, "open");
    for (size_t i = 0; i < LIVE; i++)
        at[i] = HM_HEAP_NONE;
    for (step = 0; step < steps; step++) {
        size_t i = below(LIVE), bytes = 1 + below((size_t)1 << (4 + below(20))),
               align = UNIT << (below(8) ? 0 : below(10));
        if (at[i] != HM_HEAP_NONE && below(4) == 0) {
            int ra = hm_heap_resize(a, at[i], bytes), rb = hm_heap_resize(b, at[i], bytes);
            CHECK(ra == rb, "resize gives %d and %d", ra, rb);
        } else if (at[i] != HM_HEAP_NONE) {
            CHECK(hm_heap_free(a, at[i]) == 0 && hm_heap_free(b, at[i]) == 0, "free %zu", at[i]);
            at[i] = HM_HEAP_NONE;
        } else {
            at[i] = hm_heap_alloc(a, bytes, align);
            size_t other = hm_heap_alloc(b, bytes, align);
            CHECK(at[i] == other, "%zd and %zd", (ssize_t)at[i], (ssize_t)other);
            if (at[i] == HM_HEAP_NONE) continue;
            CHECK(at[i] % align == 0, "%zu is no multiple of %zu", at[i], align);
            CHECK(bytes < (64 << 10) || at[i] % HM_LINE == 0, "%zu bytes at %zu", bytes, at[i]);
        }
        hm_heap_page_changes(a, fold_page, &ta);
        hm_heap_page_changes(b, fold_page, &tb);
        CHECK(ta.hash == tb.hash, "page changes differ");
        if (step % 2000 == 0) check_valid(a);
    }
    check_valid(a);
    for (size_t i = 0; i < LIVE; i++)
        if (at[i] != HM_HEAP_NONE) CHECK(hm_heap_free(a, at[i]) == 0, "free %zu", at[i]);
    CHECK(hm_heap_alloc(a, (size_t)1 << 30, UNIT) == 0, "not joined: %zu", hm_heap_largest(a));
    hm_heap_close(a);
    hm_heap_close(b);
}

static void run_limits(void)
{
    struct hm_heap *heap = hm_heap_open((size_t)8 << 20, 4096);
    size_t first, bytes;
    CHECK(hm_heap_alloc(heap, 0, UNIT) == HM_HEAP_NONE, "nothing");
    CHECK(hm_heap_alloc(heap, SIZE_MAX, UNIT) == HM_HEAP_NONE, "all there is");
    CHECK(hm_heap_alloc(heap, SIZE_MAX - 4, UNIT) == HM_HEAP_NONE, "nearly that");
    CHECK(hm_heap_alloc(heap, (8 << 20) + 1, UNIT) == HM_HEAP_NONE, "a byte too much");
    CHECK(hm_heap_alloc(heap, 16, (size_t)1 << 62) == HM_HEAP_NONE, "an alignment beyond the heap");
    CHECK(hm_heap_alloc(heap, 16, UNIT) == 0, "the first block");
    CHECK(hm_heap_alloc(heap, 3 << 20, UNIT) == 4096, "large blocks begin on a page");
    CHECK(hm_heap_alloc(heap, 16, UNIT) == 16, "first fit");
    CHECK(hm_heap_free(heap, 4096) == 0 && hm_heap_alloc(heap, 64 << 10, UNIT) == 64,
          "64 KiB: on a cache line");
    CHECK(hm_heap_resize(heap, 0, SIZE_MAX) == -ENOMEM && hm_heap_resize(heap, 0, 0) == -ENOMEM, "resize");
    CHECK(hm_heap_resize(heap, 8, 4) == -ENOENT && hm_heap_free(heap, SIZE_MAX) == -ENOENT, "no block");
    CHECK(!hm_heap_find(heap, SIZE_MAX, &first, &bytes) && hm_heap_length(heap, SIZE_MAX) == 0, "outside");
    check_valid(heap);
    hm_heap_close(heap);
    hm_heap_close(NULL);
}

int main(int argc, char **argv)
{
    seed = state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261;
    long rounds = argc > 2 ? atol(argv[2]) : 1;
    for (long i = 0; i < rounds; i++) {
        run_against_model(4000, 0, 0);
        run_against_model(2000, 64, 0);
        run_against_model(2000, 0, 3 * PAGE);
        run_exhaustion((size_t)4 << 20, 16 << below(6));
        run_exhaustion((size_t)1 << 30, (size_t)64 << 10);
        run_churn(20000);
    }
    run_limits();
    return 0;
}

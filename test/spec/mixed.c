/* timeout: 120 */
/* Everything that may travel in different ways, mixed at random: small and large puts, strided and scattered ones, atomics
 * with and without result, blocking or not, signals, gathers, on two contexts. Each PE has areas of its own at every PE, of
 * the heap and of static data, and a model of what must be in them. Operations on one word have a fence or a quiet between
 * them, unless they add; after a quiet the areas are read back. */
#include <shmemx.h>

#include "check.h"

enum { WORDS = 512, AREAS = 2, MAX_PES = 16, STEPS = TIMES(1500), LARGE = 400 };

static uint64_t fixed[MAX_PES][WORDS]; /* [owner]: area 1 */
static uint64_t *heap;                 /* area 0 */

static struct random rnd;
static shmem_ctx_t ctx[AREAS]; /* each area is used by one context alone */

/* What has been done to a word since the last fence. */
enum { CLEAN, ADDED, WRITTEN };
static uint64_t model[AREAS][MAX_PES][WORDS];
static uint8_t state[AREAS][MAX_PES][WORDS];
static uint64_t fetched[64], expected[64]; /* nbi, until the next quiet */
static uint64_t sources[64][4];            /* of nbi puts */
static int fetches, source_count;

static uint64_t *word(int area, size_t i) { return area ? &fixed[me][i] : &heap[(size_t)me * WORDS + i]; }

static void quiet(int area)
{
    shmem_ctx_quiet(ctx[area]);
    memset(state[area], CLEAN, sizeof state[area]);
}

static void quiet_all(void)
{
    for (int area = 0; area < AREAS; area++) quiet(area);
    for (int i = 0; i < fetches; i++) CHECK_NUM(fetched[i], expected[i], "fetched %d of %d", i, fetches);
    fetches = source_count = 0;
}

/* May the words be touched now? If not, something comes in between. */
static void order(int area, int pe, size_t at, size_t n, int how)
{
    bool touched = false;
    for (size_t i = at; i < at + n; i++)
        touched |= state[area][pe][i] && (state[area][pe][i] != ADDED || how != ADDED);
    if (!touched) return;
    if (random_below(&rnd, 4)) {
        shmem_ctx_fence(ctx[area]);
        memset(state[area], CLEAN, sizeof state[area]);
    } else {
        quiet(area);
    }
}

static void note(int area, int pe, size_t at, size_t n, int how) { memset(&state[area][pe][at], how, n); }

/* --- operations --- */

static void put(int area, int pe, size_t n, bool nbi)
{
    uint64_t text[LARGE];
    size_t at = random_below(&rnd, WORDS - n);
    if (nbi && n > 4) n = 4;
    if (nbi && source_count == 64) quiet_all();
    uint64_t *from = nbi ? sources[source_count++] : text;
    order(area, pe, at, n, WRITTEN);
    for (size_t i = 0; i < n; i++) model[area][pe][at + i] = from[i] = random_next(&rnd);
    if (nbi)
        shmem_ctx_uint64_put_nbi(ctx[area], word(area, at), from, n, pe);
    else
        shmem_ctx_uint64_put(ctx[area], word(area, at), from, n, pe);
    memset(text, 0, sizeof text); /* the source may be reused */
    note(area, pe, at, n, WRITTEN);
}

/* Parts of a word. */
static void put_bytes(int area, int pe)
{
    size_t at = random_below(&rnd, WORDS), size = (size_t)1 << random_below(&rnd, 3), o = size * random_below(&rnd, 8 / size);
    uint64_t value = random_next(&rnd);
    order(area, pe, at, 1, WRITTEN);
    char *to = (char *)word(area, at) + o;
    if (size == 1)
        shmem_ctx_uint8_p(ctx[area], (uint8_t *)to, (uint8_t)value, pe);
    else if (size == 2)
        shmem_ctx_uint16_p(ctx[area], (uint16_t *)to, (uint16_t)value, pe);
    else
        shmem_ctx_uint32_p(ctx[area], (uint32_t *)to, (uint32_t)value, pe);
    memcpy((char *)&model[area][pe][at] + o, &value, size);
    note(area, pe, at, 1, WRITTEN);
}

static void put_strided(int area, int pe)
{
    uint64_t text[20];
    size_t n = 1 + random_below(&rnd, 10), step = 1 + random_below(&rnd, 9), at = random_below(&rnd, WORDS - n * step);
    order(area, pe, at, n * step, WRITTEN);
    for (size_t i = 0; i < n; i++) model[area][pe][at + i * step] = text[2 * i] = random_next(&rnd);
    shmem_ctx_uint64_iput(ctx[area], word(area, at), text, (ptrdiff_t)step, 2, n, pe);
    note(area, pe, at, n * step, WRITTEN);
}

static void silent(int area, int pe)
{
    size_t at = random_below(&rnd, WORDS);
    uint64_t value = random_next(&rnd), *to = word(area, at), *m = &model[area][pe][at];
    unsigned which = (unsigned)random_below(&rnd, 8);
    order(area, pe, at, 1, which < 4 ? ADDED : WRITTEN);
    switch (which) {
    case 0:
    case 1:
    case 2: shmem_ctx_uint64_atomic_add(ctx[area], to, value, pe), *m += value; break;
    case 3: shmem_ctx_uint64_atomic_inc(ctx[area], to, pe), ++*m; break;
    case 4: shmem_ctx_uint64_atomic_and(ctx[area], to, value, pe), *m &= value; break;
    case 5: shmem_ctx_uint64_atomic_or(ctx[area], to, value, pe), *m |= value; break;
    case 6: shmem_ctx_uint64_atomic_xor(ctx[area], to, value, pe), *m ^= value; break;
    default: shmem_ctx_uint64_atomic_set(ctx[area], to, value, pe), *m = value;
    }
    note(area, pe, at, 1, which < 4 ? ADDED : WRITTEN);
}

static void fetching(int area, int pe)
{
    size_t at = random_below(&rnd, WORDS);
    uint64_t value = random_next(&rnd), *to = word(area, at), *m = &model[area][pe][at], old = *m, seen = 0;
    order(area, pe, at, 1, WRITTEN);
    switch (random_below(&rnd, 4)) {
    case 0: seen = shmem_ctx_uint64_atomic_fetch(ctx[area], to, pe); break;
    case 1: seen = shmem_ctx_uint64_atomic_fetch_add(ctx[area], to, value, pe), *m += value; break;
    case 2: seen = shmem_ctx_uint64_atomic_swap(ctx[area], to, value, pe), *m = value; break;
    default: seen = shmem_ctx_uint64_atomic_compare_swap(ctx[area], to, old, value, pe), *m = value;
    }
    CHECK_NUM(seen, old, "area %d, PE %d, word %zu", area, pe, at);
}

static void fetching_nbi(int area, int pe)
{
    size_t at = random_below(&rnd, WORDS);
    if (fetches == 64) quiet_all();
    uint64_t value = random_next(&rnd), *to = word(area, at), *m = &model[area][pe][at], *fetch = &fetched[fetches];
    order(area, pe, at, 1, WRITTEN);
    expected[fetches++] = *m;
    switch (random_below(&rnd, 5)) {
    case 0: shmem_ctx_uint64_atomic_fetch_nbi(ctx[area], fetch, to, pe); break;
    case 1: shmem_ctx_uint64_atomic_fetch_add_nbi(ctx[area], fetch, to, value, pe), *m += value; break;
    case 2: shmem_ctx_uint64_atomic_swap_nbi(ctx[area], fetch, to, value, pe), *m = value; break;
    case 3: shmem_ctx_uint64_atomic_fetch_xor_nbi(ctx[area], fetch, to, value, pe), *m ^= value; break;
    default: shmem_ctx_uint64_atomic_compare_swap_nbi(ctx[area], fetch, to, *m + 1, value, pe);
    }
    note(area, pe, at, 1, WRITTEN);
}

static void with_signal(int area, int pe)
{
    uint64_t text[20], value = random_next(&rnd);
    size_t n = 1 + random_below(&rnd, 20), at = random_below(&rnd, WORDS - n - 1);
    bool add = random_below(&rnd, 2);
    order(area, pe, at, n + 1, WRITTEN);
    for (size_t i = 0; i < n; i++) model[area][pe][at + i] = text[i] = random_next(&rnd);
    uint64_t *m = &model[area][pe][at + n];
    *m = add ? *m + value : value;
    shmem_ctx_uint64_put_signal(ctx[area], word(area, at), text, n, word(area, at + n), value,
                                add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, pe);
    note(area, pe, at, n + 1, WRITTEN);
}

static void indexed(int area)
{
    enum { MOST = 40 };
    uint64_t text[MOST], back[MOST];
    size_t index[MOST], n = 1 + random_below(&rnd, MOST), at = random_below(&rnd, WORDS - MOST);
    int pe[MOST];
    bool add = random_below(&rnd, 2);
    for (size_t i = 0; i < n; i++) {
        pe[i] = (int)random_below(&rnd, (size_t)npes);
        index[i] = at + i;
        order(area, pe[i], index[i], 1, add ? ADDED : WRITTEN);
        text[i] = random_next(&rnd);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *m = &model[area][pe[i]][index[i]];
        *m = add ? *m + text[i] : text[i];
        note(area, pe[i], index[i], 1, add ? ADDED : WRITTEN);
    }
    (add ? shmemx_ctx_uint64_scatter_add : shmemx_ctx_uint64_scatter)(ctx[area], word(area, 0), text, index, pe, n);
    if (random_below(&rnd, 3)) return;
    quiet(area);
    shmemx_ctx_uint64_gather(ctx[area], back, word(area, 0), index, pe, n);
    for (size_t i = 0; i < n; i++) CHECK_NUM(back[i], model[area][pe[i]][index[i]], "gathered %zu of %zu", i, n);
}

static void compare(int area, int pe)
{
    static uint64_t seen[WORDS];
    quiet_all();
    shmem_ctx_uint64_get(ctx[area], seen, word(area, 0), WORDS, pe);
    for (size_t i = 0; i < WORDS; i++) CHECK_NUM(seen[i], model[area][pe][i], "area %d, PE %d, word %zu", area, pe, i);
    size_t at = random_below(&rnd, WORDS);
    CHECK_NUM(shmem_ctx_uint64_g(ctx[area], word(area, at), pe), model[area][pe][at], "PE %d, word %zu", pe, at);
}

static void step(void)
{
    int area = (int)random_below(&rnd, AREAS), pe = (int)random_below(&rnd, (size_t)npes);
    switch (random_below(&rnd, 40)) {
    case 0: put(area, pe, LARGE, false); return;
    case 1: put(area, pe, 100, false); return;
    case 2: quiet_all(); return;
    case 3: compare(area, pe); return;
    case 4:
    case 5: fetching(area, pe); return;
    case 6:
    case 7:
    case 8: fetching_nbi(area, pe); return;
    case 9:
    case 10: with_signal(area, pe); return;
    case 11:
    case 12: indexed(area); return;
    case 13:
    case 14: put_strided(area, pe); return;
    case 15:
    case 16:
    case 17: put_bytes(area, pe); return;
    case 18:
    case 19:
    case 20:
    case 21: put(area, pe, 1 + random_below(&rnd, 4), true); return;
    case 22:
    case 23:
    case 24:
    case 25:
    case 26: put(area, pe, 1 + random_below(&rnd, 6), false); return;
    default: silent(area, pe);
    }
}

int main(int argc, char **argv)
{
    check_start();
    if (npes > MAX_PES) return 77;
    rnd.state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000003 + (uint64_t)me * 7919;
    heap = shmem_calloc((size_t)npes * WORDS, sizeof *heap);
    ctx[0] = SHMEM_CTX_DEFAULT;
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx[1])) shmem_global_exit(1);
    for (int round = 0; round < 3; round++) {
        shmem_ctx_session_start(ctx[1], round ? SHMEM_CTX_SESSION_BATCH : 0, NULL, 0);
        for (int i = 0; i < STEPS; i++) step();
        shmem_ctx_session_stop(ctx[1]);
        shmem_barrier_all();
    }
    quiet_all();
    for (int pe = 0; pe < npes; pe++)
        for (int area = 0; area < AREAS; area++) compare(area, pe);
    shmem_barrier_all();
    shmem_ctx_destroy(ctx[1]);
    shmem_free(heap);
    return check_end();
}

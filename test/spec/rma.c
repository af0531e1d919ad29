/* Put, get, p, g, their non-blocking and context forms, for every type, size and for bytes; on the heap and
 * in static data; to a neighbour and to oneself; of no elements. Every element is looked at, and those around
 * them too. */
/* env: SHMEM_SYMMETRIC_SIZE=64M */
#include "check.h"

#define N 37
#define EDGE 2 /* elements on either side that must stay as they were */

static shmem_ctx_t ctx;

/* All N elements have come from `from`, and nothing else has changed. */
#define CHECK_ALL(TYPE, NAME, array, from, round, what)                                        \
    for (int i = -EDGE; i < N + EDGE; i++) {                                                   \
        TYPE expected = i >= 0 && i < N ? VALUE(TYPE, from, i, round) : VALUE(TYPE, 99, i, 0); \
        CHECK_NUM((array)[EDGE + i], expected, #NAME " %s: element %d", what, i);              \
    }

#define FILL(TYPE, array, pe, round)       \
    for (int i = -EDGE; i < N + EDGE; i++) \
    (array)[EDGE + i] = i >= 0 && i < N ? VALUE(TYPE, pe, i, round) : VALUE(TYPE, 99, i, 0)

/* The left neighbour has put: `put` is a statement that sends `from_here` to the right. */
#define TEST_PUT(TYPE, NAME, what, put)                 \
    do {                                                \
        round++;                                        \
        FILL(TYPE, seen, 77, round);                    \
        lay(dest, seen, sizeof seen);                   \
        for (int i = 0; i < N; i++)                     \
            mine[i] = VALUE(TYPE, me, i, round);        \
        shmem_barrier_all();                            \
        put;                                            \
        shmem_barrier_all();                            \
        look(seen, dest, sizeof seen);                  \
        CHECK_ALL(TYPE, NAME, seen, left, round, what); \
        shmem_barrier_all();                            \
    } while (0)

/* From the right neighbour into private memory. */
#define TEST_GET(TYPE, NAME, what, get)                 \
    do {                                                \
        round++;                                        \
        FILL(TYPE, seen, me, round);                    \
        lay(dest, seen, sizeof seen);                   \
        FILL(TYPE, got, 55, round);                     \
        shmem_barrier_all();                            \
        get;                                            \
        CHECK_ALL(TYPE, NAME, got, right, round, what); \
        shmem_barrier_all();                            \
    } while (0)

#define DEFINE(TYPE, NAME)                                                                                   \
    static TYPE static_##NAME[N + 2 * EDGE];                                                                 \
    static void test_##NAME(TYPE *dest, const char *where)                                                   \
    {                                                                                                        \
        static int round;                                                                                    \
        TYPE mine[N], got[N + 2 * EDGE], seen[N + 2 * EDGE], *d = dest + EDGE, *g = got + EDGE;              \
        TEST_PUT(TYPE, NAME, where, shmem_##NAME##_put(d, mine, N, right));                                  \
        TEST_PUT(TYPE, NAME, where, shmem_ctx_##NAME##_put(SHMEM_CTX_DEFAULT, d, mine, N, right));           \
        TEST_PUT(TYPE, NAME, where, (shmem_ctx_##NAME##_put(ctx, d, mine, N, right), shmem_ctx_quiet(ctx))); \
        TEST_PUT(TYPE, NAME, where, shmem_##NAME##_put_nbi(d, mine, N, right));                              \
        TEST_PUT(TYPE, NAME, where,                                                                          \
                 (shmem_ctx_##NAME##_put_nbi(ctx, d, mine, N, right), shmem_ctx_quiet(ctx)));                \
        TEST_PUT(TYPE, NAME, where, for (int i = 0; i < N; i++) shmem_##NAME##_p(d + i, mine[i], right));    \
        TEST_PUT(TYPE, NAME, where,                                                                          \
                 for (int i = N - 1; i >= 0; i--) shmem_ctx_##NAME##_p(ctx, d + i, mine[i], right);          \
                 shmem_ctx_quiet(ctx));                                                                      \
        TEST_PUT(TYPE, NAME, where,                                                                          \
                 for (int i = 0; i < N; i++) shmem_##NAME##_put(d + i, mine + i, 1, right));                 \
        TEST_GET(TYPE, NAME, where, shmem_##NAME##_get(g, d, N, right));                                     \
        TEST_GET(TYPE, NAME, where, shmem_ctx_##NAME##_get(ctx, g, d, N, right));                            \
        TEST_GET(TYPE, NAME, where, (shmem_##NAME##_get_nbi(g, d, N, right), shmem_quiet()));                \
        TEST_GET(TYPE, NAME, where,                                                                          \
                 (shmem_ctx_##NAME##_get_nbi(ctx, g, d, N, right), shmem_ctx_quiet(ctx)));                   \
        TEST_GET(TYPE, NAME, where, for (int i = 0; i < N; i++) g[i] = shmem_##NAME##_g(d + i, right));      \
        TEST_GET(TYPE, NAME, where,                                                                          \
                 for (int i = 0; i < N; i++) g[i] = shmem_ctx_##NAME##_g(ctx, d + i, right));                \
        /* nothing happens, whatever the pointers are */                                                     \
        TEST_GET(TYPE, NAME, where, {                                                                        \
            shmem_##NAME##_put(NULL, NULL, 0, right);                                                        \
            shmem_##NAME##_put_nbi(NULL, NULL, 0, right);                                                    \
            shmem_##NAME##_put(d, mine, 0, right);                                                           \
            shmem_##NAME##_get(NULL, NULL, 0, right);                                                        \
            shmem_##NAME##_get_nbi(NULL, NULL, 0, right);                                                    \
            shmem_##NAME##_get(g, d, 0, right);                                                              \
            shmem_##NAME##_get(g, d, N, right);                                                              \
        });                                                                                                  \
        /* oneself: what is there afterwards is what left says of itself */                                  \
        round++;                                                                                             \
        FILL(TYPE, seen, 77, round);                                                                         \
        lay(dest, seen, sizeof seen);                                                                        \
        for (int i = 0; i < N; i++)                                                                          \
            mine[i] = VALUE(TYPE, me, i, round);                                                             \
        shmem_##NAME##_put(d, mine, N - 1, me);                                                              \
        shmem_##NAME##_p(d + N - 1, mine[N - 1], me);                                                        \
        shmem_quiet();                                                                                       \
        look(seen, dest, sizeof seen);                                                                       \
        CHECK_ALL(TYPE, NAME, seen, me, round, "to oneself");                                                \
        FILL(TYPE, got, 55, round);                                                                          \
        shmem_##NAME##_get(g, d, N - 1, me);                                                                 \
        g[N - 1] = shmem_##NAME##_g(d + N - 1, me);                                                          \
        CHECK_ALL(TYPE, NAME, got, me, round, "from oneself");                                               \
        shmem_barrier_all();                                                                                 \
    }
SHMEM_RMA_TYPES(DEFINE)

/* --- forms without a type --- */

typedef void put_fn(void *, const void *, size_t, int);
typedef void ctx_put_fn(shmem_ctx_t, void *, const void *, size_t, int);

static const struct untyped {
    const char *name;
    size_t size;
    put_fn *put, *put_nbi, *get, *get_nbi;
    ctx_put_fn *ctx_put, *ctx_put_nbi, *ctx_get, *ctx_get_nbi;
} untyped[] = {
#define ROW(STEM, BYTES)        \
    {#STEM,                     \
     BYTES,                     \
     shmem_put##STEM,           \
     shmem_put##STEM##_nbi,     \
     shmem_get##STEM,           \
     shmem_get##STEM##_nbi,     \
     shmem_ctx_put##STEM,       \
     shmem_ctx_put##STEM##_nbi, \
     shmem_ctx_get##STEM,       \
     shmem_ctx_get##STEM##_nbi},
    SHMEM_SIZES(ROW) ROW(mem, 1)
#undef ROW
};

static __attribute__((aligned(16))) unsigned char static_bytes[2048];

static void check_bytes(const unsigned char *bytes, size_t n, size_t at, int from, int round,
                        const char *what)
{
    for (size_t k = 0; k < n + 2 * at; k++) {
        unsigned char expected = k >= at && k < at + n ? VALUE(unsigned char, from, k - at, round) : 0xee;
        CHECK_NUM(bytes[k], expected, "%s of %zu bytes: byte %zd", what, n, (ssize_t)(k - at));
    }
}

static void fill_bytes(unsigned char *bytes, size_t n, size_t at, int pe, int round)
{
    memset(bytes, 0xee, n + 2 * at);
    for (size_t k = 0; k < n; k++)
        bytes[at + k] = VALUE(unsigned char, pe, k, round);
}

/* Form `way` of put and of get, of `nelems` elements; at: bytes in front. */
static void test_untyped_way(const struct untyped *u, unsigned char *dest, size_t nelems, size_t at, int way)
{
    static int round;
    __attribute__((aligned(16))) unsigned char mine[1200], got[1200], seen[1200];
    size_t n = nelems * u->size;
    round++;
    lay_byte(dest, 0xee, n + 2 * at);
    fill_bytes(mine, n, at, me, round);
    shmem_barrier_all();
    switch (way) {
    case 0:
        u->put(dest + at, mine + at, nelems, right);
        break;
    case 1:
        u->put_nbi(dest + at, mine + at, nelems, right);
        break;
    case 2:
        u->ctx_put(ctx, dest + at, mine + at, nelems, right);
        break;
    case 3:
        u->ctx_put_nbi(ctx, dest + at, mine + at, nelems, right);
        break;
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    look(seen, dest, n + 2 * at);
    check_bytes(seen, n, at, left, round, u->name);
    memset(got, 0xee, sizeof got);
    switch (way) {
    case 0:
        u->get(got + at, dest + at, nelems, right);
        break;
    case 1:
        u->get_nbi(got + at, dest + at, nelems, right);
        break;
    case 2:
        u->ctx_get(ctx, got + at, dest + at, nelems, right);
        break;
    case 3:
        u->ctx_get_nbi(ctx, got + at, dest + at, nelems, right);
        break;
    }
    shmem_ctx_quiet(ctx);
    shmem_quiet();
    check_bytes(got, n, at, me, round, u->name);
    shmem_barrier_all();
}

static void test_untyped(unsigned char *dest)
{
    static const size_t counts[] = {0, 1, 2, 3, 8, 17, 64};
    for (size_t i = 0; i < sizeof untyped / sizeof untyped[0]; i++) {
        const struct untyped *u = &untyped[i];
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            for (int way = 0; way < 4; way++)
                test_untyped_way(u, dest, counts[k], 16, way);
        u->put(NULL, NULL, 0, right);
        u->get(NULL, NULL, 0, right);
        u->put_nbi(NULL, NULL, 0, right);
        u->get_nbi(NULL, NULL, 0, right);
    }
    /* bytes need no alignment */
    for (size_t at = 1; at < 16; at += 2)
        for (int way = 0; way < 4; way++)
            test_untyped_way(&untyped[5], dest, 333 + at, at, way);
}

/* Large ones, also with lengths that are no power of two. */
static void test_large(void)
{
    static const size_t counts[] = {4096, 65537, 1 << 20, (1 << 22) + 3};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t n = counts[i], wrong = 0;
        uint32_t *dest = shmem_malloc(n * sizeof *dest), *mine = malloc(n * sizeof *mine);
        for (size_t k = 0; k < n; k++)
            mine[k] = (uint32_t)(k * 2654435761u) ^ (uint32_t)me;
        shmem_uint32_put(dest, mine, n, right);
        shmem_barrier_all();
        look(mine, dest, n * sizeof *mine);
        for (size_t k = 0; k < n; k++)
            wrong += mine[k] != ((uint32_t)(k * 2654435761u) ^ (uint32_t)left);
        CHECK_NUM(wrong, (size_t)0, "elements of %zu that were put", n);
        shmem_uint32_get(mine, dest, n, left); /* there lies what came from its own left */
        uint32_t from = (uint32_t)((left + npes - 1) % npes);
        for (size_t k = 0; k < n; k++)
            wrong += mine[k] != ((uint32_t)(k * 2654435761u) ^ from);
        CHECK_NUM(wrong, (size_t)0, "elements of %zu that were got", n);
        shmem_barrier_all();
        shmem_free(dest);
        free(mine);
    }
}

/* Every PE writes one element into every PE's array, itself included. */
static void test_everybody(void)
{
    long *table = shmem_calloc((size_t)npes, sizeof *table);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&table[me], 1000L * me + pe, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        CHECK_NUM(LOOK(&table[pe]), 1000L * pe + me, "from PE %d", pe);
        CHECK_NUM(shmem_long_g(&table[me], pe), 1000L * me + pe, "at PE %d", pe);
    }
    shmem_barrier_all();
    shmem_free(table);
}

int main(void)
{
    check_start();
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    char *heap = shmem_align(64, 4096);
#define TEST(TYPE, NAME)                  \
    test_##NAME(static_##NAME, "static"); \
    test_##NAME((TYPE *)heap, "heap");
    SHMEM_RMA_TYPES(TEST)
#undef TEST
    test_untyped(static_bytes);
    test_untyped((unsigned char *)heap);
    shmem_free(heap);
    test_large();
    test_everybody();
    shmem_ctx_destroy(ctx);
    return check_end();
}

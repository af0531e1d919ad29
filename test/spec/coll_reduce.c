/* timeout: 120 */
/* Every reduction and scan of every type over teams of every shape, into another place and in place, with sizes around
 * those where the library changes its way; each element checked against a loop over the members. */
#include <complex.h>

#include "check.h"
#include "groups.h"

enum { MOST = 2500, GUARD = 16, BYTES = MOST * 16, COUNTS = 8, PLACES = 8 };

static char *places, *dest, *source; /* dest goes round in places, so that calls follow each other without a pause */
static __attribute__((aligned(16))) char mine[BYTES], seen[BYTES + GUARD]; /* what source and dest hold, private */
static int call_number;

static size_t count_of(int k, size_t size)
{
    const size_t n[] = {0, 5, 256 / size, 256 / size + 1, 1, 256 / size - 1, 300, MOST};
    return n[k];
}

/* Small values for sums and products: the result is exact in every type, in every order. */
static int small_value(int pe, size_t i, int call)
{
    return (int)(check_mix((uint64_t)pe << 40 ^ (uint64_t)call << 20 ^ i) % 5) - 2;
}

#define SMALL(TYPE, pe, i) ((TYPE)small_value(pe, i, call_number))
#define WIDE(TYPE, pe, i) VALUE(TYPE, pe, i, call_number)
#define OP_SUM(TYPE, a, b) ((TYPE)((a) + (b)))
#define OP_PROD(TYPE, a, b) ((TYPE)((a) * (b)))
#define OP_MAX(TYPE, a, b) ((a) > (b) ? (a) : (b))
#define OP_MIN(TYPE, a, b) ((a) < (b) ? (a) : (b))
#define OP_AND(TYPE, a, b) ((TYPE)((a) & (b)))
#define OP_OR(TYPE, a, b) ((TYPE)((a) | (b)))
#define OP_XOR(TYPE, a, b) ((TYPE)((a) ^ (b)))

static void next_place(const struct group *g)
{
    int place = ++call_number % PLACES;
    dest = places + (size_t)place * (BYTES + GUARD);
    if (place) return;
    shmem_team_sync(g->team);
    lay_byte(places, 0xa5, PLACES * (BYTES + GUARD));
    shmem_team_sync(g->team);
}

static void check_guard(const struct group *g, const char *what, size_t bytes)
{
    for (size_t i = bytes; i < bytes + GUARD; i++)
        CHECK((unsigned char)seen[i] == 0xa5, "%s over %s: byte %zu behind the end of dest was written", what, g->name,
              i - bytes);
}

/* The values are compared as they are, complex ones too. FROM .. TO: the members that count. */
#define TEST(CALL, TYPE, DATA, OP, FROM, TO, START)                                                                    \
    static void CALL##_test(const struct group *g, size_t n, bool in_place)                                            \
    {                                                                                                                  \
        next_place(g);                                                                                                 \
        TYPE *from = in_place ? (TYPE *)dest : (TYPE *)source, *to = (TYPE *)dest, *in = (TYPE *)seen;                 \
        for (size_t i = 0; i < n; i++) ((TYPE *)mine)[i] = DATA(TYPE, me, i);                                          \
        lay(from, mine, n * sizeof(TYPE));                                                                             \
        if (in_place) shmem_team_sync(g->team);                                                                        \
        CHECK_NUM(CALL(g->team, to, from, n), 0, #CALL " over %s", g->name);                                           \
        look(in, to, n * sizeof(TYPE) + GUARD);                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                               \
            TYPE want = START;                                                                                         \
            for (int k = FROM; k < (TO); k++) {                                                                        \
                TYPE part = DATA(TYPE, g->pe[k], i);                                                                   \
                want = k == 0 ? part : OP(TYPE, want, part);                                                           \
            }                                                                                                          \
            CHECK(in[i] == want, #CALL " over %s, %zu elements%s: element %zu", g->name, n,                            \
                  in_place ? " in place" : "", i);                                                                     \
        }                                                                                                              \
        check_guard(g, #CALL, n * sizeof(TYPE));                                                                       \
    }

#define BITS(TYPE, NAME)                                                                                               \
    TEST(shmem_##NAME##_and_reduce, TYPE, WIDE, OP_AND, 0, g->n, 0)                                                    \
    TEST(shmem_##NAME##_or_reduce, TYPE, WIDE, OP_OR, 0, g->n, 0)                                                      \
    TEST(shmem_##NAME##_xor_reduce, TYPE, WIDE, OP_XOR, 0, g->n, 0)
#define ORDER(TYPE, NAME)                                                                                              \
    TEST(shmem_##NAME##_max_reduce, TYPE, WIDE, OP_MAX, 0, g->n, 0)                                                    \
    TEST(shmem_##NAME##_min_reduce, TYPE, WIDE, OP_MIN, 0, g->n, 0)
#define ARITHMETIC(TYPE, NAME)                                                                                         \
    TEST(shmem_##NAME##_sum_reduce, TYPE, SMALL, OP_SUM, 0, g->n, 0)                                                   \
    TEST(shmem_##NAME##_prod_reduce, TYPE, SMALL, OP_PROD, 0, g->n, 0)                                                 \
    TEST(shmem_##NAME##_sum_inscan, TYPE, SMALL, OP_SUM, 0, g->me + 1, 0)                                              \
    TEST(shmem_##NAME##_sum_exscan, TYPE, SMALL, OP_SUM, 0, g->me, 0)
SHMEM_REDUCE_BITWISE_TYPES(BITS)
SHMEM_REDUCE_COMPARE_TYPES(ORDER)
SHMEM_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)

#define RUN(CALL, TYPE)                                                                                                \
    CALL##_test(g, count_of(k, sizeof(TYPE)), (k + which) & 1);
#define RUN_BITS(TYPE, NAME)                                                                                           \
    RUN(shmem_##NAME##_and_reduce, TYPE)                                                                               \
    RUN(shmem_##NAME##_or_reduce, TYPE)                                                                                \
    RUN(shmem_##NAME##_xor_reduce, TYPE)
#define RUN_ORDER(TYPE, NAME) RUN(shmem_##NAME##_max_reduce, TYPE) RUN(shmem_##NAME##_min_reduce, TYPE)
#define RUN_ARITHMETIC(TYPE, NAME)                                                                                     \
    RUN(shmem_##NAME##_sum_reduce, TYPE)                                                                               \
    RUN(shmem_##NAME##_prod_reduce, TYPE)                                                                              \
    RUN(shmem_##NAME##_sum_inscan, TYPE)                                                                               \
    RUN(shmem_##NAME##_sum_exscan, TYPE)

/* Over the world everything, over other teams a part that differs from team to team; every second size in place, other
 * ones on every second team. */
static void test_group(int which)
{
    const struct group *g = &groups[which];
    call_number = which * 10000 * PLACES - 1;
    for (int k = 0; k < COUNTS; k++) {
        int type = 0;
#define IF_DUE(RUN, TYPE, NAME)                                                                                        \
    if (which == 0 || (k + type++ + which) % 4 == 0) { RUN(TYPE, NAME) }
#define DUE_BITS(TYPE, NAME) IF_DUE(RUN_BITS, TYPE, NAME)
#define DUE_ORDER(TYPE, NAME) IF_DUE(RUN_ORDER, TYPE, NAME)
#define DUE_ARITHMETIC(TYPE, NAME) IF_DUE(RUN_ARITHMETIC, TYPE, NAME)
        SHMEM_REDUCE_BITWISE_TYPES(DUE_BITS)
        SHMEM_REDUCE_COMPARE_TYPES(DUE_ORDER)
        SHMEM_REDUCE_ARITHMETIC_TYPES(DUE_ARITHMETIC)
    }
}

/* Sums beyond the range of a signed type wrap as those of an unsigned one do; -0.0 keeps its sign. */
static void edges(void)
{
    long *l = (long *)source, *m = (long *)dest;
    shmem_sync_all();
    LAY(l, me ? 1 : INT64_MAX);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, l, 1);
    CHECK_NUM(LOOK(m), (long)((uint64_t)INT64_MAX + (uint64_t)(npes - 1)), "wrap");
    double *d = (double *)source, *e = (double *)dest;
    shmem_sync_all();
    LAY(d, -0.0);
    shmem_double_sum_inscan(SHMEM_TEAM_WORLD, e, d, 1);
    double sum = LOOK(e);
    CHECK(sum == 0.0 && __builtin_signbit(sum), "the sum of -0.0 has lost its sign");
    shmem_sync_all();
    shmem_double_sum_exscan(SHMEM_TEAM_WORLD, e, d, 1);
    sum = LOOK(e);
    CHECK(sum == 0.0 && (me ? 1 : !__builtin_signbit(sum)), "PE 0 of an exclusive scan gets 0");
}

int main(void)
{
    check_start();
    places = shmem_malloc(PLACES * (BYTES + GUARD));
    source = shmem_malloc(BYTES);
    groups_make();
    for (int g = 0; g < group_count; g++)
        if (groups[g].me >= 0) test_group(g);
    edges();
    groups_destroy();
    return check_end();
}

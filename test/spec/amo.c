/* Atomics: every type and operation against a sequential model, with neighbours that others change meanwhile;
 * what is drawn from one counter by all PEs is drawn once; the names of before 1.4. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "check.h"

#define STEPS 150

static shmem_ctx_t ctx;

/* On each PE there is a cell for every PE, so cells that touch are changed by different PEs at once. The
 * owner of the memory replays at the end what each of them must have done. */
#define CELLS 64

/* The n-th operation of PE pe on the cell it has on PE target. */
struct step {
    int op;
    bool use_ctx, nbi;
    uint64_t value, cond;
};

static struct step draw(int pe, int target, int n, int type, int ops)
{
    struct random r = {
        check_mix((uint64_t)type << 48 ^ (uint64_t)pe << 32 ^ (uint64_t)target << 16 ^ (uint64_t)n)};
    struct step s = {.op = (int)random_below(&r, (size_t)ops)};
    s.use_ctx = random_below(&r, 2);
    s.nbi = random_below(&r, 2);
    s.value = random_next(&r);
    s.cond = random_below(&r, 2); /* 1: the value that is there */
    return s;
}

enum { FETCH, SET, SWAP, CAS, FINC, INC, FADD, ADD, FAND, AND, FOR, OR, FXOR, XOR };

#define EITHER(call, ctx_call) \
    do {                       \
        if (s.use_ctx)         \
            ctx_call;          \
        else                   \
            call;              \
    } while (0)

/* A fetching operation, in its four forms. */
#define FETCHING(NAME, op, ...)                                                    \
    do {                                                                           \
        if (s.nbi) {                                                               \
            EITHER(shmem_##NAME##_atomic_##op##_nbi(&seen, __VA_ARGS__),           \
                   shmem_ctx_##NAME##_atomic_##op##_nbi(ctx, &seen, __VA_ARGS__)); \
            shmem_quiet();                                                         \
            shmem_ctx_quiet(ctx);                                                  \
        } else {                                                                   \
            EITHER(seen = shmem_##NAME##_atomic_##op(__VA_ARGS__),                 \
                   seen = shmem_ctx_##NAME##_atomic_##op(ctx, __VA_ARGS__));       \
        }                                                                          \
        CHECK_NUM(seen, *model, #NAME " " #op " at PE %d, step %d", target, n);    \
    } while (0)

/* One without a result is complete behind a quiet of its context: the next one may take the other context. */
#define PLAIN(NAME, op, ...)                                                                               \
    do {                                                                                                   \
        EITHER(shmem_##NAME##_atomic_##op(__VA_ARGS__), shmem_ctx_##NAME##_atomic_##op(ctx, __VA_ARGS__)); \
        EITHER(shmem_quiet(), shmem_ctx_quiet(ctx));                                                       \
    } while (0)

/* One step of the caller: does it (where `real`), and does it to the model. `bits` are the cases of bitwise
 * types. */
#define DEFINE_STEP(TYPE, NAME, ADDING, BITS)                                                     \
    static void step_##NAME(TYPE *cell, TYPE *model, struct step s, int target, int n, bool real) \
    {                                                                                             \
        TYPE seen = 0, value = (TYPE)(int64_t)s.value,                                            \
             cond = s.cond ? *model : (TYPE)(int64_t)(s.value >> 7);                              \
        (void)cond;                                                                               \
        switch (s.op) {                                                                           \
        case FETCH:                                                                               \
            if (real) FETCHING(NAME, fetch, cell, target);                                        \
            break;                                                                                \
        case SET:                                                                                 \
            if (real) PLAIN(NAME, set, cell, value, target);                                      \
            *model = value;                                                                       \
            break;                                                                                \
        case SWAP:                                                                                \
            if (real) FETCHING(NAME, swap, cell, value, target);                                  \
            *model = value;                                                                       \
            break;                                                                                \
            ADDING(TYPE, NAME) BITS(TYPE, NAME)                                                   \
        }                                                                                         \
    }

#define WRAP(TYPE, a, b) ((TYPE)((uint64_t)(a) + (uint64_t)(b)))

#define ADDING_CASES(TYPE, NAME)                                           \
    case CAS:                                                              \
        if (real) FETCHING(NAME, compare_swap, cell, cond, value, target); \
        if (*model == cond) *model = value;                                \
        break;                                                             \
    case FINC:                                                             \
        if (real) FETCHING(NAME, fetch_inc, cell, target);                 \
        *model = WRAP(TYPE, *model, 1);                                    \
        break;                                                             \
    case INC:                                                              \
        if (real) PLAIN(NAME, inc, cell, target);                          \
        *model = WRAP(TYPE, *model, 1);                                    \
        break;                                                             \
    case FADD:                                                             \
        if (real) FETCHING(NAME, fetch_add, cell, value, target);          \
        *model = WRAP(TYPE, *model, value);                                \
        break;                                                             \
    case ADD:                                                              \
        if (real) PLAIN(NAME, add, cell, value, target);                   \
        *model = WRAP(TYPE, *model, value);                                \
        break;

#define BIT_CASE(NAME, FETCH_OP, PLAIN_OP, f, p, symbol)  \
    case FETCH_OP:                                        \
        if (real) FETCHING(NAME, f, cell, value, target); \
        *model = *model symbol value;                     \
        break;                                            \
    case PLAIN_OP:                                        \
        if (real) PLAIN(NAME, p, cell, value, target);    \
        *model = *model symbol value;                     \
        break;
#define BIT_CASES(TYPE, NAME)                    \
    BIT_CASE(NAME, FAND, AND, fetch_and, and, &) \
    BIT_CASE(NAME, FOR, OR, fetch_or, or, |)     \
    BIT_CASE(NAME, FXOR, XOR, fetch_xor, xor, ^)
#define NOTHING(TYPE, NAME)

#define RUN(TYPE, NAME, can)                                                                     \
    static void test_##NAME(int type)                                                            \
    {                                                                                            \
        PLACED(TYPE, cells, CELLS + 2);                                                          \
        TYPE *cell = &cells[1], seen[CELLS + 2];                                                 \
        for (int i = 0; i < CELLS + 2; i++)                                                      \
            seen[i] = VALUE(TYPE, me, i, type);                                                  \
        lay(cells, seen, sizeof seen);                                                           \
        shmem_barrier_all();                                                                     \
        for (int k = 0; k < npes; k++) {                                                         \
            int target = (me + k) % npes;                                                        \
            TYPE model = VALUE(TYPE, target, me + 1, type);                                      \
            for (int n = 0; n < STEPS; n++)                                                      \
                step_##NAME(&cell[me], &model, draw(me, target, n, type, can), target, n, true); \
            TYPE last = shmem_##NAME##_g(&cell[me], target);                                     \
            CHECK_NUM(last, model, #NAME " at PE %d in the end", target);                        \
        }                                                                                        \
        shmem_barrier_all();                                                                     \
        look(seen, cells, sizeof seen);                                                          \
        for (int pe = 0; pe < npes; pe++) {                                                      \
            TYPE model = VALUE(TYPE, me, pe + 1, type);                                          \
            for (int n = 0; n < STEPS; n++)                                                      \
                step_##NAME(&cell[pe], &model, draw(pe, me, n, type, can), me, n, false);        \
            CHECK_NUM(seen[1 + pe], model, #NAME " cell of PE %d", pe);                          \
        }                                                                                        \
        TYPE first = VALUE(TYPE, me, 0, type), last = VALUE(TYPE, me, npes + 1, type);           \
        CHECK_NUM(seen[0], first, #NAME " in front of the cells");                               \
        CHECK_NUM(seen[npes + 1], last, #NAME " behind the cells");                              \
        shmem_barrier_all();                                                                     \
    }

#define DEFINE_EXTENDED(TYPE, NAME) DEFINE_STEP(TYPE, NAME, NOTHING, NOTHING) RUN(TYPE, NAME, 3)
#define DEFINE_ADDING(TYPE, NAME) DEFINE_STEP(TYPE, NAME, ADDING_CASES, NOTHING) RUN(TYPE, NAME, 8)
#define DEFINE_BITWISE(TYPE, NAME) DEFINE_STEP(TYPE, NAME, ADDING_CASES, BIT_CASES) RUN(TYPE, NAME, 14)

DEFINE_EXTENDED(float, float)
DEFINE_EXTENDED(double, double)
DEFINE_ADDING(int, int)
DEFINE_ADDING(long, long)
DEFINE_ADDING(long long, longlong)
DEFINE_ADDING(size_t, size)
DEFINE_ADDING(ptrdiff_t, ptrdiff)
SHMEM_AMO_BITWISE_TYPES(DEFINE_BITWISE)

/* --- all PEs on one word --- */

#define DRAWS TIMES(500)
static int draws = DRAWS; /* fewer on devices, where each costs its owner two copies */
static int drawn[CELLS * DRAWS * 2];

/* Tickets: each number goes to one PE. */
#define DEFINE_TICKETS(TYPE, NAME)                                                                             \
    static void tickets_##NAME(void)                                                                           \
    {                                                                                                          \
        PLACED(TYPE, counter, 1);                                                                              \
        PLACED(TYPE, by_cas, 1);                                                                               \
        PLACED(TYPE, by_add, 1);                                                                               \
        static int last_round;                                                                                 \
        int target = last_round++ % npes, all = npes * draws * 2;                                              \
        LAY(counter, 0);                                                                                       \
        LAY(by_cas, 0);                                                                                        \
        LAY(by_add, 0);                                                                                        \
        memset(drawn, 0, sizeof drawn);                                                                        \
        shmem_barrier_all();                                                                                   \
        for (int i = 0; i < draws; i++) {                                                                      \
            TYPE a = shmem_##NAME##_atomic_fetch_inc(counter, target);                                         \
            TYPE b = shmem_##NAME##_atomic_fetch_add(counter, 1, target);                                      \
            bool in_range = (uint64_t)a < (uint64_t)all && (uint64_t)b < (uint64_t)all;                        \
            CHECK(in_range, #NAME " tickets %lld, %lld", (long long)a, (long long)b);                          \
            if (!in_range) break;                                                                              \
            CHECK((long long)b > (long long)a, #NAME " tickets %lld, %lld", (long long)a, (long long)b);       \
            shmem_int_atomic_inc(&drawn[a], 0);                                                                \
            shmem_int_atomic_inc(&drawn[b], 0);                                                                \
            shmem_##NAME##_atomic_add(by_add, 2, target);                                                      \
            shmem_##NAME##_atomic_inc(by_add, target);                                                         \
            TYPE seen = shmem_##NAME##_atomic_fetch(by_cas, target), before;                                   \
            while ((before = shmem_##NAME##_atomic_compare_swap(by_cas, seen, seen + 3, target)) != seen)      \
                seen = before;                                                                                 \
        }                                                                                                      \
        shmem_barrier_all();                                                                                   \
        if (me == 0)                                                                                           \
            for (int i = 0; i < all; i++)                                                                      \
                CHECK_NUM(drawn[i], 1, #NAME " ticket %d", i);                                                 \
        if (me == target) CHECK_NUM(LOOK(counter), (TYPE)all, #NAME " counter");                               \
        if (me == target) CHECK_NUM(LOOK(by_cas), (TYPE)(npes * draws * 3), #NAME " counter by compare_swap"); \
        if (me == target) CHECK_NUM(LOOK(by_add), (TYPE)(npes * draws * 3), #NAME " counter by add and inc");  \
        shmem_barrier_all();                                                                                   \
    }
SHMEM_AMO_TYPES(DEFINE_TICKETS)

/* Every PE owns a bit: what the others do to theirs leaves it alone. */
#define DEFINE_BITS(TYPE, NAME)                                                                              \
    static void bits_##NAME(void)                                                                            \
    {                                                                                                        \
        PLACED(TYPE, word, 1);                                                                               \
        TYPE mine = (TYPE)1 << (me % 31);                                                                    \
        LAY(word, 0);                                                                                        \
        shmem_barrier_all();                                                                                 \
        if (me < 31)                                                                                         \
            for (int i = 0; i < draws; i++) {                                                                \
                CHECK((shmem_##NAME##_atomic_fetch_or(word, mine, 0) & mine) == 0, #NAME " or, round %d",    \
                      i);                                                                                    \
                CHECK((shmem_##NAME##_atomic_fetch(word, 0) & mine) != 0, #NAME " or is lost, round %d",     \
                      i);                                                                                    \
                CHECK((shmem_##NAME##_atomic_fetch_and(word, (TYPE)~mine, 0) & mine) != 0,                   \
                      #NAME " and, round %d", i);                                                            \
                CHECK((shmem_##NAME##_atomic_fetch_xor(word, mine, 0) & mine) == 0, #NAME " xor, round %d",  \
                      i);                                                                                    \
                shmem_##NAME##_atomic_xor(word, mine, 0);                                                    \
                shmem_##NAME##_atomic_or(word, mine, 0);                                                     \
                shmem_##NAME##_atomic_and(word, (TYPE)~mine, 0);                                             \
            }                                                                                                \
        shmem_barrier_all();                                                                                 \
        if (me == 0) CHECK_NUM(LOOK(word), (TYPE)0, #NAME " bits left over");                                \
        shmem_barrier_all();                                                                                 \
    }
SHMEM_AMO_BITWISE_TYPES(DEFINE_BITS)

/* Values that go around by swap: none is lost, none comes twice. */
#define DEFINE_SWAPS(TYPE, NAME)                                                        \
    static void swaps_##NAME(void)                                                      \
    {                                                                                   \
        PLACED(TYPE, place, 1);                                                         \
        static int64_t put_in, taken;                                                   \
        put_in = taken = 0;                                                             \
        LAY(place, 0);                                                                  \
        shmem_barrier_all();                                                            \
        int64_t in = 0, out = 0;                                                        \
        for (int i = 0; i < draws; i++) {                                               \
            TYPE value = (TYPE)(me * draws + i + 1);                                    \
            in += (int64_t)value;                                                       \
            out += (int64_t)shmem_##NAME##_atomic_swap(place, value, npes - 1);         \
        }                                                                               \
        shmem_int64_atomic_add(&put_in, in, 0);                                         \
        shmem_int64_atomic_add(&taken, out, 0);                                         \
        shmem_barrier_all();                                                            \
        if (me == 0) {                                                                  \
            int64_t left_over = (int64_t)shmem_##NAME##_atomic_fetch(place, npes - 1);  \
            CHECK_NUM(taken + left_over, put_in, #NAME " swapped");                     \
        }                                                                               \
        shmem_barrier_all();                                                            \
    }
SHMEM_AMO_EXTENDED_TYPES(DEFINE_SWAPS)

/* --- the old names --- */

#define DEFINE_OLD_EXTENDED(TYPE, NAME)                                                          \
    static void old_extended_##NAME(void)                                                        \
    {                                                                                            \
        PLACED(TYPE, cell, 3);                                                                   \
        TYPE seen[3];                                                                            \
        for (int i = 0; i < 3; i++)                                                              \
            seen[i] = VALUE(TYPE, me, i, 0);                                                     \
        lay(cell, seen, sizeof seen);                                                            \
        shmem_barrier_all();                                                                     \
        TYPE a = VALUE(TYPE, right, 1, 0), b = VALUE(TYPE, me, 1, 1), c = VALUE(TYPE, me, 1, 2); \
        CHECK_NUM(shmem_##NAME##_fetch(&cell[1], right), a, #NAME);                              \
        CHECK_NUM(shmem_##NAME##_swap(&cell[1], b, right), a, #NAME);                            \
        CHECK_NUM(shmem_##NAME##_fetch(&cell[1], right), b, #NAME);                              \
        shmem_##NAME##_set(&cell[1], c, right);                                                  \
        shmem_barrier_all();                                                                     \
        look(seen, cell, sizeof seen);                                                           \
        for (int i = 0; i < 3; i++) {                                                            \
            TYPE expected = i == 1 ? VALUE(TYPE, left, 1, 2) : VALUE(TYPE, me, i, 0);            \
            CHECK_NUM(seen[i], expected, #NAME " cell %d", i);                                   \
        }                                                                                        \
        shmem_barrier_all();                                                                     \
    }
SHMEM_OLD_AMO_EXTENDED_TYPES(DEFINE_OLD_EXTENDED)

#define DEFINE_OLD(TYPE, NAME)                                                                  \
    static void old_##NAME(void)                                                                \
    {                                                                                           \
        PLACED(TYPE, cell, 3);                                                                  \
        TYPE seen[3];                                                                           \
        for (int i = 0; i < 3; i++)                                                             \
            seen[i] = (TYPE)(100 * me + i);                                                     \
        lay(cell, seen, sizeof seen);                                                           \
        shmem_barrier_all();                                                                    \
        TYPE a = (TYPE)(100 * right + 1);                                                       \
        CHECK_NUM(shmem_##NAME##_cswap(&cell[1], a + 1, 7, right), a, #NAME);                   \
        CHECK_NUM(shmem_##NAME##_cswap(&cell[1], a, -5, right), a, #NAME);                      \
        CHECK_NUM(shmem_##NAME##_finc(&cell[1], right), (TYPE)-5, #NAME);                       \
        shmem_##NAME##_inc(&cell[1], right);                                                    \
        CHECK_NUM(shmem_##NAME##_fadd(&cell[1], 40, right), (TYPE)-3, #NAME);                   \
        shmem_##NAME##_add(&cell[1], me, right);                                                \
        shmem_barrier_all();                                                                    \
        look(seen, cell, sizeof seen);                                                          \
        for (int i = 0; i < 3; i++)                                                             \
            CHECK_NUM(seen[i], (TYPE)(i == 1 ? 37 + left : 100 * me + i), #NAME " cell %d", i); \
        shmem_barrier_all();                                                                    \
    }
SHMEM_OLD_AMO_TYPES(DEFINE_OLD)

int main(void)
{
    check_start();
    if (npes > CELLS) return 77;
    if (check_on_heap()) draws = (draws + 9) / 10;
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    int type = 0;
#define TEST(TYPE, NAME) test_##NAME(++type);
    SHMEM_AMO_EXTENDED_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) tickets_##NAME();
    SHMEM_AMO_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) bits_##NAME();
    SHMEM_AMO_BITWISE_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) swaps_##NAME();
    SHMEM_AMO_EXTENDED_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) old_extended_##NAME();
    SHMEM_OLD_AMO_EXTENDED_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) old_##NAME();
    SHMEM_OLD_AMO_TYPES(TEST)
#undef TEST
    shmem_ctx_destroy(ctx);
    return check_end();
}

/* wait_until and test, alone and over arrays, for every type: all comparisons with the sign of the type,
 * masks, empty sets, what any and some return, and that they starve nobody. */
/* timeout: 120 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "check.h"

static const int cmps[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                           SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
static const char *const cmp_names[] = {"EQ", "NE", "GT", "GE", "LT", "LE"};

#define HOLDS(k, a, b)       \
    ((k) == 0   ? (a) == (b) \
     : (k) == 1 ? (a) != (b) \
     : (k) == 2 ? (a) > (b)  \
     : (k) == 3 ? (a) >= (b) \
     : (k) == 4 ? (a) < (b)  \
                : (a) <= (b))

/* Words that change nothing: every comparison of every pair, by all functions that can ask for one. */
#define DEFINE_COMPARE(TYPE, NAME)                                                                          \
    static void compare_##NAME(void)                                                                        \
    {                                                                                                       \
        PLACED(TYPE, word, 1);                                                                              \
        TYPE top = (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)),                                           \
             values[] = {0, 1, 2, (TYPE)-1, (TYPE)-2, top, (TYPE)~top};                                     \
        int n = sizeof values / sizeof values[0];                                                           \
        for (int i = 0; i < n * n * 6; i++) {                                                               \
            int k = i % 6, c = cmps[k], on = 0, off = 1;                                                    \
            TYPE want = values[i / 6 % n], have = values[i / 6 / n];                                        \
            if (i % (6 * n) == 0) LAY(word, have);                                                          \
            int holds = HOLDS(k, have, want);                                                               \
            size_t first = holds ? 0 : SIZE_MAX, where = 9;                                                 \
            const char *name = cmp_names[k];                                                                \
            CHECK_NUM(!!shmem_##NAME##_test(word, c, want), holds, #NAME " %Lg %s %Lg", (long double)have,  \
                      name, (long double)want);                                                             \
            CHECK_NUM(!!shmem_##NAME##_test_all(word, 1, NULL, c, want), holds, #NAME " test_all %s",       \
                      name);                                                                                \
            CHECK_NUM(!!shmem_##NAME##_test_all(word, 1, &off, c, want), 1, #NAME " test_all of none %s",   \
                      name);                                                                                \
            CHECK_NUM(shmem_##NAME##_test_any(word, 1, &on, c, want), first, #NAME " test_any %s", name);   \
            CHECK_NUM(shmem_##NAME##_test_some(word, 1, &where, NULL, c, want), (size_t)holds,              \
                      #NAME " test_some %s", name);                                                         \
            CHECK_NUM(!!shmem_##NAME##_test_all_vector(word, 1, &on, c, &want), holds,                      \
                      #NAME " test_all_vector %s", name);                                                   \
            CHECK_NUM(shmem_##NAME##_test_any_vector(word, 1, NULL, c, &want), first,                       \
                      #NAME " test_any_vector %s", name);                                                   \
            CHECK_NUM(shmem_##NAME##_test_some_vector(word, 1, &where, NULL, c, &want), (size_t)holds,      \
                      #NAME " test_some_vector %s", name);                                                  \
            if (!holds) continue;                                                                           \
            shmem_##NAME##_wait_until(word, c, want);                                                       \
            shmem_##NAME##_wait_until_all(word, 1, NULL, c, want);                                          \
            shmem_##NAME##_wait_until_all_vector(word, 1, &on, c, &want);                                   \
            CHECK_NUM(shmem_##NAME##_wait_until_any(word, 1, &on, c, want), (size_t)0, #NAME " any %s",     \
                      name);                                                                                \
            CHECK_NUM(shmem_##NAME##_wait_until_any_vector(word, 1, NULL, c, &want), (size_t)0,             \
                      #NAME " any %s", name);                                                               \
            CHECK_NUM(shmem_##NAME##_wait_until_some(word, 1, &where, &on, c, want), (size_t)1,             \
                      #NAME " some %s", name);                                                              \
            CHECK_NUM(where, (size_t)0, #NAME " some %s", name);                                            \
            CHECK_NUM(shmem_##NAME##_wait_until_some_vector(word, 1, &where, NULL, c, &want), (size_t)1,    \
                      #NAME " some %s", name);                                                              \
        }                                                                                                   \
    }
SHMEM_WAIT_TYPES(DEFINE_COMPARE)

/* Nothing to wait for: returns at once, and touches neither the words nor the indices. */
#define DEFINE_EMPTY(TYPE, NAME)                                                                             \
    static void empty_##NAME(void)                                                                           \
    {                                                                                                        \
        PLACED(TYPE, words, 3);                                                                              \
        TYPE wants[3] = {1, 1, 1}, want = 1;                                                                 \
        int off[3] = {1, -1, 7};                                                                             \
        size_t indices[3] = {111, 222, 333};                                                                 \
        for (int way = 0; way < 3; way++) {                                                                  \
            size_t n = way == 2 ? 3 : 0;                                                                     \
            TYPE *w = way == 0 ? NULL : words;                                                               \
            const TYPE *v = way == 0 ? NULL : wants;                                                         \
            const int *s = way == 0 ? NULL : off;                                                            \
            size_t *x = way == 0 ? NULL : indices;                                                           \
            shmem_##NAME##_wait_until_all(w, n, s, SHMEM_CMP_EQ, want);                                      \
            shmem_##NAME##_wait_until_all_vector(w, n, s, SHMEM_CMP_EQ, v);                                  \
            CHECK_NUM(shmem_##NAME##_wait_until_any(w, n, s, SHMEM_CMP_EQ, want), SIZE_MAX, #NAME " way %d", \
                      way);                                                                                  \
            CHECK_NUM(shmem_##NAME##_wait_until_any_vector(w, n, s, SHMEM_CMP_EQ, v), SIZE_MAX,              \
                      #NAME " way %d", way);                                                                 \
            CHECK_NUM(shmem_##NAME##_wait_until_some(w, n, x, s, SHMEM_CMP_EQ, want), (size_t)0,             \
                      #NAME " way %d", way);                                                                 \
            CHECK_NUM(shmem_##NAME##_wait_until_some_vector(w, n, x, s, SHMEM_CMP_EQ, v), (size_t)0,         \
                      #NAME " way %d", way);                                                                 \
            CHECK_NUM(!!shmem_##NAME##_test_all(w, n, s, SHMEM_CMP_EQ, want), 1, #NAME " way %d", way);      \
            CHECK_NUM(!!shmem_##NAME##_test_all_vector(w, n, s, SHMEM_CMP_EQ, v), 1, #NAME " way %d", way);  \
            CHECK_NUM(shmem_##NAME##_test_any(w, n, s, SHMEM_CMP_EQ, want), SIZE_MAX, #NAME " way %d", way); \
            CHECK_NUM(shmem_##NAME##_test_any_vector(w, n, s, SHMEM_CMP_EQ, v), SIZE_MAX, #NAME " way %d",   \
                      way);                                                                                  \
            CHECK_NUM(shmem_##NAME##_test_some(w, n, x, s, SHMEM_CMP_EQ, want), (size_t)0, #NAME " way %d",  \
                      way);                                                                                  \
            CHECK_NUM(shmem_##NAME##_test_some_vector(w, n, x, s, SHMEM_CMP_EQ, v), (size_t)0,               \
                      #NAME " way %d", way);                                                                 \
        }                                                                                                    \
        CHECK(indices[0] == 111 && indices[1] == 222 && indices[2] == 333, #NAME ": indices were written");  \
        for (int i = 0; i < 3; i++)                                                                          \
            CHECK(LOOK(&words[i]) == 0, #NAME ": words were written");                                       \
    }
SHMEM_WAIT_TYPES(DEFINE_EMPTY)

/* One word, changed by the left neighbour through puts: data put before it, behind a fence, is there. */
#define DEFINE_REMOTE(TYPE, NAME)                                                                         \
    static void remote_##NAME(void)                                                                       \
    {                                                                                                     \
        PLACED(TYPE, word, 1);                                                                            \
        PLACED(long, data, 1);                                                                            \
        LAY(word, 10);                                                                                    \
        LAY(data, 0);                                                                                     \
        shmem_barrier_all();                                                                              \
        for (int round = 0; round < TIMES(30); round++) {                                                 \
            /* the word goes 10 20 30 20 10 ... or similar, so that each comparison begins to hold by the \
             * change */                                                                                  \
            static const struct {                                                                         \
                int cmp;                                                                                  \
                int next, want;                                                                           \
            } steps[] = {{0, 20, 20}, {1, 30, 20}, {2, 40, 30}, {3, 50, 50}, {4, 20, 30}, {5, 10, 10}};   \
            int k = round % 6;                                                                            \
            shmem_long_p(data, round + 100 * me, right);                                                  \
            shmem_fence();                                                                                \
            shmem_##NAME##_p(word, (TYPE)steps[k].next, right);                                           \
            if (round % 2)                                                                                \
                shmem_##NAME##_wait_until(word, cmps[steps[k].cmp], (TYPE)steps[k].want);                 \
            else                                                                                          \
                while (!shmem_##NAME##_test(word, cmps[steps[k].cmp], (TYPE)steps[k].want)) {             \
                }                                                                                         \
            CHECK_NUM(LOOK(word), (TYPE)steps[k].next, #NAME " round %d", round);                         \
            CHECK_NUM(LOOK(data), round + 100L * left, #NAME " data behind the word, round %d", round);   \
            shmem_barrier_all();                                                                          \
        }                                                                                                 \
    }
SHMEM_WAIT_TYPES(DEFINE_REMOTE)

/* Arrays whose words are changed one after the other in another order than they lie, some of them never:
 * those are masked. Each is to be reported once, and only when it has changed. */
#define WORDS 9
enum { ALL, ANY, SOME, TEST_ALL, TEST_ANY, TEST_SOME, WAYS };

struct round {
    int way, status[WORDS], order[WORDS];
    bool vector, null_status;
};

static struct round draw(int pe, int n, uint64_t type)
{
    struct random r = {check_mix(type << 40 ^ (uint64_t)pe << 20 ^ (uint64_t)n)};
    struct round d = {.way = n % WAYS, .vector = n / WAYS % 2, .null_status = random_below(&r, 4) == 0};
    for (int i = 0; i < WORDS; i++) {
        d.status[i] = d.null_status || random_below(&r, 3) ? 0 : random_below(&r, 2) ? 1 : -3;
        d.order[i] = i;
    }
    for (int i = WORDS - 1; i > 0; i--) {
        int k = (int)random_below(&r, (size_t)i + 1), keep = d.order[i];
        d.order[i] = d.order[k];
        d.order[k] = keep;
    }
    return d;
}

/* What the words of round n become, and what the functions ask for. */
#define NEXT(n, i) ((n)*3 + 3 + ((i) % 3))
#define ASKED(n) ((n)*3 + 3)

#define DEFINE_ARRAY(TYPE, NAME)                                                                            \
    /* Word i was reported. */                                                                              \
    static void report_##NAME(TYPE *words, size_t i, int *done, int n)                                      \
    {                                                                                                       \
        CHECK(i < WORDS && !done[i < WORDS ? i : 0],                                                        \
              #NAME " round %d: index %zu is out of range, masked or had come", n, i);                      \
        if (i >= WORDS) return;                                                                             \
        CHECK_NUM(LOOK(&words[i]), (TYPE)NEXT(n, (int)i), #NAME " round %d: word %zu was reported", n, i);  \
        done[i] = 1;                                                                                        \
    }                                                                                                       \
    static void await_##NAME(TYPE *words, const struct round *d, int n)                                     \
    {                                                                                                       \
        TYPE wants[WORDS], asked = (TYPE)ASKED(n);                                                          \
        int done[WORDS], left_to_come = 0;                                                                  \
        size_t where[WORDS + 1];                                                                            \
        for (int i = 0; i < WORDS; i++) {                                                                   \
            wants[i] = (TYPE)NEXT(n, i);                                                                    \
            done[i] = d->status[i];                                                                         \
            left_to_come += d->status[i] == 0;                                                              \
        }                                                                                                   \
        const int *status = d->null_status && d->way % 3 == ALL ? NULL : done;                              \
        while (left_to_come > 0) {                                                                          \
            size_t got = 0, one = SIZE_MAX;                                                                 \
            where[WORDS] = 4711;                                                                            \
            switch (d->way) {                                                                               \
            case ALL:                                                                                       \
                if (d->vector)                                                                              \
                    shmem_##NAME##_wait_until_all_vector(words, WORDS, status, SHMEM_CMP_EQ, wants);        \
                else                                                                                        \
                    shmem_##NAME##_wait_until_all(words, WORDS, status, SHMEM_CMP_GE, asked);               \
                break;                                                                                      \
            case ANY:                                                                                       \
                one = d->vector                                                                             \
                          ? shmem_##NAME##_wait_until_any_vector(words, WORDS, status, SHMEM_CMP_EQ, wants) \
                          : shmem_##NAME##_wait_until_any(words, WORDS, status, SHMEM_CMP_GE, asked);       \
                CHECK(one != SIZE_MAX, #NAME " round %d: none", n);                                         \
                break;                                                                                      \
            case SOME:                                                                                      \
                got = d->vector ? shmem_##NAME##_wait_until_some_vector(words, WORDS, where, status,        \
                                                                        SHMEM_CMP_EQ, wants)                \
                                : shmem_##NAME##_wait_until_some(words, WORDS, where, status, SHMEM_CMP_GE, \
                                                                 asked);                                    \
                CHECK(got >= 1 && got <= WORDS, #NAME " round %d: %zu", n, got);                            \
                break;                                                                                      \
            case TEST_ALL:                                                                                  \
                if (!(d->vector ? shmem_##NAME##_test_all_vector(words, WORDS, status, SHMEM_CMP_EQ, wants) \
                                : shmem_##NAME##_test_all(words, WORDS, status, SHMEM_CMP_GE, asked)))      \
                    continue;                                                                               \
                break;                                                                                      \
            case TEST_ANY:                                                                                  \
                one = d->vector ? shmem_##NAME##_test_any_vector(words, WORDS, status, SHMEM_CMP_EQ, wants) \
                                : shmem_##NAME##_test_any(words, WORDS, status, SHMEM_CMP_GE, asked);       \
                break;                                                                                      \
            case TEST_SOME:                                                                                 \
                got =                                                                                       \
                    d->vector                                                                               \
                        ? shmem_##NAME##_test_some_vector(words, WORDS, where, status, SHMEM_CMP_EQ, wants) \
                        : shmem_##NAME##_test_some(words, WORDS, where, status, SHMEM_CMP_GE, asked);       \
                break;                                                                                      \
            }                                                                                               \
            CHECK_NUM(where[WORDS], (size_t)4711, #NAME " round %d: behind the indices", n);                \
            if (d->way % 3 == ALL) {                                                                        \
                for (int i = 0; i < WORDS; i++)                                                             \
                    if (d->status[i] == 0)                                                                  \
                        CHECK_NUM(LOOK(&words[i]), (TYPE)NEXT(n, i), #NAME " round %d: all, word %d", n,    \
                                  i);                                                                       \
                break;                                                                                      \
            }                                                                                               \
            if (one != SIZE_MAX) {                                                                          \
                report_##NAME(words, one, done, n);                                                         \
                left_to_come--;                                                                             \
            }                                                                                               \
            for (size_t k = 0; k < got && k < WORDS; k++)                                                   \
                report_##NAME(words, where[k], done, n);                                                    \
            left_to_come -= (int)got;                                                                       \
        }                                                                                                   \
    }                                                                                                       \
    static void arrays_##NAME(void)                                                                         \
    {                                                                                                       \
        PLACED(TYPE, words, WORDS);                                                                         \
        static uint64_t type;                                                                               \
        type = sizeof(TYPE);                                                                                \
        lay_byte(words, 0, WORDS * sizeof *words);                                                          \
        shmem_barrier_all();                                                                                \
        for (int n = 0; n < 4 * WAYS; n++) {                                                                \
            struct round mine = draw(me, n, type), theirs = draw(right, n, type);                           \
            for (int i = 0; i < WORDS; i++) {                                                               \
                int k = theirs.order[i];                                                                    \
                if (theirs.status[k] == 0) shmem_##NAME##_p(&words[k], (TYPE)NEXT(n, k), right);            \
                if (i == 4 && n % 3 == 0) shmem_barrier_all();                                              \
            }                                                                                               \
            await_##NAME(words, &mine, n);                                                                  \
            shmem_barrier_all();                                                                            \
        }                                                                                                   \
    }
SHMEM_WAIT_TYPES(DEFINE_ARRAY)

/* All words satisfy: each is reported sooner or later although the others still do, and some reports all. */
#define DEFINE_FAIR(TYPE, NAME)                                                                           \
    static void fair_##NAME(void)                                                                         \
    {                                                                                                     \
        PLACED(TYPE, words, 5);                                                                           \
        TYPE wants[5] = {1, 1, 1, 1, 1};                                                                  \
        int seen[4][5] = {{0}};                                                                           \
        size_t where[5];                                                                                  \
        lay(words, wants, sizeof wants);                                                                  \
        for (int i = 0; i < TIMES(1000); i++) {                                                           \
            size_t got[4] = {shmem_##NAME##_wait_until_any(words, 5, NULL, SHMEM_CMP_EQ, 1),              \
                             shmem_##NAME##_test_any(words, 5, NULL, SHMEM_CMP_EQ, 1),                    \
                             shmem_##NAME##_wait_until_any_vector(words, 5, NULL, SHMEM_CMP_EQ, wants),   \
                             shmem_##NAME##_test_any_vector(words, 5, NULL, SHMEM_CMP_EQ, wants)};        \
            for (int k = 0; k < 4; k++) {                                                                 \
                CHECK(got[k] < 5, #NAME " way %d: %zu", k, got[k]);                                       \
                if (got[k] < 5) seen[k][got[k]]++;                                                        \
            }                                                                                             \
        }                                                                                                 \
        for (int k = 0; k < 4; k++)                                                                       \
            for (int i = 0; i < 5; i++)                                                                   \
                CHECK(seen[k][i] > 0, #NAME " way %d: word %d is never reported", k, i);                  \
        CHECK_NUM(shmem_##NAME##_wait_until_some(words, 5, where, NULL, SHMEM_CMP_EQ, 1), (size_t)5,      \
                  #NAME " some");                                                                         \
        CHECK_NUM(shmem_##NAME##_test_some(words, 5, where, NULL, SHMEM_CMP_EQ, 1), (size_t)5,            \
                  #NAME " some");                                                                         \
        CHECK_NUM(shmem_##NAME##_wait_until_some_vector(words, 5, where, NULL, SHMEM_CMP_EQ, wants),      \
                  (size_t)5, #NAME " some");                                                              \
        CHECK_NUM(shmem_##NAME##_test_some_vector(words, 5, where, NULL, SHMEM_CMP_EQ, wants), (size_t)5, \
                  #NAME " some");                                                                         \
    }
SHMEM_WAIT_TYPES(DEFINE_FAIR)

/* Words that atomics change, by everybody at once. */
#define DEFINE_ATOMIC(TYPE, NAME)                                                  \
    static void atomic_##NAME(void)                                                \
    {                                                                              \
        PLACED(TYPE, count, 1);                                                    \
        LAY(count, 0);                                                             \
        shmem_barrier_all();                                                       \
        for (int round = 1; round <= 20; round++) {                                \
            for (int pe = 0; pe < npes; pe++)                                      \
                shmem_##NAME##_atomic_inc(count, pe);                              \
            shmem_##NAME##_wait_until(count, SHMEM_CMP_GE, (TYPE)(round * npes));  \
        }                                                                          \
        shmem_barrier_all();                                                       \
        CHECK_NUM(LOOK(count), (TYPE)(20 * npes), #NAME " counted");               \
    }
SHMEM_AMO_TYPES(DEFINE_ATOMIC)

/* wait of before 1.4: until the word is another. */
#define DEFINE_OLD(TYPE, NAME)                                  \
    static void old_##NAME(void)                                \
    {                                                           \
        PLACED(TYPE, word, 1);                                  \
        for (int round = 1; round <= 10; round++) {             \
            shmem_##NAME##_p(word, (TYPE)-round, right);        \
            shmem_##NAME##_wait(word, (TYPE)(1 - round));       \
            CHECK_NUM(LOOK(word), (TYPE)-round, #NAME " wait"); \
            shmem_barrier_all();                                \
        }                                                       \
    }
SHMEM_OLD_WAIT_TYPES(DEFINE_OLD)

static void old_untyped(void)
{
    PLACED(long, word, 1);
    shmem_barrier_all();
    shmem_long_p(word, 5 + me, right);
    shmem_wait(word, 0);
    CHECK_NUM(LOOK(word), 5L + left, "wait");
    shmem_barrier_all();
    shmem_long_p(word, -1 - me, right);
    (shmem_wait_until)(word, SHMEM_CMP_LT, 0);
    CHECK_NUM(LOOK(word), -1L - left, "wait_until");
    shmem_barrier_all();
}

int main(void)
{
    check_start();
#define TEST(TYPE, NAME) \
    compare_##NAME();    \
    empty_##NAME();      \
    fair_##NAME();       \
    remote_##NAME();     \
    arrays_##NAME();
    SHMEM_WAIT_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) atomic_##NAME();
    SHMEM_AMO_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) old_##NAME();
    SHMEM_OLD_WAIT_TYPES(TEST)
#undef TEST
    old_untyped();
    return check_end();
}

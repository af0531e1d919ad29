/* timeout: 120 */
/* layouts: 1+1 2+1 */
/* Waits and tests on words of the default heap, which the CPU may not be able to touch: they see plain puts, signals and
 * atomics alike, for every type, alone and over arrays, and what they wait for was put before. */
#include "../spec/check.h"

enum { ROUNDS = 30, SET = 5 };

static void *zeroed(size_t bytes)
{
    char *block = shmem_malloc(bytes), *zeros = calloc(1, bytes);
    shmem_putmem(block, zeros, bytes, me);
    free(zeros);
    shmem_barrier_all();
    return block;
}

/* --- comparisons, with the sign of the type --- */

#define DEFINE_COMPARE(T, N)                                                                                           \
    static void compare_##N(void)                                                                                      \
    {                                                                                                                  \
        T *word = zeroed(sizeof *word), values[] = {0, 1, (T)-1, (T)((uint64_t)1 << (sizeof(T) * 8 - 1))};             \
        for (int i = 0; i < 16; i++) {                                                                                 \
            T have = values[i / 4], want = values[i % 4];                                                              \
            shmem_##N##_p(word, have, me);                                                                             \
            shmem_quiet();                                                                                             \
            CHECK_NUM(!!shmem_##N##_test(word, SHMEM_CMP_EQ, want), have == want, #N " %Lg == %Lg", (long double)have, \
                      (long double)want);                                                                              \
            CHECK_NUM(!!shmem_##N##_test(word, SHMEM_CMP_GT, want), have > want, #N " %Lg > %Lg", (long double)have,   \
                      (long double)want);                                                                              \
            CHECK_NUM(!!shmem_##N##_test(word, SHMEM_CMP_LE, want), have <= want, #N " %Lg <= %Lg", (long double)have, \
                      (long double)want);                                                                              \
            if (have <= want) shmem_##N##_wait_until(word, SHMEM_CMP_LE, want);                                        \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        shmem_free(word);                                                                                              \
    }
#define TYPES(X)                                                                                          \
    X(short, short) X(unsigned short, ushort) X(int, int) X(long, long) X(long long, longlong) X(size_t, size) \
    X(unsigned int, uint) X(unsigned long, ulong) X(unsigned long long, ulonglong) X(ptrdiff_t, ptrdiff)       \
    X(int32_t, int32) X(int64_t, int64) X(uint32_t, uint32) X(uint64_t, uint64)
TYPES(DEFINE_COMPARE)
#define CALL_COMPARE(T, N) compare_##N();

/* --- whatever changes the word --- */

enum { PUT, PUT_NBI, SIGNAL, SET_ATOMIC, ADD_ATOMIC, WAYS };
static const char *const names[WAYS] = {"put", "put_nbi", "signal", "atomic_set", "atomic_add"};

static uint64_t *word, *data;

static void change(int way, uint64_t value)
{
    static uint64_t source;
    source = value;
    shmem_uint64_put(data, &value, 1, right);
    shmem_fence();
    switch (way) {
    case PUT: shmem_uint64_p(word, value, right); break;
    case PUT_NBI: shmem_uint64_put_nbi(word, &source, 1, right); break;
    case SIGNAL: shmem_signal_set(word, value, right); break;
    case SET_ATOMIC: shmem_uint64_atomic_set(word, value, right); break;
    case ADD_ATOMIC: shmem_uint64_atomic_add(word, 1, right); break;
    }
    shmem_quiet();
}

/* A ring: each PE goes on when its left neighbour has told it to. */
static void ring(int way)
{
    word = zeroed(sizeof *word);
    data = zeroed(sizeof *data);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        if (me == 0) change(way, i);
        if (i % 3 == 0)
            CHECK_NUM(shmem_signal_wait_until(word, SHMEM_CMP_GE, i), i, "%s, round %lu", names[way], (unsigned long)i);
        else if (i % 3 == 1)
            shmem_uint64_wait_until(word, SHMEM_CMP_EQ, i);
        else
            while (!shmem_uint64_test(word, SHMEM_CMP_EQ, i)) continue;
        CHECK_NUM(shmem_signal_fetch(word), i, "%s, round %lu", names[way], (unsigned long)i);
        CHECK_NUM(shmem_uint64_g(data, me), i, "the data before %s, round %lu", names[way], (unsigned long)i);
        if (me != 0) change(way, i);
        shmem_barrier_all();
    }
    shmem_free(data);
    shmem_free(word);
}

/* --- arrays --- */

/* Words are set from last to first by the left neighbour, each behind an answer. */
static void sets(void)
{
    int *flags = zeroed(SET * sizeof *flags), status[SET] = {0, 0, 1, 0, 0}, wants[SET] = {1, 2, 99, 4, 5};
    size_t indices[SET], count = 0;
    CHECK_NUM(shmem_int_test_any(flags, SET, NULL, SHMEM_CMP_NE, 0), SIZE_MAX, "nothing set");
    CHECK_NUM(shmem_int_test_some(flags, SET, indices, NULL, SHMEM_CMP_NE, 0), (size_t)0, "nothing set");
    CHECK_NUM(shmem_int_test_all(flags, SET, status, SHMEM_CMP_NE, 0), 0, "nothing set");
    shmem_barrier_all();
    for (int i = SET - 1; i >= 0; i--) {
        if (status[i]) continue;
        if (i % 2)
            shmem_int_p(&flags[i], i + 1, right);
        else
            shmem_int_atomic_set(&flags[i], i + 1, right);
        size_t n = shmem_int_wait_until_some(flags, SET, indices, status, SHMEM_CMP_EQ, i + 1);
        CHECK_NUM(n, (size_t)1, "words that have come to %d", i + 1);
        CHECK_NUM(indices[0], (size_t)i, "the word that has come to %d", i + 1);
        CHECK_NUM(shmem_int_wait_until_any(flags, SET, NULL, SHMEM_CMP_EQ, i + 1), (size_t)i, "any");
        count++;
    }
    shmem_int_wait_until_all(flags, SET, status, SHMEM_CMP_GT, 0);
    shmem_int_wait_until_all_vector(flags, SET, status, SHMEM_CMP_EQ, wants);
    CHECK_NUM(shmem_int_wait_until_some_vector(flags, SET, indices, status, SHMEM_CMP_EQ, wants), count, "some_vector");
    CHECK(status[shmem_int_wait_until_any_vector(flags, SET, status, SHMEM_CMP_EQ, wants)] == 0, "any_vector");
    CHECK_NUM(!!shmem_int_test_all_vector(flags, SET, status, SHMEM_CMP_EQ, wants), 1, "test_all_vector");
    CHECK_NUM(!!shmem_int_test_all_vector(flags, SET, NULL, SHMEM_CMP_EQ, wants), 0, "one has not come");
    shmem_barrier_all();
    shmem_free(flags);
}

int main(void)
{
    check_start();
    TYPES(CALL_COMPARE)
    for (int way = 0; way < WAYS; way++) ring(way);
    sets();
    return check_end();
}

/* Signals: once the signal is seen, the data that came with it is there, whatever the type, size and form;
 * set and add; puts of nothing signal too. */
/* env: SHMEM_SYMMETRIC_SIZE=64M */
#include "check.h"

#define N 50

static shmem_ctx_t ctx;
static uint64_t signal_word, taken; /* taken: counted up by the receiver, so the sender may write again */
static uint64_t sent;               /* signals so far, the same on every PE */

/* Every message goes to the right; who has looked at his says so to the left. */
static void receive(int op)
{
    sent++;
    if (op == SHMEM_SIGNAL_SET) {
        CHECK_NUM(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, sent * 3), sent * 3,
                  "the value waited for");
    } else {
        uint64_t seen = shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, sent * 3);
        CHECK_NUM(seen, sent * 3, "the value waited for");
    }
    CHECK_NUM(shmem_signal_fetch(&signal_word), sent * 3, "signal_fetch");
}

static void have_taken(void)
{
    shmem_uint64_atomic_inc(&taken, left);
    shmem_uint64_wait_until(&taken, SHMEM_CMP_GE, sent);
    shmem_quiet(); /* the source of a non-blocking put is written again */
    shmem_ctx_quiet(ctx);
}

/* set to the next number, or add what is missing to it: both leave sent * 3 */
#define SIGNAL(op) &signal_word, (op) == SHMEM_SIGNAL_SET ? (sent + 1) * 3 : 3, (op), right

static size_t count_of(uint64_t n)
{
    static const size_t counts[] = {N, 1, 0, 2, N - 1, 7};
    return counts[n % 6];
}

#define ROUND(TYPE, NAME, op, PUT)                                            \
    do {                                                                      \
        size_t n = count_of(sent);                                            \
        uint64_t id = sent;                                                   \
        for (size_t i = 0; i < N; i++)                                        \
            mine[i] = VALUE(TYPE, me, i, id);                                 \
        PUT;                                                                  \
        receive(op);                                                          \
        look(in, dest, sizeof in);                                            \
        for (size_t i = 0; i < N; i++) {                                      \
            if (i < n) before[i] = VALUE(TYPE, left, i, id);                  \
            CHECK_NUM(in[i], before[i], #NAME " element %zu of %zu", i, n);   \
        }                                                                     \
        have_taken();                                                         \
    } while (0)

#define FORMS(TYPE, NAME, op)                                                                 \
    ROUND(TYPE, NAME, op, shmem_##NAME##_put_signal(dest, mine, n, SIGNAL(op)));              \
    ROUND(TYPE, NAME, op, shmem_ctx_##NAME##_put_signal(ctx, dest, mine, n, SIGNAL(op)));     \
    ROUND(TYPE, NAME, op, shmem_##NAME##_put_signal_nbi(dest, mine, n, SIGNAL(op)));          \
    ROUND(TYPE, NAME, op, shmem_ctx_##NAME##_put_signal_nbi(ctx, dest, mine, n, SIGNAL(op))); \
    ROUND(TYPE, NAME, op, shmem_##NAME##_put_signal(n ? dest : NULL, n ? mine : NULL, n, SIGNAL(op)))

#define DEFINE(TYPE, NAME)                                   \
    static void test_##NAME(TYPE *dest)                      \
    {                                                        \
        static TYPE mine[N], before[N], in[N];               \
        for (size_t i = 0; i < N; i++)                       \
            before[i] = VALUE(TYPE, me, i, 12345);           \
        lay(dest, before, sizeof before);                    \
        shmem_barrier_all();                                 \
        for (int turn = 0; turn < 3; turn++) {               \
            FORMS(TYPE, NAME, SHMEM_SIGNAL_SET);             \
            FORMS(TYPE, NAME, SHMEM_SIGNAL_ADD);             \
        }                                                    \
        shmem_barrier_all();                                 \
    }
SHMEM_RMA_TYPES(DEFINE)

typedef void signal_fn(void *, const void *, size_t, uint64_t *, uint64_t, int, int);
typedef void ctx_signal_fn(shmem_ctx_t, void *, const void *, size_t, uint64_t *, uint64_t, int, int);

static const struct untyped {
    const char *name;
    size_t size;
    signal_fn *put, *nbi;
    ctx_signal_fn *ctx_put, *ctx_nbi;
} untyped[] = {
#define ROW(STEM, BYTES)           \
    {#STEM,                        \
     BYTES,                        \
     shmem_put##STEM##_signal,     \
     shmem_put##STEM##_signal_nbi, \
     shmem_ctx_put##STEM##_signal, \
     shmem_ctx_put##STEM##_signal_nbi},
    SHMEM_SIZES(ROW) ROW(mem, 1)
#undef ROW
};

static void test_untyped(unsigned char *dest)
{
    static __attribute__((aligned(16))) unsigned char mine[16 * N], expected[16 * N], in[16 * N];
    for (size_t k = 0; k < sizeof expected; k++)
        expected[k] = VALUE(unsigned char, me, k, 54321);
    lay(dest, expected, sizeof expected);
    shmem_barrier_all();
    for (int turn = 0; turn < 4 * 2 * 6 * 6; turn++) {
        const struct untyped *u = &untyped[turn % 6];
        int form = turn / 6 % 4, op = turn / 24 % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
        size_t n = count_of((uint64_t)turn / 48);
        uint64_t id = sent;
        for (size_t k = 0; k < n * u->size; k++)
            mine[k] = VALUE(unsigned char, me, k, id);
        if (form == 0) u->put(dest, mine, n, SIGNAL(op));
        if (form == 1) u->nbi(dest, mine, n, SIGNAL(op));
        if (form == 2) u->ctx_put(ctx, dest, mine, n, SIGNAL(op));
        if (form == 3) u->ctx_nbi(ctx, dest, mine, n, SIGNAL(op));
        receive(op);
        look(in, dest, sizeof in);
        for (size_t k = 0; k < sizeof expected; k++) {
            if (k < n * u->size) expected[k] = VALUE(unsigned char, left, k, id);
            CHECK_NUM(in[k], expected[k], "put%s byte %zu of %zu elements", u->name, k, n);
        }
        have_taken();
    }
    shmem_barrier_all();
}

/* Without data, and from all PEs at once. */
static void test_alone(void)
{
    static uint64_t word, sum;
    shmem_barrier_all();
    for (uint64_t i = 1; i <= 100; i++) {
        if (i % 2)
            shmem_signal_set(&word, i, right);
        else
            shmem_ctx_signal_set(ctx, &word, i, right);
        CHECK_NUM(shmem_signal_wait_until(&word, SHMEM_CMP_GE, i), i, "signal_set");
        shmem_barrier_all();
        shmem_signal_add(&sum, 2, 0);
        shmem_ctx_signal_add(ctx, &sum, (uint64_t)me, 0);
        shmem_putmem_signal(NULL, NULL, 0, &sum, 1, SHMEM_SIGNAL_ADD, 0);
    }
    if (me == 0) {
        uint64_t all = 100 * ((uint64_t)npes * 3 + (uint64_t)npes * (uint64_t)(npes - 1) / 2);
        CHECK_NUM(shmem_signal_wait_until(&sum, SHMEM_CMP_EQ, all), all, "signal_add");
        CHECK_NUM(shmem_signal_fetch(&sum), all, "signal_add");
    }
    shmem_barrier_all();
}

/* All PEs add to one word at once: nothing is lost. */
static void test_crowd(void)
{
    static uint64_t sum;
    enum { ADDS = TIMES(20000) };
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) {
        if (i % 2)
            shmem_signal_add(&sum, 1, 0);
        else
            shmem_putmem_signal(NULL, NULL, 0, &sum, 1, SHMEM_SIGNAL_ADD, 0);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_NUM(sum, (uint64_t)npes * ADDS, "signals added");
}

/* A large message, whose last bytes are written when the signal is raised; the signal on the heap, the data
 * not. */
static void test_large(void)
{
    static uint32_t dest[300000];
    uint32_t *mine = malloc(sizeof dest);
    uint64_t *word = shmem_calloc(2, sizeof *word);
    for (uint32_t round = 1; round <= 20; round++) {
        size_t n = 300000 - round * 13, wrong = 0;
        for (size_t i = 0; i < n; i++)
            mine[i] = (uint32_t)i * round + (uint32_t)me;
        shmem_uint32_put_signal_nbi(dest, mine, n, word, round, SHMEM_SIGNAL_SET, right);
        shmem_signal_wait_until(word, SHMEM_CMP_EQ, round);
        for (size_t i = 0; i < n; i++)
            wrong += dest[i] != (uint32_t)i * round + (uint32_t)left;
        CHECK_NUM(wrong, (size_t)0, "elements that had not come with their signal, round %u", round);
        shmem_signal_add(word + 1, 1, left);
        shmem_signal_wait_until(word + 1, SHMEM_CMP_GE, round);
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_free(word);
    free(mine);
}

/* A put before, ordered by a fence, is there as well. */
static void test_fenced(void)
{
    static long first, second;
    static uint64_t word;
    for (long i = 1; i <= 500; i++) {
        shmem_long_p(&first, i + me, right);
        shmem_fence();
        long value = -i;
        shmem_long_put_signal(&second, &value, 1, &word, (uint64_t)i, SHMEM_SIGNAL_SET, right);
        shmem_signal_wait_until(&word, SHMEM_CMP_GE, (uint64_t)i);
        CHECK_NUM(first, i + left, "the put before the fence");
        CHECK_NUM(second, -i, "the data of the signal");
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    void *heap = shmem_align(16, 16 * N);
    static __attribute__((aligned(16))) unsigned char in_static[16 * N];
#define TEST(TYPE, NAME) \
    test_##NAME(heap);   \
    test_##NAME((TYPE *)(void *)in_static);
    SHMEM_RMA_TYPES(TEST)
#undef TEST
    test_untyped(heap);
    test_untyped(in_static);
    test_alone();
    test_crowd();
    test_large();
    test_fenced();
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_end();
}

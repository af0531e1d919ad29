/* timeout: 120 */
/* The active-set calls that the standard has deprecated: every one, over sets of every start, stride and size, disjoint
 * sets at once; pSync is left as it was, and the root's dest is not written by a broadcast. */
#include <complex.h>

#include "check.h"

enum { MOST = 600, PLACES = 4, BYTES = MOST * 16 * 8 * 2 };

/* Large enough for every call; static, as programs have it. */
static long sync_a[SHMEM_REDUCE_SYNC_SIZE], sync_b[SHMEM_REDUCE_SYNC_SIZE];
static char work[MOST * 32];
static char *places, *dest, *source;
static __attribute__((aligned(16))) char mine[BYTES], seen[BYTES]; /* what goes to source, and what has come to dest */
static int call_number;

struct set {
    int start, log_stride, size, me;
};

static int member(const struct set *s, int i) { return s->start + (i << s->log_stride); }

static long *next_sync(void)
{
    long *sync = call_number & 1 ? sync_a : sync_b;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        CHECK(sync[i] == SHMEM_SYNC_VALUE, "pSync[%d] was left as %ld", i, sync[i]);
    return sync;
}

static void next_place(const struct set *s)
{
    static long sync[SHMEM_SYNC_SIZE];
    int place = ++call_number % PLACES;
    dest = places + (size_t)place * BYTES;
    if (place) return;
    shmem_sync(s->start, s->log_stride, s->size, sync);
    lay_byte(places, 0xa5, PLACES * BYTES);
    shmem_barrier(s->start, s->log_stride, s->size, sync);
}

#define SET s->start, s->log_stride, s->size
#define MOVES(T, BITS)                                                                                                 \
    static void bring##BITS(size_t n)                                                                                  \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++) ((T *)mine)[i] = VALUE(T, me, i, call_number);                                  \
        lay(source, mine, n * sizeof(T));                                                                              \
    }                                                                                                                  \
    static void check##BITS(const struct set *s, const char *what, size_t at, size_t n, int m, size_t first)           \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK_NUM(((T *)seen)[at + i], VALUE(T, member(s, m), first + i, call_number),                             \
                      "%s" #BITS " of set %d:%d:%d, member %d, element %zu", what, SET, m, i);                         \
    }                                                                                                                  \
    static void moves##BITS(const struct set *s, size_t n)                                                             \
    {                                                                                                                  \
        for (int root = 0; root < s->size; root += s->size > 2 ? s->size / 2 : 1) {                                    \
            next_place(s);                                                                                             \
            bring##BITS(n);                                                                                            \
            shmem_broadcast##BITS(dest, source, n, root, SET, next_sync());                                            \
            look(seen, dest, n * sizeof(T));                                                                           \
            if (s->me != root) check##BITS(s, "broadcast", 0, n, root, 0);                                             \
            for (size_t i = 0; i < n * sizeof(T) && s->me == root; i++)                                                \
                CHECK((unsigned char)seen[i] == 0xa5, "broadcast" #BITS " wrote the root's dest");                     \
        }                                                                                                              \
        next_place(s);                                                                                                 \
        bring##BITS(n);                                                                                                \
        shmem_fcollect##BITS(dest, source, n, SET, next_sync());                                                       \
        look(seen, dest, n * s->size * sizeof(T));                                                                     \
        for (int m = 0; m < s->size; m++) check##BITS(s, "fcollect", m * n, n, m, 0);                                  \
        next_place(s);                                                                                                 \
        bring##BITS(n);                                                                                                \
        shmem_collect##BITS(dest, source, s->me % 3 ? n * s->me / s->size : n, SET, next_sync());                      \
        look(seen, dest, n * s->size * sizeof(T));                                                                     \
        size_t at = 0, part;                                                                                           \
        for (int m = 0; m < s->size; m++, at += part) {                                                                \
            part = m % 3 ? n * m / s->size : n;                                                                        \
            check##BITS(s, "collect", at, part, m, 0);                                                                 \
        }                                                                                                              \
        next_place(s);                                                                                                 \
        bring##BITS(n * s->size);                                                                                      \
        shmem_alltoall##BITS(dest, source, n, SET, next_sync());                                                       \
        look(seen, dest, n * s->size * sizeof(T));                                                                     \
        for (int m = 0; m < s->size; m++) check##BITS(s, "alltoall", m * n, n, m, s->me * n);                          \
        next_place(s);                                                                                                 \
        bring##BITS(n * s->size * 2);                                                                                  \
        shmem_alltoalls##BITS(dest, source, 3, 2, n, SET, next_sync());                                                \
        look(seen, dest, 3 * n * s->size * sizeof(T));                                                                 \
        for (size_t k = 0; k < n * s->size; k++)                                                                       \
            check##BITS(s, "alltoalls", 3 * k, 1, (int)(k / n), 2 * (s->me * n + k % n));                              \
    }
MOVES(uint32_t, 32)
MOVES(uint64_t, 64)

/* --- reductions --- */

#define SMALL(TYPE, pe, i) ((TYPE)((int)(check_mix((uint64_t)(pe) << 32 ^ (uint64_t)(i) ^ (uint64_t)call_number << 16) % 5) - 2))
#define WIDE(TYPE, pe, i) VALUE(TYPE, pe, i, call_number)
#define OP_SUM(a, b) ((a) + (b))
#define OP_PROD(a, b) ((a) * (b))
#define OP_MAX(a, b) ((a) > (b) ? (a) : (b))
#define OP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define OP_AND(a, b) ((a) & (b))
#define OP_OR(a, b) ((a) | (b))
#define OP_XOR(a, b) ((a) ^ (b))

#define REDUCE(CALL, TYPE, DATA, OP)                                                                                   \
    static void CALL##_test(const struct set *s, int n)                                                                \
    {                                                                                                                  \
        next_place(s);                                                                                                 \
        TYPE *to = (TYPE *)dest, *from = call_number % 3 ? (TYPE *)source : to, *in = (TYPE *)seen;                    \
        for (int i = 0; i < n; i++) ((TYPE *)mine)[i] = DATA(TYPE, me, i);                                             \
        lay(from, mine, n * sizeof(TYPE));                                                                             \
        CALL(to, from, n, SET, (TYPE *)work, next_sync());                                                             \
        look(in, to, n * sizeof(TYPE));                                                                                \
        for (int i = 0; i < n; i++) {                                                                                  \
            TYPE want = DATA(TYPE, member(s, 0), i);                                                                   \
            for (int m = 1; m < s->size; m++) want = (TYPE)OP(want, DATA(TYPE, member(s, m), i));                      \
            CHECK(in[i] == want, #CALL " of set %d:%d:%d, element %d of %d", SET, i, n);                               \
        }                                                                                                              \
    }
#define BITS(TYPE, NAME)                                                                                               \
    REDUCE(shmem_##NAME##_and_to_all, TYPE, WIDE, OP_AND)                                                              \
    REDUCE(shmem_##NAME##_or_to_all, TYPE, WIDE, OP_OR)                                                                \
    REDUCE(shmem_##NAME##_xor_to_all, TYPE, WIDE, OP_XOR)
#define ORDER(TYPE, NAME)                                                                                              \
    REDUCE(shmem_##NAME##_max_to_all, TYPE, WIDE, OP_MAX)                                                              \
    REDUCE(shmem_##NAME##_min_to_all, TYPE, WIDE, OP_MIN)
#define ARITHMETIC(TYPE, NAME)                                                                                         \
    REDUCE(shmem_##NAME##_sum_to_all, TYPE, SMALL, OP_SUM)                                                             \
    REDUCE(shmem_##NAME##_prod_to_all, TYPE, SMALL, OP_PROD)
SHMEM_TO_ALL_BITWISE_TYPES(BITS)
SHMEM_TO_ALL_COMPARE_TYPES(ORDER)
SHMEM_TO_ALL_ARITHMETIC_TYPES(ARITHMETIC)

static void reductions(const struct set *s, int n)
{
#define RUN_BITS(TYPE, NAME)                                                                                           \
    shmem_##NAME##_and_to_all_test(s, n);                                                                              \
    shmem_##NAME##_or_to_all_test(s, n);                                                                               \
    shmem_##NAME##_xor_to_all_test(s, n);
#define RUN_ORDER(TYPE, NAME)                                                                                          \
    shmem_##NAME##_max_to_all_test(s, n);                                                                              \
    shmem_##NAME##_min_to_all_test(s, n);
#define RUN_ARITHMETIC(TYPE, NAME)                                                                                     \
    shmem_##NAME##_sum_to_all_test(s, n);                                                                              \
    shmem_##NAME##_prod_to_all_test(s, n);
    SHMEM_TO_ALL_BITWISE_TYPES(RUN_BITS)
    SHMEM_TO_ALL_COMPARE_TYPES(RUN_ORDER)
    SHMEM_TO_ALL_ARITHMETIC_TYPES(RUN_ARITHMETIC)
}

/* --- the sets --- */

static void test_set(int start, int log_stride, int size, size_t n)
{
    struct set set = {start, log_stride, size, -1}, *s = &set;
    for (int m = 0; m < size; m++)
        if (member(s, m) == me) set.me = m;
    if (set.me < 0) return;
    call_number = (start * 8 + log_stride) * 100000 + size * 1000 + PLACES - 1 - (start * 8 * 100000 + log_stride * 100000 + size * 1000) % PLACES;
    moves32(s, n);
    moves64(s, n);
    reductions(s, (int)n);
    next_place(s);
}

int main(void)
{
    check_start();
    places = shmem_malloc(PLACES * BYTES);
    source = shmem_malloc(BYTES);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync_a[i] = sync_b[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    test_set(0, 0, npes, 0);
    test_set(0, 0, npes, 5);
    test_set(0, 0, npes, MOST);
    /* Those of even and those of odd number at once, then neighbours, then each alone. */
    if (npes > 1) test_set(me & 1, 1, (npes + 1 - (me & 1)) / 2, 40);
    if (npes > 1 && (npes % 2 == 0 || me < npes - 1)) test_set(me & ~1, 0, 2, 33);
    test_set(me, 3, 1, 31);
    for (int stride = 0; 1 << stride < npes; stride++)
        for (int start = 0; start < 3 && start + (1 << stride) < npes; start++)
            test_set(start, stride, 1 + (npes - 1 - start) / (1 << stride), 3);
    next_sync();
    call_number++;
    next_sync();
    return check_end();
}

/* iput, iget, ibput, ibget of every type and size, with random strides, against a model that does the same
 * element by element. Sender and receiver draw the same numbers, so the receiver knows what must have come.
 */
/* env: SHMEM_SYMMETRIC_SIZE=64M */
/* timeout: 120 */
#include "check.h"

#define SPACE 240 /* elements of an array */
#define ROUNDS 10

static shmem_ctx_t ctx;
static uint64_t session; /* a seed for each type */

struct shape {
    ptrdiff_t dst, sst;
    size_t block, nblocks, dest_at, source_at;
    int form;
};

/* What PE `pe` does in a round. block 1 for iput and iget. */
static struct shape draw(int pe, int round, bool blocks)
{
    struct random r = {check_mix(session) ^ (uint64_t)pe << 40 ^ (uint64_t)round << 8};
    struct shape s = {.block = blocks ? 1 + random_below(&r, 5) : 1};
    s.dst = (ptrdiff_t)(s.block + random_below(&r, 7));
    s.sst = (ptrdiff_t)(s.block + random_below(&r, 7));
    size_t widest = (size_t)(s.dst > s.sst ? s.dst : s.sst);
    s.nblocks = random_below(&r, SPACE / 2 / widest);
    s.dest_at = random_below(&r, SPACE / 2 - s.block);
    s.source_at = random_below(&r, SPACE / 2 - s.block);
    s.form = (int)random_below(&r, 2);
    return s;
}

#define MODEL(dest, source, s)                 \
    for (size_t b = 0; b < (s).nblocks; b++)   \
        for (size_t k = 0; k < (s).block; k++) \
    (dest)[(s).dest_at + b * (size_t)(s).dst + k] = (source)[(s).source_at + b * (size_t)(s).sst + k]

#define CHECK_SPACE(seen, expected, what, s)                                                               \
    for (int i = 0; i < SPACE; i++)                                                                        \
    CHECK_NUM((seen)[i], (expected)[i], "%s: element %d (dst %td sst %td block %zu nblocks %zu)", what, i, \
              (s).dst, (s).sst, (s).block, (s).nblocks)

#define FILL(TYPE, array, pe, round) \
    for (int i = 0; i < SPACE; i++)  \
    (array)[i] = VALUE(TYPE, pe, i, round)

/* One round: `put` sends by shape s from `source` to `dest` of the right, `get` the reverse way around. */
#define ROUND(TYPE, NAME, blocks, PUT, GET)                                           \
    do {                                                                              \
        struct shape s = draw(me, round, blocks), theirs = draw(left, round, blocks); \
        FILL(TYPE, seen, 70 + me, round);                                             \
        lay(dest, seen, sizeof seen);                                                 \
        FILL(TYPE, model, 70 + me, round);                                            \
        FILL(TYPE, source, me, round);                                                \
        shmem_barrier_all();                                                          \
        PUT;                                                                          \
        shmem_ctx_quiet(ctx);                                                         \
        shmem_barrier_all();                                                          \
        FILL(TYPE, other, left, round);                                               \
        MODEL(model, other, theirs);                                                  \
        look(seen, dest, sizeof seen);                                                \
        CHECK_SPACE(seen, model, #NAME " put", theirs);                               \
        shmem_barrier_all();                                                          \
        FILL(TYPE, seen, 170 + me, round);                                            \
        lay(dest, seen, sizeof seen);                                                 \
        FILL(TYPE, other, 170 + right, round);                                        \
        FILL(TYPE, source, 30, round);                                                \
        FILL(TYPE, model, 30, round);                                                 \
        shmem_barrier_all();                                                          \
        GET;                                                                          \
        MODEL(model, other, s);                                                       \
        CHECK_SPACE(source, model, #NAME " get", s);                                  \
        shmem_barrier_all();                                                          \
    } while (0)

#define AT dest + s.dest_at, source + s.source_at, s.dst, s.sst
/* a get reads from the symmetric array into the private one */
#define FROM source + s.dest_at, dest + s.source_at, s.dst, s.sst

#define DEFINE(TYPE, NAME)                                                                           \
    static void test_##NAME(TYPE *dest)                                                              \
    {                                                                                                \
        static TYPE source[SPACE], model[SPACE], other[SPACE], seen[SPACE];                          \
        session++;                                                                                   \
        for (int round = 0; round < ROUNDS; round++) {                                               \
            ROUND(TYPE, NAME, false, if (s.form) shmem_##NAME##_iput(AT, s.nblocks, right);          \
                  else shmem_ctx_##NAME##_iput(ctx, AT, s.nblocks, right),                           \
                  if (s.form) shmem_##NAME##_iget(FROM, s.nblocks, right);                           \
                  else shmem_ctx_##NAME##_iget(ctx, FROM, s.nblocks, right));                        \
            ROUND(TYPE, NAME, true, if (s.form) shmem_##NAME##_ibput(AT, s.block, s.nblocks, right); \
                  else shmem_ctx_##NAME##_ibput(ctx, AT, s.block, s.nblocks, right),                 \
                  if (s.form) shmem_##NAME##_ibget(FROM, s.block, s.nblocks, right);                 \
                  else shmem_ctx_##NAME##_ibget(ctx, FROM, s.block, s.nblocks, right));              \
        }                                                                                            \
        TYPE expected[SPACE];                                                                        \
        FILL(TYPE, seen, me, 5);                                                                     \
        lay(dest, seen, sizeof seen);                                                                \
        FILL(TYPE, expected, me, 5);                                                                 \
        shmem_barrier_all();                                                                         \
        struct shape s = {.dst = 3, .sst = 2};                                                       \
        shmem_##NAME##_iput(NULL, NULL, 1, 1, 0, right);                                             \
        shmem_##NAME##_iget(NULL, NULL, 1, 1, 0, right);                                             \
        shmem_##NAME##_ibput(NULL, NULL, 1, 1, 1, 0, right);                                         \
        shmem_##NAME##_ibget(NULL, NULL, 1, 1, 0, 4, right);                                         \
        shmem_##NAME##_iput(AT, 0, right);                                                           \
        shmem_##NAME##_iget(AT, 0, right);                                                           \
        shmem_##NAME##_ibput(AT, 0, 5, right);                                                       \
        shmem_##NAME##_ibget(AT, 2, 0, right);                                                       \
        shmem_barrier_all();                                                                         \
        look(seen, dest, sizeof seen);                                                               \
        CHECK_SPACE(seen, expected, "nothing to do", s);                                             \
        shmem_barrier_all();                                                                         \
    }

/* Elements of a size, as structures: the sized forms take any type of that size. */
typedef struct {
    unsigned char byte[16];
} __attribute__((aligned(16))) bits128;

SHMEM_RMA_TYPES(DEFINE)

#define DEFINE_SIZED(BITS, TYPE)                                                                  \
    static void test_sized_##BITS(TYPE *dest)                                                     \
    {                                                                                             \
        static TYPE source[SPACE], model[SPACE], other[SPACE], seen[SPACE];                       \
        session++;                                                                                \
        for (int round = 0; round < ROUNDS; round++) {                                            \
            ROUND(TYPE, BITS, false, if (s.form) shmem_iput##BITS(AT, s.nblocks, right);          \
                  else shmem_ctx_iput##BITS(ctx, AT, s.nblocks, right),                           \
                  if (s.form) shmem_iget##BITS(FROM, s.nblocks, right);                           \
                  else shmem_ctx_iget##BITS(ctx, FROM, s.nblocks, right));                        \
            ROUND(TYPE, BITS, true, if (s.form) shmem_ibput##BITS(AT, s.block, s.nblocks, right); \
                  else shmem_ctx_ibput##BITS(ctx, AT, s.block, s.nblocks, right),                 \
                  if (s.form) shmem_ibget##BITS(FROM, s.block, s.nblocks, right);                 \
                  else shmem_ctx_ibget##BITS(ctx, FROM, s.block, s.nblocks, right));              \
        }                                                                                         \
        shmem_iput##BITS(NULL, NULL, 1, 1, 0, right);                                             \
        shmem_iget##BITS(NULL, NULL, 1, 1, 0, right);                                             \
        shmem_ibput##BITS(NULL, NULL, 1, 1, 0, 3, right);                                         \
        shmem_ibget##BITS(NULL, NULL, 1, 1, 3, 0, right);                                         \
    }
DEFINE_SIZED(8, uint8_t)
DEFINE_SIZED(16, uint16_t)
DEFINE_SIZED(32, uint32_t)
DEFINE_SIZED(64, uint64_t)

/* 16 bytes are compared as two numbers */
#undef FILL
#undef CHECK_SPACE
#define FILL(TYPE, array, pe, round)     \
    for (int i = 0; i < SPACE * 16; i++) \
    ((unsigned char *)(array))[i] = VALUE(unsigned char, pe, i, round)
#define CHECK_SPACE(seen, expected, what, s)                                                              \
    for (int i = 0; i < SPACE; i++)                                                                       \
    CHECK(memcmp(&(seen)[i], &(expected)[i], 16) == 0,                                                    \
          "%s: element %d (dst %td sst %td block %zu nblocks %zu)", what, i, (s).dst, (s).sst, (s).block, \
          (s).nblocks)
DEFINE_SIZED(128, bits128)

static __attribute__((aligned(16))) char in_static[SPACE * 16];

int main(void)
{
    check_start();
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    void *heap = shmem_align(64, SPACE * 16);
#define TEST(TYPE, NAME)                    \
    test_##NAME((TYPE *)(void *)in_static); \
    test_##NAME(heap);
    SHMEM_RMA_TYPES(TEST)
#undef TEST
    for (int k = 0; k < 2; k++) {
        void *dest = k ? heap : in_static;
        test_sized_8(dest);
        test_sized_16(dest);
        test_sized_32(dest);
        test_sized_64(dest);
        test_sized_128(dest);
    }
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_end();
}

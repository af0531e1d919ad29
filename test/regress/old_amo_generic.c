/* The generic forms of the atomics of before 1.4 took int, long and long long only: shmem_add(&an_unsigned, 1, pe) did not
 * compile. */
#include "../spec/check.h"

#define DEFINE(TYPE, NAME) \
    static void test_##NAME(void) \
    { \
        static TYPE cell[3]; \
        TYPE base = (TYPE)(100 * right + 1); \
        for (int i = 0; i < 3; i++) cell[i] = (TYPE)(100 * me + i); \
        shmem_barrier_all(); \
        CHECK_NUM(shmem_cswap(&cell[1], base + 1, (TYPE)9, right), base, #NAME " not equal"); \
        CHECK_NUM(shmem_cswap(&cell[1], base, (TYPE)50, right), base, #NAME " equal"); \
        CHECK_NUM(shmem_fadd(&cell[1], (TYPE)7, right), (TYPE)50, #NAME); \
        CHECK_NUM(shmem_finc(&cell[1], right), (TYPE)57, #NAME); \
        shmem_add(&cell[1], (TYPE)2, right); \
        shmem_inc(&cell[1], right); \
        shmem_barrier_all(); \
        for (int i = 0; i < 3; i++) CHECK_NUM(cell[i], (TYPE)(i == 1 ? 61 : 100 * me + i), #NAME " cell %d", i); \
        shmem_barrier_all(); \
    }
SHMEM_AMO_TYPES(DEFINE)

#define DEFINE_EXTENDED(TYPE, NAME) \
    static void extended_##NAME(void) \
    { \
        static TYPE cell[3]; \
        for (int i = 0; i < 3; i++) cell[i] = (TYPE)(10 * me + i); \
        shmem_barrier_all(); \
        CHECK_NUM(shmem_fetch(&cell[1], right), (TYPE)(10 * right + 1), #NAME); \
        CHECK_NUM(shmem_swap(&cell[1], (TYPE)77, right), (TYPE)(10 * right + 1), #NAME); \
        CHECK_NUM(shmem_fetch(cell + 1, right), (TYPE)77, #NAME); \
        shmem_set(cell + 2, (TYPE)88, right); \
        shmem_barrier_all(); \
        CHECK_NUM(cell[0], (TYPE)(10 * me), #NAME); \
        CHECK_NUM(cell[1], (TYPE)77, #NAME); \
        CHECK_NUM(cell[2], (TYPE)88, #NAME); \
        shmem_barrier_all(); \
    }
SHMEM_AMO_EXTENDED_TYPES(DEFINE_EXTENDED)

int main(void)
{
    check_start();
#define TEST(TYPE, NAME) test_##NAME();
    SHMEM_AMO_TYPES(TEST)
#undef TEST
#define TEST(TYPE, NAME) extended_##NAME();
    SHMEM_AMO_EXTENDED_TYPES(TEST)
#undef TEST
    return check_end();
}

/* The barriers in the allocation calls: on exit of those that allocate (when they fail too), on entry of
 * free, and none where nothing is asked for. */
/* env: SHMEM_SYMMETRIC_SIZE=16M */
#include "check.h"

static long arrived[64], before, word;

static void linger(void)
{
    for (volatile long i = 0; i < 2000000; i++) {
    }
}

/* A PE says to all that it is about to enter; when the call has returned, all must have said so. */
static void say_entering(int late)
{
    if (me == late) linger();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&arrived[me], before + 1, pe);
}

static void check_all_entered(const char *what)
{
    before++;
    for (int pe = 0; pe < npes; pe++)
        CHECK_NUM(arrived[pe], before, "PE %d has not entered %s", pe, what);
    shmem_barrier_all();
}

#define BARRIER_IN(statement)             \
    do {                                  \
        say_entering((int)before % npes); \
        statement;                        \
        check_all_entered(#statement);    \
    } while (0)

static void test_exit(void)
{
    void *p;
    for (int round = 0; round < 3; round++) {
        BARRIER_IN(p = shmem_malloc(100));
        BARRIER_IN(shmem_free(p));
        BARRIER_IN(p = shmem_calloc(100, 3));
        BARRIER_IN(shmem_free(p));
        BARRIER_IN(p = shmem_align(256, 100));
        BARRIER_IN(shmem_free(p));
        BARRIER_IN(p = shmem_malloc_with_hints(100, 0));
        BARRIER_IN(p = shmem_realloc(p, 50));
        BARRIER_IN(p = shmem_realloc(p, 500));
        BARRIER_IN(p = shmem_realloc(p, 0));
        BARRIER_IN(p = shmem_realloc(NULL, 500));
        BARRIER_IN(shmem_free(p));
    }
}

static void test_exit_after_failure(void)
{
    void *p = NULL, *block = shmem_malloc(64);
    BARRIER_IN(p = shmem_malloc((size_t)17 << 20));
    CHECK(p == NULL, "%p", p);
    BARRIER_IN(p = shmem_calloc(SIZE_MAX, 2));
    CHECK(p == NULL, "%p", p);
    BARRIER_IN(p = shmem_align(64, (size_t)17 << 20));
    CHECK(p == NULL, "%p", p);
    BARRIER_IN(p = shmem_malloc_with_hints((size_t)17 << 20, 0));
    CHECK(p == NULL, "%p", p);
    BARRIER_IN(p = shmem_realloc(block, (size_t)17 << 20));
    CHECK(p == NULL, "%p", p);
    shmem_free(block);
}

/* A block stays what it is until all PEs free it: a PE that comes late finds in his neighbour's what is in
 * there, and can write to it. */
static void test_free_entry(void)
{
    for (int round = 0; round < 20; round++) {
        long *block = shmem_malloc(1 << 20);
        LAY(&block[5], 1000 + me);
        shmem_barrier_all();
        if (me % 2 == round % 2) {
            linger();
            CHECK_NUM(shmem_long_g(&block[5], right), 1000L + right, "PE %d gave it back before this PE came",
                      right);
            shmem_long_p(block, me, right);
            CHECK_NUM(shmem_long_g(block, right), (long)me, "what was written to it, round %d", round);
        }
        shmem_free(block);
    }
}

/* Only one PE calls: anything that waited for the others would hang. */
static void test_none(void)
{
    if (me == 0)
        for (int i = 0; i < 100; i++) {
            CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 4) == NULL && shmem_calloc(4, 0) == NULL,
                  "no bytes");
            CHECK(shmem_align(64, 0) == NULL && shmem_malloc_with_hints(0, 0) == NULL, "no bytes");
            CHECK(shmem_realloc(NULL, 0) == NULL, "no bytes");
            shmem_free(NULL);
        }
    shmem_barrier_all();
}

/* The barrier completes what was put before it. */
static void test_quiet(void)
{
    for (long round = 1; round <= 200; round++) {
        shmem_long_put_nbi(&word, &round, 1, right);
        void *p = shmem_malloc(16);
        CHECK_NUM(word, round, "after malloc");
        shmem_barrier_all();
        long next = -round;
        shmem_long_put_nbi(&word, &next, 1, right);
        shmem_free(p);
        CHECK_NUM(word, next, "after free");
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    if (npes > 64) return 77;
    test_exit();
    test_exit_after_failure();
    test_free_entry();
    test_none();
    test_quiet();
    return check_end();
}

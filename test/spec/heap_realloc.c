/* shmem_realloc: contents kept on every PE however the block grows, shrinks or moves; failure keeps the
 * block. */
/* env: SHMEM_SYMMETRIC_SIZE=32M */
#include "check.h"

static void fill(unsigned char *block, size_t from, size_t to, int round)
{
    unsigned char *text = malloc(to - from + 1);
    for (size_t k = from; k < to; k++)
        text[k - from] = VALUE(unsigned char, me, k, round);
    if (from < to) shmem_putmem(block + from, text, to - from, right);
    free(text);
    shmem_barrier_all();
}

static void check_filled(const unsigned char *block, size_t n, int round)
{
    unsigned char *seen = malloc(n);
    look(seen, block, n);
    for (size_t k = 0; k < n; k++)
        CHECK_NUM(seen[k], VALUE(unsigned char, left, k, round), "byte %zu of %zu, round %d", k, n, round);
    free(seen);
}

/* What the right neighbour holds was put there by this PE: the copy is complete there as soon as realloc
 * returns. */
static void check_theirs(const unsigned char *block, size_t n, int round)
{
    unsigned char *theirs = malloc(n);
    shmem_getmem(theirs, block, n, right);
    for (size_t k = 0; k < n; k++)
        CHECK_NUM(theirs[k], VALUE(unsigned char, me, k, round), "byte %zu of %zu on PE %d", k, n, right);
    free(theirs);
}

static void test_sizes(void)
{
    static const size_t sizes[] = {1, 2, 15, 16, 17, 100, 5000, 4096, 64, 10000, 300000, 299999, 8, 1};
    unsigned char *block = shmem_realloc(NULL, sizes[0]), *wall = NULL;
    CHECK(block != NULL, "from NULL");
    fill(block, 0, sizes[0], 1);
    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (i % 3 == 0) wall = shmem_malloc(32); /* in the way of growing in place */
        size_t old = sizes[i - 1], kept = sizes[i] < old ? sizes[i] : old;
        block = shmem_realloc(block, sizes[i]);
        CHECK(block != NULL && (uintptr_t)block % 16 == 0, "%zu bytes at %p", sizes[i], (void *)block);
        check_theirs(block, kept, 1);
        check_filled(block, kept, 1);
        shmem_barrier_all();
        fill(block, kept, sizes[i], 1);
        check_filled(block, sizes[i], 1);
        if (i % 3 == 2) shmem_free(wall);
    }
    CHECK(shmem_realloc(block, 0) == NULL, "to nothing");
    shmem_free(wall);
}

/* A block that must move, with PEs that come late: nobody gets to write into a block that is still being
 * copied. */
static void test_late(void)
{
    enum { N = 200000 };
    static unsigned char seen[N];
    for (int round = 0; round < 5; round++) {
        unsigned char *block = shmem_malloc(N), *wall = shmem_malloc(16);
        lay_byte(block, round, N);
        shmem_barrier_all();
        if (me == round % npes)
            for (volatile long i = 0; i < 3000000; i++) {
            }
        block = shmem_realloc(block, 2 * N);
        shmem_uchar_p(block, (unsigned char)(100 + me), right); /* at once */
        shmem_uchar_p(block + N - 1, (unsigned char)(100 + me), right);
        shmem_barrier_all();
        look(seen, block, N);
        CHECK_NUM(seen[0], (unsigned char)(100 + left), "first byte, round %d", round);
        CHECK_NUM(seen[N - 1], (unsigned char)(100 + left), "last byte, round %d", round);
        for (int k = 1; k < N - 1; k++)
            CHECK_NUM(seen[k], (unsigned char)round, "byte %d", k);
        shmem_free(block);
        shmem_free(wall);
    }
}

static void test_failure(void)
{
    enum { N = 20000 };
    unsigned char *block = shmem_malloc(N);
    fill(block, 0, N, 2);
    CHECK(shmem_realloc(block, (size_t)64 << 20) == NULL, "more than the heap");
    CHECK(shmem_realloc(block, SIZE_MAX) == NULL && shmem_realloc(block, SIZE_MAX - 15) == NULL,
          "more than there is");
    check_filled(block, N, 2);
    unsigned char *wall = shmem_malloc(16), *rest = shmem_malloc((size_t)31 << 20);
    CHECK(wall != NULL && rest != NULL, "walls");
    CHECK(shmem_realloc(block, (size_t)2 << 20) == NULL, "no room to move to");
    check_filled(block, N, 2);
    shmem_free(rest);
    block = shmem_realloc(block, (size_t)2 << 20);
    CHECK(block != NULL, "room again");
    check_filled(block, N, 2);
    shmem_free(block);
    shmem_free(wall);
}

/* Grown in place over all of the heap, which moving could not do. */
static void test_in_place(void)
{
    unsigned char *block = shmem_malloc((size_t)20 << 20);
    fill(block, 0, 1000, 3);
    unsigned char *grown = shmem_realloc(block, (size_t)32 << 20);
    CHECK(grown != NULL, "there is room behind it");
    if (grown == NULL) return;
    check_filled(grown, 1000, 3);
    grown = shmem_realloc(grown, 1000);
    check_filled(grown, 1000, 3);
    unsigned char *rest = shmem_malloc((size_t)31 << 20);
    CHECK(rest != NULL, "what it gave back is free");
    shmem_free(rest);
    shmem_free(grown);
}

int main(void)
{
    check_start();
    CHECK(shmem_realloc(NULL, 0) == NULL, "nothing from nothing");
    test_sizes();
    test_late();
    test_failure();
    test_in_place();
    return check_end();
}

/* Symmetric memory: blocks of many sizes, disjoint, aligned, at the same offset everywhere, reached by every
 * PE. */
/* env: SHMEM_SYMMETRIC_SIZE=64M */
#include "check.h"

#define BLOCKS 60
static uint64_t where[BLOCKS];

static size_t size_of(int i)
{
    return i < 40 ? (size_t)i * 7 + 1 : (size_t)1 << (i - 36);
}

/* The neighbour's block lies as far from its first block as it does here: the first of the same heap, where those with
 * hints and those without, which alternate, may be of two. */
static void check_offsets(unsigned char *block[BLOCKS], int heaps)
{
    uint64_t theirs[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        where[i] = (uint64_t)(block[i] - block[i % heaps]);
    shmem_barrier_all();
    shmem_getmem(theirs, where, sizeof theirs, right);
    for (int i = 0; i < BLOCKS; i++)
        CHECK_NUM(theirs[i], where[i], "offset of block %d on PE %d", i, right);
    shmem_barrier_all();
}

static void check_disjoint(unsigned char *block[BLOCKS])
{
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < i; k++)
            CHECK(block[i] + size_of(i) <= block[k] || block[k] + size_of(k) <= block[i],
                  "blocks %d and %d overlap", i, k);
}

static void check_block(const unsigned char *block, int i, int round)
{
    unsigned char *seen = malloc(size_of(i));
    look(seen, block, size_of(i));
    for (size_t k = 0; k < size_of(i); k++)
        CHECK_NUM(seen[k], VALUE(unsigned char, left, (uint64_t)i << 24 | k, round), "block %d byte %zu", i, k);
    free(seen);
}

/* The left neighbour fills the blocks here; every byte is looked at. */
static void check_contents(unsigned char *block[BLOCKS], int round)
{
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *text = malloc(size_of(i));
        for (size_t k = 0; k < size_of(i); k++)
            text[k] = VALUE(unsigned char, me, (uint64_t)i << 24 | k, round);
        shmem_putmem(block[i], text, size_of(i), right);
        free(text);
    }
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i++)
        check_block(block[i], i, round);
    shmem_barrier_all();
}

static void test_blocks(void)
{
    unsigned char *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = i % 2 ? shmem_malloc(size_of(i))
                         : shmem_malloc_with_hints(size_of(i), SHMEM_MALLOC_ATOMICS_REMOTE);
        CHECK(block[i] != NULL, "%zu bytes", size_of(i));
        CHECK((uintptr_t)block[i] % 16 == 0, "%p", (void *)block[i]);
    }
    check_disjoint(block);
    check_offsets(block, 2);
    check_contents(block, 1);
    /* half of them go and come again, of other sizes in between; the others keep what they hold */
    for (int i = 0; i < BLOCKS; i += 2)
        shmem_free(block[i]);
    char *between = shmem_malloc(12345);
    CHECK(between != NULL, "12345 bytes");
    for (int i = 1; i < BLOCKS; i += 2)
        check_block(block[i], i, 1);
    for (int i = 0; i < BLOCKS; i += 2)
        block[i] = shmem_malloc(size_of(i));
    shmem_free(between);
    check_disjoint(block);
    check_offsets(block, 1);
    check_contents(block, 2);
    for (int i = BLOCKS - 1; i >= 0; i--)
        shmem_free(block[i]);
}

static void test_calloc(void)
{
    static const struct {
        size_t count, size;
    } shapes[] = {{1, 1}, {3, 5}, {1000, 8}, {4096, 1}, {1, 3000001}, {5000, 1001}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        size_t n = shapes[i].count * shapes[i].size, wrong = 0;
        /* the same place first holds something else, on pages that are not given back: blocks lie on either
         * side */
        void *before = shmem_malloc(16);
        unsigned char *block = shmem_malloc(n);
        void *behind = shmem_malloc(16);
        lay_byte(block, 0xa5, n);
        shmem_barrier_all();
        shmem_free(block);
        block = shmem_calloc(shapes[i].count, shapes[i].size);
        CHECK(block != NULL, "%zu bytes", n);
        /* zero on every PE at once, this one's and the neighbour's */
        unsigned char *ours = malloc(n), *theirs = malloc(n);
        shmem_getmem(theirs, block, n, right);
        look(ours, block, n);
        for (size_t k = 0; k < n; k++)
            wrong += ours[k] != 0 || theirs[k] != 0;
        CHECK_NUM(wrong, (size_t)0, "bytes that are not zero in %zu", n);
        free(ours);
        free(theirs);
        shmem_free(block);
        shmem_free(before);
        shmem_free(behind);
    }
    CHECK(shmem_calloc(SIZE_MAX / 2, 3) == NULL, "more than SIZE_MAX");
    CHECK(shmem_calloc((size_t)1 << 32, ((size_t)1 << 32) + 1) == NULL, "SIZE_MAX is exceeded by little");
}

static void test_align(void)
{
    void *block[24];
    int n = 0;
    for (size_t align = sizeof(void *); align <= (size_t)8 << 20; align *= 2) {
        char *odd = shmem_malloc(24);
        block[n] = shmem_align(align, align / 2 + 3);
        CHECK(block[n] != NULL && (uintptr_t)block[n] % align == 0, "%p, alignment %zu", block[n], align);
        lay_byte(block[n], me, align / 2 + 3);
        n++;
        shmem_free(odd);
    }
    while (n > 0)
        shmem_free(block[--n]);
    CHECK(shmem_align(64, 0) == NULL, "no bytes");
}

static void test_hints(void)
{
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE, ~0L, 1L << 40};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        long *block = shmem_malloc_with_hints(sizeof *block, hints[i]);
        CHECK(block != NULL, "hints %lx", (unsigned long)hints[i]);
        shmem_long_p(block, hints[i] ^ me, right);
        shmem_barrier_all();
        CHECK_NUM(LOOK(block), hints[i] ^ left, "hints %lx", (unsigned long)hints[i]);
        shmem_free(block);
    }
    CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL, "no bytes");
}

/* The heap is as large as was asked for, and whole again after everything was freed. */
static void test_all_of_it(void)
{
    size_t size = (size_t)64 << 20;
    for (int round = 0; round < 3; round++) {
        unsigned char *all = shmem_malloc(size);
        CHECK(all != NULL, "all of the heap, round %d", round);
        if (all == NULL) return;
        shmem_uchar_p(all, (unsigned char)(me + 1), right);
        shmem_uchar_p(all + size - 1, (unsigned char)(me + 2), right);
        CHECK(shmem_malloc(1) == NULL, "a byte more");
        CHECK(shmem_calloc(1, 1) == NULL && shmem_align(64, 64) == NULL, "a byte more");
        shmem_barrier_all();
        CHECK_NUM(LOOK(all), (unsigned char)(left + 1), "the first byte");
        CHECK_NUM(LOOK(all + size - 1), (unsigned char)(left + 2), "the last byte");
        shmem_free(all);
        CHECK(shmem_malloc(size + 1) == NULL && shmem_malloc(SIZE_MAX) == NULL, "more than the heap");
    }
}

int main(void)
{
    check_start();
    CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL, "no bytes");
    shmem_free(NULL);
    test_blocks();
    test_calloc();
    test_align();
    test_hints();
    test_all_of_it();
    return check_end();
}

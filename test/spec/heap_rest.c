/* not-for-devices: it is about the pages of the host's heap */
/* Pages of freed blocks go back to the system: at once, or soon where blocks come and go in quick turn; and what lies on
 * pages that have not gone back is zero all the same where zeroes were asked for. */
/* env: SHMEM_SYMMETRIC_SIZE=1G */
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
enum { BLOCKS = 150 };

/* Bytes of [block, block + bytes) for which there is memory. */
static size_t committed(void *block, size_t bytes)
{
    static unsigned char there[BLOCKS * MIB / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page, n = 0;
    char *from = (char *)(((uintptr_t)block + page - 1) / page * page);
    if (mincore(from, (pages - 1) * page, there) != 0) return 0;
    for (size_t i = 0; i < pages - 1; i++) n += there[i] & 1;
    return n * page;
}

static unsigned char *taken(size_t bytes)
{
    unsigned char *block = shmem_malloc(bytes);
    CHECK(block != NULL, "%zu bytes", bytes);
    memset(block, 0xa5, bytes);
    return block;
}

/* In quick turn, so that freed pages are kept for the next block. */
static void hurry(size_t bytes)
{
    for (int i = 0; i < 8; i++) shmem_free(taken(bytes));
}

static void test_at_once(void)
{
    unsigned char *block = taken(MIB);
    CHECK(committed(block, MIB) > MIB / 2, "mincore sees no memory");
    shmem_free(block);
    CHECK_NUM(committed(block, MIB), (size_t)0, "bytes of a block that was freed");
}

static void test_large_at_once(void)
{
    hurry(MIB);
    unsigned char *block = taken(8 * MIB);
    shmem_free(block);
    CHECK_NUM(committed(block, 8 * MIB), (size_t)0, "bytes of a large block that was freed");
}

/* Not more than 128 MiB stay for a while. */
static void test_not_too_much(void)
{
    unsigned char *block[BLOCKS];
    hurry(MIB);
    for (int i = 0; i < BLOCKS; i++) block[i] = taken(MIB);
    for (int i = 0; i < BLOCKS; i++) shmem_free(block[i * 7 % BLOCKS]);
    size_t bytes = committed(block[0], BLOCKS * MIB);
    CHECK(bytes <= 128 * MIB, "%zu bytes of freed blocks are kept", bytes);
}

/* Some time after the block was freed, in which something happens, on all PEs but those that are `excused`. */
static bool goes_back(void (*meanwhile)(void), bool excused)
{
    static int here, everywhere;
    unsigned char *block = (hurry(MIB), taken(MIB));
    shmem_free(block);
    everywhere = 0;
    for (int i = 0; i < 60 && !everywhere; i++) {
        meanwhile();
        here = excused || committed(block + MIB / 2, MIB / 2) == 0; /* others may lie before that */
        shmem_int_min_reduce(SHMEM_TEAM_WORLD, &everywhere, &here, 1);
    }
    return everywhere;
}

static void others_come_and_go(void)
{
    usleep(20000);
    for (int i = 0; i < 32; i++) shmem_free(shmem_malloc(16));
}

static void all_wait_for_the_last(void)
{
    if (me == npes - 1) usleep(250000);
    shmem_barrier_all();
}

static void test_soon(void)
{
    CHECK(goes_back(others_come_and_go, false), "memory of a freed block is kept while others come and go");
    if (npes > 1)
        CHECK(goes_back(all_wait_for_the_last, me == npes - 1), "memory of a freed block is kept while its PE waits");
}

/* On pages that were kept. */
static void test_zero(void)
{
    hurry(MIB);
    size_t sizes[] = {100, 4096, 100000, MIB - 4096, 2 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        shmem_free(taken(MIB));
        unsigned char *block = shmem_calloc(sizes[i], 1);
        size_t wrong = 0;
        for (size_t k = 0; k < sizes[i]; k++) wrong += block[k] != 0;
        CHECK_NUM(wrong, (size_t)0, "bytes that are not zero in %zu", sizes[i]);
        shmem_free(block);
    }
}

/* What a neighbour puts into blocks on kept pages, closed ones and both is there. */
static void test_mixed(void)
{
    unsigned char *block[16];
    for (int round = 0; round < 40; round++) {
        size_t bytes = 4096 * (size_t)(1 + round * 7 % 40) + 100;
        for (int i = 0; i < 16; i++) block[i] = shmem_malloc(bytes + (size_t)i * 1000);
        for (int i = 0; i < 16; i++) {
            shmem_uchar_p(block[i], VALUE(unsigned char, me, i, round), right);
            shmem_uchar_p(block[i] + bytes - 1, VALUE(unsigned char, me, i, round), right);
        }
        shmem_barrier_all();
        for (int i = 0; i < 16; i++) {
            CHECK_NUM(block[i][0], VALUE(unsigned char, left, i, round), "block %d round %d", i, round);
            CHECK_NUM(block[i][bytes - 1], VALUE(unsigned char, left, i, round), "end of block %d round %d", i, round);
        }
        for (int i = 0; i < 16; i++) shmem_free(block[i * 7 % 16]);
        if (round % 8 == 0) usleep(60000); /* what is kept is old */
    }
}

int main(void)
{
    check_start();
    test_at_once();
    unsigned char *all = shmem_malloc(BLOCKS * MIB + 20 * MIB), *wall = shmem_malloc(16);
    CHECK(all != NULL && wall != NULL, "blocks");
    shmem_free(all); /* those that follow lie there, below the top */
    test_large_at_once();
    test_not_too_much();
    test_soon();
    test_zero();
    test_mixed();
    shmem_free(wall);
    return check_end();
}

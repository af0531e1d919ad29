/* not-for-devices: it is about the pages of the host's heap */
/* Memory of freed blocks: given back to the system, and zero when it comes again; the heap costs what is
 * touched. */
/* env: SHMEM_SYMMETRIC_SIZE=4G */
#include "check.h"

#include <unistd.h>

/* Bytes of shared memory that are mapped into this process, from /proc/self/status; -1 where there is none.
 */
static long shared_bytes(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL) return -1;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssShmem: %ld kB", &kib) == 1) break;
    fclose(f);
    return kib < 0 ? -1 : kib * 1024;
}

#define BLOCK ((size_t)8 << 20)

/* Without giving memory back, the rounds would add up to 64 times the block on each PE; zero pages show it.
 */
static void test_given_back(void)
{
    unsigned char *keep = shmem_malloc(100);
    for (int round = 0; round < 8; round++) {
        unsigned char *block = shmem_malloc(BLOCK), *wall = shmem_malloc(100);
        size_t wrong = 0;
        CHECK(block != NULL, "round %d", round);
        for (size_t k = 0; k < BLOCK; k++)
            wrong += block[k] != 0;
        CHECK_NUM(wrong, (size_t)0, "bytes that were not given back, round %d", round);
        shmem_barrier_all();
        if (shmem_ptr(block, right)) /* not on another machine */
            memset(shmem_ptr(block, right), 0x5a, BLOCK);
        shmem_barrier_all();
        shmem_free(block);
        shmem_free(wall);
    }
    shmem_free(keep);
}

/* 3 GiB of which only the ends are touched. */
static void test_lazy(void)
{
    size_t size = (size_t)3 << 30;
    long first = shared_bytes();
    unsigned char *block = shmem_calloc(size, 1);
    CHECK(block != NULL, "3 GiB");
    if (block == NULL) return;
    for (int pe = 0; pe < npes; pe++) {
        shmem_uchar_p(block + (size_t)pe * 4096, (unsigned char)me, pe);
        CHECK_NUM(shmem_uchar_g(block + size - 1, pe), 0, "the last byte on PE %d", pe);
    }
    long now = shared_bytes();
    if (first >= 0) CHECK(now - first < 64 << 20, "%ld bytes are mapped for it", now - first);
    shmem_free(block);
}

/* Pages between live blocks are closed when free and work again when taken, in any pattern. */
static void test_holes(void)
{
    enum { N = 64 };
    size_t bytes = 5 * 4096;
    unsigned char *block[N];
    struct random r = {7};
    for (int i = 0; i < N; i++)
        block[i] = shmem_malloc(bytes);
    for (int round = 0; round < 30; round++) {
        int gone[N];
        for (int i = 0; i < N; i++) {
            gone[i] = random_below(&r, 2) != 0;
            if (gone[i]) shmem_free(block[i]);
        }
        for (int i = 0; i < N; i++)
            if (gone[i]) block[i] = shmem_malloc(bytes);
        for (int i = 0; i < N; i++) {
            unsigned char value = VALUE(unsigned char, me, i, round);
            shmem_uchar_p(block[i], value, right);
            shmem_uchar_p(block[i] + bytes - 1, value, right);
        }
        shmem_barrier_all();
        for (int i = 0; i < N; i++) {
            CHECK_NUM(block[i][0], VALUE(unsigned char, left, i, round), "block %d", i);
            CHECK_NUM(block[i][bytes - 1], VALUE(unsigned char, left, i, round), "end of block %d", i);
        }
        shmem_barrier_all();
    }
    for (int i = 0; i < N; i++)
        shmem_free(block[i]);
}

int main(void)
{
    check_start();
    test_given_back();
    test_lazy();
    test_holes();
    return check_end();
}

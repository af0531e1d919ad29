/* More holes between blocks than the kernel lets a process cut its mappings into: freed pages stay open then,
 * and every block works again when it is taken. */
/* npes: 1 2 */
/* env: SHMEM_SYMMETRIC_SIZE=256M */
/* timeout: 120 */
#include "../spec/check.h"

#define BLOCKS 20000
#define BYTES ((size_t)8192)

static unsigned char *block[BLOCKS];

/* Lines of a file of /proc, its first number, or 0. */
static long lines_of(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;
    for (int c; f != NULL && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f != NULL) fclose(f);
    return n;
}

static long number_in(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;
    if (f != NULL && fscanf(f, "%ld", &n) != 1) n = 0;
    if (f != NULL) fclose(f);
    return n;
}

static void check_maps(const char *when)
{
    long most = number_in("/proc/sys/vm/max_map_count"), maps = lines_of("/proc/self/maps");
    if (most > 0) CHECK(maps < most * 3 / 4, "%ld of %ld mappings, %s", maps, most, when);
}

static void use(int i, int round)
{
    unsigned char value = VALUE(unsigned char, me, i, round);
    shmem_uchar_p(block[i], value, right);
    shmem_uchar_p(block[i] + BYTES - 1, value, right);
}

static void check_used(int i, int round)
{
    CHECK_NUM(block[i][0], VALUE(unsigned char, left, i, round), "block %d", i);
    CHECK_NUM(block[i][BYTES - 1], VALUE(unsigned char, left, i, round), "end of block %d", i);
}

int main(void)
{
    check_start();
    for (int i = 0; i < BLOCKS; i++)
        block[i] = shmem_malloc(BYTES);
    CHECK(block[BLOCKS - 1] != NULL, "the last block");
    for (int i = 0; i < BLOCKS; i += 7)
        use(i, 1);
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i += 2)
        shmem_free(block[i]);
    check_maps("every second block is free");
    for (int i = 7; i < BLOCKS; i += 14)
        check_used(i, 1);
    for (int i = 0; i < BLOCKS; i += 2)
        block[i] = shmem_malloc(BYTES);
    check_maps("all blocks are there again");
    for (int i = 0; i < BLOCKS; i += 5)
        use(i, 2);
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i += 5)
        check_used(i, 2);
    for (int i = BLOCKS - 1; i >= 0; i--)
        shmem_free(block[i]);
    unsigned char *all = shmem_malloc((size_t)256 << 20);
    CHECK(all != NULL, "the whole heap is free in the end");
    if (all != NULL) {
        for (size_t k = 0; k < (size_t)256 << 20; k += 1 << 16)
            shmem_uchar_p(all + k, 1, right);
        shmem_free(all);
    }
    return check_end();
}

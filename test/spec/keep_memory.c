/* not-for-devices: behind finalize there is no get, and the memory of a device is given back */
/* shmemx_keep_memory: what was allocated can be read behind finalize, one's own and what a peer wrote; peers' heaps
 * stay mapped, too; the next init makes another heap; descriptors do not pile up. */
#include <shmemx.h>

#include <dirent.h>
#include <sys/mman.h>

#include "check.h"

enum { ROUNDS = 4, N = 5000 };
static long *kept[ROUNDS], *peers[ROUNDS];

static int descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) n++;
    if (dir) closedir(dir);
    return n;
}

static bool is_mapped(const void *p)
{
    unsigned char resident;
    return mincore((void *)((uintptr_t)p & ~(uintptr_t)4095), 1, &resident) == 0;
}

static void fill(int round)
{
    kept[round] = shmem_malloc(N * sizeof(long));
    for (long i = 0; i < N; i++) shmem_long_p(&kept[round][i], VALUE(long, me, i, round), right);
    shmem_barrier_all();
    peers[round] = shmem_ptr(kept[round], right); /* NULL: on another machine */
}

static void check_kept(int upto)
{
    for (int round = 0; round <= upto; round++)
        for (long i = 0; i < N; i += 97) {
            CHECK_NUM(kept[round][i], VALUE(long, left, i, round), "kept, round %d", round);
            if (peers[round])
                CHECK_NUM(peers[round][i], VALUE(long, me, i, round), "the neighbour's, round %d", round);
        }
}

int main(void)
{
    int before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_keep_memory(1);
        check_start();
        fill(round);
        for (int i = 0; i < round; i++) CHECK(kept[i] != kept[round], "a heap at the place of one that was kept");
        shmem_barrier_all();
        shmem_finalize();
        check_kept(round);
        kept[round][1] = -1; /* it can be written as well: nobody gets it any more */
        kept[round][1] = VALUE(long, left, 1, round);
        if (round == 0) before = descriptors();
        CHECK_NUM(descriptors(), before, "open descriptors behind round %d", round);
    }
    shmemx_keep_memory(0);
    check_start();
    long *last = shmem_malloc(1 << 16), *last_peer = shmem_ptr(last, right);
    check_kept(ROUNDS - 1);
    shmem_finalize();
    CHECK(!is_mapped(last) && (!last_peer || !is_mapped(last_peer)), "mapped behind finalize although nothing was to be kept");
    CHECK(is_mapped(kept[0]), "this one should be");
    check_kept(ROUNDS - 1);
    check_start();
    return check_end();
}

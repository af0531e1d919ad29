/* Messages in a second, and bandwidth both ways: each PE of a pair puts windows of 64 blocks, each ended by a quiet.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/rate.c -o rate && oshrun -n 2 ./rate
 *
 * "one way": one of each pair; "both ways": both. The pairs are PEs 0 and 1, 2 and 3, ..., and what is counted is what
 * all of them do.
 */
#include "bench_shmem.h"

enum { BATCH = 64, BIG = 16 << 20, REGION = 32 << 20 };

static char *heap, *own, *far;
static size_t bytes;
static int partner;
static bool one_way;

static size_t at(long i)
{
    size_t places = REGION / bytes < BATCH ? REGION / bytes : BATCH;
    return (size_t)i % places * bytes;
}

static bool is_idle(void)
{
    return partner >= npes || (one_way && me % 2 == 1);
}

static void start_put(long i)
{
    shmem_putmem_nbi(heap + at(i), own + at(i), bytes, partner);
}

static void put_windows(long n)
{
    if (is_idle()) return;
    for (long w = 0; w < n; w++) {
        for (long i = 0; i < BATCH; i++)
            start_put(i);
        shmem_quiet();
    }
}

static void put_both(long n)
{
    if (is_idle()) return;
    LOOP start_put(bench_done + i);
    shmem_quiet();
}

static void copy_both(long n)
{
    if (is_idle()) return;
    LOOP
    {
        memcpy(far + at(bench_done + i), own + at(bench_done + i), bytes);
        KEEP(far);
    }
}

static void messages(const char *series)
{
    double windows = one_way ? npes / 2 : npes / 2 * 2;
    double ns = bench_together(put_windows);
    bench_at("message rate", series, bytes, windows * BATCH / ns * 1e3, "Mops/s");
}

static void bandwidth(const char *series, bench_work *work)
{
    double ns = bench_together(work);
    bench_at("bidirectional", series, bytes, (double)bytes * (npes / 2 * 2) / ns * 1e3, "MB/s");
}

int main(void)
{
    bench_start();
    partner = me ^ 1;
    heap = bench_heap(REGION);
    own = bench_private(REGION);
    far = bench_reach(heap, partner < npes ? partner : me);
    if (partner < npes) bench_touch(heap, own, REGION, partner);
    for (bytes = 8; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, 4096)) {
        one_way = true;
        messages("one way");
        one_way = false;
        messages("both ways");
    }
    for (bytes = 4096; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, BIG)) {
        bandwidth("heap", put_both);
        bandwidth("limit", copy_both);
    }
    shmem_finalize();
    return 0;
}

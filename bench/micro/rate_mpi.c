/* Messages in a second, and bandwidth both ways, with MPI_Put: what rate.c does, in a window.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/rate_mpi.c -o rate && mpirun -n 2 ./rate
 */
#include "bench_mpi.h"

enum { BATCH = 64, BIG = 16 << 20, REGION = 32 << 20 };

static char *own;
static MPI_Win window;
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
    MPI_Put(own + at(i), (int)bytes, MPI_BYTE, partner, (MPI_Aint)at(i), (int)bytes, MPI_BYTE, window);
}

static void put_windows(long n)
{
    if (is_idle()) return;
    for (long w = 0; w < n; w++) {
        for (long i = 0; i < BATCH; i++)
            start_put(i);
        MPI_Win_flush(partner, window);
    }
}

static void put_both(long n)
{
    if (is_idle()) return;
    LOOP start_put(bench_done + i);
    MPI_Win_flush(partner, window);
}

static void messages(const char *series)
{
    double windows = one_way ? npes / 2 : npes / 2 * 2;
    double ns = bench_together(put_windows);
    bench_at("message rate", series, bytes, windows * BATCH / ns * 1e3, "Mops/s");
}

int main(void)
{
    void *part;
    bench_start();
    partner = me ^ 1;
    own = bench_private(REGION);
    window = bench_window(REGION, &part);
    if (partner < npes) bench_touch(window, own, REGION, partner);
    for (bytes = 8; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, 4096)) {
        one_way = true;
        messages("one way");
        one_way = false;
        messages("both ways");
    }
    for (bytes = 4096; bytes && !bench_over_together(); bytes = bench_next_size(bytes, 8, BIG)) {
        double ns = bench_together(put_both);
        bench_at("bidirectional", "heap", bytes, (double)bytes * (npes / 2 * 2) / ns * 1e3, "MB/s");
    }
    bench_close(window);
    MPI_Finalize();
    return 0;
}

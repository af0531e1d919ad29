/* Random access updates (GUPS) with MPI: what gups.c does with OpenSHMEM.
 *
 *     mpicc -O2 gups_mpi.c -o gups_mpi && mpirun -n 2 gups_mpi [log2-of-words [batches]]
 *
 * By MPI_Accumulate with XOR and with SUM in one epoch for all, and by buckets: updates are sorted by owner, exchanged
 * with MPI_Alltoallv, and each owner applies what it got. */
#include <math.h>
#include "ranks.h"
#include "gups.h"

static MPI_Win window;
static uint64_t value[BATCH]; /* MPI may read it until the flush */

/* So many batches, or until time is over. Returns the update that comes next. */
static size_t accumulate(size_t from, size_t most, double end, MPI_Op op, int sign)
{
    for (size_t b = 0; b < most && seconds_now() < end; b++, from += BATCH) {
        for (size_t k = 0; k < BATCH; k++) {
            struct update u = update_number(from + k);
            value[k] = sign < 0 ? -u.value : u.value;
            MPI_Accumulate(&value[k], 1, MPI_UINT64_T, u.pe, (MPI_Aint)u.word, 1, MPI_UINT64_T, op, window);
        }
        MPI_Win_flush_all(window);
    }
    return from;
}

static size_t run_accumulate(MPI_Op op, struct rounds *rounds)
{
    size_t done = 0;
    while (another_gups_round(rounds)) {
        size_t from = done;
        double begin = job_clock();
        done = accumulate(from, batches, begin + seconds_of_round, op, 1);
        add_gups_round(rounds, job_took(begin), done - from);
    }
    return done;
}

/* The first who touches a page has it mapped, which is no part of an update. */
static void touch_pages(void)
{
    for (int rank = 0; rank < npes; rank++)
        for (size_t i = 0; i < words; i += 512)
            MPI_Get(&value[0], 1, MPI_UINT64_T, rank, (MPI_Aint)i, 1, MPI_UINT64_T, window);
    MPI_Win_flush_all(window);
}

static void by_accumulate(const char *series, MPI_Op op, int undo_sign, uint64_t (*changes)(void),
                          uint64_t (*updates)(size_t))
{
    struct rounds rounds = {.n = 0};
    size_t done = run_accumulate(op, &rounds);
    MPI_Win_sync(window);
    must_be_equal(series, changes(), updates(done));
    accumulate(0, done / BATCH, HUGE_VAL, op, undo_sign);
    MPI_Win_sync(window);
    must_be_undone(series, 0);
    report_gups(series, &rounds);
}

/* What goes to one rank in one exchange: a batch, or less. */
struct pair {
    uint64_t word, value;
};

static struct pair *sorted, *arrived;
static int *counts, *starts, *counts_in, *starts_in; /* in numbers of 8 bytes */
static int *header, *header_in; /* for each rank: how many numbers, and whether the sender's time is over */

static void sort_batch(size_t first)
{
    memset(counts, 0, (size_t)npes * sizeof *counts);
    for (size_t k = first; k < first + BATCH; k++) {
        struct update u = update_number(k);
        sorted[(starts[u.pe] + counts[u.pe]) / 2] = (struct pair){u.word, u.value};
        counts[u.pe] += 2;
    }
}

/* Whether anybody's time is over. */
static int exchange(int over)
{
    int any = 0, at = 0;
    for (int r = 0; r < npes; r++)
        header[2 * r] = counts[r], header[2 * r + 1] = over;
    MPI_Alltoall(header, 2, MPI_INT, header_in, 2, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < npes; at += counts_in[r++]) {
        counts_in[r] = header_in[2 * r];
        any |= header_in[2 * r + 1];
        starts_in[r] = at;
    }
    MPI_Alltoallv(sorted, counts, starts, MPI_UINT64_T, arrived, counts_in, starts_in, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < at / 2; i++)
        table[arrived[i].word] ^= arrived[i].value;
    return any;
}

static size_t do_batches(size_t from, size_t most, double end)
{
    for (size_t b = 0; b < most; b++) {
        sort_batch(from);
        from += BATCH;
        if (exchange(seconds_now() > end)) break;
    }
    return from;
}

static void by_buckets(void)
{
    struct rounds rounds = {.n = 0};
    size_t done = run_in_rounds(do_batches, &rounds);
    must_be_equal("buckets by alltoallv", xor_of_changes(), xor_of_updates(done));
    do_batches(0, done / BATCH, HUGE_VAL);
    must_be_undone("buckets by alltoallv", 0);
    report_gups("buckets by alltoallv", &rounds);
}

static void make_buckets(void)
{
    size_t n = (size_t)npes;
    sorted = need(malloc(n * BATCH * sizeof *sorted), "a batch");
    arrived = need(malloc(n * BATCH * sizeof *arrived), "what arrives");
    int *all = need(calloc(8 * n, sizeof *all), "counts");
    counts = all, starts = all + n, counts_in = all + 2 * n, starts_in = all + 3 * n;
    header = all + 4 * n, header_in = all + 6 * n;
    for (size_t r = 0; r < n; r++)
        starts[r] = (int)(r * BATCH * 2); /* room for a batch that is all for one rank */
}

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    gups_set_up(argc, argv);
    uint64_t *plain = table;
    MPI_Win_allocate((MPI_Aint)(words * sizeof *table), sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &window);
    fill_table();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    touch_pages();
    by_accumulate("accumulate, xor", MPI_BXOR, 1, xor_of_changes, xor_of_updates);
    by_accumulate("accumulate, sum", MPI_SUM, -1, sum_of_changes, sum_of_updates);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    table = plain;
    make_buckets();
    fill_table();
    by_buckets();
    job_end();
    return 0;
}

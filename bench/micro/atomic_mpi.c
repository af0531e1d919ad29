/* The atomics with MPI: MPI_Fetch_and_op, MPI_Compare_and_swap until the value is there, else MPI_Accumulate.
 *
 *     mpicc -O2 -std=gnu11 bench/micro/atomic_mpi.c -o atomic && mpirun -n 2 ./atomic
 */
#include "bench_mpi.h"

static int64_t static64[8], operand = 3, result;
static MPI_Win of_heap, of_static, window;
static MPI_Datatype type;
static MPI_Op op;
static int target;

static void fetching(long n)
{
    LOOP
    {
        MPI_Fetch_and_op(&operand, &result, type, target, 0, op, window);
        MPI_Win_flush(target, window);
    }
}

static void updating(long n)
{
    LOOP
    {
        MPI_Accumulate(&operand, 1, type, target, 0, 1, type, op, window);
        MPI_Win_flush_local(target, window);
    }
    MPI_Win_flush(target, window);
}

static void comparing(long n)
{
    LOOP
    {
        int64_t expected = (int64_t)i;
        MPI_Compare_and_swap(&operand, &expected, &result, type, target, 0, window);
        MPI_Win_flush(target, window);
    }
}

static const struct operation {
    const char *name;
    bench_work *work;
    MPI_Op op;
} operations[] = {
    {"fetch", fetching, MPI_NO_OP},  {"set", updating, MPI_REPLACE},
    {"swap", fetching, MPI_REPLACE}, {"compare_swap", comparing, MPI_NO_OP},
    {"inc", updating, MPI_SUM},      {"fetch_inc", fetching, MPI_SUM},
    {"add", updating, MPI_SUM},      {"fetch_add", fetching, MPI_SUM},
    {"and", updating, MPI_BAND},     {"fetch_and", fetching, MPI_BAND},
    {"or", updating, MPI_BOR},       {"fetch_or", fetching, MPI_BOR},
    {"xor", updating, MPI_BXOR},     {"fetch_xor", fetching, MPI_BXOR},
};

static void measure_all(const char *series)
{
    for (size_t k = 0; k < sizeof operations / sizeof operations[0] && !bench_over(); k++) {
        op = operations[k].op;
        bench_line("atomics", series, operations[k].name, bench_alone(operations[k].work), "ns");
    }
}

static void measure(void)
{
    target = next;
    window = of_heap;
    type = MPI_INT64_T;
    measure_all("64 bits, heap");
    type = MPI_INT32_T;
    measure_all("32 bits, heap");
    window = of_static;
    type = MPI_INT64_T;
    measure_all("64 bits, static data");
    type = MPI_INT32_T;
    measure_all("32 bits, static data");
}

int main(void)
{
    void *part;
    bench_start();
    of_heap = bench_window(4096, &part);
    of_static = bench_window_over(static64, sizeof static64);
    window = of_heap;
    type = MPI_INT64_T;
    op = MPI_SUM;
    bench_at("contended fetch_add", "heap", (size_t)npes, bench_together(fetching), "ns");
    if (npes == 2) bench_by_first(measure);
    bench_close(of_static);
    bench_close(of_heap);
    MPI_Finalize();
    return 0;
}

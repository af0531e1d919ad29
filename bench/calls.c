/* What a call costs next to the same work in plain C, measured in one run: medians of rounds, and the ratio.
 *
 *     oshcc -O2 bench/calls.c -o calls && oshrun -n 2 ./calls && oshrun -n 8 ./calls
 *
 * With 2 PEs: one PE works while the other sleeps in a barrier; plain C works on the address that shmem_ptr gives. Then,
 * and with more PEs: what all do together, against a cache line that goes there and back between two spinning PEs (2
 * PEs only), a process-shared pthread barrier, or a futex handed round.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 11, WINDOW = 512, BIG = 32 << 20 };

static int me, npes, next;
static long counter;                      /* symmetric: static data */
static char *far_heap, *heap, *own;       /* the next PE's heap as mapped here; ours; private memory */

#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")
#define LOOP for (long i = 0; i < n; i++)

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(void (*work)(long), long n)
{
    double t[ROUNDS];
    work(n / 8 + 1);
    for (int r = 0; r < ROUNDS; r++) {
        double begin = now_ns();
        work(n);
        t[r] = (now_ns() - begin) / (double)n;
    }
    qsort(t, ROUNDS, sizeof t[0], ascending);
    return t[ROUNDS / 2];
}

/* --- one works --- */

static long *word(long i) { return (long *)heap + i % WINDOW; }
static volatile long *far_word(long i) { return (volatile long *)far_heap + i % WINDOW; }

static void p_heap(long n) { LOOP shmem_long_p(word(i), i, next); }
static void p_static(long n) { LOOP shmem_long_p(&counter, i, next); }
static void store(long n) { LOOP *far_word(i) = i; }
static void g_heap(long n) { LOOP KEEP(shmem_long_g(word(i), next)); }
static void load(long n) { LOOP KEEP(*far_word(i)); }
static void p_quiet(long n) { LOOP { shmem_long_p(word(i), i, next); shmem_quiet(); } }
static void store_fence(long n) { LOOP { *far_word(i) = i; __atomic_thread_fence(__ATOMIC_SEQ_CST); } }
static void fetch_add(long n) { LOOP KEEP(shmem_long_atomic_fetch_add(word(0), 1, next)); }
static void fetch_add_static(long n) { LOOP KEEP(shmem_long_atomic_fetch_add(&counter, 1, next)); }
static void fetch_add_bare(long n) { LOOP KEEP(__atomic_fetch_add((long *)far_heap, 1, __ATOMIC_SEQ_CST)); }
static void cas(long n) { LOOP KEEP(shmem_long_atomic_compare_swap(word(1), i, i + 1, next)); }
static void cas_bare(long n)
{
    LOOP
    {
        long expected = i;
        __atomic_compare_exchange_n((long *)far_heap + 1, &expected, i + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        KEEP(expected);
    }
}

#define COPIES(bytes)                                                                                                  \
    static size_t at_##bytes(long i) { return (size_t)i % (BIG / bytes > 64 ? 64 : BIG / bytes) * (bytes); }            \
    static void put_##bytes(long n) { LOOP shmem_putmem(heap + at_##bytes(i), own + at_##bytes(i), bytes, next); }      \
    static void get_##bytes(long n) { LOOP shmem_getmem(own + at_##bytes(i), heap + at_##bytes(i), bytes, next); }      \
    static void to_##bytes(long n) { LOOP { memcpy(far_heap + at_##bytes(i), own + at_##bytes(i), bytes); KEEP(own); } } \
    static void from_##bytes(long n) { LOOP { memcpy(own + at_##bytes(i), far_heap + at_##bytes(i), bytes); KEEP(own); } }
COPIES(64)
COPIES(4096)
COPIES(1048576)

static void iput(long n) { LOOP shmem_long_iput((long *)heap, (long *)own, 3, 2, 256, next); }
static void iput_bare(long n)
{
    LOOP
    {
        long *to = (long *)far_heap;
        const long *from = (const long *)own;
        for (int k = 0; k < 256; k++) to[3 * k] = from[2 * k];
        KEEP(to);
    }
}

static const struct one_sided {
    const char *name;
    void (*call)(long), (*bare)(long);
    long n;
} one_sided[] = {
    {"p, 8 bytes, heap", p_heap, store, 2000000},
    {"p, 8 bytes, static data", p_static, store, 2000000},
    {"g, 8 bytes", g_heap, load, 2000000},
    {"p and quiet", p_quiet, store_fence, 500000},
    {"put 64 bytes", put_64, to_64, 1000000},
    {"put 4 KiB", put_4096, to_4096, 200000},
    {"put 1 MiB", put_1048576, to_1048576, 200},
    {"get 64 bytes", get_64, from_64, 1000000},
    {"get 4 KiB", get_4096, from_4096, 200000},
    {"get 1 MiB", get_1048576, from_1048576, 200},
    {"iput of 256 longs", iput, iput_bare, 20000},
    {"atomic fetch_add, heap", fetch_add, fetch_add_bare, 500000},
    {"atomic fetch_add, static data", fetch_add_static, fetch_add_bare, 500000},
    {"atomic compare_swap", cas, cas_bare, 500000},
};

static void print_row(const char *name, double call, double bare)
{
    printf("%-40s %12.2f ns %12.2f ns %8.2f\n", name, call, bare, call / bare);
    fflush(stdout);
}

static void run_one_sided(void)
{
    for (size_t i = 0; i < sizeof one_sided / sizeof one_sided[0]; i++) {
        const struct one_sided *row = &one_sided[i];
        if (me == 0) {
            double call = median_ns(row->call, row->n);
            print_row(row->name, call, median_ns(row->bare, row->n));
        }
        shmem_barrier_all();
    }
}

/* --- all together --- */

static struct meeting {
    pthread_barrier_t barrier;
    _Alignas(64) int turn;
    _Alignas(64) int there;
    _Alignas(64) int back;
} *meeting; /* PE 0's, as mapped here */

static void barrier(long n) { LOOP shmem_barrier_all(); }
static void barrier_pthread(long n) { LOOP pthread_barrier_wait(&meeting->barrier); }

static void there_and_back(long n)
{
    static int turn;
    LOOP
    {
        turn++;
        int *mine = me == 0 ? &meeting->there : &meeting->back, *theirs = me == 0 ? &meeting->back : &meeting->there;
        if (me == 0) __atomic_store_n(mine, turn, __ATOMIC_RELEASE);
        while (__atomic_load_n(theirs, __ATOMIC_ACQUIRE) != turn) __asm__ volatile("" ::: "memory");
        if (me == 1) __atomic_store_n(mine, turn, __ATOMIC_RELEASE);
    }
}

static long *token;
static uint64_t *bell;

static void token_ring(long n)
{
    static long turn;
    LOOP
    {
        turn++;
        if (me == 0) shmem_long_p(token, turn, next);
        shmem_long_wait_until(token, SHMEM_CMP_EQ, turn);
        if (me != 0) shmem_long_p(token, turn, next);
    }
}

static void futex_ring(long n)
{
    LOOP
    {
        int turn;
        while ((turn = __atomic_load_n(&meeting->turn, __ATOMIC_ACQUIRE)) % npes != me)
            syscall(SYS_futex, &meeting->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
        __atomic_store_n(&meeting->turn, turn + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &meeting->turn, FUTEX_WAKE, npes, NULL, NULL, 0);
    }
}

static void signal_ping_pong(long n)
{
    static uint64_t turn;
    LOOP
    {
        turn++;
        if (me == 0) shmem_putmem_signal(heap, own, 64, bell, turn, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(bell, SHMEM_CMP_EQ, turn);
        if (me == 1) shmem_putmem_signal(heap, own, 64, bell, turn, SHMEM_SIGNAL_SET, 0);
    }
}

static double *vector, *result;
enum { VECTOR = 1 << 17 };
static void reduce_1(long n) { LOOP shmem_double_sum_reduce(SHMEM_TEAM_WORLD, result, vector, 1); }
static void reduce_big(long n) { LOOP shmem_double_sum_reduce(SHMEM_TEAM_WORLD, result, vector, VECTOR); }
static void broadcast_1(long n) { LOOP shmem_double_broadcast(SHMEM_TEAM_WORLD, result, vector, 1, 0); }
static void broadcast_big(long n) { LOOP shmem_double_broadcast(SHMEM_TEAM_WORLD, result, vector, VECTOR, 0); }
static void fcollect_big(long n) { LOOP shmem_double_fcollect(SHMEM_TEAM_WORLD, result, vector, VECTOR / npes); }
static void alltoall_big(long n) { LOOP shmem_double_alltoall(SHMEM_TEAM_WORLD, result, vector, VECTOR / npes); }
static void copy_big(long n) { LOOP { memcpy(result, vector, VECTOR * sizeof *vector); KEEP(result); } }

static void together(const char *name, void (*call)(long), void (*bare)(long), long n)
{
    shmem_barrier_all();
    double cost = median_ns(call, n), other;
    shmem_barrier_all();
    other = median_ns(bare, n);
    if (me == 0) print_row(name, cost, other);
    shmem_barrier_all();
}

static void run_together(void)
{
    long n = npes <= 2 ? 20000 : 500;
    if (npes == 2) {
        together("barrier_all | line there and back", barrier, there_and_back, 100000);
        together("put_signal there and back | same", signal_ping_pong, there_and_back, 100000);
    }
    together("barrier_all | pthread barrier", barrier, barrier_pthread, n);
    together("token round | futex round", token_ring, futex_ring, n);
    together("sum_reduce, 1 double | pthread barrier", reduce_1, barrier_pthread, n);
    together("broadcast, 1 double | pthread barrier", broadcast_1, barrier_pthread, n);
    together("sum_reduce, 1 MiB | memcpy", reduce_big, copy_big, 50);
    together("broadcast, 1 MiB | memcpy", broadcast_big, copy_big, 50);
    together("fcollect, 1 MiB in all | memcpy", fcollect_big, copy_big, 50);
    together("alltoall, 1 MiB in all | memcpy", alltoall_big, copy_big, 50);
}

static void set_up(void)
{
    heap = shmem_malloc(BIG);
    own = malloc(BIG);
    vector = shmem_malloc(2 * VECTOR * sizeof *vector);
    struct meeting *mine = shmem_align(64, sizeof *mine);
    token = shmem_calloc(8, sizeof *token);
    bell = shmem_calloc(8, sizeof *bell);
    if (!heap || !own || !vector || !mine || !token || !bell) {
        fprintf(stderr, "no memory\n");
        shmem_global_exit(1);
    }
    result = vector + VECTOR;
    memset(heap, 1, BIG);
    memset(own, 2, BIG);
    for (int i = 0; i < 2 * VECTOR; i++) vector[i] = i;
    far_heap = shmem_ptr(heap, next);
    meeting = shmem_ptr(mine, 0);
    if (me == 0) {
        pthread_barrierattr_t shared;
        memset(mine, 0, sizeof *mine);
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&mine->barrier, &shared, (unsigned)npes);
    }
    shmem_barrier_all();
}

int main(void)
{
    double begin = now_ns();
    shmem_init();
    double ready = now_ns();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next = (me + 1) % npes;
    set_up();
    if (me == 0) {
        printf("%d PEs on %ld cores; shmem_init took %.2f ms\n", npes, sysconf(_SC_NPROCESSORS_ONLN), (ready - begin) / 1e6);
        printf("%-40s %15s %15s %8s\n", "call | bare", "call", "bare", "ratio");
    }
    if (npes <= 2) run_one_sided();
    if (npes > 1) run_together();
    shmem_finalize();
    return 0;
}

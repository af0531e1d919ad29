/* Large puts and gets, which may travel in pieces: every size next to one where the way changes, at even and odd addresses
 * on both sides, with what lies beside; in order with what is small, packed or not; complete behind a quiet; by two threads.
 * Each PE works on memory of its right neighbour, and has a copy of what must be there. */
#include <pthread.h>
#include <shmemx.h>
#include <time.h>

#include "check.h"

enum { KIB = 1 << 10, ROOM = 4 << 20, THREADS = 2, WORDS = 64 };

static char *heap;                            /* ROOM bytes for each thread: the left neighbour's */
static uint64_t *flag, *sum;                  /* the left neighbour's */
static char *mirror[THREADS], *own, *seen;    /* what is in the right neighbour's heap; a source; what a get has brought */
static const size_t steps[] = {64 * KIB, 120 * KIB, 128 * KIB, 2 * 120 * KIB, 4 * 120 * KIB, 12 * 120 * KIB};
static const int besides[] = {-65, -64, -1, 0, 1, 63, 64, 129};
static const size_t starts[] = {0, 1, 7, 8, 63, 64};

static void fill(char *to, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) to[i] = (char)(seed + i * 7 + (i >> 8) * 13);
}

static void compute(double ms)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6 < ms);
}

static void put(shmem_ctx_t ctx, void *to, const void *from, size_t n, bool nbi)
{
    (nbi ? shmem_ctx_putmem_nbi : shmem_ctx_putmem)(ctx, to, from, n, right);
}

/* --- sizes and addresses --- */

static void one_size(size_t n, size_t start, size_t shift, int how)
{
    size_t from = start > 16 ? start - 16 : 0, end = start + n + 16;
    fill(own + shift, n, n + start + shift);
    memcpy(mirror[0] + start, own + shift, n);
    put(SHMEM_CTX_DEFAULT, heap + start, own + shift, n, how & 1);
    if (!(how & 1)) memset(own + shift, 0, n); /* it may be used again */
    shmem_quiet();
    memset(seen, 0, end - from + 2);
    if (how & 2) {
        shmem_getmem_nbi(seen + 1, heap + from, end - from, right);
        if (how & 4) compute(0.1 * (double)(n % 7));
        shmem_quiet();
    } else {
        shmem_getmem(seen + 1, heap + from, end - from, right);
    }
    bool same = !memcmp(seen + 1, mirror[0] + from, end - from) && !seen[0] && !seen[end - from + 1];
    CHECK(same, "%zu bytes from +%zu to +%zu, way %d", n, shift, start, how);
}

static void sizes(void)
{
    int how = 0;
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t b = 0; b < sizeof besides / sizeof *besides; b++)
            for (size_t a = 0; a < sizeof starts / sizeof *starts; a++, how++)
                if (s < 4 || a % 3 == b % 3) one_size((size_t)((long)steps[s] + besides[b]), starts[a], how % 5, how);
}

/* --- order --- */

/* What round i has left behind when its flag is there, worked out by both sides. */
static size_t size_of(uint64_t i) { return steps[i % 4] + i % 97 * 8; }
static uint64_t small_value(uint64_t i, int k) { return check_mix(i * 16 + (uint64_t)k); }
static size_t small_at(uint64_t i, int k) { return (size_t)(check_mix(i + (uint64_t)k * 1000) % (size_of(i) / 8)) * 8; }

static void model(char *area, uint64_t i, int writer)
{
    fill(area, size_of(i), i + (uint64_t)writer);
    for (int k = 0; k < 3; k++) {
        uint64_t value = small_value(i, k);
        memcpy(area + small_at(i, k), &value, 8);
    }
    fill(area + size_of(i) / 2, size_of(i) / 2, i * 3 + (uint64_t)writer);
}

static void raise_flag(uint64_t i, const char *again)
{
    switch (i % 4) {
    case 0: shmem_fence(); shmem_uint64_atomic_set(flag, i, right); return;
    case 1: shmem_fence(); shmem_uint64_p(flag, i, right); return;
    case 2: shmem_putmem_signal(heap + ROOM, again, size_of(i), flag, i, SHMEM_SIGNAL_SET, right); return;
    default: shmem_putmem_signal_nbi(heap + ROOM, again, size_of(i), flag, i, SHMEM_SIGNAL_SET, right);
    }
}

/* A large put, small ones over it, a large one over half of that; then the flag, by each way that is ordered behind them. */
static void send_round(uint64_t i)
{
    size_t n = size_of(i), half = n / 2;
    char *second = own + ROOM / 2;
    fill(own, n, i + (uint64_t)me);
    fill(second, half, i * 3 + (uint64_t)me);
    put(SHMEM_CTX_DEFAULT, heap, own, n, i & 1);
    shmem_fence();
    for (int k = 0; k < 3; k++) shmem_uint64_p((uint64_t *)(heap + small_at(i, k)), small_value(i, k), right);
    shmem_uint64_atomic_add(sum, i, right);
    shmem_fence();
    put(SHMEM_CTX_DEFAULT, heap + half, second, half, i & 2);
    if (i % 4 >= 2) shmem_fence(); /* a signal is behind its own data only */
    raise_flag(i, own);
}

static void order(void)
{
    uint64_t total = 0;
    for (uint64_t i = 1; i <= TIMES(200); i++) {
        send_round(i);
        shmem_signal_wait_until(flag, SHMEM_CMP_EQ, i);
        total += i;
        model(seen, i, left);
        CHECK(!memcmp(seen, heap, size_of(i)), "round %d", (int)i);
        if (i % 4 >= 2) {
            fill(seen, size_of(i), i + (uint64_t)left);
            CHECK(!memcmp(seen, heap + ROOM, size_of(i)), "data of the signal, round %d", (int)i);
        }
        CHECK_NUM(*sum, total, "round %d", (int)i);
        shmem_barrier_all();
    }
}

/* --- quiet --- */

/* Who is told of it another way sees all that was put before a quiet; and a get is there behind one, whoever got it
 * while this PE did something else. */
static void complete(void)
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0, "a context");
    for (uint64_t i = 1; i <= TIMES(40); i++) {
        size_t n = steps[i % 6] + i;
        fill(own, n, i + (uint64_t)me);
        put(SHMEM_CTX_DEFAULT, heap + i % 9, own, n, i & 1);
        compute(i % 8);
        shmem_quiet();
        shmem_ctx_uint64_atomic_set(ctx, flag, 1000 + i, right);
        shmem_signal_wait_until(flag, SHMEM_CMP_EQ, 1000 + i);
        fill(seen, n, i + (uint64_t)left);
        CHECK(!memcmp(seen, heap + i % 9, n), "%zu bytes behind a quiet", n);
        shmem_ctx_quiet(ctx);
        memset(seen, 0, n);
        shmem_getmem_nbi(seen, heap + i % 9, n, right);
        compute(i % 16);
        shmem_quiet();
        CHECK(!memcmp(seen, own, n), "%zu bytes got while computing", n);
        memset(seen, 0, n);
        for (int k = 0; k < 40; k++) shmem_getmem_nbi(seen + k * 7, heap + i % 9 + k * 7, n - 300, right);
        shmem_quiet();
        CHECK(!memcmp(seen, own, n - 27), "%zu bytes got 40 times", n);
        shmem_barrier_all();
    }
    shmem_ctx_destroy(ctx);
}

/* --- threads --- */

/* Both on the default context, and each on one of its own. */
static void *work(void *number)
{
    int t = *(int *)number;
    struct random rnd = {(uint64_t)(me * THREADS + t)};
    char *area = heap + (size_t)t * ROOM, *from = malloc(ROOM), *back = malloc(ROOM);
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0, "a context");
    for (int i = 0; i < TIMES(120); i++) {
        shmem_ctx_t c = random_below(&rnd, 2) ? ctx : SHMEM_CTX_DEFAULT;
        size_t n = 1 + random_below(&rnd, random_below(&rnd, 4) ? 300 * KIB : ROOM), at = random_below(&rnd, ROOM - n + 1);
        fill(from, n, (uint64_t)i * 5 + (uint64_t)t);
        put(c, area + at, from, n, random_below(&rnd, 2));
        memcpy(mirror[t] + at, from, n);
        if (random_below(&rnd, 2)) compute(0.01 * (double)random_below(&rnd, 100));
        shmem_ctx_quiet(c);
        if (random_below(&rnd, 2)) {
            shmem_ctx_getmem(c, back, area, ROOM, right);
        } else {
            shmem_ctx_getmem_nbi(c, back, area, ROOM, right);
            shmem_ctx_quiet(c);
        }
        CHECK(!memcmp(back, mirror[t], ROOM), "thread %d, step %d", t, i);
    }
    shmem_ctx_destroy(ctx);
    free(from);
    free(back);
    return NULL;
}

static void threads(void)
{
    static int number[THREADS] = {0, 1};
    pthread_t id[THREADS];
    for (int t = 0; t < THREADS; t++) shmem_getmem(mirror[t], heap + (size_t)t * ROOM, ROOM, right);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) pthread_create(&id[t], NULL, work, &number[t]);
    for (int t = 0; t < THREADS; t++) pthread_join(id[t], NULL);
    shmem_barrier_all();
}

int main(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_start();
    CHECK_NUM(provided, SHMEM_THREAD_MULTIPLE, "threads");
    heap = shmem_calloc(THREADS, ROOM);
    flag = shmem_calloc(WORDS, 8);
    sum = flag + WORDS / 2;
    own = malloc(ROOM);
    seen = malloc(ROOM);
    for (int t = 0; t < THREADS; t++) mirror[t] = calloc(1, ROOM);
    shmem_barrier_all();
    sizes();
    shmem_barrier_all();
    order();
    complete();
    threads();
    int bad = check_end(); /* the inner finalize */
    shmem_finalize();
    return bad;
}

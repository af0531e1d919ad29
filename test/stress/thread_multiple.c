/* npes: 3 */
/* args: 5 */
/* timeout: 120 */
/* SHMEM_THREAD_MULTIPLE: four threads of each PE at once, each busy with all kinds of calls against a model of its own:
 * puts and gets of other PEs' memory, atomics that all threads share, waits for its partner threads, contexts it makes
 * and destroys, collectives on a team of its own (thread t of all PEs), and a quiet of the default context. For as
 * many seconds as the argument says. */
#include <pthread.h>
#include <shmemx.h>
#include <time.h>

#include "../spec/check.h"

enum { THREADS = 4, WORDS = 512, SLOTS = 4 };

struct area { /* of one thread, on every PE: [from] is what that thread of PE `from` writes here */
    uint64_t box[8][WORDS];
    uint64_t token, answered, signal, reduced[8], given[8], gathered[8 * 8];
    uint64_t counter; /* all threads of all PEs add to it */
};
static struct area *areas; /* [THREADS] */
static shmem_team_t teams[THREADS];
static long seconds, lock, locked_count, added_total, rounds_done;
static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;

#define CHECK_THREAD(cond, ...)                                                                                        \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            pthread_mutex_lock(&failing);                                                                              \
            check_failed(__FILE__, __LINE__, #cond, __VA_ARGS__);                                                      \
            pthread_mutex_unlock(&failing);                                                                            \
        }                                                                                                              \
    } while (0)

struct self {
    int t;
    struct area *a;
    struct random random;
    uint64_t round, added;
    uint64_t model[8][WORDS]; /* what this thread has written to PE i's box[me] */
};

/* Writes a random part of its box on a random PE, by one of several calls, and reads it back. */
static void write_and_read(struct self *s, shmem_ctx_t ctx)
{
    int pe = (int)random_below(&s->random, npes);
    size_t at = random_below(&s->random, WORDS), n = random_below(&s->random, WORDS - at) + 1;
    uint64_t *dest = &s->a->box[me][at], *want = &s->model[pe][at], got[WORDS];
    for (size_t i = 0; i < n; i++) want[i] = random_next(&s->random);
    switch (s->round % 4) {
    case 0: shmem_ctx_uint64_put(ctx, dest, want, n, pe); break;
    case 1:
        shmem_ctx_uint64_put_nbi(ctx, dest, want, n, pe);
        shmem_ctx_quiet(ctx);
        break;
    case 2:
        for (size_t i = 0; i < n; i++) shmem_ctx_uint64_p(ctx, dest + i, want[i], pe);
        break;
    default: shmem_ctx_uint64_ibput(ctx, dest, want, 1, 1, 1, n, pe);
    }
    if (s->round % 4 == 1) shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_ctx_uint64_get(ctx, got, s->a->box[me], WORDS, pe);
    CHECK_THREAD(!memcmp(got, s->model[pe], sizeof got), "thread %d, round %ju: what was written to PE %d is not there",
                 s->t, (uintmax_t)s->round, pe);
}

static void add(struct self *s, shmem_ctx_t ctx)
{
    int pe = (int)random_below(&s->random, npes);
    uint64_t n = random_below(&s->random, 100);
    if (n & 1)
        shmem_ctx_uint64_atomic_add(ctx, &areas[0].counter, n, pe);
    else
        (void)shmem_ctx_uint64_atomic_fetch_add(ctx, &areas[0].counter, n, pe);
    s->added += n;
}

/* Thread t of this PE with thread t of the next: a token with data behind it. */
static void token(struct self *s)
{
    uint64_t value = s->round * 8 + (uint64_t)me;
    shmem_uint64_put_signal(&s->a->given[me], &value, 1, &s->a->signal, s->round, SHMEM_SIGNAL_SET, right);
    CHECK_THREAD(shmem_signal_wait_until(&s->a->signal, SHMEM_CMP_GE, s->round) >= s->round, "thread %d", s->t);
    CHECK_THREAD(s->a->given[left] >= s->round * 8 + (uint64_t)left, "thread %d, round %ju: seen %ju", s->t,
                 (uintmax_t)s->round, (uintmax_t)s->a->given[left]);
    shmem_uint64_atomic_set(&s->a->token, s->round, left);
    shmem_uint64_wait_until(&s->a->token, SHMEM_CMP_GE, s->round);
}

static void collective(struct self *s)
{
    static uint64_t source[THREADS], kept[THREADS];
    source[s->t] = s->round * (uint64_t)(me + 1);
    CHECK_THREAD(!shmem_uint64_sum_reduce(teams[s->t], s->a->reduced, &source[s->t], 1), "thread %d", s->t);
    uint64_t want = s->round * (uint64_t)(npes * (npes + 1) / 2);
    CHECK_THREAD(s->a->reduced[0] == want, "thread %d, round %ju: expected %ju, seen %ju", s->t, (uintmax_t)s->round,
                 (uintmax_t)want, (uintmax_t)s->a->reduced[0]);
    kept[s->t] = s->round + (uint64_t)me;
    CHECK_THREAD(!shmem_uint64_fcollect(teams[s->t], s->a->gathered, &kept[s->t], 1), "thread %d", s->t);
    for (int i = 0; i < npes; i++)
        CHECK_THREAD(s->a->gathered[i] == s->round + (uint64_t)i, "thread %d, round %ju", s->t, (uintmax_t)s->round);
    shmem_team_sync(teams[s->t]);
}

static void under_lock(void)
{
    shmem_set_lock(&lock);
    shmem_long_p(&locked_count, shmem_long_g(&locked_count, 0) + 1, 0);
    shmem_clear_lock(&lock);
}

/* Thread 0 of the first PE says when it is over, in a round that all threads t come to. */
static bool go_on(struct self *s, const struct timespec *end)
{
    static uint64_t say[THREADS], said[THREADS];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    say[s->t] = now.tv_sec < end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec < end->tv_nsec);
    shmem_uint64_broadcast(teams[s->t], &said[s->t], &say[s->t], 1, 0);
    return said[s->t];
}

static void *work(void *arg)
{
    struct self *s = arg;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    do {
        shmem_ctx_t ctx;
        CHECK_THREAD(!shmem_ctx_create(s->round % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), "thread %d", s->t);
        s->round++;
        for (int k = 0; k < 4; k++) write_and_read(s, k % 2 ? ctx : SHMEM_CTX_DEFAULT);
        add(s, ctx);
        token(s);
        collective(s);
        if (s->round % 8 == 0) under_lock();
        if (s->round % 16 == (uint64_t)s->t) shmem_quiet();
        if (s->round % 4 == 0) shmemx_sync_pe(me);
        shmem_ctx_destroy(ctx);
    } while (s->round % 8 || go_on(s, &end));
    shmem_long_atomic_add(&added_total, (long)s->added, 0);
    shmem_long_atomic_add(&rounds_done, (long)(s->round / 8), 0);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    static struct self self[THREADS];
    int provided;
    seconds = argc > 1 ? atol(argv[1]) : 5;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_start();
    CHECK_NUM(provided, SHMEM_THREAD_MULTIPLE, "threads");
    areas = shmem_calloc(THREADS, sizeof *areas);
    for (int t = 0; t < THREADS; t++)
        CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[t]), 0, "split");
    for (int t = 0; t < THREADS; t++) {
        self[t] = (struct self){.t = t, .a = &areas[t], .random = {(uint64_t)(me * THREADS + t) << 40}};
        pthread_create(&thread[t], NULL, work, &self[t]);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    shmem_barrier_all();
    uint64_t sum = 0;
    for (int i = 0; i < npes; i++) sum += shmem_uint64_atomic_fetch(&areas[0].counter, i);
    CHECK_NUM(sum, (uint64_t)shmem_long_g(&added_total, 0), "what all threads have added");
    CHECK_NUM(shmem_long_g(&locked_count, 0), shmem_long_g(&rounds_done, 0), "turns under the lock");
    if (me == 0) printf("%ld rounds of %d threads\n", 8 * rounds_done, npes * THREADS);
    int bad = check_end(); /* nested: a barrier */
    shmem_finalize();
    return bad;
}

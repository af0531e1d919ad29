/* Threads of each PE that send, wait, count and compute, so that the helm of the PE goes from one to the other all the
 * time: whoever waits serves it, the progress thread serves it, and who has it is taken off the core by others and by
 * signals. What arrives is compared with what was sent, and what was counted with what all have counted. argv[1]: rounds,
 * argv[2]: "calm": nobody computes. Not a test itself. */
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SLOTS = 2, LARGEST = 160 << 10, SMALL = 2000, SUMS = 3 };

struct lane { /* from one thread of a PE to that thread of another */
    uint64_t flag, ack;
    char slot[SLOTS][LARGEST];
};
static struct lane *lanes;                 /* [THREADS], symmetric */
static uint64_t count, mixed, swapped;     /* words that all change */
static uint64_t sums[SUMS], all[SUMS];     /* of what all have done to them, on all PEs */
static int me, npes, rounds;
static bool calm; /* where others compute waits sleep at once, and take no helm */

struct player {
    pthread_t thread;
    int number, to, from;
    unsigned random;
    shmem_ctx_t ctx;
    uint64_t added, mixed, swapped, fetched; /* fetched: the last of each kind grows */
};

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static void wrong(const struct player *p, const char *what, uint64_t have, uint64_t want)
{
    fprintf(stderr, "PE %d, thread %d: %s: %llu instead of %llu\n", me, p->number, what, (unsigned long long)have,
            (unsigned long long)want);
    shmem_global_exit(1);
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}
static void be_elsewhere(unsigned us)
{
    for (uint64_t end = now_us() + us; now_us() < end;) continue;
}
static void compute(unsigned us)
{
    if (!calm) be_elsewhere(us);
}

/* --- messages --- */

static unsigned seed_of(int pe, int thread, int round) { return (unsigned)(pe * 7919 + thread * 104729 + round * 31); }
static size_t bytes_of(int pe, int thread, int round)
{
    unsigned seed = seed_of(pe, thread, round);
    return draw(&seed, 60) ? 8 + draw(&seed, SMALL) : LARGEST - draw(&seed, SMALL);
}
static void fill(char *text, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) text[i] = (char)(seed + i * 13);
}

static void flag(struct player *p, uint64_t *word, uint64_t round, int pe)
{
    switch (draw(&p->random, 3)) {
    case 0: shmem_ctx_uint64_p(p->ctx, word, round, pe); return;
    case 1: shmem_ctx_uint64_atomic_set(p->ctx, word, round, pe); return;
    default: shmem_ctx_uint64_atomic_inc(p->ctx, word, pe); /* nobody else changes it */
    }
}

static void send(struct player *p, int round, char *text)
{
    struct lane *l = &lanes[p->number];
    size_t bytes = bytes_of(me, p->number, round);
    char *to = l->slot[round % SLOTS];
    fill(text, bytes, seed_of(me, p->number, round));
    switch (draw(&p->random, 4)) {
    case 0: shmem_ctx_putmem_signal(p->ctx, to, text, bytes, &l->flag, (uint64_t)round, SHMEM_SIGNAL_SET, p->to); break;
    case 1: shmem_ctx_putmem_signal_nbi(p->ctx, to, text, bytes, &l->flag, 1, SHMEM_SIGNAL_ADD, p->to); break;
    case 2:
        shmem_ctx_putmem_nbi(p->ctx, to, text, bytes, p->to);
        shmem_ctx_fence(p->ctx);
        flag(p, &l->flag, (uint64_t)round, p->to);
        break;
    default:
        shmem_ctx_putmem(p->ctx, to, text, bytes, p->to);
        shmem_ctx_fence(p->ctx);
        flag(p, &l->flag, (uint64_t)round, p->to);
    }
    shmem_ctx_quiet(p->ctx); /* the text is written anew; and the next flag comes behind this one */
}

static void wait_for(struct player *p, uint64_t *word, uint64_t round)
{
    int none = 0;
    switch (draw(&p->random, 5)) {
    case 0: shmem_uint64_wait_until(word, SHMEM_CMP_GE, round); return;
    case 1: shmem_signal_wait_until(word, SHMEM_CMP_GE, round); return;
    case 2: shmem_uint64_wait_until_any(word, 1, &none, SHMEM_CMP_GE, round); return;
    case 3:
        while (!shmem_uint64_test(word, SHMEM_CMP_GE, round)) sched_yield();
        return;
    default: compute(draw(&p->random, 300)); shmem_uint64_wait_until(word, SHMEM_CMP_GE, round);
    }
}

static void receive(struct player *p, int round, char *text)
{
    struct lane *l = &lanes[p->number];
    size_t bytes = bytes_of(p->from, p->number, round);
    wait_for(p, &l->flag, (uint64_t)round);
    uint64_t have = __atomic_load_n(&l->flag, __ATOMIC_ACQUIRE);
    if (have < (uint64_t)round || have > (uint64_t)round + SLOTS) wrong(p, "flag", have, (uint64_t)round);
    fill(text, bytes, seed_of(p->from, p->number, round));
    if (memcmp(text, l->slot[round % SLOTS], bytes)) wrong(p, "text of round", have, (uint64_t)round);
    flag(p, &l->ack, (uint64_t)round, p->from);
    shmem_ctx_quiet(p->ctx);
}

/* --- counts --- */

static void change_words(struct player *p)
{
    int pe = (int)draw(&p->random, (unsigned)npes);
    uint64_t value = (uint64_t)draw(&p->random, 1u << 20) + 1, old;
    switch (draw(&p->random, 4)) {
    case 0:
        shmem_ctx_uint64_atomic_add(p->ctx, &count, value, pe);
        p->added += value;
        return;
    case 1:
        old = shmem_ctx_uint64_atomic_fetch_add(p->ctx, &count, value, me);
        if (old < p->fetched) wrong(p, "a count that goes back", old, p->fetched);
        p->fetched = old + value;
        p->added += value;
        return;
    case 2:
        shmem_ctx_uint64_atomic_xor(p->ctx, &mixed, value, pe);
        p->mixed ^= value;
        return;
    default: p->swapped ^= value ^ shmem_ctx_uint64_atomic_swap(p->ctx, &swapped, value, pe);
    }
}

static void *play(void *arg)
{
    struct player *p = arg;
    char *text = malloc(LARGEST);
    if (!text) shmem_global_exit(2);
    for (int r = 1; r <= rounds; r++) {
        if (r > SLOTS) wait_for(p, &lanes[p->number].ack, (uint64_t)(r - SLOTS));
        send(p, r, text);
        for (unsigned n = draw(&p->random, 4); n; n--) change_words(p);
        receive(p, r, text);
        if (!draw(&p->random, 20)) compute(draw(&p->random, 8000));
    }
    shmem_ctx_quiet(p->ctx);
    free(text);
    return NULL;
}

/* Now and then one who waits, or who has the helm, is elsewhere for a while. */
static void on_alarm(int number)
{
    static unsigned state = 5;
    (void)number;
    be_elsewhere(draw(&state, 20) ? 30 : 12000);
}

static void start_alarms(void)
{
    struct itimerval every = {{0, 7000}, {0, 7000}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_alarms(void)
{
    struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Each PE's own words, and what all have done to them, which only the sum over the PEs tells. */
static void compare(const struct player *players)
{
    const struct player *p = players;
    uint64_t own[SUMS] = {count, mixed, swapped};
    static uint64_t done[SUMS], have[SUMS];
    memcpy(have, own, sizeof have);
    for (int i = 0; i < THREADS; i++) {
        done[0] += players[i].added;
        done[1] ^= players[i].mixed;
        done[2] ^= players[i].swapped;
    }
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sums, done, 1);
    shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, sums + 1, done + 1, 2);
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, have, 1);
    shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, all + 1, have + 1, 2);
    for (int i = 0; i < SUMS; i++)
        if (sums[i] != all[i]) wrong(p, "what was done to the words", all[i], sums[i]);
}

int main(int argc, char **argv)
{
    static struct player player[THREADS];
    int provided;
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    calm = argc > 2 && !strcmp(argv[2], "calm");
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) || provided != SHMEM_THREAD_MULTIPLE) return 3;
    me = shmem_my_pe();
    npes = shmem_n_pes();
    lanes = shmem_calloc(THREADS, sizeof *lanes);
    if (!lanes) return 4;
    for (int i = 0; i < THREADS; i++) {
        int apart = 1 + i % (npes - 1);
        player[i] = (struct player){.number = i, .random = seed_of(me, i, 0), .ctx = SHMEM_CTX_DEFAULT};
        player[i].to = (me + apart) % npes;
        player[i].from = (me + npes - apart) % npes;
        if (i % 2 && shmem_ctx_create(SHMEM_CTX_PRIVATE, &player[i].ctx)) return 5;
    }
    shmem_barrier_all();
    start_alarms();
    for (int i = 0; i < THREADS; i++) pthread_create(&player[i].thread, NULL, play, &player[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(player[i].thread, NULL);
    stop_alarms();
    for (int i = 1; i < THREADS; i += 2) shmem_ctx_destroy(player[i].ctx);
    shmem_barrier_all();
    compare(player);
    shmem_finalize();
    return 0;
}

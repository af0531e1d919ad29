/* with: test/threads/common/mock.c src/core/pack.c src/core/pool.c src/core/send.c src/core/unpack.c src/base/futex.c src/base/log.c src/base/os.c */
/* cflags: -Wno-tsan -Wno-unknown-warning-option */
/* timeout: 240 */
/* Aggregation among three PEs, each with two threads on one context and one on another, over a transport that delivers in
 * any order it may: who has seen what came behind a fence sees what came before it, all atomics are counted once, what
 * was fetched is there behind a quiet, and so is what was put. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mock.h"

enum { PES = 3, SENDERS = 3, ROUNDS = 150, HEAP = 1 << 20, LONGEST = 1024 };
enum { DATA = 0, FLAG = LONGEST, COUNTER = FLAG + 8, SIGNALLED = COUNTER + 8, OWN = SIGNALLED + 16, AREA = 2 * LONGEST };

static int failures;
#define CHECK(what)                                                                      \
    do {                                                                                 \
        if (!(what)) {                                                                   \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #what);                  \
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);                          \
        }                                                                                \
    } while (0)

static const struct setting {
    const char *name;
    struct hm_pack_config config;
} settings[] = {
    {"roomy", {.spin = 0, .packet = 4096, .largest = 512, .pool = 1 << 20, .credit = 1 << 20, .delay_ns = 50000}},
    {"narrow", {.spin = 10, .packet = 512, .largest = 256, .pool = 4096, .credit = 3 * 1024, .delay_ns = 20000}},
};

struct sender {
    int pe, number; /* of all: where its areas are */
    struct hm_packer *packer;
    struct hm_lane *lane;
    pthread_t thread;
    unsigned random;
};

static unsigned draw(struct sender *s, unsigned n)
{
    s->random = s->random * 1664525u + 1013904223u;
    return (s->random >> 8) % n;
}

/* Of the sender, at each PE. */
static uint64_t area(const struct sender *s, uint64_t what) { return (uint64_t)s->number * AREA + what; }

static void fill(uint64_t *text, uint64_t round)
{
    for (size_t i = 0; i < LONGEST / 8; i++) text[i] = round;
}

static size_t some_size(struct sender *s)
{
    static const size_t sizes[] = {8, 8, 16, 40, 256, LONGEST};
    return sizes[draw(s, 6)];
}

/* Data, fence, flag: the owner looks whether a flag is ever ahead of its data. */
static void in_order(struct sender *s, int pe, uint64_t round)
{
    uint64_t text[LONGEST / 8];
    fill(text, round);
    mock_put(s->packer, s->lane, pe, area(s, DATA), text, some_size(s));
    mock_fence(s->packer, s->lane);
    mock_put(s->packer, s->lane, pe, area(s, FLAG), &round, 8);
    mock_fence(s->packer, s->lane);
}

static void with_signal(struct sender *s, int pe, uint64_t round)
{
    mock_put_signal(s->packer, s->lane, pe, area(s, SIGNALLED), &round, 8, area(s, SIGNALLED + 8), round);
    mock_fence(s->packer, s->lane);
}

static uint64_t count(struct sender *s, int pe)
{
    uint64_t n = draw(s, 20), fetched[20], seen = 0;
    for (uint64_t i = 0; i < n; i++) {
        fetched[i] = UINT64_MAX;
        if (draw(s, 2))
            mock_amo(s->packer, s->lane, HM_AMO_ADD, pe, area(s, COUNTER), 1);
        else
            mock_amo_nbi(s->packer, s->lane, HM_AMO_FETCH_ADD, pe, area(s, COUNTER), 1, &fetched[i]);
    }
    if (!draw(s, 3)) mock_amo(s->packer, s->lane, HM_AMO_FETCH, pe, area(s, COUNTER), 0);
    mock_quiet(s->packer, s->lane);
    for (uint64_t i = 0; i < n; i++) seen += fetched[i] != UINT64_MAX;
    CHECK(seen <= n);
    return n;
}

static void put_and_get(struct sender *s, int pe, uint64_t round)
{
    uint64_t mine[4] = {round, round + 1, round + 2, round + 3}, back[4] = {0};
    mock_put(s->packer, s->lane, pe, area(s, OWN), mine, sizeof mine);
    mock_quiet(s->packer, s->lane);
    for (uint64_t i = 0; i < 4; i++) mock_get_nbi(s->packer, s->lane, &back[i], pe, area(s, OWN + 8 * i), 8);
    mock_get_nbi(s->packer, s->lane, &mine[0], pe, area(s, OWN), 24);
    mock_quiet(s->packer, s->lane);
    for (uint64_t i = 0; i < 4; i++) CHECK(back[i] == round + i && mine[i] == round + i);
}

static void *run(void *arg)
{
    struct sender *s = arg;
    uint64_t counted[PES] = {0};
    mock_self = s->pe;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        int pe = (s->pe + 1 + (int)draw(s, PES - 1)) % PES;
        switch (draw(s, 5)) {
        case 0: counted[pe] += count(s, pe); break;
        case 1: put_and_get(s, pe, round); break;
        case 2: with_signal(s, pe, round); break;
        default: in_order(s, pe, round);
        }
        if (!draw(s, 30)) usleep(200); /* the clock sends what is left */
        if (!draw(s, 10)) hm_pack_hurry(mock_pe[s->pe].pack, draw(s, 2));
    }
    mock_quiet(s->packer, s->lane);
    for (int pe = 0; pe < PES; pe++) {
        uint64_t total = 0;
        if (pe == s->pe) continue;
        mock_get_nbi(s->packer, s->lane, &total, pe, area(s, COUNTER), 8);
        mock_quiet(s->packer, s->lane);
        CHECK(total == counted[pe]);
    }
    return NULL;
}

static bool all_done;

static uint64_t seen(int pe, uint64_t at) { return __atomic_load_n((uint64_t *)(mock_pe[pe].heap + at), __ATOMIC_ACQUIRE); }

static void *look(void *arg)
{
    const struct sender *senders = arg;
    while (!__atomic_load_n(&all_done, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < PES * SENDERS; i++)
            for (int pe = 0; pe < PES; pe++) {
                uint64_t flag = seen(pe, area(&senders[i], FLAG)), signal = seen(pe, area(&senders[i], SIGNALLED + 8));
                CHECK(seen(pe, area(&senders[i], DATA)) >= flag);
                CHECK(seen(pe, area(&senders[i], SIGNALLED)) >= signal);
            }
        usleep(10);
    }
    return NULL;
}

static void play(const struct setting *setting, unsigned seed)
{
    struct sender sender[PES * SENDERS];
    pthread_t watcher;
    uint32_t session[PES] = {0, 1, 0}; /* PE 1 is in a batch */
    mock_start(PES, HEAP, &setting->config, seed);
    mock_threads();
    for (int i = 0; i < PES * SENDERS; i++) {
        bool shared = i % SENDERS == 1; /* the context of the one before */
        sender[i] = (struct sender){.pe = i / SENDERS, .number = i, .random = seed + (unsigned)i * 31};
        sender[i].lane = shared ? sender[i - 1].lane : mock_lane(sender[i].pe);
        sender[i].packer = shared ? sender[i - 1].packer
                                  : hm_packer_open(mock_pe[sender[i].pe].pack, sender[i].lane, &session[sender[i].pe]);
    }
    all_done = false;
    alarm(100); /* a lost wake-up hangs */
    pthread_create(&watcher, NULL, look, sender);
    for (int i = 0; i < PES * SENDERS; i++) pthread_create(&sender[i].thread, NULL, run, &sender[i]);
    for (int i = 0; i < PES * SENDERS; i++) pthread_join(sender[i].thread, NULL);
    __atomic_store_n(&all_done, true, __ATOMIC_RELEASE);
    pthread_join(watcher, NULL);
    for (int pe = 0; pe < PES; pe++) {
        struct hm_pack_stats stats;
        hm_pack_stats(mock_pe[pe].pack, &stats);
        CHECK(stats.packets > 0 && stats.operations >= stats.packets && stats.used <= stats.buffers);
    }
    for (int i = 0; i < PES * SENDERS; i++)
        if (i % SENDERS != 1) {
            hm_packer_close(sender[i].packer);
            free(sender[i].lane);
        }
    mock_stop();
}

int main(void)
{
    for (size_t i = 0; i < HM_COUNT(settings); i++)
        for (unsigned seed = 1; seed <= 4; seed++) {
            printf("%s, %u\n", settings[i].name, seed);
            fflush(stdout);
            play(&settings[i], seed);
        }
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}

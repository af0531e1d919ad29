#include "mock.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "core/amo.h"
#include "core/message.h"

struct hm_symm hm_symm;
void hm_bell_ring_for(struct hm_bell *bell, const void *dest, size_t bytes) { (void)bell, (void)dest, (void)bytes; }

struct hm_lane {
    int pe;
    uint64_t epoch;
    uint32_t under_way;
};

enum kind { MESSAGE, PUT, GET, AMO };

struct item {
    enum kind kind;
    struct hm_lane *lane;
    uint64_t epoch; /* of a direct one */
    int from;
    uint64_t offset, value, cond;
    enum hm_amo op;
    size_t size, bytes;
    void *to;         /* of a get */
    uint64_t *result; /* of an atomic */
    void (*done)(void *arg);
    void *arg;
    const void *text; /* a message stays with the sender until it is done */
    bool copied;
    struct item *next;
    char copy[];
};

struct inbox {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct item *first, **last;
    pthread_t thread;
    uint64_t wake;
    size_t queued;
    unsigned random;
    bool running, stop;
};

struct mock_pe *mock_pe;
size_t mock_queued, mock_queued_most;
_Thread_local int mock_self;
uint64_t mock_wake;
static struct inbox *inbox;
static int npes;
static bool threads;

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* --- what arrives --- */

/* Memory of others is touched by atomics alone: the owner looks at it meanwhile. */
static void store(char *to, const char *from, size_t bytes)
{
    bool words = !(((uintptr_t)to | bytes) & 7);
    for (size_t i = 0; i < bytes; i += words ? 8 : 1) {
        uint64_t word = 0;
        memcpy(&word, from + i, words ? 8 : 1);
        if (words)
            __atomic_store_n((uint64_t *)(to + i), word, __ATOMIC_RELEASE);
        else
            __atomic_store_n(to + i, (char)word, __ATOMIC_RELEASE);
    }
}

static void load(char *to, const char *from, size_t bytes)
{
    bool words = !(((uintptr_t)from | bytes) & 7);
    for (size_t i = 0; i < bytes; i += words ? 8 : 1) {
        uint64_t word = words ? __atomic_load_n((const uint64_t *)(from + i), __ATOMIC_ACQUIRE)
                              : (uint64_t)__atomic_load_n((const unsigned char *)(from + i), __ATOMIC_ACQUIRE);
        memcpy(to + i, &word, words ? 8 : 1);
    }
}

static void hear(struct mock_pe *pe, struct item *i)
{
    if (i->copied) {
        hm_pack_heard(pe->pack, i->from, i->copy, i->bytes);
        return;
    }
    hm_pack_heard(pe->pack, i->from, i->text, i->bytes);
    i->done(i->arg); /* late, behind the reply even */
}

static void arrive(struct mock_pe *pe, struct item *i)
{
    char *at = pe->heap + i->offset;
    uint64_t old;
    switch (i->kind) {
    case MESSAGE: hear(pe, i); break;
    case PUT: store(at, i->copy, i->bytes); break;
    case GET: load(i->to, at, i->bytes); break;
    case AMO:
        old = i->size == 8 ? hm_amo_do64(i->op, at, i->value, i->cond) : hm_amo_do32(i->op, at, i->value, i->cond);
        if (i->result) *i->result = old;
    }
    if (i->kind != MESSAGE) __atomic_fetch_sub(&i->lane->under_way, 1, __ATOMIC_RELEASE);
    free(i);
}

/* May it go before all that stand in front of it? */
static bool may_go(const struct inbox *in, const struct item *i)
{
    for (const struct item *other = in->first; other != i; other = other->next) {
        if (other->lane != i->lane) continue;
        if (i->kind == MESSAGE ? other->kind == MESSAGE : other->kind != MESSAGE && other->epoch < i->epoch) return false;
    }
    return true;
}

static struct item *choose(struct inbox *in)
{
    struct item **at = &in->first;
    unsigned skip = draw(&in->random, 4);
    for (struct item **look = at; *look && skip; look = &(*look)->next, skip--)
        if (may_go(in, *look)) at = look;
    struct item *i = *at;
    if (!i) return NULL;
    *at = i->next;
    if (!i->next) in->last = at;
    if (i->kind == MESSAGE) in->queued -= i->bytes;
    return i;
}

bool mock_deliver(int pe)
{
    struct inbox *in = &inbox[pe];
    pthread_mutex_lock(&in->lock);
    struct item *i = choose(in);
    pthread_mutex_unlock(&in->lock);
    int self = mock_self;
    mock_self = pe;
    if (i) arrive(&mock_pe[pe], i);
    mock_self = self;
    return i != NULL;
}

static void send(int pe, struct item *i)
{
    struct inbox *in = &inbox[pe];
    i->next = NULL;
    pthread_mutex_lock(&in->lock);
    *in->last = i;
    in->last = &i->next;
    if (i->kind == MESSAGE) in->queued += i->bytes;
    if (!threads && in->queued > mock_queued_most) mock_queued_most = in->queued;
    pthread_cond_signal(&in->more);
    pthread_mutex_unlock(&in->lock);
}

static struct item *item(enum kind kind, struct hm_lane *lane, const void *text, size_t bytes)
{
    struct item *i = calloc(1, sizeof *i + bytes);
    if (!i) abort();
    i->kind = kind;
    i->lane = lane;
    i->from = lane->pe;
    i->bytes = bytes;
    i->epoch = __atomic_load_n(&lane->epoch, __ATOMIC_ACQUIRE);
    if (text) memcpy(i->copy, text, bytes);
    if (kind != MESSAGE) __atomic_fetch_add(&lane->under_way, 1, __ATOMIC_RELAXED);
    return i;
}

/* --- the transport --- */

static void idle(void)
{
    if (threads)
        sched_yield();
    else
        for (int i = 0; i < 32 * npes; i++) mock_deliver(i % npes);
}

static void message(struct hm_lane *lane, int pe, const void *from, size_t bytes, void (*done)(void *), void *arg)
{
    static unsigned turns;
    bool copy = __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED) % 3 == 0;
    struct item *i = item(MESSAGE, lane, copy ? from : NULL, bytes);
    i->copied = copy;
    i->text = from;
    i->done = done;
    i->arg = arg;
    send(pe, i);
    if (copy) done(arg);
}

static void wake_at(uint64_t ns)
{
    struct inbox *in = &inbox[mock_self];
    if (!threads) {
        mock_wake = ns;
        return;
    }
    pthread_mutex_lock(&in->lock);
    if (!in->wake || ns < in->wake) in->wake = ns;
    pthread_cond_signal(&in->more);
    pthread_mutex_unlock(&in->lock);
}

static void quiet(struct hm_lane *lane)
{
    while (__atomic_load_n(&lane->under_way, __ATOMIC_ACQUIRE)) idle();
}

static void put(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes)
{
    struct item *i = item(PUT, lane, from, bytes);
    i->offset = to.offset;
    send(to.pe, i);
}

static void get_nbi(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes)
{
    struct item *i = item(GET, lane, NULL, bytes);
    i->offset = from.offset;
    i->to = to;
    send(from.pe, i);
}

static uint64_t atomic(struct hm_lane *lane, enum hm_amo op, struct hm_place word, size_t size, uint64_t value,
                       uint64_t cond)
{
    uint64_t result = 0;
    struct item *i = item(AMO, lane, NULL, 0);
    i->op = op;
    i->offset = word.offset;
    i->value = value;
    i->cond = cond;
    i->size = size;
    i->result = hm_amo_is_silent(op) ? NULL : &result;
    bool wait = i->result != NULL;
    send(word.pe, i);
    if (wait) quiet(lane);
    return result;
}

static void put_signal(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes, struct hm_place signal,
                       uint64_t value, enum hm_amo op, bool nbi)
{
    (void)nbi;
    if (bytes) put(lane, to, from, bytes);
    __atomic_fetch_add(&lane->epoch, 1, __ATOMIC_ACQ_REL);
    atomic(lane, op, signal, 8, value, 0);
}

static void fence(struct hm_lane *lane) { __atomic_fetch_add(&lane->epoch, 1, __ATOMIC_ACQ_REL); }

static const struct hm_transport transport = {
    .name = "mock",
    .put = put,
    .get_nbi = get_nbi,
    .atomic = atomic,
    .put_signal = put_signal,
    .message_max = 8192,
    .message = message,
    .wake_at = wake_at,
    .fence = fence,
    .quiet = quiet,
};

/* --- what far.c does with it --- */

static struct hm_place at(int pe, uint64_t offset) { return (struct hm_place){pe, HM_SEGMENT_HEAP, offset}; }

void mock_put(struct hm_packer *p, struct hm_lane *lane, int pe, uint64_t to, const void *from, size_t bytes)
{
    if (hm_pack_put(p, at(pe, to), from, bytes)) return;
    hm_pack_before(p, pe, false);
    put(lane, at(pe, to), from, bytes);
    hm_pack_after(p);
}

void mock_get_nbi(struct hm_packer *p, struct hm_lane *lane, void *to, int pe, uint64_t from, size_t bytes)
{
    if (hm_pack_get(p, to, at(pe, from), bytes)) return;
    hm_pack_before(p, pe, true);
    get_nbi(lane, to, at(pe, from), bytes);
    hm_pack_after(p);
}

uint64_t mock_amo(struct hm_packer *p, struct hm_lane *lane, enum hm_amo op, int pe, uint64_t word, uint64_t value)
{
    if (hm_amo_is_silent(op) && hm_pack_amo(p, op, at(pe, word), 8, value, 0, NULL)) return 0;
    hm_pack_before(p, pe, true);
    uint64_t old = atomic(lane, op, at(pe, word), 8, value, 0);
    if (hm_amo_is_silent(op)) hm_pack_after(p);
    return old;
}

void mock_amo_nbi(struct hm_packer *p, struct hm_lane *lane, enum hm_amo op, int pe, uint64_t word, uint64_t value,
                  uint64_t *fetch)
{
    if (!hm_pack_amo(p, op, at(pe, word), 8, value, 0, fetch)) *fetch = mock_amo(p, lane, op, pe, word, value);
}

void mock_put_signal(struct hm_packer *p, struct hm_lane *lane, int pe, uint64_t to, const void *from, size_t bytes,
                     uint64_t signal, uint64_t value)
{
    if (hm_pack_put_signal(p, at(pe, to), from, bytes, at(pe, signal), value, HM_AMO_SET)) return;
    hm_pack_before(p, pe, true);
    put_signal(lane, at(pe, to), from, bytes, at(pe, signal), value, HM_AMO_SET, false);
    hm_pack_after(p);
}

void mock_fence(struct hm_packer *p, struct hm_lane *lane)
{
    hm_pack_fence(p);
    fence(lane);
}

void mock_quiet(struct hm_packer *p, struct hm_lane *lane)
{
    (void)lane;
    hm_pack_quiet(p);
}

/* --- start and stop --- */

static struct hm_lane *reply_lane(void) { return mock_pe[mock_self].reply_lane; }
static void moved(void) {}

struct hm_lane *mock_lane(int pe)
{
    struct hm_lane *lane = calloc(1, sizeof *lane);
    if (!lane) abort();
    lane->pe = pe;
    return lane;
}

void mock_say(int pe, int from, const void *bytes, size_t n) { hm_pack_heard(mock_pe[pe].pack, from, bytes, n); }

void mock_start(int n, size_t heap, const struct hm_pack_config *config, unsigned seed)
{
    npes = n;
    mock_pe = calloc((size_t)n, sizeof *mock_pe);
    inbox = calloc((size_t)n, sizeof *inbox);
    mock_queued_most = 0;
    for (int i = 0; i < n; i++) {
        struct hm_pack_config c = *config;
        struct mock_pe *pe = &mock_pe[i];
        *pe = (struct mock_pe){.pe = i, .heap = calloc(1, heap), .reply_lane = mock_lane(i)};
        c.pe = i;
        c.npes = n;
        c.transport = &transport;
        c.segment[HM_SEGMENT_HEAP].base = pe->heap;
        c.segment[HM_SEGMENT_HEAP].bytes = heap;
        c.reply_lane = reply_lane;
        c.moved = moved;
        c.idle = idle;
        pe->pack = hm_pack_open(&c);
        if (!pe->pack) abort();
        pthread_mutex_init(&inbox[i].lock, NULL);
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&inbox[i].more, &attr);
        inbox[i].last = &inbox[i].first;
        inbox[i].random = seed + (unsigned)i * 77;
    }
}

static void wait_for_more(struct inbox *in)
{
    if (!in->wake) {
        pthread_cond_wait(&in->more, &in->lock);
        return;
    }
    struct timespec until = {(time_t)(in->wake / 1000000000), (long)(in->wake % 1000000000)};
    pthread_cond_timedwait(&in->more, &in->lock, &until);
}

static void *progress(void *arg)
{
    struct mock_pe *pe = arg;
    struct inbox *in = &inbox[pe->pe];
    mock_self = pe->pe;
    pthread_mutex_lock(&in->lock);
    while (!in->stop) {
        bool due = in->wake && in->wake <= hm_os_now();
        if (!in->first && !due) {
            wait_for_more(in);
            continue;
        }
        if (due) in->wake = 0;
        pthread_mutex_unlock(&in->lock);
        uint64_t next = due ? hm_pack_tick(pe->pack) : 0;
        if (next) wake_at(next);
        mock_deliver(pe->pe);
        pthread_mutex_lock(&in->lock);
    }
    pthread_mutex_unlock(&in->lock);
    return NULL;
}

void mock_threads(void)
{
    threads = true;
    for (int i = 0; i < npes; i++) {
        if (pthread_create(&inbox[i].thread, NULL, progress, &mock_pe[i])) abort();
        inbox[i].running = true;
    }
}

static void stop_thread(struct inbox *in)
{
    pthread_mutex_lock(&in->lock);
    in->stop = true;
    pthread_cond_signal(&in->more);
    pthread_mutex_unlock(&in->lock);
    pthread_join(in->thread, NULL);
}

void mock_stop(void)
{
    for (int i = 0; i < npes; i++)
        if (inbox[i].running) stop_thread(&inbox[i]);
    threads = false;
    for (int i = 0; i < npes; i++) {
        hm_pack_close(mock_pe[i].pack);
        free(mock_pe[i].heap);
        free(mock_pe[i].reply_lane);
    }
    free(mock_pe);
    free(inbox);
}

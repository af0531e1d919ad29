#include "core/watch.h"

#include "base/os.h"
#include "core/place.h"
#include "core/world.h"

enum {
    PERIOD_NS = 1000000,       /* a word is looked at this often ... */
    YOUNG_NS = 100000000,      /* ... while its wait is younger than this, then ... */
    PERIOD_MAX_NS = 50000000,  /* ... at a period that grows to this */
    WATCHED_NAP_NS = 250000000 /* who is watched looks himself this often, should the watchman be stopped */
};

uint64_t hm_watch_period(uint64_t age)
{
    if (age < YOUNG_NS) return PERIOD_NS;
    uint64_t period = age / 16;
    return period < PERIOD_MAX_NS ? period : PERIOD_MAX_NS;
}

/* The awaited word as it is mapped here; NULL where it cannot be seen. */
static const void *word_of(const struct hm_peer *peer, const struct hm_blocked *b, enum hm_word type)
{
    uint64_t o = (uint64_t)b->offset, limit = b->in_heap ? hm_symm.real_heap_limit : hm_symm.real_data_limit;
    const char *base = b->in_heap ? peer->heap : peer->data;
    size_t size = hm_word_size(type);
    return base && o < limit && limit - o >= size && o % size == 0 ? base + o : NULL;
}

static bool is_met(const struct hm_peer *peer, const struct hm_blocked *b)
{
    uint32_t type = b->word - 1; /* 0, not one word, becomes the largest */
    const void *word = type <= HM_WORD_U64 ? word_of(peer, b, type) : NULL;
    return word && hm_word_is(hm_word_load(word, type), b->cmp, b->want, type);
}

/* Calls `visit` for every published wait for a word, until it says to stop. */
static void each_word(bool (*visit)(struct hm_peer *peer, const struct hm_blocked *b, void *arg), void *arg)
{
    for (int i = 0; i < hm_places.local_npes; i++) {
        struct hm_peer *peer = &hm_symm.peer[hm_place_pe(i)];
        if (!(__atomic_load_n(&peer->bell->sleepers, __ATOMIC_ACQUIRE) & ~HM_BELL_NO_MEMBARRIER)) continue;
        for (int k = 0; k < HM_BLOCKED_SLOTS; k++) {
            struct hm_blocked note;
            bool is_word = hm_blocked_read(&peer->page->blocked[k], &note) && note.kind == HM_BLOCKED_WORD;
            if (is_word && visit(peer, &note, arg)) return;
        }
    }
}

struct round {
    uint64_t now, youngest;
};

static bool look_at(struct hm_peer *peer, const struct hm_blocked *b, void *arg)
{
    struct round *r = arg;
    uint64_t age = r->now > b->since ? r->now - b->since : 0;
    if (age < r->youngest) r->youngest = age;
    if (is_met(peer, b)) hm_bell_ring(peer->bell);
    return false;
}

static uint64_t look_round(const struct hm_wait *w)
{
    struct round r = {.now = hm_os_now()};
    r.youngest = r.now - w->since;
    each_word(look_at, &r);
    return hm_watch_period(r.youngest);
}

static bool try_to_watch(void)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&hm_world.job->watchman, &nobody, (uint32_t)hm_world.pe + 1, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void hm_watch_enter(struct hm_wait *w)
{
    struct hm_job *job = hm_world.job;
    w->watched = true;
    __atomic_fetch_add(&job->watched, 1, __ATOMIC_SEQ_CST);
    w->watching = try_to_watch();
    uint32_t watchman = __atomic_load_n(&job->watchman, __ATOMIC_SEQ_CST);
    if (!w->watching && watchman && __atomic_load_n(&job->watch_slow, __ATOMIC_SEQ_CST))
        hm_bell_ring(hm_symm.peer[watchman - 1].bell); /* a young wait: he must look more often again */
}

static bool ring_once(struct hm_peer *peer, const struct hm_blocked *b, void *arg)
{
    (void)b;
    (void)arg;
    hm_bell_ring(peer->bell);
    return true;
}

void hm_watch_leave(struct hm_wait *w)
{
    struct hm_job *job = hm_world.job;
    uint32_t left = __atomic_sub_fetch(&job->watched, 1, __ATOMIC_SEQ_CST);
    if (!w->watching) return;
    __atomic_store_n(&job->watchman, 0, __ATOMIC_SEQ_CST);
    if (left) each_word(ring_once, NULL);
}

uint64_t hm_watch_nap(struct hm_wait *w)
{
    struct hm_job *job = hm_world.job;
    if (!w->watching && !(w->watching = try_to_watch())) return WATCHED_NAP_NS;
    uint64_t nap = look_round(w);
    uint32_t slow = nap > PERIOD_NS;
    if (slow == __atomic_load_n(&job->watch_slow, __ATOMIC_RELAXED)) return nap;
    __atomic_store_n(&job->watch_slow, slow, __ATOMIC_SEQ_CST);
    return slow ? look_round(w) : nap; /* who came before he could see this, is seen now */
}

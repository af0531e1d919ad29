#include "core/crowd.h"

#include "base/os.h"

enum {
    FEW_YIELDS = 16,            /* when a PE has made fewer since its last long one, ... */
    CROWD_NS = 20000000,        /* and the last one of anybody's is not longer ago, ... */
    CROWDED_NS = 4000000,       /* waits sleep at once for so long, ... */
    CROWDED_MAX_NS = 128000000, /* ... and up to so long when that happens again and again; ... */
    CROWDED_FORGET = 4,         /* ... it does not when so many times as long has passed without */
};

/* In a crowd nearly every yield takes long. Among PEs that have this and that to do one takes long now and then, out of
 * thousands; then sleeps, and who wakes the sleepers, would cost more than it did. */
static uint32_t yields_since_long;

void hm_crowd_short_yield(void)
{
    uint32_t n = __atomic_load_n(&yields_since_long, __ATOMIC_RELAXED);
    if (n < FEW_YIELDS) __atomic_store_n(&yields_since_long, n + 1, __ATOMIC_RELAXED);
}

bool hm_crowd_any_strangers(const struct hm_crowd *c, int pes)
{
    int running = hm_os_running(); /* 0, not known: taken for so */
    return running <= 0 || running > pes - __atomic_load_n(&c->asleep, __ATOMIC_RELAXED);
}

/* By one of those that find out at a time. */
static void begin(struct hm_crowd *c, uint64_t now, uint64_t until)
{
    uint64_t span = __atomic_load_n(&c->span, __ATOMIC_RELAXED);
    span = now - until > CROWDED_FORGET * span ? CROWDED_NS : span * 2;
    if (span > CROWDED_MAX_NS) span = CROWDED_MAX_NS;
    if (!__atomic_compare_exchange_n(&c->until, &until, now + span, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    __atomic_store_n(&c->span, span, __ATOMIC_RELAXED);
}

/* All that waited on that core see the same, and once is no crowd: something of the system's has run. A crowd is noted for
 * longer each time, if the last time is not long past. */
void hm_crowd_long_yield(struct hm_crowd *c, uint64_t began, uint64_t now, int pes)
{
    uint64_t last = __atomic_load_n(&c->long_yield, __ATOMIC_RELAXED), until = hm_crowd_until(c);
    bool few = __atomic_exchange_n(&yields_since_long, 0, __ATOMIC_RELAXED) < FEW_YIELDS;
    if (began < last || now < until || !few || !hm_crowd_any_strangers(c, pes)) return;
    __atomic_store_n(&c->long_yield, now, __ATOMIC_RELAXED);
    if (now - last <= CROWD_NS) begin(c, now, until);
}

#include "core/packer.h"

#include <stdlib.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/os.h"

enum {
    LEAST_PACKET = 512, /* bytes, however many PEs share the credit */
    LEAST_BUFFERS = 8,
    YIELDS = 10,           /* of a wait, before it sleeps */
    LONG_YIELD_NS = 50000, /* somebody else has the core: it sleeps at once */
    NAP_NS = 2000000,
};

/* --- locks and waits --- */

void hm_pack_no_memory(void) { hm_die(NULL, "out of memory for packets of small operations"); }

/* Held for the writing of an operation or the sending of a packet; but who holds it may be off the core. */
void hm_pack_lock_slow(uint32_t *lock)
{
    for (int i = 0; __atomic_load_n(lock, __ATOMIC_RELAXED) || __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++)
        if (i < 100)
            hm_relax();
        else
            hm_futex_wait(lock, 1, 50000); /* the one who unlocks wakes nobody: it is a bounded sleep */
}

static void yield(struct waiting *w)
{
    uint64_t before = hm_os_now();
    w->pack->config.idle();
    if (hm_os_now() - before > LONG_YIELD_NS) w->still = w->pack->config.spin + YIELDS;
}

static void nap(struct waiting *w)
{
    struct hm_pack *pack = w->pack;
    __atomic_fetch_add(&pack->sleepers, 1, __ATOMIC_SEQ_CST);
    hm_futex_wait(&pack->event, w->event, NAP_NS);
    __atomic_fetch_sub(&pack->sleepers, 1, __ATOMIC_SEQ_CST);
    pack->config.idle(); /* it may be time to leave */
}

void hm_pack_turn(struct waiting *w)
{
    struct hm_pack *pack = w->pack;
    if (++w->still <= pack->config.spin)
        hm_relax();
    else if (w->still <= pack->config.spin + YIELDS)
        yield(w);
    else
        nap(w);
    w->event = __atomic_load_n(&pack->event, __ATOMIC_SEQ_CST);
}

void hm_pack_tell(struct hm_pack *pack)
{
    __atomic_fetch_add(&pack->event, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pack->sleepers, __ATOMIC_SEQ_CST)) hm_futex_wake(&pack->event, INT_MAX);
}

/* --- the pool --- */

static struct buffer *take_unused(struct hm_pack *pack)
{
    uint32_t i = __atomic_load_n(&pack->unused, __ATOMIC_RELAXED);
    do {
        if (i >= pack->buffers) return NULL;
    } while (!__atomic_compare_exchange_n(&pack->unused, &i, i + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    pack->buffer[i].packet = (struct hm_packet *)(pack->memory + i * pack->packet);
    return &pack->buffer[i];
}

static struct buffer *take_free(struct hm_pack *pack)
{
    uint64_t head = __atomic_load_n(&pack->free, __ATOMIC_ACQUIRE), next;
    struct buffer *b;
    do {
        uint32_t first = (uint32_t)head;
        if (!first) return NULL;
        b = &pack->buffer[first - 1];
        next = (head & ~(uint64_t)UINT32_MAX) + ((uint64_t)1 << 32) + __atomic_load_n(&b->next, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&pack->free, &head, next, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return b;
}

struct buffer *hm_pack_take(struct hm_pack *pack)
{
    struct buffer *b = take_free(pack);
    if (!b && !(b = take_unused(pack))) return NULL;
    uint32_t used = __atomic_add_fetch(&pack->used, 1, __ATOMIC_RELAXED);
    if (used > __atomic_load_n(&pack->used_most, __ATOMIC_RELAXED))
        __atomic_store_n(&pack->used_most, used, __ATOMIC_RELAXED);
    return b;
}

void hm_pack_give_back(struct hm_pack *pack, struct buffer *b)
{
    uint64_t head = __atomic_load_n(&pack->free, __ATOMIC_RELAXED), next;
    do {
        __atomic_store_n(&b->next, (uint32_t)head, __ATOMIC_RELAXED);
        next = (head & ~(uint64_t)UINT32_MAX) + ((uint64_t)1 << 32) + (uint32_t)(b - pack->buffer) + 1;
    } while (!__atomic_compare_exchange_n(&pack->free, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_sub(&pack->used, 1, __ATOMIC_RELAXED);
}

/* The transport and the reply may come in either order. */
void hm_pack_release(struct hm_pack *pack, struct buffer *b, uint32_t holder)
{
    if (__atomic_fetch_and(&b->holders, ~holder, __ATOMIC_ACQ_REL) == holder) hm_pack_give_back(pack, b);
}

bool hm_pack_is_short(const struct hm_pack *pack)
{
    return __atomic_load_n(&pack->used, __ATOMIC_RELAXED) >= pack->buffers - pack->buffers / 4;
}

/* --- open and close --- */

/* A packet is smaller than half of what a target lets us have unapplied, so that one can be written while another is
 * under way. */
static void choose_sizes(struct hm_pack *pack)
{
    const struct hm_pack_config *c = &pack->config;
    pack->share = c->credit / (size_t)c->npes;
    if (pack->share < 2 * LEAST_PACKET) pack->share = 2 * LEAST_PACKET;
    pack->packet = c->packet < c->transport->message_max ? c->packet : c->transport->message_max;
    if (pack->packet > pack->share / 2) pack->packet = pack->share / 2;
    if (pack->packet < LEAST_PACKET) pack->packet = LEAST_PACKET;
    pack->packet = hm_round_down(pack->packet, 16);
    if (pack->config.largest > pack->packet / 4) pack->config.largest = pack->packet / 4;
    if (pack->config.largest > UINT16_MAX) pack->config.largest = UINT16_MAX;
    size_t buffers = c->pool / pack->packet;
    if (buffers < LEAST_BUFFERS) buffers = LEAST_BUFFERS;
    pack->buffers = buffers < UINT16_MAX ? (uint32_t)buffers : UINT16_MAX;
}

struct hm_pack *hm_pack_open(const struct hm_pack_config *config)
{
    struct hm_pack *pack = aligned_alloc(HM_LINE, hm_round_up(sizeof *pack, HM_LINE));
    if (!pack) return NULL;
    memset(pack, 0, sizeof *pack);
    pack->config = *config;
    choose_sizes(pack);
    pack->owed = calloc((size_t)config->npes, sizeof *pack->owed);
    pack->buffer = calloc(pack->buffers, sizeof *pack->buffer);
    pack->memory = malloc(pack->buffers * pack->packet); /* not touched before it is used */
    if (!pack->owed || !pack->buffer || !pack->memory) {
        hm_pack_close(pack);
        return NULL;
    }
    return pack;
}

static void drop_packer(struct hm_packer *p)
{
    for (struct way *w = p->ways, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(p->way);
    free(p);
}

void hm_pack_close(struct hm_pack *pack)
{
    if (!pack) return;
    if (pack->packets || pack->applied)
        hm_debug("aggregation: %ju operations in %ju packets of at most %zu bytes, %u of %u buffers used, %ju packets of "
                 "others applied", (uintmax_t)pack->operations, (uintmax_t)pack->packets, pack->packet,
                 pack->used_most, pack->buffers, (uintmax_t)pack->applied);
    for (struct hm_packer *p = pack->packers, *next; p; p = next) {
        next = p->next;
        drop_packer(p);
    }
    for (uint32_t i = 0; pack->buffer && i < pack->unused; i++) free(pack->buffer[i].fetch);
    free(pack->memory);
    free(pack->buffer);
    free(pack->owed);
    free(pack);
}

void hm_pack_stats(const struct hm_pack *pack, struct hm_pack_stats *stats)
{
    *stats = (struct hm_pack_stats){.packets = __atomic_load_n(&pack->packets, __ATOMIC_RELAXED),
                                    .operations = __atomic_load_n(&pack->operations, __ATOMIC_RELAXED),
                                    .applied = __atomic_load_n(&pack->applied, __ATOMIC_RELAXED),
                                    .packet_bytes = pack->packet,
                                    .share = pack->share,
                                    .buffers = pack->buffers,
                                    .used = __atomic_load_n(&pack->used_most, __ATOMIC_RELAXED)};
}

static struct hm_packer *spare_take(struct hm_pack *pack)
{
    lock(&pack->packers_lock);
    struct hm_packer *p = pack->spare;
    if (p) pack->spare = p->next_spare;
    unlock(&pack->packers_lock);
    return p;
}

static struct hm_packer *make_packer(struct hm_pack *pack)
{
    struct hm_packer *p = aligned_alloc(HM_LINE, hm_round_up(sizeof *p, HM_LINE));
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->pack = pack;
    lock(&pack->packers_lock);
    p->next = pack->packers;
    __atomic_store_n(&pack->packers, p, __ATOMIC_RELEASE);
    unlock(&pack->packers_lock);
    return p;
}

/* Contexts come and go: the packer of one that went serves the next, with its ways and counts. */
struct hm_packer *hm_packer_open(struct hm_pack *pack, struct hm_lane *lane, const uint32_t *session)
{
    struct hm_packer *p = spare_take(pack);
    if (!p && !(p = make_packer(pack))) return NULL;
    lock(&p->lock);
    p->lane = lane;
    p->session = session;
    p->fresh = HM_PACK_FRESH;
    unlock(&p->lock);
    return p;
}

void hm_packer_close(struct hm_packer *p)
{
    struct hm_pack *pack = p->pack;
    lock(&p->lock);
    p->session = NULL;
    unlock(&p->lock);
    lock(&pack->packers_lock);
    p->next_spare = pack->spare;
    pack->spare = p;
    unlock(&pack->packers_lock);
}

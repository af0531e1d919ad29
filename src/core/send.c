#include "core/packer.h"

#include <stdlib.h>

#include "base/os.h"

enum { FEW = 8 }; /* operations that go direct rather than in a packet when they are waited for */

/* --- sending; under the packer's lock --- */

static void left(void *arg)
{
    struct buffer *b = arg;
    struct hm_pack *pack = b->way->packer->pack;
    hm_pack_release(pack, b, HM_FOR_TRANSPORT);
    hm_pack_tell(pack);
}

/* One packet may always be under way. */
static bool take_credit(struct hm_pack *pack, int pe, uint32_t bytes)
{
    uint32_t owed = __atomic_load_n(&pack->owed[pe], __ATOMIC_RELAXED);
    do {
        if (owed && owed + bytes > pack->share) return false;
    } while (!__atomic_compare_exchange_n(&pack->owed[pe], &owed, owed + bytes, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    return true;
}

static void unlink_open(struct hm_packer *p, struct way *w)
{
    *(w->older ? &w->older->newer : &p->oldest) = w->newer;
    *(w->newer ? &w->newer->older : &p->newest) = w->older;
    w->older = w->newer = NULL;
    __atomic_store_n(&w->open, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&p->open, p->open - 1, __ATOMIC_SEQ_CST);
}

/* False: the target has as much of ours as it may. */
bool hm_way_send(struct way *w)
{
    struct hm_packer *p = w->packer;
    struct hm_pack *pack = p->pack;
    struct buffer *b = w->open;
    uint32_t bytes = b->at;
    if (!take_credit(pack, w->pe, bytes)) return false;
    *b->packet = (struct hm_packet){.message = {HM_MESSAGE_PACKET, b->values},
                                    .cookie = (uint32_t)(b - pack->buffer),
                                    .operations = b->operations};
    __atomic_store_n(&w->sent, w->sent + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&p->sent, p->sent + 1, __ATOMIC_RELEASE);
    unlink_open(p, w);
    __atomic_fetch_add(&pack->packets, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pack->operations, b->operations, __ATOMIC_RELAXED);
    __atomic_store_n(&b->holders, HM_FOR_TRANSPORT | HM_FOR_REPLY, __ATOMIC_RELEASE);
    pack->config.transport->message(p->lane, w->pe, b->packet, bytes, left, b);
    return true;
}

/* The lock is let go meanwhile. */
static void wait_unlocked(struct hm_packer *p, struct waiting *t)
{
    unlock(&p->lock);
    hm_pack_turn(t);
    lock(&p->lock);
}

void hm_way_send_now(struct way *w)
{
    for (struct waiting t = waiting(w->packer->pack); w->open && !hm_way_send(w);) wait_unlocked(w->packer, &t);
}

/* What can be sent without waiting. */
void hm_packer_send_all(struct hm_packer *p)
{
    for (struct way *w = p->oldest, *next; w; w = next) {
        next = w->newer;
        hm_way_send(w);
    }
}


/* --- a few are as well off without a packet, as each needs no reply; under the packer's lock --- */

/* One that was packed, as a direct operation. Gives where the next one begins. */
static const char *issue(struct hm_packer *p, const char *at, int pe, const struct fetch **fetch)
{
    const struct hm_transport *t = p->pack->config.transport;
    uint64_t head = 0, value = 0, cond = 0;
    uint16_t length = 0;
    memcpy(&head, at, HM_PACK_HEAD_BYTES);
    at += HM_PACK_HEAD_BYTES;
    unsigned op = head & (HM_PACK_WIDE - 1);
    bool wide = head & HM_PACK_WIDE;
    struct hm_place place = {pe, (enum hm_segment_id)(head >> HM_PACK_SEGMENT_SHIFT & 3), head >> 8};
    size_t bytes = op == HM_PACK_SHORT ? 1 + wide : wide ? 8 : 4;
    if (op == HM_PACK_PUT || op == HM_PACK_GET) {
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        bytes = length;
    }
    if (op == HM_PACK_GET || op == HM_AMO_FETCH) {
        t->get_nbi(p->lane, (*fetch)++->to, place, bytes);
        return at;
    }
    if (op <= HM_AMO_XOR) {
        memcpy(&value, at, bytes);
        if (op == HM_AMO_CAS) memcpy(&cond, at += bytes, bytes);
        value = t->atomic(p->lane, (enum hm_amo)op, place, bytes, value, cond);
        if (!hm_amo_is_silent((enum hm_amo)op)) memcpy((*fetch)++->to, &value, bytes);
    } else {
        t->put(p->lane, place, at, bytes);
    }
    return at + bytes;
}

static void issue_all(struct way *w)
{
    struct hm_packer *p = w->packer;
    struct buffer *b = w->open;
    const struct fetch *fetch = b->fetch;
    const char *at = (const char *)(b->packet + 1);
    for (uint32_t i = 0; i < b->operations; i++) at = issue(p, at, w->pe, &fetch);
    unlink_open(p, w);
    hm_pack_give_back(p->pack, b);
    __atomic_fetch_add(&p->issued, 1, __ATOMIC_RELEASE);
}

/* Only while no packet is under way, for which direct operations behind a fence would have to wait. `wait`: one that is
 * waited for may be among them, if it is alone. */
static bool send_few(struct hm_packer *p, bool wait)
{
    uint32_t operations = 0, stay = 0;
    if (!hm_packer_is_applied(p)) return false;
    for (const struct way *w = p->oldest; w; w = w->newer) {
        operations += w->open->operations;
        stay += w->open->stay;
        if (operations > FEW || (stay && (!wait || operations + stay > 2))) return false;
    }
    while (p->oldest) issue_all(p->oldest);
    return true;
}

void hm_packer_send_all_now(struct hm_packer *p)
{
    if (send_few(p, true)) return;
    hm_packer_send_all(p);
    for (struct waiting t = waiting(p->pack); p->oldest; hm_packer_send_all(p)) wait_unlocked(p, &t);
}

static void hurry(struct hm_packer *p)
{
    if (!__atomic_load_n(&p->open, __ATOMIC_SEQ_CST) || !try_lock(&p->lock)) return;
    if (!send_few(p, false)) hm_packer_send_all(p);
    unlock(&p->lock);
}

void hm_pack_hurry(struct hm_pack *pack, bool rests)
{
    for (struct hm_packer *p = __atomic_load_n(&pack->packers, __ATOMIC_ACQUIRE); p; p = p->next) {
        hurry(p);
        if (rests) __atomic_store_n(&p->fresh, HM_PACK_FRESH, __ATOMIC_RELAXED);
    }
}

/* --- opening a packet; under the packer's lock --- */

static HM_COLD struct way *make_way(struct hm_packer *p, int pe)
{
    if (!p->way) {
        struct way **table = calloc((size_t)p->pack->config.npes, sizeof(struct way *));
        if (!table) hm_pack_no_memory();
        __atomic_store_n(&p->way, table, __ATOMIC_RELEASE);
    }
    if (p->way[pe]) return p->way[pe];
    struct way *w = calloc(1, sizeof *w);
    if (!w) hm_pack_no_memory();
    w->packer = p;
    w->pe = pe;
    w->epoch = p->epoch;
    w->next = p->ways;
    __atomic_store_n(&p->ways, w, __ATOMIC_RELEASE);
    __atomic_store_n(&p->way[pe], w, __ATOMIC_RELEASE);
    return w;
}

HM_INLINE struct way *way_to(struct hm_packer *p, int pe)
{
    struct way *w = hm_likely(p->way != NULL) ? p->way[pe] : NULL;
    return hm_likely(w != NULL) ? w : make_way(p, pe);
}

/* The tick clears `wake` before it looks at packers; who opens a buffer looks at `wake` behind that. */
static void ask_for_tick(struct hm_packer *p)
{
    struct hm_pack *pack = p->pack;
    if (__atomic_load_n(&pack->wake, __ATOMIC_SEQ_CST)) return;
    uint64_t at = hm_os_now() + hm_pack_tick_ns(pack);
    __atomic_store_n(&pack->wake, at, __ATOMIC_SEQ_CST);
    pack->config.transport->wake_at(at);
}

static void link_open(struct hm_packer *p, struct way *w)
{
    w->older = p->newest;
    w->newer = NULL;
    *(p->newest ? &p->newest->newer : &p->oldest) = w;
    p->newest = w;
    __atomic_store_n(&p->open, p->open + 1, __ATOMIC_SEQ_CST);
    if (p->open > 1) return;
    p->calls_seen = p->calls + 1;
    p->calm_ticks = 0;
    ask_for_tick(p);
}

/* False: there is no buffer now. */
static bool open_buffer(struct way *w)
{
    struct hm_packer *p = w->packer;
    struct hm_pack *pack = p->pack;
    if (hm_pack_is_short(pack) && p->oldest) hm_way_send(p->oldest);
    struct buffer *b = hm_pack_take(pack);
    if (!b) return false;
    b->way = w;
    b->at = sizeof(struct hm_packet);
    b->operations = b->fetches = b->values = b->stay = 0;
    b->opened = __atomic_load_n(&pack->ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&w->open, b, __ATOMIC_RELEASE);
    link_open(p, w);
    return true;
}

static HM_COLD void wait_for_buffer(struct hm_packer *p, struct waiting *t)
{
    unlock(&p->lock);
    hm_pack_hurry(p->pack, false); /* others may sit on them */
    hm_pack_turn(t);
    lock(&p->lock);
}

/* The way with a packet that has room for so much. */
HM_COLD struct way *hm_packer_find_room(struct hm_packer *p, int pe, size_t bytes, size_t values)
{
    struct waiting t = waiting(p->pack);
    for (;;) {
        struct way *w = way_to(p, pe);
        if (!w->open) {
            if (!open_buffer(w)) wait_for_buffer(p, &t);
        } else if (has_room(p->pack, w->open, bytes, values)) {
            return w;
        } else if (!hm_way_send(w)) {
            wait_unlocked(p, &t);
        }
    }
}

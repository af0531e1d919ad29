#include "core/packer.h"

#include <stdlib.h>

enum { DIRECT_BEFORE_QUIET = 128 }; /* operations that go direct because of a fence before its cause is taken away */

/* --- writing --- */

static struct fetch *make_fetches(struct hm_pack *pack, struct buffer *b)
{
    b->fetch = malloc(pack->packet / HM_PACK_HEAD_BYTES * sizeof(struct fetch));
    if (!b->fetch) hm_pack_no_memory();
    return b->fetch;
}

/* Notes where a value goes. A buffer's table is as long as there can be operations that fit in it. */
static void note_fetch(struct hm_pack *pack, struct buffer *b, void *to, size_t bytes)
{
    struct fetch *fetch = hm_likely(b->fetch != NULL) ? b->fetch : make_fetches(pack, b);
    fetch[b->fetches++] = (struct fetch){to, bytes};
    b->values += (uint32_t)bytes;
}

/* Locks, and finds the place for an operation of so many bytes. */
HM_INLINE char *begin(struct hm_packer *p, int pe, size_t bytes, size_t values, struct buffer **buffer)
{
    lock(&p->lock);
    struct way *w = p->way ? p->way[pe] : NULL;
    if (hm_unlikely(!w || !w->open || !has_room(p->pack, w->open, bytes, values))) w = hm_packer_find_room(p, pe, bytes, values);
    if (hm_unlikely(w->epoch != p->epoch)) {
        w->fenced = w->sent;
        w->epoch = p->epoch;
    }
    *buffer = w->open;
    return (char *)w->open->packet + w->open->at;
}

HM_INLINE void end(struct hm_packer *p, struct buffer *b, const char *at)
{
    b->at = (uint32_t)(at - (char *)b->packet);
    b->operations++;
    p->calls++;
    unlock(&p->lock);
}

/* --- packed or direct --- */

/* It never goes back. */
static void note_done(struct hm_packer *p, uint64_t issued)
{
    uint64_t done = __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
    while (done < issued && !__atomic_compare_exchange_n(&p->done, &done, issued, false, __ATOMIC_ACQ_REL,
                                                         __ATOMIC_ACQUIRE))
        continue;
}

static void quiet_direct(struct hm_packer *p)
{
    uint64_t issued = __atomic_load_n(&p->issued, __ATOMIC_ACQUIRE);
    if (issued == __atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) return;
    p->pack->config.transport->quiet(p->lane);
    note_done(p, issued);
}

/* Direct operations from before a fence may be under way still, behind which the transport keeps its own in order. */
static HM_COLD bool divert(struct hm_packer *p)
{
    if (__atomic_add_fetch(&p->diverted, 1, __ATOMIC_RELAXED) % DIRECT_BEFORE_QUIET) return true;
    quiet_direct(p);
    return false;
}

static HM_COLD bool begin_fresh(struct hm_packer *p)
{
    if (p->session && __atomic_load_n(p->session, __ATOMIC_RELAXED) & 1) return false; /* a batch is not alone */
    uint32_t left = __atomic_load_n(&p->fresh, __ATOMIC_RELAXED);
    if (left) __atomic_store_n(&p->fresh, left - 1, __ATOMIC_RELAXED);
    return left != 0;
}

/* `waits`: as a direct one, it would be waited for, so that there is nothing to win when it is alone. */
HM_INLINE bool goes_direct(struct hm_packer *p, uint64_t offset, bool waits)
{
    if (!waits && hm_unlikely(__atomic_load_n(&p->fresh, __ATOMIC_RELAXED)) && begin_fresh(p)) return true;
    if (hm_unlikely(__atomic_load_n(&p->fenced, __ATOMIC_ACQUIRE) > __atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) &&
        divert(p))
        return true;
    return hm_unlikely(offset >= HM_PACK_OFFSETS);
}

void hm_pack_before(struct hm_packer *p, int pe, bool send)
{
    struct way **table = __atomic_load_n(&p->way, __ATOMIC_ACQUIRE);
    struct way *w = table ? __atomic_load_n(&table[pe], __ATOMIC_ACQUIRE) : NULL;
    if (!w) return;
    lock(&p->lock);
    bool fenced = w->epoch != p->epoch;
    if (w->open && (send || fenced)) hm_way_send_now(w);
    uint32_t need = fenced ? w->sent : w->fenced;
    unlock(&p->lock);
    for (struct waiting t = waiting(p->pack); (int32_t)(__atomic_load_n(&w->applied, __ATOMIC_ACQUIRE) - need) < 0;)
        hm_pack_turn(&t);
}

void hm_pack_after(struct hm_packer *p)
{
    __atomic_fetch_add(&p->issued, 1, __ATOMIC_RELEASE);
}

/* --- operations --- */

static char *write_put(char *at, struct hm_place to, const char *from, size_t bytes)
{
    uint16_t length = (uint16_t)bytes;
    switch (bytes) {
    case 8: return (char *)memcpy(hm_packet_head(at, HM_PACK_WORD, true, to), from, 8) + 8;
    case 4: return (char *)memcpy(hm_packet_head(at, HM_PACK_WORD, false, to), from, 4) + 4;
    case 2: return (char *)memcpy(hm_packet_head(at, HM_PACK_SHORT, true, to), from, 2) + 2;
    case 1: return (char *)memcpy(hm_packet_head(at, HM_PACK_SHORT, false, to), from, 1) + 1;
    default:
        at = hm_packet_head(at, HM_PACK_PUT, false, to);
        memcpy(at, &length, sizeof length);
        memcpy(at + sizeof length, from, bytes);
        return at + sizeof length + bytes;
    }
}

bool hm_pack_put(struct hm_packer *p, struct hm_place to, const void *from, size_t bytes)
{
    struct buffer *b;
    if (bytes > p->pack->config.largest || goes_direct(p, to.offset, false)) return false;
    char *at = begin(p, to.pe, HM_PACK_HEAD_BYTES + HM_PACK_LENGTH_BYTES + bytes, 0, &b);
    end(p, b, write_put(at, to, from, bytes));
    return true;
}

bool hm_pack_get(struct hm_packer *p, void *to, struct hm_place from, size_t bytes)
{
    struct buffer *b;
    uint16_t length = (uint16_t)bytes;
    if (bytes > p->pack->config.largest || goes_direct(p, from.offset, false)) return false;
    char *at = begin(p, from.pe, HM_PACK_HEAD_BYTES + HM_PACK_LENGTH_BYTES, bytes, &b);
    note_fetch(p->pack, b, to, bytes);
    if ((bytes == 8 || bytes == 4) && from.offset % bytes == 0) {
        at = hm_packet_head(at, HM_AMO_FETCH, bytes == 8, from);
    } else {
        at = hm_packet_head(at, HM_PACK_GET, false, from);
        memcpy(at, &length, sizeof length);
        at += sizeof length;
    }
    end(p, b, at);
    return true;
}

HM_INLINE char *write_amo(char *at, enum hm_amo op, struct hm_place word, size_t size, uint64_t value, uint64_t cond)
{
    at = hm_packet_head(at, op, size == 8, word);
    if (op != HM_AMO_FETCH) {
        memcpy(at, &value, sizeof value); /* room for 8 bytes there is */
        at += size;
    }
    if (op == HM_AMO_CAS) {
        memcpy(at, &cond, sizeof cond);
        at += size;
    }
    return at;
}

bool hm_pack_amo(struct hm_packer *p, enum hm_amo op, struct hm_place word, size_t size, uint64_t value, uint64_t cond,
                 void *fetch)
{
    struct buffer *b;
    if (goes_direct(p, word.offset, fetch != NULL)) return false;
    char *at = begin(p, word.pe, HM_PACK_HEAD_BYTES + 2 * sizeof value, fetch ? size : 0, &b);
    if (fetch) {
        note_fetch(p->pack, b, fetch, size);
        b->stay++;
    }
    end(p, b, write_amo(at, op, word, size, value, cond));
    return true;
}

bool hm_pack_add_float(struct hm_packer *p, struct hm_place word, size_t size, uint64_t value)
{
    struct buffer *b;
    if (goes_direct(p, word.offset, true)) return false;
    char *at = begin(p, word.pe, HM_PACK_HEAD_BYTES + sizeof value, 0, &b);
    at = hm_packet_head(at, HM_PACK_ADD_FLOAT, size == 8, word);
    b->stay = UINT32_MAX / 2; /* there is no direct one */
    memcpy(at, &value, sizeof value);
    end(p, b, at + size);
    return true;
}

/* A packet that leaves at once is better than two messages, and none is better than one. */
static bool is_open(const struct hm_packer *p, int pe)
{
    struct way **table = __atomic_load_n(&p->way, __ATOMIC_ACQUIRE);
    const struct way *w = table ? __atomic_load_n(&table[pe], __ATOMIC_ACQUIRE) : NULL;
    return w && __atomic_load_n(&w->open, __ATOMIC_RELAXED);
}

bool hm_pack_put_signal(struct hm_packer *p, struct hm_place to, const void *from, size_t bytes, struct hm_place signal,
                        uint64_t value, enum hm_amo op)
{
    struct buffer *b;
    if (bytes > p->pack->config.largest || to.offset >= HM_PACK_OFFSETS || !is_open(p, signal.pe) ||
        goes_direct(p, signal.offset, false))
        return false;
    char *at = begin(p, signal.pe, 2 * HM_PACK_HEAD_BYTES + HM_PACK_LENGTH_BYTES + bytes + sizeof value, 0, &b);
    if (bytes) {
        at = write_put(at, to, from, bytes);
        b->operations++;
    }
    struct way *w = b->way;
    at = write_amo(at, op, signal, sizeof value, value, 0);
    b->at = (uint32_t)(at - (char *)b->packet);
    b->operations++;
    p->calls++;
    hm_way_send_now(w);
    unlock(&p->lock);
    return true;
}

/* --- order --- */

void hm_pack_fence(struct hm_packer *p)
{
    lock(&p->lock);
    hm_packer_send_all_now(p);
    p->epoch++;
    __atomic_store_n(&p->fenced, __atomic_load_n(&p->issued, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    unlock(&p->lock);
}

/* Other threads may go on sending: what counts for a way is what it had sent when it is looked at. */
static void wait_for_all(struct hm_packer *p)
{
    for (struct way *w = __atomic_load_n(&p->ways, __ATOMIC_ACQUIRE); w && !hm_packer_is_applied(p); w = w->next) {
        uint32_t need = __atomic_load_n(&w->sent, __ATOMIC_ACQUIRE);
        for (struct waiting t = waiting(p->pack);
             (int32_t)(__atomic_load_n(&w->applied, __ATOMIC_ACQUIRE) - need) < 0;)
            hm_pack_turn(&t);
    }
}

void hm_pack_quiet(struct hm_packer *p)
{
    lock(&p->lock);
    hm_packer_send_all_now(p);
    unlock(&p->lock);
    quiet_direct(p);
    wait_for_all(p);
    __atomic_store_n(&p->fresh, HM_PACK_FRESH, __ATOMIC_RELAXED);
}

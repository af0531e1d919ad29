/* What the progress thread does: packets of others are applied and replied to, replies taken, and what lies too long is
 * sent. */
#include "core/packer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/os.h"
#include "core/amo.h"

enum {
    OLD_TICKS = 40,   /* a buffer leaves after so many ticks though its packer is busy */
    BATCH_TICKS = 40, /* and if the packer is calm, in a session that says there will be many operations */
};

/* --- applying --- */

struct reader {
    const char *at, *end;
    char *values, *values_end;
    const char *wrong;
};

HM_INLINE uint64_t take_word(struct reader *r, size_t size)
{
    uint64_t word = 0;
    if (hm_unlikely((size_t)(r->end - r->at) < size)) {
        r->wrong = "it ends within an operation";
        return 0;
    }
    memcpy(&word, r->at, size);
    r->at += size;
    return word;
}

/* For so many more bytes of values; the sender has said how many there will be. */
HM_INLINE bool has_room_for(struct reader *r, size_t bytes)
{
    if (hm_likely((size_t)(r->values_end - r->values) >= bytes)) return true;
    r->wrong = "it fetches more than it says";
    return false;
}

HM_INLINE void give(struct reader *r, const void *value, size_t size)
{
    if (!has_room_for(r, size)) return;
    memcpy(r->values, value, size);
    r->values += size;
}

/* Words that are aligned on both sides of the job are stored whole, whatever their number. */
#define STORE_WORDS(T)                                     \
    for (size_t i = 0; i < bytes; i += sizeof(T)) {        \
        T word;                                            \
        memcpy(&word, from + i, sizeof word);              \
        __atomic_store_n((T *)(to + i), word, __ATOMIC_RELEASE); \
    }
HM_INLINE void store(char *to, const char *from, size_t bytes)
{
    switch (((uintptr_t)to | bytes) & 7) {
    case 0: STORE_WORDS(uint64_t) return;
    case 4: STORE_WORDS(uint32_t) return;
    case 2:
    case 6: STORE_WORDS(uint16_t) return;
    default: STORE_WORDS(uint8_t)
    }
}

#define LOAD_WORDS(T)                                                \
    for (size_t i = 0; i < bytes; i += sizeof(T)) {                  \
        T word = __atomic_load_n((const T *)(from + i), __ATOMIC_ACQUIRE); \
        memcpy(to + i, &word, sizeof word);                          \
    }
static void load(char *to, const char *from, size_t bytes)
{
    switch (((uintptr_t)from | bytes) & 7) {
    case 0: LOAD_WORDS(uint64_t) return;
    case 4: LOAD_WORDS(uint32_t) return;
    case 2:
    case 6: LOAD_WORDS(uint16_t) return;
    default: LOAD_WORDS(uint8_t)
    }
}

HM_INLINE void put(struct reader *r, char *to, size_t bytes)
{
    if (hm_unlikely((size_t)(r->end - r->at) < bytes)) {
        r->wrong = "it ends within an operation";
        return;
    }
    store(to, r->at, bytes);
    r->at += bytes;
}

static void get(struct reader *r, const char *from, size_t bytes)
{
    if (!has_room_for(r, bytes)) return;
    load(r->values, from, bytes);
    r->values += bytes;
}

HM_INLINE void amo(struct reader *r, enum hm_amo op, char *at, size_t size)
{
    uint64_t value = op == HM_AMO_FETCH ? 0 : take_word(r, size);
    uint64_t cond = op == HM_AMO_CAS ? take_word(r, size) : 0;
    if (hm_unlikely(r->wrong || (uintptr_t)at & (size - 1))) {
        if (!r->wrong) r->wrong = "an atomic is not aligned";
        return;
    }
    uint64_t old = size == 8 ? hm_amo_do64(op, at, value, cond) : hm_amo_do32(op, at, value, cond);
    if (!hm_amo_is_silent(op)) give(r, &old, size);
}

HM_INLINE void add_float(struct reader *r, char *at, size_t size)
{
    uint64_t value = take_word(r, size);
    if (hm_unlikely(r->wrong || (uintptr_t)at & (size - 1))) {
        if (!r->wrong) r->wrong = "an atomic is not aligned";
        return;
    }
    if (size == 8)
        hm_amo_add_f64(at, value);
    else
        hm_amo_add_f32(at, value);
}

/* Bytes at the place that an operation touches, but for those that say so themselves. */
HM_INLINE size_t size_of(unsigned op, bool wide)
{
    return op == HM_PACK_SHORT ? 1 + wide : wide ? 8 : 4;
}

HM_INLINE char *place_of(const struct hm_pack_config *c, unsigned segment, uint64_t offset, size_t bytes)
{
    if (hm_unlikely(segment >= HM_SEGMENTS)) return NULL;
    size_t room = c->segment[segment].base ? c->segment[segment].bytes : 0;
    return hm_likely(offset < room && bytes <= room - offset) ? c->segment[segment].base + offset : NULL;
}

HM_INLINE void apply_one(const struct hm_pack_config *c, struct reader *r)
{
    uint64_t head = take_word(r, HM_PACK_HEAD_BYTES);
    unsigned op = head & (HM_PACK_WIDE - 1);
    bool wide = head & HM_PACK_WIDE, says = op == HM_PACK_PUT || op == HM_PACK_GET;
    size_t bytes = says ? take_word(r, HM_PACK_LENGTH_BYTES) : size_of(op, wide);
    char *at = place_of(c, head >> HM_PACK_SEGMENT_SHIFT & 3, head >> 8, bytes);
    if (hm_unlikely(r->wrong || !at)) {
        if (!r->wrong) r->wrong = "it leads outside of this PE's symmetric memory";
        return;
    }
    switch (op) {
    case HM_PACK_WORD: wide ? put(r, at, 8) : put(r, at, 4); return; /* constant: a load and a store */
    case HM_PACK_SHORT: wide ? put(r, at, 2) : put(r, at, 1); return;
    case HM_PACK_PUT: put(r, at, bytes); return;
    case HM_PACK_GET: get(r, at, bytes); return;
    case HM_PACK_ADD_FLOAT: wide ? add_float(r, at, 8) : add_float(r, at, 4); return;
    default:
        if (op <= HM_AMO_XOR)
            wide ? amo(r, (enum hm_amo)op, at, 8) : amo(r, (enum hm_amo)op, at, 4);
        else
            r->wrong = "an operation is unknown";
    }
}

/* Bytes of an operation behind its head, by its code without the segment; SAYS: as its length says, and perhaps these. */
enum { SAYS = 0x80, AHEAD = 24 };
#define BOTH(op, narrow, with_wide) [op] = narrow, [op | HM_PACK_WIDE] = with_wide
static const uint8_t rest_of[1 << HM_PACK_SEGMENT_SHIFT] = {
    BOTH(HM_AMO_SET, 4, 8),       BOTH(HM_AMO_SWAP, 4, 8),      BOTH(HM_AMO_CAS, 8, 16),
    BOTH(HM_AMO_FETCH_ADD, 4, 8), BOTH(HM_AMO_ADD, 4, 8),       BOTH(HM_AMO_FETCH_AND, 4, 8),
    BOTH(HM_AMO_AND, 4, 8),       BOTH(HM_AMO_FETCH_OR, 4, 8),  BOTH(HM_AMO_OR, 4, 8),
    BOTH(HM_AMO_FETCH_XOR, 4, 8), BOTH(HM_AMO_XOR, 4, 8),       BOTH(HM_PACK_SHORT, 1, 2),
    BOTH(HM_PACK_WORD, 4, 8),     BOTH(HM_PACK_ADD_FLOAT, 4, 8), [HM_PACK_PUT] = SAYS,
    [HM_PACK_GET] = HM_PACK_LENGTH_BYTES,
};

/* Words far apart cost a miss each, of the cache and of the page table: they are asked for some operations ahead, so that
 * the misses overlap. Gives where the next operation begins. */
HM_INLINE const char *look_ahead(const struct hm_pack_config *c, const char *at, const char *end)
{
    uint64_t head = 0;
    uint16_t length = 0;
    if (hm_unlikely((size_t)(end - at) < HM_PACK_HEAD_BYTES + HM_PACK_LENGTH_BYTES)) return end;
    memcpy(&head, at, sizeof head);
    unsigned code = head & ((1 << HM_PACK_SEGMENT_SHIFT) - 1), segment = head >> HM_PACK_SEGMENT_SHIFT & 3;
    if (hm_likely(segment < HM_SEGMENTS))
        __builtin_prefetch((void *)((uintptr_t)c->segment[segment].base + (head << 16 >> 24)), 1);
    at += HM_PACK_HEAD_BYTES + (rest_of[code] & ~SAYS);
    if (hm_likely(!(rest_of[code] & SAYS))) return at < end ? at : end;
    memcpy(&length, (const char *)&head + HM_PACK_HEAD_BYTES, sizeof length);
    at += HM_PACK_LENGTH_BYTES;
    return length < end - at ? at + length : end;
}

const char *hm_packet_apply(const struct hm_pack_config *config, const char *operations, size_t bytes, char *values,
                            size_t values_bytes)
{
    struct reader r = {operations, operations + bytes, values, values + values_bytes, NULL};
    const char *ahead = r.at;
    for (int i = 0; i < AHEAD && ahead < r.end; i++) ahead = look_ahead(config, ahead, r.end);
    while (r.at < r.end && !r.wrong) {
        if (hm_likely(ahead < r.end)) ahead = look_ahead(config, ahead, r.end);
        apply_one(config, &r);
    }
    if (!r.wrong && r.values != r.values_end) r.wrong = "it fetches less than it says";
    return r.wrong;
}

/* --- the progress thread: messages --- */

static HM_NORETURN HM_COLD void nonsense(int from, const char *what, const char *why)
{
    hm_die(NULL, "PE %d has sent a %s of small operations that makes no sense: %s", from, what, why);
}

static void apply(struct hm_pack *pack, int from, const struct hm_packet *packet, const char *operations, size_t bytes)
{
    size_t values = packet->message.spare, room = sizeof *packet + values;
    if (room > pack->config.transport->message_max) nonsense(from, "packet", "its values would fill more than a message");
    struct hm_packet *reply = malloc(room);
    if (!reply) hm_pack_no_memory();
    const char *why = hm_packet_apply(&pack->config, operations, bytes, (char *)(reply + 1), values);
    if (why) nonsense(from, "packet", why);
    *reply = *packet;
    reply->message.kind = HM_MESSAGE_REPLY;
    pack->config.moved();
    __atomic_fetch_add(&pack->applied, 1, __ATOMIC_RELAXED);
    pack->config.transport->message(pack->config.reply_lane(), from, reply, room, free, reply);
}

static void take_values(const struct buffer *b, const char *values)
{
    for (uint32_t i = 0; i < b->fetches; i++) {
        memcpy(b->fetch[i].to, values, b->fetch[i].bytes);
        values += b->fetch[i].bytes;
    }
}

static void take_reply(struct hm_pack *pack, int from, uint32_t cookie, const char *values, size_t bytes)
{
    struct buffer *b = cookie < pack->buffers ? &pack->buffer[cookie] : NULL;
    if (!b || !(__atomic_load_n(&b->holders, __ATOMIC_ACQUIRE) & HM_FOR_REPLY) || b->way->pe != from)
        nonsense(from, "reply", "it answers no packet that is under way");
    if (bytes != b->values) nonsense(from, "reply", "its length is not what was asked for");
    struct way *w = b->way;
    take_values(b, values);
    __atomic_fetch_sub(&pack->owed[from], b->at, __ATOMIC_RELEASE);
    hm_pack_release(pack, b, HM_FOR_REPLY);
    __atomic_store_n(&w->applied, w->applied + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&w->packer->applied, w->packer->applied + 1, __ATOMIC_RELEASE);
    hm_pack_tell(pack);
}

bool hm_pack_heard(struct hm_pack *pack, int from, const void *bytes, size_t n)
{
    struct hm_packet packet; /* a copy: the bytes may lie anywhere */
    const char *rest = (const char *)bytes + sizeof packet;
    if (n < sizeof packet) return false;
    memcpy(&packet, bytes, sizeof packet);
    if (packet.message.kind == HM_MESSAGE_PACKET)
        apply(pack, from, &packet, rest, n - sizeof packet);
    else if (packet.message.kind == HM_MESSAGE_REPLY)
        take_reply(pack, from, packet.cookie, rest, n - sizeof packet);
    else
        return false;
    return true;
}

/* --- the progress thread: time --- */

/* Under the lock. A packer is calm when it has taken nothing since the last tick. */
static void look_at(struct hm_packer *p)
{
    struct hm_pack *pack = p->pack;
    bool batch = p->session && __atomic_load_n(p->session, __ATOMIC_RELAXED) & 1;
    p->calm_ticks = p->calls == p->calls_seen ? p->calm_ticks + 1 : 0;
    p->calls_seen = p->calls;
    if (p->calm_ticks >= (batch ? BATCH_TICKS : 1)) {
        hm_packer_send_all(p);
        return;
    }
    for (struct way *w = p->oldest, *next; w && pack->ticks - w->open->opened > OLD_TICKS; w = next) {
        next = w->newer;
        hm_way_send(w);
    }
}

uint64_t hm_pack_tick(struct hm_pack *pack)
{
    bool more = false;
    uint64_t at = 0;
    __atomic_store_n(&pack->wake, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&pack->ticks, pack->ticks + 1, __ATOMIC_RELAXED);
    for (struct hm_packer *p = __atomic_load_n(&pack->packers, __ATOMIC_ACQUIRE); p; p = p->next) {
        if (!__atomic_load_n(&p->open, __ATOMIC_SEQ_CST)) continue;
        if (try_lock(&p->lock)) {
            look_at(p);
            unlock(&p->lock);
        }
        more |= __atomic_load_n(&p->open, __ATOMIC_SEQ_CST) != 0;
    }
    if (!more) return 0;
    at = hm_os_now() + hm_pack_tick_ns(pack);
    __atomic_store_n(&pack->wake, at, __ATOMIC_SEQ_CST);
    return at;
}

#include "core/packet.h"

#include <stdlib.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/os.h"

enum {
    LEAST_PACKET = 512,   /* bytes, however many PEs share the credit */
    LEAST_BUFFERS = 8,
    FOR_TRANSPORT = 1,    /* holders of a buffer that is under way */
    FOR_REPLY = 2,
    DIRECT_BEFORE_QUIET = 128, /* operations that go direct because of a fence before its cause is taken away */
    FRESH = 4,            /* operations behind a quiet that go direct: they may be all there are */
    FEW = 8,              /* operations that go direct rather than in a packet when they are waited for */
    OLD_TICKS = 40,       /* a buffer leaves after so many ticks though its packer is busy */
    BATCH_TICKS = 40,     /* and if the packer is calm, in a session that says there will be many operations */
    YIELDS = 10,          /* of a wait, before it sleeps */
    LONG_YIELD_NS = 50000, /* somebody else has the core: it sleeps at once */
    NAP_NS = 2000000,
};

struct fetch {
    char *to;
    size_t bytes;
};

struct way;

/* One packet: free, open (a way's, being written), or under way. */
struct buffer {
    struct way *way;
    struct hm_packet *packet;
    uint32_t at, operations; /* bytes and operations so far */
    uint32_t stay;           /* atomics with a result: direct ones would be waited for, one by one */
    struct fetch *fetch;     /* where values go; made when the buffer is first used for such */
    uint32_t fetches, values; /* how many, their bytes */
    uint32_t opened;          /* tick */
    uint32_t holders;
    uint32_t next; /* in the list of free ones: 1 + index */
};

/* From one packer to one PE. */
struct way {
    struct hm_packer *packer;
    struct buffer *open;
    struct way *older, *newer; /* with an open buffer */
    struct way *next;
    int pe;
    uint32_t sent, applied; /* packets */
    uint32_t epoch, fenced; /* fences before the newest operation; packets that had been sent before the newest fence */
};

struct hm_packer {
    uint32_t lock;
    uint32_t open; /* buffers */
    struct way **way; /* [npes], made by the first operation */
    struct way *oldest, *newest; /* with an open buffer */
    uint32_t calls, calls_seen, calm_ticks;
    uint32_t epoch; /* fences so far */
    uint32_t sent, applied; /* packets */
    uint32_t fresh;      /* operations that may go direct, as few were issued since the last quiet */
    uint32_t diverted;   /* operations that went direct because of a fence */
    /* Direct operations: how many were issued, were known to be complete, and had been issued before the last fence. */
    uint64_t issued, done, fenced;
    struct hm_lane *lane;
    const uint32_t *session;
    struct hm_pack *pack;
    struct way *ways;
    struct hm_packer *next, *next_spare;
};

struct hm_pack {
    struct hm_pack_config config;
    size_t packet, share; /* bytes: of a packet, and not yet applied ones at one target */
    struct buffer *buffer;
    char *memory;
    uint32_t buffers;
    HM_ALIGNED(HM_LINE) uint64_t free; /* change count << 32 | 1 + index of the first one */
    uint32_t used, used_most;
    uint32_t *owed; /* [npes] bytes not yet applied there */
    struct hm_packer *packers, *spare;
    uint32_t packers_lock;
    HM_ALIGNED(HM_LINE) uint64_t wake; /* when the next tick is; 0: none */
    uint32_t ticks;
    HM_ALIGNED(HM_LINE) uint32_t event, sleepers; /* changes with every reply */
    uint64_t packets, operations, applied;
};

/* --- locks and waits --- */

/* Held for the writing of an operation or the sending of a packet; but who holds it may be off the core. */
static HM_COLD void lock_slow(uint32_t *lock)
{
    for (int i = 0; __atomic_load_n(lock, __ATOMIC_RELAXED) || __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++)
        if (i < 100)
            hm_relax();
        else
            hm_futex_wait(lock, 1, 50000); /* the one who unlocks wakes nobody: it is a bounded sleep */
}

HM_INLINE bool try_lock(uint32_t *lock) { return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); }
HM_INLINE void lock(uint32_t *lock)
{
    if (hm_unlikely(!try_lock(lock))) lock_slow(lock);
}
HM_INLINE void unlock(uint32_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

/* A wait for replies: what has come before waiting() is seen by the condition that is checked behind it. */
struct waiting {
    struct hm_pack *pack;
    uint32_t event;
    int still;
};

static struct waiting waiting(struct hm_pack *pack)
{
    return (struct waiting){pack, __atomic_load_n(&pack->event, __ATOMIC_SEQ_CST), 0};
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

static void turn(struct waiting *w)
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

static void tell(struct hm_pack *pack)
{
    __atomic_fetch_add(&pack->event, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pack->sleepers, __ATOMIC_SEQ_CST)) hm_futex_wake(&pack->event, INT_MAX);
}

/* --- the pool --- */

static struct buffer *take(struct hm_pack *pack)
{
    uint64_t head = __atomic_load_n(&pack->free, __ATOMIC_ACQUIRE), next;
    struct buffer *b;
    do {
        uint32_t first = (uint32_t)head;
        if (!first) return NULL;
        b = &pack->buffer[first - 1];
        next = (head & ~(uint64_t)UINT32_MAX) + ((uint64_t)1 << 32) + __atomic_load_n(&b->next, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&pack->free, &head, next, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    uint32_t used = __atomic_add_fetch(&pack->used, 1, __ATOMIC_RELAXED);
    if (used > __atomic_load_n(&pack->used_most, __ATOMIC_RELAXED))
        __atomic_store_n(&pack->used_most, used, __ATOMIC_RELAXED);
    return b;
}

static void give_back(struct hm_pack *pack, struct buffer *b)
{
    uint64_t head = __atomic_load_n(&pack->free, __ATOMIC_RELAXED), next;
    do {
        __atomic_store_n(&b->next, (uint32_t)head, __ATOMIC_RELAXED);
        next = (head & ~(uint64_t)UINT32_MAX) + ((uint64_t)1 << 32) + (uint32_t)(b - pack->buffer) + 1;
    } while (!__atomic_compare_exchange_n(&pack->free, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_sub(&pack->used, 1, __ATOMIC_RELAXED);
}

/* The transport and the reply may come in either order. */
static void release(struct hm_pack *pack, struct buffer *b, uint32_t holder)
{
    if (__atomic_fetch_and(&b->holders, ~holder, __ATOMIC_ACQ_REL) == holder) give_back(pack, b);
}

static bool is_short(const struct hm_pack *pack)
{
    return __atomic_load_n(&pack->used, __ATOMIC_RELAXED) >= pack->buffers - pack->buffers / 4;
}

/* --- sending; under the packer's lock --- */

static bool is_applied(const struct hm_packer *p)
{
    return __atomic_load_n(&p->applied, __ATOMIC_ACQUIRE) == __atomic_load_n(&p->sent, __ATOMIC_ACQUIRE);
}

static void left(void *arg)
{
    struct buffer *b = arg;
    struct hm_pack *pack = b->way->packer->pack;
    release(pack, b, FOR_TRANSPORT);
    tell(pack);
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
static bool send_open(struct way *w)
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
    __atomic_store_n(&b->holders, FOR_TRANSPORT | FOR_REPLY, __ATOMIC_RELEASE);
    pack->config.transport->message(p->lane, w->pe, b->packet, bytes, left, b);
    return true;
}

/* The lock is let go meanwhile. */
static void wait_unlocked(struct hm_packer *p, struct waiting *t)
{
    unlock(&p->lock);
    turn(t);
    lock(&p->lock);
}

static void send_now(struct way *w)
{
    for (struct waiting t = waiting(w->packer->pack); w->open && !send_open(w);) wait_unlocked(w->packer, &t);
}

/* What can be sent without waiting. */
static void send_all(struct hm_packer *p)
{
    for (struct way *w = p->oldest, *next; w; w = next) {
        next = w->newer;
        send_open(w);
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
    give_back(p->pack, b);
    __atomic_fetch_add(&p->issued, 1, __ATOMIC_RELEASE);
}

/* Only while no packet is under way, for which direct operations behind a fence would have to wait. `wait`: one that is
 * waited for may be among them, if it is alone. */
static bool send_few(struct hm_packer *p, bool wait)
{
    uint32_t operations = 0, stay = 0;
    if (!is_applied(p)) return false;
    for (const struct way *w = p->oldest; w; w = w->newer) {
        operations += w->open->operations;
        stay += w->open->stay;
        if (operations > FEW || (stay && (!wait || operations + stay > 2))) return false;
    }
    while (p->oldest) issue_all(p->oldest);
    return true;
}

static void send_all_now(struct hm_packer *p)
{
    if (send_few(p, true)) return;
    send_all(p);
    for (struct waiting t = waiting(p->pack); p->oldest; send_all(p)) wait_unlocked(p, &t);
}

static void hurry(struct hm_packer *p)
{
    if (!__atomic_load_n(&p->open, __ATOMIC_SEQ_CST) || !try_lock(&p->lock)) return;
    if (!send_few(p, false)) send_all(p);
    unlock(&p->lock);
}

void hm_pack_hurry(struct hm_pack *pack, bool rests)
{
    for (struct hm_packer *p = __atomic_load_n(&pack->packers, __ATOMIC_ACQUIRE); p; p = p->next) {
        hurry(p);
        if (rests) __atomic_store_n(&p->fresh, FRESH, __ATOMIC_RELAXED);
    }
}

/* --- opening a packet; under the packer's lock --- */

static HM_COLD void no_memory(void) { hm_die(NULL, "out of memory for packets of small operations"); }

static HM_COLD struct way *make_way(struct hm_packer *p, int pe)
{
    if (!p->way) {
        struct way **table = calloc((size_t)p->pack->config.npes, sizeof(struct way *));
        if (!table) no_memory();
        __atomic_store_n(&p->way, table, __ATOMIC_RELEASE);
    }
    if (p->way[pe]) return p->way[pe];
    struct way *w = calloc(1, sizeof *w);
    if (!w) no_memory();
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

static uint64_t tick_ns(const struct hm_pack *pack) { return pack->config.delay_ns / 2; }

/* The tick clears `wake` before it looks at packers; who opens a buffer looks at `wake` behind that. */
static void ask_for_tick(struct hm_packer *p)
{
    struct hm_pack *pack = p->pack;
    if (__atomic_load_n(&pack->wake, __ATOMIC_SEQ_CST)) return;
    uint64_t at = hm_os_now() + tick_ns(pack);
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
    if (is_short(pack) && p->oldest) send_open(p->oldest);
    struct buffer *b = take(pack);
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
    turn(t);
    lock(&p->lock);
}

HM_INLINE bool has_room(const struct hm_pack *pack, const struct buffer *b, size_t bytes, size_t values)
{
    return b->at + bytes + HM_PACK_SLACK <= pack->packet &&
           (!values || sizeof(struct hm_packet) + b->values + values <= pack->packet);
}

/* The way with a packet that has room for so much. */
static HM_COLD struct way *find_room(struct hm_packer *p, int pe, size_t bytes, size_t values)
{
    struct waiting t = waiting(p->pack);
    for (;;) {
        struct way *w = way_to(p, pe);
        if (!w->open) {
            if (!open_buffer(w)) wait_for_buffer(p, &t);
        } else if (has_room(p->pack, w->open, bytes, values)) {
            return w;
        } else if (!send_open(w)) {
            wait_unlocked(p, &t);
        }
    }
}

static struct fetch *make_fetches(struct hm_pack *pack, struct buffer *b)
{
    b->fetch = malloc(pack->packet * sizeof(struct fetch)); /* each brings a byte at least */
    if (!b->fetch) no_memory();
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
    if (hm_unlikely(!w || !w->open || !has_room(p->pack, w->open, bytes, values))) w = find_room(p, pe, bytes, values);
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
    if (w->open && (send || fenced)) send_now(w);
    uint32_t need = fenced ? w->sent : w->fenced;
    unlock(&p->lock);
    for (struct waiting t = waiting(p->pack); (int32_t)(__atomic_load_n(&w->applied, __ATOMIC_ACQUIRE) - need) < 0;)
        turn(&t);
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
    b->stay = FEW; /* there is no direct one */
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
    send_now(w);
    unlock(&p->lock);
    return true;
}

/* --- order --- */

void hm_pack_fence(struct hm_packer *p)
{
    lock(&p->lock);
    send_all_now(p);
    p->epoch++;
    __atomic_store_n(&p->fenced, __atomic_load_n(&p->issued, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    unlock(&p->lock);
}

/* Other threads may go on sending: what counts for a way is what it had sent when it is looked at. */
static void wait_for_all(struct hm_packer *p)
{
    for (struct way *w = __atomic_load_n(&p->ways, __ATOMIC_ACQUIRE); w && !is_applied(p); w = w->next) {
        uint32_t need = __atomic_load_n(&w->sent, __ATOMIC_ACQUIRE);
        for (struct waiting t = waiting(p->pack);
             (int32_t)(__atomic_load_n(&w->applied, __ATOMIC_ACQUIRE) - need) < 0;)
            turn(&t);
    }
}

void hm_pack_quiet(struct hm_packer *p)
{
    lock(&p->lock);
    send_all_now(p);
    unlock(&p->lock);
    quiet_direct(p);
    wait_for_all(p);
    __atomic_store_n(&p->fresh, FRESH, __ATOMIC_RELAXED);
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
        send_all(p);
        return;
    }
    for (struct way *w = p->oldest, *next; w && pack->ticks - w->open->opened > OLD_TICKS; w = next) {
        next = w->newer;
        send_open(w);
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
    at = hm_os_now() + tick_ns(pack);
    __atomic_store_n(&pack->wake, at, __ATOMIC_SEQ_CST);
    return at;
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
    if (!reply) no_memory();
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
    if (!b || !(__atomic_load_n(&b->holders, __ATOMIC_ACQUIRE) & FOR_REPLY) || b->way->pe != from)
        nonsense(from, "reply", "it answers no packet that is under way");
    if (bytes != b->values) nonsense(from, "reply", "its length is not what was asked for");
    struct way *w = b->way;
    take_values(b, values);
    __atomic_fetch_sub(&pack->owed[from], b->at, __ATOMIC_RELEASE);
    release(pack, b, FOR_REPLY);
    __atomic_store_n(&w->applied, w->applied + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&w->packer->applied, w->packer->applied + 1, __ATOMIC_RELEASE);
    tell(pack);
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
    for (uint32_t i = 0; i < pack->buffers; i++) {
        pack->buffer[i].packet = (struct hm_packet *)(pack->memory + i * pack->packet);
        pack->buffer[i].next = i + 1 < pack->buffers ? i + 2 : 0;
    }
    pack->free = 1;
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
    for (uint32_t i = 0; pack->buffer && i < pack->buffers; i++) free(pack->buffer[i].fetch);
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
    p->fresh = FRESH;
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

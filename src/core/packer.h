/* Inside of aggregation: what pool.c, send.c, pack.c and unpack.c share. See pack.h for what it is, packet.h for what it
 * sends. */
#ifndef HM_PACKER_H
#define HM_PACKER_H

#include "core/packet.h"

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
    uint32_t unused;                   /* buffers from here on have never been taken: their memory is not touched */
    uint32_t used, used_most;
    uint32_t *owed; /* [npes] bytes not yet applied there */
    struct hm_packer *packers, *spare;
    uint32_t packers_lock;
    HM_ALIGNED(HM_LINE) uint64_t wake; /* when the next tick is; 0: none */
    uint32_t ticks;
    HM_ALIGNED(HM_LINE) uint32_t event, sleepers; /* changes with every reply */
    uint64_t packets, operations, applied;
};

/* --- locks and waits: pool.c --- */

HM_COLD void hm_pack_lock_slow(uint32_t *lock);
HM_INLINE bool try_lock(uint32_t *lock) { return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); }
HM_INLINE void lock(uint32_t *lock)
{
    if (hm_unlikely(!try_lock(lock))) hm_pack_lock_slow(lock);
}
HM_INLINE void unlock(uint32_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

/* A wait for replies: what has come before waiting() is seen by the condition that is checked behind it. */
struct waiting {
    struct hm_pack *pack;
    uint32_t event;
    int still;
};

static inline struct waiting waiting(struct hm_pack *pack)
{
    return (struct waiting){pack, __atomic_load_n(&pack->event, __ATOMIC_SEQ_CST), 0};
}

void hm_pack_turn(struct waiting *w);
void hm_pack_tell(struct hm_pack *pack);
HM_COLD HM_NORETURN void hm_pack_no_memory(void);

/* --- the pool: pool.c --- */

enum { HM_FOR_TRANSPORT = 1, HM_FOR_REPLY = 2 }; /* holders of a buffer that is under way */

struct buffer *hm_pack_take(struct hm_pack *pack);
void hm_pack_give_back(struct hm_pack *pack, struct buffer *b);
/* The transport and the reply may come in either order. */
void hm_pack_release(struct hm_pack *pack, struct buffer *b, uint32_t holder);
bool hm_pack_is_short(const struct hm_pack *pack);

/* --- sending, under the packer's lock: send.c --- */

/* False: the target has as much of ours as it may. */
bool hm_way_send(struct way *w);
void hm_way_send_now(struct way *w);
/* What can be sent without waiting. */
void hm_packer_send_all(struct hm_packer *p);
void hm_packer_send_all_now(struct hm_packer *p);
/* The way with a packet that has room for so much. */
HM_COLD struct way *hm_packer_find_room(struct hm_packer *p, int pe, size_t bytes, size_t values);

HM_INLINE bool has_room(const struct hm_pack *pack, const struct buffer *b, size_t bytes, size_t values)
{
    return b->at + bytes + HM_PACK_SLACK <= pack->packet &&
           (!values || sizeof(struct hm_packet) + b->values + values <= pack->packet);
}

static inline bool hm_packer_is_applied(const struct hm_packer *p)
{
    return __atomic_load_n(&p->applied, __ATOMIC_ACQUIRE) == __atomic_load_n(&p->sent, __ATOMIC_ACQUIRE);
}

static inline uint64_t hm_pack_tick_ns(const struct hm_pack *pack) { return pack->config.delay_ns / 2; }

enum { HM_PACK_FRESH = 4 }; /* operations behind a quiet that go direct: they may be all there are */

#endif

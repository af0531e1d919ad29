/* Aggregation: small operations to far PEs travel together.
 *
 * Puts, atomics that return nothing at once, and reads whose result may come later are written into a packet for their
 * target, which leaves as one message of the transport: when it is full, at a fence, a quiet, when buffers are short, when
 * a thread of this PE begins to wait, or some 50 us later. The progress thread of the target applies it with CPU
 * stores and atomics, so that words have one path, and replies: that it has been done, and what was fetched.
 *
 * A packer is the part of one context; it may be used by several threads. What does not fit goes direct, by the
 * transport's own operations, between hm_pack_before and hm_pack_after, which keep fences and quiets true for both ways:
 *
 *   packed, fence, packed   messages of a lane to one PE are applied in order
 *   packed, fence, direct   the direct one waits until the packets from before the fence have been applied
 *   direct, fence, packed   goes direct, too, so that the transport's fence holds; if that happens again and again,
 *                           the transport's quiet comes in between
 *
 * The first operations behind a quiet go direct: they may be all, and then nothing is faster. So do the last few before
 * a quiet, a fence or a wait if no packet is under way: a reply would wake two more threads.
 *
 * Memory: the packets of all packers come from one bounded pool, and stay out of it until the reply has come. Not yet
 * applied bytes for one target are at most credit / npes, so a target never has more than credit, whoever sends. A
 * packer has a pointer for each PE, and a struct for each that it has sent to. */
#ifndef HM_PACK_H
#define HM_PACK_H

#include "base/base.h"
#include "transport/transport.h"

struct hm_pack;   /* of a PE */
struct hm_packer; /* of a context */

/* What it leans on. */
struct hm_pack_config {
    int pe, npes, spin;
    const struct hm_transport *transport;
    struct {
        char *base;
        size_t bytes;
    } segment[HM_SEGMENTS];              /* of this PE; base NULL: has none */
    struct hm_lane *(*reply_lane)(void); /* by the progress thread */
    void (*moved)(void), (*idle)(void);  /* as in transport.h */
    size_t packet, largest, pool, credit; /* bytes: of a packet, of the largest put, of all packets, unapplied at a target */
    uint64_t delay_ns;
};

struct hm_pack_stats {
    uint64_t packets, operations; /* sent */
    uint64_t applied;             /* packets of others */
    size_t packet_bytes, share;   /* as they came out of the configuration */
    uint32_t buffers, used;       /* in the pool, and how many of them at most at a time */
};

struct hm_pack *hm_pack_open(const struct hm_pack_config *config); /* NULL: no memory */
void hm_pack_close(struct hm_pack *pack);                          /* the progress thread has ended */
void hm_pack_stats(const struct hm_pack *pack, struct hm_pack_stats *stats);

/* `session`: where the hints of the context are found (struct hm_ctx). NULL: no memory. Closed behind a quiet. */
struct hm_packer *hm_packer_open(struct hm_pack *pack, struct hm_lane *lane, const uint32_t *session);
void hm_packer_close(struct hm_packer *packer);

/* False: not taken, it must go direct. `from` may be reused at once; `to` and `fetch` have their values behind a quiet. */
bool hm_pack_put(struct hm_packer *packer, struct hm_place to, const void *from, size_t bytes);
bool hm_pack_get(struct hm_packer *packer, void *to, struct hm_place from, size_t bytes);
/* `fetch`: of `size` bytes, for an `op` that gives a value. */
bool hm_pack_amo(struct hm_packer *packer, enum hm_amo op, struct hm_place word, size_t size, uint64_t value,
                 uint64_t cond, void *fetch);
/* Adds to a float or a double, of which `value` holds the bits. */
bool hm_pack_add_float(struct hm_packer *packer, struct hm_place word, size_t size, uint64_t value);
/* Joins a packet that is being written, which leaves at once. `bytes` may be 0. */
bool hm_pack_put_signal(struct hm_packer *packer, struct hm_place to, const void *from, size_t bytes,
                        struct hm_place signal, uint64_t value, enum hm_amo op);

/* Around a direct operation to PE `pe`. `send`: what is packed for that PE shall leave before. */
void hm_pack_before(struct hm_packer *packer, int pe, bool send);
void hm_pack_after(struct hm_packer *packer);

void hm_pack_fence(struct hm_packer *packer); /* beside the transport's fence */
void hm_pack_quiet(struct hm_packer *packer); /* with the transport's quiet, if something went direct */
/* A thread of this PE is going to wait for others, or has looked in vain for what it waits for: what is packed leaves now.
 * Waits for nothing. `rests`: it will not come again soon, so that operations behind it are the first ones again. */
void hm_pack_hurry(struct hm_pack *pack, bool rests);

/* By the progress thread: host->heard, false for a message of another kind; and host->tick. */
bool hm_pack_heard(struct hm_pack *pack, int from, const void *bytes, size_t n);
uint64_t hm_pack_tick(struct hm_pack *pack);

#endif

/* A transport that is none: PEs are structs of one process, each with a heap and a queue of what others have sent to it.
 * What is queued is delivered in any order that transport.h allows: messages of one lane to one PE in theirs, puts and
 * atomics behind those from before a fence of their lane, and nothing else. Delivery is by hand, mock_deliver, or by a
 * thread of each PE, mock_threads. */
#ifndef MOCK_H
#define MOCK_H

#include "core/pack.h"

struct mock_pe {
    int pe;
    char *heap;
    struct hm_pack *pack;
    struct hm_lane *reply_lane;
};

extern struct mock_pe *mock_pe; /* [npes] */
extern size_t mock_queued, mock_queued_most; /* bytes of packets, of the PE that has most of them */
extern _Thread_local int mock_self;          /* the PE that this thread is of; set by the test */
extern uint64_t mock_wake;                   /* what mock_self has asked for last; without threads */

/* `config`: what is not the mock's own affair. */
void mock_start(int npes, size_t heap, const struct hm_pack_config *config, unsigned seed);
void mock_threads(void);
void mock_stop(void); /* all is quiet */
bool mock_deliver(int pe); /* one; false: there is none */

struct hm_lane *mock_lane(int pe);
/* Gives a PE bytes as if they had come from `from`. */
void mock_say(int pe, int from, const void *bytes, size_t n);

/* As core/far.c does it; packed where that is taken. */
void mock_put(struct hm_packer *p, struct hm_lane *lane, int pe, uint64_t to, const void *from, size_t bytes);
void mock_get_nbi(struct hm_packer *p, struct hm_lane *lane, void *to, int pe, uint64_t from, size_t bytes);
uint64_t mock_amo(struct hm_packer *p, struct hm_lane *lane, enum hm_amo op, int pe, uint64_t word, uint64_t value);
void mock_amo_nbi(struct hm_packer *p, struct hm_lane *lane, enum hm_amo op, int pe, uint64_t word, uint64_t value,
                  uint64_t *fetch);
void mock_put_signal(struct hm_packer *p, struct hm_lane *lane, int pe, uint64_t to, const void *from, size_t bytes,
                     uint64_t signal, uint64_t value);
void mock_fence(struct hm_packer *p, struct hm_lane *lane);
void mock_quiet(struct hm_packer *p, struct hm_lane *lane);

#endif

/* Broadcasts within a machine: one way, from the root to the others, without a meeting. */
#ifndef HM_COLL_RING_H
#define HM_COLL_RING_H

#include "coll/coll.h"

/* in_slots: the bytes pass through the ring; else the others read them where they are, and the root must wait for them before it
 * returns. Arguments have been checked; 0 < bytes. */
void hm_ring_send(struct hm_team *team, const void *source, size_t bytes, bool in_slots, const char *call);
void hm_ring_await_readers(struct hm_team *team, const char *call);
void hm_ring_receive(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool in_slots,
                     const char *call);

/* Up to so many bytes pass through the ring of this team at all. */
size_t hm_ring_most(const struct hm_team *team);

#endif

/* The word of a lock, as lock.c and farlock.c share it. */
#ifndef HM_TICKET_H
#define HM_TICKET_H

#include <string.h>

#include "base/base.h"

enum { HM_LOCK_HOME = 0 }; /* the PE whose copy of the long is the lock */

struct hm_ticket_lock {
    uint32_t next, served;
};
_Static_assert(sizeof(struct hm_ticket_lock) == sizeof(long), "a lock must fit a long");

HM_INLINE uint64_t hm_ticket_word(struct hm_ticket_lock l)
{
    uint64_t w;
    memcpy(&w, &l, sizeof w);
    return w;
}

HM_INLINE struct hm_ticket_lock hm_ticket_lock_of(uint64_t w)
{
    struct hm_ticket_lock l;
    memcpy(&l, &w, sizeof l);
    return l;
}

/* farlock.c: the home of the lock is on another machine, or in a device heap. */
void hm_farlock_set(long *lock, const char *call);
int hm_farlock_test(long *lock, const char *call);
void hm_farlock_clear(long *lock, const char *call);
/* lock.c: on its home, for another machine: on to the next ticket; a waiter wants to
 * leave, false: there is no room for its ticket. The lock is at this offset. */
void hm_lock_release_at(uint64_t offset, bool in_heap);
bool hm_lock_withdraw_at(uint64_t offset, bool in_heap, uint32_t ticket);
/* A message of farlock.c, to the home of a lock. */
void hm_lock_heard(int from, const void *bytes, size_t n);
/* And what it answers. */
void hm_lock_answered(int from, const void *bytes, size_t n);

#endif

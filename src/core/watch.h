/* The watchman. A word that is changed by a plain store through shmem_ptr rings no bell, so somebody has to look at it
 * now and then. If every sleeper did, 64 of them would take 40 % of a core; so one of those that sleep on words looks at
 * the published words of all, and wakes whose condition holds. The others sleep long. */
#ifndef HM_WATCH_H
#define HM_WATCH_H

#include "core/wait.h"

/* A thread begins to sleep on a published word: it is watched from now on, or becomes the watchman. */
void hm_watch_enter(struct hm_wait *w);
/* Its wait is over; a watchman hands his duty to another sleeper. */
void hm_watch_leave(struct hm_wait *w);
/* Before every sleep: how long it may last, in ns. The watchman looks round first. */
uint64_t hm_watch_nap(struct hm_wait *w);
/* How long a word may go unseen after a wait of `age` ns. */
uint64_t hm_watch_period(uint64_t age);

#endif

/* Do strangers compute on the cores that the PEs of this machine hand to each other?
 *
 * Yielding serves PEs that hand the cores to each other. Where strangers compute on them, a yield gives a whole time slice away,
 * while who sleeps is scheduled at once when it is woken: then waits sleep at once, and now and then
 * they yield again to see whether that has passed. All PEs of a machine do the same at a time: among those that yield, one that
 * sleeps comes late, since it has to be woken, and those that yield come late among those that do not. */
#ifndef HM_CROWD_H
#define HM_CROWD_H

#include "base/base.h"
#include "boot/job.h"

HM_INLINE uint64_t hm_crowd_until(const struct hm_crowd *c) { return __atomic_load_n(&c->until, __ATOMIC_RELAXED); }

/* This PE has yielded for a short time, for a long one. `pes`: of this machine. */
void hm_crowd_short_yield(void);
void hm_crowd_long_yield(struct hm_crowd *c, uint64_t began, uint64_t now, int pes);

/* More threads of the machine want to run than its `pes` PEs that are awake, as far as one knows. Some microseconds. */
bool hm_crowd_any_strangers(const struct hm_crowd *c, int pes);

/* A thread goes to sleep in a wait; so many are awake again. Said by who wakes them, as they want to run from then on, however
 * long that takes. */
HM_INLINE void hm_crowd_sleeps(struct hm_crowd *c) { __atomic_fetch_add(&c->asleep, 1, __ATOMIC_RELAXED); }
HM_INLINE void hm_crowd_wakes(struct hm_crowd *c, int threads) { __atomic_fetch_sub(&c->asleep, threads, __ATOMIC_RELAXED); }

#endif

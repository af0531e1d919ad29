/* Does this thread share its core with one that wants to run, although there is a core for each PE?
 *
 * Linux puts two PEs on one core now and then, when something of the system's has run for a moment, and leaves them there for
 * tens of milliseconds, sometimes for seconds. Who spins then keeps the core from the one he waits for. How long a yield takes
 * tells: it is over at once when nobody else wants the core. Where it is shared, waits yield at once; after some time one
 * sleeps instead, since who is woken is put on an idle core, if the kernel looks for one; then the thread moves itself. */
#ifndef HM_SHARE_H
#define HM_SHARE_H

#include "base/base.h"

/* At init: how long a yield takes that nobody else runs in is taken for no less than the clock and system calls cost here. */
void hm_share_start(void);
/* What the last yield of this process has told. */
bool hm_share_any(void);
/* A yield took so long: whether somebody else has run. */
bool hm_share_tell(uint64_t took);
/* Yields and tells. */
bool hm_share_yield(void);
/* Whether to sleep now, in order to be put elsewhere. Otherwise, it may have moved to another of the machine's cores. */
bool hm_share_sleeps(int cores, int pe);

#endif

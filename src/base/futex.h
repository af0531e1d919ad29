/* futex(2), on shared memory. */
#ifndef HM_FUTEX_H
#define HM_FUTEX_H

#include "base/base.h"

/* Sleeps while *word == value, at most `ns` nanoseconds (0: no limit). Returns 0, -EAGAIN, -ETIMEDOUT or -EINTR. */
int hm_futex_wait(uint32_t *word, uint32_t value, uint64_t ns);
/* As above, woken only by a hm_futex_wake_some whose mask shares a bit. */
int hm_futex_wait_some(uint32_t *word, uint32_t value, uint64_t ns, uint32_t mask);
/* How many were woken: just those whose sleep has returned or returns 0. */
int hm_futex_wake(uint32_t *word, int count);
int hm_futex_wake_some(uint32_t *word, uint32_t mask);

#endif

/* Eight NPUs as one memory.
 *
 * memory.c    what is there, and random access to all of it
 * lesson.c    a put and a flag, with quiet between them and without
 * clock.c     the clock of the software NPU
 */
#ifndef NPU_H
#define NPU_H

#include <stdbool.h>
#include <stdint.h>

/* Is it the software NPU? Then it keeps a clock, in modelled nanoseconds. */
bool npu_is_modelled(void);
uint64_t npu_now(void);

/* Collective, and a barrier: all PEs' modelled clocks become equal, as far as the last one has come; that time. */
uint64_t npu_meet(void);

/* Seconds of this machine. */
double npu_seconds(void);

#endif

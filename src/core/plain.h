/* Memory of which it is sure, without a question to the runtime, that it is the CPU's: this PE's symmetric memory of the host,
 * the program's static data, the heap that malloc takes with brk, and the calling thread's stack. All of it is known by
 * where it lies now, and nothing else can come to lie there: what was remembered of other mappings could be memory of a
 * device by the next call. So `false` says nothing. */
#ifndef HM_PLAIN_H
#define HM_PLAIN_H

#include "base/base.h"

/* At init, in jobs with a device heap. */
void hm_plain_start(void);
HM_COLD bool hm_plain_holds(const void *addr);

#endif

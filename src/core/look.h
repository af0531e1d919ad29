/* A look at words of this PE's device heap, by a copy of their own flow: it sees what puts, signals and atomics have
 * completed. */
#ifndef HM_LOOK_H
#define HM_LOOK_H

#include "base/base.h"

HM_COLD void hm_look(void *to, const void *device, size_t bytes, const char *call);
void hm_look_stop(void);

#endif

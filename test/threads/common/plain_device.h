/* A device for tests of the agent: its memory is plain memory, copied under a lock that ThreadSanitizer sees. Its addresses lead
 * nowhere. */
#ifndef PLAIN_DEVICE_H
#define PLAIN_DEVICE_H

#include "base/base.h"

enum { PLAIN_BYTES = 1 << 20 };
extern char plain_memory[PLAIN_BYTES];

/* Behind fixture_start: the device heap of this PE, all zero, and its agent. */
void plain_device_start(void);
void plain_device_stop(void);

#endif

/* The symmetric heap between the collective calls (declared in order.h) and the allocator (heap.h): what the
 * rest of core asks about blocks, and the start and stop of it all. */
#ifndef HM_ALLOC_H
#define HM_ALLOC_H

#include "base/base.h"
#include "core/order.h"

/* At init, when hm_symm.heap_base and peer[] stand. `own_heap` is the descriptor of this PE's heap, through which freed
 * memory is given back; it stays the caller's. With a device heap, its own allocator is started, too. 0 or -errno. */
int hm_alloc_start(size_t heap_size, int own_heap);
/* Safe when start was not called. Views of the heap are to be unmapped: freed pages stay closed. */
void hm_alloc_stop(void);

/* Now and then, by any thread: pages that were freed a while ago are closed (core/pages.h). */
void hm_alloc_tidy(void);

/* Is [addr, addr + bytes) inside one live block of a heap? */
bool hm_alloc_holds(const void *addr, size_t bytes);

/* What lies at an address in a heap, for messages, to follow "is": "16 bytes behind the end of the block of
 * 64 bytes at heap offset 4096", "inside the block of 64 bytes at heap offset 4096 that was freed". */
void hm_alloc_describe(const void *addr, char *text, size_t size);

#endif

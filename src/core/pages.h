/* The pages of the heaps as this PE sees them: its own memory, and its views of the heaps of its machine.
 *
 * Pages where no block lies are given back to the system and closed, so that an access is a fault that is reported. Both
 * cost system calls, one for each view, and a program that takes and frees memory in quick turn would pay for them all the
 * time. So it is watched: when a block comes to lie on pages that had been closed, pages that are freed from then on rest
 * first, open and with what they hold, and who takes them again meanwhile finds them so. What has rested is given back
 * and closed
 *
 *   - when it is more than 128 MiB or half of the heap: all of it, in few calls, as neighbours are one range;
 *   - after 50 to 100 ms, as seen by every 32nd call that takes or frees memory, and by waits that last;
 *   - and nothing rests any more when for so long nothing that rested has been taken again.
 *
 * Blocks of 8 MiB and more, and all under --check, never rest. It is each PE's own affair: where blocks lie is decided
 * without looking here. core/heap.h counts what rests. One thread at a time calls this, but for hm_pages_may_rest. */
#ifndef HM_PAGES_H
#define HM_PAGES_H

#include "base/base.h"

/* At init, when hm_symm.heap_base, heap_size and peer[] stand. Memory is given back through `own_heap`, the descriptor of
 * this PE's heap, which stays the caller's. */
void hm_pages_start(int own_heap);
/* Safe when start was not called. Views of the heap are to be unmapped: closed pages stay closed. */
void hm_pages_stop(void);

/* Whole pages on which a block lies from now on, or none does any more. */
void hm_pages_taken(size_t offset, size_t bytes, const char *call);
void hm_pages_freed(size_t offset, size_t bytes);

/* Whether freed pages rest, before hm_pages_freed is called for them; how many bytes of them at most; and from what size on
 * those of a block do not. */
bool hm_pages_may_rest(void);
size_t hm_pages_rest_limit(void);
#define HM_PAGES_NO_REST ((size_t)8 << 20) /* to touch it again costs more than the calls for it */
/* Now and then: is it time to look for what has rested long enough? */
bool hm_pages_is_time(void);
void hm_pages_rest_no_more(void);

/* Gives the memory of whole pages that a block lies on back; they read as zero afterwards. What a network has pinned
 * stays: then it is false. */
bool hm_pages_give_back(size_t offset, size_t bytes);

#endif

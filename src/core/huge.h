/* Huge pages for heap memory that indexed access uses much.
 *
 * An access at random costs a walk of the page table as well as a miss of the cache, and the heap lies on small pages. The
 * kernel makes a huge page of small ones on request, which copies 2 MiB; so it is asked when the walks have cost about as much.
 * Until then, and where it refuses, nothing changes. Memory that nobody has touched is left alone: it stays uncommitted. */
#ifndef HM_HUGE_H
#define HM_HUGE_H

#include "core/ctx.h"

void hm_huge_start(void);
void hm_huge_stop(void);

enum { HM_HUGE_SAMPLE = 64 }; /* every so manieth access is counted */
HM_COLD void hm_huge_count(const struct hm_ctx *ctx, const void *base, const size_t *index, const int *pe, size_t n,
                           size_t size);

/* n accesses to base[index[i]] of PE pe[i], elements of `size` bytes, have been made. */
HM_INLINE void hm_huge_note(const struct hm_ctx *ctx, const void *base, const size_t *index, const int *pe, size_t n,
                            size_t size)
{
    if (n >= HM_HUGE_SAMPLE) hm_huge_count(ctx, base, index, pe, n, size);
}

#endif

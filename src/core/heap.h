/* The symmetric heap's allocator: deterministic (the same calls give the same offsets on every PE), with its records
 * outside the heap, so that it serves memory the CPU cannot touch. Knows offsets only. Not thread-safe: callers meet
 * in a collective first. */
#ifndef HM_HEAP_H
#define HM_HEAP_H

#include "base/base.h"

struct hm_heap; /* opaque */

#define HM_HEAP_NONE ((size_t)-1)
#define HM_HEAP_MIN_ALIGN 16

/* For `size` bytes (a multiple of `page`); NULL when there is no memory for the records. */
struct hm_heap *hm_heap_open(size_t size, size_t page);
void hm_heap_close(struct hm_heap *heap);
/* Bytes to leave free behind every further block, where there is room, so that what runs over its end is in no block. */
void hm_heap_set_guard(struct hm_heap *heap, size_t bytes);
/* Where the heap begins in a range that every alignment divides (a multiple of `page`; 0 unless said): it is the sum of this
 * and the offset that is aligned. */
void hm_heap_set_phase(struct hm_heap *heap, size_t phase);

/* Offset of a new block of at least `bytes` > 0 bytes, aligned to `align` (power of two, >= 16); HM_HEAP_NONE when it
 * does not fit (or records cannot be had). It takes the place of one of the last blocks that were freed, if that was just as
 * long, or else the lowest that fits; blocks of at least 64 KiB start on a cache line boundary at least, those of 2 MiB and more
 * on a page. O(log n). */
size_t hm_heap_alloc(struct hm_heap *heap, size_t bytes, size_t align);
/* 0, or -ENOENT when no block begins there. */
int hm_heap_free(struct hm_heap *heap, size_t offset);
/* In place if possible: the block at offset becomes `bytes` long. 0, -ENOMEM (does not fit here), -ENOENT. */
int hm_heap_resize(struct hm_heap *heap, size_t offset, size_t bytes);
/* Did the last alloc or resize fail for want of memory for the records, which other PEs may well have had? */
bool hm_heap_starved(const struct hm_heap *heap);

/* The block that holds `offset`: true, its first offset and its asked-for length. */
bool hm_heap_find(const struct hm_heap *heap, size_t offset, size_t *first, size_t *bytes);
/* The same for the last block that begins at or before `offset`, if at most a free range lies between (messages). */
bool hm_heap_before(const struct hm_heap *heap, size_t offset, size_t *first, size_t *bytes);
/* A block that begins exactly there: its asked-for length, or 0. */
size_t hm_heap_length(struct hm_heap *heap, size_t offset);
/* Hints given at allocation travel with the block (realloc keeps them). */
void hm_heap_set_hints(struct hm_heap *heap, size_t offset, long hints);
long hm_heap_hints(struct hm_heap *heap, size_t offset);

/* End of the last page that holds a block: 0 when empty. */
size_t hm_heap_top(struct hm_heap *heap);
size_t hm_heap_free_bytes(const struct hm_heap *heap);
/* Behind an allocation that failed; else what was freed last may not be in it yet. */
size_t hm_heap_largest(const struct hm_heap *heap);

/* Whole pages that no block touches any more (`freed`) or that a block touches again, as far as the owner of the pages has
 * not been told: it is told of maximal ranges in ascending order, so that it can give the memory back and close the pages to
 * access. A range both freed and taken again in between is not visited: freed pages of which the owner has not been told yet
 * rest. */
typedef void hm_heap_visit(void *arg, size_t offset, size_t bytes, bool freed);
/* All, pages behind the top as well. */
void hm_heap_page_changes(struct hm_heap *heap, hm_heap_visit *visit, void *arg);
/* Is there anything to tell of pages that were taken? */
bool hm_heap_has_new_pages(const struct hm_heap *heap);
/* Those on which [offset, offset + bytes) lies. */
void hm_heap_page_changes_in(struct hm_heap *heap, size_t offset, size_t bytes, hm_heap_visit *visit, void *arg);
/* Freed ones that rested at the last call of this already, and all the time since. True when others that rested were taken
 * meanwhile. */
bool hm_heap_pages_rested(struct hm_heap *heap, hm_heap_visit *visit, void *arg);
/* Bytes of freed pages of which the owner has not been told. */
size_t hm_heap_resting(const struct hm_heap *heap);

/* The whole structure, for stress tests: every invariant; false with a reason in *why. */
bool hm_heap_valid(const struct hm_heap *heap, const char **why);

#endif

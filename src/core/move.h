/* Copies from one mapped memory to another: what put and get use where others would use memcpy.
 *
 *     up to HM_MOVE_SMALL bytes   a few loads and stores, without a call
 *     up to some 100 KiB          memcpy
 *     up to a few MiB             memcpy that fetches the lines of both ends ahead
 *     beyond                      stores that go past the caches
 *
 * What is much of a core's cache of the second level comes from further away, most of all where another core has had it last.
 * The processor fetches ahead, too, but it begins anew in each page, and never knows that a line will be written.
 *
 * An ordinary store first fetches the line that it is about to overwrite. What is too large to be found in a cache again
 * gains nothing by that, and pays for the fetch, for what it pushes out and for writing it back. Where the third way begins
 * depends on who reads next, see hm_move_start. */
#ifndef HM_MOVE_H
#define HM_MOVE_H

#include <string.h>

#include "base/base.h"

enum { HM_MOVE_SMALL = 64 };

/* Copies of so many bytes and more ... */
struct hm_moves {
    size_t out_from; /* go past the caches: into memory of another PE, */
    size_t in_from;  /* into memory that the caller will read himself */
    size_t ahead_from; /* are no plain memcpy */
};
extern struct hm_moves hm_moves;

/* Takes them from SHMEM_NONTEMPORAL_FROM, or else from the caches of this machine. */
void hm_move_start(const char *call);

/* Any size; `to` and `from` may be the same place, but not overlap otherwise. Its stores are in order with those before and
 * behind it, as ordinary stores of this machine are. */
void hm_move_past_caches(void *to, const void *from, size_t bytes);
/* An ordinary copy that fetches ahead. */
void hm_move_ahead(void *to, const void *from, size_t bytes);
/* One of these two. */
void hm_move_large(void *to, const void *from, size_t bytes, size_t past_caches_from);

typedef uint64_t hm_half_line __attribute__((vector_size(16), may_alias, aligned(1)));

/* All loads come before the first store, and the two ends may overlap. What is one element of a type is stored once: who waits
 * for a flag may reset it as soon as he sees it. */
HM_INLINE void hm_move_small(char *to, const char *from, size_t n)
{
    if (n > 32) {
        hm_half_line a, b, y, z;
        memcpy(&a, from, 16), memcpy(&b, from + 16, 16), memcpy(&y, from + n - 32, 16), memcpy(&z, from + n - 16, 16);
        memcpy(to, &a, 16), memcpy(to + 16, &b, 16), memcpy(to + n - 32, &y, 16), memcpy(to + n - 16, &z, 16);
    } else if (n >= 16) {
        hm_half_line a, z;
        memcpy(&a, from, 16), memcpy(&z, from + n - 16, 16);
        memcpy(to, &a, 16);
        if (n > 16) memcpy(to + n - 16, &z, 16);
    } else if (n >= 8) {
        uint64_t a, z;
        memcpy(&a, from, 8), memcpy(&z, from + n - 8, 8);
        memcpy(to, &a, 8);
        if (n > 8) memcpy(to + n - 8, &z, 8);
    } else if (n >= 4) {
        uint32_t a, z;
        memcpy(&a, from, 4), memcpy(&z, from + n - 4, 4);
        memcpy(to, &a, 4);
        if (n > 4) memcpy(to + n - 4, &z, 4);
    } else if (n >= 2) {
        uint16_t a;
        char z = from[n - 1];
        memcpy(&a, from, 2);
        memcpy(to, &a, 2);
        if (n > 2) to[2] = z;
    } else if (n) {
        *to = *from;
    }
}

HM_INLINE void hm_move(void *to, const void *from, size_t bytes, size_t past_caches_from)
{
    if (bytes <= HM_MOVE_SMALL)
        hm_move_small(to, from, bytes);
    else if (hm_likely(bytes < hm_moves.ahead_from))
        memcpy(to, from, bytes);
    else
        hm_move_large(to, from, bytes, past_caches_from);
}

/* Into memory of a PE, for its owner to read. */
HM_INLINE void hm_move_out(void *to, const void *from, size_t bytes) { hm_move(to, from, bytes, hm_moves.out_from); }
/* Into memory of the caller's own. */
HM_INLINE void hm_move_in(void *to, const void *from, size_t bytes) { hm_move(to, from, bytes, hm_moves.in_from); }

#endif

/* What the algorithms share: members' memory as it is mapped here, and the two ways of a collective.
 *
 * A small collective carries its bytes in the team's slots and needs one meeting. A large one meets, reads and writes
 * the members' memory directly, and meets again, so that nobody's source is reused while somebody still reads it. Which is
 * which the table base/choice.def says. Broadcasts within a machine need no meeting at all (ring.h). */
#ifndef HM_MEMBER_H
#define HM_MEMBER_H

#include <string.h>

#include "base/base.h"
#include "base/choice.h"
#include "base/log.h"
#include "coll/coll.h"
#include "core/move.h"
#include "core/symm.h"
#include "core/sync.h"

/* [addr, addr + bytes) of member i. */
HM_INLINE char *hm_member_at(const struct hm_team *team, int i, const void *addr, size_t bytes, const char *call,
                             const char *arg)
{
    return hm_symm_reach_mapped(addr, bytes, hm_team_pe(team, i), call, arg);
}

/* Does each member carry so many bytes into the meeting? In a large team on several machines that would be too much for
 * each of them. */
enum { HM_CARRIERS = 64 };
HM_INLINE bool hm_is_carried_far(const struct hm_team *team, size_t bytes)
{
    return bytes <= HM_SYNC_DATA && team->size <= HM_CARRIERS;
}
/* From so many bytes on that a member reads, a collective of a team on one machine takes its second way. */
HM_INLINE size_t hm_second_way_from(const struct hm_team *team, enum hm_choice choice)
{
    return hm_choice_from[team->sync.way != HM_SYNC_DISSEMINATION][choice];
}
/* `brings`: bytes of a member; `reads`: how much of what all bring it reads. */
HM_INLINE bool hm_is_small(const struct hm_team *team, enum hm_choice choice, size_t brings, size_t reads)
{
    if (hm_unlikely(team->sync.span != NULL)) return hm_is_carried_far(team, brings);
    return brings <= hm_sync_room(&team->sync) && reads < hm_second_way_from(team, choice);
}

/* n * size; SIZE_MAX, which no segment holds, where that overflows. */
HM_INLINE size_t hm_bytes_of(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes;
}

/* The part of n elements that member i of `size` works on: [*first, *first + result). */
HM_INLINE size_t hm_share_of(size_t n, int i, int size, size_t *first)
{
    size_t each = n / (size_t)size, more = n % (size_t)size;
    *first = each * (size_t)i + ((size_t)i < more ? (size_t)i : more);
    return each + ((size_t)i < more);
}

/* Into this member's memory; the same place twice costs nothing (in-place collectives). */
HM_INLINE void hm_copy(void *to, const void *from, size_t bytes)
{
    if (to != from) hm_move_in(to, from, bytes);
}

/* In a team of one nobody is met, and the result is a copy. False: it is another team, or the arguments must be looked at. */
HM_INLINE bool hm_is_copied_alone(const struct hm_team *team, void *dest, const void *source, size_t bytes)
{
    if (hm_likely(team->size > 1) || !bytes || !hm_symm_is_plain(dest, bytes) || !hm_symm_is_plain(source, bytes)) return false;
    hm_copy(dest, source, bytes);
    return true;
}

#endif

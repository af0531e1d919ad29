#include <string.h>

#include "base/log.h"
#include "coll/coll.h"

_Static_assert(HM_AGREE_MAX <= HM_SYNC_DATA, "it must fit what a member carries into a meeting");

/* The first member whose bytes are not those of member 0; 0: there is none. */
static int first_other(const struct hm_sync *s, size_t bytes)
{
    for (int i = 1; i < s->size; i++)
        if (memcmp(hm_sync_theirs(s, i), hm_sync_theirs(s, 0), bytes)) return i;
    return 0;
}

/* What the members carry into the meeting is there when it ends: nobody needs a second one. */
int hm_agree(struct hm_team *team, const void *mine, size_t bytes, void *theirs, int *pe, const char *call)
{
    struct hm_sync *s = &team->sync;
    const struct hm_purpose purpose = {.kind = HM_COLL_AGREE, .size = bytes};
    if (bytes > HM_AGREE_MAX)
        hm_die(call, "bytes: %zu are more than the %d that can be compared at a time", bytes, HM_AGREE_MAX);
    if (bytes && !mine) hm_die(call, "mine: NULL given for %zu bytes", bytes);
    if (bytes) memcpy(hm_sync_mine(s, bytes), mine, bytes);
    hm_sync_enter(s, &purpose, call);
    int other = first_other(s, bytes);
    if (!other) return 0;
    if (theirs) memcpy(theirs, hm_sync_theirs(s, other), bytes);
    if (pe) *pe = other;
    return 1;
}

#include "coll/device.h"
#include "coll/member.h"
#include "coll/span.h"

int hm_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                 const char *call)
{
    struct hm_sync *s = &team->sync;
    struct hm_purpose purpose = {.kind = HM_COLL_BROADCAST, .root = root, .size = bytes};
    bool small = hm_is_small(team, HM_CHOICE_broadcast, bytes, bytes), am_root = team->me == root;
    purpose.slots = small;
    if ((unsigned)root >= (unsigned)team->size)
        hm_die(call, "PE_root: %d is not in the team, whose PEs are 0 to %d", root, team->size - 1);
    if (bytes) {
        hm_symm_require(dest, bytes, call, "dest");
        if (am_root) hm_symm_require(source, bytes, call, "source");
    }
    if (bytes && hm_is_on_device(dest, source)) {
        hm_device_broadcast(team, &purpose, dest, source, bytes, root, skip_root, call);
        return 0;
    }
    if (small && bytes <= HM_SYNC_DATA) hm_sync_carry(s, bytes);
    if (small && am_root && bytes) memcpy(hm_sync_bring(s, bytes), source, bytes);
    hm_sync_enter(s, &purpose, call);
    if (!bytes) return 0;
    if (hm_unlikely(s->span && !small)) {
        hm_span_broadcast(team, dest, source, bytes, root, skip_root, call);
        return 0;
    }
    if (am_root) {
        if (!skip_root) hm_copy(dest, source, bytes);
    } else if (small) {
        memcpy(dest, hm_sync_brought(s, root, bytes), bytes);
    } else {
        memcpy(dest, hm_member_at(team, root, source, bytes, call, "source"), bytes);
    }
    if (!small) hm_sync_again(s, call);
    return 0;
}

#include "coll/device.h"
#include "coll/member.h"
#include "coll/ring.h"
#include "coll/span.h"

static void check(const struct hm_team *team, const void *dest, const void *source, size_t bytes, int root, const char *call)
{
    if ((unsigned)root >= (unsigned)team->size)
        hm_die(call, "PE_root: %d is not in the team, whose PEs are 0 to %d", root, team->size - 1);
    if (!bytes) return;
    hm_symm_require(dest, bytes, call, "dest");
    if (team->me == root) hm_symm_require(source, bytes, call, "source");
}

/* Within a machine. */
static void pass_on(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                    const char *call)
{
    bool in_slots = bytes <= hm_ring_most(team) && bytes < hm_second_way_from(team, HM_CHOICE_broadcast);
    if (team->me != root) {
        hm_ring_receive(team, dest, source, bytes, root, in_slots, call);
        return;
    }
    hm_ring_send(team, source, bytes, in_slots, call);
    if (!skip_root) hm_copy(dest, source, bytes);
    if (!in_slots) hm_ring_await_readers(team, call);
}

/* On several machines, and where there is nothing to send: the members meet. */
static void meet_for_it(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                        const char *call)
{
    struct hm_sync *s = &team->sync;
    bool small = hm_is_carried_far(team, bytes), am_root = team->me == root;
    struct hm_purpose purpose = {.kind = HM_COLL_BROADCAST, .root = root, .size = bytes, .slots = small};
    if (small) hm_sync_carry(s, bytes);
    if (small && am_root && bytes) memcpy(hm_sync_mine(s, bytes), source, bytes);
    hm_sync_enter(s, &purpose, call);
    if (!bytes) return;
    if (!small)
        hm_span_broadcast(team, dest, source, bytes, root, skip_root, call);
    else if (!am_root)
        memcpy(dest, hm_sync_theirs(s, root), bytes);
    else if (!skip_root)
        hm_copy(dest, source, bytes);
}

static int broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                     const char *call)
{
    check(team, dest, source, bytes, root, call);
    if (bytes && hm_is_on_device(dest, source)) {
        struct hm_purpose purpose = {.kind = HM_COLL_BROADCAST, .root = root, .size = bytes};
        hm_device_broadcast(team, &purpose, dest, source, bytes, root, skip_root, call);
    } else if (team->size == 1) {
        if (bytes && !skip_root) hm_copy(dest, source, bytes);
    } else if (bytes && team->sync.ring.slot) {
        pass_on(team, dest, source, bytes, root, skip_root, call);
    } else {
        meet_for_it(team, dest, source, bytes, root, skip_root, call);
    }
    return 0;
}

int hm_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, const char *call)
{
    if (!root && hm_is_copied_alone(team, dest, source, bytes)) return 0;
    return broadcast(team, dest, source, bytes, root, false, call);
}

int hm_broadcast_to_others(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, const char *call)
{
    return broadcast(team, dest, source, bytes, root, true, call);
}

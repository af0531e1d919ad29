/* Reductions: operands are taken in the order of the team, whatever the size, so results do not depend on it. (In teams on
 * several machines, the large ones machine by machine, unless SHMEM_REPRODUCIBLE asks for more.) */
#include "coll/device.h"
#include "coll/kernel.h"
#include "coll/member.h"
#include "coll/span.h"

enum { CHUNK_BYTES = 16384 }; /* stays in the first-level cache while all members' parts pass through */

static void reduce_slots(struct hm_team *team, void *dest, size_t n, size_t bytes, hm_kernel *combine)
{
    HM_ALIGNED(HM_LINE) char acc[HM_SYNC_DATA];
    memcpy(acc, hm_sync_theirs(&team->sync, 0), bytes);
    for (int i = 1; i < team->size; i++) combine(acc, hm_sync_theirs(&team->sync, i), n);
    memcpy(dest, acc, bytes);
}

/* Member i alone reads and writes the i-th part of everybody's vectors, so source may be dest. */
static void reduce_share(struct hm_team *team, void *dest, const void *source, size_t n, size_t size,
                         hm_kernel *combine, const char *call)
{
    HM_ALIGNED(HM_LINE) char acc[CHUNK_BYTES];
    size_t first, count = hm_share_of(n, team->me, team->size, &first), chunk = CHUNK_BYTES / size;
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size;
        memcpy(acc, hm_member_at(team, 0, (const char *)source + at, k * size, call, "source"), k * size);
        for (int i = 1; i < team->size; i++)
            combine(acc, hm_member_at(team, i, (const char *)source + at, k * size, call, "source"), k);
        for (int i = 0; i < team->size; i++)
            memcpy(hm_member_at(team, i, (char *)dest + at, k * size, call, "dest"), acc, k * size);
    }
}

int hm_reduce(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, enum hm_op op,
              const char *call)
{
    struct hm_sync *s = &team->sync;
    size_t size = hm_kind_size(kind), bytes = hm_bytes_of(n, size);
    struct hm_purpose purpose = {.kind = HM_COLL_REDUCE, .type = kind, .op = op, .size = bytes, .root = hm_options.reproducible};
    hm_kernel *combine = hm_kernel_of(kind, op);
    bool small = hm_is_small(team, bytes);
    if (n) {
        hm_symm_require(dest, bytes, call, "dest");
        hm_symm_require(source, bytes, call, "source");
    }
    if (n && (hm_is_on_device(dest, source) || hm_is_pulled(team, small))) {
        hm_device_reduce(team, &purpose, dest, source, n, size, combine, call);
        return 0;
    }
    if (n && small) memcpy(hm_sync_mine(s, bytes), source, bytes);
    hm_sync_enter(s, &purpose, call);
    if (!n) return 0;
    if (team->size == 1) {
        hm_copy(dest, source, bytes);
    } else if (small) {
        reduce_slots(team, dest, n, bytes, combine);
    } else if (hm_unlikely(s->span != NULL)) {
        hm_span_reduce(team, dest, source, n, size, combine, call);
    } else {
        reduce_share(team, dest, source, n, size, combine, call);
        hm_sync_again(s, call);
    }
    return 0;
}

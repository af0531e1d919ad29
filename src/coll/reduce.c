/* Reductions: operands are taken in the order of the team, whatever the size, so results do not depend on it. (In teams on
 * several machines, the large ones machine by machine, unless SHMEM_REPRODUCIBLE asks for more.) */
#include "coll/device.h"
#include "coll/kernel.h"
#include "coll/member.h"
#include "coll/span.h"

enum { CHUNK_BYTES = 16384 }; /* stays in the first-level cache while all members' parts pass through */

/* What the members have brought is read from there: dest may be this one's source. */
static void reduce_slots(struct hm_team *team, void *dest, size_t n, size_t bytes, hm_kernel *combine)
{
    const struct hm_sync *s = &team->sync;
    combine(dest, hm_sync_brought(s, 0, bytes), hm_sync_brought(s, 1, bytes), n);
    for (int i = 2; i < team->size; i++) combine(dest, dest, hm_sync_brought(s, i, bytes), n);
}

/* A chunk of everybody's vectors: the result comes into being in this member's dest, when all operands but the last have
 * been read, and goes from there to the others. */
static void reduce_chunk(struct hm_team *team, char *dest, const char *source, size_t n, size_t bytes, hm_kernel *combine,
                         const char *call)
{
    HM_ALIGNED(HM_LINE) char acc[CHUNK_BYTES];
    const char *left = hm_member_at(team, 0, source, bytes, call, "source");
    for (int i = 1; i < team->size; i++) {
        char *to = i + 1 < team->size ? acc : dest;
        combine(to, left, hm_member_at(team, i, source, bytes, call, "source"), n);
        left = to;
    }
    for (int i = 0; i < team->size; i++)
        if (i != team->me) memcpy(hm_member_at(team, i, dest, bytes, call, "dest"), dest, bytes);
}

/* Member i alone reads and writes the i-th part of everybody's vectors, so source may be dest. */
static void reduce_share(struct hm_team *team, void *dest, const void *source, size_t n, size_t size,
                         hm_kernel *combine, const char *call)
{
    size_t first, count = hm_share_of(n, team->me, team->size, &first), chunk = CHUNK_BYTES / size;
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size;
        reduce_chunk(team, (char *)dest + at, (const char *)source + at, k, k * size, combine, call);
    }
}

static int reduce(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, enum hm_op op,
                  const char *call)
{
    struct hm_sync *s = &team->sync;
    size_t size = hm_kind_size(kind), bytes = hm_bytes_of(n, size);
    struct hm_purpose purpose = {.kind = HM_COLL_REDUCE, .type = kind, .op = op, .size = bytes, .root = hm_options.reproducible};
    hm_kernel *combine = hm_kernel_of(kind, op);
    bool small = hm_is_small(team, HM_CHOICE_reduce, bytes, hm_bytes_of(bytes, (size_t)team->size));
    purpose.slots = small;
    if (n) {
        hm_symm_require(dest, bytes, call, "dest");
        hm_symm_require(source, bytes, call, "source");
    }
    if (n && (hm_is_on_device(dest, source) || hm_is_pulled(team, small))) {
        hm_device_reduce(team, &purpose, dest, source, n, size, combine, call);
        return 0;
    }
    if (team->size == 1) {
        if (n) hm_copy(dest, source, bytes);
        return 0;
    }
    if (n && small) memcpy(hm_sync_bring(s, bytes), source, bytes);
    hm_sync_enter(s, &purpose, call);
    if (!n) return 0;
    if (small) {
        reduce_slots(team, dest, n, bytes, combine);
    } else if (hm_unlikely(s->span != NULL)) {
        hm_span_reduce(team, dest, source, n, size, combine, call);
    } else {
        reduce_share(team, dest, source, n, size, combine, call);
        hm_sync_again(s, call);
    }
    return 0;
}

int hm_reduce(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, enum hm_op op,
              const char *call)
{
    if (hm_is_copied_alone(team, dest, source, hm_bytes_of(n, hm_kind_size(kind)))) return 0;
    return reduce(team, dest, source, n, kind, op, call);
}

/* Prefix sums over the members, element by element. */
#include "coll/device.h"
#include "coll/kernel.h"
#include "coll/member.h"
#include "coll/span.h"

enum { CHUNK_BYTES = 8192 };

/* What the members have brought is read from there: dest may be this one's source. */
static void scan_slots(struct hm_team *team, void *dest, size_t n, size_t bytes, bool inclusive, hm_kernel *add)
{
    const struct hm_sync *s = &team->sync;
    int operands = team->me + inclusive;
    if (operands == 0)
        memset(dest, 0, bytes);
    else if (operands == 1) /* not 0 + x: that would lose the sign of -0.0 */
        memcpy(dest, hm_sync_brought(s, 0, bytes), bytes);
    else
        add(dest, hm_sync_brought(s, 0, bytes), hm_sync_brought(s, 1, bytes), n);
    for (int i = 2; i < operands; i++) add(dest, dest, hm_sync_brought(s, i, bytes), n);
}

/* One chunk of everybody's vectors: each source is read before the dest of the same member is written, as it may be the
 * same memory. */
static void scan_chunk(struct hm_team *team, char *dest, const char *source, size_t n, size_t bytes, bool inclusive,
                       hm_kernel *add, const char *call)
{
    HM_ALIGNED(HM_LINE) char acc[CHUNK_BYTES], next[CHUNK_BYTES];
    memset(acc, 0, bytes);
    for (int i = 0; i < team->size; i++) {
        memcpy(next, hm_member_at(team, i, source, bytes, call, "source"), bytes);
        if (!inclusive) memcpy(hm_member_at(team, i, dest, bytes, call, "dest"), acc, bytes);
        if (i)
            add(acc, acc, next, n);
        else
            memcpy(acc, next, bytes);
        if (inclusive) memcpy(hm_member_at(team, i, dest, bytes, call, "dest"), acc, bytes);
    }
}

int hm_scan(struct hm_team *team, void *dest, const void *source, size_t n, enum hm_kind kind, bool inclusive,
            const char *call)
{
    struct hm_sync *s = &team->sync;
    size_t size = hm_kind_size(kind), bytes = hm_bytes_of(n, size);
    struct hm_purpose purpose = {.kind = inclusive ? HM_COLL_INSCAN : HM_COLL_EXSCAN, .type = kind, .size = bytes,
                                 .root = hm_options.reproducible};
    hm_kernel *add = hm_kernel_of(kind, HM_OP_SUM);
    bool small = hm_is_small(team, HM_CHOICE_scan, bytes, hm_bytes_of(bytes, (size_t)team->size));
    purpose.slots = small;
    if (n) {
        hm_symm_require(dest, bytes, call, "dest");
        hm_symm_require(source, bytes, call, "source");
    }
    if (n && (hm_is_on_device(dest, source) || hm_is_pulled(team, small))) {
        hm_device_scan(team, &purpose, dest, source, n, size, inclusive, add, call);
        return 0;
    }
    if (n && small) memcpy(hm_sync_bring(s, bytes), source, bytes);
    hm_sync_enter(s, &purpose, call);
    if (!n) return 0;
    if (small) {
        scan_slots(team, dest, n, bytes, inclusive, add);
        return 0;
    }
    if (hm_unlikely(s->span != NULL)) {
        hm_span_scan(team, dest, source, n, size, inclusive, add, call);
        return 0;
    }
    size_t first, count = hm_share_of(n, team->me, team->size, &first), chunk = CHUNK_BYTES / size;
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size;
        scan_chunk(team, (char *)dest + at, (const char *)source + at, k, k * size, inclusive, add, call);
    }
    hm_sync_again(s, call);
    return 0;
}

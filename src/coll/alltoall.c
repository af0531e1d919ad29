#include "coll/device.h"
#include "coll/member.h"
#include "coll/span.h"

static int alltoall(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    struct hm_sync *s = &team->sync;
    struct hm_purpose purpose = {.kind = HM_COLL_ALLTOALL, .size = bytes};
    size_t total = hm_bytes_of(bytes, (size_t)team->size);
    bool small = hm_is_small(team, HM_CHOICE_alltoall, total, total);
    purpose.slots = small;
    if (bytes) {
        hm_symm_require(dest, total, call, "dest");
        hm_symm_require(source, total, call, "source");
        if (hm_is_on_device(dest, source)) {
            hm_device_alltoall(team, &purpose, dest, source, 1, 1, bytes, 1, call);
            return 0;
        }
    }
    if (team->size == 1) {
        if (bytes) hm_copy(dest, source, bytes);
        return 0;
    }
    if (bytes && small) memcpy(hm_sync_bring(s, total), source, total);
    hm_sync_enter(s, &purpose, call);
    if (!bytes) return 0;
    if (hm_unlikely(s->span && !small)) {
        hm_span_alltoall(team, dest, source, bytes, call);
        return 0;
    }
    for (int k = 0; k < team->size; k++) { /* each begins with its own block, so that not all read one PE at once */
        int i = team->me + k < team->size ? team->me + k : team->me + k - team->size;
        const char *theirs = i == team->me ? source
                             : small       ? hm_sync_brought(s, i, total)
                                           : hm_member_at(team, i, source, total, call, "source");
        hm_copy((char *)dest + (size_t)i * bytes, theirs + (size_t)team->me * bytes, bytes);
    }
    if (!small) hm_sync_again(s, call);
    return 0;
}

int hm_alltoall(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    return hm_is_copied_alone(team, dest, source, bytes) ? 0 : alltoall(team, dest, source, bytes, call);
}

static size_t strided_bytes(const struct hm_team *team, ptrdiff_t stride, size_t nelems, size_t size)
{
    size_t n = hm_bytes_of(hm_bytes_of(nelems, (size_t)team->size) - 1, (size_t)stride);
    return n >= SIZE_MAX / 2 ? SIZE_MAX : hm_bytes_of(n + 1, size);
}

HM_INLINE void copy_block(char *to, const char *from, size_t to_step, size_t from_step, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, size);
}

int hm_alltoalls(struct hm_team *team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                 size_t size, const char *call)
{
    struct hm_sync *s = &team->sync;
    struct hm_purpose purpose = {.kind = HM_COLL_ALLTOALLS, .type = (uint8_t)size, .size = nelems};
    if (nelems && dst < 1) hm_die(call, "dst: the stride is %td, it must be 1 or more elements", dst);
    if (nelems && sst < 1) hm_die(call, "sst: the stride is %td, it must be 1 or more elements", sst);
    size_t from_bytes = nelems ? strided_bytes(team, sst, nelems, size) : 0;
    if (nelems) {
        hm_symm_require(dest, strided_bytes(team, dst, nelems, size), call, "dest");
        hm_symm_require(source, from_bytes, call, "source");
        if (hm_is_on_device(dest, source)) {
            hm_device_alltoall(team, &purpose, dest, source, dst, sst, nelems, size, call);
            return 0;
        }
    }
    hm_sync_enter(s, &purpose, call);
    if (!nelems) return 0;
    size_t to_step = (size_t)dst * size, from_step = (size_t)sst * size;
    for (int k = 0; k < team->size; k++) {
        int i = team->me + k < team->size ? team->me + k : team->me + k - team->size;
        char *to = (char *)dest + (size_t)i * nelems * to_step;
        size_t mine = (size_t)team->me * nelems * from_step;
        if (hm_unlikely(s->span && !hm_span_is_here(s->span, i))) {
            hm_span_pull_strided(team, i, to, (const char *)source + mine, to_step, from_step, nelems, size);
            continue;
        }
        const char *from = hm_member_at(team, i, source, from_bytes, call, "source") + mine;
        switch (size) {
        case 4: copy_block(to, from, to_step, from_step, nelems, 4); break;
        case 8: copy_block(to, from, to_step, from_step, nelems, 8); break;
        default: copy_block(to, from, to_step, from_step, nelems, size);
        }
    }
    hm_sync_again(s, call);
    return 0;
}

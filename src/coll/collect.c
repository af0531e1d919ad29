#include <stdlib.h>

#include "coll/device.h"
#include "coll/member.h"
#include "coll/span.h"

/* What a member puts into its slot: how much it brings, and the bytes if they are few. More of them go into its stage. */
struct part {
    uint64_t bytes;
    char data[HM_SYNC_DATA - sizeof(uint64_t)];
};

static const struct part *part_of(const struct hm_team *team, int i) { return hm_sync_theirs(&team->sync, i); }

enum { MOST = sizeof((struct part *)0)->data };

/* Members bring parts of at most so many bytes to the meeting. */
static size_t carried(const struct hm_team *team, enum hm_choice choice)
{
    const struct hm_sync *s = &team->sync;
    if (hm_unlikely(s->span != NULL)) return hm_is_carried_far(team, HM_SYNC_DATA) ? MOST : 0;
    size_t from = hm_second_way_from(team, choice), most = s->stage ? HM_STAGE_BYTES : MOST;
    size_t each = from ? (from - 1) / (size_t)team->size : 0;
    return each < most ? each : most;
}

/* `most`: bytes that some member may put into its slot. */
static void bring(struct hm_team *team, const void *source, size_t bytes, size_t limit, size_t most, const char *call)
{
    struct hm_sync *s = &team->sync;
    struct part *mine = hm_sync_mine(s, offsetof(struct part, data) + most);
    if (bytes) hm_symm_require(source, bytes, call, "source");
    mine->bytes = bytes;
    if (bytes && bytes <= limit) memcpy(bytes <= MOST ? mine->data : hm_sync_stage(s, s->me, s->epoch + 1), source, bytes);
}

static void take(const struct hm_team *team, int i, char *dest, const void *source, size_t bytes, size_t limit,
                 const char *call)
{
    const struct hm_sync *s = &team->sync;
    if (!bytes) return;
    if (bytes <= limit)
        memcpy(dest, bytes <= MOST ? part_of(team, i)->data : hm_sync_stage(s, i, s->epoch), bytes);
    else
        hm_copy(dest, i == team->me ? source : hm_member_at(team, i, source, bytes, call, "source"), bytes);
}

/* Programs collect in place: then the result may be put there only when all members have read this one's part. */
static bool is_in_place(const char *dest, size_t total, const char *source, size_t bytes)
{
    return source < dest + total && dest < source + bytes;
}

/* Too large for the meeting, and on several machines. */
static void collect_across(struct hm_team *team, char *dest, size_t total, const void *source, const char *call)
{
    size_t n = (size_t)team->size, *at = malloc((n + 1) * sizeof *at);
    bool apart = true;
    if (!at) hm_die(call, "out of memory for the sizes of %zu parts", n);
    at[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = part_of(team, (int)i)->bytes;
        at[i + 1] = at[i] + bytes;
        if ((const char *)source < dest + total && dest < (const char *)source + bytes) apart = false;
    }
    hm_span_collect(team, dest, source, at, apart, call);
    free(at);
}

/* All parts lie one behind the other in dest: totals and places come from the parts' own sizes. */
static int collect_parts(struct hm_team *team, char *dest, const void *source, size_t limit, const char *call)
{
    size_t total = 0, largest = 0;
    for (int i = 0; i < team->size; i++) {
        size_t bytes = part_of(team, i)->bytes;
        if (__builtin_add_overflow(total, bytes, &total)) total = SIZE_MAX;
        if (bytes > largest) largest = bytes;
    }
    if (!total) return 0;
    hm_symm_require(dest, total, call, "dest");
    if (hm_unlikely(team->sync.span && largest > limit)) {
        collect_across(team, dest, total, source, call);
        return 0;
    }
    char *aside = NULL;
    size_t own = part_of(team, team->me)->bytes;
    if (own > limit && hm_unlikely(is_in_place(dest, total, source, own)) && !(aside = malloc(total)))
        hm_die(call, "out of memory: dest and source are the same place, which needs %zu bytes aside", total);
    char *to = aside ? aside : dest;
    for (int i = 0; i < team->size; i++) {
        size_t bytes = part_of(team, i)->bytes;
        take(team, i, to, source, bytes, limit, call);
        to += bytes;
    }
    if (largest > limit) hm_sync_again(&team->sync, call);
    if (aside) memcpy(dest, aside, total);
    free(aside);
    return 0;
}

/* A team of one has no slot partners; its part is simply the result. */
static int collect_alone(void *dest, const void *source, size_t bytes, const char *call)
{
    if (!bytes) return 0;
    hm_symm_require(dest, bytes, call, "dest");
    hm_symm_require(source, bytes, call, "source");
    hm_copy(dest, source, bytes);
    return 0;
}

static int collect_on_device(struct hm_team *team, const struct hm_purpose *purpose, void *dest, const void *source,
                             size_t bytes, const char *call)
{
    if (bytes) hm_symm_require(source, bytes, call, "source");
    hm_device_collect(team, purpose, dest, source, bytes, call);
    return 0;
}

static int collect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    struct hm_purpose purpose = {.kind = HM_COLL_COLLECT};
    if (hm_is_on_device(dest, source)) return collect_on_device(team, &purpose, dest, source, bytes, call);
    if (team->size == 1) return collect_alone(dest, source, bytes, call);
    size_t limit = carried(team, HM_CHOICE_collect);
    purpose.size = limit;
    bring(team, source, bytes, limit, limit < MOST ? limit : MOST, call);
    hm_sync_enter(&team->sync, &purpose, call);
    return collect_parts(team, dest, source, limit, call);
}

int hm_collect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    return hm_is_copied_alone(team, dest, source, bytes) ? 0 : collect(team, dest, source, bytes, call);
}

static int fcollect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    struct hm_purpose purpose = {.kind = HM_COLL_FCOLLECT, .size = bytes};
    if (hm_is_on_device(dest, source)) return collect_on_device(team, &purpose, dest, source, bytes, call);
    if (team->size == 1) return collect_alone(dest, source, bytes, call);
    size_t limit = carried(team, HM_CHOICE_fcollect);
    purpose.slots = bytes <= limit;
    bring(team, source, bytes, limit, bytes <= limit && bytes <= MOST ? bytes : 0, call);
    hm_sync_enter(&team->sync, &purpose, call);
    return collect_parts(team, dest, source, limit, call);
}

int hm_fcollect(struct hm_team *team, void *dest, const void *source, size_t bytes, const char *call)
{
    return hm_is_copied_alone(team, dest, source, bytes) ? 0 : fcollect(team, dest, source, bytes, call);
}

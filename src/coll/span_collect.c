/* Each member sends its block to the leaders of the other machines, once; there the others copy it. */
#include <stdlib.h>

#include "coll/span.h"

static const char *block_here(struct hm_team *team, int i, const void *source, size_t bytes, const char *call)
{
    return i == team->me ? source : hm_member_at(team, i, source, bytes, call, "source");
}

static void send_block(struct hm_team *team, char *dest, const void *source, size_t bytes)
{
    const struct hm_span *span = team->sync.span;
    if (!bytes) return;
    for (int k = 1; k < span->groups; k++)
        hm_far_put_at(hm_place_at_leader(team, dest, hm_next_group(span, k)), source, bytes, true);
}

static void copy_near(struct hm_team *team, char *dest, const void *source, const size_t *at, const char *call)
{
    for (int i = 0; i < team->size; i++) {
        size_t bytes = at[i + 1] - at[i];
        if (bytes && hm_span_is_here(team->sync.span, i))
            hm_copy(dest + at[i], block_here(team, i, source, bytes, call), bytes);
    }
}

static void copy_far_from_leader(struct hm_team *team, char *dest, const size_t *at, const char *call)
{
    for (int i = 0; i < team->size; i++) {
        size_t bytes = at[i + 1] - at[i];
        if (bytes && !hm_span_is_here(team->sync.span, i))
            memcpy(dest + at[i], hm_leader_at(team, dest + at[i], bytes, call), bytes);
    }
}

/* In place: nothing may be written to any dest before all sources have been read. */
static void collect_aside(struct hm_team *team, char *dest, const void *source, const size_t *at, const char *call)
{
    char *aside = malloc(at[team->size]);
    if (!aside)
        hm_die(call, "out of memory: dest and source are the same place, which needs %zu bytes aside", at[team->size]);
    for (int i = 0; i < team->size; i++) {
        size_t bytes = at[i + 1] - at[i];
        if (bytes && !hm_span_is_here(team->sync.span, i))
            hm_far_get_at(aside + at[i], hm_far_place(source, hm_team_pe(team, i)), bytes, true);
    }
    copy_near(team, aside, source, at, call);
    hm_quiet(&hm_ctx_inner);
    hm_sync_again(&team->sync, call);
    memcpy(dest, aside, at[team->size]);
    free(aside);
}

void hm_span_collect(struct hm_team *team, char *dest, const void *source, const size_t *at, bool apart, const char *call)
{
    struct hm_sync *s = &team->sync;
    if (!apart) {
        collect_aside(team, dest, source, at, call);
        return;
    }
    send_block(team, dest + at[team->me], source, at[team->me + 1] - at[team->me]);
    copy_near(team, dest, source, at, call);
    hm_quiet(&hm_ctx_inner);
    hm_sync_again(s, call);
    if (s->span->me) copy_far_from_leader(team, dest, at, call);
    hm_span_meet_group(s, call);
}

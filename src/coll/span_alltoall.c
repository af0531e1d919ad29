/* Blocks go straight from member to member. */
#include <stdlib.h>

#include "coll/span.h"

enum {
    ROOM = 256 << 10, /* of strided blocks on their way */
    SPARSE = 512,     /* elements that lie so far apart are fetched one by one */
};

static int next_member(const struct hm_team *team, int k)
{
    return team->me + k < team->size ? team->me + k : team->me + k - team->size;
}

void hm_span_alltoall(struct hm_team *team, char *dest, const char *source, size_t bytes, const char *call)
{
    const struct hm_span *span = team->sync.span;
    size_t total = bytes * (size_t)team->size, mine = (size_t)team->me * bytes;
    for (int k = 1; k < team->size; k++) {
        int i = next_member(team, k);
        if (hm_span_is_here(span, i)) continue;
        hm_far_put_at(hm_far_place(dest + mine, hm_team_pe(team, i)), source + (size_t)i * bytes, bytes, true);
    }
    for (int k = 0; k < team->size; k++) {
        int i = next_member(team, k);
        if (!hm_span_is_here(span, i)) continue;
        const char *theirs = i == team->me ? source : hm_member_at(team, i, source, total, call, "source");
        hm_copy(dest + (size_t)i * bytes, theirs + mine, bytes);
    }
    hm_quiet(&hm_ctx_inner);
    hm_sync_again(&team->sync, call);
}

/* Elements that lie close together are fetched with what is between them. */
static size_t fetch(char *room, const char *from, int pe, size_t step, size_t n, size_t size)
{
    if (step < SPARSE) {
        hm_far_get_at(room, hm_far_place(from, pe), (n - 1) * step + size, false);
        return step;
    }
    for (size_t i = 0; i < n; i++) hm_far_get_at(room + i * size, hm_far_place(from + i * step, pe), size, true);
    hm_quiet(&hm_ctx_inner);
    return size;
}

void hm_span_pull_strided(struct hm_team *team, int i, char *to, const char *from, size_t to_step, size_t from_step,
                          size_t nelems, size_t size)
{
    size_t each = from_step < SPARSE ? from_step : size, most = ROOM / each;
    if (most > nelems) most = nelems;
    if (!most) most = 1;
    char *room = malloc(most * each);
    if (!room) hm_die(NULL, "out of memory for %zu bytes on their way", most * each);
    for (size_t done = 0; done < nelems; done += most) {
        size_t n = nelems - done < most ? nelems - done : most;
        size_t step = fetch(room, from + done * from_step, hm_team_pe(team, i), from_step, n, size);
        for (size_t k = 0; k < n; k++) memcpy(to + (done + k) * to_step, room + k * step, size);
    }
    free(room);
}

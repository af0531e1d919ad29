/* Prefix sums: as on one machine, each member works on a share of the elements of everybody. */
#include <stdlib.h>

#include "coll/span.h"

enum {
    STEP_BYTES = 8192,        /* stay in the first-level cache */
    CHUNK_BYTES = 256 << 10,  /* on their way at a time, of each member ... */
    ROOM = 4 << 20,           /* ... and of all */
};

static void read_all(struct hm_team *team, char *room, const char *source, size_t bytes, const char *call)
{
    for (int i = 0; i < team->size; i++)
        if (!hm_span_is_here(team->sync.span, i))
            hm_far_get_at(room + (size_t)i * bytes, hm_far_place(source, hm_team_pe(team, i)), bytes, true);
    for (int i = 0; i < team->size; i++)
        if (hm_span_is_here(team->sync.span, i))
            memcpy(room + (size_t)i * bytes, hm_member_at(team, i, source, bytes, call, "source"), bytes);
    hm_quiet(&hm_ctx_inner);
}

static void write_all(struct hm_team *team, const char *room, char *dest, size_t bytes, const char *call)
{
    for (int i = 0; i < team->size; i++) {
        const char *from = room + (size_t)i * bytes;
        if (hm_span_is_here(team->sync.span, i))
            memcpy(hm_member_at(team, i, dest, bytes, call, "dest"), from, bytes);
        else
            hm_far_put_at(hm_far_place(dest, hm_team_pe(team, i)), from, bytes, true);
    }
    hm_quiet(&hm_ctx_inner);
}

/* Each member's elements become the sum of those up to it: `bytes` of each, which lie `apart`. */
static void sum_step(const struct hm_team *team, char *room, size_t apart, size_t n, size_t bytes, bool inclusive,
                     hm_kernel *add)
{
    HM_ALIGNED(HM_LINE) char acc[STEP_BYTES], next[STEP_BYTES];
    memset(acc, 0, bytes);
    for (int i = 0; i < team->size; i++) {
        char *own = room + (size_t)i * apart;
        memcpy(next, own, bytes);
        if (!inclusive) memcpy(own, acc, bytes);
        if (i)
            add(acc, acc, next, n);
        else
            memcpy(acc, next, bytes); /* not 0 + x: that would lose the sign of -0.0 */
        if (inclusive) memcpy(own, acc, bytes);
    }
}

static void sum_up(const struct hm_team *team, char *room, size_t n, size_t size, bool inclusive, hm_kernel *add)
{
    size_t most = STEP_BYTES / size;
    for (size_t done = 0; done < n; done += most) {
        size_t k = n - done < most ? n - done : most;
        sum_step(team, room + done * size, n * size, k, k * size, inclusive, add);
    }
}

static size_t chunk_of(const struct hm_team *team, size_t count, size_t size)
{
    size_t each = ROOM / (size_t)team->size, most = (each < CHUNK_BYTES ? each : CHUNK_BYTES) / size;
    if (most > count) return count;
    return most ? most : 1;
}

void hm_span_scan(struct hm_team *team, void *dest, const void *source, size_t n, size_t size, bool inclusive,
                  hm_kernel *add, const char *call)
{
    size_t first, count = hm_share_of(n, team->me, team->size, &first);
    size_t chunk = chunk_of(team, count, size);
    char *room = chunk ? malloc(chunk * size * (size_t)team->size) : NULL;
    if (chunk && !room) hm_die(call, "out of memory for %zu bytes on their way", chunk * size * (size_t)team->size);
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size;
        read_all(team, room, (const char *)source + at, k * size, call);
        sum_up(team, room, k, size, inclusive, add);
        write_all(team, room, (char *)dest + at, k * size, call);
    }
    free(room);
    hm_sync_again(&team->sync, call);
}

#include "coll/device.h"

#include <stdlib.h>

#include "core/order.h"
#include "core/rma.h"

enum { CHUNK_BYTES = 256 << 10 }; /* each chunk of each member costs a copy of the runtime */

static void pull(const struct hm_team *team, int i, void *to, const void *from, size_t bytes, const char *call)
{
    if (bytes) hm_get_slow(&hm_ctx_inner, to, from, bytes, hm_team_pe(team, i), false, call);
}

static void push(const struct hm_team *team, int i, void *to, const void *from, size_t bytes, const char *call)
{
    if (bytes) hm_put_slow(&hm_ctx_inner, to, from, bytes, hm_team_pe(team, i), false, call);
}

/* What this member has written is there, and all have come so far. */
static void meet_again(struct hm_team *team, const char *call)
{
    hm_quiet(&hm_ctx_inner);
    hm_sync_again(&team->sync, call);
}

static void *room(size_t bytes, const char *call)
{
    void *at = malloc(bytes ? bytes : 1);
    if (!at) hm_die(call, "out of memory for %zu bytes of a collective over device memory", bytes);
    return at;
}

void hm_device_broadcast(struct hm_team *team, const struct hm_purpose *purpose, void *dest, const void *source, size_t bytes,
                         int root, bool skip_root, const char *call)
{
    hm_sync_enter(&team->sync, purpose, call);
    if (team->me != root)
        pull(team, root, dest, source, bytes, call);
    else if (!skip_root)
        hm_device_move(dest, source, bytes, call);
    meet_again(team, call);
}

/* Where each member's part begins in dest, and behind the last where all end. */
static size_t *places(struct hm_team *team, const char *call)
{
    size_t n = (size_t)team->size, *at = room((n + 1) * sizeof *at, call);
    at[0] = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(at[i], *(const uint64_t *)hm_sync_theirs(&team->sync, (int)i), &at[i + 1])) at[i + 1] = SIZE_MAX;
    return at;
}

static bool overlap(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* In place the result may be written only when all have read this member's part: it waits in host memory. */
void hm_device_collect(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const void *source, size_t bytes,
                       const char *call)
{
    *(uint64_t *)hm_sync_mine(&team->sync, sizeof(uint64_t)) = bytes;
    hm_sync_enter(&team->sync, purpose, call);
    size_t *at = places(team, call), total = at[team->size];
    if (total) hm_symm_require(dest, total, call, "dest");
    char *aside = total && bytes && overlap(dest, total, source, bytes) ? room(total, call) : NULL;
    for (int i = 0; i < team->size; i++) pull(team, i, (aside ? aside : dest) + at[i], source, at[i + 1] - at[i], call);
    meet_again(team, call);
    if (aside) hm_device_move(dest, aside, total, call);
    free(aside);
    free(at);
}

void hm_device_alltoall(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size, const char *call)
{
    size_t to_block = nelems * (size_t)dst * size, from_block = nelems * (size_t)sst * size;
    hm_sync_enter(&team->sync, purpose, call);
    for (int k = 0; k < team->size && nelems; k++) {
        int i = team->me + k < team->size ? team->me + k : team->me + k - team->size;
        char *to = dest + (size_t)i * to_block;
        const char *from = source + (size_t)team->me * from_block;
        if (dst == 1 && sst == 1)
            pull(team, i, to, from, nelems * size, call);
        else
            hm_iget(&hm_ctx_inner, to, from, dst, sst, 1, nelems, size, hm_team_pe(team, i), call);
    }
    meet_again(team, call);
}

/* Member i alone reads and writes the i-th part of everybody's vectors, so source may be dest. */
void hm_device_reduce(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source, size_t n,
                      size_t size, hm_kernel *combine, const char *call)
{
    size_t first, count = hm_share_of(n, team->me, team->size, &first), chunk = CHUNK_BYTES / size;
    char *acc = room(CHUNK_BYTES, call), *next = room(CHUNK_BYTES, call);
    hm_sync_enter(&team->sync, purpose, call);
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size;
        pull(team, 0, acc, source + at, k * size, call);
        for (int i = 1; i < team->size; i++) {
            pull(team, i, next, source + at, k * size, call);
            combine(acc, acc, next, k);
        }
        for (int i = 0; i < team->size; i++) push(team, i, dest + at, acc, k * size, call);
    }
    meet_again(team, call);
    free(next);
    free(acc);
}

void hm_device_scan(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source, size_t n,
                    size_t size, bool inclusive, hm_kernel *add, const char *call)
{
    size_t first, count = hm_share_of(n, team->me, team->size, &first), chunk = CHUNK_BYTES / size;
    char *acc = room(CHUNK_BYTES, call), *next = room(CHUNK_BYTES, call);
    hm_sync_enter(&team->sync, purpose, call);
    for (size_t done = 0; done < count; done += chunk) {
        size_t k = count - done < chunk ? count - done : chunk, at = (first + done) * size, bytes = k * size;
        memset(acc, 0, bytes);
        for (int i = 0; i < team->size; i++) { /* each source is read before the dest of the same member is written */
            pull(team, i, next, source + at, bytes, call);
            if (!inclusive) push(team, i, dest + at, acc, bytes, call);
            if (i)
                add(acc, acc, next, k);
            else
                memcpy(acc, next, bytes);
            if (inclusive) push(team, i, dest + at, acc, bytes, call);
        }
    }
    meet_again(team, call);
    free(next);
    free(acc);
}

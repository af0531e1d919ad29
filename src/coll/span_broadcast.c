/* The root sends to the leaders of the other machines, who send on while it comes. */
#include "coll/span.h"

enum {
    CHUNK = 512 << 10,
    CHAIN = 256 << 10, /* so many bytes for each machine go from one to the next: each sends them once */
};

struct tree {
    struct hm_team *team;
    int root, groups; /* the root's group; positions count from there */
    size_t bytes;
    bool chain;
};

static int group_at(const struct tree *t, int position) { return (t->root + position) % t->groups; }

/* The k-th child of a position, -1: there is none. */
static int child(const struct tree *t, int position, int k)
{
    if (t->chain) return k || position + 1 == t->groups ? -1 : position + 1;
    int step = 1;
    while (step <= position) step *= 2;
    long at = position + ((long)step << k);
    return k < 31 && at < t->groups ? (int)at : -1;
}

static void send(const struct tree *t, int position, const char *from, char *dest, size_t at, uint64_t flow)
{
    struct hm_sync *s = &t->team->sync;
    size_t bytes = t->bytes - at < CHUNK ? t->bytes - at : CHUNK;
    const uint64_t *word = &hm_span_slot_of(s)->flow[HM_FLOW_BROADCAST];
    for (int k = 0, next; (next = child(t, position, k)) >= 0; k++) {
        int group = group_at(t, next);
        hm_far_put_at(hm_place_at_leader(t->team, dest + at, group), from + at, bytes, true);
        hm_fence(&hm_ctx_inner);
        hm_far_amo_at(HM_AMO_SET, hm_span_place(s, group, word), sizeof *word, flow, 0);
    }
}

/* By the root and by the leaders of the other machines. */
static void pass_on(const struct tree *t, bool from_root, char *dest, const char *source, const char *call)
{
    struct hm_sync *s = &t->team->sync;
    int position = (s->span->mine - t->root + t->groups) % t->groups;
    uint64_t flow = (uint64_t)s->epoch << 32;
    for (size_t at = 0; at < t->bytes; at += CHUNK) {
        flow++;
        if (!from_root) hm_span_await(s, &hm_span_slot_of(s)->flow[HM_FLOW_BROADCAST], flow, call);
        send(t, position, from_root ? source : dest, dest, at, flow);
    }
    if (child(t, position, 0) >= 0) hm_quiet(&hm_ctx_inner);
}

void hm_span_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                       const char *call)
{
    struct hm_sync *s = &team->sync;
    struct tree t = {team, s->span->group_of[root], s->span->groups, bytes, false};
    bool here = s->span->mine == t.root;
    t.chain = bytes / CHAIN >= (size_t)t.groups;
    if (team->me == root || (!here && s->span->me == 0)) pass_on(&t, team->me == root, dest, source, call);
    if (!here) hm_span_meet_group(s, call); /* now all of it is in the leader's dest */
    if (team->me == root && !skip_root) hm_copy(dest, source, bytes);
    if (here && team->me != root) memcpy(dest, hm_member_at(team, root, source, bytes, call, "source"), bytes);
    if (!here && s->span->me) memcpy(dest, hm_leader_at(team, dest, bytes, call), bytes);
    hm_span_meet_group(s, call);
}

/* Collectives of teams on several machines whose data are too much for a meeting. Each is called behind the first meeting
 * of its collective; arguments have been checked. Inside a machine memory is mapped; a machine's leader keeps what has come
 * from others in its own dest, from where the other members copy it. */
#ifndef HM_COLL_SPAN_H
#define HM_COLL_SPAN_H

#include "coll/kernel.h"
#include "coll/member.h"
#include "core/span.h"

void hm_span_broadcast(struct hm_team *team, void *dest, const void *source, size_t bytes, int root, bool skip_root,
                       const char *call);
/* The block of member i begins at[i] bytes into dest, and ends where the next one begins. `apart`: source and dest do
 * not overlap. */
void hm_span_collect(struct hm_team *team, char *dest, const void *source, const size_t *at, bool apart, const char *call);
void hm_span_alltoall(struct hm_team *team, char *dest, const char *source, size_t bytes, const char *call);
/* What far member i has for this one: nelems elements, from_step bytes apart, to to_step bytes apart. */
void hm_span_pull_strided(struct hm_team *team, int i, char *to, const char *from, size_t to_step, size_t from_step,
                          size_t nelems, size_t size);
void hm_span_reduce(struct hm_team *team, void *dest, const void *source, size_t n, size_t size, hm_kernel *combine,
                    const char *call);
void hm_span_scan(struct hm_team *team, void *dest, const void *source, size_t n, size_t size, bool inclusive,
                  hm_kernel *add, const char *call);

/* Words of struct hm_span_slot.flow. */
enum {
    HM_FLOW_BROADCAST, /* epoch << 32 | chunks that have come */
    HM_FLOW_PARTS,     /* 2 words: parts of this machine's share of a reduction that have come */
    HM_FLOW_RESULTS = HM_FLOW_PARTS + 2, /* 2 words: pieces of its result */
};

/* [addr, addr + bytes) of this machine's leader, mapped here. */
HM_INLINE char *hm_leader_at(const struct hm_team *team, const void *addr, size_t bytes, const char *call)
{
    const struct hm_span *span = team->sync.span;
    return hm_symm_reach_mapped(addr, bytes, span->group[span->mine].leader, call, "dest");
}
HM_INLINE struct hm_place hm_place_at_leader(const struct hm_team *team, const void *addr, int group)
{
    return hm_far_place(addr, team->sync.span->group[group].leader);
}
/* The k-th group behind this one, in a circle: so that not all send to one at once. */
HM_INLINE int hm_next_group(const struct hm_span *span, int k)
{
    return span->mine + k < span->groups ? span->mine + k : span->mine + k - span->groups;
}

#endif

/* Teams whose members are on several machines. Those on one machine are a group, with the first of them as its leader.
 *
 * A meeting: the members of a group come to the counter in their job memory; the leaders tell each other, by writing into
 * cells in each other's work memory; then each leader releases its group. What members bring lies in the room behind
 * the cells of each leader, group by group, and travels with what the leaders say.
 *
 * Nothing of one meeting can be late: a leader has seen every cell that is written for it before it leaves. So cells may
 * be used again in the next meeting but one, and by another team when all members have gone.
 */
#ifndef HM_SPAN_H
#define HM_SPAN_H

#include "base/base.h"
#include "core/order.h"
#include "core/place.h"
#include "core/sync.h"
#include "core/work.h"

#define HM_SPAN_SLOTS (HM_TEAM_SLOTS / 2) /* the first slot for such teams; that of the world is 0 */

struct hm_group {
    int leader; /* world number */
    int first;  /* its members are at[first], at[first + 1], ... */
    int size;
};

struct hm_span {
    int groups, mine; /* in the order of their first members; this machine's */
    int me;           /* this PE's number in its group: 0 leads */
    struct hm_group *group;
    int32_t *at;       /* [size] members, by their numbers in the team, group by group */
    int32_t *place;    /* [size] where in `at` a member is */
    int32_t *group_of; /* [size] */
    size_t step;       /* bytes between what two members brought to the last meeting */
};

/* What each leader keeps for one team in its work memory. */
enum { HM_SPAN_CELLS = 64, HM_SPAN_FLOWS = 16, HM_SPAN_ROUNDS = 12 /* log2 of all PEs there can be */ };
struct hm_span_slot { /* HM_WORK_CELLS_BYTES */
    HM_ALIGNED(HM_LINE) uint64_t cell[2][HM_SPAN_CELLS]; /* [epoch & 1][message]: epoch << 32 | hash of another group */
    HM_ALIGNED(HM_LINE) uint64_t flow[HM_SPAN_FLOWS];    /* for collective algorithms: 0 between them, or with an epoch */
    HM_ALIGNED(HM_LINE) uint32_t arrived; /* epoch of the last meeting that this leader has told others of */
    struct hm_purpose purpose; /* of the last meeting, for the message */
    char call[32];
    /* the same of meetings on streams, by dissemination: core/stream_meet.c */
    HM_ALIGNED(HM_LINE) uint64_t stream_cell[2][HM_SPAN_ROUNDS];
    struct hm_stream_member stream;
};
_Static_assert(sizeof(struct hm_span_slot) <= HM_WORK_CELLS_BYTES, "cells must fit their place");
_Static_assert(2 * HM_SYNC_DATA <= HM_WORK_MEMBER_BYTES, "what a member brings must fit its room");

/* NULL: all members are on this machine. */
struct hm_span *hm_span_open(const struct hm_sync *s);
void hm_span_meet(struct hm_sync *s, uint64_t arrival, uint64_t hash, const char *call);
/* The members of this machine alone meet once more. */
void hm_span_meet_group(struct hm_sync *s, const char *call);
void hm_span_announce(struct hm_sync *s);
/* The first PE of the groups that have not come, as far as this machine knows, or -1; how many they are. */
int hm_span_missing(const struct hm_sync *s, int *missing);

HM_INLINE int hm_span_here(const struct hm_span *span) { return span->group[span->mine].size; }
HM_INLINE bool hm_span_is_here(const struct hm_span *span, int i) { return span->group_of[i] == span->mine; }
/* World number of the i-th member on this machine, whether it has opened its place already or not. */
HM_INLINE int hm_sync_world_here(const struct hm_sync *s, int i)
{
    return hm_sync_world(s, s->span ? s->span->at[s->span->group[s->span->mine].first + i] : i);
}

/* Places in the work memory of a leader. */
struct hm_span_slot *hm_span_slot_of(const struct hm_sync *s); /* this machine's */
char *hm_span_buffer(const struct hm_sync *s);                 /* this machine's; HM_WORK_BUFFER_BYTES */
struct hm_place hm_span_place(const struct hm_sync *s, int group, const void *mine); /* the same of another group's */
/* Adds to a word of struct hm_span_slot of some group, behind the puts of this PE to its leader so far. */
void hm_span_add(const struct hm_sync *s, int group, uint64_t *word, uint64_t value);
/* Waits, as leader, until a word of this machine's is `value` at least. */
void hm_span_await(struct hm_sync *s, const uint64_t *word, uint64_t value, const char *call);

/* Several PEs of several machines may find the job at fault: true for the one that says so. */
bool hm_span_claim_report(void);

/* Slots for teams on several machines, from the map of PE 0. -ENOSPC. */
int hm_span_slot_take(void);
void hm_span_slot_give(int slot);
/* That of an active set; the same for all who ask. */
int hm_span_slot_of_set(uint64_t key, const char *call);
/* This member leaves the team for good. The slot is as before the first use when the last has left, and free then if
 * `give`; else (at finalize) the map is going, too. */
void hm_span_leave(struct hm_sync *s, bool give);

#endif

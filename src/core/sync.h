/* Where the members of a team meet. Every collective begins with hm_sync_enter: a barrier that also checks that all
 * members have come for the same thing, and says who did not.
 *
 * A team slot in job memory holds, per member, its arrival words and two small buffers. A member's arrival carries the
 * epoch (the how-manieth collective of the team) and a hash of kind, type, size and root. With a core for each PE the
 * members meet by dissemination, with fewer cores at one counter. The members of a team on several machines meet at the
 * counter of each, and their machines among themselves (core/span.h).
 *
 * Broadcasts of a team on one machine meet nobody: they go through the ring of the team, see coll/ring.c, and have numbers of
 * their own. The next meeting compares what they were.
 */
#ifndef HM_SYNC_H
#define HM_SYNC_H

#include "base/base.h"
#include "boot/job.h"

enum hm_coll_kind {
    HM_COLL_BARRIER, HM_COLL_SYNC, HM_COLL_FINALIZE, HM_COLL_MALLOC, HM_COLL_CALLOC, HM_COLL_ALIGN,
    HM_COLL_HINTS, HM_COLL_REALLOC, HM_COLL_FREE, HM_COLL_SPLIT, HM_COLL_SPLIT_2D, HM_COLL_DESTROY,
    HM_COLL_BROADCAST, HM_COLL_COLLECT, HM_COLL_FCOLLECT, HM_COLL_ALLTOALL, HM_COLL_ALLTOALLS, HM_COLL_REDUCE,
    HM_COLL_INSCAN, HM_COLL_EXSCAN, HM_COLL_AGREE, HM_COLL_INNER, /* a later meeting inside one collective */
    HM_COLL_KINDS
};

/* What a member has come for. Everything that must be equal on all members is in here; the rest is for the message. */
struct hm_purpose {
    uint8_t kind;   /* enum hm_coll_kind */
    uint8_t type;   /* enum hm_kind of a reduction or scan, element size of typed collectives, 0 */
    uint8_t op;     /* enum hm_op of a reduction, 0 */
    uint8_t slots;  /* 1: the members bring the data of a collective to the meeting */
    int32_t root;   /* broadcast; split: see team.c */
    uint64_t size;  /* bytes (of a collect, where members may differ: up to how many they bring to the meeting) */
    uint64_t dest;  /* symmetric offset of dest (free, realloc: of the block), 0 where there is none */
};

struct hm_member { /* HM_TEAM_MEMBER_BYTES, written by the member alone except flag */
    HM_ALIGNED(HM_LINE) uint64_t arrival; /* epoch << 32 | hash */
    uint32_t world_pe;
    struct hm_purpose purpose; /* of that epoch, for the message */
    char call[32];
    HM_ALIGNED(HM_LINE) uint64_t flag[2][12]; /* dissemination: [epoch & 1][round], written by the partner */
    HM_ALIGNED(HM_LINE) char data[2][256];    /* small payloads, [epoch & 1] */
    HM_ALIGNED(HM_LINE) struct hm_stream_member { /* its meetings on streams: core/stream_meet.c */
        uint64_t epoch;     /* of the last one it has come to */
        uint64_t arrival;   /* the same and the hash, as above */
        uint64_t before[2]; /* what was in sum[epoch & 1] of the meeting when that was over */
        struct hm_purpose purpose;
        char call[48];
    } stream;
    HM_ALIGNED(HM_LINE) struct hm_ring_member {
        uint64_t taken; /* number of the last broadcast that this member is through with */
        uint64_t at;    /* of the last one for which it has waited */
        uint64_t size;  /* bytes of the last one before the last meeting, */
        int32_t root;   /* whose they were, */
        char call[36];  /* and the call: for the message */
    } ring;
};
#define HM_SYNC_DATA 256

struct hm_ring_slot { /* two lines, written by the root of that broadcast */
    HM_ALIGNED(HM_LINE) uint64_t number; /* last: then the rest is there */
    uint64_t size; /* of the whole message: this and the next two must be as each member says */
    int32_t root;
    uint32_t in_slots; /* the bytes are here or in the cell; 0: they are read where they are */
    char data[100];    /* if they fit */
    uint32_t readers;  /* that are not through with what is read where it is */
};
_Static_assert(HM_JOB_MAX_PES <= 1 << 12, "a member fits beside the number of a broadcast");
_Static_assert(sizeof(struct hm_ring_slot) * HM_RING_SLOTS == HM_RING_BYTES, "the ring fills its place");

/* What a member knows of the ring of its team. */
struct hm_ring {
    struct hm_ring_slot *slot; /* [HM_RING_SLOTS]; NULL: the team is on several machines and has none */
    char *cell;       /* of HM_CELL_BYTES each; NULL: the team has none */
    uint64_t count;   /* number of the last broadcast that this member is through with */
    uint64_t settled; /* all members are through with those up to here */
    uint64_t digest;  /* of those since the last meeting; 0: there were none */
    uint64_t size;    /* of the last one, as what the members show each other */
    int32_t root;
    const char *call, *shown;
};

struct hm_meeting { /* HM_TEAM_HEAD_BYTES */
    HM_ALIGNED(HM_LINE) uint64_t counter; /* arrivals << 48 | sum of hashes (48 bits) */
    HM_ALIGNED(HM_LINE) struct hm_bell bell; /* seq is the generation that the counter's meeting releases */
    HM_ALIGNED(HM_LINE) uint32_t users; /* members that have left for good */
    uint32_t ring_used;   /* the ring is not as it was made */
    uint64_t ring_waiter; /* the broadcast that all are to be through with << 12 | the member that waits for it; 0: nobody */
    HM_ALIGNED(HM_LINE) struct hm_stream_meeting { /* of the members of this machine, on streams: core/stream_meet.c */
        uint64_t count;   /* arrivals since the slot was made */
        uint64_t sum[2];  /* of the hashes of those that came in even and in odd epochs */
        uint64_t release; /* several machines: the epoch whose meeting is over */
    } stream;
};
_Static_assert(offsetof(struct hm_meeting, bell) == HM_TEAM_BELL_AT, "the launcher wakes who sleeps there");

enum hm_sync_way { HM_SYNC_DISSEMINATION, HM_SYNC_COUNTER, HM_SYNC_SPAN };

struct hm_span;
struct hm_sync {
    struct hm_meeting *meeting;
    struct hm_member *member; /* [here] */
    struct hm_member *own;    /* this PE's */
    uint32_t slot;
    uint32_t epoch; /* of the last collective entered */
    int me, size, start, stride;
    int here;              /* members on this machine */
    enum hm_sync_way way;
    uint32_t carry;        /* bytes that each member brings to the next meeting */
    char *stage;           /* where they bring what is more than HM_SYNC_DATA; NULL: the team has no room for that */
    const int32_t *list;   /* world numbers of the members, where they are no affine set; NULL: they are */
    struct hm_span *span;  /* NULL: all members are on this machine */
    struct hm_ring ring;
    /* of the last collective: the next one is most often the same */
    struct hm_purpose last;
    const char *last_call;
    uint64_t last_hash;
};

/* World number of member i. */
HM_INLINE int hm_sync_world(const struct hm_sync *s, int i)
{
    return hm_unlikely(s->list != NULL) ? s->list[i] : s->start + i * s->stride;
}

/* The i-th of the members on this machine; where there are no others, the i-th member. */
HM_INLINE struct hm_member *hm_sync_member(const struct hm_sync *s, int i)
{
    return (struct hm_member *)((char *)s->member + (size_t)i * HM_TEAM_MEMBER_BYTES);
}

/* Enters the next collective of the team: returns when all members have entered it. What a member had put there before
 * (hm_sync_mine) can be read by all after it, until they enter the next. Ends the job with a sentence when members came
 * for different things. */
void hm_sync_enter(struct hm_sync *s, const struct hm_purpose *purpose, const char *call);
/* Says for what this member has come, where it may wait without a meeting. */
void hm_sync_announce(struct hm_sync *s, const struct hm_purpose *purpose, const char *call);
/* A further meeting inside the same collective (for instance: the end). */
void hm_sync_again(struct hm_sync *s, const char *call);

/* All members bring so many bytes to the coming meeting, at most HM_SYNC_DATA; also said by those whose bytes nobody
 * reads. */
HM_INLINE void hm_sync_carry(struct hm_sync *s, size_t bytes) { s->carry = (uint32_t)bytes; }
/* The same, and where to put them. */
HM_INLINE void *hm_sync_mine(struct hm_sync *s, size_t bytes)
{
    hm_sync_carry(s, bytes);
    return s->own->data[(s->epoch + 1) & 1];
}
/* What member i had put there, after hm_sync_enter. */
HM_COLD const void *hm_span_theirs(const struct hm_sync *s, int i);
HM_INLINE const void *hm_sync_theirs(const struct hm_sync *s, int i)
{
    return hm_unlikely(s->span != NULL) ? hm_span_theirs(s, i) : hm_sync_member(s, i)->data[s->epoch & 1];
}

/* The same for data that are more, up to hm_sync_room(s): a team on several machines has no more. */
HM_INLINE size_t hm_sync_room(const struct hm_sync *s) { return s->stage ? HM_STAGE_BYTES : HM_SYNC_DATA; }
HM_INLINE char *hm_sync_stage(const struct hm_sync *s, int i, uint32_t epoch)
{
    return s->stage + ((size_t)i * 2 + (epoch & 1)) * HM_STAGE_BYTES;
}
HM_INLINE void *hm_sync_bring(struct hm_sync *s, size_t bytes)
{
    return bytes <= HM_SYNC_DATA ? hm_sync_mine(s, bytes) : hm_sync_stage(s, s->me, s->epoch + 1);
}
HM_INLINE const void *hm_sync_brought(const struct hm_sync *s, int i, size_t bytes)
{
    return bytes <= HM_SYNC_DATA ? hm_sync_theirs(s, i) : hm_sync_stage(s, i, s->epoch);
}

/* A free team slot in job memory, for members of this machine; -ENOSPC when all are taken. In a job on several machines
 * these are the slots below HM_SPAN_SLOTS; the rest, from there on, is for teams on more than one. */
int hm_sync_slot_take(void);
void hm_sync_slot_give(int slot);
/* As the first members of a new team want it, `here` of which are on this machine: by one of them, or by the last
 * of the team before it. */
void hm_sync_slot_clear(int slot, int here);
/* `list`: the world numbers of the members, kept by the caller, or NULL where they are start + i * stride. */
void hm_sync_open(struct hm_sync *s, int slot, int start, int stride, int size, int me, const int32_t *list);
void hm_sync_close(struct hm_sync *s);

/* A PE asleep in a meeting, of a team or of two: ends the job with a sentence when it can never happen (deadlock.c). */
struct hm_wait;
void hm_deadlock_look(struct hm_wait *w);

const char *hm_coll_name(enum hm_coll_kind kind);
uint64_t hm_sync_hash(const struct hm_purpose *p);

/* --- what the meetings across machines share (span.c) --- */

/* The counter: arrivals in the upper 16 bits, below them the sum of 36-bit hashes, which 4096 members cannot overflow. */
#define HM_SYNC_ARRIVAL (1ull << 48)
#define HM_SYNC_HASH_MASK ((1ull << 36) - 1)
/* Begins a wait in a meeting of the team. */
void hm_sync_wait_begin(struct hm_wait *w, struct hm_sync *s, const char *call, struct hm_bell *bell);
/* In a wait for broadcast `number`, or in a meeting (0): ends the job with a sentence when a member is elsewhere in the order of
 * the team's collectives and can never come. `root`: who is to send, or -1. */
void hm_sync_look_for_stray(const struct hm_sync *s, uint64_t number, int root, const char *call);
/* Members of this machine came for different things: says who for what. */
void hm_sync_find_disagreement(const struct hm_sync *s, uint32_t hash, const char *call);
/* "shmem_malloc (64 bytes)" */
void hm_sync_describe(const struct hm_purpose *p, const char *name, char *text, size_t size);
HM_NORETURN void hm_sync_die_disagreed(const char *who, const char *what, const char *who_other,
                                       const char *what_other, const char *call);
/* The same of two PEs: what each has come for, and by which call. */
HM_NORETURN HM_COLD void hm_sync_die_between(int pe, const struct hm_purpose *purpose, const char *name, int other,
                                             const struct hm_purpose *purpose_other, const char *name_other, const char *call);

#endif

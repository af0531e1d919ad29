/* Work memory: what each PE of a job on several machines keeps for the library's own traffic between machines. It is one
 * memfd a PE, mapped by the PEs of its machine (hm_symm.peer[].work) and reached from others as HM_SEGMENT_WORK. Jobs on
 * one machine have none.
 *
 *     struct hm_work | npes x u32 pairs | HM_TEAM_SLOTS x hm_work_slot_bytes(npes)
 *
 * Sparse as job memory is, and zero is the first state of everything.
 */
#ifndef HM_WORK_H
#define HM_WORK_H

#include "base/base.h"
#include "boot/job.h"

/* The meeting that a PE sleeps in, for those who look for a deadlock. `beat` grows with each of its looks: while it does, it
 * still sleeps there. */
struct hm_stuck {
    uint64_t beat, since;
    uint32_t kind; /* enum hm_blocked_kind */
    uint32_t team_slot, epoch;
    int32_t pe; /* for whom, world number; -1: nobody in particular */
    char call[48];
};

/* Of PE 0's alone, for all: team slots that more than one machine uses. Changed through atomics on them only. */
struct hm_work {
    HM_ALIGNED(HM_LINE) uint64_t slot_map[HM_TEAM_SLOTS / 64];
    uint64_t set_key[HM_TEAM_SLOTS];   /* active sets: which one a slot serves; 0 none */
    uint64_t set_lock; /* held while a set is looked for */
    uint64_t slot_users[HM_TEAM_SLOTS]; /* members that have left for good */
    uint64_t reported; /* 1 + the PE that says that the machines of a team do not agree; 0: none yet */
    /* Of each PE's. */
    HM_ALIGNED(HM_LINE) struct hm_stuck stuck;
    HM_ALIGNED(4096) char end[0];
};

/* pairs[i]: how often PE i has come to meet this one (shmemx_sync_pe). */
static inline size_t hm_work_pairs_at(void) { return sizeof(struct hm_work); }
static inline size_t hm_work_slots_at(int npes)
{
    return hm_round_up(hm_work_pairs_at() + (size_t)npes * sizeof(uint32_t), 4096);
}

/* What a member keeps for one team: cells where leaders of other machines tell that they have arrived, room for what
 * members bring to a meeting, and a buffer for collectives. core/span.h says what is in there. */
#define HM_WORK_CELLS_BYTES 16384
#define HM_WORK_MEMBER_BYTES 512
#define HM_WORK_BUFFER_BYTES (512 << 10)
static inline size_t hm_work_slot_bytes(int npes)
{
    return HM_WORK_CELLS_BYTES + hm_round_up((size_t)npes * HM_WORK_MEMBER_BYTES, 4096) + HM_WORK_BUFFER_BYTES;
}
static inline size_t hm_work_slot_at(int npes, int slot)
{
    return hm_work_slots_at(npes) + (size_t)slot * hm_work_slot_bytes(npes);
}
static inline size_t hm_work_bytes(int npes) { return hm_work_slot_at(npes, HM_TEAM_SLOTS); }

#endif

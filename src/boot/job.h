/* The job as the PEs of one machine and their launcher see it: the layout of the shared job memory, and the messages
 * between a PE and its launcher. Both sides compile this file; HM_JOB_VERSION says whether they agree.
 *
 * Job memory is one memfd, made by the launcher (or by a PE that runs alone):
 *
 *     struct hm_job | npes x struct hm_pe_page | npes x npes u32 pair counters | HM_TEAM_SLOTS x team slot |
 *     npes x HM_AGENT_BYTES
 *
 * where npes are the PEs of this machine, by their numbers among them (core/place.h).
 *
 * It is sparse: what nobody touches costs nothing. All of it starts as zero bytes, and zero is the valid first state of
 * everything in it.
 */
#ifndef HM_JOB_H
#define HM_JOB_H

#include "base/base.h"

#define HM_JOB_MAGIC 0x68626d6573680001ull
#define HM_JOB_VERSION 7u
#define HM_JOB_MAX_PES 4096
#define HM_TEAM_SLOTS 1024

/* Where threads of a PE sleep. Whoever changes memory that a PE may wait for looks at `sleepers` afterwards; if it is not
 * zero and the change touches [lo, hi), he adds 1 to `seq` and wakes it (FUTEX_WAKE, all). The range spans what all the
 * sleepers wait for, so that a stream of puts to a PE that waits for a flag wakes it once, not each time. Bit 31 of
 * sleepers is set for good when membarrier cannot be used: then the one who looks must first issue a full fence and look
 * again (core/wait.h). `lock` is between the sleepers. */
struct hm_bell {
    uint32_t seq;
    uint32_t sleepers;
    uint64_t lo, hi;
    uint32_t lock, spare;
};
#define HM_BELL_NO_MEMBARRIER 0x80000000u

enum hm_pe_state {
    HM_PE_ABSENT,    /* has not said hello */
    HM_PE_STARTED,   /* said hello: has joined the job, init not complete */
    HM_PE_READY,     /* between init and the last finalize */
    HM_PE_FINALIZED, /* left by finalize; may say hello again */
    HM_PE_LEAVING,   /* exit() with a non-zero status runs; `status` holds it */
    HM_PE_SAID,      /* dying, and has already printed the reason itself; `status` holds the exit status or 128+signal */
};

enum hm_blocked_kind {
    HM_BLOCKED_NOT,
    HM_BLOCKED_WORD,  /* wait_until and its family, signal_wait_until: addr, cmp, want */
    HM_BLOCKED_TEAM,  /* a collective: team slot, epoch; pe: the first member that has not arrived (-1 unknown) */
    HM_BLOCKED_LOCK,  /* set_lock: addr; pe: where the lock lives */
    HM_BLOCKED_PAIR,  /* shmemx_sync_pe: pe */
    HM_BLOCKED_START, /* in init, waits for other PEs to join */
    HM_BLOCKED_AGENT, /* pe: whose agent is to do something to its device memory */
    HM_BLOCKED_STREAM, /* a stream of the program's: for a word (addr) or members (team_size); neither: the host for streams */
    HM_BLOCKED_CLAIMED, /* being written: nothing to read yet */
};

/* What one thread of a PE waits for. Published when the wait begins to yield or to sleep, so a short wait pays nothing.
 * Written by hm_blocked_publish, read by hm_blocked_read. */
struct hm_blocked {
    uint32_t kind;  /* enum hm_blocked_kind; claimed by compare-and-swap from HM_BLOCKED_NOT */
    int32_t pe;     /* for whom, world number; -1: nobody in particular */
    uint64_t since; /* CLOCK_MONOTONIC, ns */
    uint64_t addr;  /* the address waited on, as this PE sees it */
    int64_t offset; /* of addr in its segment; -1: not symmetric */
    uint32_t in_heap; /* 0 static data, 1 heap, 2 device heap */
    uint32_t team_slot;
    int32_t team_start, team_stride, team_size; /* the team by world numbers */
    int32_t missing; /* members that have not arrived, as counted when it went to sleep */
    int32_t cmp;     /* SHMEM_CMP_* */
    uint32_t epoch;  /* of the collective */
    int64_t want, have;
    uint32_t word; /* 1 + enum hm_word of the word at addr; 0: not one word alone */
    char call[48]; /* the API call, NUL-terminated */
    uint32_t turn; /* how often the slot has been written */
};
#define HM_BLOCKED_SLOTS 8

/* A note is read while it may be written: word by word, each whole, and between two looks at its turn. */
typedef uint32_t __attribute__((may_alias)) hm_blocked_word;
#define HM_BLOCKED_FIRST (offsetof(struct hm_blocked, pe) / sizeof(hm_blocked_word))
#define HM_BLOCKED_LAST (offsetof(struct hm_blocked, turn) / sizeof(hm_blocked_word))
_Static_assert(offsetof(struct hm_blocked, turn) % sizeof(hm_blocked_word) == 0, "a note is words, its turn the last");

/* The slot is the writer's: its kind is HM_BLOCKED_CLAIMED. */
static inline void hm_blocked_write(struct hm_blocked *slot, const struct hm_blocked *note)
{
    const hm_blocked_word *from = (const hm_blocked_word *)note;
    hm_blocked_word *to = (hm_blocked_word *)slot;
    __atomic_store_n(&slot->turn, slot->turn + 1, __ATOMIC_RELAXED);
    for (size_t i = HM_BLOCKED_FIRST; i < HM_BLOCKED_LAST; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE); /* who sees one of them sees the new turn */
    __atomic_store_n(&slot->kind, note->kind, __ATOMIC_RELEASE);
}

/* False: nobody waits there, or it was written meanwhile. */
static inline bool hm_blocked_read(const struct hm_blocked *slot, struct hm_blocked *note)
{
    const hm_blocked_word *from = (const hm_blocked_word *)slot;
    hm_blocked_word *to = (hm_blocked_word *)note;
    note->turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
    note->kind = __atomic_load_n(&slot->kind, __ATOMIC_ACQUIRE);
    if (note->kind == HM_BLOCKED_NOT || note->kind >= HM_BLOCKED_CLAIMED) return false;
    for (size_t i = HM_BLOCKED_FIRST; i < HM_BLOCKED_LAST; i++) to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->turn, __ATOMIC_RELAXED) == note->turn;
}

struct hm_pe_page {
    /* line 0: read by everybody, written at start and end only */
    uint32_t state; /* enum hm_pe_state */
    int32_t status;
    int32_t pid;
    uint32_t thread_level;
    uint64_t heap_bytes;      /* size of this PE's heap */
    uint64_t heap_committed;  /* filled in by whoever reports a SIGBUS; 0 otherwise */
    HM_ALIGNED(HM_LINE) uint64_t yielded; /* when it did last, and where: core/even.h. 0: it does not want to run */
    HM_ALIGNED(HM_LINE) struct hm_bell meet_bell; /* sleepers in meetings */
    HM_ALIGNED(HM_LINE) struct hm_bell lock_bell; /* sleepers on locks whose home is this PE */
    HM_ALIGNED(HM_LINE) struct hm_blocked blocked[HM_BLOCKED_SLOTS];
    char gap[4096 - 5 * HM_LINE - HM_BLOCKED_SLOTS * sizeof(struct hm_blocked)];
    HM_ALIGNED(HM_LINE) struct hm_bell bell; /* sleepers on words of this PE's symmetric memory */
} HM_ALIGNED(4096);

/* Behind each put and atomic comes a look at the bell. A processor lets a load wait for the store before it where both have
 * the same place in their pages, so the bell is where a page seldom has words that are written again and again: at its end. */
_Static_assert(offsetof(struct hm_pe_page, bell) == 4096 - HM_LINE && sizeof(struct hm_pe_page) == 4096,
               "the bell is the last line of its page");

/* Who puts reads line 0 and the bell each time: what sleepers write is elsewhere, but for the bell that he is to see. */
_Static_assert(sizeof(struct hm_bell) <= HM_LINE, "a bell is read and written as one line");
_Static_assert(offsetof(struct hm_pe_page, meet_bell) % HM_LINE == 0 && offsetof(struct hm_pe_page, lock_bell) % HM_LINE == 0 &&
               offsetof(struct hm_pe_page, blocked) % HM_LINE == 0,
               "what different PEs write lies on lines of its own");

/* A ticket of a lock whose owner has gone (core/lock.c). */
struct hm_abandoned {
    uint32_t state; /* its lowest bits say what the entry is; the rest grows with each change: none is mistaken */
    uint32_t ticket;
    uint64_t lock;  /* offset of the lock << 1, + 1 in the heap */
};
#define HM_ABANDONED_MAX 256

/* Whether strangers compute on the cores (core/crowd.h). Times are CLOCK_MONOTONIC, ns. */
struct hm_crowd {
    uint64_t until;      /* till then waits sleep at once */
    uint64_t span;       /* for how long that was said last */
    uint64_t long_yield; /* when the last yield came back that had gone to somebody who computes */
    uint64_t even_at;    /* when some PE looks whether the cores have as many PEs each (core/even.h) */
    int32_t asleep;      /* threads that sleep in waits */
};

struct hm_job {
    uint64_t magic;
    uint32_t version;
    int32_t npes;
    uint64_t bytes;         /* of the whole job memory */
    uint32_t stopping;      /* 1: global_exit was called (status in exit_status), 2: the job is being killed */
    int32_t exit_status;
    uint32_t exit_claim; /* a PE has called global_exit first: its status counts */
    uint32_t oversubscribed; /* more PEs than usable cores on this machine (set by PE 0 at init) */
    uint32_t cores;
    uint32_t reported; /* 1 + the PE that says why the job ends; 0: none yet */
    uint64_t slot_map[HM_TEAM_SLOTS / 64]; /* team slots in use */
    HM_ALIGNED(HM_LINE) uint32_t watchman; /* 1 + the PE that looks at sleepers' words for all; 0: nobody (core/watch.h) */
    uint32_t watch_slow;                   /* it looks less often than once a millisecond */
    uint32_t watched;                      /* sleepers that rely on it */
    HM_ALIGNED(HM_LINE) struct hm_crowd crowd;
    HM_ALIGNED(HM_LINE) uint32_t aset_lock;
    uint64_t set_key[HM_TEAM_SLOTS]; /* active sets: which one a team slot serves; 0 none. Under aset_lock */
    HM_ALIGNED(HM_LINE) uint32_t abandoned_count; /* tickets in the table, or about to be; most often 0 */
    HM_ALIGNED(HM_LINE) struct hm_abandoned abandoned[HM_ABANDONED_MAX];
    HM_ALIGNED(4096) char end[0];
} HM_ALIGNED(4096);

/* Bytes that one member has in a team slot: see core/sync.h for what is in there. */
#define HM_TEAM_MEMBER_BYTES 1024
#define HM_TEAM_HEAD_BYTES 512
#define HM_TEAM_BELL_AT 64 /* in the head: where members sleep; woken, never rung, as its number counts meetings */

static inline size_t hm_job_pages_at(void) { return sizeof(struct hm_job); }
static inline size_t hm_job_pairs_at(int npes) { return hm_job_pages_at() + (size_t)npes * sizeof(struct hm_pe_page); }
/* A row of counters is written by one PE alone, in lines of its own. */
static inline size_t hm_job_pairs_row(int npes) { return hm_round_up((size_t)npes * sizeof(uint32_t), HM_LINE); }
static inline size_t hm_job_slots_at(int npes)
{
    return hm_round_up(hm_job_pairs_at(npes) + (size_t)npes * hm_job_pairs_row(npes), 4096);
}
/* In a team slot, behind the members: what broadcasts of the team go through, see core/sync.h. */
enum { HM_RING_SLOTS = 64, HM_RING_BYTES = HM_RING_SLOTS * 2 * HM_LINE };
static inline size_t hm_job_ring_at(int npes) /* in the slot */
{
    return hm_round_up(HM_TEAM_HEAD_BYTES + (size_t)npes * HM_TEAM_MEMBER_BYTES, 4096);
}
static inline size_t hm_job_slot_bytes(int npes) { return hm_round_up(hm_job_ring_at(npes) + HM_RING_BYTES, 4096); }
/* Where PEs of this machine put requests for the agent of a PE with a device heap (core/agent.c). */
#define HM_AGENT_BYTES 65536
static inline size_t hm_job_agents_at(int npes) { return hm_job_slots_at(npes) + HM_TEAM_SLOTS * hm_job_slot_bytes(npes); }
/* Room for what members bring to a meeting that is more than a team slot holds: of the first team slots only, since the
 * others are for teams made and left again; two for each member, for odd and even meetings. */
enum { HM_STAGE_SLOTS = 8, HM_STAGE_BYTES = 16384 };
static inline size_t hm_job_stages_at(int npes) { return hm_job_agents_at(npes) + (size_t)npes * HM_AGENT_BYTES; }
/* And the cells of their rings, for what is more than a slot of the ring holds. */
enum { HM_CELL_BYTES = 4096 };
static inline size_t hm_job_cells_at(int npes)
{
    return hm_job_stages_at(npes) + (size_t)HM_STAGE_SLOTS * (size_t)npes * 2 * HM_STAGE_BYTES;
}
static inline size_t hm_job_bytes(int npes)
{
    return hm_job_cells_at(npes) + (size_t)HM_STAGE_SLOTS * HM_RING_SLOTS * HM_CELL_BYTES;
}
static inline struct hm_pe_page *hm_job_page(struct hm_job *job, int pe)
{
    return (struct hm_pe_page *)((char *)job + hm_job_pages_at()) + pe;
}

/* --- the wire between a PE and its launcher ---
 *
 * A SOCK_SEQPACKET socket pair per PE, made by the launcher; the PE's end is inherited over exec and named in the
 * environment as SHMEM_LAUNCH="<fd>:<inode of the socket>", so that a stale or reused number is never taken for it.
 * The process that talks on it first owns it until it is done (launcher: SO_PASSCRED); anybody else is refused.
 * SHMEM_PE, SHMEM_NPES and SHMEM_LOCAL_PE stand in the environment beside it.
 *
 * One message is one packet: struct hm_msg, then `len` bytes; descriptors travel in the same packet (SCM_RIGHTS).
 */
#define HM_LAUNCH_VAR "SHMEM_LAUNCH"
#define HM_MSG_MAX 16384
#define HM_MSG_FDS 128

enum hm_msg_type {
    /* PE -> launcher */
    HM_MSG_HELLO = 1, /* payload struct hm_hello. Answer: WELCOME or REFUSED */
    HM_MSG_GATHER,    /* arg: round (0, 1, ...); payload: this PE's bytes (same length on all, <= HM_GATHER_MAX), fds: its
                         descriptors (same number on all, <= 4). Answer, when all PEs have sent theirs: GATHERED ... */
    HM_MSG_EXIT_ALL,  /* arg: status. global_exit */
    HM_MSG_FINALIZED, /* this process has left the job by finalize; another may say hello */
    /* launcher -> PE */
    HM_MSG_WELCOME = 64, /* payload struct hm_welcome; fds: job memory, lifeline */
    HM_MSG_REFUSED,      /* payload: the reason, NUL-terminated */
    HM_MSG_GATHERED,     /* arg: first PE in this packet; payload: bytes of PEs arg, arg+1, ...; fds in the same order.
                            As many packets as needed, in ascending order, until all npes are there */
};
#define HM_GATHER_MAX 256

struct hm_msg {
    uint32_t type;
    int32_t arg;
    uint32_t len;
    uint32_t nfds;
};

struct hm_hello {
    uint32_t version; /* HM_JOB_VERSION */
    int32_t pid;
    uint64_t auxv_hash; /* 0: the launcher hashes /proc/PID/auxv itself, to tell an exec from a closed lifeline */
    char library[24];   /* version of the library, for the refusal */
};

struct hm_welcome {
    int32_t pe, npes;
    int32_t machine, machines;
    int32_t local_pe, local_npes;
};

/* The lifeline is a socket that only the PE holds, close-on-exec. The launcher sees its end when the process dies or
 * executes another program. */

#endif

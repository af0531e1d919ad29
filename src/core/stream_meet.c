/* Meetings and collectives on streams, as steps of the worker: see stream.h.
 *
 * They have counters of their own, as a PE may come to them while its host is in a collective of the same team. The
 * members of a machine count themselves in the team's slot of job memory, by a count that only grows: the meeting of
 * an epoch is over when it is epoch times members. Nobody comes to the next before, so each sum of hashes, of even
 * and of odd epochs, rests while it is read. On several machines the leaders go on by dissemination, in cells of
 * their work memory, and then release their members. A cell is used again in the next epoch but one, which nobody
 * begins before all have left this one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/far.h"
#include "core/order.h"
#include "core/rma.h"
#include "core/span.h"
#include "core/stream_op.h"
#include "core/world.h"

enum { CHUNK_BYTES = 256 << 10 }; /* as in coll/device.c: each chunk of each member costs a copy of the runtime */

/* The worker's operation of each team slot whose turn it is. */
static struct hm_stream_op *turn_of[HM_TEAM_SLOTS];

/* --- who came for what --- */

static HM_COLD void disagree(const struct hm_stream_op *op, const struct hm_stream_member *theirs, int their_pe)
{
    const struct hm_stream_member *mine = &op->team->sync.own->stream;
    char name[sizeof mine->call], name_other[sizeof theirs->call]; /* theirs may be half written */
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, mine->call);
    snprintf(name_other, sizeof name_other, "%.*s", (int)sizeof name_other - 1, theirs->call);
    hm_sync_die_between(hm_world.pe, &mine->purpose, name, their_pe, &theirs->purpose, name_other, op->call);
}

static HM_COLD void disagree_here(const struct hm_stream_op *op)
{
    const struct hm_sync *s = &op->team->sync;
    if (!hm_world_claim_report()) hm_world_die_silently(); /* several members may find the same */
    for (int i = 0; i < s->here; i++) {
        const struct hm_member *m = hm_sync_member(s, i);
        if (m->stream.arrival != s->own->stream.arrival) disagree(op, &m->stream, (int)m->world_pe);
    }
}

static HM_COLD void disagree_far(const struct hm_stream_op *op, int group)
{
    const struct hm_sync *s = &op->team->sync;
    struct hm_stream_member theirs;
    if (!hm_span_claim_report()) hm_world_die_silently();
    hm_far_get_at(&theirs, hm_span_place(s, group, &hm_span_slot_of(s)->stream), sizeof theirs, false);
    disagree(op, &theirs, s->span->group[group].leader);
}

/* --- meetings --- */

/* Their workers may sleep: see stream_worker.c. */
static void knock_at_members(const struct hm_sync *s)
{
    for (int i = 0; i < s->here; i++) hm_bell_knock(hm_symm.peer[hm_sync_world_here(s, i)].bell);
}

static void come(struct hm_stream_op *op)
{
    struct hm_sync *s = &op->team->sync;
    struct hm_stream_member *mine = &s->own->stream;
    struct hm_stream_meeting *m = &s->meeting->stream;
    uint64_t hash = hm_sync_hash(&op->purpose);
    mine->purpose = op->purpose;
    strncpy(mine->call, op->call, sizeof mine->call - 1);
    mine->epoch++;
    mine->arrival = mine->epoch << 32 | hash >> 32;
    __atomic_fetch_add(&m->sum[mine->epoch & 1], hash, __ATOMIC_RELAXED);
    __atomic_fetch_add(&m->count, 1, __ATOMIC_ACQ_REL);
    knock_at_members(s);
    op->has_come = true;
    op->has_told = false;
    op->round = 0;
}

/* The members of this machine. */
static bool all_here(const struct hm_stream_op *op)
{
    struct hm_sync *s = &op->team->sync;
    struct hm_stream_member *mine = &s->own->stream;
    struct hm_stream_meeting *m = &s->meeting->stream;
    uint64_t here = (uint64_t)s->here, *before = &mine->before[mine->epoch & 1];
    if (__atomic_load_n(&m->count, __ATOMIC_ACQUIRE) < mine->epoch * here) return false;
    uint64_t sum = __atomic_load_n(&m->sum[mine->epoch & 1], __ATOMIC_ACQUIRE);
    if (hm_unlikely(sum - *before != here * hm_sync_hash(&op->purpose))) disagree_here(op);
    *before = sum;
    return true;
}

int hm_stream_missing(const struct hm_stream_op *op, int *first)
{
    const struct hm_sync *s = &op->team->sync;
    int missing = 0;
    *first = -1;
    for (int i = 0; op->has_come && i < s->here; i++) {
        const struct hm_member *m = hm_sync_member(s, i);
        if (__atomic_load_n(&m->stream.epoch, __ATOMIC_RELAXED) >= s->own->stream.epoch) continue;
        if (!missing++) *first = hm_sync_world_here(s, i);
    }
    return missing;
}

static int group_at(const struct hm_span *span, int distance)
{
    int g = (span->mine + distance) % span->groups;
    return g < 0 ? g + span->groups : g;
}

/* One round of the leaders: false while the other one has not told. */
static bool round_is_over(struct hm_stream_op *op, int round)
{
    const struct hm_sync *s = &op->team->sync;
    const struct hm_stream_member *mine = &s->own->stream;
    uint64_t *cell = &hm_span_slot_of(s)->stream_cell[mine->epoch & 1][round];
    int far = 1 << round;
    if (!op->has_told) hm_far_tell(hm_span_place(s, group_at(s->span, far), cell), mine->arrival);
    op->has_told = true;
    uint64_t seen = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
    if ((uint32_t)(seen >> 32) != (uint32_t)mine->epoch) return false;
    if (hm_unlikely(seen != mine->arrival)) disagree_far(op, group_at(s->span, -far));
    op->has_told = false;
    return true;
}

static bool lead(struct hm_stream_op *op)
{
    struct hm_sync *s = &op->team->sync;
    if (!op->round) {
        if (!all_here(op)) return false;
        hm_span_slot_of(s)->stream = s->own->stream;
        op->round = 1;
    }
    for (; 1 << (op->round - 1) < s->span->groups; op->round++)
        if (!round_is_over(op, op->round - 1)) return false;
    __atomic_store_n(&s->meeting->stream.release, s->own->stream.epoch, __ATOMIC_RELEASE);
    knock_at_members(s);
    return true;
}

static bool is_released(const struct hm_sync *s)
{
    return __atomic_load_n(&s->meeting->stream.release, __ATOMIC_ACQUIRE) >= s->own->stream.epoch;
}

/* Has everybody come? May be asked until the answer is yes. */
static bool meet(struct hm_stream_op *op)
{
    struct hm_sync *s = &op->team->sync;
    if (s->size == 1) return true;
    if (!op->has_come) come(op);
    bool met = !s->span ? all_here(op) : s->span->me ? is_released(s) : lead(op);
    if (met) op->has_come = false;
    return met;
}

/* --- the turn of an operation among those of its team --- */

static bool has_turn(struct hm_stream_op *op)
{
    struct hm_stream_op **turn = &turn_of[op->team->sync.slot];
    if (*turn == op) return true;
    if (op->handle != op->team->handle || !(op->team->generation & 1))
        hm_die(op->call, "team: this team was destroyed before the stream came to this call; synchronise the stream "
               "first");
    if (*turn) return false;
    *turn = op;
    return true;
}

static int leave(struct hm_stream_op *op)
{
    turn_of[op->team->sync.slot] = NULL;
    return 1;
}

/* --- collectives --- */

int hm_stream_step_barrier(struct hm_stream_op *op)
{
    if (!has_turn(op)) return -EAGAIN;
    if (!op->phase) {
        hm_stream_complete();
        op->phase = 1;
    }
    return meet(op) ? leave(op) : -EAGAIN;
}

/* Between the meetings; the last part of each ends with a quiet. */
enum { BEGIN, WORK, END };

static int begin(struct hm_stream_op *op, bool empty)
{
    if (!meet(op)) return -EAGAIN;
    if (empty) return leave(op);
    op->phase = WORK;
    return 0;
}

static int worked(struct hm_stream_op *op)
{
    hm_quiet(hm_stream_ctx());
    op->phase = END;
    return 0;
}

static int end(struct hm_stream_op *op) { return meet(op) ? leave(op) : -EAGAIN; }

static int broadcast_piece(struct hm_stream_op *op)
{
    size_t at = op->at, left = op->bytes - at, n = left < HM_STREAM_PIECE ? left : HM_STREAM_PIECE;
    bool in_place = op->team->me == op->root && op->dest == op->source;
    if (!n || in_place) return worked(op);
    hm_get_slow(hm_stream_ctx(), op->dest + at, op->source + at, n, op->pe, false, op->call);
    op->at += n;
    return 0;
}

int hm_stream_step_broadcast(struct hm_stream_op *op)
{
    if (!has_turn(op)) return -EAGAIN;
    if (op->phase == BEGIN) return begin(op, !op->bytes);
    return op->phase == WORK ? broadcast_piece(op) : end(op);
}

static void take_share(struct hm_stream_op *op)
{
    size_t size = (size_t)op->team->size, me = (size_t)op->team->me, each = op->n / size, more = op->n % size;
    op->first = each * me + (me < more ? me : more);
    op->share = each + (me < more);
    op->acc = malloc(CHUNK_BYTES);
    op->more = malloc(CHUNK_BYTES);
    if (!op->acc || !op->more) hm_die(op->call, "out of memory for %d bytes of a reduction", 2 * CHUNK_BYTES);
}

static int reduced(struct hm_stream_op *op)
{
    free(op->acc);
    free(op->more);
    op->acc = op->more = NULL;
    return worked(op);
}

/* Member i alone reads and writes the i-th part of everybody's vectors, so source may be dest. A step is one member
 * of one chunk: first all are read, in the order of the team, then all are written. */
static int reduce_member(struct hm_stream_op *op)
{
    size_t size = op->sum.size, chunk = CHUNK_BYTES / size, left = op->share - op->at, k = left < chunk ? left : chunk;
    int n = op->team->size, i = op->member % n, pe = hm_team_pe(op->team, i);
    size_t offset = (op->first + op->at) * size;
    if (!k) return reduced(op);
    if (op->member < n)
        hm_get_slow(hm_stream_ctx(), i ? op->more : op->acc, op->source + offset, k * size, pe, false, op->call);
    else
        hm_put_slow(hm_stream_ctx(), op->dest + offset, op->acc, k * size, pe, false, op->call);
    if (op->member < n && i) op->sum.combine(op->acc, op->acc, op->more, k);
    if (++op->member < 2 * n) return 0;
    op->member = 0;
    op->at += k;
    return 0;
}

int hm_stream_step_reduce(struct hm_stream_op *op)
{
    if (!has_turn(op)) return -EAGAIN;
    if (op->phase == BEGIN) return begin(op, !op->n);
    if (op->phase == END) return end(op);
    if (!op->acc) take_share(op);
    return reduce_member(op);
}

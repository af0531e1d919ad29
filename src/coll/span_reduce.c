/* Reductions: a chunk of the vectors is divided into a share for each machine, and each share into a piece for each of the
 * members of a machine. A member combines its piece of every share, as far as its own machine goes, and sends that part to
 * the machine whose share it is. There the members combine the parts, in the order of the groups, and send the result to
 * all leaders. So everybody gets the same bits, and a machine sends and receives no more than twice its vector.
 *
 * The parts of the next chunk are under way while this one is completed. Parts lie in the leader's buffer, in two halves
 * for odd and even chunks: the next but one begins when all results of this one have come, so that its parts have been
 * read. A result is written to dest when everybody has read what lies there: source may be dest. */
#include "coll/span.h"

enum {
    HALF = HM_WORK_BUFFER_BYTES / 2,
    PIECE_BYTES = 16384, /* stays in the first-level cache while all parts pass through */
};

struct reduction {
    struct hm_team *team;
    struct hm_sync *sync;
    const struct hm_span *span;
    char *dest;
    const char *source;
    size_t size; /* of an element */
    size_t most; /* elements of a chunk */
    hm_kernel *combine;
    const char *call;
    struct hm_span_slot *slot;
    char *buffer;
    uint64_t parts[2], results[2]; /* that have to come, by the leader */
};

struct chunk {
    int parity;
    size_t first, n;
};

/* --- who does what --- */

static size_t share_of(const struct reduction *r, const struct chunk *c, int group, size_t *first)
{
    return hm_share_of(c->n, group, r->span->groups, first);
}

/* This member's piece of a share. */
static size_t piece_of(const struct reduction *r, const struct chunk *c, int group, size_t *first)
{
    size_t share, within, n = hm_share_of(share_of(r, c, group, &share), r->span->me, r->sync->here, &within);
    *first = share + within;
    return n;
}

static size_t pieces_of(const struct reduction *r, const struct chunk *c, int share, int group)
{
    size_t first, n = share_of(r, c, share, &first), members = (size_t)r->span->group[group].size;
    return n < members ? n : members;
}

static void expect(struct reduction *r, const struct chunk *c)
{
    for (int g = 0; g < r->span->groups; g++) {
        r->parts[c->parity] += pieces_of(r, c, r->span->mine, g);
        r->results[c->parity] += pieces_of(r, c, g, g);
    }
}

/* Where the part of a group begins that has element `at` of share `share`. */
static char *part_at(const struct reduction *r, const struct chunk *c, int share, int group, size_t at)
{
    size_t first, room = r->most / (size_t)r->span->groups * r->size;
    share_of(r, c, share, &first);
    return r->buffer + c->parity * (size_t)HALF + (size_t)group * room + (at - first) * r->size;
}

/* --- parts --- */

static const char *source_of(const struct reduction *r, int i, size_t at, size_t n)
{
    const struct hm_span *span = r->span;
    int member = span->at[span->group[span->mine].first + i];
    return hm_member_at(r->team, member, r->source + at * r->size, n * r->size, r->call, "source");
}

static void combine_here(const struct reduction *r, void *acc, size_t at, size_t n)
{
    memcpy(acc, source_of(r, 0, at, n), n * r->size);
    for (int i = 1; i < r->sync->here; i++) r->combine(acc, acc, source_of(r, i, at, n), n);
}

static void send_part(const struct reduction *r, const struct chunk *c, int share)
{
    HM_ALIGNED(HM_LINE) char acc[PIECE_BYTES];
    size_t first, count = piece_of(r, c, share, &first), most = PIECE_BYTES / r->size;
    for (size_t done = 0; done < count; done += most) {
        size_t at = first + done, n = count - done < most ? count - done : most;
        char *to = part_at(r, c, share, r->span->mine, at);
        bool here = share == r->span->mine;
        combine_here(r, here ? to : acc, c->first + at, n);
        if (!here) hm_far_put_at(hm_span_place(r->sync, share, to), acc, n * r->size, false);
    }
    if (count) hm_span_add(r->sync, share, &r->slot->flow[HM_FLOW_PARTS + c->parity], 1);
}

static void send_parts(const struct reduction *r, const struct chunk *c)
{
    for (int k = 1; k <= r->span->groups; k++) send_part(r, c, hm_next_group(r->span, k % r->span->groups));
}

/* --- results --- */

static void send_result(const struct reduction *r, const struct chunk *c, size_t at, const char *acc, size_t n)
{
    char *dest = r->dest + (c->first + at) * r->size;
    for (int k = 1; k < r->span->groups; k++)
        hm_far_put_at(hm_place_at_leader(r->team, dest, hm_next_group(r->span, k)), acc, n * r->size, false);
    memcpy(hm_leader_at(r->team, dest, n * r->size, r->call), acc, n * r->size);
}

/* This machine's share, of which all parts have come. */
static void complete_share(const struct reduction *r, const struct chunk *c)
{
    HM_ALIGNED(HM_LINE) char acc[PIECE_BYTES];
    int mine = r->span->mine, groups = r->span->groups;
    size_t first, count = piece_of(r, c, mine, &first), most = PIECE_BYTES / r->size;
    for (size_t done = 0; done < count; done += most) {
        size_t at = first + done, n = count - done < most ? count - done : most;
        memcpy(acc, part_at(r, c, mine, 0, at), n * r->size);
        for (int g = 1; g < groups; g++) r->combine(acc, acc, part_at(r, c, mine, g, at), n);
        send_result(r, c, at, acc, n);
    }
    for (int k = 0; k < groups && count; k++)
        hm_span_add(r->sync, hm_next_group(r->span, k), &r->slot->flow[HM_FLOW_RESULTS + c->parity], 1);
}

/* The leader waits for what comes from other machines, the others for the leader. */
static void await(const struct reduction *r, int flow, uint64_t value)
{
    if (!r->span->me) hm_span_await(r->sync, &r->slot->flow[flow], value, r->call);
    hm_span_meet_group(r->sync, r->call);
}

static void complete(struct reduction *r, const struct chunk *c)
{
    size_t at = c->first * r->size, bytes = c->n * r->size;
    expect(r, c);
    await(r, HM_FLOW_PARTS + c->parity, r->parts[c->parity]);
    complete_share(r, c);
    await(r, HM_FLOW_RESULTS + c->parity, r->results[c->parity]);
    if (r->span->me) memcpy(r->dest + at, hm_leader_at(r->team, r->dest + at, bytes, r->call), bytes);
}

static struct chunk chunk_of(const struct reduction *r, size_t first, size_t n)
{
    return (struct chunk){(int)(first / r->most & 1), first, n - first < r->most ? n - first : r->most};
}

void hm_span_reduce(struct hm_team *team, void *dest, const void *source, size_t n, size_t size, hm_kernel *combine,
                    const char *call)
{
    const struct hm_span *span = team->sync.span;
    struct reduction r = {.team = team, .sync = &team->sync, .span = span, .dest = dest, .source = source,
                          .size = size, .combine = combine, .call = call, .slot = hm_span_slot_of(&team->sync),
                          .buffer = hm_span_buffer(&team->sync)};
    r.most = HALF / size / (size_t)span->groups * (size_t)span->groups;
    struct chunk now = chunk_of(&r, 0, n);
    send_parts(&r, &now);
    for (;;) {
        struct chunk next = now;
        bool more = now.first + now.n < n;
        if (more) {
            next = chunk_of(&r, now.first + now.n, n);
            send_parts(&r, &next);
        }
        complete(&r, &now);
        if (!more) break;
        now = next;
    }
    if (!span->me) /* all of them have come: the next collective begins with none */
        for (int i = HM_FLOW_PARTS; i < HM_FLOW_RESULTS + 2; i++)
            __atomic_store_n(&r.slot->flow[i], 0, __ATOMIC_RELEASE);
    hm_span_meet_group(&team->sync, call);
}

/* A transport that plays all other PEs, for test/scale/world.c: a PE that is contacted gets some memory here, on which puts,
 * gets, atomics and packets of small operations are done at once. In meetings all machines do what this one does, so what
 * is sent to another's work memory is what that one sends to this PE. It takes for each PE and lane what the transport ucx
 * does: an address of 80 bytes, a pointer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "core/packet.h"
#include "transport/transport.h"

enum { ADDRESS = 79, MEMORY = 1 << 16 };

struct hm_lane {
    char **link; /* [npes] as a pointer for each */
};

static const struct hm_transport_host *host;
static char *own[HM_SEGMENTS];
static char **memory; /* [npes * HM_SEGMENTS], not this test's subject: of the mock */

static const char *probe(void) { return NULL; }

static int start(const struct hm_transport_host *h)
{
    host = h;
    memory = calloc((size_t)h->npes * HM_SEGMENTS, sizeof *memory);
    return memory ? 0 : -ENOMEM;
}

static int add_segment(enum hm_segment_id segment, int descriptor, void *base, size_t bytes)
{
    (void)descriptor;
    (void)bytes;
    own[segment] = base;
    return 0;
}

static int address(void *to, size_t room, size_t *bytes)
{
    *bytes = ADDRESS;
    if (room < ADDRESS) return -ENOSPC;
    memset(to, 0x5a, ADDRESS);
    return 0;
}

static int join(const void *const *addresses)
{
    for (int i = 0; i < host->npes; i++)
        for (int k = 0; k < ADDRESS; k++)
            if (((const char *)addresses[i])[k] != 0x5a) {
                host->say(NULL, "the address of PE %d has not come", i);
                return -EPROTO;
            }
    return 0;
}

static void leave(void) {}
static void stop(void)
{
    for (int i = 0; memory && i < host->npes * HM_SEGMENTS; i++) free(memory[i]);
    free(memory);
    memory = NULL;
}
static void halt(void) {}

static int lane_open(struct hm_lane **lane)
{
    *lane = calloc(1, sizeof **lane);
    if (*lane) (*lane)->link = calloc((size_t)host->npes, sizeof(char *));
    return *lane && (*lane)->link ? 0 : -ENOMEM;
}

static void lane_close(struct hm_lane *lane)
{
    free(lane->link);
    free(lane);
}

static char *at(struct hm_place p)
{
    if (p.segment == HM_SEGMENT_WORK) return own[HM_SEGMENT_WORK] + p.offset;
    char **m = &memory[p.pe * HM_SEGMENTS + p.segment];
    if (!*m && !(*m = calloc(1, MEMORY))) host->fail(p.pe, "out of memory");
    if (p.offset >= MEMORY) host->fail(p.pe, "the mock has less memory");
    return *m + p.offset;
}

static void put(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes)
{
    (void)lane;
    memmove(at(to), from, bytes);
    host->moved();
}

static void get(struct hm_lane *lane, void *to, struct hm_place from, size_t bytes)
{
    (void)lane;
    memmove(to, at(from), bytes);
}

static uint64_t atomic(struct hm_lane *lane, enum hm_amo op, struct hm_place word, size_t size, uint64_t value,
                       uint64_t cond)
{
    uint64_t old = 0, now;
    (void)lane;
    memcpy(&old, at(word), size);
    switch (op) {
    case HM_AMO_FETCH: now = old; break;
    case HM_AMO_CAS: now = old == cond ? value : old; break;
    case HM_AMO_SET: case HM_AMO_SWAP: now = value; break;
    case HM_AMO_AND: case HM_AMO_FETCH_AND: now = old & value; break;
    case HM_AMO_OR: case HM_AMO_FETCH_OR: now = old | value; break;
    case HM_AMO_XOR: case HM_AMO_FETCH_XOR: now = old ^ value; break;
    default: now = old + value;
    }
    memcpy(at(word), &now, size);
    host->moved();
    return old;
}

static void put_signal(struct hm_lane *lane, struct hm_place to, const void *from, size_t bytes, struct hm_place signal,
                       uint64_t value, enum hm_amo op, bool nbi)
{
    (void)nbi;
    put(lane, to, from, bytes);
    atomic(lane, op, signal, sizeof value, value, 0);
}

/* A packet of small operations is applied as its target would, and answered; a word for work memory is what comes back. */
static void message(struct hm_lane *lane, int pe, const void *from, size_t bytes, void (*done)(void *arg), void *arg)
{
    struct hm_message head;
    struct hm_packet packet;
    (void)lane;
    memcpy(&head, from, sizeof head);
    if (head.kind == HM_MESSAGE_CELL) {
        host->heard(pe, from, bytes);
        host->moved();
        done(arg);
        return;
    }
    if (head.kind != HM_MESSAGE_PACKET) host->fail(pe, "the mock knows packets and words alone");
    memcpy(&packet, from, sizeof packet);
    size_t room = sizeof packet + packet.message.spare;
    char *reply = malloc(room);
    struct hm_pack_config config = {.moved = host->moved};
    for (int s = HM_SEGMENT_HEAP; s <= HM_SEGMENT_DATA; s++) {
        config.segment[s].base = at((struct hm_place){pe, s, 0});
        config.segment[s].bytes = MEMORY;
    }
    const char *why = reply ? hm_packet_apply(&config, (const char *)from + sizeof packet, bytes - sizeof packet,
                                              reply + sizeof packet, packet.message.spare)
                            : "out of memory";
    if (why) host->fail(pe, why);
    packet.message.kind = HM_MESSAGE_REPLY;
    memcpy(reply, &packet, sizeof packet);
    done(arg);
    host->heard(pe, reply, room);
    free(reply);
}

static void wake_at(uint64_t ns) { (void)ns; } /* all of the test ends in a quiet */
static void nothing(struct hm_lane *lane) { (void)lane; }

static const struct hm_transport transport = {
    .name = "mock", .probe = probe, .start = start, .add_segment = add_segment, .address = address, .join = join,
    .leave = leave, .stop = stop, .halt = halt, .lane_open = lane_open, .lane_close = lane_close, .put = put, .get = get,
    .put_nbi = put, .get_nbi = get, .atomic = atomic, .put_signal = put_signal, .message_max = 64 << 10,
    .message = message, .wake_at = wake_at, .fence = nothing, .quiet = nothing,
};

__attribute__((visibility("default"))) const struct hm_transport_module hm_transport_module = {
    .version = HM_VERSION, .transport = &transport};

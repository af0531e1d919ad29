#include "core/far.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "boot/boot.h"
#include "core/agent.h"
#include "core/message.h"
#include "core/order.h"
#include "core/pack.h"
#include "core/place.h"
#include "core/remote.h"
#include "core/symm.h"
#include "core/ticket.h"
#include "core/wait.h"
#include "core/work.h"
#include "core/world.h"

static const struct hm_transport *transport; /* NULL: none is used */
static uint8_t *far;                         /* hm_symm.far */
static const void **address;                 /* where it finds each PE, in `exchanged` */
static char *data_again;                     /* this PE's static data as the transport has it */
static struct hm_pack *pack;                 /* small operations travel together; NULL: each by itself */

enum { SPIN = 1000, FIRST_WORD_MS = 300 };

/* --- what the transport may ask of us --- */

static void moved(void)
{
    hm_bell_ring(hm_wait_own_bell());
    hm_bell_ring(hm_wait_meet_bell()); /* leaders wait for words in work memory there */
}

static void idle(void)
{
    hm_world_safe_point();
    sched_yield();
}

/* A PE of this machine that ends takes its connections along. The launcher, who knows why it ended, has
 * the first word: it ends this PE, too. */
static void hear_launcher(void)
{
    for (int i = 0; i < FIRST_WORD_MS; i++) {
        if (__atomic_load_n(&hm_world.job->stopping, __ATOMIC_ACQUIRE)) {
            fflush(NULL);
            hm_boot_exit_at_once(hm_world.job->exit_status); /* in the midst of the transport: exit handlers cannot run */
        }
        usleep(1000);
    }
}

static HM_NORETURN void fail(int pe, const char *why)
{
    hear_launcher();
    if (pe >= 0) hm_die(NULL, "PE %d cannot be reached any more through %s: %s", pe, transport->name, why);
    hm_die(NULL, "transport %s: %s", transport->name, why);
}

struct tidings {
    struct hm_message head;
    uint64_t offset, value;
};

/* Who waits for it is woken in moved(). */
static void note_tidings(int from, const void *bytes, size_t n)
{
    struct tidings t;
    if (n == sizeof t) memcpy(&t, bytes, n);
    if (n != sizeof t || t.offset % sizeof t.value || t.offset > hm_work_bytes(hm_world.npes) - sizeof t.value)
        hm_die(NULL, "PE %d sent %zu bytes that are no message of this library", from, n);
    char *work = hm_symm.peer[hm_world.pe].work;
    __atomic_store_n((uint64_t *)(work + t.offset), t.value, __ATOMIC_RELEASE);
}

static void heard(int from, const void *bytes, size_t n)
{
    const struct hm_message *m = bytes;
    if (pack && hm_pack_heard(pack, from, bytes, n)) return;
    if (hm_agent_heard(from, bytes, n)) return;
    switch (n >= sizeof *m ? m->kind : 0) {
    case HM_MESSAGE_UNLOCK:
    case HM_MESSAGE_WITHDRAW: hm_lock_heard(from, bytes, n); return;
    case HM_MESSAGE_WITHDRAWN: hm_lock_answered(from, bytes, n); return;
    case HM_MESSAGE_CELL: note_tidings(from, bytes, n); return;
    default:
        hm_die(NULL, "PE %d sent %zu bytes that are no message of this library", from, n);
    }
}

static uint64_t tick(void)
{
    return pack ? hm_pack_tick(pack) : 0;
}

static struct hm_transport_host host = {.moved = moved, .heard = heard, .tick = tick, .idle = idle, .fail = fail, .say = hm_log_line};

/* --- start and stop --- */

/* Addresses travel in rounds of few bytes, so that most jobs, whose addresses are small, exchange no more than they need;
 * each begins with its length. Kept are as many bytes of each as the longest has. */
enum { ROUND = 128, LONGEST = 4096 };
struct address {
    uint16_t bytes;
    char text[LONGEST - sizeof(uint16_t)];
};

static char *exchanged; /* all addresses, `stride` bytes from one to the next */
static size_t stride;
static size_t told; /* bytes that each PE has told the others here */

static HM_NORETURN void no_memory(const char *call) { hm_die(call, "out of memory"); }

static void exchange_round(const struct address *mine, size_t at, char *part, const char *call)
{
    int e = hm_world.boot->gather((const char *)mine + at, ROUND, part, NULL, 0, NULL);
    if (e) hm_die(call, "the PEs could not exchange where their transport finds them: %s", strerror(-e));
    told += ROUND;
}

/* What of the addresses a round has brought goes to its place. */
static void keep_round(const char *part, size_t at)
{
    const size_t head = offsetof(struct address, text);
    size_t skip = at ? 0 : head, to = at ? at - head : 0, n = ROUND - skip;
    if (to >= stride) return;
    if (n > stride - to) n = stride - to;
    for (size_t i = 0; i < (size_t)hm_world.npes; i++) memcpy(exchanged + i * stride + to, part + i * ROUND + skip, n);
}

static size_t longest(const char *part)
{
    size_t most = 0;
    for (size_t i = 0; i < (size_t)hm_world.npes; i++) {
        uint16_t bytes;
        memcpy(&bytes, part + i * ROUND, sizeof bytes);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Everybody does as many rounds as the longest address needs, which the first round tells. */
static void exchange(const struct address *mine, const char *call)
{
    size_t npes = (size_t)hm_world.npes, head = offsetof(struct address, text);
    char *part = malloc(npes * ROUND);
    if (!part) no_memory(call);
    told = 0;
    exchange_round(mine, 0, part, call);
    stride = hm_round_up(longest(part), sizeof(uint64_t));
    exchanged = malloc(npes * stride);
    if (!exchanged) no_memory(call);
    keep_round(part, 0);
    for (size_t at = ROUND; at < head + stride; at += ROUND) {
        exchange_round(mine, at, part, call);
        keep_round(part, at);
    }
    free(part);
    for (size_t i = 0; i < npes; i++) address[i] = exchanged + i * stride;
    hm_debug("each PE tells where its transport finds it in %zu bytes, of which %zu are kept", told, stride);
}

/* The image of static data has a layout of its own in its memfd, so it is mapped here. */
static int add_data(int descriptor)
{
    char *own = hm_symm.peer[hm_world.pe].data;
    if (!own) return 0;
    if (descriptor >= 0 && !(data_again = own = hm_remote_map_data_again())) return -errno;
    return transport->add_segment(HM_SEGMENT_DATA, -1, own, hm_symm.data_span);
}

static void add_segments(const int descriptor[HM_SEGMENTS], const char *call)
{
    const struct hm_peer *own = &hm_symm.peer[hm_world.pe];
    int e = transport->add_segment(HM_SEGMENT_HEAP, descriptor[HM_SEGMENT_HEAP], own->heap, hm_symm.heap_size);
    if (!e) e = add_data(descriptor[HM_SEGMENT_DATA]);
    if (!e && own->work)
        e = transport->add_segment(HM_SEGMENT_WORK, descriptor[HM_SEGMENT_WORK], own->work, hm_work_bytes(hm_world.npes));
    if (e) hm_die(call, "transport %s cannot take this PE's memory: %s", transport->name, strerror(-e));
}

static void open_transport(const int descriptor[HM_SEGMENTS], const char *call)
{
    const char *why;
    transport = hm_transport_find(&why);
    if (!transport && hm_places.machines > 1)
        hm_die(call, "the PEs of this job are on %d machines, and no transport can be used between them: %s",
               hm_places.machines, why);
    if (!transport) hm_die(call, "SHMEM_MAPPED is off, and no transport can be used: %s", why);
    host.pe = hm_world.pe;
    host.npes = hm_world.npes;
    host.extent = hm_options.extent;
    host.spin = hm_world.oversubscribed ? 0 : SPIN;
    int e = transport->start(&host);
    if (e) hm_die(call, "transport %s cannot be started: %s", transport->name, strerror(-e));
    add_segments(descriptor, call);
}

static struct hm_lane *reply_lane(void);
static void hurry(bool rests) { hm_pack_hurry(pack, rests); }

/* Before the transport joins, after which others may send. */
static void open_pack(const char *call)
{
    if (!hm_options.aggregate || !transport->message) return;
    const struct hm_peer *own = &hm_symm.peer[hm_world.pe];
    struct hm_pack_config config = {
        .pe = hm_world.pe,
        .npes = hm_world.npes,
        .spin = host.spin,
        .transport = transport,
        .segment = {[HM_SEGMENT_HEAP] = {own->heap, hm_symm.heap_size},
                    [HM_SEGMENT_DATA] = {own->data, own->data ? hm_symm.data_span : 0}},
        .reply_lane = reply_lane,
        .moved = moved,
        .idle = idle,
        .packet = hm_options.aggregate_packet,
        .largest = hm_options.aggregate_size,
        .pool = hm_options.aggregate_pool,
        .credit = hm_options.aggregate_credit,
        .delay_ns = (uint64_t)hm_options.aggregate_delay * 1000,
    };
    pack = hm_pack_open(&config);
    if (!pack) hm_die(call, "out of memory for packets of small operations; set SHMEM_AGGREGATE_POOL lower");
    hm_wait_send = hurry;
}

/* PEs of other machines; under SHMEM_MAPPED=off, which is for tests, all others. */
static void mark_far(size_t npes)
{
    for (size_t i = 0; i < npes; i++)
        far[i] = (int)i != hm_world.pe && (!hm_options.mapped || hm_place_is_far((int)i));
    hm_symm.far = far;
}

void hm_far_start(const int descriptor[HM_SEGMENTS], const char *call)
{
    static struct address mine; /* zeros behind the address, and too large for a stack */
    size_t npes = (size_t)hm_world.npes;
    if ((hm_options.mapped && hm_places.machines == 1) || npes == 1) return;
    open_transport(descriptor, call);
    hm_bell_let_wakers_fence(hm_wait_meet_bell()); /* rung by the progress thread, once for all that it found */
    far = malloc(npes);
    address = malloc(npes * sizeof *address);
    if (!far || !address) no_memory(call);
    size_t bytes = 0;
    int e = transport->address(mine.text, sizeof mine.text, &bytes);
    if (e) hm_die(call, "transport %s has no address for the other PEs: %s", transport->name, strerror(-e));
    mine.bytes = (uint16_t)bytes;
    exchange(&mine, call);
    open_pack(call);
    e = transport->join(address);
    if (e) hm_die(call, "transport %s cannot join the other PEs: %s", transport->name, strerror(-e));
    hm_wait_set_helm(transport->helm);
    mark_far(npes);
}

void hm_far_leave(void)
{
    if (!transport) return;
    hm_ctx_quiet_all();
    transport->leave();
}

/* The meeting itself is still under way, as its last words want an answer: everybody waits for those he is to get, and
 * then by the bootstrap's means for the others, whose answers he is to give. */
void hm_far_part(void)
{
    char none = 0, *all = transport ? malloc((size_t)hm_world.npes) : NULL;
    if (!transport) return;
    hm_quiet(&hm_ctx_inner);
    int e = all ? hm_world.boot->gather(&none, sizeof none, all, NULL, 0, NULL) : -ENOMEM;
    if (e) hm_debug("the PEs did not part in order: %s", strerror(-e));
    free(all);
}

void hm_far_stop(void)
{
    if (!transport) return;
    hm_symm.far = NULL;
    hm_wait_set_helm(NULL);
    transport->stop();
    hm_remote_unmap_data(data_again);
    data_again = NULL;
    transport = NULL;
    hm_wait_send = NULL;
    hm_pack_close(pack);
    pack = NULL;
    free(far);
    free(exchanged);
    free(address);
    far = NULL;
    exchanged = NULL;
    address = NULL;
}

bool hm_far_give_back(size_t offset, size_t bytes, bool (*pages)(size_t offset, size_t bytes))
{
    if (!transport || !transport->give_back) return pages(offset, bytes);
    return transport->give_back(HM_SEGMENT_HEAP, offset, bytes, pages);
}

void hm_far_halt(void)
{
    if (transport) transport->halt();
}

/* --- operations --- */

struct hm_place hm_far_place(const void *addr, int pe)
{
    bool in_heap = false;
    int64_t offset = hm_symm_offset(addr, &in_heap);
    return (struct hm_place){pe, in_heap ? HM_SEGMENT_HEAP : HM_SEGMENT_DATA, (uint64_t)offset};
}

/* A lane is opened by the first operation of its context that needs one. */
static struct hm_lane *lane_of(struct hm_ctx *ctx)
{
    struct hm_lane *lane = __atomic_load_n(&ctx->lane, __ATOMIC_ACQUIRE), *none = NULL;
    if (hm_likely(lane != NULL)) return lane;
    int e = transport->lane_open(&lane);
    if (e) hm_die(NULL, "transport %s has no lane for another context: %s", transport->name, strerror(-e));
    if (__atomic_compare_exchange_n(&ctx->lane, &none, lane, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return lane;
    transport->lane_close(lane); /* another thread was quicker */
    return none;
}

static struct hm_lane *reply_lane(void)
{
    return lane_of(&hm_ctx_inner);
}

/* Of a context by its first operation, as the lane. NULL: nothing is packed. */
static struct hm_packer *packer_of(struct hm_ctx *ctx)
{
    struct hm_packer *packer = __atomic_load_n(&ctx->packer, __ATOMIC_ACQUIRE), *none = NULL;
    if (hm_likely(packer != NULL) || !pack) return packer;
    packer = hm_packer_open(pack, lane_of(ctx), &ctx->session);
    if (!packer) hm_die(NULL, "out of memory for packets of small operations");
    if (__atomic_compare_exchange_n(&ctx->packer, &none, packer, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return packer;
    hm_packer_close(packer); /* another thread was quicker */
    return none;
}

/* Around each operation that goes direct. `send`: what is packed for that PE shall leave before. */
static struct hm_lane *direct(struct hm_ctx *ctx, struct hm_packer *packer, int pe, bool send)
{
    if (packer) hm_pack_before(packer, pe, send);
    return lane_of(ctx);
}

static void issued(struct hm_packer *packer)
{
    if (packer) hm_pack_after(packer);
}

void hm_far_put(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi)
{
    struct hm_place to = hm_far_place(dest, pe);
    struct hm_packer *packer = packer_of(ctx);
    if (packer && hm_pack_put(packer, to, source, bytes)) return;
    struct hm_lane *lane = direct(ctx, packer, pe, false);
    (nbi ? transport->put_nbi : transport->put)(lane, to, source, bytes);
    issued(packer);
}

void hm_far_get(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi)
{
    struct hm_place from = hm_far_place(source, pe);
    struct hm_packer *packer = packer_of(ctx);
    if (nbi && packer && hm_pack_get(packer, dest, from, bytes)) return;
    struct hm_lane *lane = direct(ctx, packer, pe, true);
    (nbi ? transport->get_nbi : transport->get)(lane, dest, from, bytes);
    if (nbi) issued(packer);
}

uint64_t hm_far_amo(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond,
                    size_t size, int pe)
{
    struct hm_place word = hm_far_place(addr, pe);
    struct hm_packer *packer = packer_of(ctx);
    if (hm_amo_is_silent(op) && packer && hm_pack_amo(packer, op, word, size, value, cond, NULL)) return 0;
    struct hm_lane *lane = direct(ctx, packer, pe, true);
    uint64_t old = transport->atomic(lane, op, word, size, value, cond);
    if (hm_amo_is_silent(op)) issued(packer);
    return old;
}

void hm_far_amo_nbi(struct hm_ctx *ctx, enum hm_amo op, void *addr, uint64_t value, uint64_t cond, size_t size,
                    int pe, void *fetch)
{
    struct hm_packer *packer = packer_of(ctx);
    if (packer && hm_pack_amo(packer, op, hm_far_place(addr, pe), size, value, cond, fetch)) return;
    uint64_t old = hm_far_amo(ctx, op, addr, value, cond, size, pe);
    memcpy(fetch, &old, size);
}

bool hm_far_add_float(struct hm_ctx *ctx, void *addr, uint64_t value, size_t size, int pe)
{
    struct hm_packer *packer = packer_of(ctx);
    return packer && hm_pack_add_float(packer, hm_far_place(addr, pe), size, value);
}

void hm_far_put_signal(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
                       uint64_t signal, enum hm_amo op, int pe, bool nbi)
{
    struct hm_place word = hm_far_place(sig_addr, pe), to = bytes ? hm_far_place(dest, pe) : word;
    struct hm_packer *packer = packer_of(ctx);
    if (packer && hm_pack_put_signal(packer, to, source, bytes, word, signal, op)) return;
    struct hm_lane *lane = direct(ctx, packer, pe, true);
    if (bytes)
        transport->put_signal(lane, to, source, bytes, word, signal, op, nbi);
    else
        transport->atomic(lane, op, word, sizeof signal, signal, 0);
    issued(packer);
}

/* Collectives issue on the lane of the inner context themselves; but device memory makes it pack, too, and then its packer must
 * know that there is something for a quiet to wait for. */
static void issued_inside(void)
{
    issued(__atomic_load_n(&hm_ctx_inner.packer, __ATOMIC_ACQUIRE));
}

void hm_far_put_at(struct hm_place dest, const void *source, size_t bytes, bool nbi)
{
    (nbi ? transport->put_nbi : transport->put)(lane_of(&hm_ctx_inner), dest, source, bytes);
    issued_inside();
}

void hm_far_get_at(void *dest, struct hm_place source, size_t bytes, bool nbi)
{
    (nbi ? transport->get_nbi : transport->get)(lane_of(&hm_ctx_inner), dest, source, bytes);
    if (nbi) issued_inside();
}

uint64_t hm_far_amo_at(enum hm_amo op, struct hm_place word, size_t size, uint64_t value, uint64_t cond)
{
    return transport->atomic(lane_of(&hm_ctx_inner), op, word, size, value, cond);
}

void hm_far_put_signal_at(struct hm_place dest, const void *source, size_t bytes, struct hm_place signal, uint64_t value)
{
    transport->put_signal(lane_of(&hm_ctx_inner), dest, source, bytes, signal, value, HM_AMO_SET, false);
    issued_inside();
}

void hm_far_message(int pe, const void *message, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy) hm_die(NULL, "out of memory for a message to PE %d", pe);
    memcpy(copy, message, bytes);
    transport->message(lane_of(&hm_ctx_inner), pe, copy, bytes, free, copy);
}

size_t hm_far_message_max(void) { return transport->message ? transport->message_max : 0; }

void hm_far_tell(struct hm_place word, uint64_t value)
{
    struct tidings t = {.head = {HM_MESSAGE_CELL, 0}, .offset = word.offset, .value = value};
    if (transport->message)
        hm_far_message(word.pe, &t, sizeof t);
    else
        hm_far_amo_at(HM_AMO_SET, word, sizeof value, value, 0);
}

void hm_far_way(int pe, char *text, size_t size)
{
    char way[64];
    int e = transport->way ? transport->way(lane_of(&hm_ctx_inner), pe, way, sizeof way) : -ENOSYS;
    snprintf(text, size, "%s %s", transport->name, e ? "(it does not tell which)" : way);
}

void hm_far_fence(struct hm_ctx *ctx)
{
    if (ctx->packer) hm_pack_fence(ctx->packer);
    transport->fence(ctx->lane);
}

void hm_far_quiet(struct hm_ctx *ctx)
{
    if (ctx->packer)
        hm_pack_quiet(ctx->packer);
    else
        transport->quiet(ctx->lane);
}

void hm_far_close(struct hm_ctx *ctx)
{
    if (ctx->packer) hm_packer_close(ctx->packer);
    transport->lane_close(ctx->lane);
    ctx->packer = NULL;
    ctx->lane = NULL;
}

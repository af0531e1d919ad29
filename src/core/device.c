#include "core/device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "core/agent.h"
#include "core/far.h"
#include "core/place.h"
#include "core/plain.h"
#include "core/stream.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/world.h"

/* Bytes on their way between a device and a PE of another machine pass through host memory in pieces of this size. */
#define STAGE ((size_t)1 << 20)

struct hm_device hm_device;

/* What the PEs tell each other before they share: all fits one gather. */
struct card {
    int32_t id, number;
    uint64_t size, phase;
    char kind[16];
};

HM_NORETURN void hm_device_fail(const char *call, const char *what, int pe, int error)
{
    const char *why = hm_device.ops->why();
    char whose[48] = "";
    if (pe >= 0) snprintf(whose, sizeof whose, " (memory of PE %d)", pe);
    if (error == -ENODEV)
        hm_die(call, "device %d is lost: %s", hm_device.number, why);
    hm_die(call, "%s%s: %s", what, whose, why);
}

/* --- start --- */

static void list_kinds(char *text, size_t size)
{
    const struct hm_memkind *kind;
    size_t n = 0;
    *text = 0;
    for (unsigned i = 0; (kind = hm_memkind_at(i)) != NULL && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "", kind->name);
}

static const struct hm_memkind *chosen_kind(const char *call)
{
    const struct hm_memkind *kind = hm_memkind_find(hm_options.heap_kind);
    char kinds[128];
    list_kinds(kinds, sizeof kinds);
    if (!kind) hm_die(call, "SHMEM_HEAP_KIND: \"%s\" is no kind of memory; there are %s", hm_options.heap_kind, kinds);
    const char *on = hm_options.malloc_on;
    if (strcmp(on, "auto") && strcmp(on, "host") && strcmp(on, kind->name))
        hm_die(call, "SHMEM_MALLOC_ON: \"%s\" is not what this job has; use host, %s or auto", on, kind->name);
    return kind->device ? kind : NULL;
}

static int chosen_number(int devices, const char *call)
{
    char *end;
    if (!strcmp(hm_options.device, "auto")) return hm_place_local(hm_world.pe) % devices;
    long n = strtol(hm_options.device, &end, 10);
    if (*end || end == hm_options.device || n < 0 || n >= devices)
        hm_die(call, "SHMEM_DEVICE: \"%s\" is no device here; there are %d of kind %s, from 0 on", hm_options.device, devices,
               hm_device.kind->name);
    return (int)n;
}

static void take_device(const char *call)
{
    const char *why = "none was found";
    int n = hm_device.kind->devices(&why);
    if (n <= 0) hm_die(call, "SHMEM_HEAP_KIND is %s, but there is no such device here: %s", hm_device.kind->name, why);
    hm_device.number = chosen_number(n, call);
    if (n < hm_places.local_npes && hm_place_local(hm_world.pe) == 0)
        hm_debug("%d PEs of this machine share %d devices of kind %s", hm_places.local_npes, n, hm_device.kind->name);
    int e = hm_device.ops->begin(hm_device.number);
    if (e) hm_device_fail(call, "the device cannot be used", -1, e);
}

static HM_COLD void too_little(int error, const char *call)
{
    struct hm_device_info info;
    if (error != -ENOMEM || hm_device.ops->info(&info))
        hm_device_fail(call, "no memory of the device could be had for the symmetric heap", -1, error);
    hm_die(call, "the symmetric heap of %zu bytes does not fit on device %d (%s): %zu bytes of its %zu are free; set "
           "SHMEM_SYMMETRIC_SIZE lower", hm_device.size, hm_device.number, info.name, info.free_bytes, info.total_bytes);
}

static void make(const char *call)
{
    void *at;
    hm_device.size = hm_round_up(hm_symm.heap_size, hm_device.ops->grain());
    int e = hm_device.ops->make(hm_device.size, &at);
    if (e) too_little(e, call);
    hm_device.base = at;
}

static void gather(const void *mine, size_t bytes, void *all, int descriptor, int *descriptors, const char *call)
{
    int e = hm_world.boot->gather(mine, bytes, all, &descriptor, descriptors ? 1 : 0, descriptors);
    if (e) hm_die(call, "the PEs could not exchange what leads to their devices: %s", strerror(-e));
}

static void agree(const struct card *all, const char *call)
{
    for (int i = 1; i < hm_world.npes; i++)
        if (strcmp(all[i].kind, all[0].kind) || all[i].size != all[0].size)
            hm_die(call, "PE 0 has a device heap of %llu bytes of kind %s, PE %d one of %llu of kind %s; set SHMEM_HEAP_KIND "
                   "and SHMEM_SYMMETRIC_SIZE alike for all PEs", (unsigned long long)all[0].size, all[0].kind, i,
                   (unsigned long long)all[i].size, all[i].kind);
}

/* Large alignments can be had at the same offsets everywhere if the heaps lie alike in larger ones. */
static size_t common_phase(const struct card *all)
{
    for (int i = 1; i < hm_world.npes; i++)
        if (all[i].phase != all[0].phase) return 0;
    return (size_t)all[0].phase;
}

static struct hm_token share_own(const struct card *all, const char *call)
{
    struct hm_token token = {.descriptor = -1};
    int32_t *ids = malloc((size_t)hm_places.local_npes * sizeof *ids);
    int n = 0;
    for (int i = 0; ids && i < hm_places.local_npes; i++)
        if (hm_place_pe(i) != hm_world.pe) ids[n++] = all[hm_place_pe(i)].id;
    int e = !ids ? -ENOMEM : n ? hm_device.ops->share(hm_device.base, ids, n, &token) : 0;
    if (e) hm_device_fail(call, "the device heap cannot be shared", -1, e);
    free(ids);
    return token;
}

static void attach(int pe, struct hm_token *token, const struct card *card, const char *call)
{
    void *at;
    int e = hm_device.ops->attach(token, card->number, hm_device.size, &at);
    if (e) hm_device_fail(call, "the device heap cannot be attached", pe, e);
    hm_device.peer[pe] = at;
}

static void attach_all(const struct card *all, const char *call)
{
    struct hm_token mine = share_own(all, call), *tokens = calloc((size_t)hm_world.npes, sizeof *tokens);
    int *descriptors = NULL, spare = -1;
    bool by_descriptor = mine.descriptor >= 0;
    if (by_descriptor) descriptors = calloc((size_t)hm_world.npes, sizeof *descriptors);
    if (!tokens || (by_descriptor && !descriptors)) hm_die(call, "out of memory");
    gather(&mine, sizeof mine, tokens, by_descriptor ? mine.descriptor : spare, descriptors, call);
    for (int i = 0; i < hm_places.local_npes; i++) {
        int pe = hm_place_pe(i);
        if (by_descriptor) tokens[pe].descriptor = descriptors[pe];
        if (pe != hm_world.pe) attach(pe, &tokens[pe], &all[pe], call);
    }
    hm_device.peer[hm_world.pe] = hm_device.base;
    for (int pe = 0; by_descriptor && pe < hm_world.npes; pe++)
        if (descriptors[pe] >= 0) close(descriptors[pe]);
    if (by_descriptor) close(mine.descriptor);
    free(descriptors);
    free(tokens);
}

void hm_device_start(const char *call)
{
    const struct hm_memkind *kind = chosen_kind(call);
    if (!kind) return;
    hm_device.kind = kind;
    hm_device.ops = kind->device;
    hm_plain_start();
    take_device(call);
    make(call);
    struct card mine = {.number = hm_device.number, .size = hm_device.size}, *all = calloc((size_t)hm_world.npes, sizeof *all);
    snprintf(mine.kind, sizeof mine.kind, "%s", kind->name);
    mine.phase = (uintptr_t)hm_device.base % HM_DEVICE_PHASE;
    hm_device.peer = calloc((size_t)hm_world.npes, sizeof *hm_device.peer);
    if (!all || !hm_device.peer) hm_die(call, "out of memory");
    int e = hm_device.ops->whoami(&mine.id);
    if (e) hm_device_fail(call, "the device driver does not tell this process's number", -1, e);
    gather(&mine, sizeof mine, all, -1, NULL, call);
    agree(all, call);
    hm_device.phase = common_phase(all);
    attach_all(all, call);
    free(all);
    hm_agent_start(call);
}

void hm_device_detach(void)
{
    if (!hm_device_any()) return;
    char none = 0, *all = malloc((size_t)hm_world.npes);
    if (!all) hm_die(NULL, "out of memory");
    hm_agent_stop();
    (void)hm_device.ops->enter();
    for (int i = 0; i < hm_places.local_npes; i++) {
        int pe = hm_place_pe(i);
        if (pe == hm_world.pe || !hm_device.peer[pe]) continue;
        int e = hm_device.ops->detach(hm_device.peer[pe]);
        if (e) hm_debug("the device heap of PE %d could not be detached: %s", pe, hm_device.ops->why());
    }
    int e = hm_world.boot->gather(&none, sizeof none, all, NULL, 0, NULL);
    if (e) hm_debug("the PEs did not let go of each other's device heaps in order: %s", strerror(-e));
    free(all);
}

void hm_device_stop(void)
{
    if (!hm_device_any()) return;
    if (hm_device.base && hm_device.ops->drop(hm_device.base))
        hm_debug("the device heap could not be given back: %s", hm_device.ops->why());
    hm_device.ops->end();
    free(hm_device.peer);
    hm_device = (struct hm_device){0};
}

/* --- addresses --- */

enum hm_side hm_device_side(const void *addr)
{
    if (hm_device_offset(addr) < hm_device.size) return HM_SIDE_OWN;
    return hm_plain_holds(addr) ? HM_SIDE_HOST : hm_device.ops->side_of(addr);
}

/* One end of a copy. far: on another machine, where only offsets lead. */
struct end {
    char *at;
    enum hm_side side;
    bool far;
    size_t offset;               /* far, or in a device heap */
    const struct hm_peer *peer;  /* of mapped host memory: whose bell rings */
};

static struct end symmetric_end(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    struct end end = {.side = HM_SIDE_HOST};
    if (!hm_device_holds(addr, 1) || pe < 0 || pe >= hm_world.npes) {
        end.at = hm_symm_reach(addr, bytes, pe, &end.peer, call, arg);
        end.far = !end.at;
        return end;
    }
    hm_symm_require(addr, bytes, call, arg);
    end.offset = hm_device_offset(addr);
    end.far = !hm_device.peer[pe];
    end.side = pe == hm_world.pe ? HM_SIDE_OWN : HM_SIDE_PEER;
    if (!end.far) end.at = hm_device.peer[pe] + end.offset;
    return end;
}

static struct end private_end(const void *addr)
{
    return (struct end){.at = (char *)(uintptr_t)addr, .side = hm_device_side(addr)};
}

/* --- copies --- */

static struct hm_flow *flow_of(struct hm_ctx *ctx, const char *call)
{
    struct hm_flow *flow = __atomic_load_n(&ctx->flow, __ATOMIC_ACQUIRE), *none = NULL;
    if (hm_likely(flow != NULL)) return flow;
    ctx->on_device = true;
    int e = hm_device.ops->flow_open(&flow);
    if (e) hm_device_fail(call, "no stream could be had for a context", -1, e);
    if (__atomic_compare_exchange_n(&ctx->flow, &none, flow, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return flow;
    hm_device.ops->flow_close(flow); /* another thread was quicker */
    return none;
}

static void enter(const char *call)
{
    int e = hm_device.ops->enter();
    if (e) hm_device_fail(call, "the device cannot be used by this thread", -1, e);
}

/* Host memory is done with on return: only between device memories something may be left under way. */
static void copy(struct hm_ctx *ctx, const struct end *to, const struct end *from, size_t bytes, int pe, bool nbi, const char *call)
{
    enter(call);
    struct hm_flow *flow = flow_of(ctx, call);
    int e = hm_device.ops->copy(flow, to->at, to->side, from->at, from->side, bytes, false);
    bool under_way = to->side != HM_SIDE_HOST && from->side != HM_SIDE_HOST;
    if (!e && !nbi && under_way) e = hm_device.ops->finish(flow);
    if (e) hm_device_fail(call, "a copy failed", pe, e);
    if (nbi && under_way) __atomic_fetch_add(&ctx->copies, 1, __ATOMIC_RELEASE);
    hm_device.ops->leave();
}

/* Between host memory here and the symmetric address `done` bytes behind the beginning of a transfer. */
static void far_piece(struct hm_ctx *ctx, bool put, char *symmetric, const struct end *far, size_t done, void *host, size_t n, int pe,
                      const char *call)
{
    bool by_transport = far->side == HM_SIDE_HOST;
    if (by_transport && put) hm_far_put(ctx, symmetric + done, host, n, pe, false);
    else if (by_transport) hm_far_get(ctx, host, symmetric + done, n, pe, false);
    else if (put) hm_agent_put(ctx, pe, far->offset + done, host, n, call);
    else hm_agent_get(ctx, host, pe, far->offset + done, n, call);
}

/* A PE of another machine, and device memory at one end at least: by pieces, through host memory. */
static void move_far(struct hm_ctx *ctx, bool put, const void *symmetric, const struct end *far, const struct end *here, size_t bytes,
                     int pe, const char *call)
{
    struct end stage = {.side = HM_SIDE_HOST}, piece = *here;
    char *room = here->side == HM_SIDE_HOST ? NULL : malloc(bytes < STAGE ? bytes : STAGE);
    if (here->side != HM_SIDE_HOST && !room) hm_die(call, "out of memory");
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < STAGE ? bytes - done : STAGE;
        piece.at = here->at + done;
        stage.at = room ? room : piece.at;
        if (room && put) copy(ctx, &stage, &piece, n, -1, false, call);
        far_piece(ctx, put, (char *)(uintptr_t)symmetric, far, done, stage.at, n, pe, call);
        if (room && !put) copy(ctx, &piece, &stage, n, -1, false, call);
    }
    free(room);
}

/* With the symmetric end in a device heap there will be a copy, and its enter serves the question what the private end is,
 * too. leave_beside comes behind the copy. */
static struct end private_end_beside(const struct end *symmetric, const void *addr, const char *call)
{
    if (symmetric->side != HM_SIDE_HOST) enter(call);
    return private_end(addr);
}

static void leave_beside(const struct end *symmetric)
{
    if (symmetric->side != HM_SIDE_HOST) hm_device.ops->leave();
}

bool hm_device_put(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi, const char *call)
{
    struct end to = symmetric_end(dest, bytes, pe, call, "dest"), from = private_end_beside(&to, source, call);
    if (to.side == HM_SIDE_HOST && from.side == HM_SIDE_HOST) return false;
    if (to.far)
        move_far(ctx, true, dest, &to, &from, bytes, pe, call);
    else
        copy(ctx, &to, &from, bytes, pe, nbi, call);
    leave_beside(&to);
    if (!to.far) hm_bell_look(hm_symm.peer[pe].bell, dest, bytes);
    return true;
}

bool hm_device_get(struct hm_ctx *ctx, void *dest, const void *source, size_t bytes, int pe, bool nbi, const char *call)
{
    struct end from = symmetric_end(source, bytes, pe, call, "source"), to = private_end_beside(&from, dest, call);
    if (to.side == HM_SIDE_HOST && from.side == HM_SIDE_HOST) return false;
    if (from.far)
        move_far(ctx, false, source, &from, &to, bytes, pe, call);
    else
        copy(ctx, &to, &from, bytes, pe, nbi, call);
    leave_beside(&from);
    return true;
}

void hm_device_move(void *to, const void *from, size_t bytes, const char *call)
{
    struct end a = private_end(to), b = private_end(from);
    if (to == from || !bytes) return;
    if (a.side == HM_SIDE_HOST && b.side == HM_SIDE_HOST)
        memcpy(to, from, bytes);
    else
        copy(&hm_ctx_inner, &a, &b, bytes, -1, false, call);
}

void hm_device_set(void *at, int byte, size_t bytes, const char *call)
{
    enter(call);
    struct hm_flow *flow = flow_of(&hm_ctx_inner, call);
    int e = hm_device.ops->set(flow, at, byte, bytes);
    if (!e) e = hm_device.ops->finish(flow);
    if (e) hm_device_fail(call, "device memory could not be set", -1, e);
    hm_device.ops->leave();
}

void hm_device_ask(struct hm_device_info *info, const char *call)
{
    enter(call);
    int e = hm_device.ops->info(info);
    if (e) hm_device_fail(call, "the device does not tell what it is", -1, e);
    hm_device.ops->leave();
}

/* --- order --- */

/* What was under way has arrived somewhere: one load for each PE where nobody sleeps. */
static void ring_all(void)
{
    for (int i = 0; i < hm_places.local_npes; i++) hm_bell_knock(hm_symm.peer[hm_place_pe(i)].bell);
}

/* Of two threads of a context, the one that comes later may write the lower number: then the flow is finished once more. */
void hm_device_complete(struct hm_ctx *ctx, const char *call)
{
    uint64_t copies = __atomic_load_n(&ctx->copies, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&ctx->copied, __ATOMIC_ACQUIRE) == copies) return;
    enter(call);
    int e = hm_device.ops->finish(ctx->flow);
    if (e) hm_device_fail(call, "copies that were under way failed", -1, e);
    hm_device.ops->leave();
    __atomic_store_n(&ctx->copied, copies, __ATOMIC_RELEASE);
    ring_all();
}

void hm_device_quiet(struct hm_ctx *ctx)
{
    hm_device_complete(ctx, "shmem_quiet");
    if (hm_stream_has_copies()) hm_stream_ask_copies("shmem_quiet");
    if (ctx->asked) hm_agent_quiet(ctx);
}

void hm_device_close(struct hm_ctx *ctx)
{
    if (ctx->flow) hm_device.ops->flow_close(ctx->flow);
    ctx->flow = NULL;
    ctx->copied = ctx->copies;
    ctx->on_device = false;
}

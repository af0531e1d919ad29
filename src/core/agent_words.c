/* A word is read, changed here and written. Requests that lie in the queue together share the copies: what they need of the
 * heap is read first, by lines, then changed in the order of the requests, and what has changed is written. Nothing else of
 * a line is, as puts may be under way to the words beside. */
#include <string.h>

#include "core/agent.h"
#include "core/amo.h"
#include "core/ask.h"
#include "core/device.h"
#include "core/wait.h"
#include "core/world.h"

enum { LINE = 64, GRANULE = 4, GRANULES = LINE / GRANULE };

struct line {
    HM_ALIGNED(LINE) char bytes[LINE];
    uint64_t offset;
    uint16_t dirty; /* a bit for each granule */
    bool read;      /* some request wants to know what was there */
};

static struct line lines[HM_ASK_BATCH];
static size_t line_count;
static struct hm_flow *flow;
static const char *const doing = "an atomic on device memory";

static void check(int e)
{
    if (hm_unlikely(e)) hm_device_fail(doing, "the agent of this PE could not copy", hm_world.pe, e);
}

void hm_agent_words_start(const char *call)
{
    int e = hm_device.ops->flow_open(&flow);
    if (e) hm_device_fail(call, "no stream could be had for the agent", -1, e);
}

void hm_agent_words_stop(void)
{
    if (flow) hm_device.ops->flow_close(flow);
    flow = NULL;
}

void hm_agent_finish(void) { check(hm_device.ops->finish(flow)); }

static void read_some(void *to, size_t offset, size_t bytes, bool nbi)
{
    check(hm_device.ops->copy(flow, to, HM_SIDE_HOST, hm_device.base + offset, HM_SIDE_OWN, bytes, nbi));
}

static void write_some(size_t offset, const void *from, size_t bytes, bool nbi)
{
    check(hm_device.ops->copy(flow, hm_device.base + offset, HM_SIDE_OWN, from, HM_SIDE_HOST, bytes, nbi));
}

void hm_agent_read(void *to, size_t offset, size_t bytes) { read_some(to, offset, bytes, false); }
void hm_agent_write(size_t offset, const void *from, size_t bytes) { write_some(offset, from, bytes, true); }

static struct line *line_of(uint64_t offset)
{
    uint64_t start = offset / LINE * LINE;
    for (size_t i = line_count; i-- > 0;)
        if (lines[i].offset == start) return &lines[i];
    struct line *l = &lines[line_count++];
    l->offset = start;
    l->dirty = 0;
    l->read = false;
    return l;
}

/* What has to be read: not what is only set. */
static size_t find_lines(struct hm_ask **asks, struct line **line, size_t n)
{
    size_t reads = 0;
    line_count = 0;
    for (size_t i = 0; i < n; i++) {
        line[i] = line_of(asks[i]->offset);
        if (asks[i]->op == HM_AMO_SET || line[i]->read) continue;
        line[i]->read = true;
        reads++;
    }
    return reads;
}

static void read_lines(size_t reads)
{
    bool nbi = reads > 1;
    for (size_t i = 0; i < line_count; i++)
        if (lines[i].read) read_some(lines[i].bytes, lines[i].offset, LINE, nbi);
    if (nbi) hm_agent_finish();
}

static uint64_t change(const struct hm_ask *ask, char *at)
{
    if (ask->op != HM_ASK_ADD_FLOAT)
        return ask->size == 8 ? hm_amo_do64((enum hm_amo)ask->op, at, ask->value, ask->cond)
                              : hm_amo_do32((enum hm_amo)ask->op, at, ask->value, ask->cond);
    if (ask->size == 8)
        hm_amo_add_f64(at, ask->value);
    else
        hm_amo_add_f32(at, ask->value);
    return 0;
}

static void apply(struct hm_ask *ask, struct line *line)
{
    unsigned at = (unsigned)(ask->offset - line->offset);
    bool failed = false;
    uint64_t old = change(ask, line->bytes + at);
    if (ask->op == HM_AMO_CAS) failed = ask->size == 8 ? old != ask->cond : (uint32_t)old != (uint32_t)ask->cond;
    if (ask->op != HM_AMO_FETCH && !failed)
        line->dirty |= (uint16_t)((ask->size == 8 ? 3u : 1u) << at / GRANULE);
    ask->value = old;
}

/* The next run of changed granules from bit *from on; its length in granules, 0: there is none. */
static unsigned next_run(uint16_t dirty, unsigned *from)
{
    unsigned rest = *from < GRANULES ? (unsigned)dirty >> *from : 0;
    if (!rest) return 0;
    *from += (unsigned)__builtin_ctz(rest);
    return (unsigned)__builtin_ctz(~((unsigned)dirty >> *from));
}

/* Calls `visit` for each run of changed bytes. */
static size_t each_run(void (*visit)(const struct line *l, size_t at, size_t bytes))
{
    size_t runs = 0;
    for (size_t i = 0; i < line_count; i++)
        for (unsigned from = 0, n; (n = next_run(lines[i].dirty, &from)) > 0; from += n, runs++)
            visit(&lines[i], from * GRANULE, n * GRANULE);
    return runs;
}

static void write_run(const struct line *l, size_t at, size_t bytes) { write_some(l->offset + at, l->bytes + at, bytes, true); }

static void ring_run(const struct line *l, size_t at, size_t bytes)
{
    hm_bell_look(hm_wait_own_bell(), hm_device.base + l->offset + at, bytes);
}

void hm_agent_do(struct hm_ask **asks, size_t n)
{
    struct line *line[HM_ASK_BATCH];
    size_t reads = find_lines(asks, line, n);
    read_lines(reads);
    for (size_t i = 0; i < n; i++) apply(asks[i], line[i]);
    if (!each_run(write_run)) return;
    hm_agent_finish();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    each_run(ring_run);
}

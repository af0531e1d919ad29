/* Requests between machines are messages. The progress thread of the owner, which must not wait, only queues them for the
 * agent; the agent answers. What returns nothing is acknowledged, some requests at a time, and no more than a few are
 * under way to a PE; the same holds for the bytes of puts and gets, which are cut into pieces of one message. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/agent.h"
#include "core/ask.h"
#include "core/device.h"
#include "core/far.h"
#include "core/message.h"
#include "core/place.h"
#include "core/world.h"

enum { ASK_PUT = HM_ASK_WORDS, ASK_GET };
enum { SILENT_MAX = 256 }; /* requests without a result that may be under way to a PE */
/* Bytes of a put or get that may be. */
#define WINDOW ((size_t)512 << 10)

/* To the owner; the bytes of a put follow. */
struct order {
    struct hm_message head;
    struct hm_ask ask;  /* put and get: offset */
    uint64_t bytes, at; /* put and get: how many, and where in the whole */
    uint64_t transfer;  /* struct transfer at the asker's; 0: a request without a result */
};
/* And back; the bytes of a get follow. */
struct answer {
    struct hm_message head;
    uint64_t transfer, value, bytes, at;
};

/* At the asker's, on the stack of who waits for it. */
struct transfer {
    uint64_t left;  /* bytes that are not acknowledged; of a word: 1 */
    uint64_t value; /* of a word */
    char *to;       /* of a get */
};

struct node {
    struct node *next;
    int from;
    struct order order;
    char bytes[];
};

static struct {
    struct hm_bell bell;        /* who waits for answers; of this process alone */
    uint64_t *asked, *answered; /* [npes] requests without a result */
    struct node *heard;         /* the last one first */
    struct node *first;         /* taken from there, in their order: the agent's alone */
} far;

static HM_NORETURN HM_COLD void no_memory(void) { hm_die(NULL, "out of memory for requests on device memory"); }

void hm_agent_far_start(const char *call)
{
    size_t n = hm_places.machines > 1 ? (size_t)hm_world.npes : 0;
    if (!n) return;
    far.asked = calloc(n, sizeof *far.asked);
    far.answered = calloc(n, sizeof *far.answered);
    if (!far.asked || !far.answered) hm_die(call, "out of memory");
    hm_bell_let_wakers_fence(&far.bell);
}

void hm_agent_far_stop(void)
{
    free(far.asked);
    free(far.answered);
    far.asked = far.answered = NULL;
}

/* --- those who ask --- */

static void begin_wait(struct hm_wait *w, int pe, const char *call)
{
    hm_wait_begin(w, &far.bell, false, call);
    hm_wait_for_thread(w);
    w->about.kind = HM_BLOCKED_AGENT;
    w->about.pe = pe;
}

static void await_transfer(struct transfer *t, uint64_t at_most, int pe, const char *call)
{
    struct hm_wait w;
    if (__atomic_load_n(&t->left, __ATOMIC_ACQUIRE) <= at_most) return;
    begin_wait(&w, pe, call);
    while (__atomic_load_n(&t->left, __ATOMIC_ACQUIRE) > at_most) hm_wait_pause(&w);
    hm_wait_end(&w);
}

static void await_answered(int pe, uint64_t count, const char *call)
{
    struct hm_wait w;
    if ((int64_t)(__atomic_load_n(&far.answered[pe], __ATOMIC_ACQUIRE) - count) >= 0) return;
    begin_wait(&w, pe, call);
    while ((int64_t)(__atomic_load_n(&far.answered[pe], __ATOMIC_ACQUIRE) - count) < 0) hm_wait_pause(&w);
    hm_wait_end(&w);
}

uint64_t hm_agent_ask_far(int pe, const struct hm_ask *ask, const char *call)
{
    struct transfer t = {.left = 1};
    struct order m = {.head = {HM_MESSAGE_AGENT, 0}, .ask = *ask};
    bool silent = hm_ask_is_silent(ask);
    if (silent)
        await_answered(pe, __atomic_add_fetch(&far.asked[pe], 1, __ATOMIC_SEQ_CST) - SILENT_MAX, call);
    else
        m.transfer = (uintptr_t)&t;
    hm_far_message(pe, &m, sizeof m);
    if (!silent) await_transfer(&t, 0, pe, call);
    return t.value;
}

void hm_agent_quiet_far(const char *call)
{
    for (int pe = 0; pe < hm_world.npes; pe++)
        if (hm_place_is_far(pe)) await_answered(pe, __atomic_load_n(&far.asked[pe], __ATOMIC_ACQUIRE), call);
}

static void take_in(struct transfer *t, uint64_t bytes, int pe, const char *call)
{
    await_transfer(t, WINDOW > bytes ? WINDOW - bytes : 0, pe, call);
    __atomic_fetch_add(&t->left, bytes, __ATOMIC_SEQ_CST);
}

void hm_agent_put(struct hm_ctx *ctx, int pe, size_t offset, const void *from, size_t bytes, const char *call)
{
    size_t room = hm_far_message_max();
    struct order *m = malloc(room);
    struct transfer t = {0};
    (void)ctx;
    if (!m) no_memory();
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < room - sizeof *m ? bytes - at : room - sizeof *m;
        take_in(&t, n, pe, call);
        *m = (struct order){.head = {HM_MESSAGE_AGENT, 0}, .bytes = n, .at = at, .transfer = (uintptr_t)&t};
        m->ask = (struct hm_ask){.op = ASK_PUT, .offset = offset + at};
        memcpy(m + 1, (const char *)from + at, n);
        hm_far_message(pe, m, sizeof *m + n);
    }
    free(m);
    await_transfer(&t, 0, pe, call);
}

void hm_agent_get(struct hm_ctx *ctx, void *to, int pe, size_t offset, size_t bytes, const char *call)
{
    size_t room = hm_far_message_max() - sizeof(struct answer);
    struct transfer t = {.to = to};
    (void)ctx;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < room ? bytes - at : room;
        take_in(&t, n, pe, call);
        struct order m = {.head = {HM_MESSAGE_AGENT, 0}, .bytes = n, .at = at, .transfer = (uintptr_t)&t};
        m.ask = (struct hm_ask){.op = ASK_GET, .offset = offset + at};
        hm_far_message(pe, &m, sizeof m);
    }
    await_transfer(&t, 0, pe, call);
}

/* --- the progress thread --- */

static HM_NORETURN HM_COLD void nonsense(int from, const char *why)
{
    hm_die(NULL, "PE %d has sent something about device memory that makes no sense: %s", from, why);
}

static bool is_right(const struct order *m, size_t rest)
{
    bool word = m->ask.op < HM_ASK_WORDS;
    uint64_t bytes = word ? m->ask.size : m->bytes, size = hm_device.size;
    if (m->ask.op > ASK_GET || rest != (m->ask.op == ASK_PUT ? m->bytes : 0)) return false;
    if (word && ((bytes != 4 && bytes != 8) || m->ask.offset % bytes)) return false;
    if (m->ask.op == ASK_GET && bytes > hm_far_message_max() - sizeof(struct answer)) return false;
    return m->ask.offset < size && bytes <= size - m->ask.offset && !m->transfer == (word && hm_ask_is_silent(&m->ask));
}

static void hear_order(int from, const void *bytes, size_t n)
{
    size_t rest = n - sizeof(struct order);
    struct node *node = n < sizeof(struct order) ? NULL : malloc(sizeof *node + rest);
    if (n < sizeof(struct order)) nonsense(from, "it is too short");
    if (!node) no_memory();
    node->from = from;
    memcpy(&node->order, bytes, sizeof node->order);
    memcpy(node->bytes, (const char *)bytes + sizeof node->order, rest);
    if (!is_right(&node->order, rest)) nonsense(from, "a request leads outside of the device heap");
    node->next = __atomic_load_n(&far.heard, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&far.heard, &node->next, node, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
    hm_agent_wake();
}

/* Behind the last subtraction the transfer may be gone. */
static void hear_answer(int from, const void *bytes, size_t n)
{
    struct answer a;
    if (n < sizeof a) nonsense(from, "it is too short");
    memcpy(&a, bytes, sizeof a);
    struct transfer *t = (struct transfer *)(uintptr_t)a.transfer;
    if (!t) {
        __atomic_fetch_add(&far.answered[from], a.value, __ATOMIC_SEQ_CST);
    } else {
        if (n > sizeof a) memcpy(t->to + a.at, (const char *)bytes + sizeof a, n - sizeof a);
        t->value = a.value;
        __atomic_fetch_sub(&t->left, a.bytes, __ATOMIC_SEQ_CST);
    }
    hm_bell_ring(&far.bell);
}

bool hm_agent_heard(int from, const void *bytes, size_t n)
{
    struct hm_message head;
    if (n < sizeof head || !hm_device_any()) return false;
    memcpy(&head, bytes, sizeof head);
    if (head.kind != HM_MESSAGE_AGENT && head.kind != HM_MESSAGE_AGENT_ANSWER) return false;
    (head.kind == HM_MESSAGE_AGENT ? hear_order : hear_answer)(from, bytes, n);
    return true;
}

/* --- the agent --- */

bool hm_agent_has_far(void) { return __atomic_load_n(&far.heard, __ATOMIC_SEQ_CST) != NULL; }

static void take_heard(void)
{
    struct node *last = __atomic_exchange_n(&far.heard, NULL, __ATOMIC_ACQ_REL);
    while (last) {
        struct node *before = last->next;
        last->next = far.first;
        far.first = last;
        last = before;
    }
}

static void answer(int to, const struct answer *a)
{
    struct answer m = *a;
    m.head = (struct hm_message){HM_MESSAGE_AGENT_ANSWER, 0};
    hm_far_message(to, &m, sizeof m);
}

/* Requests without a result are acknowledged together as long as they are one PE's. */
static void answer_words(struct node *const *nodes, size_t n)
{
    uint64_t silent = 0;
    for (size_t i = 0; i < n; i++) {
        const struct order *m = &nodes[i]->order;
        if (m->transfer) {
            answer(nodes[i]->from, &(struct answer){.transfer = m->transfer, .value = m->ask.value, .bytes = 1});
            continue;
        }
        silent++;
        if (i + 1 < n && nodes[i + 1]->from == nodes[i]->from && !nodes[i + 1]->order.transfer) continue;
        answer(nodes[i]->from, &(struct answer){.value = silent});
        silent = 0;
    }
}

static void serve_words(void)
{
    struct node *nodes[HM_ASK_BATCH];
    struct hm_ask *asks[HM_ASK_BATCH];
    size_t n = 0;
    while (far.first && far.first->order.ask.op < HM_ASK_WORDS && n < HM_ASK_BATCH) {
        nodes[n] = far.first;
        far.first = far.first->next;
        asks[n] = &nodes[n]->order.ask;
        n++;
    }
    if (!n) return;
    hm_agent_do(asks, n);
    answer_words(nodes, n);
    for (size_t i = 0; i < n; i++) free(nodes[i]);
}

static void serve_puts(void)
{
    struct node *done = NULL, *n;
    while (far.first && far.first->order.ask.op == ASK_PUT) {
        n = far.first;
        far.first = n->next;
        hm_agent_write(n->order.ask.offset, n->bytes, n->order.bytes);
        n->next = done;
        done = n;
    }
    if (!done) return;
    hm_agent_finish();
    while ((n = done) != NULL) {
        const struct order *m = &n->order;
        done = n->next;
        hm_bell_ring_for(hm_wait_own_bell(), hm_device.base + m->ask.offset, m->bytes);
        answer(n->from, &(struct answer){.transfer = m->transfer, .bytes = m->bytes});
        free(n);
    }
}

static void serve_gets(void)
{
    while (far.first && far.first->order.ask.op == ASK_GET) {
        struct node *n = far.first;
        const struct order *m = &n->order;
        struct answer *a = malloc(sizeof *a + m->bytes);
        far.first = n->next;
        if (!a) no_memory();
        *a = (struct answer){.head = {HM_MESSAGE_AGENT_ANSWER, 0}, .transfer = m->transfer, .bytes = m->bytes, .at = m->at};
        hm_agent_read(a + 1, m->ask.offset, m->bytes);
        hm_far_message(n->from, a, sizeof *a + m->bytes);
        free(a);
        free(n);
    }
}

bool hm_agent_serve_far(void)
{
    take_heard();
    if (!far.first) return false;
    while (far.first) {
        serve_words();
        serve_puts();
        serve_gets();
    }
    return true;
}

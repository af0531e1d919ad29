/* Late visibility: with it on, a copy that was submitted to a stream counts as done when its turn has come, but its
 * effect is withheld. It appears in parts, out of order, at random times; all of it at the latest when somebody waits
 * for the stream, or for an event behind it, or when a later task of the stream needs it.
 */
#define _GNU_SOURCE
#include "task.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HELD = 256 }; /* parts withheld in a stream; then all of them appear */

struct tw_held {
    struct tw_held *next;
    struct tw_task *task;
    struct tw_segment part;
    uint64_t due;
};

static _Atomic uint64_t late_least, late_most; /* ns; most 0: nothing is late */
static _Atomic uint64_t seed;

int tw_late_read(const char *text, const char *seed_text)
{
    char *end;
    if (seed_text) atomic_store(&seed, strtoull(seed_text, NULL, 0));
    if (!text || !*text || !strcmp(text, "0")) {
        atomic_store(&late_most, 0);
        return 0;
    }
    unsigned long long least = 50000, most = 500000;
    if (strcmp(text, "1")) {
        least = strtoull(text, &end, 10);
        if (end == text || *end != ':') return -1;
        most = strtoull(end + 1, &end, 10);
        if (*end || most < least || !most) return -1;
    }
    atomic_store(&late_least, least * 1000);
    atomic_store(&late_most, most * 1000);
    return 0;
}

bool tw_late_on(void) { return atomic_load_explicit(&late_most, memory_order_relaxed) != 0; }

/* splitmix64: each number by its place, so that the same seed gives the same numbers to the same calls. */
uint64_t tw_late_draw(uint64_t range)
{
    uint64_t x = atomic_fetch_add(&seed, 0x9e3779b97f4a7c15ull) + 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return range ? x % range : 0;
}

void tw_task_apply(const struct tw_task *t, const struct tw_segment *g)
{
    if (t->copy.reduce) t->copy.reduce(g->to, g->from, g->bytes);
    else if (g->from) tw_copy_bytes(g->to, g->from, g->bytes);
    else tw_set_bytes(g->to, t->copy.byte, g->bytes, g->to_memory != NULL);
}

/* In the stream's thread, under its lock. */
void tw_late_apply(struct tw_stream *s, uint64_t until)
{
    for (struct tw_held **at = &s->held, *h; (h = *at);) {
        if (h->due > until) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        s->nheld--;
        tw_task_apply(h->task, &h->part);
        tw_task_finish(h->task);
        free(h);
    }
}

uint64_t tw_late_next(const struct tw_stream *s)
{
    uint64_t least = UINT64_MAX;
    for (const struct tw_held *h = s->held; h; h = h->next)
        if (h->due < least) least = h->due;
    return least;
}

static bool overlap(const char *a, size_t an, const char *b, size_t bn) { return a && b && a < b + bn && b < a + an; }

static bool needs(const struct tw_segment *g, const struct tw_segment *held)
{
    return overlap(g->to, g->bytes, held->to, held->bytes) || overlap(g->to, g->bytes, held->from, held->bytes) ||
           overlap(g->from, g->bytes, held->to, held->bytes);
}

/* Puts a part into a random place of those that are withheld. */
static bool withhold(struct tw_stream *s, struct tw_task *t, struct tw_segment part)
{
    struct tw_held *h = malloc(sizeof *h), **at = &s->held;
    uint64_t least = atomic_load(&late_least), most = atomic_load(&late_most);
    if (!h) return false;
    *h = (struct tw_held){.task = t, .part = part, .due = tw_now_ns() + least + tw_late_draw(most - least + 1)};
    for (uint64_t k = tw_late_draw(4); *at && k; k--) at = &(*at)->next;
    h->next = *at;
    *at = h;
    s->nheld++;
    __atomic_add_fetch(&t->parts, 1, __ATOMIC_RELAXED);
    return true;
}

void tw_late_withhold(struct tw_stream *s, struct tw_task *t, struct tw_segment g)
{
    while (g.bytes) {
        struct tw_segment part = g;
        if (g.bytes >= 16 && tw_late_draw(2))
            part.bytes = (8 + tw_late_draw(g.bytes - 8)) / 8 * 8; /* words stay whole */
        if (!withhold(s, t, part)) tw_task_apply(t, &part);
        g.to += part.bytes;
        if (g.from) g.from += part.bytes;
        g.bytes -= part.bytes;
    }
}

bool tw_late_clash(const struct tw_stream *s, const struct tw_task *t)
{
    if (s->nheld >= MAX_HELD) return true;
    for (const struct tw_held *h = s->held; h; h = h->next)
        for (size_t i = 0; i < t->nsegments; i++)
            if (needs(&t->segment[i], &h->part)) return true;
    return false;
}

void tw_late_want(struct tw_stream *s)
{
    for (struct tw_held *h = s->held; h; h = h->next) h->due = 0;
}

/* Modelled time. Links, copy engines and memories are queues: each has a time until which it is taken, in the state
 * that all processes of the node share. A transfer begins when it was asked for and its queues are free; it takes
 * them for bytes / bandwidth, and what it brings is there a latency later, so that transfers behind each other
 * overlap in their latencies.
 *
 * Each process has a clock: what its host calls cost, and the ends of what it has waited for. Processes know of each
 * other's only what they learn by messages: whoever reads a flag that was set at t calls twin_meet(t).
 */
#define _GNU_SOURCE
#include "engine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tw_counts tw_live;
static _Atomic uint64_t host;
static int log_fd = -1;

static void raise_to(_Atomic uint64_t *t, uint64_t ns)
{
    uint64_t now = atomic_load_explicit(t, memory_order_relaxed);
    while (now < ns && !atomic_compare_exchange_weak(t, &now, ns)) {
    }
}

static _Atomic uint64_t *here(void)
{
    _Atomic uint64_t *stream = tw_stream_clock_here();
    return stream ? stream : &host;
}

uint64_t tw_clock_now(void) { return atomic_load_explicit(here(), memory_order_relaxed); }
void tw_clock_spend(uint64_t ns) { atomic_fetch_add_explicit(here(), ns, memory_order_relaxed); }

void tw_clock_meet(uint64_t ns)
{
    raise_to(here(), ns);
    raise_to(&tw_shared->latest, ns);
}

/* As after a copy, many times: what all processes share is brought up to date now and then. */
void tw_clock_pass(uint64_t ns)
{
    enum { BEHIND = 100000 };
    raise_to(here(), ns);
    if (ns > atomic_load_explicit(&tw_shared->latest, memory_order_relaxed) + BEHIND) raise_to(&tw_shared->latest, ns);
}

/* A process that comes later begins at what the others have come to. */
void tw_clock_open(void)
{
    const char *path = getenv("HBMESH_TWIN_LOG");
    raise_to(&host, atomic_load(&tw_shared->latest));
    if (!path || !*path || log_fd >= 0) return;
    log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    static const char head[] = "pid,what,device,peer,bytes,stream,start_ns,end_ns\n";
    if (log_fd >= 0 && lseek(log_fd, 0, SEEK_END) == 0 && write(log_fd, head, sizeof head - 1) < 0) log_fd = -1;
}

/* Takes a queue for `ns`, not before `ready`. */
static uint64_t take(_Atomic uint64_t *queue, uint64_t ready, uint64_t ns)
{
    uint64_t busy = atomic_load_explicit(queue, memory_order_relaxed), start;
    do
        start = busy > ready ? busy : ready;
    while (!atomic_compare_exchange_weak(queue, &busy, start + ns));
    return start;
}

/* Both ends of a network link, one after the other: exact while one of them is the narrow one. */
static struct tw_span over(const struct tw_link *l, _Atomic uint64_t *a, _Atomic uint64_t *b, size_t bytes,
                           uint64_t ready)
{
    uint64_t ns = (uint64_t)((double)bytes / l->bytes_per_ns), start = take(a, ready, ns);
    if (b) start = take(b, start, ns);
    return (struct tw_span){start, start + ns + (uint64_t)l->ns};
}

struct tw_span tw_clock_copy(enum tw_way way, int from, int to, size_t bytes, uint64_t ready)
{
    struct tw_shared *s = tw_shared;
    const struct tw_config *c = &s->config;
    struct tw_device *d = to >= 0 ? &s->device[to] : NULL, *f = from >= 0 ? &s->device[from] : NULL;
    switch (way) {
    case TW_H2D: return over(&c->pcie, &d->down_busy, NULL, bytes, ready);
    case TW_D2H: return over(&c->pcie, &f->up_busy, NULL, bytes, ready);
    case TW_D2D: return over(&c->hbm_link, &d->hbm_busy, NULL, 2 * bytes, ready); /* read and written */
    case TW_SET: return d ? over(&c->hbm_link, &d->hbm_busy, NULL, bytes, ready) : (struct tw_span){ready, ready};
    case TW_P2P:
        if (c->all_roce || tw_server_of(from) != tw_server_of(to))
            return over(&c->roce, &f->nic_out, &d->nic_in, bytes, ready);
        return over(&c->hccs, &s->hccs_busy[from][to], NULL, bytes, ready);
    default: return (struct tw_span){ready, ready};
    }
}

struct tw_span tw_clock_work(uint64_t ns, uint64_t ready) { return (struct tw_span){ready, ready + ns}; }

void tw_clock_reset(void)
{
    for (int i = 0; i < TW_DEVICES; i++) {
        struct tw_device *d = &tw_shared->device[i];
        _Atomic uint64_t *queues[] = {&d->hbm_busy, &d->up_busy, &d->down_busy, &d->nic_in, &d->nic_out};
        for (unsigned k = 0; k < sizeof queues / sizeof *queues; k++) atomic_store(queues[k], 0);
        for (int k = 0; k < TW_DEVICES; k++) atomic_store(&tw_shared->hccs_busy[i][k], 0);
    }
    atomic_store(&tw_shared->latest, 0);
    atomic_store(&host, 0);
    tw_streams_rewind();
}

static const char *way_name(int from, int to)
{
    return from < 0 ? to < 0 ? "h2h" : "h2d" : to < 0 ? "d2h" : from == to ? "d2d" : "p2p";
}

void tw_note(const char *what, const struct tw_stream *stream, int device, int peer, size_t bytes, struct tw_span span)
{
    char line[200];
    if (__builtin_expect(log_fd < 0, 1)) return;
    int n = snprintf(line, sizeof line, "%d,%s,%d,%d,%zu,%p,%llu,%llu\n", tw_pid(),
                     what ? what : way_name(device, peer), device, peer, bytes, (const void *)stream,
                     (unsigned long long)span.start, (unsigned long long)span.end);
    if (write(log_fd, line, (size_t)n) < 0) log_fd = -1;
}

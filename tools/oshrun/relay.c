/* The streams of all PEs in the event loop: output to the sinks, input from the spool. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define DRAIN_STALL (500 * HM_MS) /* a job that failed waits no longer for a reader of its output */

/* --- output --- */

void hm_relay_watch(struct hm_guard *g, int number)
{
    struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
    bool want = s->fd >= 0 && !s->sink->full;
    if (want == s->polled) return;
    if (want)
        hm_guard_watch(g, s->fd, HM_WATCH_STREAM, number, EPOLLIN);
    else if (s->fd >= 0)
        hm_guard_unwatch(g, s->fd);
    s->polled = want;
}

/* After anything that may have filled or emptied a sink. A reader that has gone takes the pipes with it, so
 * that PEs learn of it as they would without us. */
static void sink_settle(struct hm_guard *g, struct hm_sink *sink)
{
    bool want = sink->end > sink->at && !sink->broken;
    if (want != sink->polled) {
        if (want)
            hm_guard_watch(g, sink->fd, HM_WATCH_SINK, (int)(sink - g->sinks), EPOLLOUT);
        else
            hm_guard_unwatch(g, sink->fd);
        sink->polled = want;
    }
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        if (s->sink != sink) continue;
        if (sink->broken && s->fd >= 0) {
            if (s->polled) hm_guard_unwatch(g, s->fd);
            s->polled = false;
            hm_stream_close(s);
        }
        hm_relay_watch(g, number);
    }
}

void hm_relay_stream(struct hm_guard *g, int number)
{
    struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
    if (s->fd < 0 || !s->polled) return;
    bool was_full = s->sink->full, was_broken = s->sink->broken;
    int fd = s->fd;
    if (!hm_stream_read(s)) s->polled = false;
    (void)fd; /* a closed descriptor leaves epoll by itself */
    bool waits = s->sink->end > s->sink->at;
    if (s->sink->full != was_full || s->sink->broken != was_broken || waits != s->sink->polled)
        sink_settle(g, s->sink);
}

void hm_relay_sink(struct hm_guard *g, int number)
{
    hm_sink_flush(&g->sinks[number]);
    sink_settle(g, &g->sinks[number]);
}

int64_t hm_relay_tick(struct hm_guard *g, int64_t now)
{
    int64_t next = 0;
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        if (!s->since) continue;
        int64_t t = hm_stream_tick(s, now);
        if (t && (!next || t < next)) next = t;
        if (s->sink->end > s->sink->at && !s->sink->polled) sink_settle(g, s->sink);
    }
    return next;
}

/* Waits until the sink takes more. False: give up, since the job failed and its reader stalls, or the user
 * insists. */
static bool drain_wait(struct hm_guard *g, struct hm_sink *sink)
{
    struct pollfd p[2] = {{.fd = sink->fd, .events = POLLOUT}, {.fd = g->control, .events = POLLIN}};
    int n = poll(p, 2, g->exit_status ? (int)(DRAIN_STALL / HM_MS) : -1);
    if (n == 0) return false;
    if (n > 0 && p[1].revents) {
        struct hm_note note;
        ssize_t k = read(g->control, &note, sizeof note);
        if (k <= 0) return false;
        if (note.kind == HM_NOTE_SIGNAL &&
            (note.value == SIGINT || note.value == SIGTERM || note.value == SIGHUP)) {
            if (!g->exit_status) g->exit_status = 128 + note.value;
            return false;
        }
    }
    hm_sink_flush(sink);
    return true;
}

/* All processes are gone: what is left in the pipes, then in the sinks. */
void hm_relay_drain(struct hm_guard *g)
{
    for (int number = 0; number < 2 * g->npes; number++) {
        struct hm_stream *s = &g->pes[number / 2].stream[number % 2];
        while (s->fd >= 0) {
            struct pollfd p = {.fd = s->fd, .events = POLLIN};
            if (s->sink->broken || (!s->sink->full && poll(&p, 1, 0) == 0))
                hm_stream_close(s);
            else if (!s->sink->full)
                hm_stream_read(s);
            else if (!drain_wait(g, s->sink))
                return;
        }
    }
    for (int i = 0; i < 2; i++)
        while (g->sinks[i].end > g->sinks[i].at)
            if (!drain_wait(g, &g->sinks[i])) return;
}

/* --- input for all --- */

void hm_relay_spool(struct hm_guard *g)
{
    if (!g->spool) return;
    for (int pe = 0; pe < g->npes; pe++) {
        int fd = hm_spool_writer(g->spool, pe);
        if (fd < 0) continue;
        if (hm_spool_wants(g->spool, pe))
            hm_guard_watch(g, fd, HM_WATCH_READER, pe, EPOLLOUT);
        else
            hm_guard_watch(g, fd, HM_WATCH_READER, pe, 0);
    }
}

void hm_relay_source(struct hm_guard *g)
{
    int fd = hm_spool_source(g->spool);
    if (fd < 0) return;
    if (!hm_spool_fill(g->spool)) {
        hm_guard_unwatch(g, fd);
        close(fd);
    }
    for (int pe = 0; pe < g->npes; pe++)
        hm_spool_feed(g->spool, pe);
    hm_relay_spool(g);
}

void hm_relay_reader(struct hm_guard *g, int pe, bool gone)
{
    if (gone) hm_spool_drop(g->spool, pe);
    hm_spool_feed(g->spool, pe);
    hm_relay_spool(g);
}

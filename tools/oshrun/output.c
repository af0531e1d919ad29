#define _GNU_SOURCE
#include "output.h"

#include "base/os.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_HIGH (512u << 10) /* bytes in a sink that stop its streams */
#define LINE_MOST (1u << 20)   /* a longer line is passed on in pieces */
#define READ_MOST (64u << 10)

static bool grow(char **buf, size_t *room, size_t need)
{
    if (need <= *room) return true;
    size_t n = *room ? *room : 4096;
    while (n < need)
        n *= 2;
    char *more = realloc(*buf, n);
    if (!more) return false;
    *buf = more;
    *room = n;
    return true;
}

/* --- sinks --- */

/* Non-blocking mode belongs to the open file, which others share with us: make one of our own where the
 * system lets us, else write only what poll says will not block. */
void hm_sink_open(struct hm_sink *sink, int fd)
{
    struct stat st;
    char path[64];
    *sink = (struct hm_sink){.fd = fd};
    if (fstat(fd, &st) != 0) return;
    sink->is_socket = S_ISSOCK(st.st_mode);
    sink->is_file = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
    if (sink->is_socket || sink->is_file) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0) return;
    sink->fd = own;
    sink->reopened = true;
}

void hm_sink_close(struct hm_sink *sink)
{
    if (sink->reopened) close(sink->fd);
    free(sink->buf);
    *sink = (struct hm_sink){.fd = -1, .broken = true};
}

static ssize_t sink_write(struct hm_sink *sink, const char *data, size_t n)
{
    if (sink->reopened || sink->is_file) return write(sink->fd, data, n);
    if (sink->is_socket) {
        ssize_t k = send(sink->fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k >= 0 || errno != ENOTSOCK) return k;
    }
    struct pollfd p = {.fd = sink->fd, .events = POLLOUT};
    if (poll(&p, 1, 0) == 1 && p.revents) return write(sink->fd, data, n < 4096 ? n : 4096);
    errno = EAGAIN;
    return -1;
}

void hm_sink_flush(struct hm_sink *sink)
{
    while (sink->at < sink->end && !sink->broken) {
        ssize_t k = sink_write(sink, sink->buf + sink->at, sink->end - sink->at);
        if (k > 0)
            sink->at += (size_t)k;
        else if (k < 0 && errno == EINTR)
            continue;
        else if (k < 0 && errno == EAGAIN)
            break;
        else
            sink->broken = true;
    }
    if (sink->at == sink->end || sink->broken) sink->at = sink->end = 0;
    sink->full = sink->end - sink->at >= SINK_HIGH;
}

static void sink_put(struct hm_sink *sink, const char *data, size_t n)
{
    if (!n || sink->broken) return;
    if (sink->at && sink->end + n > sink->room) {
        memmove(sink->buf, sink->buf + sink->at, sink->end - sink->at);
        sink->end -= sink->at;
        sink->at = 0;
    }
    if (!grow(&sink->buf, &sink->room, sink->end + n)) return;
    memcpy(sink->buf + sink->end, data, n);
    sink->end += n;
}

/* Puts whole or partial lines of a stream into the sink, labelled where asked for. */
static void sink_put_labelled(struct hm_sink *sink, struct hm_stream *s, const char *data, size_t n)
{
    char label[16];
    size_t k = (size_t)snprintf(label, sizeof label, "[%d] ", s->pe);
    if (sink->middle && sink->middle != s) {
        sink_put(sink, "\n", 1);
        sink->middle = NULL;
    }
    while (n) {
        const char *newline = memchr(data, '\n', n);
        size_t part = newline ? (size_t)(newline - data) + 1 : n;
        if (!sink->middle) sink_put(sink, label, k);
        sink_put(sink, data, part);
        sink->middle = newline ? NULL : s;
        data += part;
        n -= part;
    }
}

static void stream_emit(struct hm_stream *s, size_t n)
{
    if (s->label) {
        sink_put_labelled(s->sink, s, s->buf, n);
    } else {
        sink_put(s->sink, s->buf, n);
        s->sink->middle = s->buf[n - 1] == '\n' ? NULL : s;
    }
    memmove(s->buf, s->buf + n, s->len - n);
    s->len -= n;
    hm_sink_flush(s->sink);
}

void hm_sink_line(struct hm_sink *sink, const char *text, size_t n)
{
    if (sink->middle) sink_put(sink, "\n", 1);
    sink->middle = NULL;
    sink_put(sink, text, n);
    hm_sink_flush(sink);
}

/* --- streams --- */

/* Passes on all whole lines in the buffer. */
static void stream_lines(struct hm_stream *s, size_t fresh)
{
    const char *last = fresh ? memrchr(s->buf + s->len - fresh, '\n', fresh) : NULL;
    if (last) {
        stream_emit(s, (size_t)(last - s->buf) + 1);
        s->since = 0;
    }
    if (s->len >= LINE_MOST || (s->eager && s->len)) stream_emit(s, s->len);
    if (!s->len)
        s->since = 0;
    else if (!s->since)
        s->since = (int64_t)hm_os_now();
}

bool hm_stream_read(struct hm_stream *s)
{
    if (!grow(&s->buf, &s->room, s->len + READ_MOST)) return true;
    ssize_t n = read(s->fd, s->buf + s->len, READ_MOST);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n <= 0) { /* a pseudo terminal ends with EIO */
        hm_stream_close(s);
        return false;
    }
    s->len += (size_t)n;
    stream_lines(s, (size_t)n);
    return true;
}

int64_t hm_stream_tick(struct hm_stream *s, int64_t now)
{
    if (!s->since || s->sink->full) return 0;
    if (now - s->since < HM_LINE_WAIT) return s->since + HM_LINE_WAIT;
    stream_emit(s, s->len);
    s->since = 0;
    return 0;
}

void hm_stream_close(struct hm_stream *s)
{
    if (s->len) stream_emit(s, s->len);
    if (s->fd >= 0) close(s->fd);
    free(s->buf);
    s->buf = NULL;
    s->len = s->room = 0;
    s->since = 0;
    s->fd = -1;
}

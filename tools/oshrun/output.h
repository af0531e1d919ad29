/* What PEs print on its way to the launcher's standard output and error.
 *
 * A stream is the pipe or pseudo terminal that one PE writes to; a sink is where it goes. Lines of different
 * streams stay whole; an unfinished line is passed on after HM_LINE_WAIT. A sink that takes nothing for a
 * while holds up the streams that feed it and nothing else.
 */
#ifndef OSHRUN_OUTPUT_H
#define OSHRUN_OUTPUT_H

#include "base/base.h"

#define HM_LINE_WAIT 100000000 /* ns */

struct hm_stream;

struct hm_sink {
    int fd;
    bool reopened; /* `fd` is a description of our own and does not block */
    bool is_socket, is_file;
    bool broken; /* nobody reads any more */
    bool full;   /* streams wait until there is room */
    bool polled;
    char *buf;
    size_t at, end, room; /* what waits to be written */
    struct hm_stream
        *middle; /* the stream that has left an unfinished line; NULL: the cursor is at column 0 */
};

struct hm_stream {
    int fd; /* -1: ended */
    int pe;
    bool label;
    bool eager; /* unfinished lines are not held back: somebody types */
    bool polled;
    struct hm_sink *sink;
    char *buf;
    size_t len, room;
    int64_t since; /* when the unfinished line in buf began, ns; 0: there is none */
};

void hm_sink_open(struct hm_sink *sink, int fd);
void hm_sink_close(struct hm_sink *sink);
/* Writes what waits, as far as the sink takes it. */
void hm_sink_flush(struct hm_sink *sink);
/* A line of the launcher itself; begins at column 0. */
void hm_sink_line(struct hm_sink *sink, const char *text, size_t n);

/* Reads what is there. False at the end. */
bool hm_stream_read(struct hm_stream *s);
/* Passes on an unfinished line that has waited long enough; when to look again (ns), 0: need not. */
int64_t hm_stream_tick(struct hm_stream *s, int64_t now);
void hm_stream_close(struct hm_stream *s);

#endif

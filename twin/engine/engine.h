/* The software NPU without its names: devices, memory, address ranges, streams, events, clock, faults.
 *
 * A facade in front of it has the names, codes and rules of a vendor's runtime. Functions return an enum tw_status; the
 * first to know an error says in a sentence what is wrong (tw_fail), which the facade fetches with tw_reason().
 */
#ifndef TW_ENGINE_H
#define TW_ENGINE_H

#include "wire.h"

#include <pthread.h>

/* --- errors --- */
int tw_fail(enum tw_status status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *tw_reason(void); /* of the calling thread's last error */

/* --- link.c: the node --- */
extern struct tw_shared *tw_shared; /* NULL: not attached */
int tw_attach(void);                /* TW_INVALID with a reason: the configuration; TW_IN_USE: attached already */
void tw_detach(void);
int tw_alive(int device); /* TW_LOST, TW_GONE, TW_FORKED; device -1: none in particular */
int tw_pid(void);
int tw_request(struct tw_request *q, struct tw_reply *r, int *fd);
bool tw_forked(void);

/* --- device.c: devices of the process and of its threads --- */
int tw_device_use(int device);             /* by the calling thread */
int tw_device_leave(int device, bool all); /* undoes one use, or all: the last one frees what lies on it */
int tw_device_current(void);               /* -1: none */
bool tw_device_open(int device);
struct tw_context;
struct tw_context *tw_context_current(void); /* NULL: none */
int tw_context_make(int device, struct tw_context **out); /* and uses it */
int tw_context_set(void *handle);
int tw_context_drop(void *handle);
void tw_context_call(struct tw_context *c, void (*fn)(void *), void *arg); /* one at a time: runtimes have one thread for it */
int tw_peer_set(int device, int peer, bool on);
bool tw_peer_get(int device, int peer);
int tw_server_of(int device);

/* --- memory.c: physical memory, device addresses, and what joins them --- */
enum tw_origin { TW_MINE, TW_IMPORTED, TW_KEY };

/* Physical memory as this process knows it. */
struct tw_physical {
    struct tw_physical *next;
    uint64_t id, token; /* with the driver; of its export or import */
    size_t bytes, whole;
    char *secret, *mapping; /* where the engine itself reaches it: the program's address of it faults */
    int home;               /* the device it lies on */
    int user;               /* the device it was imported for; home otherwise */
    enum tw_origin origin;
    int maps, imports;
    bool told; /* the driver, that this process has done with it */
    _Atomic bool freed;
    _Atomic int pins; /* tasks that will use it */
};

/* A stretch of device addresses with memory behind it. */
struct tw_piece {
    struct tw_piece *next;
    uintptr_t va;
    size_t bytes;
    char *secret;
    struct tw_physical *physical;
    bool reserved; /* lies in a range that the program has reserved */
};

struct tw_arena {
    uintptr_t base;
    size_t bytes;
    _Atomic(struct tw_piece *) *table; /* for each page of device addresses */
};
extern struct tw_arena tw_arena;

/* Is it a device address? Lock-free, as is tw_piece_at: NULL where no memory is behind it. */
static inline bool tw_is_device(const void *p) { return (uintptr_t)p - tw_arena.base < tw_arena.bytes; }
static inline struct tw_piece *tw_piece_at(const void *p)
{
    uintptr_t offset = (uintptr_t)p - tw_arena.base;
    if (offset >= tw_arena.bytes) return NULL;
    struct tw_piece *piece = atomic_load_explicit(&tw_arena.table[offset / TW_PAGE], memory_order_acquire);
    return piece && (uintptr_t)p - piece->va < piece->bytes ? piece : NULL;
}

int tw_memory_open(void);
void tw_memory_close(void);
int tw_malloc(int device, size_t bytes, bool page, void **p); /* not page: it may be a part of one */
int tw_free(void *p);
void tw_free_device(int device); /* all that tw_malloc has given out on it */
int tw_physical_make(int device, size_t bytes, struct tw_physical **out);
int tw_physical_free(struct tw_physical *m);
struct tw_physical *tw_physical_check(const void *handle); /* NULL: none of ours */
int tw_physical_export(struct tw_physical *m, uint32_t flags, uint64_t *token);
int tw_physical_import(uint64_t token, int device, uint32_t flags, struct tw_physical **out);
int tw_allow(uint64_t token, const int32_t *pids, size_t n);
int tw_reserve(size_t bytes, void *expected, void **p);
int tw_unreserve(void *p);
int tw_map(void *p, size_t bytes, struct tw_physical *m);
int tw_unmap(void *p);
int tw_key_export(void *p, size_t bytes, uint32_t flags, uint64_t *token);
int tw_key_import(uint64_t token, int device, void **p);
int tw_key_close(uint64_t token);

void tw_hold(struct tw_physical *m); /* until a task has used it */
void tw_let(struct tw_physical *m);

/* --- host.c: page-locked host memory, and copies of bytes --- */
int tw_host_malloc(size_t bytes, void **p);
int tw_host_free(void *p);
int tw_host_pin(void *p, size_t bytes);
int tw_host_unpin(void *p);
void tw_host_close(void);
enum { TW_PAGEABLE, TW_PINNED, TW_ALLOCATED };
int tw_host_kind(const void *p, size_t bytes);

int tw_check_range(const void *p, size_t bytes); /* TW_INVALID: device addresses without memory behind them */
/* At once, in this thread. Aligned words are read and written whole. */
void tw_copy_now(void *to, const void *from, size_t bytes);
void tw_copy_bytes(void *to, const void *from, size_t bytes); /* of addresses that the CPU may use */
void tw_set_now(void *to, int byte, size_t bytes);
void tw_set_bytes(char *to, int byte, size_t bytes, bool shared);
void *tw_secret(const void *p, size_t bytes); /* NULL: not in one piece; host memory: itself */

/* --- stream.c: tasks in order, each stream in a thread of its own --- */
struct tw_stream;
struct tw_event;
int tw_stream_make(int device, struct tw_stream **out); /* in the thread's context */
int tw_stream_drop(struct tw_stream *s);
/* One of the thread's context. NULL handle: the context's own stream. */
int tw_stream_find(void *handle, struct tw_stream **out);
int tw_stream_wait(struct tw_stream *s, int64_t ms); /* -1: as long as it takes */
int tw_stream_idle(struct tw_stream *s, bool *idle);
int tw_streams_wait(int device, int64_t ms);
void tw_streams_drop(int device, const struct tw_context *c); /* c: of that one only. What they have to do is done */
/* `at_once`: it is done, and seen by all, when the call returns. */
int tw_stream_copy(struct tw_stream *s, void *to, const void *from, size_t bytes, bool at_once);
int tw_stream_set(struct tw_stream *s, void *to, int byte, size_t bytes);
int tw_stream_reduce(struct tw_stream *s, void *to, const void *from, size_t bytes,
                     void (*fn)(void *, const void *, size_t));
int tw_stream_call(struct tw_stream *s, void (*fn)(void *), void *arg);
int tw_stream_kernel(struct tw_stream *s, uint64_t ns, void (*fn)(void *), void *arg);
int tw_stream_write(struct tw_stream *s, void *word, uint64_t value);
int tw_stream_await(struct tw_stream *s, void *word, uint64_t value, unsigned how);
void tw_word_changed(void); /* perhaps one that a stream waits for */
uint64_t tw_stream_clock(struct tw_stream *s);
_Atomic uint64_t *tw_stream_clock_here(void); /* NULL: not in a stream's thread */
void tw_streams_rewind(void); /* their clocks to 0 */
bool tw_in_host_func(void);
extern _Atomic int tw_task_fault; /* the code of the last task of this process that was made to fail; 0: none was */
int tw_late_read(const char *text, const char *seed); /* "0", "1", "min:max" in us; NULL: not late */

/* --- report.c: host functions that a thread of the program runs --- */
int tw_report_subscribe(uint64_t thread, struct tw_stream *s);
int tw_report_unsubscribe(uint64_t thread, struct tw_stream *s);
int tw_report_launch(struct tw_stream *s, void (*fn)(void *), void *arg, bool block);
int tw_report_process(int64_t ms);

/* --- event.c --- */
enum tw_event_kind {
    TW_EVENT_PLAIN, /* captures what was submitted; waiting before a record is an error */
    TW_EVENT_FLAG,  /* one flag on the device: a record raises it, a reset lowers it, a wait waits for it */
    TW_EVENT_EX     /* captures; nothing recorded is complete */
};
int tw_event_make(int device, enum tw_event_kind kind, unsigned flags, struct tw_event **out);
int tw_event_find(void *handle, struct tw_event **out);
int tw_event_drop(struct tw_event *e);
int tw_event_record(struct tw_event *e, struct tw_stream *s);
int tw_event_reset(struct tw_event *e, struct tw_stream *s);
int tw_event_done(struct tw_event *e, bool *done);
int tw_event_wait(struct tw_event *e, int64_t ms);
int tw_stream_wait_event(struct tw_stream *s, struct tw_event *e, int64_t ms);
int tw_event_waits_done(struct tw_event *e, bool *done);
int tw_event_time(struct tw_event *e, uint64_t *ns); /* modelled */
int tw_event_device(const struct tw_event *e);
enum tw_event_kind tw_event_kind(const struct tw_event *e);
unsigned tw_event_flags(const struct tw_event *e);

/* --- clock.c: modelled time, in ns since the driver's start --- */
enum tw_way { TW_H2H, TW_H2D, TW_D2H, TW_D2D, TW_P2P, TW_SET, TW_WAYS };
struct tw_span {
    uint64_t start, end;
};
uint64_t tw_clock_now(void);      /* of this process; in a stream's thread, of the stream */
void tw_clock_spend(uint64_t ns); /* the host computes */
void tw_clock_meet(uint64_t ns);  /* it learns of something that was at that time */
void tw_clock_pass(uint64_t ns);  /* it has waited for a copy until then */
void tw_clock_open(void);
struct tw_span tw_clock_copy(enum tw_way way, int from, int to, size_t bytes, uint64_t ready);
struct tw_span tw_clock_work(uint64_t ns, uint64_t ready);
void tw_clock_reset(void);
/* What was done: for the counters and the log. `stream` NULL: by the host. */
void tw_note(const char *what, const struct tw_stream *stream, int device, int peer, size_t bytes, struct tw_span span);

extern struct tw_counts {
    _Atomic uint64_t copies[2][TW_WAYS], bytes[2][TW_WAYS]; /* [0]: by the host, [1]: in streams */
    _Atomic uint64_t waits_stream, waits_event, waits_device, queries, host_funcs, kernels, records, event_waits, words;
    _Atomic uint64_t calls;
} tw_live;
#define TW_COUNT(field) atomic_fetch_add_explicit(&tw_live.field, 1, memory_order_relaxed)

/* --- fault.c --- */
extern _Atomic int tw_faults; /* whether there are any */
int tw_fault_read(const char *text);
int tw_fault_meet(const char *call, int device); /* TW_FAULT: with tw_fault_code */
extern _Thread_local int tw_fault_code;

#endif

/* Message passing on top of symmetric memory: as much of MPI as the message passing programs here use, with MPI's names
 * and rules. A receive takes the first message whose sender and tag match; messages of one sender do not overtake each
 * other.
 *
 * Each PE has a ring of cells for each sender. A message travels in one or several cells, is put together again at the
 * receiver, and lies there until a receive matches it. A receive that already waits gets it straight into its buffer. A
 * sender that finds the ring full keeps the message, and sends on whenever it is in one of the calls below.
 *
 * Included behind pes.h. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "../apps/tell.h"
#include <sched.h>

enum { MAIL_CELLS = 16, MAIL_CELL_BYTES = 16384 };

struct mail_cell {
    uint64_t total, here; /* bytes of the message, and of those in this cell */
    int64_t tag;
    char data[MAIL_CELL_BYTES];
};

/* A message on its way out: only as long as it does not fit. */
struct mail_send {
    const char *data;
    size_t total, left;
    int tag, to, done;
    struct mail_send *next;
};

/* A message that has begun to come. */
struct mail_message {
    char *data;
    size_t total, got;
    int tag, from, into_receive; /* the data is the receiver's own buffer */
    struct mail_message *next;
};

typedef int MPI_Comm, MPI_Datatype;
typedef struct mail_send *MPI_Request;
typedef struct {
    int MPI_SOURCE, MPI_TAG;
    size_t bytes;
} MPI_Status;

#define MPI_COMM_WORLD 0
#define MPI_BYTE 1
#define MPI_ANY_SOURCE -1
#define MPI_ANY_TAG -1
#define MPI_REQUEST_NULL ((MPI_Request)NULL)
#define MPI_STATUS_IGNORE ((MPI_Status *)NULL)
#define MPI_STATUSES_IGNORE ((MPI_Status *)NULL)

static struct mail {
    struct mail_cell *cells; /* symmetric: MAIL_CELLS for each sender */
    flag_t *arrived, *freed; /* symmetric: by sender, cells that came; by receiver, cells of ours that are free again */
    flag_t *written, *taken; /* cells sent to each, cells taken from each */
    struct mail_send **first_out;             /* to each: what did not fit yet */
    struct mail_message **coming;             /* from each: what has begun to come */
    struct mail_message *first_in, **last_in; /* complete, and not received yet */
    struct mail_message *waiting;             /* of a receive that waits */
} mail;

/* Collective, after shmem_init. */
static inline void mail_open(void)
{
    size_t n = (size_t)npes;
    mail.cells = job_memory(n * MAIL_CELLS * sizeof *mail.cells, "mailboxes");
    mail.arrived = job_memory(n * sizeof(flag_t), "mailboxes");
    mail.freed = job_memory(n * sizeof(flag_t), "mailboxes");
    mail.written = need(calloc(2 * n, sizeof(flag_t)), "mailboxes");
    mail.taken = mail.written + n;
    mail.first_out = need(calloc(n, sizeof *mail.first_out), "mailboxes");
    mail.coming = need(calloc(n, sizeof *mail.coming), "mailboxes");
    mail.last_in = &mail.first_in;
    job_barrier();
}

/* --- out --- */

static inline int mail_has_room(int to) { return mail.written[to] - told(&mail.freed[to]) < MAIL_CELLS; }

static inline void mail_write_cell(struct mail_send *s)
{
    flag_t number = mail.written[s->to]++;
    struct mail_cell *cell = &mail.cells[(size_t)me * MAIL_CELLS + number % MAIL_CELLS];
    uint64_t here = s->left < MAIL_CELL_BYTES ? s->left : MAIL_CELL_BYTES;
    struct {
        uint64_t total, here;
        int64_t tag;
    } head = {s->total, here, s->tag};
    shmem_putmem(cell, &head, sizeof head, s->to);
    if (here) shmem_putmem(cell->data, s->data, here, s->to);
    shmem_fence();
    tell(&mail.arrived[me], number + 1, s->to);
    s->data += here;
    s->left -= here;
    s->done = s->left == 0;
}

/* As many cells as there is room for. Whether any was sent. */
static inline int mail_write(struct mail_send *s)
{
    int any = 0;
    while (!s->done && mail_has_room(s->to))
        mail_write_cell(s), any = 1;
    return any;
}

static inline int mail_send_on(void)
{
    int any = 0;
    for (int to = 0; to < npes; to++)
        while (mail.first_out[to]) {
            any |= mail_write(mail.first_out[to]);
            if (!mail.first_out[to]->done) break;
            mail.first_out[to] = mail.first_out[to]->next;
        }
    return any;
}

/* --- in --- */

static inline int mail_matches(const struct mail_message *m, int from, int tag)
{
    return (from == MPI_ANY_SOURCE || from == m->from) && (tag == MPI_ANY_TAG || tag == m->tag);
}

/* Where the first complete message that matches hangs, or NULL. */
static inline struct mail_message **mail_find(int from, int tag)
{
    for (struct mail_message **at = &mail.first_in; *at; at = &(*at)->next)
        if (mail_matches(*at, from, tag)) return at;
    return NULL;
}

static inline struct mail_message *mail_unlink(struct mail_message **at)
{
    struct mail_message *m = *at;
    *at = m->next;
    if (!m->next) mail.last_in = at;
    return m;
}

/* A receive that waits for just this message gets it at once, unless another one came before it. */
static inline struct mail_message *mail_begin(int from, const struct mail_cell *cell)
{
    struct mail_message it = {.total = cell->total, .tag = (int)cell->tag, .from = from}, *wanted = mail.waiting;
    if (wanted && !wanted->into_receive && mail_matches(&it, wanted->from, wanted->tag) &&
        !mail_find(wanted->from, wanted->tag)) {
        if (it.total > wanted->total)
            job_fail("mailbox: a message of %zu bytes comes to a receive of %zu", it.total, wanted->total);
        it.data = wanted->data;
        it.into_receive = 1;
        *wanted = it;
        return wanted;
    }
    struct mail_message *m = need(malloc(sizeof *m), "a message");
    it.data = need(malloc(it.total + 1), "a message");
    *m = it;
    return m;
}

static inline void mail_take_cell(int from)
{
    const struct mail_cell *cell = &mail.cells[(size_t)from * MAIL_CELLS + mail.taken[from]++ % MAIL_CELLS];
    struct mail_message *m = mail.coming[from] ? mail.coming[from] : mail_begin(from, cell);
    memcpy(m->data + m->got, cell->data, cell->here);
    m->got += cell->here;
    mail.coming[from] = m->got < m->total ? m : NULL;
    if (m->got == m->total && !m->into_receive) {
        *mail.last_in = m;
        mail.last_in = &m->next;
    }
    if (mail.taken[from] % (MAIL_CELLS / 4) == 0) tell(&mail.freed[me], mail.taken[from], from);
}

static inline int mail_take(void)
{
    int any = 0;
    for (int from = 0; from < npes; from++)
        for (flag_t there = told(&mail.arrived[from]); mail.taken[from] < there; any = 1)
            mail_take_cell(from);
    return any;
}

/* Everything that can be done now. */
static inline int mail_go_on(void)
{
    int out = mail_send_on(), in = mail_take();
    return out | in;
}

static inline void mail_wait(void)
{
    if (!mail_go_on()) sched_yield();
}

/* --- what MPI calls it --- */

static inline void mail_say(MPI_Status *status, const struct mail_message *m)
{
    if (status) *status = (MPI_Status){m->from, m->tag, m->total};
}

static inline int MPI_Isend(const void *data, int bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                            MPI_Request *request)
{
    (void)type, (void)comm;
    mail_go_on();
    struct mail_send now = {.data = data, .total = (size_t)bytes, .left = (size_t)bytes, .tag = tag, .to = to};
    *request = MPI_REQUEST_NULL;
    if (!mail.first_out[to] && mail_has_room(to)) mail_write(&now);
    if (now.done) return 0;
    struct mail_send *later = *request = need(malloc(sizeof *later), "a message"), **at = &mail.first_out[to];
    *later = now;
    while (*at)
        at = &(*at)->next;
    *at = later;
    return 0;
}

static inline int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)status;
    mail_go_on();
    *done = !*request || (*request)->done;
    if (!*done) return 0;
    free(*request);
    *request = MPI_REQUEST_NULL;
    return 0;
}

static inline int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int done;
    while (MPI_Test(request, &done, status), !done)
        sched_yield();
    return 0;
}

static inline int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[i], statuses);
    return 0;
}

static inline int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
    (void)comm;
    mail_go_on();
    struct mail_message **at = mail_find(from, tag);
    *there = at != NULL;
    if (at) mail_say(status, *at);
    return 0;
}

static inline int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int there;
    while (MPI_Iprobe(from, tag, comm, &there, status), !there)
        sched_yield();
    return 0;
}

static inline void mail_receive_kept(void *data, size_t room, struct mail_message **at, MPI_Status *status)
{
    struct mail_message *m = mail_unlink(at);
    if (m->total > room) job_fail("mailbox: a message of %zu bytes comes to a receive of %zu", m->total, room);
    memcpy(data, m->data, m->total);
    mail_say(status, m);
    free(m->data);
    free(m);
}

static inline int MPI_Recv(void *data, int bytes, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                           MPI_Status *status)
{
    (void)type, (void)comm;
    struct mail_message wanted = {.data = data, .total = (size_t)bytes, .from = from, .tag = tag}, **at;
    while (!(wanted.into_receive && wanted.got == wanted.total)) {
        if (!wanted.into_receive && (at = mail_find(from, tag))) {
            mail.waiting = NULL;
            mail_receive_kept(data, (size_t)bytes, at, status);
            return 0;
        }
        mail.waiting = &wanted;
        mail_wait();
    }
    mail.waiting = NULL;
    mail_say(status, &wanted);
    return 0;
}

static inline int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *bytes)
{
    (void)type;
    *bytes = (int)status->bytes;
    return 0;
}

#endif

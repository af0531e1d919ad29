/* Each call returns while its stream is still held back by an event, and until then nothing of it reaches anybody:
 * not the peer's memory, not the word of a signal, not the partners of a meeting. When the stream is let go, all of
 * it does. */
/* layouts: 1+1 2+1 4+4 */
/* timeout: 120 */
#include "stream.h"

enum { N = 5000, HELD_MS = 200 };

static const char *kinds[] = {NULL, "host"};
static double longest;

/* What the program had to wait for the call. The stream is held by this thread: a call that waits for it never
 * returns. */
#define TIMED(what)                                   \
    do {                                              \
        double began = seconds();                     \
        ON(what);                                     \
        double took = seconds() - began;              \
        if (took > longest) longest = took;           \
    } while (0)

static void fill(unsigned char *p, int seed)
{
    for (int i = 0; i < N; i++) p[i] = (unsigned char)(seed * 37 + i * 11 + 1);
}

static int same(const void *at, const unsigned char *want)
{
    unsigned char have[N];
    look(have, at, N);
    return !memcmp(have, want, N);
}

struct place {
    unsigned char *dest, *fetched, *signalled, *source;
    uint64_t *sig;
};
static struct place place_on(const char *kind)
{
    struct place p = {shmemx_calloc_on(kind, 1, N), shmemx_calloc_on(kind, 1, N), shmemx_calloc_on(kind, 1, N),
                      shmemx_malloc_on(kind, N), shmemx_calloc_on(kind, 1, 8)};
    unsigned char bytes[N];
    fill(bytes, me);
    lay(p.source, bytes, N);
    shmem_barrier_all();
    return p;
}
static void place_free(struct place *p)
{
    shmem_free(p->dest);
    shmem_free(p->fetched);
    shmem_free(p->signalled);
    shmem_free(p->source);
    shmem_free(p->sig);
}

static const unsigned char none[N];

/* put, with and without signal, and get, between memory of all kinds, private memory among them. */
static void transfers(void *stream, const char *from, const char *to)
{
    struct place a = place_on(from), b = place_on(to);
    unsigned char private[N], got[N], want[N];
    struct hold h;
    uint64_t sig;
    fill(private, me + 100);
    memset(got, 0, N);
    hold(&h, stream);
    TIMED(shmemx_putmem_on_stream(b.dest, a.source, N, right, stream));
    TIMED(shmemx_getmem_on_stream(b.fetched, a.source, N, right, stream));
    TIMED(shmemx_getmem_on_stream(got, a.source, N, left, stream));
    TIMED(shmemx_putmem_signal_on_stream(b.signalled, private, N, b.sig, 7, SHMEM_SIGNAL_SET, right, stream));
    TIMED(shmemx_putmem_signal_on_stream(b.signalled, private, 0, b.sig, 5, SHMEM_SIGNAL_ADD, right, stream));
    TIMED(shmemx_quiet_on_stream(stream));
    usleep(HELD_MS * 1000);
    CHECK(same(b.dest, none) && same(b.signalled, none), "%s to %s: nothing has come", from, to);
    CHECK(same(b.fetched, none), "%s to %s: nothing was fetched to symmetric memory", from, to);
    CHECK(!memcmp(got, none, N), "%s to %s: nothing was fetched", from, to);
    look(&sig, b.sig, 8);
    CHECK_NUM(sig, 0, "no signal");
    shmem_barrier_all(); /* all have looked, and the host's meeting needs no stream */
    let_go(&h, stream);
    shmem_barrier_all();
    fill(want, left);
    CHECK(same(b.dest, want), "%s to %s: put", from, to);
    CHECK(!memcmp(got, want, N), "%s to %s: get to private memory", from, to);
    fill(want, right);
    CHECK(same(b.fetched, want), "%s to %s: get", from, to);
    fill(want, left + 100);
    CHECK(same(b.signalled, want), "%s to %s: put with signal", from, to);
    look(&sig, b.sig, 8);
    CHECK_NUM(sig, 12, "signals");
    shmem_barrier_all();
    place_free(&a);
    place_free(&b);
}

/* A get reads what is there in the stream's turn, not at the call. */
static void late_source(void *stream, const char *kind)
{
    struct place p = place_on(kind);
    unsigned char now[N];
    struct hold h;
    hold(&h, stream);
    TIMED(shmemx_putmem_on_stream(p.dest, p.source, N, me, stream));
    fill(now, me + 50);
    lay(p.source, now, N);
    let_go(&h, stream);
    CHECK(same(p.dest, now), "%s: the source of the stream's turn", kind);
    place_free(&p);
}

/* Meetings and waits: the host of each PE goes on, the streams wait for all that are held. */
static void meetings(void *stream, const char *kind)
{
    long *sums = shmemx_calloc_on(kind, 1, 100 * sizeof(long)), mine[100], want[100];
    unsigned char *cast = shmemx_calloc_on(kind, 1, N), bytes[N];
    uint64_t *sig = shmemx_calloc_on(kind, 1, 8), *word = shmemx_calloc_on("host", 1, 8), seen;
    struct hold h;
    for (int i = 0; i < 100; i++) {
        mine[i] = me * 1000 + i;
        want[i] = 1000L * npes * (npes - 1) / 2 + (long)npes * i;
    }
    lay(sums, mine, sizeof mine);
    if (me == npes - 1) {
        fill(bytes, 9);
        lay(cast, bytes, N);
    }
    shmem_barrier_all();
    if (!me) hold(&h, stream); /* one is enough to hold all */
    TIMED(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream));
    TIMED(shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sums, sums, 100, stream));
    TIMED(shmemx_broadcastmem_on_stream(SHMEM_TEAM_WORLD, cast, cast, N, npes - 1, stream));
    TIMED(shmemx_putmem_signal_on_stream(NULL, NULL, 0, sig, 3, SHMEM_SIGNAL_SET, right, stream));
    TIMED(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_EQ, 3, stream));
    TIMED(shmemx_putmem_signal_on_stream(NULL, NULL, 0, word, 1, SHMEM_SIGNAL_ADD, 0, stream));
    usleep(HELD_MS * 1000);
    look(bytes, sums, sizeof mine);
    CHECK(!memcmp(bytes, mine, sizeof mine), "%s: no sums", kind);
    look(&seen, sig, 8);
    CHECK_NUM(seen, 0, "no signal");
    CHECK_NUM(*(volatile uint64_t *)word, 0, "nobody has come through");
    shmem_barrier_all();
    if (!me) let_go(&h, stream);
    ACL(aclrtSynchronizeStream(stream));
    look(bytes, sums, sizeof mine);
    CHECK(!memcmp(bytes, want, sizeof want), "%s: sums", kind);
    fill(bytes, 9);
    CHECK(same(cast, bytes), "%s: broadcast", kind);
    shmem_barrier_all();
    if (!me) CHECK_NUM(*(volatile uint64_t *)word, (uint64_t)npes, "all have come through");
    shmem_free(word);
    shmem_free(sig);
    shmem_free(cast);
    shmem_free(sums);
}

int main(void)
{
    check_start();
    runtime_find();
    kinds[0] = device_kind;
    void *stream = stream_new();
    for (int i = 0; i < 4; i++) transfers(stream, kinds[i / 2], kinds[i % 2]);
    for (int i = 0; i < 2; i++) {
        late_source(stream, kinds[i]);
        meetings(stream, kinds[i]);
    }
    ACL(aclrtDestroyStream(stream));
    if (getenv("STREAM_TIMES")) printf("the longest call took %.1f us\n", longest * 1e6);
    return check_end();
}

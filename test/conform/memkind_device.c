/* timeout: 400 */
/* Every kind of device memory keeps the contract of device.h, among processes on several devices and on one. A kind without a
 * device here is passed over, and said. Arguments: names of tests. CONFORM_FEW in the environment: in few settings only.
 */
#define _GNU_SOURCE
#include "device_test.h"

enum { HEAP = 48 << 20, SLICE = 4 << 20 };

/* --- copies --- */

static const size_t sizes[] = {1, 2, 7, 8, 63, 64, 65, 129, 1000, 4096, 8191, 65536, 65537, 300000, 1 << 20, (1 << 20) + 3};
static const size_t phases[][2] = {{0, 0}, {1, 0}, {0, 8}, {5, 5}, {63, 2}, {64, 128}}; /* of to, of from */
enum { GUARD = 64 };

static unsigned char pattern(size_t i, unsigned seed) { return (unsigned char)(i * 7 + i / 251 + seed * 31 + 1); }

static void fill(unsigned char *at, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) at[i] = pattern(i, seed);
}

static size_t differing(const unsigned char *at, size_t n, unsigned seed)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += at[i] != pattern(i, seed);
    return wrong;
}

/* Two slices of each heap belong to each process, so that nobody disturbs another's tests. */
static char *slice(int p, int half) { return heap[p] + (size_t)(2 * me + half) * SLICE + 256; }

static unsigned char *scratch; /* of the host: two halves, and one to look with */

static char *place(int p, int half) { return p < 0 ? (char *)scratch + (size_t)half * SLICE + 256 : slice(p, half); }

static void write_place(struct hm_flow *flow, int p, char *at, const void *from, size_t n)
{
    if (p < 0) memcpy(at, from, n);
    else CHECK(ops->copy(flow, at, side(p), from, HM_SIDE_HOST, n, false) == 0);
}

static void read_place(struct hm_flow *flow, int p, void *to, const char *at, size_t n)
{
    if (p < 0) memcpy(to, at, n);
    else CHECK(ops->copy(flow, to, HM_SIDE_HOST, at, side(p), n, false) == 0);
}

static int refused; /* copies that a runtime cannot do at their alignment */
static bool may_refuse;

static void one_copy(struct hm_flow *flow, int to, int from, size_t n, const size_t *phase, bool nbi)
{
    static unsigned seed;
    unsigned char *look = scratch + 2 * SLICE;
    char *source = place(from, 0) + phase[1], *dest = place(to, 1) + 64;
    seed++;
    fill(look + phase[1], n, seed);
    write_place(flow, from, source - phase[1], look, n + phase[1]);
    memset(look, 0xee, n + 3 * GUARD);
    write_place(flow, to, dest, look, n + 3 * GUARD);
    dest += phase[0];
    CHECK(ops->finish(flow) == 0);
    int rc = ops->copy(flow, dest, side(to), source, side(from), n, nbi);
    if (rc == -ENOTSUP && may_refuse && phase[0] % 64) {
        CHECK(*ops->why());
        refused++;
        return;
    }
    CHECK(rc == 0);
    if ((to >= 0 && from >= 0) || nbi) CHECK(ops->finish(flow) == 0);
    dest -= phase[0];
    read_place(flow, to, look, dest, n + 3 * GUARD);
    size_t wrong = differing(look + phase[0], n, seed);
    for (size_t i = 0; i < phase[0]; i++) wrong += look[i] != 0xee;
    for (size_t i = phase[0] + n; i < n + 3 * GUARD; i++) wrong += look[i] != 0xee;
    if (wrong && failed < 5) printf("to %d+%zu from %d+%zu: %zu bytes%s: %zu wrong\n", to, phase[0], from, phase[1], n, nbi ? ", nbi" : "", wrong);
    CHECK(wrong == 0);
}

/* All pairs of host (-1), own heap and two others', sizes and alignments around what kinds treat differently. */
static void all_pairs(bool one_device)
{
    struct hm_flow *flow;
    open_world(HEAP, one_device);
    scratch = malloc(3 * SLICE);
    NEED(ops->flow_open(&flow) == 0);
    for (int to = -1; to < npes; to++)
        for (int from = -1; from < npes; from++)
            for (size_t s = 0; s < HM_COUNT(sizes) && failed < 5; s++)
                for (size_t p = 0; p < HM_COUNT(phases); p++) one_copy(flow, to, from, sizes[s], phases[p], (s + p) % 2);
    if (refused) printf("%s%s: process %d: %d unaligned copies refused\n", kind->name, variant, me, refused);
    ops->flow_close(flow);
    free(scratch);
    close_world();
}

static void pairs_apart(void) { all_pairs(false); }
static void pairs_on_one_device(void) { all_pairs(true); }

/* What one has put and finished, the owner sees, and the reverse. */
static void seen_by_others(void)
{
    enum { N = 100000 };
    struct hm_flow *flow;
    unsigned char *bytes = malloc(N);
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    for (unsigned round = 0; round < 50; round++) {
        fill(bytes, N, round * 8 + (unsigned)me);
        if (round % 2) CHECK(ops->copy(flow, heap[next], HM_SIDE_PEER, bytes, HM_SIDE_HOST, N, true) == 0);
        else {
            CHECK(ops->copy(flow, heap[me] + SLICE, HM_SIDE_OWN, bytes, HM_SIDE_HOST, N, false) == 0);
            CHECK(ops->copy(flow, heap[next], HM_SIDE_PEER, heap[me] + SLICE, HM_SIDE_OWN, N, false) == 0);
        }
        CHECK(ops->finish(flow) == 0);
        meet();
        memset(bytes, 0, N);
        CHECK(ops->copy(flow, bytes, HM_SIDE_HOST, heap[me], HM_SIDE_OWN, N, false) == 0);
        CHECK(differing(bytes, N, round * 8 + (unsigned)before) == 0);
        memset(bytes, 0, N);
        CHECK(ops->copy(flow, bytes, HM_SIDE_HOST, heap[next], HM_SIDE_PEER, N, true) == 0 && ops->finish(flow) == 0);
        CHECK(differing(bytes, N, round * 8 + (unsigned)me) == 0);
        meet();
    }
    ops->flow_close(flow);
    free(bytes);
    close_world();
}

static unsigned char byte_of(struct hm_flow *flow, int p, const char *at)
{
    unsigned char b = 0;
    CHECK(ops->copy(flow, &b, HM_SIDE_HOST, at, side(p), 1, false) == 0);
    return b;
}

/* On one flow each sees what was begun before it, whatever ways the kind takes for them. */
static void order_in_a_flow(void)
{
    enum { N = 200000 };
    struct hm_flow *flow;
    int next = (me + 1) % npes;
    unsigned char *a = malloc(N), *b = malloc(N);
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    for (unsigned round = 0; round < 40; round++) {
        size_t off = round % 4 == 3 ? 5 : 0, n = round % 3 ? N : 3000;
        char *own = slice(me, 0), *far = slice(next, 1);
        fill(a, n, round);
        CHECK(ops->set(flow, own, (int)round, n + 64) == 0);
        CHECK(ops->copy(flow, own + off, HM_SIDE_OWN, a, HM_SIDE_HOST, n, true) == 0);
        CHECK(ops->copy(flow, far, HM_SIDE_PEER, own + off, HM_SIDE_OWN, n, false) == 0);
        CHECK(ops->set(flow, own + off, 0x11, n) == 0);
        CHECK(ops->copy(flow, own + SLICE / 2, HM_SIDE_OWN, far, HM_SIDE_PEER, n, false) == 0);
        memset(b, 0, n);
        CHECK(ops->copy(flow, b, HM_SIDE_HOST, own + SLICE / 2, HM_SIDE_OWN, n, false) == 0); /* behind all, and done */
        CHECK(differing(b, n, round) == 0);
        CHECK(byte_of(flow, me, own + off) == 0x11 && byte_of(flow, me, own + off + n - 1) == 0x11);
        if (off) CHECK(byte_of(flow, me, own) == round);
    }
    ops->flow_close(flow);
    free(a);
    free(b);
    close_world();
}

/* Hundreds under way at once, then one finish; sources stay as they are, gets arrive at the latest then. */
static void many_under_way(void)
{
    enum { MANY = 300, N = 1024 };
    struct hm_flow *flow;
    int next = (me + 1) % npes;
    unsigned char *out = malloc(MANY * N), *in = calloc(MANY, N);
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    for (unsigned i = 0; i < MANY; i++) {
        fill(out + i * N, N, i);
        CHECK(ops->copy(flow, slice(next, 0) + i * N, HM_SIDE_PEER, out + i * N, HM_SIDE_HOST, N, true) == 0);
    }
    for (unsigned i = 0; i < MANY; i++)
        CHECK(ops->copy(flow, in + i * N, HM_SIDE_HOST, slice(next, 0) + i * N, HM_SIDE_PEER, i % 5 ? N : N - 3, true) == 0);
    CHECK(ops->finish(flow) == 0);
    for (unsigned i = 0; i < MANY; i++) CHECK(differing(in + i * N, N - 3, i) == 0);
    CHECK(ops->finish(flow) == 0); /* nothing is left: at once */
    CHECK(ops->copy(flow, slice(next, 0), HM_SIDE_PEER, out, HM_SIDE_HOST, 0, false) == 0);
    ops->flow_close(flow);
    free(out);
    free(in);
    close_world();
}

/* Two threads share a flow and two have their own; all may call anything. */
static struct hm_flow *common;
static void *copy_much(void *arg)
{
    enum { N = 5000 }; /* 2 * N + 240: a multiple of 64 */
    int number = (int)(intptr_t)arg;
    unsigned char a[N], b[N];
    struct hm_flow *flow = common;
    CHECK(ops->enter() == 0 && ops->enter() == 0);
    ops->leave();
    if (number >= 2) CHECK(ops->flow_open(&flow) == 0);
    char *own = slice(me, 0) + number * (2 * N + 240), *far = slice((me + 1) % npes, 0) + number * (2 * N + 240);
    for (unsigned round = 0; round < 200; round++) {
        size_t n = round % 2 ? N : 64;
        fill(a, n, round + (unsigned)number);
        CHECK(ops->copy(flow, own, HM_SIDE_OWN, a, HM_SIDE_HOST, n, round % 3) == 0);
        CHECK(ops->copy(flow, far, HM_SIDE_PEER, own, HM_SIDE_OWN, n, false) == 0);
        CHECK(ops->copy(flow, b, HM_SIDE_HOST, far, HM_SIDE_PEER, n, round % 4) == 0 && ops->finish(flow) == 0);
        CHECK(differing(b, n, round + (unsigned)number) == 0);
    }
    if (flow != common) ops->flow_close(flow);
    ops->leave();
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    open_world(HEAP, false);
    NEED(ops->flow_open(&common) == 0);
    for (intptr_t i = 0; i < 4; i++) pthread_create(&thread[i], NULL, copy_much, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    ops->flow_close(common);
    close_world();
}

/* --- the heap --- */

static void sides(void)
{
    int on_stack = 0;
    struct hm_device_info info;
    open_world(HEAP, false);
    CHECK(ops->info(&info) == 0 && info.name[0] && info.total_bytes >= info.free_bytes && info.free_bytes > 0);
    CHECK(info.dlpack >= 0);
    CHECK(ops->side_of(heap[me]) == HM_SIDE_OWN && ops->side_of(heap[me] + heap_bytes - 1) == HM_SIDE_OWN);
    CHECK(ops->side_of(heap[1 - me]) == HM_SIDE_PEER && ops->side_of(heap[1 - me] + heap_bytes - 1) == HM_SIDE_PEER);
    CHECK(ops->side_of(&on_stack) == HM_SIDE_HOST && ops->side_of(&failed) == HM_SIDE_HOST && ops->side_of(NULL) == HM_SIDE_HOST);
    CHECK(ops->side_of(heap[me] - 1) != HM_SIDE_PEER);
    close_world();
}

/* What a thread that never entered may do: make, share, let go; and see whose memory an address is. */
static void *without_enter(void *at)
{
    struct hm_flow *flow;
    struct hm_device_info info;
    CHECK(ops->side_of(at) == HM_SIDE_OWN && ops->side_of(&flow) == HM_SIDE_HOST);
    CHECK(ops->info(&info) == 0 && ops->flow_open(&flow) == 0);
    ops->flow_close(flow);
    return NULL;
}

static void unbound_threads(void)
{
    const char *why;
    void *at;
    pthread_t thread;
    struct hm_token token;
    NEED(kind->devices(&why) > 0 && ops->begin(0) == 0);
    NEED(ops->make(ops->grain(), &at) == 0 && ops->share(at, NULL, 0, &token) == 0);
    pthread_create(&thread, NULL, without_enter, at);
    pthread_join(thread, NULL);
    CHECK(ops->drop(at) == 0);
    ops->end();
}

static void too_large(void)
{
    const char *why;
    void *at = &failed;
    struct hm_device_info info;
    NEED(kind->devices(&why) > 0 && ops->begin(0) == 0 && ops->enter() == 0 && ops->info(&info) == 0);
    size_t grain = ops->grain();
    CHECK(grain && !(grain & (grain - 1)) && grain % 4096 == 0);
    CHECK(ops->make(hm_round_up(info.free_bytes, grain) + grain, &at) == -ENOMEM && at == &failed && *ops->why());
    CHECK(ops->make(grain, &at) == 0);
    ops->leave();
    ops->end(); /* with a heap that nobody dropped */
    NEED(ops->begin(0) == 0 && ops->enter() == 0 && ops->info(&info) == 0);
    void *again = NULL;
    CHECK(ops->make(grain, &again) == 0 && ops->make(grain, &at) < 0 && *ops->why() && ops->drop(again) == 0);
    ops->leave();
    ops->end();
}

static void refusals(void)
{
    const char *why;
    void *at = &failed;
    struct hm_token token = {.descriptor = -1};
    NEED(kind->devices(&why) > 0);
    CHECK(ops->begin(9999) == -ENODEV && *ops->why());
    NEED(ops->begin(0) == 0 && ops->enter() == 0);
    CHECK(ops->attach(&token, 0, ops->grain(), &at) < 0 && at == &failed && *ops->why());
    CHECK(ops->share(&failed, NULL, 0, &token) < 0 && ops->detach(&failed) < 0 && ops->drop(&failed) < 0);
    ops->leave();
    ops->end();
    ops->end();
}

static void alone(void)
{
    struct hm_flow *flow;
    unsigned char out[1000], in[1000];
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    fill(out, sizeof out, 3);
    CHECK(ops->set(flow, heap[0], 9, heap_bytes) == 0);
    CHECK(ops->copy(flow, heap[0] + 13, HM_SIDE_OWN, out, HM_SIDE_HOST, sizeof out, false) == 0);
    CHECK(ops->copy(flow, in, HM_SIDE_HOST, heap[0] + 13, HM_SIDE_OWN, sizeof in, false) == 0);
    CHECK(!memcmp(in, out, sizeof in) && byte_of(flow, 0, heap[0] + 12) == 9 && byte_of(flow, 0, heap[0] + heap_bytes - 1) == 9);
    ops->flow_close(flow);
    close_world();
}

/* --- streams of the program's --- */

static void *runtime(const char *name)
{
    static void *library;
    bool ascend = !strcmp(kind->name, "ascend");
    const char *file = getenv(ascend ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY");
    if (!library) library = dlopen(file ? file : ascend ? "libascendcl.so" : "libcuda.so.1", RTLD_NOW);
    void *at = library ? dlsym(library, name) : NULL;
    CHECK(at);
    return at;
}

static void *new_stream(void)
{
    void *stream = NULL;
    if (!strcmp(kind->name, "ascend")) CHECK(((int (*)(void **))runtime("aclrtCreateStream"))(&stream) == 0);
    else CHECK(((int (*)(void **, unsigned))runtime("cuStreamCreate"))(&stream, 1) == 0);
    return stream;
}

static void end_stream(void *stream)
{
    bool ascend = !strcmp(kind->name, "ascend");
    CHECK(((int (*)(void *))runtime(ascend ? "aclrtSynchronizeStream" : "cuStreamSynchronize"))(stream) == 0);
    CHECK(((int (*)(void *))runtime(ascend ? "aclrtDestroyStream" : "cuStreamDestroy_v2"))(stream) == 0);
}

static void wait_for(void *word)
{
    while (!__atomic_load_n((uint64_t *)word, __ATOMIC_SEQ_CST)) usleep(200);
}
static void set_word(void *word) { __atomic_store_n((uint64_t *)word, 1, __ATOMIC_SEQ_CST); }

/* Nothing that is behind a call which has not returned happens, and nobody waits for it meanwhile. */
static void held_back(void)
{
    enum { N = 10000, NEXT = 16384 };
    struct hm_flow *flow;
    static unsigned char out[N], in[N], look[N];
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    if (me == 0) {
        uint64_t *go = &shared->word[0], *through = &shared->word[1];
        void *stream = new_stream(), *mark = NULL;
        fill(out, N, 1);
        CHECK(ops->set(flow, heap[0], 0, SLICE) == 0 && ops->finish(flow) == 0);
        CHECK(ops->copy(flow, heap[1], HM_SIDE_PEER, heap[0], HM_SIDE_OWN, SLICE, false) == 0 && ops->finish(flow) == 0);
        CHECK(ops->copy(flow, heap[0], HM_SIDE_OWN, out, HM_SIDE_HOST, N, false) == 0);
        CHECK(ops->stream_call(stream, wait_for, go) == 0);
        CHECK(ops->stream_copy(stream, heap[0] + NEXT, HM_SIDE_OWN, heap[0], HM_SIDE_OWN, N) == 0);
        CHECK(ops->stream_copy(stream, heap[1] + 64, HM_SIDE_PEER, heap[0] + NEXT, HM_SIDE_OWN, N) == 0);
        CHECK(ops->stream_copy(stream, heap[0], HM_SIDE_OWN, out, HM_SIDE_HOST, N) == -ENOTSUP && *ops->why());
        CHECK(ops->stream_copy(stream, in, HM_SIDE_HOST, heap[1], HM_SIDE_PEER, N) == -ENOTSUP);
        CHECK(ops->stream_mark(&mark, stream) == 0);
        CHECK(ops->stream_call(stream, set_word, through) == 0);
        CHECK(ops->stream_ask(mark, stream) == -EAGAIN && ops->stream_ask(mark, NULL) == -EAGAIN);
        usleep(100000); /* another flow is not held up, and sees nothing yet */
        CHECK(ops->copy(flow, look, HM_SIDE_HOST, heap[1] + 64, HM_SIDE_PEER, N, false) == 0);
        CHECK(!look[0] && !look[N - 1] && !__atomic_load_n(through, __ATOMIC_SEQ_CST));
        set_word(go);
        while (ops->stream_ask(mark, stream) == -EAGAIN) usleep(200);
        CHECK(ops->stream_mark(&mark, stream) == 0); /* once more */
        end_stream(stream);
        while (ops->stream_ask(mark, NULL) == -EAGAIN) usleep(200);
        CHECK(ops->stream_ask(mark, NULL) == 0);
        ops->mark_drop(mark);
        CHECK(__atomic_load_n(through, __ATOMIC_SEQ_CST) == 1);
        CHECK(ops->copy(flow, look, HM_SIDE_HOST, heap[1] + 64, HM_SIDE_PEER, N, false) == 0 && differing(look, N, 1) == 0);
        CHECK(ops->finish(flow) == 0);
    }
    meet();
    if (me) CHECK(byte_of(flow, me, heap[me] + 64) == pattern(0, 1));
    ops->flow_close(flow);
    close_world();
}

/* A call behind copies on a stream tells the other process, which then sees all of them. */
static void told_behind_copies(void)
{
    enum { N = 20000, ROUNDS = 100 };
    struct hm_flow *flow;
    static unsigned char bytes[N];
    open_world(HEAP, false);
    NEED(ops->flow_open(&flow) == 0);
    void *stream = new_stream();
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t *told = &shared->word[round % 64];
        size_t off = round % 4 * 64;
        if (me == 0) {
            fill(bytes, N, round);
            CHECK(ops->copy(flow, heap[0], HM_SIDE_OWN, bytes, HM_SIDE_HOST, N, false) == 0);
            CHECK(ops->stream_copy(stream, heap[1] + off, HM_SIDE_PEER, heap[0], HM_SIDE_OWN, N) == 0);
            CHECK(ops->stream_call(stream, set_word, told) == 0);
        } else {
            wait_for(told);
            CHECK(ops->copy(flow, bytes, HM_SIDE_HOST, heap[1] + off, HM_SIDE_OWN, N, false) == 0);
            CHECK(differing(bytes, N, round) == 0);
            *told = 0;
        }
        meet();
    }
    end_stream(stream);
    CHECK(ops->finish(flow) == 0);
    ops->flow_close(flow);
    close_world();
}

/* Both wait on one stream for what the other tells on a second one: calls that wait do not hold up others' streams. */
static void crossed_streams(void)
{
    enum { STREAMS = 6 };
    void *stream[STREAMS], *teller;
    open_world(HEAP, true);
    teller = new_stream();
    for (int i = 0; i < STREAMS; i++) {
        stream[i] = new_stream();
        CHECK(ops->stream_call(stream[i], wait_for, &shared->word[(1 - me) * STREAMS + i]) == 0);
    }
    for (int i = STREAMS; i--;) CHECK(ops->stream_call(teller, set_word, &shared->word[me * STREAMS + i]) == 0);
    for (int i = 0; i < STREAMS; i++) end_stream(stream[i]);
    end_stream(teller);
    close_world();
}

static int called[500], calls;
static void note(void *number) { called[calls++] = (int)(intptr_t)number; }

static void calls_in_order(void)
{
    open_world(HEAP, false);
    void *stream = new_stream();
    for (intptr_t i = 0; i < 500; i++) CHECK(ops->stream_call(stream, note, (void *)i) == 0);
    CHECK(ops->stream_call(stream, set_word, &shared->word[0]) == 0);
    wait_for(&shared->word[0]);
    end_stream(stream);
    CHECK(calls == 500);
    for (int i = 0; i < 500; i++) CHECK(called[i] == i);
    close_world();
}

/* --- ends: what is killed leaves nothing --- */

static uint64_t free_bytes(void)
{
    const char *why;
    struct hm_device_info info = {0};
    NEED(kind->devices(&why) > 0 && ops->begin(0) == 0 && ops->enter() == 0);
    CHECK(ops->info(&info) == 0);
    ops->leave();
    ops->end();
    return info.free_bytes;
}

static void vanish(void)
{
    __atomic_add_fetch(&shared->gone, 1, __ATOMIC_SEQ_CST);
    kill(getpid(), SIGKILL);
}

/* The owner goes while it is attached: a copy of the peer's may work or fail, and does not hang; and all is free again. */
static void owner_killed(void)
{
    struct hm_flow *flow;
    char some[100];
    if (me == 2) { /* looks from outside, before and behind */
        shared->word[0] = free_bytes();
        npes = 3;
        meet();
        while (!__atomic_load_n(&shared->word[1], __ATOMIC_SEQ_CST)) usleep(1000);
        for (int i = 0; i < 100 && free_bytes() < shared->word[0]; i++) usleep(20000);
        CHECK(free_bytes() >= shared->word[0]);
        return;
    }
    meet();
    npes = 2;
    open_world(HEAP, true);
    if (me == 0) vanish();
    NEED(ops->flow_open(&flow) == 0);
    usleep(100000);
    int rc = ops->copy(flow, some, HM_SIDE_HOST, heap[0], HM_SIDE_PEER, sizeof some, false);
    CHECK(rc == 0 || *ops->why());
    ops->flow_close(flow);
    ops->detach(heap[0]);
    CHECK(ops->drop(heap[1]) == 0);
    ops->leave();
    ops->end();
    __atomic_store_n(&shared->word[1], 1, __ATOMIC_SEQ_CST);
}

/* A peer that has attached goes without a word: the owner can drop, and make anew. */
static void peer_killed(void)
{
    void *at;
    open_world(HEAP, true);
    if (me == 1) vanish();
    usleep(100000);
    CHECK(ops->detach(heap[1]) == 0 || *ops->why());
    CHECK(ops->drop(heap[0]) == 0);
    CHECK(ops->make(heap_bytes, &at) == 0);
    ops->leave();
    ops->end();
}

/* --- running --- */

static const struct test tests[] = {
    {"alone", 1, alone},
    {"too large", 1, too_large},
    {"refusals", 1, refusals},
    {"sides", 2, sides},
    {"unbound threads", 1, unbound_threads},
    {"pairs", 3, pairs_apart},
    {"pairs on one device", 2, pairs_on_one_device},
    {"seen by others", 3, seen_by_others},
    {"order in a flow", 2, order_in_a_flow},
    {"many under way", 2, many_under_way},
    {"threads", 2, threads},
    {"held back", 2, held_back},
    {"told behind copies", 2, told_behind_copies},
    {"crossed streams", 2, crossed_streams},
    {"calls in order", 1, calls_in_order},
    {"owner killed", 3, owner_killed},
    {"peer killed", 2, peer_killed},
};

/* A process of its own asks, since this one must not touch the runtime. */
static bool is_here(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        const char *why = "?";
        int n = kind->devices(&why);
        if (n > 0) printf("%s: %d devices\n", kind->name, n);
        else printf("%s: not here: %s\n", kind->name, why);
        exit(n > 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* A kind's settings that change its ways, each run by all tests. */
static const struct {
    const char *kind, *text, *set[3][2];
    bool refuses; /* unaligned copies, some of them */
} variants[] = {
    {"ascend", "", {{"SHMEM_ASCEND_IPC", "vmm"}}, false},
    {"ascend", " (by key)", {{"SHMEM_ASCEND_IPC", "key"}}, false},
    {"ascend", " (strict, late)", {{"SHMEM_ASCEND_IPC", "vmm"}, {"HBMESH_TWIN_STRICT", "1"}, {"HBMESH_TWIN_LATE", "1"}}, false},
    {"ascend", " (closed, late)", {{"SHMEM_ASCEND_IPC", "vmm"}, {"HBMESH_TWIN_STRICT", "2"}, {"HBMESH_TWIN_LATE", "1"}}, true},
    {"ascend", " (by key, strict)", {{"SHMEM_ASCEND_IPC", "key"}, {"HBMESH_TWIN_STRICT", "1"}}, true},
    {"cuda", "", {{"SHMEM_CUDA_IPC", "vmm"}}, false},
    {"cuda", " (legacy)", {{"SHMEM_CUDA_IPC", "legacy"}}, false},
    {"cuda", " (late)", {{"SHMEM_CUDA_IPC", "vmm"}, {"HBMESH_TWIN_LATE", "1"}}, false},
};

/* Settings of the twin's are for the twin. */
static bool is_possible(size_t v)
{
    const char *file = getenv(!strcmp(kind->name, "ascend") ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY");
    if (strcmp(variants[v].kind, kind->name) != 0) return false;
    if (getenv("CONFORM_FEW") && !strstr(variants[v].text, "late")) return false;
    for (int i = 0; i < 3 && variants[v].set[i][0]; i++)
        if (!strncmp(variants[v].set[i][0], "HBMESH_TWIN", 11) && (!file || !strstr(file, "twin"))) return false;
    return true;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name)) return true;
    return argc < 2;
}

static int run_all(int argc, char **argv)
{
    int wrong = 0;
    for (size_t t = 0; t < HM_COUNT(tests); t++)
        if (is_wanted(tests[t].name, argc, argv)) wrong += !run_test(&tests[t]);
    return wrong;
}

static int run_variant(size_t v, int argc, char **argv)
{
    for (int i = 0; i < 3 && variants[v].set[i][0]; i++) setenv(variants[v].set[i][0], variants[v].set[i][1], 1);
    variant = variants[v].text;
    may_refuse = variants[v].refuses;
    int wrong = run_all(argc, argv);
    for (int i = 0; i < 3 && variants[v].set[i][0]; i++) unsetenv(variants[v].set[i][0]);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0, tried = 0;
    open_shared();
    use_twin("SHMEM_ASCEND_LIBRARY", "libascendcl.so");
    use_twin("SHMEM_CUDA_LIBRARY", "libcuda.so.1");
    for (unsigned i = 0; (kind = hm_memkind_at(i)); i++) {
        ops = kind->device;
        if (!ops || !is_here()) continue;
        for (size_t v = 0; v < HM_COUNT(variants); v++)
            if (is_possible(v)) tried++, wrong += run_variant(v, argc, argv);
    }
    printf("%d settings, %d tests failed\n", tried, wrong);
    return wrong ? 1 : tried ? 0 : 77;
}

/* timeout: 120 */
/* Every transport of transports.def keeps the contract of transport.h, among three processes of one
 * machine. One that cannot be used here is passed over, and said. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "transport/transport.h"

enum { PES = 3, HEAP = 16 << 20, DATA = 64 << 10, BIG = 4 << 20, ADDRESS = 4096, SKIPPED = 77 };
enum { WORDS = 0, COUNTERS = 4096, BLOCK = 1 << 20, GOT = 8 << 20 }; /* offsets in the heap */

/* What the processes share besides the transport. */
static struct shared {
    uint32_t arrived, epoch;
    char address[PES][ADDRESS];
} * shared;

static int me, failed;
static uint32_t moves;
static char *heap, *data;
static const struct hm_transport *transport;

#define CHECK(what)                                                                                     \
    do {                                                                                                \
        if (!(what)) {                                                                                  \
            printf("%s: PE %d: %s:%d: not true: %s\n", transport->name, me, __FILE__, __LINE__, #what); \
            failed++;                                                                                   \
        }                                                                                               \
    } while (0)

static void meet(void)
{
    uint32_t epoch = __atomic_load_n(&shared->epoch, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_SEQ_CST) == PES) {
        shared->arrived = 0;
        __atomic_add_fetch(&shared->epoch, 1, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&shared->epoch, __ATOMIC_SEQ_CST) == epoch)
        usleep(500);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- the floor above --- */

static void moved(void)
{
    __atomic_fetch_add(&moves, 1, __ATOMIC_SEQ_CST);
}
static void idle(void)
{
    sched_yield();
}
static HM_NORETURN void fail(int pe, const char *why)
{
    printf("%s: PE %d: to PE %d: %s\n", transport->name, me, pe, why);
    fflush(stdout);
    _exit(1);
}
static HM_PRINTF(2, 3) void say(const char *prefix, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s: ", prefix ? prefix : "says");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

static struct hm_transport_host host = {.npes = PES, .moved = moved, .idle = idle, .fail = fail, .say = say};

static struct hm_place at(int pe, enum hm_segment_id segment, uint64_t offset)
{
    return (struct hm_place){pe, segment, offset};
}
static uint64_t *word(uint64_t offset)
{
    return (uint64_t *)(heap + offset);
}
static uint64_t seen(uint64_t offset)
{
    return __atomic_load_n(word(offset), __ATOMIC_SEQ_CST);
}

/* Until the word has the value, without any call of the transport: the owner takes no part. */
static bool comes(uint64_t offset, uint64_t value, double seconds)
{
    for (double end = now() + seconds; now() < end; usleep(200))
        if (seen(offset) == value) return true;
    return false;
}

/* --- what is checked --- */

static char pattern(size_t i, int pe)
{
    return (char)(i * 7 + i / 251 + (size_t)pe * 31);
}

/* Sizes around what transports treat differently, both ways, blocking and not. */
static void put_and_get(struct hm_lane *lane)
{
    static const size_t sizes[] = {1, 2, 7, 8, 63, 64, 1000, 4096, 65537, 300000, BIG};
    int next = (me + 1) % PES;
    char *out = malloc(BIG), *in = malloc(BIG);
    for (size_t k = 0; k < HM_COUNT(sizes); k++)
        for (int nbi = 0; nbi < 2; nbi++) {
            size_t n = sizes[k];
            for (size_t i = 0; i < n; i++)
                out[i] = pattern(i + k, me);
            (nbi ? transport->put_nbi : transport->put)(lane, at(next, HM_SEGMENT_HEAP, BLOCK + 1), out, n);
            if (!nbi) memset(out, 0, n); /* the source is free again */
            transport->quiet(lane);
            memset(in, 0, n);
            (nbi ? transport->get_nbi : transport->get)(lane, in, at(next, HM_SEGMENT_HEAP, BLOCK + 1), n);
            if (nbi) transport->quiet(lane);
            size_t wrong = 0;
            for (size_t i = 0; i < n; i++)
                wrong += in[i] != pattern(i + k, me);
            CHECK(wrong == 0);
            meet();
            for (size_t i = 0; i < n; i++)
                wrong += heap[BLOCK + 1 + i] != pattern(i + k, (me + PES - 1) % PES);
            CHECK(wrong == 0); /* and after the quiet it is where it belongs, without any call here */
            CHECK(heap[BLOCK] == 0);
            meet();
        }
    free(out);
    free(in);
}

static void other_segment(struct hm_lane *lane)
{
    int next = (me + 1) % PES;
    uint32_t out = 0x5a000000u + (uint32_t)me, in = 0;
    transport->put(lane, at(next, HM_SEGMENT_DATA, DATA - 4), &out, 4);
    transport->quiet(lane);
    transport->get(lane, &in, at(next, HM_SEGMENT_DATA, DATA - 4), 4);
    CHECK(in == out);
    meet();
    CHECK(*(uint32_t *)(data + DATA - 4) == 0x5a000000u + (uint32_t)((me + PES - 1) % PES));
    meet();
}

static uint64_t model(enum hm_amo op, uint64_t old, uint64_t value, uint64_t cond)
{
    switch (op) {
    case HM_AMO_FETCH:
        return old;
    case HM_AMO_SET:
    case HM_AMO_SWAP:
        return value;
    case HM_AMO_CAS:
        return old == cond ? value : old;
    case HM_AMO_FETCH_ADD:
    case HM_AMO_ADD:
        return old + value;
    case HM_AMO_FETCH_AND:
    case HM_AMO_AND:
        return old & value;
    case HM_AMO_FETCH_OR:
    case HM_AMO_OR:
        return old | value;
    default:
        return old ^ value;
    }
}

static bool is_silent(enum hm_amo op)
{
    return op == HM_AMO_SET || op == HM_AMO_ADD || op == HM_AMO_AND || op == HM_AMO_OR || op == HM_AMO_XOR;
}

/* Every operation in both widths against a model, and nothing beside the word changes. */
static void atomics(struct hm_lane *lane, size_t size)
{
    int next = (me + 1) % PES;
    uint64_t mask = size == 4 ? UINT32_MAX : UINT64_MAX, old = 0x0123456789abcdefull & mask,
             random = 88172645463325252ull;
    struct hm_place place = at(next, HM_SEGMENT_HEAP, WORDS + 64 + size);
    transport->atomic(lane, HM_AMO_SET, place, size, old, 0);
    for (int n = 0; n < 600; n++) {
        enum hm_amo op = (enum hm_amo)(n % (HM_AMO_XOR + 1));
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t value = random & mask, cond = n % 2 ? old : value;
        uint64_t was = transport->atomic(lane, op, place, size, value, cond);
        if (is_silent(op))
            transport->quiet(lane);
        else
            CHECK(was == old);
        old = model(op, old, value, cond) & mask;
    }
    CHECK(transport->atomic(lane, HM_AMO_FETCH, place, size, 0, 0) == old);
    meet();
    CHECK(*(uint32_t *)(heap + WORDS + 64 + size - 4) == 0 &&
          *(uint32_t *)(heap + WORDS + 64 + size + size) == 0);
    meet();
    *word(WORDS + 64) = *word(WORDS + 72) = 0;
    meet();
}

/* Adds of all PEs, from a lane each and from one shared by two threads, and of the owner's CPU, on one
 * word. */
enum { ADDS = 2000 };
static void *add_by_lane(void *lane)
{
    for (int i = 0; i < ADDS; i++) {
        if (i % 2)
            transport->atomic(lane, HM_AMO_ADD, at(0, HM_SEGMENT_HEAP, COUNTERS), 8, 1, 0);
        else
            transport->atomic(lane, HM_AMO_FETCH_ADD, at(0, HM_SEGMENT_HEAP, COUNTERS), 8, 1, 0);
    }
    transport->quiet(lane);
    return NULL;
}

static void exact_with_the_cpu(struct hm_lane *lane)
{
    pthread_t thread[2];
    meet();
    if (me == 0) {
        for (int i = 0; i < ADDS * 100; i++)
            __atomic_fetch_add(word(COUNTERS), 1, __ATOMIC_SEQ_CST);
    } else {
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&thread[i], NULL, add_by_lane, lane) == 0);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
    }
    meet();
    if (me == 0) CHECK(seen(COUNTERS) == ADDS * 100 + (PES - 1) * 2 * ADDS);
    meet();
}

/* The signal comes behind the data of its call, and fence keeps puts to one PE in order. */
static void order(struct hm_lane *lane)
{
    enum { ROUNDS = 200, LENGTH = 40000, SIGNAL = 512, FLAG = 520, BACK = 528 };
    static char block[LENGTH];
    int next = (me + 1) % PES, before = (me + PES - 1) % PES;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        bool nbi = round % 3 == 0;
        memset(block, (char)round, sizeof block);
        transport->put_signal(lane, at(next, HM_SEGMENT_HEAP, BLOCK), block, sizeof block,
                              at(next, HM_SEGMENT_HEAP, SIGNAL), round % 2 ? round : 1,
                              round % 2 ? HM_AMO_SET : HM_AMO_ADD, nbi);
        if (nbi) transport->quiet(lane);
        memset(block, 0, sizeof block);
        CHECK(comes(SIGNAL, round, 20));
        CHECK(heap[BLOCK] == (char)round && heap[BLOCK + LENGTH - 1] == (char)round);
        transport->put(lane, at(next, HM_SEGMENT_HEAP, GOT), &round, sizeof round);
        transport->fence(lane);
        transport->put(lane, at(next, HM_SEGMENT_HEAP, FLAG), &round, sizeof round);
        CHECK(comes(FLAG, round, 20)); /* without a quiet: it goes its way by itself */
        CHECK(seen(GOT) == round);
        transport->atomic(lane, HM_AMO_SET, at(before, HM_SEGMENT_HEAP, BACK), 8, round, 0); /* go on */
        CHECK(comes(BACK, round, 20));
    }
    meet();
}

/* A lane that nobody has used yet, a put, and then the initiator is busy elsewhere; so is the owner. */
static void alone(void)
{
    enum { LATE = 640 };
    struct hm_lane *lane = NULL;
    uint64_t value = 77;
    CHECK(transport->lane_open(&lane) == 0 && lane);
    meet();
    uint32_t before = __atomic_load_n(&moves, __ATOMIC_SEQ_CST);
    double begin = now();
    transport->put_nbi(lane, at((me + 1) % PES, HM_SEGMENT_HEAP, LATE), &value, sizeof value);
    CHECK(comes(LATE, value, 3));
    double took = now() - begin;
    if (took > 0.1)
        printf("%s: PE %d: a put of its own came after %.0f ms\n", transport->name, me, took * 1e3);
    usleep(20000); /* the thread that stored it says so behind it */
    CHECK(__atomic_load_n(&moves, __ATOMIC_SEQ_CST) != before);
    meet();
    transport->quiet(lane);
    transport->lane_close(lane);
}

/* --- who waits serves --- */

enum { SERVED = 704, LOST = 712, GIVEN = 720, STORM = 728 };

/* The progress thread may be serving just then. */
static uint32_t take_helm(void)
{
    uint32_t mine;
    while (!(mine = transport->helm->take()))
        sched_yield();
    return mine;
}

static void add_to(struct hm_lane *lane, int pe, uint64_t offset)
{
    transport->atomic(lane, HM_AMO_ADD, at(pe, HM_SEGMENT_HEAP, offset), 8, 1, 0);
}

/* A process that was off the core for some ms has lost it meanwhile. */
static void serve_one(struct hm_lane *lane, int next)
{
    uint32_t mine = take_helm(), second = transport->helm->take();
    CHECK(!second || transport->helm->serve(mine) == HM_SERVED_BY_OTHERS);
    if (second) mine = second;
    meet();
    add_to(lane, next, SERVED);
    for (double end = now() + 20; now() < end && !seen(SERVED);)
        if (transport->helm->serve(mine) == HM_SERVED_BY_OTHERS) mine = take_helm();
    CHECK(seen(SERVED) == 1);
    transport->helm->give(mine);
}

static void *add_many(void *lane)
{
    for (int i = 0; i < ADDS; i++)
        add_to(lane, (me + 1) % PES, STORM);
    transport->quiet(lane);
    return NULL;
}

/* Back and forth while much comes. */
static void *take_and_give(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE)) {
        uint32_t mine = transport->helm->take();
        for (int i = 0; mine && i < 3; i++)
            transport->helm->serve(mine);
        if (mine) transport->helm->give(mine);
    }
    return NULL;
}

static void storm(struct hm_lane *lane)
{
    pthread_t thread[3];
    bool stop = false;
    CHECK(pthread_create(&thread[0], NULL, add_many, lane) == 0);
    for (int i = 1; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, take_and_give, &stop) == 0);
    pthread_join(thread[0], NULL);
    meet();
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 1; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK(seen(STORM) == ADDS);
    meet();
}

/* Atomics are the owner's work on any network. */
static void at_the_helm(struct hm_lane *lane)
{
    int next = (me + 1) % PES;
    if (!transport->helm) return;
    serve_one(lane, next);
    meet();
    uint32_t mine = take_helm(); /* and forgets it */
    meet();
    add_to(lane, next, LOST);
    CHECK(comes(LOST, 1, 3));
    CHECK(transport->helm->serve(mine) == HM_SERVED_BY_OTHERS);
    transport->helm->give(mine);
    transport->helm->give(take_helm());
    meet();
    add_to(lane, next, GIVEN);
    CHECK(comes(GIVEN, 1, 3));
    meet();
    storm(lane);
    transport->quiet(lane);
}

/* --- one PE --- */

static int address_and_join(void)
{
    static const void *address[PES];
    size_t bytes = 0;
    CHECK(transport->address(shared->address[me], 8, &bytes) == -ENOSPC);
    CHECK(transport->address(shared->address[me], ADDRESS, &bytes) == 0 && bytes <= ADDRESS);
    meet();
    for (int i = 0; i < PES; i++)
        address[i] = shared->address[i];
    return transport->join(address);
}

static void all_checks(void)
{
    struct hm_lane *lane = NULL;
    CHECK(transport->lane_open(&lane) == 0 && lane);
    put_and_get(lane);
    other_segment(lane);
    atomics(lane, 4);
    atomics(lane, 8);
    exact_with_the_cpu(lane);
    order(lane);
    alone();
    at_the_helm(lane);
    transport->quiet(lane);
    meet();
    transport->leave();
    meet();
    transport->lane_close(lane);
}

static void *memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) exit(1);
    return p;
}

static int run_pe(unsigned which)
{
    const char *name, *why;
    heap = memory(HEAP);
    data = memory(DATA);
    host.pe = me;
    transport = hm_transport_at(which, &name, &why);
    if (!transport) {
        if (me == 0) printf("%s: passed over: %s\n", name, why);
        return SKIPPED;
    }
    for (int again = 0; again < 2; again++) { /* a program may finalize and init again */
        memset(heap, 0, HEAP);
        meet();
        CHECK(!strcmp(transport->name, name));
        CHECK(transport->start(&host) == 0);
        CHECK(transport->add_segment(HM_SEGMENT_HEAP, -1, heap, HEAP) == 0);
        CHECK(transport->add_segment(HM_SEGMENT_DATA, -1, data, DATA) == 0);
        CHECK(address_and_join() == 0);
        if (!failed) all_checks();
        transport->stop();
        transport->stop();
    }
    CHECK(transport->start(&host) == 0);
    transport->stop(); /* safe after half a start */
    fflush(stdout);
    return failed ? 1 : 0;
}

static int run(unsigned which)
{
    int worst = 0;
    pid_t pid[PES];
    memset(shared, 0, sizeof *shared);
    for (me = 0; me < PES; me++)
        if ((pid[me] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            exit(run_pe(which));
        }
    for (int i = 0; i < PES; i++) {
        int status;
        pid_t gone = wait(&status);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (code && code != SKIPPED)
            for (int k = 0; k < PES; k++)
                if (pid[k] != gone) kill(pid[k], SIGKILL); /* they would wait for it */
        if (code > worst && worst != 1) worst = code > SKIPPED ? 1 : code;
    }
    return worst;
}

/* Modules lie beside the library; this program has the library inside, so it says to the loader where they
 * are. */
static void find_modules(char **argv)
{
    char path[4096];
    const char *build = getenv("BUILD");
    if (!build || getenv("HM_FOUND")) return;
    snprintf(path, sizeof path, "%s/lib/hbmesh", build);
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv("HM_FOUND", "1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    int names = 0, usable = 0, bad = 0;
    (void)argc;
    find_modules(argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = memory(sizeof *shared);
#define HM_TRANSPORT(name, environment) names++;
#include "transport/transports.def"
#undef HM_TRANSPORT
    for (int i = 0; i < names; i++) {
        int code = run((unsigned)i);
        usable += code != SKIPPED;
        bad += code != 0 && code != SKIPPED;
    }
    return bad ? 1 : usable ? 0 : SKIPPED;
}

/* Any transport against its contract (src/transport/transport.h), by PEs that are processes of this program with
 * nothing of the library between: MODULE NPES [EXTENT [SLOW]]. Addresses go through a file that all have mapped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "transport/transport.h"

enum { MOST = 8, ROOM = 4096, HEAP = 48 << 20, DATA = 64 << 10, WORK = 1 << 20 };

static struct shared {
    _Atomic int arrived[64];
    char address[MOST][ROOM];
    size_t address_bytes[MOST];
    _Atomic uint64_t put_at[MOST];
} *shared;

static const struct hm_transport *t;
static int me, npes;
static size_t extent;
static uint64_t slow = 1; /* how much longer all may take: in a virtual machine, where less is done, too */
static uint32_t letters = 1200;
static uint64_t adds = 500;
static char *memory[HM_SEGMENTS];
static int heap_file;
static size_t given; /* bytes of it, back to the system */
static _Atomic int moves;

#define CHECK(what) ((what) ? (void)0 : (printf("PE %d, line %d: %s\n", me, __LINE__, #what), fflush(stdout), _exit(1)))

static uint64_t now(void)
{
    struct timespec s;
    clock_gettime(CLOCK_MONOTONIC, &s);
    return (uint64_t)s.tv_sec * 1000000000 + (uint64_t)s.tv_nsec;
}

static void meet(int which)
{
    static uint64_t last;
    if (me == 0 && which > 1 && which < 16) printf("part %d: %.2f s\n", which - 1, (double)(now() - last) * 1e-9);
    last = now();
    shared->arrived[which]++;
    while (shared->arrived[which] < npes) usleep(200);
}

/* --- the host --- */

static void moved(void) { moves++; }
static void idle(void) { sched_yield(); }

static HM_NORETURN void fail(int pe, const char *why)
{
    printf("PE %d fails, PE %d: %s\n", me, pe, why);
    fflush(stdout);
    _exit(3);
}

static void say(const char *prefix, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("PE %d %s: ", me, prefix ? prefix : "error");
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
}

/* What comes as a message: number, how many of the bytes follow, bytes that tell of the number; `answer` wants it
 * back, from within `heard`. */
struct letter {
    uint32_t number, answer;
    unsigned char text[];
};
static _Atomic uint32_t next_from[2][MOST]; /* which number is to come: letters, answers */
static _Atomic int wrong;
static _Atomic uint32_t freed;
static struct hm_lane *answering, *kept[3];
static _Atomic uint64_t ticked;
static _Atomic int again;

static void letter_freed(void *letter)
{
    freed++;
    free(letter);
}

static bool is_right(const struct letter *l, size_t n)
{
    for (size_t i = 0; i < n - sizeof *l; i++)
        if (l->text[i] != (unsigned char)(l->number * 7 + i)) return false;
    return true;
}

static void send_letter(struct hm_lane *lane, int pe, uint32_t number, size_t text, bool answer)
{
    struct letter *l = malloc(sizeof *l + text);
    *l = (struct letter){number, answer};
    for (size_t i = 0; i < text; i++) l->text[i] = (unsigned char)(number * 7 + i);
    t->message(lane, pe, l, sizeof *l + text, letter_freed, l);
}

static void heard(int from, const void *bytes, size_t n)
{
    const struct letter *l = bytes;
    bool back = l->answer == 2;
    uint32_t step = back ? 3 : 1; /* every third is answered */
    if (from < 0 || from >= npes || n < sizeof *l || !is_right(l, n) || next_from[back][from] != l->number) wrong++;
    if (l->answer == 1) {
        struct letter *copy = malloc(n);
        memcpy(copy, l, n);
        copy->answer = 2;
        t->message(answering, from, copy, n, letter_freed, copy);
    }
    next_from[back][from] += step;
}

static uint64_t tick(void)
{
    ticked = now();
    return again-- > 0 ? now() + 300000 : 0;
}

static const struct hm_transport_host shape = {
    .moved = moved, .heard = heard, .tick = tick, .idle = idle, .fail = fail, .say = say};

/* --- the tests --- */

static struct hm_place at(int pe, enum hm_segment_id segment, uint64_t offset)
{
    return (struct hm_place){pe, segment, offset};
}

static int right(void) { return (me + 1) % npes; }

static bool await(volatile uint64_t *word, uint64_t value)
{
    for (uint64_t end = now() + 20000000000 * slow; *word != value; usleep(50))
        if (now() > end) return false;
    return true;
}

/* The very first operation of a lane, and the one who put it computes. Other work on the machine may delay one of them,
 * hardly all. */
static void first_put(void)
{
    double least = 1e9;
    for (uint64_t i = 1; i <= 3; i++) {
        struct hm_lane *lane;
        CHECK(t->lane_open(&lane) == 0);
        uint64_t came = 0;
        volatile uint64_t *word = (uint64_t *)(memory[HM_SEGMENT_WORK] + 8 * i);
        t->put_nbi(lane, at(right(), HM_SEGMENT_WORK, 8 * i), &i, 8);
        shared->put_at[me] = now();
        for (uint64_t end = now() + 10000000000 * (slow > 1 ? 6 : 1); !came && now() < end;)
            if (*word == i) came = now();
        CHECK(came);
        meet(24 + (int)i);
        uint64_t began = shared->put_at[(me + npes - 1) % npes];
        double ms = came > began ? (double)(came - began) * 1e-6 : 0;
        if (ms < least) least = ms;
        t->quiet(lane);
        meet(28 + (int)i);
        kept[i - 1] = lane;
    }
    printf("PE %d: the first put of a lane came after %.1f ms\n", me, least);
    CHECK(slow > 1 || least < 100.0);
    for (int i = 0; i < 3; i++) t->lane_close(kept[i]);
}

/* Over all segments, and over every boundary there may be between pieces of memory. */
static void put_and_get(struct hm_lane *lane)
{
    static const size_t sizes[] = {1, 8, 100, 5000, 70000, 20 << 20};
    char *source = malloc(20 << 20), *back = malloc(20 << 20);
    for (size_t i = 0; i < 20 << 20; i++) source[i] = (char)(i * 31 + (size_t)me + (i >> 12));
    for (int s = 0; s < HM_SEGMENTS; s++)
        for (size_t k = 0; k < HM_COUNT(sizes); k++) {
            size_t room = s == HM_SEGMENT_HEAP ? HEAP : s == HM_SEGMENT_DATA ? DATA : WORK, n = sizes[k];
            if (n > room / 2) continue;
            uint64_t offset = room / 2 - n / 2;
            for (int nbi = 0; nbi < 2; nbi++) {
                memset(back, 0, n);
                (nbi ? t->put_nbi : t->put)(lane, at(right(), s, offset), source, n);
                t->quiet(lane);
                (nbi ? t->get_nbi : t->get)(lane, back, at(right(), s, offset), n);
                t->quiet(lane);
                CHECK(!memcmp(source, back, n));
            }
        }
    free(source);
    free(back);
}

static void *add_many(void *lane)
{
    for (uint64_t i = 0; i < adds; i++) {
        t->atomic(lane, HM_AMO_ADD, at(0, HM_SEGMENT_WORK, 64), 8, 1, 0);
        __atomic_fetch_add((uint64_t *)(memory[HM_SEGMENT_WORK] + 72), 1, __ATOMIC_SEQ_CST);
        t->atomic(lane, HM_AMO_FETCH_ADD, at(right(), HM_SEGMENT_WORK, 72), 8, 1, 0);
    }
    return NULL;
}

/* Exact against CPU atomics of the owner, by two threads on one lane; each operation by what it gives. */
static void atomics(struct hm_lane *lane)
{
    pthread_t thread;
    struct hm_place word = at(right(), HM_SEGMENT_HEAP, 128);
    pthread_create(&thread, NULL, add_many, lane);
    add_many(lane);
    pthread_join(thread, NULL);
    for (size_t size = 4; size <= 8; size += 4) {
        t->atomic(lane, HM_AMO_SET, word, size, 100, 0);
        t->fence(lane);
        t->quiet(lane);
        CHECK(t->atomic(lane, HM_AMO_FETCH, word, size, 0, 0) == 100);
        CHECK(t->atomic(lane, HM_AMO_SWAP, word, size, 0xff0, 0) == 100);
        CHECK(t->atomic(lane, HM_AMO_FETCH_AND, word, size, 0xf0f, 0) == 0xff0);
        CHECK(t->atomic(lane, HM_AMO_FETCH_OR, word, size, 0xf, 0) == 0xf00);
        CHECK(t->atomic(lane, HM_AMO_FETCH_XOR, word, size, 0xff, 0) == 0xf0f);
        CHECK(t->atomic(lane, HM_AMO_CAS, word, size, 5, 1) == 0xff0);
        CHECK(t->atomic(lane, HM_AMO_CAS, word, size, 5, 0xff0) == 0xff0);
        CHECK(t->atomic(lane, HM_AMO_FETCH_ADD, word, size, 2, 0) == 5);
        CHECK(t->atomic(lane, HM_AMO_FETCH, word, size, 0, 0) == 7);
    }
    t->quiet(lane);
}

/* What is behind a fence is behind what the target makes of an atomic, too; and the other way round. */
static void ordered(struct hm_lane *lane)
{
    struct hm_place word = at(right(), HM_SEGMENT_HEAP, 256);
    for (uint64_t i = 1; i <= 300; i++) {
        uint64_t value = i << 20, old = 0;
        for (int k = 0; k < 5; k++) t->atomic(lane, k & 1 ? HM_AMO_SET : HM_AMO_ADD, word, 8, 3, 0);
        t->fence(lane);
        t->put_nbi(lane, word, &value, 8);
        if (i & 1) {
            t->fence(lane);
            t->atomic(lane, HM_AMO_ADD, word, 8, 1, 0);
        }
        t->quiet(lane);
        t->get(lane, &old, word, 8);
        CHECK(old == value + (i & 1));
    }
}

/* The signal comes behind its data; a put behind a fence behind a put. */
static void signals(struct hm_lane *lane)
{
    volatile uint64_t *signal = (uint64_t *)(memory[HM_SEGMENT_WORK] + 256);
    char *data = malloc(100000);
    for (uint64_t i = 1; i <= (slow > 1 ? 20 : 200); i++) {
        memset(data, (int)i, 100000);
        t->put_signal(lane, at(right(), HM_SEGMENT_HEAP, 1 << 20), data, 100000, at(right(), HM_SEGMENT_WORK, 256), i,
                      HM_AMO_SET, i & 1);
        t->quiet(lane);
        CHECK(await(signal, i));
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        CHECK(memory[HM_SEGMENT_HEAP][1 << 20] == (char)i && memory[HM_SEGMENT_HEAP][(1 << 20) + 99999] == (char)i);
        meet(16 + (int)(i % 2)); /* nobody overwrites what is being looked at */
        if (me == 0) shared->arrived[16 + (i + 1) % 2] = 0;
        meet(18 + (int)(i % 2));
        if (me == 0) shared->arrived[18 + (i + 1) % 2] = 0;
    }
    free(data);
}

static bool punch(size_t offset, size_t bytes)
{
    given += bytes;
    return fallocate(heap_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) == 0;
}

/* Pages that a card holds must not make room for others: what comes behind that is seen. */
static void pages(struct hm_lane *lane)
{
    volatile uint64_t *word = (uint64_t *)(memory[HM_SEGMENT_HEAP] + (3 << 12));
    for (uint64_t i = 1; i <= 2; i++) {
        t->put(lane, at(right(), HM_SEGMENT_HEAP, 3 << 12), &i, 8);
        t->quiet(lane);
        meet(40 + (int)i);
        CHECK(*word == i);
        bool all = !t->give_back || t->give_back(HM_SEGMENT_HEAP, 0, HEAP, punch);
        CHECK(all ? given == i * HEAP : given < i * HEAP);
        CHECK(!extent || (!all && given <= i * (HEAP - extent)));
        CHECK(!all || *word == 0);
        meet(42 + (int)i);
    }
}

/* In order, whole, each once; with answers out of heard; while the senders compute. */
static void messages(struct hm_lane *lane)
{
    static const size_t texts[] = {0, 1, 60, 1000, 9000, 30000};
    for (uint32_t i = 0; i < letters; i++)
        for (int pe = 0; pe < npes; pe++)
            if (pe != me) send_letter(lane, pe, i, texts[i % HM_COUNT(texts)], i % 3 == 0);
    uint64_t end = now() + 60000000000 * slow;
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me) continue;
        while ((next_from[0][pe] < letters || next_from[1][pe] < letters) && now() < end) usleep(100);
        CHECK(next_from[0][pe] == letters);
        CHECK(next_from[1][pe] == letters);
    }
    CHECK(!wrong);
}

static void largest_message(struct hm_lane *lane)
{
    CHECK(t->message_max >= 32 << 10);
    meet(20);
    for (int pe = 0; pe < npes; pe++) next_from[0][pe] = 0;
    meet(21);
    send_letter(lane, right(), 0, t->message_max - sizeof(struct letter), false);
    send_letter(lane, right(), 1, 0, false);
    uint64_t end = now() + 10000000000 * slow;
    int left = (me + npes - 1) % npes;
    while (next_from[0][left] < 2 && now() < end) usleep(100);
    CHECK(next_from[0][left] == 2);
}

/* Called at its time, from sleep and awake; the earliest of several; again when it says so. */
static void ticks(void)
{
    uint64_t worst = 0, late[32];
    for (int i = 0; i < 32; i++) {
        usleep(i < 16 ? 300000 / 16 : 1000); /* at first it may sleep soundly */
        uint64_t due = now() + 50000;
        ticked = 0;
        t->wake_at(due + 5000000000);
        t->wake_at(due);
        while (!ticked) usleep(10);
        CHECK(ticked >= due);
        late[i] = ticked - due;
        for (int k = i; k > 0 && late[k] < late[k - 1]; k--) {
            uint64_t swap = late[k];
            late[k] = late[k - 1];
            late[k - 1] = swap;
        }
        if (late[i] > worst) worst = late[i];
    }
    printf("PE %d: ticks are late by %.0f us, at most %.0f us\n", me, (double)late[16] * 1e-3, (double)worst * 1e-3);
    CHECK(late[16] < 2000000 * slow);
    ticked = 0;
    again = 3;
    t->wake_at(1);
    for (uint64_t end = now() + 2000000000; again >= 0 && now() < end;) usleep(100);
    CHECK(again == -1);
}

static double cpu_ms_of_two_seconds(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    sleep(2);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
}

/* A soft device's work counts, too, and in an emulated machine UCX's own timers. A thread that looks every few
 * milliseconds takes more in each try; one that sleeps may be disturbed in some. */
static void idleness(void)
{
    double ms, most = slow > 1 ? 400.0 : 2.0;
    usleep(500000);
    for (uint64_t i = 0; (ms = cpu_ms_of_two_seconds()) >= most && i < 4 * slow;) i++;
    printf("PE %d: idle for 2 s: %.2f ms of a core\n", me, ms);
    CHECK(ms < most);
}

/* --- a PE --- */

static void add_memory(enum hm_segment_id segment, size_t bytes)
{
    int fd = memfd_create("segment", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    memory[segment] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory[segment] != MAP_FAILED);
    CHECK(t->add_segment(segment, fd, memory[segment], bytes) == 0);
    if (segment == HM_SEGMENT_HEAP)
        heap_file = fd;
    else
        close(fd);
}

static void start(void)
{
    static struct hm_transport_host host;
    static const void *addresses[MOST];
    host = shape;
    host.pe = me;
    host.npes = npes;
    host.extent = extent;
    CHECK(t->start(&host) == 0);
    add_memory(HM_SEGMENT_HEAP, HEAP);
    add_memory(HM_SEGMENT_DATA, DATA);
    add_memory(HM_SEGMENT_WORK, WORK);
    CHECK(t->address(shared->address[me], 1, &shared->address_bytes[me]) == -ENOSPC);
    CHECK(t->address(shared->address[me], ROOM, &shared->address_bytes[me]) == 0);
    if (me == 0) printf("an address of %zu bytes\n", shared->address_bytes[0]);
    meet(0);
    for (int i = 0; i < npes; i++) addresses[i] = shared->address[i];
    CHECK(t->join(addresses) == 0);
}

static int pe_main(void)
{
    struct hm_lane *lane, *other;
    start();
    CHECK(t->lane_open(&lane) == 0 && t->lane_open(&other) == 0);
    answering = other;
    meet(1);
    first_put();
    meet(2);
    put_and_get(lane);
    meet(3);
    atomics(lane);
    meet(4);
    if (me == 0) CHECK(*(uint64_t *)(memory[HM_SEGMENT_WORK] + 64) == 2 * adds * (uint64_t)npes);
    CHECK(*(uint64_t *)(memory[HM_SEGMENT_WORK] + 72) == 4 * adds);
    ordered(lane);
    signals(lane);
    pages(lane);
    meet(5);
    messages(lane);
    largest_message(lane);
    meet(6);
    ticks();
    meet(7);
    idleness();
    CHECK(moves > 0);
    meet(8);
    t->quiet(lane);
    t->quiet(other);
    uint64_t end = now() + 5000000000 * slow;
    uint32_t sent = (letters + letters / 3) * (uint32_t)(npes - 1) + 2;
    while (freed < sent && now() < end) usleep(100);
    CHECK(freed == sent);
    meet(9);
    t->leave();
    meet(10);
    t->lane_close(lane);
    t->lane_close(other);
    t->stop();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    static pid_t child[MOST];
    npes = atoi(argv[2]);
    extent = argc > 3 ? (size_t)atol(argv[3]) : 0;
    if (argc > 4) slow = (uint64_t)atol(argv[4]);
    if (slow > 1) letters = 300, adds = 50;
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (me = 0; me < npes; me++)
        if ((child[me] = fork()) == 0) {
            void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
            if (!module) printf("%s\n", dlerror());
            const struct hm_transport_module *m = module ? dlsym(module, HM_TRANSPORT_SYMBOL) : NULL;
            if (!m) _exit(2);
            t = m->transport;
            const char *why = t->probe();
            if (why) printf("skipped: %s\n", why);
            exit(why ? 77 : pe_main());
        }
    int worst = 0;
    for (int i = 0, status; i < npes; i++) {
        wait(&status);
        int rc = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        if (rc && !worst)
            for (int k = 0; k < npes; k++) kill(child[k], SIGKILL);
        if (rc > worst) worst = rc;
    }
    return worst;
}

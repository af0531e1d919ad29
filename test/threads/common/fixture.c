#define _GNU_SOURCE
#include "fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/agent.h"
#include "core/amo.h"
#include "core/ctx.h"
#include "core/device.h"
#include "core/far.h"
#include "core/place.h"
#include "core/span.h"
#include "core/symm.h"
#include "core/ticket.h"
#include "core/wait.h"
#include "core/world.h"

const struct mode modes[] = {
    {"spin", false, true, 1000, false},
    {"spin, no membarrier", false, false, 1000, false},
    {"yield", true, true, 1000000, false},
    {"sleep at once", true, true, 0, false},
    {"sleep at once, no membarrier", true, false, 0, false},
    {"dissemination, sleep at once", false, true, 0, false},
    {"dissemination, sleep at once, no membarrier", false, false, 0, false},
    {"spin, on one core", false, true, 1000, true},
};
const int mode_count = HM_COUNT(modes);

/* --- what the parts under test lean on --- */

struct hm_world hm_world;
struct hm_symm hm_symm;
struct hm_ctx hm_ctx_default = {.generation = 1};
static struct hm_team world_team;
struct hm_team *hm_team_world = &world_team;

void hm_world_not_ready(const char *call) { hm_die(call, "called before init"); }
bool hm_world_claim_report(void) { return true; }
void hm_world_die_silently(void) { _exit(1); }
void hm_world_safe_point(void) {}
void hm_deadlock_look(struct hm_wait *w) { (void)w; }

int64_t hm_symm_offset(const void *addr, bool *in_heap)
{
    *in_heap = true;
    return (int64_t)((uintptr_t)addr - hm_symm.heap_base);
}

void hm_symm_require(const void *addr, size_t bytes, const char *call, const char *arg)
{
    if (hm_device_holds(addr, bytes)) return;
    if ((uintptr_t)addr - hm_symm.heap_base > FIXTURE_HEAP - bytes) hm_die(call, "%s: outside the heap", arg);
}

char *hm_symm_find(const void *addr, size_t bytes, int pe, const struct hm_peer **peer, const char *call, const char *arg)
{
    (void)bytes, (void)peer;
    hm_die(call, "%s: %p on PE %d: outside the heap", arg, addr, pe);
}

char *hm_symm_find_mapped(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    (void)bytes;
    hm_die(call, "%s: %p on PE %d: outside the heap", arg, addr, pe);
}

/* Nobody is far here. */
static HM_NORETURN void far(void) { hm_die(NULL, "a PE is taken for a far one"); }
void hm_far_put(struct hm_ctx *c, void *d, const void *s, size_t n, int pe, bool nbi)
{
    (void)c, (void)d, (void)s, (void)n, (void)pe, (void)nbi;
    far();
}
void hm_far_get(struct hm_ctx *c, void *d, const void *s, size_t n, int pe, bool nbi) { hm_far_put(c, d, s, n, pe, nbi); }
uint64_t hm_far_amo(struct hm_ctx *c, enum hm_amo op, void *d, uint64_t value, uint64_t cond, size_t n, int pe)
{
    (void)c, (void)op, (void)d, (void)value, (void)cond, (void)n, (void)pe;
    far();
}
void hm_far_put_signal(struct hm_ctx *c, void *d, const void *s, size_t n, uint64_t *at, uint64_t signal, enum hm_amo op,
                       int pe, bool nbi)
{
    (void)at, (void)signal, (void)op;
    hm_far_put(c, d, s, n, pe, nbi);
}
struct hm_span *hm_span_open(const struct hm_sync *s) { (void)s, far(); }
void hm_span_meet(struct hm_sync *s, uint64_t arrival, uint64_t hash, const char *call)
{
    (void)s, (void)arrival, (void)hash, (void)call;
    far();
}
void hm_span_announce(struct hm_sync *s) { (void)s, far(); }
int hm_span_missing(const struct hm_sync *s, int *missing) { (void)s, (void)missing, far(); }
const void *hm_span_theirs(const struct hm_sync *s, int i) { (void)s, (void)i, far(); }
void hm_far_amo_nbi(struct hm_ctx *c, enum hm_amo op, void *d, uint64_t value, uint64_t cond, size_t n, int pe,
                    void *fetch)
{
    (void)fetch;
    hm_far_amo(c, op, d, value, cond, n, pe);
}
bool hm_far_add_float(struct hm_ctx *c, void *d, uint64_t value, size_t n, int pe)
{
    (void)c, (void)d, (void)value, (void)n, (void)pe;
    far();
}
void hm_far_fence(struct hm_ctx *c) { (void)c, far(); }
void hm_far_quiet(struct hm_ctx *c) { (void)c, far(); }

void hm_farlock_set(long *lock, const char *call) { (void)lock, (void)call, far(); }
int hm_farlock_test(long *lock, const char *call) { (void)lock, (void)call, far(); }
void hm_farlock_clear(long *lock, const char *call) { (void)lock, (void)call, far(); }

/* Nor is there device memory, but in the test that brings the real ones. */
#define WEAK __attribute__((weak))
struct hm_device hm_device;
static HM_NORETURN void device(void) { hm_die(NULL, "memory is taken for a device's"); }
void hm_device_fail(const char *call, const char *what, int pe, int error) { hm_die(call, "%s: %d %d", what, pe, error); }
enum hm_side hm_device_side(const void *addr) { (void)addr, device(); }
bool hm_device_put(struct hm_ctx *c, void *d, const void *s, size_t n, int pe, bool nbi, const char *call)
{
    (void)c, (void)d, (void)s, (void)n, (void)pe, (void)nbi, (void)call;
    device();
}
bool hm_device_get(struct hm_ctx *c, void *d, const void *s, size_t n, int pe, bool nbi, const char *call)
{
    return hm_device_put(c, d, s, n, pe, nbi, call);
}
void hm_device_move(void *to, const void *from, size_t n, const char *call) { hm_device_put(NULL, to, from, n, 0, 0, call); }
void hm_device_complete(struct hm_ctx *c, const char *call) { (void)c, (void)call, device(); }
WEAK void hm_device_quiet(struct hm_ctx *c) { (void)c, device(); }
WEAK void hm_look(void *to, const void *from, size_t n, const char *call) { hm_device_move(to, from, n, call); }
WEAK void hm_agent_add_float(struct hm_ctx *c, size_t o, uint64_t v, size_t n, int pe, const char *call)
{
    (void)o, (void)v;
    hm_device_put(c, NULL, NULL, n, pe, false, call);
}
WEAK uint64_t hm_agent_amo(struct hm_ctx *c, enum hm_amo op, size_t o, uint64_t v, uint64_t cond, size_t n, int pe,
                           const char *call)
{
    (void)op, (void)cond;
    hm_agent_add_float(c, o, v, n, pe, call);
    return 0;
}
WEAK uint64_t hm_amo_unmapped(struct hm_ctx *c, enum hm_amo op, void *addr, uint64_t v, uint64_t cond, size_t n, int pe,
                              const char *call)
{
    (void)addr;
    return hm_agent_amo(c, op, 0, v, cond, n, pe, call);
}

int hm_team_world_pe(const struct hm_team *team, int pe, const char *call)
{
    (void)team;
    hm_die(call, "PE %d: there are no teams here", pe);
}

/* --- the job --- */

static void *zeroed(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

/* Threads that are made from now on may run on one core, or on all that there were. */
static void use_cores(bool one)
{
    static cpu_set_t all;
    cpu_set_t some;
    if (!CPU_COUNT(&all)) sched_getaffinity(0, sizeof all, &all);
    int cpu = 0;
    while (one && !CPU_ISSET(cpu, &all)) cpu++;
    CPU_ZERO(&some);
    CPU_SET(cpu, &some);
    if (sched_setaffinity(0, sizeof some, one ? &some : &all)) perror("sched_setaffinity");
}

void fixture_start(int npes, const struct mode *mode)
{
    static char *heap;
    static size_t job_bytes;
    if (hm_world.job) munmap(hm_world.job, job_bytes);
    if (heap) munmap(heap, FIXTURE_HEAP);
    free(hm_symm.peer);
    job_bytes = hm_job_bytes(npes);
    hm_world = (struct hm_world){.npes = npes, .ready = true, .thread_level = 3, .pid = getpid(),
                                 .job = zeroed(job_bytes)};
    hm_world.job->npes = npes;
    hm_places_set(0, npes, 1, NULL);
    hm_world.page = hm_job_page(hm_world.job, 0);
    heap = zeroed(FIXTURE_HEAP);
    hm_symm = (struct hm_symm){.heap_base = (uintptr_t)heap, .heap_limit = FIXTURE_HEAP, .npes = (unsigned)npes,
                               .peer = calloc((size_t)npes, sizeof(struct hm_peer)), .heap_size = FIXTURE_HEAP,
                               .real_heap_limit = FIXTURE_HEAP};
    for (int i = 0; i < npes; i++)
        hm_symm.peer[i] = (struct hm_peer){.heap = heap, .page = hm_world.page, .bell = &hm_world.page->bell};
    use_cores(mode->one_core);
    hm_options.sleep_after = mode->sleep_after;
    hm_options.poll = false; /* who is not woken sleeps for ever: a lost wake-up is a hang */
    hm_world.membarrier = mode->membarrier && hm_os_membarrier_register() == 0;
    hm_world.oversubscribed = mode->oversubscribed;
    hm_wait_configure(mode->oversubscribed, hm_world.membarrier);
    if (mode->membarrier && !hm_world.membarrier) printf("%s: membarrier is denied here, goes without\n", mode->name);
}

void *fixture_heap(size_t offset) { return (char *)hm_symm.heap_base + offset; }

/* --- threads --- */

struct job {
    void (*body)(int i);
    int i;
};

static void *thread_main(void *arg)
{
    struct job *job = arg;
    job->body(job->i);
    return NULL;
}

void fixture_run(int n, void (*body)(int i), unsigned seconds)
{
    pthread_t thread[64];
    struct job job[64];
    alarm(seconds); /* a lost wake-up hangs: end by signal */
    for (int i = 0; i < n; i++) {
        job[i] = (struct job){body, i};
        if (pthread_create(&thread[i], NULL, thread_main, &job[i])) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
    alarm(0);
}

unsigned fixture_sleepers(void)
{
    struct hm_pe_page *page = hm_world.page;
    return (page->bell.sleepers & ~HM_BELL_NO_MEMBARRIER) + (page->lock_bell.sleepers & ~HM_BELL_NO_MEMBARRIER);
}

int fixture_asleep(void) { return __atomic_load_n(&hm_world.job->crowd.asleep, __ATOMIC_RELAXED); }

/* --- checks --- */

static int failures;

void fixture_failed(const char *file, int line, const char *format, ...)
{
    char text[256];
    va_list args;
    if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > 10) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%s:%d: %s\n", file, line, text);
}

int fixture_end(void)
{
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}

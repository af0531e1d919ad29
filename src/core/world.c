#define _GNU_SOURCE
#include "core/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/choice.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "base/version.h"
#include "core/agent.h"
#include "core/alloc.h"
#include "core/copies.h"
#include "core/ctx.h"
#include "core/early.h"
#include "core/device.h"
#include "core/far.h"
#include "core/fault.h"
#include "core/huge.h"
#include "core/image.h"
#include "core/move.h"
#include "core/order.h"
#include "core/paths.h"
#include "core/place.h"
#include "core/remote.h"
#include "core/stream.h"
#include "core/symm.h"
#include "core/team.h"
#include "core/wait.h"
#include "core/work.h"
#include "memkind/memkind.h"

struct hm_world hm_world = {.pe = -1};
extern char **environ;

enum { MAX_LEVEL = 3 };

/* --- what a PE that is not in the job is told --- */

void hm_world_not_ready(const char *call)
{
    if (hm_world.finalized) hm_die(call, "called after shmem_finalize; call shmem_init again first");
    hm_die(call, "called before shmem_init");
}

/* A forked child holds copies of all of this, but it is no PE. */
static bool is_this_process(void) { return hm_world.pid == getpid(); }

static HM_COLD void refuse_forked(const char *call)
{
    if (is_this_process()) return;
    hm_log_set_pe(-1);
    hm_die(call, "process %d was forked by PE %d (process %d) and is no PE itself, so it cannot initialise or finalize "
           "the library", (int)getpid(), hm_world.pe, hm_world.pid);
}

static HM_COLD void refuse_descendant(const char *call)
{
    int pe, pid;
    char which[32] = "";
    if (!hm_boot_descends(environ, &pe, &pid)) return;
    if (pid > 0) snprintf(which, sizeof which, " (process %d)", pid);
    hm_die(call, "process %d was started by PE %d%s of a job and is no PE itself; a program that a PE starts needs an "
           "oshrun of its own, or, to be a job of one PE, SHMEM_BOOT=single in its environment", (int)getpid(), pe, which);
}

static HM_COLD void refuse_copies(const char *call)
{
    char other[512], own[512];
    if (!hm_copies_find(other, sizeof other, own, sizeof own)) return;
    hm_die(call, "there are two copies of this library in the process: %s and %s; only one can be a PE, so have "
           "everything use the same one", own, other);
}

int hm_world_is_descendant(void)
{
    int pe, pid;
    if (hm_world.ready) return !is_this_process();
    return hm_boot_descends(environ, &pe, &pid);
}

static int machines; /* of the job: known before the places are */

void hm_world_has_said(int status, bool tell_launcher)
{
    if (!hm_world.page || !is_this_process()) return;
    hm_world.page->status = status;
    __atomic_store_n(&hm_world.page->state, HM_PE_SAID, __ATOMIC_RELEASE);
    if (machines < 2) return; /* else others cannot see that it is said */
    if (tell_launcher || hm_world.boot->threads) hm_world.boot->exit_all(status);
}

static void on_die(int status) { hm_world_has_said(status, true); }

bool hm_world_claim_report(void)
{
    if (!hm_world.job || !is_this_process()) return true;
    uint32_t before = 0, mine = (uint32_t)hm_world.pe + 1;
    return __atomic_compare_exchange_n(&hm_world.job->reported, &before, mine, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST) || before == mine;
}

void hm_world_die_silently(void)
{
    for (int i = 0; i < 50; i++) usleep(100000);
    on_die(1);
    _exit(1);
}

/* --- exit --- */

static HM_NORETURN void exit_once(int status)
{
    static int leaving;
    if (__atomic_exchange_n(&leaving, 1, __ATOMIC_ACQ_REL)) /* another thread of this PE is at it */
        for (;;) pause();
    exit(status);
}

void hm_world_safe_point(void)
{
    if (hm_likely(!__atomic_load_n(&hm_world.job->stopping, __ATOMIC_ACQUIRE))) return;
    if (is_this_process()) exit_once(hm_world.job->exit_status);
}

void hm_world_global_exit(int status)
{
    if (hm_world.ready && is_this_process()) {
        struct hm_job *job = hm_world.job;
        if (!__atomic_exchange_n(&job->exit_claim, 1, __ATOMIC_ACQ_REL)) {
            job->exit_status = status;
            __atomic_store_n(&job->stopping, 1, __ATOMIC_RELEASE);
        }
        hm_world.boot->exit_all(status);
        for (int i = 0; i < hm_places.local_npes; i++) {
            struct hm_pe_page *page = hm_job_page(job, i);
            hm_bell_ring(&page->bell);
            hm_bell_ring(&page->meet_bell);
        }
        hm_bell_wake(&hm_team_world->sync.meeting->bell); /* its number counts meetings: no ring may change it */
    }
    exit_once(status);
}

static bool exiting;

/* Threads of our own must not run any more when exit handlers take apart what they use. */
static void halt(void)
{
    hm_stream_halt();
    hm_agent_halt();
    hm_far_halt();
}

/* The program ends: with status 0 the PE takes part in the finalize it owes, with another the job ends. */
static void at_exit(int status, void *arg)
{
    (void)arg;
    if (!hm_world.ready || !is_this_process()) return;
    if (__atomic_load_n(&hm_world.job->stopping, __ATOMIC_ACQUIRE)) {
        halt();
        return;
    }
    if (status == 0) {
        hm_world.inits = 1;
        exiting = true;
        hm_world_finalize("exit without shmem_finalize");
        return;
    }
    halt();
    hm_world.page->status = status;
    __atomic_store_n(&hm_world.page->state, HM_PE_LEAVING, __ATOMIC_RELEASE);
}

/* --- start, as a ladder --- */

/* What the PEs tell each other at init. */
struct greeting {
    uint64_t heap_bytes, image_identity, image_span;
    uint32_t program; /* hash of its file's name */
    int32_t machine;
    uint32_t cgroup_cores, asked_cores;
    uint8_t membarrier, image_shared, affinity_known, mapped, paths;
    uint8_t affinity[64];
};
_Static_assert(sizeof(struct greeting) <= 112, "init exchanges at most 512 bytes for each PE: see doc/scale.md");

struct start {
    struct hm_boot_world who;
    const struct hm_image *image;
    int heap_fd, work_fd; /* work: -1 on one machine */
    struct greeting mine, *all;
    int *fds; /* heap, image and, on several machines, work memory of each PE; -1: of another machine */
    int nfds; /* of each */
    const char *data_off_because; /* why static data is not shared; NULL: it is */
};

static void map_job(struct start *st, const char *call)
{
    size_t bytes = hm_job_bytes(st->who.local_npes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, st->who.job_fd, 0);
    close(st->who.job_fd);
    if (at == MAP_FAILED) hm_die(call, "cannot map %zu bytes of job memory: %s", bytes, strerror(errno));
    madvise(at, bytes, MADV_DONTDUMP);
    hm_world.job = at;
    hm_world.page = hm_job_page(at, st->who.local_pe);
    if (hm_world.job->magic != HM_JOB_MAGIC || hm_world.job->version != HM_JOB_VERSION)
        hm_die(call, "the launcher is of another version than this library: use the oshrun of the same installation");
    hm_world.page->pid = getpid();
    __atomic_store_n(&hm_world.page->state, HM_PE_STARTED, __ATOMIC_RELEASE);
}

static void say_limit(int error, size_t bytes, const char *call)
{
    struct rlimit limit;
    if (error == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        hm_die(call, "the symmetric heap of %zu bytes is more than the limit on file sizes allows (ulimit -f: %llu "
               "bytes); raise the limit or set SHMEM_SYMMETRIC_SIZE lower", bytes, (unsigned long long)limit.rlim_cur);
    if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        hm_die(call, "no file descriptor is left for the symmetric heap (ulimit -n: %llu); raise the limit",
               (unsigned long long)limit.rlim_cur);
    hm_die(call, "cannot make a symmetric heap of %zu bytes: %s; set SHMEM_SYMMETRIC_SIZE lower", bytes, strerror(error));
}

static void make_heap(struct start *st, const char *call)
{
    hm_symm.heap_size = hm_round_up(hm_options.symmetric_size, hm_os_page());
    if (hm_symm.heap_size < hm_os_page()) hm_symm.heap_size = hm_os_page(); /* asked for 0, or rounded past the end */
    if (hm_options.symmetric_size > SIZE_MAX / 4)
        hm_die(call, "SHMEM_SYMMETRIC_SIZE asks for %zu bytes, more than an address space has", hm_options.symmetric_size);
    hm_symm.heap_kind = hm_memkind_find("host");
    int e = hm_symm.heap_kind->make(0, hm_symm.heap_size, &st->heap_fd);
    if (e) say_limit(-e, hm_symm.heap_size, call);
    hm_world.page->heap_bytes = hm_symm.heap_size;
}

static void make_work(struct start *st, const char *call)
{
    st->work_fd = -1;
    if (st->who.machines == 1) return;
    size_t bytes = hm_work_bytes(st->who.npes);
    int e = hm_memkind_find("host")->make(0, bytes, &st->work_fd);
    if (e) hm_die(call, "cannot make %zu bytes of memory for the traffic between machines: %s%s", bytes, strerror(-e),
                  e == -EFBIG ? " (raise the limit on file sizes, ulimit -f)" : "");
}

/* Of the file that runs, whatever folder it is in. */
static uint32_t program_name_hash(void)
{
    uint32_t hash = 0x811c9dc5u;
    for (const char *c = program_invocation_short_name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x01000193u;
    return hash;
}

static void set_places(const struct start *st, const char *call)
{
    int32_t *machine = malloc((size_t)st->who.npes * sizeof *machine);
    for (int i = 0; machine && i < st->who.npes; i++) machine[i] = st->all[i].machine;
    if (!machine || hm_places_set(st->who.pe, st->who.npes, st->who.machines, machine)) hm_die(call, "out of memory");
    free(machine);
}

static void greet(struct start *st, const char *call)
{
    struct greeting *g = &st->mine;
    bool alone = st->who.npes == 1;
    st->image = alone || !hm_options.static_data ? hm_image_look() : hm_image_share(false);
    g->heap_bytes = hm_symm.heap_size;
    g->image_identity = st->image->identity;
    g->image_span = st->image->span;
    g->image_shared = st->image->fd >= 0;
    g->cgroup_cores = (uint32_t)hm_os_cgroup_cores();
    g->asked_cores = hm_options.cores < INT_MAX ? (uint32_t)hm_options.cores : INT_MAX;
    g->affinity_known = hm_os_affinity(g->affinity, sizeof g->affinity);
    g->membarrier = hm_options.membarrier && hm_os_membarrier_register() == 0;
    g->mapped = hm_options.mapped;
    g->paths = hm_paths_asked(call);
    g->machine = st->who.machine;
    g->program = program_name_hash();
    st->nfds = st->who.machines > 1 ? 3 : 2;
    st->all = calloc((size_t)st->who.npes, sizeof *st->all);
    st->fds = calloc((size_t)st->who.npes * (size_t)st->nfds, sizeof *st->fds);
    if (!st->all || !st->fds) hm_die(call, "out of memory");
    int mine[3] = {st->heap_fd, st->image->fd >= 0 ? st->image->fd : st->heap_fd, st->work_fd};
    struct hm_blocked about = {.kind = HM_BLOCKED_START, .pe = -1, .since = hm_os_now(), .offset = -1};
    struct hm_blocked *published = hm_blocked_publish(&about, call);
    int e = hm_world.boot->gather(g, sizeof *g, st->all, mine, st->nfds, st->fds);
    if (e) hm_die(call, "the PEs could not exchange what they need to reach each other: %s", strerror(-e));
    if (published) hm_blocked_retract(published);
    set_places(st, call);
}

/* The CPUs that any of the PEs of this machine may use, within the tightest cgroup. All must come to the same number, as
 * it decides how they meet: what the first of them was told by SHMEM_CORES counts. */
static int usable_cores(const struct start *st)
{
    uint8_t any[sizeof st->mine.affinity] = {0};
    int limit = INT_MAX, n = 0;
    bool known = true;
    if (st->all[hm_place_pe(0)].asked_cores > 0) return (int)st->all[hm_place_pe(0)].asked_cores;
    for (int i = 0; i < hm_places.local_npes; i++) {
        const struct greeting *g = &st->all[hm_place_pe(i)];
        for (size_t k = 0; k < sizeof any; k++) any[k] |= g->affinity[k];
        known &= g->affinity_known;
        if ((int)g->cgroup_cores < limit) limit = (int)g->cgroup_cores;
    }
    for (size_t k = 0; k < sizeof any; k++) n += __builtin_popcount(any[k]);
    if (!known || !n) n = hm_os_cores();
    return n < limit ? n : limit;
}

static void agree_on_waiting(const struct start *st)
{
    hm_world.membarrier = true;
    for (int i = 0; i < hm_places.local_npes; i++) hm_world.membarrier &= st->all[hm_place_pe(i)].membarrier;
    hm_world.cores = usable_cores(st);
    bool has_far = !hm_options.mapped || hm_places.machines > 1;
    bool has_agents = strcmp(hm_options.heap_kind, "host") != 0;
    int threads = hm_places.local_npes * (1 + has_far + has_agents); /* threads that must run while their PE waits */
    hm_world.oversubscribed = threads > hm_world.cores;
    hm_world.job->cores = (uint32_t)hm_world.cores;
    hm_world.job->oversubscribed = hm_world.oversubscribed;
    hm_wait_configure(hm_world.oversubscribed, hm_world.membarrier);
}

static void agree_on_heaps(const struct start *st, const char *call)
{
    for (int i = 1; i < st->who.npes; i++)
        if (st->all[i].heap_bytes != st->all[0].heap_bytes)
            hm_die(call, "SHMEM_SYMMETRIC_SIZE differs: the heap of PE 0 has %llu bytes, that of PE %d has %llu; set it "
                   "alike for all PEs", (unsigned long long)st->all[0].heap_bytes, i,
                   (unsigned long long)st->all[i].heap_bytes);
}

static void agree_on_ways(const struct start *st, const char *call)
{
    for (int i = 1; i < st->who.npes; i++)
        if (st->all[i].mapped != st->all[0].mapped)
            hm_die(call, "SHMEM_MAPPED differs between PE 0 and PE %d; set it alike for all PEs", i);
}

/* The same program in another build on some machine: its symmetric variables would lie elsewhere. */
static void agree_on_program(const struct start *st, const char *call)
{
    const struct greeting *all = st->all;
    for (int i = 1; i < st->who.npes; i++) {
        if (all[i].machine == all[0].machine || all[i].program != all[0].program ||
            all[i].image_identity == all[0].image_identity)
            continue;
        hm_die(call, "the program of PE %d, on another machine, has the name of that of PE 0 but is another build; have "
               "all machines run the same file", i);
    }
}

/* The first PE that could not share its static data, where others could, tells why. Collective: all have seen who can. */
struct excuse {
    char text[192];
};
static const char *hear_excuse(const struct start *st, const char *own, const char *call)
{
    static struct excuse first;
    struct excuse mine, *all = malloc((size_t)st->who.npes * sizeof *all);
    if (!all) hm_die(call, "out of memory");
    snprintf(mine.text, sizeof mine.text, "%s", own ? own : "");
    int pe = 0, e = hm_world.boot->gather(&mine, sizeof mine, all, NULL, 0, NULL);
    if (e) hm_die(call, "the PEs could not exchange why static data is not shared: %s", strerror(-e));
    while (st->all[pe].image_shared) pe++;
    first = all[pe];
    free(all);
    return own ? own : first.text;
}

/* Static data is shared when all PEs could share it and run the same program; NULL, or why not. */
static const char *agree_on_data(const struct start *st, const char *call)
{
    static char because[192];
    const char *own = st->image->fd >= 0 ? NULL : hm_options.static_data ? st->image->because : "SHMEM_STATIC is off";
    int can = 0;
    for (int i = 0; i < st->who.npes; i++) can += st->all[i].image_shared;
    if (can && can < st->who.npes) return hear_excuse(st, own, call);
    if (own) return own;
    for (int i = 1; i < st->who.npes; i++)
        if (st->all[i].image_identity != st->all[0].image_identity) {
            snprintf(because, sizeof because, "PE 0 and PE %d run different programs", i);
            return because;
        }
    return NULL;
}

/* A page that a put of another PE touches first would lie near that PE. Nobody puts yet: nothing is allocated. */
static void keep_heap_near(void)
{
    const struct hm_memkind *kind = hm_symm.heap_kind;
    int e = kind->keep_near ? kind->keep_near(hm_symm.peer[hm_world.pe].heap, hm_symm.heap_size) : 0;
    if (e) hm_debug("the heap's memory comes from wherever it is touched first: %s", strerror(-e));
}

static void map_peers(struct start *st, const char *call)
{
    int npes = st->who.npes;
    if (hm_symm_make_peers(npes)) hm_die(call, "out of memory");
    for (int i = 0; i < hm_places.local_npes; i++) {
        struct hm_peer *peer = &hm_symm.peer[hm_place_pe(i)];
        peer->page = hm_job_page(hm_world.job, i);
        peer->bell = &peer->page->bell;
    }
    hm_remote_map_heaps(st->fds, st->nfds, call);
    keep_heap_near();
    if (st->work_fd >= 0) hm_remote_map_work(st->fds, st->nfds, hm_work_bytes(npes), call);
    hm_symm.heap_base = (uintptr_t)hm_symm.peer[hm_world.pe].heap;
    hm_symm.data_base = st->image->base;
    hm_symm.data_span = st->image->span;
    hm_symm.data_off_because = st->data_off_because;
    if (!hm_symm.data_off_because) hm_remote_map_data(st->fds, st->nfds, st->image, call);
    hm_symm.real_data_limit = hm_symm.data_off_because ? 0 : hm_symm.data_span;
    hm_symm.data_limit = hm_symm_is_open() ? hm_symm.real_data_limit : 0;
    if (hm_symm.data_off_because) hm_debug("static data is not shared: %s", hm_symm.data_off_because);
}

static void close_descriptors(struct start *st)
{
    close(st->heap_fd);
    if (st->work_fd >= 0) close(st->work_fd);
    for (int i = 0; i < st->who.npes * st->nfds; i++)
        if (st->fds[i] >= 0) close(st->fds[i]);
    free(st->fds);
    free(st->all);
}

static void print_banner(void)
{
    struct hm_option_view v;
    if (hm_options.version && hm_world.pe == 0) hm_log_line(NULL, "version %s, OpenSHMEM 1.6", HM_VERSION);
    if (!hm_options.info || hm_world.pe != 0) return;
    for (unsigned i = 0; hm_option_view(i, &v); i++)
        hm_log_line(NULL, "SHMEM_%s=%s (%s, default %s): %s", v.name, v.value, v.origin, v.dflt, v.help);
}

static void check_headers(const char *call)
{
    char text[256];
    if (hm_early_versions(text, sizeof text) != 0) hm_die(call, "%s", text);
}

/* While the other PEs have not come to init. */
static const char *opening;
static void idle_in_start(void)
{
    int (*fn)(int can_return) = hm_wait_interrupt();
    if (fn && fn(0))
        hm_die_with(HM_INTERRUPTED, opening, "interrupted while it waits for the other PEs to start; the job is ended");
}

static void choose_boot(const char *call)
{
    struct hm_boot_choice choice;
    hm_boot_choose(environ, &choice);
    if (!choice.boot) hm_die(call, "%s", choice.why);
    hm_world.boot = choice.boot;
}

/* One PE of the job warns for all. */
static bool is_first_by_environment(void)
{
    const char *number = hm_world.boot->number ? getenv(hm_world.boot->number) : NULL;
    return !number || !strcmp(number, "0");
}

static void join(struct start *st, const char *call)
{
    opening = call;
    hm_boot_idle = hm_wait_interrupt() ? idle_in_start : NULL; /* who has none sleeps soundly */
    if (hm_world.boot->threads && hm_options.static_data) hm_image_share(false); /* later there is more than one */
    int e = hm_world.boot->start(&st->who);
    machines = e ? 1 : st->who.machines;
    if (e == -ENOMEM) hm_die(call, "out of memory");
    if (!e) return;
    fflush(stdout);
    _exit(1); /* why has been said */
}

static void open_world(const char *call)
{
    struct start st = {.heap_fd = -1};
    refuse_descendant(call);
    if (hm_copies_joined()) refuse_copies(call); /* this process is a PE already and cannot join */
    hm_die_hook = on_die;
    hm_die_claim = hm_world_claim_report;
    hm_world.pid = getpid();
    choose_boot(call);
    if (hm_options_read(is_first_by_environment()) || hm_choice_read(hm_options.coll))
        hm_die(call, "an option is malformed (see above)");
    hm_log_set_debug(hm_options.debug);
    join(&st, call);
    hm_world.pe = st.who.pe;
    hm_world.npes = st.who.npes;
    hm_log_set_pe(hm_world.npes > 1 || strcmp(hm_world.boot->name, "single") ? hm_world.pe : -1);
    map_job(&st, call);
    refuse_copies(call); /* now that one PE can speak for all */
    check_headers(call);
    make_heap(&st, call);
    make_work(&st, call);
    greet(&st, call);
    agree_on_heaps(&st, call);
    agree_on_waiting(&st);
    agree_on_ways(&st, call);
    agree_on_program(&st, call);
    if (st.who.npes > 1) st.data_off_because = agree_on_data(&st, call);
    hm_device_start(call);
    map_peers(&st, call);
    if (hm_alloc_start(hm_symm.heap_size, st.heap_fd)) hm_die(call, "out of memory for the records of the heap");
    hm_huge_start();
    hm_move_start(call);
    hm_symm_open_peers(hm_world.npes);
    hm_team_start();
    hm_far_start((int[HM_SEGMENTS]){st.heap_fd, st.image->fd, st.work_fd}, call);
    bool paths = st.all[0].paths;
    close_descriptors(&st);
    print_banner();
    if (paths) hm_paths_show(call);
    if (hm_options.signals) hm_fault_install();
    static bool exit_hook;
    if (!exit_hook) on_exit(at_exit, NULL);
    exit_hook = true;
    hm_world.ready = true;
    hm_world.finalized = false;
    __atomic_store_n(&hm_world.page->state, HM_PE_READY, __ATOMIC_RELEASE);
}

int hm_world_init(int requested, int *provided, const char *call)
{
    if (requested < 0 || requested > MAX_LEVEL)
        hm_die(call, "requested: %d is no thread level; use SHMEM_THREAD_SINGLE, FUNNELED, SERIALIZED or MULTIPLE",
               requested);
    if (hm_world.ready) refuse_forked(call);
    if (!hm_world.ready) {
        open_world(call);
        hm_world.thread_level = requested;
        hm_world.page->thread_level = (uint32_t)requested;
    } else if (requested > hm_world.thread_level) {
        hm_world.thread_level = requested; /* every level costs the same here, so a later init may raise it */
    }
    hm_world.inits++;
    if (provided) *provided = hm_world.thread_level;
    return 0;
}

int hm_world_init_with(const struct hm_boot_attr *attr, int requested, int *provided, const char *call)
{
    if (hm_world.ready && (attr->pe != hm_world.pe || attr->npes != hm_world.npes))
        hm_die(call, "attr says PE %d of %d, but this process is PE %d of %d already", attr->pe, attr->npes, hm_world.pe,
               hm_world.npes);
    hm_boot_set_attr(attr);
    int rc = hm_world_init(requested, provided, call);
    hm_boot_set_attr(NULL);
    return rc;
}

void hm_world_start_pes(void)
{
    if (!hm_world.ready) hm_world_init(0, NULL, "start_pes");
}

/* --- stop, in reverse --- */

static void close_world(void)
{
    __atomic_store_n(&hm_world.page->state, HM_PE_FINALIZED, __ATOMIC_RELEASE);
    if (exiting && hm_remote_keeps()) { /* threads may still be in calls, Python's daemons, and all they use goes with them */
        halt();
        hm_world.boot->stop();
        return;
    }
    hm_world.ready = false;
    hm_world.finalized = true;
    if (hm_options.signals) hm_fault_remove();
    hm_ctx_destroy_all(NULL);
    hm_far_stop();
    hm_team_stop();
    hm_alloc_stop();
    hm_device_stop();
    hm_huge_stop();
    hm_symm_close_peers();
    hm_symm.heap_limit = hm_symm.real_heap_limit = 0;
    hm_symm.data_limit = hm_symm.real_data_limit = 0;
    hm_remote_unmap();
    hm_places_clear();
    hm_symm_drop_peers();
    hm_world.boot->stop();
    munmap(hm_world.job, hm_job_bytes(hm_world.job->npes));
    hm_world.job = NULL;
    hm_world.page = NULL;
}

void hm_world_finalize(const char *call)
{
    hm_world_need(call);
    refuse_forked(call);
    if (hm_world.inits > 1) {
        hm_world.inits--;
        hm_barrier_all(call);
        return;
    }
    static const struct hm_purpose leave = {.kind = HM_COLL_FINALIZE};
    hm_stream_stop(call);
    if (hm_device_any())
        hm_ctx_quiet_all(); /* behind the meeting no agent serves any more */
    else
        hm_quiet(&hm_ctx_default);
    hm_far_leave();
    hm_sync_enter(&hm_team_world->sync, &leave, call);
    hm_far_part();
    hm_device_detach();
    hm_world.inits = 0;
    close_world();
}

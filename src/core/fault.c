#define _GNU_SOURCE
#include "core/fault.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/memlimit.h"
#include "base/os.h"
#include "base/text.h"
#include "core/device.h"
#include "core/image.h"
#include "core/maps.h"
#include "core/symbols.h"
#include "core/place.h"
#include "core/symm.h"
#include "core/world.h"

#define STACK_BYTES ((size_t)128 << 10)

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}};

static char *own_stack; /* with a closed page below it */
static int reporting;   /* one thread of a process reports */

/* --- what the machine says --- */

struct fault {
    int sig;
    const siginfo_t *info;
    uintptr_t addr, pc, sp, link; /* link: return address in a register, 0: none */
    int access;                   /* 'r', 'w', 'x', 0 unknown */
};

#if defined(__x86_64__)
static void read_registers(struct fault *f, const ucontext_t *u)
{
    f->pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    f->sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
    if (u->uc_mcontext.gregs[REG_TRAPNO] != 14) return; /* a page fault has an error code */
    long error = (long)u->uc_mcontext.gregs[REG_ERR];
    f->access = error & 16 ? 'x' : error & 2 ? 'w' : 'r';
}
#elif defined(__aarch64__)
static void read_registers(struct fault *f, const ucontext_t *u)
{
    f->pc = u->uc_mcontext.pc;
    f->sp = u->uc_mcontext.sp;
    f->link = u->uc_mcontext.regs[30];
    const unsigned char *p = u->uc_mcontext.__reserved, *end = p + sizeof u->uc_mcontext.__reserved;
    while (p + 16 <= end) { /* records: magic, bytes; that of the fault's syndrome */
        uint32_t head[2];
        uint64_t esr;
        memcpy(head, p, sizeof head);
        if (!head[0] || head[1] < 8) return;
        memcpy(&esr, p + 8, sizeof esr);
        if (head[0] == 0x45535201) f->access = esr >> 26 == 0x20 ? 'x' : esr & 64 ? 'w' : 'r';
        p += head[1];
    }
}
#else
static void read_registers(struct fault *f, const ucontext_t *u)
{
    (void)f, (void)u;
}
#endif

/* --- where --- */

static void add_pe(struct hm_text *t, unsigned pe)
{
    if ((int)pe == hm_world.pe) {
        hm_text_add(t, "this PE");
        return;
    }
    hm_text_add(t, "PE ");
    hm_text_dec(t, pe);
}

enum where { NOWHERE, IN_HEAP, BEHIND_HEAP, IN_DATA, ON_DEVICE };

/* Which PE's memory is it, and how far in? */
static enum where find_segment(uintptr_t addr, unsigned *pe, size_t *offset)
{
    for (unsigned i = 0; i < hm_symm.npes; i++) {
        const struct hm_peer *peer = &hm_symm.peer[i];
        *pe = i;
        *offset = addr - (uintptr_t)peer->heap;
        if (peer->heap && *offset < hm_symm.heap_size) return IN_HEAP;
        if (peer->heap && *offset - hm_symm.heap_size < hm_os_page()) return BEHIND_HEAP;
        *offset = addr - (uintptr_t)peer->data;
        if (peer->data && *offset < hm_symm.real_data_limit) return IN_DATA;
        if (!hm_device_any() || !hm_device.peer[i]) continue;
        *offset = addr - (uintptr_t)hm_device.peer[i];
        if (*offset < hm_device.size) return ON_DEVICE;
    }
    return NOWHERE;
}

static void add_segment(struct hm_text *t, enum where where, unsigned pe, size_t offset)
{
    if (where == BEHIND_HEAP) {
        hm_text_dec(t, offset - hm_symm.heap_size);
        hm_text_add(t, " bytes behind the end of the symmetric heap of ");
        add_pe(t, pe);
        return;
    }
    hm_text_add(t, "offset ");
    hm_text_dec(t, offset);
    hm_text_add(t, where == IN_HEAP     ? " of the symmetric heap of "
                   : where == ON_DEVICE ? " of the device heap of "
                                        : " of the static data of ");
    add_pe(t, pe);
}

/* Just below the memory that the stack pointer stands in, or in the closed page there. */
static bool is_overflow(const struct fault *f, const struct hm_place *p)
{
    if (p->mapped && p->perm[0] != '-') return false;
    if (f->addr + 65536 < f->sp || !p->next_start || strncmp(p->next_perm, "rw", 2)) return false;
    return f->sp < p->next_start + ((size_t)64 << 20) && (p->next_is_stack || p->mapped);
}

static void add_place(struct hm_text *t, const struct fault *f)
{
    struct hm_place p;
    bool known = hm_maps_find(f->addr, &p) == 0;
    bool near_stack = f->addr + 65536 >= f->sp && f->addr < f->sp + 65536;
    if (!known && !near_stack) return;
    if (known ? is_overflow(f, &p) : near_stack) {
        hm_text_add(
            t, ", stack overflow: this thread's stack is full; look for endless recursion or large local "
               "arrays, or raise ulimit -s");
    } else if (!p.mapped) {
        hm_text_add(t, ", where no memory is mapped");
    } else {
        const char *name = *p.path ? hm_maps_name(p.path) : NULL;
        hm_text_add(t, p.perm[0] == '-'                       ? ", in memory that is closed to all access"
                       : f->access == 'x'                     ? ", which is not code"
                       : f->access == 'w' && p.perm[1] == '-' ? ", in read-only memory"
                                                              : ", in memory");
        if (name) hm_text_add(t, " of "), hm_text_add(t, name);
    }
}

static void add_address(struct hm_text *t, const struct fault *f)
{
    unsigned pe;
    size_t offset;
    if (f->info->si_code == SI_KERNEL) {
        hm_text_add(t, "a pointer that is no address");
        return;
    }
    hm_text_add(t, f->access == 'w'   ? "write to "
                   : f->access == 'r' ? "read from "
                   : f->access == 'x' ? "jump to "
                                      : "access to ");
    hm_text_hex(t, f->addr);
    enum where where = find_segment(f->addr, &pe, &offset);
    if (where != NOWHERE) {
        hm_text_add(t, ", ");
        add_segment(t, where, pe, offset);
        if (where == IN_HEAP) hm_text_add(t, ", in memory that was freed");
        if (where == ON_DEVICE)
            hm_text_add(t, ", which the CPU cannot touch: use shmem_put and shmem_get, also for this PE's own (its own "
                           "number), or memory of the host (shmemx_malloc_on, SHMEM_MALLOC_ON=host)");
    } else if (f->addr < 65536) {
        hm_text_add(t, f->addr ? ", a NULL pointer and some bytes" : ", a NULL pointer");
    } else {
        add_place(t, f);
    }
}

/* --- SIGBUS: memory ran out --- */

/* What is committed of a heap, 1 s at most for all of them. False when the time is up. */
static bool count_committed(unsigned pe, uint64_t until, uint64_t *bytes)
{
    static unsigned char in_core[65536];
    size_t page = hm_os_page(), step = sizeof in_core * page, top = hm_symm.real_heap_limit;
    uint64_t mine = 0;
    for (size_t at = 0; at < top; at += step) {
        size_t n = top - at < step ? top - at : step;
        if (syscall(SYS_mincore, hm_symm.peer[pe].heap + at, n, in_core) != 0) continue;
        for (size_t i = 0; i < n / page; i++)
            mine += in_core[i] & 1;
        if (hm_os_now() > until) break;
    }
    *bytes += mine * page;
    hm_symm.peer[pe].page->heap_committed = mine * page;
    return hm_os_now() <= until;
}

/* Where memfd_create was denied the memory is a file of /dev/shm or /tmp, and that is what is full. */
static bool add_file_system(struct hm_text *t, uintptr_t addr)
{
    struct hm_place p;
    struct statfs fs;
    if (hm_maps_find(addr, &p) != 0 || !p.mapped || p.path[0] != '/' || !strncmp(p.path, "/memfd:", 7))
        return false;
    char *slash = strrchr(p.path, '/');
    *slash = 0;
    if (statfs(*p.path ? p.path : "/", &fs) != 0) return false;
    hm_text_add(t, "; the limit is ");
    hm_text_bytes(t, (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize);
    hm_text_add(t, ", that of the file system at ");
    hm_text_add(t, *p.path ? p.path : "/");
    return true;
}

static void add_out_of_memory(struct hm_text *t, const struct fault *f)
{
    uint64_t bytes = 0, until = hm_os_now() + 1000000000u;
    bool all = true;
    struct hm_memlimit limit;
    for (unsigned i = 0; i < hm_symm.npes && all; i++)
        if (hm_symm.peer[i].heap) all = count_committed(i, until, &bytes);
    hm_text_add(t, hm_places.machines > 1 ? ": out of memory: the symmetric heaps of the PEs of this machine have committed "
                                          : ": out of memory: the symmetric heaps of all PEs have committed ");
    hm_text_add(t, all ? "" : "at least ");
    hm_text_bytes(t, bytes);
    if (add_file_system(t, f->addr)) return;
    hm_memlimit_find(&limit);
    if (!limit.bytes) return;
    hm_text_add(t, "; the limit is ");
    hm_text_bytes(t, limit.bytes);
    hm_text_add(t, ", that ");
    hm_text_add(t, limit.whose);
}

static void add_bus(struct hm_text *t, const struct fault *f)
{
    unsigned pe;
    size_t offset;
    enum where where = find_segment(f->addr, &pe, &offset);
    hm_text_add(t, "access to ");
    hm_text_hex(t, f->addr);
    if (where == IN_HEAP || where == IN_DATA) {
        hm_text_add(t, ", ");
        add_segment(t, where, pe, offset);
    }
    if (f->info->si_code == BUS_ADRALN)
        hm_text_add(t, ", which is not aligned as the instruction needs it");
    else if (f->info->si_code == BUS_MCEERR_AR)
        hm_text_add(t, ", where the memory itself is broken (hardware error)");
    else if (where == IN_HEAP || where == IN_DATA)
        add_out_of_memory(t, f);
    else
        hm_text_add(t, ", behind the end of a mapped file that was cut short, or of a full file system");
}

/* --- by whom --- */

static void add_arithmetic(struct hm_text *t, int code)
{
    switch (code) {
    case FPE_INTDIV:
        hm_text_add(t, "integer division by zero, or one whose result does not fit");
        break;
    case FPE_INTOVF:
        hm_text_add(t, "integer overflow");
        break;
    case FPE_FLTDIV:
        hm_text_add(t, "floating-point division by zero");
        break;
    case FPE_FLTOVF:
        hm_text_add(t, "floating-point overflow");
        break;
    case FPE_FLTUND:
        hm_text_add(t, "floating-point underflow");
        break;
    case FPE_FLTINV:
        hm_text_add(t, "invalid floating-point operation");
        break;
    default:
        hm_text_add(t, "arithmetic error");
    }
}

/* Who is to blame: the API call that the fault happened in, and the program's place. */
struct blame {
    const char *call; /* NULL: none, or not known */
    uintptr_t at;     /* in the program; 0: not known */
    bool called;      /* `at` is where a call was made that ended in the fault */
};

/* Looks up the stack for the API call and for the program's place that made it. */
static void find_caller(const struct fault *f, struct blame *b)
{
    struct hm_place stack;
    b->call = hm_symbols_name(f->pc);
    if (!b->call) b->call = hm_symbols_name(f->link);
    b->called = true;
    if (hm_symbols_in_program(f->link)) b->at = f->link;
    if (b->at || f->sp % sizeof(uintptr_t) || hm_maps_find(f->sp, &stack) != 0 || !stack.mapped) return;
    const uintptr_t *word = (const uintptr_t *)f->sp, *end = (const uintptr_t *)stack.end;
    for (int i = 0; i < 512 && word < end && !b->at; i++, word++) {
        if (!b->call) b->call = hm_symbols_name(*word);
        if (hm_symbols_in_program(*word)) b->at = *word;
    }
}

static void find_blame(const struct fault *f, struct blame *b)
{
    *b = (struct blame){.at = 0};
    if (f->info->si_code <= 0 && f->sig != SIGABRT)
        return; /* sent: it has nothing to do with where it came */
    if (hm_symbols_in_program(f->pc))
        b->at = f->pc;
    else
        find_caller(f, b);
}

static void add_blame(struct hm_text *t, const struct blame *b)
{
    if (!b->at) return;
    hm_text_add(t, b->called ? "; called at " : "; at ");
    hm_text_add(t, hm_symbols_program());
    hm_text_add(t, "+");
    hm_text_hex(t, hm_symbols_program_offset(b->at));
}

static void add_sender(struct hm_text *t, const struct fault *f)
{
    if (f->info->si_pid != getpid()) {
        hm_text_add(t, "sent by process ");
        hm_text_dec(t, (uint64_t)f->info->si_pid);
    } else if (f->sig == SIGABRT) {
        hm_text_add(t, "abort was called");
    } else {
        hm_text_add(t, "sent by the program itself");
    }
}

static void write_line(struct hm_text *t)
{
    t->at[t->n < sizeof t->at - 1 ? t->n++ : t->n - 1] = '\n';
    for (size_t done = 0; done < t->n;) {
        ssize_t k = write(STDERR_FILENO, t->at + done, t->n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return;
        done += (size_t)k;
    }
}

/* "hbmesh: PE 3: shmem_putmem: SIGSEGV: write to ...; called at a.out+0x1234" */
static void report(const struct fault *f, const char *name)
{
    struct hm_text t = {.n = 0};
    struct blame blame;
    find_blame(f, &blame);
    hm_text_add(&t, "hbmesh: ");
    if (hm_world.npes > 1 || (hm_world.boot && strcmp(hm_world.boot->name, "single") != 0)) {
        hm_text_add(&t, "PE ");
        hm_text_dec(&t, (uint64_t)hm_world.pe);
        hm_text_add(&t, ": ");
    }
    if (blame.call) hm_text_add(&t, blame.call), hm_text_add(&t, ": ");
    hm_text_add(&t, name);
    hm_text_add(&t, ": ");
    if (f->info->si_code <= 0)
        add_sender(&t, f);
    else if (f->sig == SIGFPE)
        add_arithmetic(&t, f->info->si_code);
    else if (f->sig == SIGBUS)
        add_bus(&t, f);
    else if (f->sig == SIGSEGV)
        add_address(&t, f);
    add_blame(&t, &blame);
    write_line(&t);
}

/* --- the handler --- */

/* The default course, as if nobody had looked: pending until the handler returns, with all that the kernel
 * said. */
static void pass_on(int sig, siginfo_t *info)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(sig, &plain, NULL);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info) != 0) raise(sig);
}

static const char *signal_name(int sig)
{
    for (size_t i = 0; i < HM_COUNT(signals); i++)
        if (signals[i].number == sig) return signals[i].name;
    return "?";
}

/* One thread of a PE, and one PE of a job. */
static void have_the_last_word(int sig, const siginfo_t *info, const void *context)
{
    struct fault f = {.sig = sig, .info = info, .addr = (uintptr_t)info->si_addr};
    if (__atomic_exchange_n(&reporting, 1, __ATOMIC_ACQ_REL)) {
        struct timespec while_the_other_reports = {3, 0};
        nanosleep(&while_the_other_reports, NULL);
        return;
    }
    read_registers(&f, context);
    if (!hm_world.job || hm_world_claim_report()) report(&f, signal_name(sig));
    hm_world_has_said(128 + sig, false);
    hm_image_trim_core();
}

/* UCX aborts, on any of its threads, when it is asked for something on a connection that has just failed. A PE that such a
 * connection led to has died or left: the launcher, who knows why, has the first word here as in far.c, and it ends this PE. */
static void hear_launcher(int sig)
{
    enum { FIRST_WORD_MS = 300 };
    if (sig != SIGABRT || !hm_world.job || !hm_symm.far) return;
    for (int i = 0; i < FIRST_WORD_MS; i++) {
        struct timespec ms = {0, 1000000};
        if (__atomic_load_n(&hm_world.job->stopping, __ATOMIC_ACQUIRE)) _exit(hm_world.job->exit_status);
        nanosleep(&ms, NULL);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    if (hm_world.pid == getpid()) { /* a child of fork is no PE */
        hear_launcher(sig);
        have_the_last_word(sig, info, context);
    }
    pass_on(sig, info);
    errno = saved;
}

/* --- installing it --- */

/* A stack overflow leaves no stack to report it from. */
static void give_stack(void)
{
    stack_t now;
    size_t page = hm_os_page();
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    if (!own_stack) {
        char *at = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return;
        mprotect(at, page, PROT_NONE);
        own_stack = at + page;
    }
    stack_t ours = {.ss_sp = own_stack, .ss_size = STACK_BYTES};
    sigaltstack(&ours, NULL);
}

static void take_stack(void)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    size_t page = hm_os_page();
    if (!own_stack || sigaltstack(NULL, &now) != 0 || now.ss_sp != own_stack || now.ss_flags & SS_ONSTACK)
        return;
    if (sigaltstack(&none, NULL) == 0) munmap(own_stack - page, STACK_BYTES + page), own_stack = NULL;
}

void hm_fault_install(void)
{
    hm_symbols_prepare();
    give_stack();
    for (size_t i = 0; i < HM_COUNT(signals); i++) {
        struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigfillset(&ours.sa_mask);
        if (sigaction(signals[i].number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            sigaction(signals[i].number, &ours, NULL);
    }
}

void hm_fault_remove(void)
{
    for (size_t i = 0; i < HM_COUNT(signals); i++) {
        struct sigaction now, plain = {.sa_handler = SIG_DFL};
        if (sigaction(signals[i].number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_fault)
            sigaction(signals[i].number, &plain, NULL);
    }
    take_stack();
}

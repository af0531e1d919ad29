/* What an address is, in words: with /proc, and where it cannot be read. */
/* with: src/core/describe.c src/core/maps.c src/base/os.c */
#define _GNU_SOURCE
#include "core/device.h"
#include "core/symm.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hm_symm hm_symm;
struct hm_device hm_device;
enum hm_side hm_device_side(const void *addr) { (void)addr; return HM_SIDE_HOST; }

static int failures, checks;
static bool no_proc;

static void expect(const void *addr, const char *what, const char *and)
{
    char text[512];
    memset(text, '#', sizeof text);
    hm_symm_describe(addr, text, sizeof text);
    checks++;
    if (memchr(text, 0, sizeof text) && strstr(text, what) && strstr(text, and)) return;
    failures++;
    printf("%s: %p is said to be: %.400s\n  that has not: %s ... %s\n",
           no_proc ? "without /proc" : "with /proc", addr, text, what, and);
}

static int global = 1;
static const int constant = 2;
static __thread int mine;
static int unset;

struct other {
    pthread_t thread;
    void *on_stack, *in_arena;
    int ready[2], go[2];
};

static void *other_thread(void *arg)
{
    struct other *o = arg;
    char here[100] = "", c;
    o->on_stack = here;
    o->in_arena = malloc(100);
    expect(here, "on the stack of this thread", "shmem_malloc");
    if (write(o->ready[1], "r", 1) != 1 || read(o->go[0], &c, 1) != 1) failures++;
    free(o->in_arena);
    return NULL;
}

static void expect_symmetric(void)
{
    size_t page = 4096, bytes = 64 * 65536;
    char *heaps = mmap(NULL, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hm_peer peers[2] = {{.heap = heaps}, {.heap = heaps + bytes, .data = heaps + 2 * bytes}};
    char text[64];
    hm_symm = (struct hm_symm){.heap_base = (uintptr_t)heaps,
                               .heap_size = bytes,
                               .real_heap_limit = 8 * page,
                               .npes = 2,
                               .peer = peers,
                               .data_base = (uintptr_t)&global,
                               .data_span = sizeof global};
    expect(heaps + 8 * page + 24, "behind the top of the symmetric heap (offset 32792, the top is 32768)",
           "shmem_malloc");
    snprintf(text, sizeof text, "%p", (void *)(heaps + 100));
    expect(heaps + bytes + 100, "in the heap of PE 1 as it is mapped here (offset 100)", text);
    expect(heaps + bytes + 100, "own address", "the number 1");
    snprintf(text, sizeof text, "%p", (void *)&global);
    expect(heaps + 2 * bytes, "in the static data of PE 1", text);
    hm_symm.data_off_because = "of a reason";
    int local;
    expect(&local, "on the stack of this thread", "; symmetric is memory from shmem_malloc");
    hm_symm = (struct hm_symm){0};
    munmap(heaps, 3 * bytes);
}

static void expect_all(struct other *o)
{
    int local;
    char *block = malloc(100), *large = malloc((size_t)64 << 20);
    char *gone = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shared = mmap(NULL, 65536, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 65536);
    expect(NULL, "NULL;", "global and static variables");
    expect((void *)8, "NULL and 8 bytes more", "shmem_malloc");
    expect(&local, "on the stack of this thread", "shmem_malloc");
    expect(&global, "in the data of the program", "shmem_malloc");
    expect(&unset, "in the data of the program", "");
    expect(&constant, "in the read-only data of the program", "");
    expect("text", "in the read-only data of the program", "");
    expect((void *)(uintptr_t)expect_all, "in the code of the program", "");
    expect(dlsym(RTLD_DEFAULT, "getppid"), "in the code of libc", "");
    expect(stdout, "in the data of libc", "shmem_malloc");
    expect(&mine, "among the thread-local variables of the program", "shmem_malloc");
    expect(block, "in malloc memory", "shmem_malloc");
    expect(large, "in malloc memory", "shmem_malloc");
    expect(gone, "not mapped", "shmem_malloc");
    expect((void *)0xdead000000000000ul, "not mapped", "shmem_malloc");
    expect(shared, no_proc ? "mmap" : "shared between processes", "");
    expect(o->on_stack, no_proc ? "another thread's stack" : "on the stack of another thread", "");
    expect(o->in_arena, "in malloc memory", "");
    free(block);
    free(large);
    munmap(shared, 65536);
    expect_symmetric();
}

/* Every way of opening a file fails, as in a process that sees no /proc. */
static bool deny_files(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {HM_COUNT(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

int main(void)
{
    struct other o;
    char c;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pipe(o.ready) || pipe(o.go) || pthread_create(&o.thread, NULL, other_thread, &o) ||
        read(o.ready[0], &c, 1) != 1)
        return 1;
    mine = 1;
    expect_all(&o);
    if (deny_files()) {
        no_proc = true;
        expect_all(&o);
    } else {
        puts("seccomp is denied: not tested without /proc");
    }
    if (write(o.go[1], "g", 1) != 1) return 1;
    pthread_join(o.thread, NULL);
    printf("%d descriptions, %d wrong\n", checks, failures);
    return failures != 0;
}

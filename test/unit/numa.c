/* The owner's node for pages that others touch first: asked of a kernel that this test plays where it takes several nodes, and
 * read back from the real one, through a second mapping of the same memory. */
/* with: src/base/numa.c */
/* libs: -ldl */
#define _GNU_SOURCE
#include "base/numa.h"

#include <dlfcn.h>
#include <linux/mempolicy.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failures;

#define CHECK(cond, ...)                                                \
    do {                                                                \
        if (!(cond)) {                                                  \
            failures++;                                                 \
            printf("%s:%d: not true: %s: ", __FILE__, __LINE__, #cond); \
            printf(__VA_ARGS__);                                        \
            puts("");                                                   \
        }                                                               \
    } while (0)

/* What the kernel says, and what it was asked for. */
static struct {
    unsigned long allowed; /* nodes */
    int mode;              /* of the process */
    unsigned node;
    bool knows_none, refuses, real_bind;
    int binds, bind_mode;
    void *bind_at;
    size_t bind_bytes;
    unsigned long bind_node[4], bind_bits;
} kernel;

static long (*real)(long number, ...);

static long fails(int error)
{
    errno = error;
    return -1;
}

static long get_mempolicy(const long *arg)
{
    if (kernel.knows_none) return fails(ENOSYS);
    if (arg[4] == MPOL_F_MEMS_ALLOWED) {
        memset((void *)arg[1], 0, (size_t)arg[2] / 8);
        *(unsigned long *)arg[1] = kernel.allowed;
    } else {
        *(int *)arg[0] = kernel.mode;
    }
    return 0;
}

static long bind(const long *arg)
{
    kernel.binds++;
    kernel.bind_at = (void *)arg[0];
    kernel.bind_bytes = (size_t)arg[1];
    kernel.bind_mode = (int)arg[2];
    memcpy(kernel.bind_node, (void *)arg[3], sizeof kernel.bind_node);
    kernel.bind_bits = (unsigned long)arg[4];
    if (kernel.real_bind) return real(SYS_mbind, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    return kernel.refuses ? fails(EINVAL) : 0;
}

/* In place of libc's. */
long syscall(long number, ...)
{
    long arg[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) arg[i] = va_arg(args, long);
    va_end(args);
    switch (number) {
    case SYS_get_mempolicy: return get_mempolicy(arg);
    case SYS_mbind: return bind(arg);
    case SYS_getcpu:
        if (kernel.real_bind) return real(number, arg[0], arg[1], arg[2]);
        *(unsigned *)arg[1] = kernel.node;
        return 0;
    default: return fails(ENOSYS);
    }
}

static int keep(void *at, size_t bytes)
{
    kernel.binds = 0;
    return hm_numa_keep(at, bytes);
}

static void test_asked(void)
{
    char *at = (char *)0x10000;
    kernel.allowed = 0x7, kernel.node = 2;
    CHECK(keep(at, 1 << 20) == 0 && kernel.binds == 1, "three nodes: asked %d times", kernel.binds);
    CHECK(kernel.bind_at == at && kernel.bind_bytes == 1 << 20, "%p, %zu bytes", kernel.bind_at, kernel.bind_bytes);
    CHECK(kernel.bind_mode == MPOL_PREFERRED && kernel.bind_node[0] == 4, "mode %d, node mask %#lx", kernel.bind_mode,
          kernel.bind_node[0]);
    kernel.node = 70;
    CHECK(keep(at, 4096) == 0 && !kernel.bind_node[0] && kernel.bind_node[1] == 1ul << 6, "node 70: mask %#lx %#lx",
          kernel.bind_node[0], kernel.bind_node[1]);
    CHECK(kernel.bind_bits > 70 + 1, "of %lu bits", kernel.bind_bits);
    kernel.refuses = true;
    CHECK(keep(at, 4096) == -EINVAL, "the kernel refuses");
    kernel.refuses = false;
}

static void test_left_alone(void)
{
    char *at = (char *)0x10000;
    kernel.node = 0;
    kernel.allowed = 0x2;
    CHECK(keep(at, 4096) == 0 && kernel.binds == 0, "one node");
    kernel.allowed = 0x3;
    kernel.mode = MPOL_INTERLEAVE;
    CHECK(keep(at, 4096) == 0 && kernel.binds == 0, "the user's own policy");
    kernel.mode = MPOL_DEFAULT;
    kernel.knows_none = true;
    CHECK(keep(at, 4096) == 0 && kernel.binds == 0, "a kernel without nodes");
    kernel.knows_none = false;
}

/* The policy belongs to the memory: a mapping of somebody else has it, too. */
static void test_shared(void)
{
    enum { BYTES = 1 << 20 };
    int mode = -1, fd = memfd_create("numa", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, BYTES)) return;
    char *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    kernel.allowed = 0x3; /* as if there were two; bound to the one where this runs */
    kernel.real_bind = true;
    int e = keep(own, BYTES);
    if (e == -ENOSYS || e == -EPERM) {
        puts("this kernel takes no policies: not read back");
        return;
    }
    CHECK(e == 0, "mbind: %s", strerror(-e));
    CHECK(real(SYS_get_mempolicy, &mode, NULL, 0ul, other + BYTES / 2, (unsigned long)MPOL_F_ADDR) == 0 &&
          mode == MPOL_PREFERRED, "the other mapping's mode is %d", mode);
}

int main(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (!real) return 77;
    test_asked();
    test_left_alone();
    test_shared();
    return failures != 0;
}

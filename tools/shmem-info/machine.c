/* Each facility is tried, not deduced from the kernel's version: containers and seccomp filters deny what
 * exists. */
#define _GNU_SOURCE
#include "machine.h"
#include "base/memlimit.h"
#include "base/os.h"
#include "memkind/memkind.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static void say(struct hm_finding *f, bool good, const char *fmt, ...) HM_PRINTF(3, 4);
static void say(struct hm_finding *f, bool good, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->state, sizeof f->state, fmt, args);
    va_end(args);
    f->good = good;
}

/* For a system call that returned rc: errno says why not. */
static void say_call(struct hm_finding *f, long rc)
{
    if (rc >= 0)
        say(f, true, "available");
    else if (errno == ENOSYS || errno == EINVAL)
        say(f, false, "not in this kernel");
    else
        say(f, false, "denied (%s)", strerror(errno));
}

static bool read_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool got = fgets(text, (int)size, f) != NULL;
    fclose(f);
    if (got) text[strcspn(text, "\n")] = 0;
    return got;
}

static void look_cores(struct hm_finding *f)
{
    cpu_set_t set;
    int mask = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    int usable = hm_os_cores();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (mask > usable)
        say(f, true, "%d (affinity mask %d, cut by the cgroup's CPU limit)", usable, mask);
    else
        say(f, true, "%d (of %ld in the machine; no CPU limit by a cgroup below that)", usable, all);
}

static void look_affinity(struct hm_finding *f)
{
    uint8_t mask[1024];
    say_call(f, hm_os_affinity(mask, sizeof mask) ? 0 : -1);
}

static void look_memory(struct hm_finding *f)
{
    double unit = (double)sysconf(_SC_PAGESIZE) / (1 << 30);
    say(f, true, "%.1f GiB, %.1f free", (double)sysconf(_SC_PHYS_PAGES) * unit,
        (double)sysconf(_SC_AVPHYS_PAGES) * unit);
}

static void look_memory_limit(struct hm_finding *f)
{
    struct hm_memlimit limit;
    hm_memlimit_find(&limit);
    if (limit.bytes)
        say(f, true, "%.1f GiB, that %.120s", (double)limit.bytes / (1 << 30), limit.whose);
    else
        say(f, true, "not known");
}

static void look_memfd(struct hm_finding *f)
{
    int fd = (int)syscall(SYS_memfd_create, "shmem-info", MFD_CLOEXEC);
    say_call(f, fd);
    if (fd >= 0) close(fd);
}

static void look_memfd_noexec(struct hm_finding *f)
{
    int fd = (int)syscall(SYS_memfd_create, "shmem-info", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    say_call(f, fd);
    if (fd >= 0) close(fd);
}

static void look_membarrier(struct hm_finding *f)
{
    int rc = hm_os_membarrier_register();
    errno = -rc;
    say_call(f, rc);
}

/* Both return at once with EAGAIN where they exist: the word does not hold the value waited on. */
static void look_futex_op(struct hm_finding *f, int op)
{
    uint32_t word = 1;
    long rc = syscall(SYS_futex, &word, op, 0, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
    if (rc < 0 && errno == EAGAIN) rc = 0;
    say_call(f, rc);
}

static void look_futex(struct hm_finding *f)
{
    look_futex_op(f, FUTEX_WAIT);
}
static void look_futex_bitset(struct hm_finding *f)
{
    look_futex_op(f, FUTEX_WAIT_BITSET);
}

static void look_pidfd(struct hm_finding *f)
{
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    say_call(f, fd);
    if (fd >= 0) close(fd);
#else
    say(f, false, "not known to the C library this was built with");
#endif
}

static void look_fd_passing(struct hm_finding *f)
{
    int fds[2];
    int rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
    say_call(f, rc);
    if (rc) return;
    close(fds[0]);
    close(fds[1]);
}

static void look_pagemap(struct hm_finding *f)
{
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    off_t at = (off_t)((uintptr_t)&entry / hm_os_page() * sizeof entry);
    ssize_t n = fd < 0 ? -1 : pread(fd, &entry, sizeof entry, at);
    if (n == sizeof entry && !(entry >> 62))
        say(f, false, "is not about this process's addresses (an emulator?)");
    else
        say_call(f, n);
    if (fd >= 0) close(fd);
}

static void look_range(struct hm_finding *f)
{
    size_t most = 0;
    for (size_t bytes = (size_t)1 << 30; bytes; bytes *= 2) {
        void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) break;
        munmap(p, bytes);
        most = bytes;
    }
    if (most >> 40)
        say(f, true, "%zu TiB in one piece", most >> 40);
    else
        say(f, most >= (size_t)8 << 30, most ? "%zu GiB in one piece" : "under 1 GiB%.0zu", most >> 30);
}

static void look_huge(struct hm_finding *f)
{
    char text[128];
    if (!read_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled", text, sizeof text)) {
        say(f, false, "not in this kernel");
        return;
    }
    char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
    if (to) *to = 0;
    const char *mode = to ? from + 1 : text;
    bool on = !strcmp(mode, "always") || !strcmp(mode, "within_size") || !strcmp(mode, "force");
    say(f, on, "shmem_enabled is %s", mode);
}

static void look_limit(struct hm_finding *f, int which, bool count)
{
    struct rlimit limit;
    if (getrlimit(which, &limit))
        say_call(f, -1);
    else if (limit.rlim_cur == RLIM_INFINITY)
        say(f, true, "none");
    else if (count)
        say(f, limit.rlim_cur >= 256, "%llu", (unsigned long long)limit.rlim_cur);
    else
        say(f, limit.rlim_cur >= 1ull << 30, "%.1f MiB", (double)limit.rlim_cur / (1 << 20));
}

static void look_fsize(struct hm_finding *f)
{
    look_limit(f, RLIMIT_FSIZE, false);
}
static void look_as(struct hm_finding *f)
{
    look_limit(f, RLIMIT_AS, false);
}
static void look_nofile(struct hm_finding *f)
{
    look_limit(f, RLIMIT_NOFILE, true);
}
static void look_core(struct hm_finding *f)
{
    look_limit(f, RLIMIT_CORE, false);
    f->good = true;
}

static const struct {
    const char *name;
    void (*look)(struct hm_finding *f);
    const char *instead;
} facilities[] = {
    {"usable cores", look_cores, NULL},
    {"affinity mask", look_affinity, "all processors of the machine count as usable"},
    {"memory", look_memory, NULL},
    {"memory limit", look_memory_limit, NULL},
    {"memfd_create", look_memfd, "heaps are unlinked files in /dev/shm, $TMPDIR or /tmp"},
    {"memfd no-exec seal", look_memfd_noexec, "memory files without the seal"},
    {"descriptor passing", look_fd_passing, "none: oshrun needs UNIX sockets; only jobs of one PE work"},
    {"one address range", look_range, "heaps are mapped one by one, wherever there is room"},
    {"huge pages for heaps", look_huge, "heaps have pages of the usual size"},
    {"pagemap", look_pagemap, "untouched pages of static data are found by reading them"},
    {"membarrier", look_membarrier, "who changes a word that a PE may wait for issues a full fence"},
    {"futex", look_futex, "a sleeping PE looks again every millisecond"},
    {"futex bit sets", look_futex_bitset, "who waits for a lock looks again every millisecond"},
    {"pidfd_open", look_pidfd, "oshrun watches a PE that it did not start itself by its lifeline alone"},
    {"limit on file size (-f)", look_fsize,
     "heaps must fit: ulimit -f unlimited, or a smaller SHMEM_SYMMETRIC_SIZE"},
    {"limit on addresses (-v)", look_as,
     "all heaps together must fit: ulimit -v unlimited, or smaller heaps"},
    {"limit on open files (-n)", look_nofile, "a job of many PEs needs about 3 for each: ulimit -n 4096"},
    {"limit on core files (-c)", look_core, NULL},
};

/* Kinds of memory beside that of the host. */
static bool look_kind(unsigned i, struct hm_finding *f)
{
    static char name[32];
    const struct hm_memkind *kind = hm_memkind_at(i);
    const char *why = "none was found";
    if (!kind) return false;
    int n = kind->devices(&why);
    snprintf(name, sizeof name, "memory: %s", kind->name);
    *f = (struct hm_finding){.name = name, .instead = NULL};
    if (n > 0)
        say(f, true, kind->device ? "%d devices" : "available", n);
    else
        say(f, false, "%s", why);
    return true;
}

bool hm_machine_look(unsigned i, struct hm_finding *f)
{
    if (i >= HM_COUNT(facilities)) return look_kind(i - HM_COUNT(facilities), f);
    *f = (struct hm_finding){.name = facilities[i].name, .instead = facilities[i].instead};
    facilities[i].look(f);
    return true;
}

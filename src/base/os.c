#define _GNU_SOURCE
#include "base/os.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

size_t hm_os_page(void)
{
    static size_t page;
    if (!page) page = (size_t)sysconf(_SC_PAGESIZE);
    return page;
}

uint64_t hm_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int affinity_cores(void)
{
    for (size_t cpus = 1024; cpus <= 65536; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set) break;
        int n = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0 ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
        CPU_FREE(set);
        if (n > 0) return n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

bool hm_os_affinity(uint8_t *mask, size_t bytes)
{
    long n = syscall(SYS_sched_getaffinity, 0, bytes, mask); /* the bytes it wrote; the wrapper hides them */
    if (n <= 0) return false;
    memset(mask + n, 0, bytes - (size_t)n);
    return true;
}

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    if (n < 0) return false;
    text[n] = 0;
    return true;
}

/* quota / period in cores, rounded up; INT_MAX: no limit */
static int quota_cores(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) return INT_MAX;
    long long n = (quota + period - 1) / period;
    return n < INT_MAX ? (int)n : INT_MAX;
}

static int cgroup_dir_cores(const char *root, const char *path, bool v2)
{
    char file[4352], text[128];
    long long quota = -1, period = 100000;
    if (v2) {
        snprintf(file, sizeof file, "%s%s/cpu.max", root, path);
        if (!read_text(file, text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) < 1) return INT_MAX;
        return quota_cores(quota, period);
    }
    snprintf(file, sizeof file, "%s%s/cpu.cfs_quota_us", root, path);
    if (!read_text(file, text, sizeof text) || sscanf(text, "%lld", &quota) != 1) return INT_MAX;
    snprintf(file, sizeof file, "%s%s/cpu.cfs_period_us", root, path);
    if (!read_text(file, text, sizeof text) || sscanf(text, "%lld", &period) != 1) return INT_MAX;
    return quota_cores(quota, period);
}

/* A limit counts in the own group and in every group above it. */
static int cgroup_path_cores(const char *root, char *path, bool v2)
{
    int cores = INT_MAX;
    for (;;) {
        int here = cgroup_dir_cores(root, path, v2);
        if (here < cores) cores = here;
        char *slash = strrchr(path, '/');
        if (!slash || !*path) return cores;
        *slash = 0;
    }
}

int hm_os_cgroup_cores(void)
{
    int cores = INT_MAX;
    char line[4200];
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return cores;
    while (fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        controllers++;
        path[strcspn(path, "\n")] = 0;
        if (!strcmp(path, "/")) *path = 0;
        bool v2 = !*controllers, cpu = v2;
        for (char *save, *c = strtok_r(controllers, ",", &save); c; c = strtok_r(NULL, ",", &save))
            cpu |= !strcmp(c, "cpu");
        if (!cpu) continue;
        int here = cgroup_path_cores(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", path, v2);
        if (here < cores) cores = here;
    }
    fclose(f);
    return cores;
}

int hm_os_cores(void)
{
    int mask = affinity_cores(), limit = hm_os_cgroup_cores();
    return mask < limit ? mask : limit;
}

size_t hm_os_second_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
#else
    return 0;
#endif
}

static int unlinked_file(void)
{
    const char *dirs[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < HM_COUNT(dirs); i++) {
        char path[4200];
        if (!dirs[i] || snprintf(path, sizeof path, "%s/hbmesh-XXXXXX", dirs[i]) >= (int)sizeof path) continue;
        int fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0) continue;
        unlink(path);
        return fd;
    }
    return -ENOSYS;
}

/* Beyond RLIMIT_FSIZE ftruncate sends SIGXFSZ, whose default kills without a word: ask first. */
static bool over_file_limit(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

int hm_os_memfd(const char *name, size_t bytes)
{
    if (over_file_limit(bytes)) return -EFBIG;
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
    int fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
    if (fd < 0) fd = errno == EMFILE || errno == ENFILE ? -errno : unlinked_file();
    if (fd < 0) return fd;
    if (ftruncate(fd, (off_t)bytes) != 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

int hm_os_running(void)
{
    char text[128];
    int running = 0; /* waits end when a thread is cancelled in them only where they mean to: no functions of the C library */
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    long n = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %d/", &running) == 1 ? running : 0; /* three averages of the load, running/all, last pid */
}

static bool is_of_node(unsigned cpu, unsigned node)
{
    char path[80];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/node%u", cpu, node);
    return access(path, F_OK) == 0;
}

/* Those of its node that this thread may use: its memory is there, if there are several. */
static bool find_near(cpu_set_t *near, unsigned *here)
{
    unsigned node;
    if (syscall(SYS_getcpu, here, &node, NULL) != 0 || sched_getaffinity(0, sizeof *near, near) != 0) return false;
    if (!is_of_node(*here, node)) return true;
    for (unsigned core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, near) && !is_of_node(core, node)) CPU_CLR(core, near);
    return true;
}

/* The kernel moves it at once, and it may leave again. */
static int go_to(const cpu_set_t *there)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || sched_setaffinity(0, sizeof *there, there) != 0) return -errno;
    return sched_setaffinity(0, sizeof all, &all) == 0 ? 0 : -errno;
}

int hm_os_near_cores(uint16_t *cores, int max)
{
    cpu_set_t near;
    unsigned here;
    int n = 0;
    if (!find_near(&near, &here)) return 0;
    if (here < CPU_SETSIZE && n < max) cores[n++] = (uint16_t)here;
    for (unsigned core = 0; core < CPU_SETSIZE && n < max; core++)
        if (core != here && CPU_ISSET(core, &near)) cores[n++] = (uint16_t)core;
    return n;
}

int hm_os_go_to_core(unsigned core)
{
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(core, &there);
    return go_to(&there);
}

int hm_os_leave_core(void)
{
    cpu_set_t others;
    unsigned here;
    if (!find_near(&others, &here)) return -errno;
    CPU_CLR(here, &others);
    return CPU_COUNT(&others) ? go_to(&others) : -ENOENT;
}

int hm_os_membarrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 ? 0 : -errno;
}

void hm_os_membarrier(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

/* qemu-user runs a thread of its own in the process of the program it emulates. It makes /proc/self/exe lead to the
 * program, but leaves the process its own name. */
static bool is_emulated(void)
{
    char comm[32], exe[4200];
    if (!read_text("/proc/self/comm", comm, sizeof comm) || strncmp(comm, "qemu-", 5)) return false;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0) return false;
    exe[n] = 0;
    const char *slash = strrchr(exe, '/');
    return strncmp(slash ? slash + 1 : exe, "qemu-", 5) != 0;
}

int hm_os_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    if (!dir) return -1;
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n > 1 && is_emulated() ? n - 1 : n;
}

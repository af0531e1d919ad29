/* Host memory: memory files, which cannot leak and need no file system. */
#define _GNU_SOURCE
#include "memkind/memkind.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/numa.h"
#include "base/os.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; an older kernel refuses it */
#endif

static int host_devices(const char **why)
{
    (void)why;
    return 1;
}

static int host_make(int device, size_t bytes, int *descriptor)
{
    if (device != 0) return -ENODEV;
    int fd = hm_os_memfd("hbmesh-heap", bytes);
    if (fd < 0) return fd;
    *descriptor = fd;
    return 0;
}

static int host_map(int descriptor, size_t bytes, void *place, void **at)
{
    int flags = MAP_SHARED | (place ? MAP_FIXED : 0);
    void *got = mmap(place, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (got == MAP_FAILED) return -errno;
    (void)madvise(got, bytes, MADV_DONTDUMP);
    *at = got;
    return 0;
}

static int result(int rc) { return rc == 0 ? 0 : -errno; }

static int host_unmap(void *at, size_t bytes) { return result(munmap(at, bytes)); }

static int host_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

static int host_set(void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
    return 0;
}

static int host_finish(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return 0;
}

/* Through the descriptor: emulators take madvise(MADV_REMOVE) for a hint, say yes and do nothing. */
static int host_give_back(int descriptor, size_t offset, size_t bytes)
{
    return result(fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes));
}
static int host_close(void *at, size_t bytes) { return result(mprotect(at, bytes, PROT_NONE)); }
static int host_open(void *at, size_t bytes) { return result(mprotect(at, bytes, PROT_READ | PROT_WRITE)); }

/* Most of it, so that memory nobody has touched stays uncommitted. */
static bool is_committed(void *at, size_t bytes)
{
    enum { PAGES_MAX = 1024 };
    unsigned char there[PAGES_MAX];
    size_t pages = bytes / hm_os_page(), n = 0;
    if (pages > PAGES_MAX || mincore(at, bytes, there)) return false;
    for (size_t i = 0; i < pages; i++) n += there[i] & 1;
    return n * 4 >= pages * 3;
}

static int host_merge(void *at, size_t bytes)
{
    return is_committed(at, bytes) ? result(madvise(at, bytes, MADV_COLLAPSE)) : -EAGAIN;
}

const struct hm_memkind hm_memkind_host = {
    .name = "host",
    .can = HM_MEM_LOADS | HM_MEM_ATOMICS | HM_MEM_PAGES,
    .devices = host_devices,
    .make = host_make,
    .map = host_map,
    .unmap = host_unmap,
    .copy = host_copy,
    .set = host_set,
    .finish = host_finish,
    .give_back = host_give_back,
    .close = host_close,
    .open = host_open,
    .merge = host_merge,
    .keep_near = hm_numa_keep,
};

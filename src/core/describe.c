/* What an address is, in words, when it is not what a call needs. Off every good path, so it takes its time.
 */
#define _GNU_SOURCE
#include "core/symm.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "core/device.h"
#include "core/maps.h"

static const char *remedy(void)
{
    if (hm_symm.data_off_because) return "; symmetric is memory from shmem_malloc";
    return "; symmetric are memory from shmem_malloc and the program's global and static variables";
}

/* --- the symmetric segments, where they are mapped for another use --- */

static bool is_peers(uintptr_t addr, char *text, size_t size)
{
    for (unsigned pe = 0; pe < hm_symm.npes; pe++) {
        size_t in_heap = addr - (uintptr_t)hm_symm.peer[pe].heap,
               in_data = addr - (uintptr_t)hm_symm.peer[pe].data;
        bool heap = hm_symm.peer[pe].heap && in_heap < hm_symm.heap_size;
        bool data = hm_symm.peer[pe].data && in_data < hm_symm.data_span;
        if (!heap && !data) continue;
        if (addr - hm_symm.heap_base < hm_symm.heap_size || addr - hm_symm.data_base < hm_symm.data_span)
            return false;
        uintptr_t own = heap ? hm_symm.heap_base + in_heap : hm_symm.data_base + in_data;
        snprintf(text, size,
                 "in %s of PE %u as it is mapped here (offset %zu); use this PE's own address of it, %p, and "
                 "the number %u as PE",
                 heap ? "the heap" : "the static data", pe, heap ? in_heap : in_data, (void *)own, pe);
        return true;
    }
    return false;
}

static bool is_own_heap(uintptr_t addr, char *text, size_t size)
{
    size_t o = addr - hm_symm.heap_base;
    if (!hm_symm.npes || o >= hm_symm.heap_size) return false;
    if (o < hm_symm.real_heap_limit)
        snprintf(text, size, "in the symmetric heap (offset %zu)", o);
    else
        snprintf(text, size,
                 "behind the top of the symmetric heap (offset %zu, the top is %zu): never allocated, or "
                 "freed; use what shmem_malloc returned",
                 o, hm_symm.real_heap_limit);
    return true;
}

static bool is_device(uintptr_t addr, char *text, size_t size)
{
    if (!hm_device_any() || hm_device_side((const void *)addr) == HM_SIDE_HOST) return false;
    for (unsigned pe = 0; pe < hm_symm.npes; pe++) {
        size_t o = addr - (uintptr_t)hm_device.peer[pe];
        if (!hm_device.peer[pe] || o >= hm_device.size) continue;
        if (hm_device.peer[pe] != hm_device.base)
            snprintf(text, size, "in the device heap of PE %u as it is attached here (offset %zu); use this PE's own address "
                     "of it, %p, and the number %u as PE", pe, o, (void *)(hm_device.base + o), pe);
        else
            snprintf(text, size, "behind the top of the device heap (offset %zu, the top is %zu): never allocated, or freed; "
                     "use what shmem_malloc returned", o, hm_device.limit);
        return true;
    }
    snprintf(text, size, "private memory of the device%s", remedy());
    return true;
}

/* --- stacks --- */

/* Where pthread_getattr_np knows nothing (no /proc): what lies above this frame, within the limit of a stack.
 */
static bool is_above_this_frame(uintptr_t addr)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct rlimit limit;
    size_t room = (size_t)8 << 20;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < room) room = limit.rlim_cur;
    return addr >= here && addr - here < room;
}

static bool is_own_stack(uintptr_t addr)
{
    pthread_attr_t attr;
    void *stack;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return is_above_this_frame(addr);
    bool known = pthread_attr_getstack(&attr, &stack, &bytes) == 0;
    pthread_attr_destroy(&attr);
    return known && addr - (uintptr_t)stack < bytes;
}

/* --- the program and its libraries --- */

struct object {
    uintptr_t addr;
    bool found, first, thread_local_data, writable, executable;
    char name[96];
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct object *o = arg;
    bool first = o->first;
    o->first = false;
    uintptr_t relro = 0, relro_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_RELRO) relro = at, relro_end = hm_round_down(at + p->p_memsz, hm_os_page());
        if (p->p_type == PT_TLS && size > offsetof(struct dl_phdr_info, dlpi_tls_data) &&
            info->dlpi_tls_data && o->addr - (uintptr_t)info->dlpi_tls_data < p->p_memsz)
            o->found = o->thread_local_data = true;
        if (p->p_type == PT_LOAD && o->addr - at < p->p_memsz) {
            o->found = true;
            o->writable = p->p_flags & PF_W;
            o->executable = p->p_flags & PF_X;
        }
    }
    if (!o->found) return 0;
    if (relro && o->addr - relro < relro_end - relro) o->writable = false;
    const char *name = first ? "the program" : *info->dlpi_name ? hm_maps_name(info->dlpi_name) : "a library";
    snprintf(o->name, sizeof o->name, "%s", name);
    return 1;
}

static bool is_objects(uintptr_t addr, char *text, size_t size)
{
    struct object o = {.addr = addr, .first = true};
    dl_iterate_phdr(look_at_object, &o);
    if (!o.found) return false;
    const char *part = o.thread_local_data ? "among the thread-local variables"
                       : o.executable      ? "in the code"
                       : o.writable        ? "in the data"
                                           : "in the read-only data";
    snprintf(text, size, "%s of %s%s", part, o.name, remedy());
    return true;
}

/* --- the rest of the address space --- */

static void describe_file(const struct hm_place *p, char *text, size_t size)
{
    if (!strncmp(p->path, "/dev/zero", 9) || !strncmp(p->path, "/SYSV", 5))
        snprintf(text, size, "in memory shared between processes by mmap or shmget%s", remedy());
    else if (p->path[0] == '[')
        snprintf(text, size, "in a part of the address space that is the kernel's own, %s%s", p->path,
                 remedy());
    else
        snprintf(text, size, "in a mapping of the file %s%s", hm_maps_name(p->path), remedy());
}

/* Stacks stand above a closed page; so do arenas of malloc (of other threads than the first), but those begin
 * at a multiple of 64 MiB, with a header that says how long they are. */
__attribute__((no_sanitize("address"))) static const char *stack_or_arena(const struct hm_place *p)
{
    const volatile size_t *head = (const volatile size_t *)p->start; /* arena, heap before, bytes */
    if (p->start % ((uintptr_t)64 << 20) != 0) return "on the stack of another thread";
    bool arena = p->perm[0] == 'r' && head[2] && head[2] <= p->end - p->start && head[2] % hm_os_page() == 0;
    return arena ? "in malloc memory" : "in malloc memory, or on the stack of another thread";
}

static void describe_place(const struct hm_place *p, char *text, size_t size)
{
    if (!p->mapped)
        snprintf(text, size, "not mapped: this process has no memory there%s", remedy());
    else if (!strcmp(p->path, "[stack]"))
        snprintf(text, size, "on the stack of the first thread%s", remedy());
    else if (!strcmp(p->path, "[heap]") || !strncmp(p->path, "[anon:", 6))
        snprintf(text, size, "in malloc memory%s", remedy());
    else if (*p->path)
        describe_file(p, text, size);
    else if (p->perm[0] == '-')
        snprintf(text, size, "in a mapping that is closed to all access%s", remedy());
    else if (p->guard_below)
        snprintf(text, size, "%s%s", stack_or_arena(p), remedy());
    else
        snprintf(text, size, "in malloc memory, or memory from mmap%s", remedy());
}

/* Without /proc the kernel at least says whether there is anything. */
static void describe_by_kernel(uintptr_t addr, char *text, size_t size)
{
    unsigned char in_core;
    void *page = (void *)hm_round_down(addr, hm_os_page());
    if (mincore(page, 1, &in_core) != 0 && errno == ENOMEM)
        snprintf(text, size, "not mapped: this process has no memory there%s", remedy());
    else
        snprintf(text, size, "in malloc memory, memory from mmap, or another thread's stack%s", remedy());
}

void hm_symm_describe(const void *pointer, char *text, size_t size)
{
    uintptr_t addr = (uintptr_t)pointer;
    struct hm_place place;
    if (!addr)
        snprintf(text, size, "NULL%s", remedy());
    else if (addr < 65536)
        snprintf(text, size, "NULL and %zu bytes more%s", (size_t)addr, remedy());
    else if (is_own_heap(addr, text, size) || is_peers(addr, text, size) || is_device(addr, text, size))
        return;
    else if (is_own_stack(addr))
        snprintf(text, size, "on the stack of this thread%s", remedy());
    else if (is_objects(addr, text, size))
        return;
    else if (hm_maps_find(addr, &place) == 0)
        describe_place(&place, text, size);
    else
        describe_by_kernel(addr, text, size);
}

#define _GNU_SOURCE
#include "core/symm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"
#include "core/alloc.h"
#include "core/device.h"
#include "core/inlined.h"
#include "core/world.h"

struct hm_symm hm_symm HM_ALIGNED(HM_LINE);

int hm_symm_make_peers(int npes)
{
    hm_symm.peer = calloc((size_t)npes, sizeof *hm_symm.peer);
    return hm_symm.peer ? 0 : -ENOMEM;
}

void hm_symm_open_peers(int npes)
{
    hm_symm.npes = (unsigned)npes;
    hm_inlined_tell();
}

void hm_symm_close_peers(void)
{
    hm_symm.npes = 0;
    hm_inlined_tell();
}

void hm_symm_drop_peers(void)
{
    free(hm_symm.peer);
    hm_symm.peer = NULL;
}

static bool inside(uintptr_t addr, size_t bytes, uintptr_t base, size_t limit)
{
    size_t o = addr - base;
    return o < limit && bytes <= limit - o;
}

static bool in_heap(const void *addr, size_t bytes)
{
    return inside((uintptr_t)addr, bytes, hm_symm.heap_base, hm_symm.real_heap_limit);
}

static bool in_data(const void *addr, size_t bytes)
{
    return inside((uintptr_t)addr, bytes, hm_symm.data_base, hm_symm.real_data_limit);
}

bool hm_symm_is_open(void)
{
    return !hm_options.check && !hm_options.count && hm_options.mapped && !hm_device_any();
}

bool hm_symm_holds(const void *addr, size_t bytes)
{
    return in_heap(addr, bytes) || in_data(addr, bytes) || hm_device_holds(addr, bytes);
}

int64_t hm_symm_offset(const void *addr, bool *heap)
{
    *heap = in_heap(addr, 1);
    if (*heap) return (int64_t)((uintptr_t)addr - hm_symm.heap_base);
    return in_data(addr, 1) ? (int64_t)((uintptr_t)addr - hm_symm.data_base) : -1;
}

/* The range begins in a segment and ends outside of it: `o` is where it begins there. */
static HM_COLD void range_leaves(const void *addr, size_t bytes, size_t o, size_t limit, const char *segment,
                                 const char *call, const char *arg)
{
    if (bytes > SIZE_MAX / 2) {
        hm_die(call, "%s: a transfer from %p on of more bytes than an address space has; check the number of elements "
               "and the strides", arg, addr);
    }
    hm_die(call, "%s: the %zu bytes from %p on begin in %s and end %zu bytes behind it; check the number of elements",
           arg, bytes, addr, segment, o + bytes - limit);
}

/* True for an address that could be static data of the executable, were it shared. */
static bool would_be_data(const void *addr)
{
    return hm_symm.data_off_because && (uintptr_t)addr - hm_symm.data_base < hm_symm.data_span;
}

static HM_COLD void not_symmetric(const void *addr, size_t bytes, const char *call, const char *arg)
{
    char what[512];
    if (in_heap(addr, 1))
        range_leaves(addr, bytes, (uintptr_t)addr - hm_symm.heap_base, hm_symm.real_heap_limit, "the symmetric heap", call,
                     arg);
    if (in_data(addr, 1))
        range_leaves(addr, bytes, (uintptr_t)addr - hm_symm.data_base, hm_symm.real_data_limit, "the program's static data",
                     call, arg);
    if (hm_device_holds(addr, 1))
        range_leaves(addr, bytes, hm_device_offset(addr), hm_device.limit, "the device heap", call, arg);
    if (would_be_data(addr))
        hm_die(call, "%s: %p is static data of the program, but static data is not shared: %s; use memory from "
               "shmem_malloc", arg, addr, hm_symm.data_off_because);
    hm_symm_describe(addr, what, sizeof what);
    hm_die(call, "%s: %p is not symmetric memory: it is %s", arg, addr, what);
}

void hm_symm_require(const void *addr, size_t bytes, const char *call, const char *arg)
{
    if (hm_likely(hm_symm_holds(addr, bytes))) {
        if (hm_unlikely(hm_options.check) && !in_data(addr, 1)) hm_symm_check_block(addr, bytes, call, arg);
        return;
    }
    not_symmetric(addr, bytes, call, arg);
}

/* With --check: the range lies in one allocated block. */
void hm_symm_check_block(const void *addr, size_t bytes, const char *call, const char *arg)
{
    char what[256];
    if (hm_alloc_holds(addr, bytes)) return;
    hm_alloc_describe(addr, what, sizeof what);
    hm_die(call, "%s: the %zu bytes from %p on are not inside one allocated block: %p is %s", arg, bytes, addr, addr,
           what);
}

/* Checks everything, then: where the range is as that PE has it mapped here, NULL if it does not. */
static char *find(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    hm_world_need(call);
    if ((unsigned)pe >= hm_symm.npes) hm_die(call, "pe: %d is not a PE of this job, whose PEs are 0 to %d", pe,
                                             (int)hm_symm.npes - 1);
    hm_symm_require(addr, bytes, call, arg);
    if (hm_device_holds(addr, 1)) return NULL;
    bool heap = in_heap(addr, 1);
    char *base = heap ? hm_symm.peer[pe].heap : hm_symm.peer[pe].data;
    return base ? base + ((uintptr_t)addr - (heap ? hm_symm.heap_base : hm_symm.data_base)) : NULL;
}

char *hm_symm_find(const void *addr, size_t bytes, int pe, const struct hm_peer **peer, const char *call, const char *arg)
{
    char *at = find(addr, bytes, pe, call, arg);
    *peer = &hm_symm.peer[pe];
    if ((hm_symm.far && hm_symm.far[pe]) || hm_device_holds(addr, 1)) return NULL;
    if (!at)
        hm_die(call, "PE %d cannot be reached from here: its memory is not mapped and no transport leads to it", pe);
    return at;
}

char *hm_symm_find_mapped(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    char *at = find(addr, bytes, pe, call, arg);
    if (hm_device_holds(addr, 1))
        hm_die(call, "%s: %p is device memory, which this call cannot use; take host memory (shmemx_malloc_on)", arg, addr);
    if (!at) hm_die(call, "the memory of PE %d is not mapped here, which this call needs", pe);
    return at;
}

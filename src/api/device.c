/* Kinds of memory, as programs see them. */
#include "api/api.h"
#include "core/device.h"
#include "core/heap.h"
#include "core/order.h"

#include <stdio.h>

HM_API(void *, shmemx_malloc_on, (const char *kind, size_t size))
{
    hm_world_need("shmemx_malloc_on");
    return hm_malloc_on(kind, HM_HEAP_MIN_ALIGN, size, false, "shmemx_malloc_on");
}

HM_API(void *, shmemx_calloc_on, (const char *kind, size_t count, size_t size))
{
    hm_world_need("shmemx_calloc_on");
    return hm_malloc_on(kind, HM_HEAP_MIN_ALIGN, hm_bytes(count, size), true, "shmemx_calloc_on");
}

HM_API(void *, shmemx_align_on, (const char *kind, size_t alignment, size_t size))
{
    hm_world_need("shmemx_align_on");
    return hm_malloc_on(kind, alignment, size, false, "shmemx_align_on");
}

HM_API(const char *, shmemx_kind_of, (const void *ptr))
{
    hm_world_need("shmemx_kind_of");
    if (!ptr) return NULL;
    return hm_device_any() && hm_device_side(ptr) != HM_SIDE_HOST ? hm_device.kind->name : "host";
}

HM_API(int, shmemx_peer_table, (const void *ptr, void **table))
{
    int reachable = 0;
    hm_world_need("shmemx_peer_table");
    hm_symm_require(ptr, 1, "shmemx_peer_table", "ptr");
    for (int pe = 0; pe < hm_world.npes; pe++) {
        table[pe] = pshmem_ptr(ptr, pe);
        reachable += table[pe] != NULL;
    }
    return reachable;
}

HM_API(int, shmemx_device_info, (shmemx_device_info_t * info))
{
    struct hm_device_info found = {0};
    hm_world_need("shmemx_device_info");
    *info = (shmemx_device_info_t){0};
    if (!hm_device_any()) return 1;
    hm_device_ask(&found, "shmemx_device_info");
    info->kind = hm_device.kind->name;
    snprintf(info->name, sizeof info->name, "%s", found.name);
    info->number = hm_device.number;
    info->dlpack = found.dlpack;
    info->peer_loads = found.peer_loads;
    info->free_bytes = found.free_bytes;
    info->total_bytes = found.total_bytes;
    return 0;
}

/* Memory management. */
#include "api/api.h"
#include "core/order.h"

HM_API(void *, shmem_malloc, (size_t size))
{
    hm_world_need("shmem_malloc");
    return hm_malloc(size, "shmem_malloc");
}

HM_API(void, shmem_free, (void *ptr))
{
    hm_world_need("shmem_free");
    hm_free(ptr, "shmem_free");
}

HM_API(void *, shmem_realloc, (void *ptr, size_t size))
{
    hm_world_need("shmem_realloc");
    return hm_realloc(ptr, size, "shmem_realloc");
}

HM_API(void *, shmem_align, (size_t alignment, size_t size))
{
    hm_world_need("shmem_align");
    return hm_align(alignment, size, "shmem_align");
}

HM_API(void *, shmem_malloc_with_hints, (size_t size, long hints))
{
    hm_world_need("shmem_malloc_with_hints");
    return hm_malloc_with_hints(size, hints, "shmem_malloc_with_hints");
}

HM_API(void *, shmem_calloc, (size_t count, size_t size))
{
    hm_world_need("shmem_calloc");
    return hm_calloc(count, size, "shmem_calloc");
}

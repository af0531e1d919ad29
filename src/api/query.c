/* What can be reached from here, and at which address. */
#include "api/api.h"
#include "core/device.h"
#include "core/symm.h"

/* `dest` as PE `pe` has it, mapped here; NULL where loads and stores do not reach it. Of device memory: as this
 * PE's device reaches it, through the runtime and in kernels. Never an error. */
static void *ptr_of(const void *dest, int pe)
{
    if ((unsigned)pe >= (unsigned)hm_world.npes) return NULL;
    bool in_heap;
    if (hm_device_holds(dest, 1)) {
        char *heap = hm_device.peer[pe];
        return heap ? heap + hm_device_offset(dest) : NULL;
    }
    int64_t offset = hm_symm_offset(dest, &in_heap);
    if (offset < 0) return NULL;
    if (pe == hm_world.pe) return (void *)dest;
    const struct hm_peer *peer = &hm_symm.peer[pe];
    char *base = in_heap ? peer->heap : peer->data;
    return base ? base + offset : NULL;
}

HM_API(void *, shmem_ptr, (const void *dest, int pe))
{
    hm_world_need("shmem_ptr");
    return ptr_of(dest, pe);
}

HM_API(void *, shmem_team_ptr, (shmem_team_t team, const void *dest, int pe))
{
    hm_world_need("shmem_team_ptr");
    struct hm_team *t = hm_team_get(hm_handle_of_team(team), "shmem_team_ptr");
    if (!t || pe < 0 || pe >= t->size) return NULL;
    return ptr_of(dest, hm_team_world_pe(t, pe, "shmem_team_ptr"));
}

HM_API(int, shmem_pe_accessible, (int pe))
{
    hm_world_need("shmem_pe_accessible");
    return pe >= 0 && pe < hm_world.npes;
}

HM_API(int, shmem_addr_accessible, (const void *addr, int pe))
{
    hm_world_need("shmem_addr_accessible");
    return pe >= 0 && pe < hm_world.npes && hm_symm_holds(addr, 1);
}

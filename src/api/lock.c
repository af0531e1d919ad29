/* Distributed locking. */
#include "api/api.h"
#include "core/order.h"

HM_API(void, shmem_set_lock, (long *lock))
{
    hm_world_need("shmem_set_lock");
    hm_lock_set(lock, "shmem_set_lock");
}

HM_API(int, shmem_test_lock, (long *lock))
{
    hm_world_need("shmem_test_lock");
    return hm_lock_test(lock, "shmem_test_lock");
}

HM_API(void, shmem_clear_lock, (long *lock))
{
    hm_world_need("shmem_clear_lock");
    hm_lock_clear(lock, "shmem_clear_lock");
}

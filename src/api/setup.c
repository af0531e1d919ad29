/* Library setup, exit and query; thread support. */
#include <string.h>

#include "api/api.h"
#include "base/version.h"
#include "core/symm.h"

_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the vendor string is too long");
_Static_assert(__builtin_strcmp(SHMEM_VENDOR_STRING, "hbmesh " HM_VERSION) == 0,
               "shmem.h names another version");

HM_API(void, shmem_init, (void))
{
    int provided;
    if (hm_world_init(SHMEM_THREAD_SINGLE, &provided, "shmem_init") != 0)
        hm_die("shmem_init",
               "the library cannot be initialised; shmem_init_thread would have returned this as an error");
}

HM_API(int, shmem_init_thread, (int requested, int *provided))
{
    int level;
    int rc = hm_world_init(requested, &level, "shmem_init_thread");
    if (rc == 0 && provided) *provided = level;
    return rc;
}

HM_API(void, shmem_finalize, (void))
{
    hm_world_finalize("shmem_finalize");
}

/* The two that may be asked at any time. */
HM_API(void, shmem_query_initialized, (int *initialized))
{
    *initialized = hm_world.ready;
}
HM_API(void, shmem_query_thread, (int *provided))
{
    *provided = hm_world.thread_level;
}

HM_API(void, shmem_global_exit, (int status))
{
    hm_world_global_exit(status);
}

HM_API(int, shmem_my_pe, (void))
{
    hm_world_need("shmem_my_pe");
    return hm_world.pe;
}

HM_API(int, shmem_n_pes, (void))
{
    hm_world_need("shmem_n_pes");
    return hm_world.npes;
}

HM_API(void, shmem_info_get_version, (int *major, int *minor))
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

HM_API(void, shmem_info_get_name, (char *name))
{
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}

/* For tools that understand it; here it has no meaning. */
HM_API(void, shmem_pcontrol, (int level, ...))
{
    (void)level;
}

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

_Static_assert(sizeof(shmemx_uniqueid_t) == HM_UNIQUEID_BYTES, "as shmemx.h says it");

HM_API(int, shmemx_get_uniqueid, (shmemx_uniqueid_t * id))
{
    return hm_uniqueid_make(id->bytes) != 0;
}

HM_API(int, shmemx_set_attr_uniqueid_args,
       (int pe, int npes, const shmemx_uniqueid_t *id, shmemx_init_attr_t *attr))
{
    *attr = (shmemx_init_attr_t){.size = sizeof *attr, .pe = pe, .npes = npes, .id = *id};
    return 0;
}

static void check_attr(const shmemx_init_attr_t *attr, const char *call)
{
    if (!attr) hm_die(call, "attr: NULL; with SHMEMX_INIT_WITH_UNIQUEID it says rank, size and unique id");
    if (attr->size != sizeof *attr)
        hm_die(call, "attr: its size is %zu, not %zu; fill it with shmemx_set_attr_uniqueid_args", attr->size, sizeof *attr);
    if (attr->npes < 1 || attr->pe < 0 || attr->pe >= attr->npes)
        hm_die(call, "attr: PE %d of %d does not exist; PEs are numbered from 0", attr->pe, attr->npes);
}

HM_API(int, shmemx_init_attr, (unsigned int flags, const shmemx_init_attr_t *attr))
{
    const char *const call = "shmemx_init_attr";
    struct hm_boot_attr given;
    if (flags & ~(unsigned)SHMEMX_INIT_WITH_UNIQUEID) hm_die(call, "flags: %#x has bits that mean nothing", flags);
    if (!flags) return hm_world_init(attr ? attr->thread_level : SHMEM_THREAD_SINGLE, NULL, call);
    check_attr(attr, call);
    given.pe = attr->pe;
    given.npes = attr->npes;
    memcpy(given.id, attr->id.bytes, sizeof given.id);
    return hm_world_init_with(&given, attr->thread_level, NULL, call);
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

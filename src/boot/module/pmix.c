#include "boot/module/pmix.h"

#include "base/version.h"

#include <pmix.h>
#include <stdio.h>
#include <string.h>

static pmix_proc_t me;

static int get_number(pmix_rank_t rank, const char *key, int *number)
{
    pmix_proc_t of = me;
    pmix_value_t *value;
    of.rank = rank;
    if (PMIx_Get(&of, key, NULL, 0, &value) != PMIX_SUCCESS) return -ENOENT;
    *number = value->type == PMIX_UINT16 ? (int)value->data.uint16 : (int)value->data.uint32;
    bool known = value->type == PMIX_UINT16 || value->type == PMIX_UINT32;
    PMIX_VALUE_RELEASE(value);
    return known ? 0 : -ENOENT;
}

/* Once: to a process that comes back after PMIx_Finalize the library does not tell it again. */
static int ask_for_job(struct hm_pmix_job *job)
{
    static struct hm_pmix_job known;
    if (known.npes) {
        *job = known;
        return 0;
    }
    int rc = get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &job->npes);
    if (!rc) rc = get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, &job->local_npes);
    if (!rc) rc = get_number(me.rank, PMIX_LOCAL_RANK, &job->local_pe);
    job->pe = (int)me.rank;
    if (!rc) known = *job;
    return rc;
}

static void module_close(void)
{
    PMIx_Finalize(NULL, 0);
}

static int module_open(struct hm_pmix_job *job, char *why, size_t size)
{
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        snprintf(why, size, "the PMIx server does not take this process: %s", PMIx_Error_string(status));
        return -ECONNREFUSED;
    }
    int rc = ask_for_job(job);
    if (!rc) return 0;
    snprintf(why, size,
             "the PMIx server does not tell the sizes of the job; mpirun forgets them when the first program "
             "of each PE has "
             "finalized: start another program by an mpirun of its own");
    module_close();
    return rc;
}

static int module_put(const char *key, const void *bytes, size_t size)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    value.data.bo.bytes = (char *)bytes;
    value.data.bo.size = size;
    if (PMIx_Put(PMIX_LOCAL, key, &value) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS) return -EIO;
    return 0;
}

static int module_get(int pe, const char *key, void *bytes, size_t size)
{
    pmix_proc_t of = me;
    pmix_value_t *value;
    pmix_info_t info;
    bool yes = true;
    of.rank = (pmix_rank_t)pe;
    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    pmix_status_t status = PMIx_Get(&of, key, &info, 1, &value);
    if (status != PMIX_SUCCESS)
        return status == PMIX_ERR_UNREACH || status == PMIX_ERR_LOST_CONNECTION ? -EPIPE : -EAGAIN;
    bool fits = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == size;
    if (fits) memcpy(bytes, value->data.bo.bytes, size);
    PMIX_VALUE_RELEASE(value);
    return fits ? 0 : -EPROTO;
}

extern const struct hm_pmix hm_pmix_module;
__attribute__((visibility("default"))) const struct hm_pmix hm_pmix_module = {
    .version = HM_VERSION,
    .open = module_open,
    .put = module_put,
    .get = module_get,
    .close = module_close,
};

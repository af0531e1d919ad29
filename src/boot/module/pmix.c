#include "boot/module/pmix.h"

#include "base/version.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (PMIx_Put(PMIX_GLOBAL, key, &value) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS) return -EIO;
    return 0;
}

/* By the PMIx library's own thread. */
static int fence_state; /* 0 none, 1 under way, 2 done, else -errno */
static void on_fence(pmix_status_t status, void *ignored)
{
    (void)ignored;
    __atomic_store_n(&fence_state, status == PMIX_SUCCESS ? 2 : -EIO, __ATOMIC_RELEASE);
}

static int module_fence(void)
{
    pmix_proc_t all = me;
    pmix_info_t info;
    bool yes = true;
    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    __atomic_store_n(&fence_state, 1, __ATOMIC_RELEASE);
    pmix_status_t status = PMIx_Fence_nb(&all, 1, &info, 1, on_fence, NULL);
    if (status == PMIX_OPERATION_SUCCEEDED) on_fence(PMIX_SUCCESS, NULL);
    return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED ? 0 : -EIO;
}

static int module_fence_done(void)
{
    int state = __atomic_load_n(&fence_state, __ATOMIC_ACQUIRE);
    return state == 1 ? -EAGAIN : state < 0 ? state : 0;
}

/* Servers differ in what they have at hand behind a fence: the one of PRRTE fetches it when it is asked in earnest. */
static pmix_status_t ask(int pe, const char *key, bool in_earnest, pmix_value_t **value)
{
    pmix_proc_t of = me;
    pmix_info_t info;
    bool yes = true;
    int seconds = 30;
    of.rank = (pmix_rank_t)pe;
    if (in_earnest)
        PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    else
        PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    return PMIx_Get(&of, key, &info, 1, value);
}

static int module_get(int pe, const char *key, bool fenced, void *bytes, size_t size)
{
    pmix_value_t *value;
    pmix_status_t status = ask(pe, key, false, &value);
    if (status != PMIX_SUCCESS && fenced) status = ask(pe, key, true, &value);
    if (status != PMIX_SUCCESS)
        return status == PMIX_ERR_UNREACH || status == PMIX_ERR_LOST_CONNECTION ? -EPIPE : -EAGAIN;
    bool fits = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == size;
    if (fits) memcpy(bytes, value->data.bo.bytes, size);
    PMIX_VALUE_RELEASE(value);
    return fits ? 0 : -EPROTO;
}

/* PMIx tells it as a list, "0,1,4". */
static bool module_is_local(int pe)
{
    pmix_proc_t of = me;
    pmix_value_t *value;
    of.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&of, PMIX_LOCAL_PEERS, NULL, 0, &value) != PMIX_SUCCESS) return true;
    bool found = false;
    char *end, *at = value->type == PMIX_STRING ? value->data.string : NULL;
    for (; at && *at && !found; at = *end == ',' ? end + 1 : end) {
        found = strtol(at, &end, 10) == pe;
        if (end == at) break;
    }
    PMIX_VALUE_RELEASE(value);
    return found;
}

extern const struct hm_pmix hm_pmix_module;
__attribute__((visibility("default"))) const struct hm_pmix hm_pmix_module = {
    .version = HM_VERSION,
    .open = module_open,
    .put = module_put,
    .fence = module_fence,
    .fence_done = module_fence_done,
    .get = module_get,
    .is_local = module_is_local,
    .close = module_close,
};

/* Started by a PMIx launcher: mpirun of Open MPI, prterun, srun --mpi=pmix. PMIx says who this process is and carries the
 * name of the place where the PEs meet; the rest is links.c. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/version.h"
#include "boot/links.h"
#include "boot/mark.h"
#include "boot/module/pmix.h"
#include "boot/packet.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

extern char **environ;

static const struct hm_pmix *pmix; /* once it is loaded, for good */
static struct hm_pmix_job who;
static int round_next;  /* the how-manieth job of this process */
static pid_t opened_by; /* the process that PMIx knows; 0: none */

static void name_job(char *const envp[], char *job, size_t size)
{
    const char *space = hm_boot_variable(envp, "PMIX_NAMESPACE");
    snprintf(job, size, "pmix %.200s", space ? space : "");
}

static bool pmix_probe(char *const envp[])
{
    return hm_boot_variable(envp, "PMIX_NAMESPACE") && hm_boot_variable(envp, "PMIX_RANK");
}

static bool pmix_descends(char *const envp[], int *pe, int *pid)
{
    char job[256];
    if (!pmix_probe(envp)) return false;
    int rank = atoi(hm_boot_variable(envp, "PMIX_RANK"));
    name_job(envp, job, sizeof job);
    if (!hm_mark_is_taken(job, rank, pid)) return false;
    *pe = rank;
    return true;
}

/* --- the module --- */

/* Beside the library, or below lib beside the folder of a program that holds the library itself. */
static void *load(char *tried, size_t size)
{
    static const char *const below[] = {"hbmesh/pmix.so", "../lib/hbmesh/pmix.so"};
    Dl_info info;
    char *file = dladdr((void *)load, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    char *slash = file ? strrchr(file, '/') : NULL;
    void *handle = NULL;
    snprintf(tried, size, "hbmesh/pmix.so");
    for (size_t i = 0; slash && !handle && i < HM_COUNT(below); i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file), file, below[i]) >= (int)sizeof path)
            break;
        if (i == 0) snprintf(tried, size, "%s", path);
        if (access(path, F_OK) != 0) continue;
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle) snprintf(tried, size, "%s", dlerror());
    }
    free(file);
    return handle;
}

static int open_module(void)
{
    char tried[512];
    if (pmix) return 0;
    void *handle = load(tried, sizeof tried);
    const struct hm_pmix *found = handle ? dlsym(handle, HM_PMIX_SYMBOL) : NULL;
    if (!found) {
        hm_log_line(
            NULL,
            "a PMIx launcher has started this process, but this library has no PMIx module (%s): build it "
            "where libpmix-dev is installed, use oshrun, or set SHMEM_BOOT=single for jobs of one PE",
            tried);
        return -ENOENT;
    }
    if (strcmp(found->version, HM_VERSION) != 0) {
        hm_log_line(NULL,
                    "the PMIx module is of version %s, the library of version %s: install them together",
                    found->version, HM_VERSION);
        return -EINVAL;
    }
    pmix = found;
    return 0;
}

/* --- joining --- */

static void name_key(char *key, size_t size)
{
    snprintf(key, size, "hbmesh.meet.%d", round_next);
}

static int make_place(struct hm_meeting_place *place)
{
    unsigned char random[16];
    char key[32];
    if (getrandom(random, sizeof random, 0) != sizeof random ||
        getrandom(place->secret, sizeof place->secret, 0) != sizeof place->secret) {
        hm_log_line(NULL, "the system gives no random bytes");
        return -EIO;
    }
    int n = snprintf(place->name, sizeof place->name, "hbmesh-job-");
    for (size_t i = 0; i < sizeof random; i++)
        n += sprintf(place->name + n, "%02x", random[i]);
    name_key(key, sizeof key);
    int rc = pmix->put(key, place, sizeof *place);
    if (rc) hm_log_line(NULL, "the PMIx server does not take where the PEs meet");
    return rc;
}

static int find_place(struct hm_meeting_place *place)
{
    char key[32];
    if (who.pe == 0) return make_place(place);
    name_key(key, sizeof key);
    int rc = pmix->get(0, key, place, sizeof *place);
    if (rc && rc != -EAGAIN)
        hm_log_line(NULL, "the PMIx server does not tell where the PEs meet: %s", strerror(-rc));
    return rc;
}

/* A process that PMIx has not seen off is taken for one that has failed. */
static void pmix_leave(void)
{
    if (opened_by == getpid()) pmix->close();
    opened_by = 0;
}

static int open_server(void)
{
    static bool at_exit;
    char why[256];
    int rc = open_module();
    if (rc) return rc;
    rc = pmix->open(&who, why, sizeof why);
    if (rc) {
        hm_log_line(NULL, "%s", why);
        return rc;
    }
    opened_by = getpid();
    if (!at_exit) atexit(pmix_leave);
    at_exit = true;
    return 0;
}

static int check_machines(void)
{
    if (who.local_npes == who.npes && who.npes <= HM_JOB_MAX_PES) return 0;
    if (who.pe) return hm_boot_leave_to_first();
    if (who.npes > HM_JOB_MAX_PES)
        hm_log_line(NULL, "a job of %d PEs is more than the %d that one machine may have", who.npes,
                    HM_JOB_MAX_PES);
    else
        hm_log_line(
            NULL,
            "of the job's %d PEs %d are on this machine: a job on several machines needs a transport that is "
            "not there yet",
            who.npes, who.local_npes);
    return -ENOTSUP;
}

static int take_mark(void)
{
    char job[256];
    name_job(environ, job, sizeof job);
    return hm_mark_take(job, who.pe);
}

static int meet(int *job_fd)
{
    if (who.npes == 1) {
        *job_fd = hm_job_make(1);
        return *job_fd < 0 ? *job_fd : 0;
    }
    const struct hm_links_plan plan = {.pe = who.pe,
                                       .npes = who.npes,
                                       .find = find_place,
                                       .what =
                                           "a PMIx launcher has started them, and each must call shmem_init"};
    return hm_links_open(&plan, job_fd);
}

static int pmix_start(struct hm_boot_world *world)
{
    int job_fd, rc = open_server();
    if (rc) return rc;
    rc = check_machines();
    if (rc) goto leave;
    rc = take_mark();
    if (rc) goto leave;
    rc = meet(&job_fd);
    if (rc) goto drop_mark;
    round_next++;
    *world = (struct hm_boot_world){who.pe, who.npes, 0, 1, who.local_pe, who.local_npes, job_fd};
    return 0;
drop_mark:
    hm_mark_drop();
leave:
    pmix_leave();
    return rc;
}

static int pmix_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    if (who.npes > 1) return hm_links_gather(mine, len, all, fds, nfds, all_fds);
    if (len) memcpy(all, mine, len);
    return hm_fds_duplicate(fds, nfds, all_fds);
}

static void pmix_exit_all(int status)
{
    hm_links_exit_all(status);
}

static void pmix_stop(void)
{
    if (who.npes > 1) hm_links_close();
    hm_mark_drop();
    pmix_leave();
}

const struct hm_boot hm_boot_pmix = {
    .name = "pmix",
    .because = "a PMIx launcher has started it (PMIX_NAMESPACE and PMIX_RANK are set)",
    .without = "no PMIx launcher has started this process (PMIX_NAMESPACE and PMIX_RANK are not set)",
    .number = "PMIX_RANK",
    .threads = true,
    .probe = pmix_probe,
    .descends = pmix_descends,
    .start = pmix_start,
    .gather = pmix_gather,
    .exit_all = pmix_exit_all,
    .stop = pmix_stop,
};

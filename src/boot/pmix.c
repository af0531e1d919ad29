/* Started by a PMIx launcher: mpirun of Open MPI, prterun, srun --mpi=pmix. PMIx says who this process is and carries
 * what they exchange until they have found each other; the rest is meet.c. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "boot/mark.h"
#include "boot/meet.h"
#include "boot/module.h"
#include "boot/module/pmix.h"
#include "boot/packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
#define CLOSING_MS 3000 /* PMIx waits up to 2 s for its server */

extern char **environ;

static const struct hm_pmix *pmix; /* once it is loaded, for good */
static struct hm_pmix_job who;
static int exchanges;   /* of this process */
static int opens;       /* how often it has opened PMIx */
static bool far;        /* there are PEs that another PMIx server looks after */
static pid_t opened_by; /* the process that PMIx knows, negative while it takes leave; 0: none */

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

static int open_module(void)
{
    char why[512];
    if (!pmix) pmix = hm_module_load("pmix.so", HM_PMIX_SYMBOL, why, sizeof why);
    if (pmix) return 0;
    hm_log_line(
        NULL,
        "a PMIx launcher has started this process, but this library has no PMIx module (%s): build it where "
        "libpmix-dev is installed, use oshrun, or set SHMEM_BOOT=single for jobs of one PE",
        why);
    return -ENOENT;
}

/* --- exchanges --- */

static void name_key(char *key, size_t size)
{
    snprintf(key, size, "hbmesh.%d", exchanges);
}

static bool is_late(uint64_t since)
{
    return hm_options.boot_timeout && hm_os_now() - since > (uint64_t)hm_options.boot_timeout * 1000 * MS;
}

/* Of the others on this machine one knows whether they have come; of those elsewhere only after the fence. */
static int say_missing(const char *key, size_t len, void *room)
{
    char text[400] = "", others[64] = "";
    size_t n = 0;
    int missing = 0, elsewhere = 0;
    for (int i = 0; i < who.npes && n + 32 < sizeof text; i++) {
        if (!pmix->is_local(i)) {
            elsewhere++;
            continue;
        }
        if (i == who.pe || pmix->get(i, key, false, room, len) == 0) {
            if (i < who.pe) return hm_boot_leave_to_first();
            continue;
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", missing++ ? ", " : "", i);
    }
    if (!missing && !elsewhere) return 0;
    if (!missing) sleep(1); /* the PEs there know better */
    if (elsewhere) snprintf(others, sizeof others, ", and perhaps some of the %d elsewhere,", elsewhere);
    hm_log_line(NULL,
                "PE%s %s of %d%s %s not come within %ld s (SHMEM_BOOT_TIMEOUT); a PMIx launcher has started "
                "them, and each "
                "must call shmem_init",
                missing == 1 ? "" : "s", missing ? text : "on other machines", who.npes,
                missing ? others : "", missing == 1 && !elsewhere ? "has" : "have", hm_options.boot_timeout);
    return -ETIMEDOUT;
}

/* Until `is_done` says something else than -EAGAIN. */
struct wait {
    uint64_t since;
    const char *key;
    size_t len;
    void (*serve)(void);
    void *room;
    int seen;
};
static int await(const struct wait *w, int (*is_done)(void *), void *arg)
{
    int rc;
    while ((rc = is_done(arg)) == -EAGAIN) {
        if (w->serve) w->serve();
        if (hm_boot_idle) hm_boot_idle();
        if (is_late(w->since)) return say_missing(w->key, w->len, w->room);
        usleep(200);
    }
    if (rc) hm_log_line(NULL, "the PMIx server does not bring the PEs together: %s", strerror(-rc));
    return rc;
}

static int fence_done(void *ignored)
{
    (void)ignored;
    return pmix->fence_done();
}

static int all_are_there(void *arg)
{
    struct wait *w = arg;
    for (; w->seen < who.npes; w->seen++) {
        int rc = pmix->get(w->seen, w->key, false, w->room, w->len);
        if (rc) return rc;
    }
    return 0;
}

/* The server takes a PE that has finalized, and comes back, for one that has gone, and fences do without it: then all ask
 * for all. With one server only: where there are several, PMIx stays open (see pmix_stop). */
static int await_all(struct wait *w)
{
    if (opens > 1 && !far) return await(w, all_are_there, w);
    int rc = pmix->fence();
    return rc ? rc : await(w, fence_done, NULL);
}

static int exchange(const void *mine, size_t len, void *all, void (*serve)(void))
{
    char key[32];
    struct wait w = {.since = hm_os_now(), .key = key, .len = len, .serve = serve, .room = all};
    name_key(key, sizeof key);
    exchanges++;
    int rc = pmix->put(key, mine, len);
    if (rc) hm_log_line(NULL, "the PMIx server does not take what the PEs tell each other");
    if (!rc) rc = await_all(&w);
    for (int i = 0; !rc && i < who.npes; i++) {
        rc = pmix->get(i, key, true, (char *)all + (size_t)i * len, len);
        if (rc) hm_log_line(NULL, "the PMIx server does not tell what PE %d is: %s", i, strerror(-rc));
    }
    return rc;
}

/* --- joining --- */

/* A process that PMIx has not seen off is taken for one that has failed. A thread that comes while another is at it waits,
 * since it may be about to end the process. */
static void pmix_leave(void)
{
    pid_t me = getpid();
    if (__atomic_compare_exchange_n(&opened_by, &me, -me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pmix->close();
        __atomic_store_n(&opened_by, 0, __ATOMIC_RELEASE);
    }
    for (int i = 0; i < CLOSING_MS && __atomic_load_n(&opened_by, __ATOMIC_ACQUIRE) == -getpid(); i++) usleep(1000);
}

static int open_server(void)
{
    static bool at_exit;
    char why[256];
    if (opened_by == getpid()) return 0;
    int rc = open_module();
    if (rc) return rc;
    rc = pmix->open(&who, why, sizeof why);
    if (rc) {
        hm_log_line(NULL, "%s", why);
        return rc;
    }
    opened_by = getpid();
    opens++;
    far = false;
    for (int i = 0; i < who.npes && !far; i++)
        far = !pmix->is_local(i);
    if (!at_exit) atexit(pmix_leave);
    at_exit = true;
    hm_boot_leave = pmix_leave;
    return 0;
}

static int take_mark(void)
{
    char job[256];
    name_job(environ, job, sizeof job);
    return hm_mark_take(job, who.pe);
}

static int pmix_start(struct hm_boot_world *world)
{
    int rc = open_server();
    if (rc) return rc;
    const struct hm_meet_plan plan = {.pe = who.pe, .npes = who.npes, .exchange = exchange};
    rc = take_mark();
    if (rc) goto leave;
    rc = hm_meet(&plan, world);
    if (!rc) return 0;
    hm_mark_drop();
leave:
    pmix_leave();
    return rc;
}

/* Of several PMIx servers one may hear late that a PE has finalized, after it has come back: they are told at exit. */
static void pmix_stop(void)
{
    hm_meet_stop();
    hm_mark_drop();
    if (!far) pmix_leave();
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
    .gather = hm_meet_gather,
    .apart = hm_meet_apart,
    .exit_all = hm_meet_exit_all,
    .stop = pmix_stop,
};

/* Bootstraps: how a process learns who it is in which job, and how the PEs exchange what they need to reach each other.
 *
 * A bootstrap is one file that defines one `const struct hm_boot`, and one line in boots.def; the first whose probe says
 * yes is taken. Called by one thread, before the library is open to others (exit_all excepted).
 */
#ifndef HM_BOOT_H
#define HM_BOOT_H

#include "base/base.h"
#include "boot/job.h"

struct hm_boot_world {
    int pe, npes;             /* this PE, all PEs */
    int local_pe, local_npes; /* among those of this machine */
    int job_fd;               /* job memory of this machine (boot/job.h), size hm_job_bytes(local_npes). Caller closes */
};

struct hm_boot {
    const char *name; /* as SHMEM_BOOT and shmem-info say it */

    /* Was this process started this way? Must not block or change anything. `envp` as main's third argument: it is
     * asked before libc's environ is set up. */
    bool (*probe)(char *const envp[]);

    /* Was this process started by a PE of such a job, or by a process that has its environment, without being a PE or
     * what may become one? Then *pe is which, *pid its process (0: not known). Like probe, must not block or change
     * anything. */
    bool (*descends)(char *const envp[], int *pe, int *pid);

    /* Joins the job. May block until the launcher answers. On failure logs why, once. 0 or -errno. */
    int (*start)(struct hm_boot_world *world);

    /* Collective over all PEs: everybody gives `len` bytes (<= HM_GATHER_MAX, the same everywhere) and `nfds`
     * descriptors (<= 4, the same number everywhere; they stay the caller's), everybody gets all of them in PE order.
     * `all` holds npes * len bytes; `all_fds` npes * nfds descriptors, close-on-exec, the caller's to close (the own
     * ones are duplicates too). Blocks until the last PE has come. 0 or -errno. */
    int (*gather)(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds);

    /* End every PE with this status, wherever it is; returns, the caller then exits by itself. Any thread. */
    void (*exit_all)(int status);

    /* This PE has finalized. Afterwards start may be called again. Safe after half a start. */
    void (*stop)(void);
};

/* What start and gather call while they wait for others, every 50 ms at least and behind every signal. It may end the
 * process. NULL: nothing. Set by the floor above. */
extern void (*hm_boot_idle)(void);

/* The bootstrap in charge: the first in boots.def that probes true. Never NULL: `single` always does. */
const struct hm_boot *hm_boot_find(char *const envp[]);
/* Does this process descend from a PE of a job of any kind, without being one? See above. */
bool hm_boot_descends(char *const envp[], int *pe, int *pid);

#endif

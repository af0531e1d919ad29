/* Bootstraps: how a process learns who it is in which job, and how the PEs exchange what they need to reach each other.
 *
 * A bootstrap is one file that defines one `const struct hm_boot`, and one line in boots.def. What the program says
 * (hm_boot_attr) goes before SHMEM_BOOT, and that before the first whose probe says yes. Called by one thread, before the
 * library is open to others (exit_all excepted).
 */
#ifndef HM_BOOT_H
#define HM_BOOT_H

#include "base/base.h"
#include "boot/job.h"

struct hm_boot_world {
    int pe, npes;             /* this PE, all PEs */
    int machine, machines;    /* a machine: PEs that can map each other's memory. Numbered by the lowest PE on each */
    int local_pe, local_npes; /* among those of this machine, in the order of `pe` */
    int job_fd;               /* job memory of this machine (boot/job.h), size hm_job_bytes(local_npes). Caller closes */
};

struct hm_boot {
    const char *name; /* as SHMEM_BOOT and shmem-info say it */
    const char *because; /* what probe has found: "oshrun has started it" */
    const char *without; /* and what it misses when it says no */
    const char *number;  /* the variable with this PE's number; NULL: none */
    bool threads; /* start may start threads: what needs to be alone in the process comes before */

    /* Was this process started this way? Must not block or change anything. `envp` as main's third argument: it is
     * asked before libc's environ is set up. */
    bool (*probe)(char *const envp[]);

    /* Was this process started by a PE of such a job, or by a process that has its environment, without being a PE or
     * what may become one? Then *pe is which, *pid its process (0: not known). Like probe, must not block or change
     * anything. */
    bool (*descends)(char *const envp[], int *pe, int *pid);

    /* Joins the job. May block until the launcher answers. On failure, -ENOMEM excepted, somebody has said why: this
     * process in one line, or another PE for all. 0 or -errno. */
    int (*start)(struct hm_boot_world *world);

    /* Collective over all PEs: everybody gives `len` bytes (<= HM_GATHER_MAX, the same everywhere) and `nfds`
     * descriptors (<= 4, the same number everywhere; they stay the caller's), everybody gets all of them in PE order.
     * `all` holds npes * len bytes; `all_fds` npes * nfds descriptors, close-on-exec, the caller's to close (the own
     * ones are duplicates too); those of PEs on other machines are -1. Blocks until the last PE has come. 0 or -errno. */
    int (*gather)(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds);

    /* Why the PEs a and b, which are on different machines, do not map each other's memory: a clause. NULL: they are on
     * different hosts, as far as is known. *asked: somebody wanted it so. The pointer may be NULL: always the former. */
    const char *(*apart)(int a, int b, bool *asked);

    /* End every PE with this status, wherever it is; returns, the caller then exits by itself. Any thread. */
    void (*exit_all)(int status);

    /* This PE has finalized. Afterwards start may be called again. Safe after half a start. */
    void (*stop)(void);
};

/* What start and gather call while they wait for others, every 50 ms at least and behind every signal. It may end the
 * process. NULL: nothing. Set by the floor above. */
extern void (*hm_boot_idle)(void);

/* What comes before the end of this process where its exit handlers do not run, so that nobody takes it for one that has
 * failed. NULL: nothing. Set by a bootstrap; any thread. */
extern void (*hm_boot_leave)(void);
HM_NORETURN void hm_boot_exit_at_once(int status);

/* What a program has said of its job in shmemx_init_attr: it goes before the environment. */
#define HM_UNIQUEID_BYTES 128
struct hm_boot_attr {
    int pe, npes;
    unsigned char id[HM_UNIQUEID_BYTES]; /* from hm_uniqueid_make on one PE */
};
void hm_boot_set_attr(const struct hm_boot_attr *attr); /* copied; NULL: nothing any more */
const struct hm_boot_attr *hm_boot_get_attr(void);
/* 0 or -errno: no random bytes are to be had. */
int hm_uniqueid_make(unsigned char id[HM_UNIQUEID_BYTES]);

struct hm_boot_choice {
    const struct hm_boot *boot; /* NULL: what is asked for contradicts what is there */
    char why[256];              /* why this one, or what is wrong */
};
void hm_boot_choose(char *const envp[], struct hm_boot_choice *choice);
/* The one of that choice, NULL: none. */
const struct hm_boot *hm_boot_find(char *const envp[]);
/* Does this process descend from a PE of a job of any kind, without being one? See above. A job inside of that one is
 * its own: a bootstrap that would take the process goes before those behind it. */
bool hm_boot_descends(char *const envp[], int *pe, int *pid);

#endif

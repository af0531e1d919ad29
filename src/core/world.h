/* The job as this PE knows it, and the chain of start and stop. */
#ifndef HM_WORLD_H
#define HM_WORLD_H

#include "base/base.h"
#include "boot/boot.h"

struct hm_world {
    int pe, npes;
    int inits;      /* open inits: the last finalize tears down */
    bool ready;     /* between init and the last finalize */
    bool finalized; /* was initialised once and has been finalized */
    int thread_level;
    int pid;
    struct hm_job *job;
    struct hm_pe_page *page; /* this PE's */
    const struct hm_boot *boot;
    int cores;
    bool oversubscribed;
    bool membarrier;
};
extern struct hm_world hm_world;

/* shmem_init, shmem_init_thread: 0 or non-zero. Counted. */
int hm_world_init(int requested, int *provided, const char *call);
/* The same for a job of which the program itself says who this PE is. */
int hm_world_init_with(const struct hm_boot_attr *attr, int requested, int *provided, const char *call);
void hm_world_finalize(const char *call);
/* 1: this process was started or forked by a PE and is none itself. */
int hm_world_is_descendant(void);
/* start_pes: not counted when already initialised, finalized at exit. */
void hm_world_start_pes(void);
void hm_world_global_exit(int status) HM_NORETURN;

/* Ends the job with a sentence when called before init or after the last finalize. */
HM_COLD void hm_world_not_ready(const char *call) HM_NORETURN;
HM_INLINE void hm_world_need(const char *call)
{
    if (hm_unlikely(!hm_world.ready)) hm_world_not_ready(call);
}

/* Of several PEs that find the job at fault one says so: true for that one. */
bool hm_world_claim_report(void);
/* For the others: waits for the launcher's end, leaves when none comes. */
void hm_world_die_silently(void) HM_NORETURN;

/* This PE dies with this status and has said why itself. Also from handlers of signals, after which a launcher still sees
 * how it dies (`tell_launcher` false). */
void hm_world_has_said(int status, bool tell_launcher);

/* A safe point: called from slow paths of waits. Does not return when the job is being ended. */
void hm_world_safe_point(void);

#endif

/* Marks: by which a process finds that a PE of its environment has joined already, so that it is none itself.
 *
 * What tells a PE who it is, is inherited by the programs that it starts. A PE therefore holds an abstract socket whose
 * name follows from the job and its number, as long as it is in the job. Names of others' processes do not count.
 */
#ifndef HM_MARK_H
#define HM_MARK_H

#include "base/base.h"

/* 0, or -errno with the reason said; -EEXIST: another process has it. */
int hm_mark_take(const char *job, int pe);
void hm_mark_drop(void);
/* Is it taken by another process of this user? */
bool hm_mark_is_taken(const char *job, int pe, int *pid);
/* Takes those who have asked from the queue, which has an end; now and then, when what hm_mark_fd returns is readable. */
void hm_mark_answer(void);
/* What this process holds, -1: nothing. For the child of a fork, which holds nothing. */
int hm_mark_fd(void);

/* FNV-1a: names from what a job is called. */
#define HM_HASH_START 0xcbf29ce484222325ull
uint64_t hm_hash_text(uint64_t hash, const char *text);

#endif

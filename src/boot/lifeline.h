/* The links that stay open while a job without oshrun runs, and the thread that watches them. For links.c alone. */
#ifndef HM_LIFELINE_H
#define HM_LIFELINE_H

#include "base/base.h"

#include <sys/types.h>

/* PE 0: `fds` and `pids` of each PE, its own ones are ignored; the others: fds[0] and pids[0] lead to PE 0. On success
 * the descriptors are ours; job_fd stays the caller's. 0 or -errno, with the reason said. */
int hm_lifelines_start(int pe, int npes, const int *fds, const pid_t *pids, int job_fd);
/* This PE leaves the job in good order. Safe when they were not started. */
void hm_lifelines_stop(void);
/* Every PE shall end with this status, this one too if it does not soon do so by itself. Any thread. */
void hm_lifelines_end(int status);
/* For the child of a fork. */
void hm_lifelines_forget(void);

#endif

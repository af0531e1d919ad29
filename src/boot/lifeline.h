/* The links that stay open while a job without oshrun runs, and the thread that watches them. For links.c and net.c. */
#ifndef HM_LIFELINE_H
#define HM_LIFELINE_H

#include "base/base.h"

#include <sys/types.h>

/* A lifeline to another machine (net.h): TCP, where silence of the host closes it. */
struct hm_far_line {
    int fd;
    int machine, pe; /* at its other end */
    char host[64];
    char pes[64];  /* "PE 3", "PEs 2, 4-7" */
};

struct hm_lifelines_plan {
    int pe, npes;     /* local numbers; 0 is the middle */
    const int *world; /* and those that messages say */
    const int *fds;   /* the middle: of each PE, its own is ignored; the others: fds[0] leads to the middle */
    const pid_t *pids; /* likewise; 0: in a namespace that cannot be seen from here */
    int job_fd;        /* stays the caller's */
    const struct hm_far_line *far; /* those that this PE has */
    int far_count;
    bool several; /* machines: sentences say which host */
};
/* On success the descriptors are ours. 0 or -errno, with the reason said. */
int hm_lifelines_start(const struct hm_lifelines_plan *plan);
/* This PE leaves the job in good order. Safe when they were not started. */
void hm_lifelines_stop(void);
/* Every PE shall end with this status, this one too if it does not soon do so by itself. Any thread. */
void hm_lifelines_end(int status);
/* For the child of a fork. */
void hm_lifelines_forget(void);

#endif

/* How a process ended, in words, and of one that is not our child. */
#ifndef HM_PROCESS_H
#define HM_PROCESS_H

#include "base/base.h"

#include <sys/types.h>

/* "exited with status 3", "was killed by signal 11 (SIGSEGV: Segmentation fault), core dumped" */
void hm_process_describe(char *text, size_t size, int wait_status);

/* The wait status of a process that has ended and is not our child, if the kernel still knows it; pidfd may be -1. */
bool hm_process_status(pid_t pid, int pidfd, int *wait_status);

/* A descriptor that leads to the process whatever becomes of its number; -1 where there is no such thing. */
int hm_process_open(pid_t pid);
/* SIGKILL through it. */
void hm_process_kill(int pidfd);

#endif

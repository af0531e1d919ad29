/* What the machine and the kernel give this process. */
#ifndef HM_OS_H
#define HM_OS_H

#include "base/base.h"

size_t hm_os_page(void);
uint64_t hm_os_now(void); /* CLOCK_MONOTONIC, ns */

/* Usable cores: the affinity mask within the cgroup's CPU limit (v2 cpu.max, v1 cfs quota), at least 1. */
int hm_os_cores(void);
/* Its two halves: the mask (one bit a CPU; false: not to be had) and the cgroup's limit (INT_MAX: none). */
bool hm_os_affinity(uint8_t *mask, size_t bytes);
int hm_os_cgroup_cores(void);

/* Bytes of the second-level cache of a core, 0 where nobody says. */
size_t hm_os_second_cache(void);

/* An anonymous file of `bytes` bytes in memory, close-on-exec; without memfd_create(2) an unlinked file in /dev/shm,
 * $TMPDIR or /tmp. Sparse. The descriptor, or -errno (-EFBIG: RLIMIT_FSIZE forbids the size). */
int hm_os_memfd(const char *name, size_t bytes);

/* How many threads of the machine run or want to, this one among them; 0: unknown. A few microseconds. */
int hm_os_running(void);
/* The numbers of the cores of its node that this thread may use, first the one where it is. How many; 0: unknown. */
int hm_os_near_cores(uint16_t *cores, int max);
/* Puts this thread on that core; those that it may use stay the same. 0 or -errno. */
int hm_os_go_to_core(unsigned core);
/* On another one of its node; -ENOENT: there is none. */
int hm_os_leave_core(void);

/* membarrier(2), global expedited. hm_os_membarrier_register: 0 or -errno (denied, unknown). */
int hm_os_membarrier_register(void);
void hm_os_membarrier(void);

/* Threads of this process, -1 when that cannot be known. */
int hm_os_threads(void);

#endif

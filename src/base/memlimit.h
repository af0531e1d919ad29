/* How much memory this process can have, and who says so. */
#ifndef HM_MEMLIMIT_H
#define HM_MEMLIMIT_H

#include "base/base.h"

struct hm_memlimit {
    uint64_t bytes;  /* 0: not known */
    char whose[256]; /* to follow "the limit is N, that": "of cgroup /a/b (memory.max)", "of the machine" */
};

/* The tightest of: the memory limit of its cgroup and of those above it (v2 memory.max, v1
 * memory.limit_in_bytes), the kernel's commit limit where vm.overcommit_memory is 2, the machine's memory and
 * swap. Safe in a signal handler. */
void hm_memlimit_find(struct hm_memlimit *limit);

#endif

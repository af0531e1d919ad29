/* Nodes of memory, on machines that have several. */
#ifndef HM_NUMA_H
#define HM_NUMA_H

#include "base/base.h"

/* Pages of [at, at + bytes), a shared mapping of a memory file, come from the node on which the caller runs, whoever touches
 * them first, and from another only when that is full. Nothing changes, and it is 0, where there is one node, where the user
 * has set a policy of his own (numactl), or where the kernel knows of no nodes; else -errno. */
int hm_numa_keep(void *at, size_t bytes);

#endif

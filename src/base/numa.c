#define _GNU_SOURCE
#include "base/numa.h"

#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By system calls alone: libnuma is not everywhere. As many nodes as Linux can be built for. */
enum { NODES_MAX = 1024, WORD_BITS = 8 * sizeof(unsigned long) };
struct nodes {
    unsigned long bits[NODES_MAX / WORD_BITS];
};

/* How many nodes this process may take memory of; 0 where there is nothing to choose or nobody to ask. */
static int nodes_allowed(void)
{
    struct nodes allowed;
    int n = 0;
    memset(&allowed, 0, sizeof allowed);
    if (syscall(SYS_get_mempolicy, NULL, allowed.bits, (unsigned long)NODES_MAX, NULL, MPOL_F_MEMS_ALLOWED)) return 0;
    for (size_t i = 0; i < HM_COUNT(allowed.bits); i++) n += __builtin_popcountl(allowed.bits[i]);
    return n;
}

static bool has_own_policy(void)
{
    int mode = MPOL_DEFAULT;
    return syscall(SYS_get_mempolicy, &mode, NULL, 0ul, NULL, 0ul) || mode != MPOL_DEFAULT;
}

int hm_numa_keep(void *at, size_t bytes)
{
    struct nodes here;
    unsigned cpu, node;
    if (nodes_allowed() < 2 || has_own_policy()) return 0;
    if (syscall(SYS_getcpu, &cpu, &node, NULL) || node >= NODES_MAX) return 0;
    memset(&here, 0, sizeof here);
    here.bits[node / WORD_BITS] = 1ul << node % WORD_BITS;
    /* The kernel takes one bit less than it is told of. */
    return syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, here.bits, NODES_MAX + 1ul, 0u) ? -errno : 0;
}

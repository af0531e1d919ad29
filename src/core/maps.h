/* The mappings of this process, from /proc/self/maps. Safe in a signal handler: no memory is allocated, no stdio used. */
#ifndef HM_MAPS_H
#define HM_MAPS_H

#include "base/base.h"

struct hm_map {
    uintptr_t start, end;
    char perm[5]; /* "rw-p" */
    uint64_t offset, inode;
    const char *path; /* "" for anonymous memory; "[heap]", "[stack]"; cut at some 200 bytes */
};

/* Visits the mappings in ascending order until `visit` returns false. 0, or -errno when they cannot be read. */
int hm_maps_each(bool (*visit)(void *arg, const struct hm_map *map), void *arg);

#endif

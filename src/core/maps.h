/* The mappings of this process, from /proc/self/maps. Safe in a signal handler: no memory is allocated, no
 * stdio used. */
#ifndef HM_MAPS_H
#define HM_MAPS_H

#include "base/base.h"

struct hm_map {
    uintptr_t start, end;
    char perm[5]; /* "rw-p" */
    uint64_t offset, inode;
    const char *path; /* "" for anonymous memory; "[heap]", "[stack]"; cut at some 200 bytes */
};

/* Visits the mappings in ascending order until `visit` returns false. 0, or -errno when they cannot be read.
 */
int hm_maps_each(bool (*visit)(void *arg, const struct hm_map *map), void *arg);

/* What is mapped at an address, and around it. */
struct hm_place {
    bool mapped;
    uintptr_t start, end; /* of the mapping, or of the gap */
    char perm[5];         /* "" in a gap */
    char path[128];       /* its end, if it is longer */
    uintptr_t file_start; /* where the first mapping of this file begins */
    bool guard_below;     /* what lies directly below is closed to all access */
    uintptr_t next_start; /* the mapping above; 0: none */
    char next_perm[5];
    bool next_is_stack; /* that of the first thread */
};

/* 0, or -errno when the mappings cannot be read. */
int hm_maps_find(uintptr_t addr, struct hm_place *place);

/* The last part of a path; a "memfd:" or a "[...]" as it is. */
const char *hm_maps_name(const char *path);

#endif

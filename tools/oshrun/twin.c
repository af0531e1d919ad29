/* --twin: the library of the software NPU, which lies beside the tools in a build tree and below the library's folder where it
 * is installed, is named to the PEs in the place of the Ascend runtime. */
#define _GNU_SOURCE
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef HM_LIBDIR
#define HM_LIBDIR "lib"
#endif

static char library[PATH_MAX];

int hm_twin_find(void)
{
    static const char *const places[] = {"twin", HM_LIBDIR "/hbmesh/twin"};
    char top[PATH_MAX];
    if (!hm_find_top(top, sizeof top)) return -ENOENT;
    for (size_t i = 0; i < HM_COUNT(places); i++) {
        int n = snprintf(library, sizeof library, "%s/%s/libascendcl.so", top, places[i]);
        if (n < (int)sizeof library && access(library, R_OK) == 0) return 0;
    }
    *library = 0;
    return -ENOENT;
}

/* A kind of heap that the user has asked for stays: the twin is then what is found when it is asked for. */
void hm_twin_set(void)
{
    if (!*library) return;
    setenv("SHMEM_ASCEND_LIBRARY", library, 1);
    setenv("SHMEM_HEAP_KIND", "ascend", 0);
}

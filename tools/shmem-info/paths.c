#define _GNU_SOURCE
#include "paths.h"
#include "base/base.h"
#include "boot/boot.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef HM_LIBDIR
#define HM_LIBDIR "lib"
#endif

extern char **environ;

/* shmem-info is of use where the library cannot be loaded, so it is not linked with it. */
static void *open_library(void)
{
    static const char name[] = "libhbmesh.so.1";
    char own[3000], path[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
    snprintf(path, sizeof path, "%s/../%s/%s", own, HM_LIBDIR, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library) return library;
    snprintf(path, sizeof path, "%s/../lib/%s", own, name);
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

/* A process without a job has no ways to show, unless it is told to be a job of one PE. */
static bool is_in_job(void)
{
    struct hm_boot_choice choice;
    const char *wish = getenv("SHMEM_BOOT");
    hm_boot_choose(environ, &choice);
    return !choice.boot || strcmp(choice.boot->name, "single") != 0 || (wish && !strcmp(wish, "single"));
}

int hm_paths_join(void)
{
    if (!is_in_job()) {
        fputs("shmem-info: --paths shows which way the PEs of a job take to each other, so start it as one: "
              "oshrun -n 8 shmem-info --paths, or with mpirun or srun instead\n", stderr);
        return 2;
    }
    void *library = open_library();
    void (*init)(void) = library ? (void (*)(void))dlsym(library, "shmem_init") : NULL;
    void (*finalize)(void) = init ? (void (*)(void))dlsym(library, "shmem_finalize") : NULL;
    if (!finalize) {
        fprintf(stderr, "shmem-info: --paths needs the library: %s\n", dlerror());
        return 1;
    }
    setenv("SHMEM_PATHS", "stdout", 1);
    init();
    finalize();
    return 0;
}

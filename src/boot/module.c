#define _GNU_SOURCE
#include "boot/module.h"

#include "base/version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the library, or below lib beside the folder of a program that holds the library itself. */
static void *open_file(const char *name, char *tried, size_t size)
{
    static const char *const below[] = {"hbmesh", "../lib/hbmesh"};
    Dl_info info;
    char *file = dladdr((void *)open_file, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    char *slash = file ? strrchr(file, '/') : NULL;
    void *handle = NULL;
    snprintf(tried, size, "hbmesh/%s", name);
    for (size_t i = 0; slash && !handle && i < HM_COUNT(below); i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%.*s/%s/%s", (int)(slash - file), file, below[i], name) >=
            (int)sizeof path)
            break;
        if (i == 0) snprintf(tried, size, "%s", path);
        if (access(path, F_OK) != 0) continue;
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle) snprintf(tried, size, "%s", dlerror());
    }
    free(file);
    return handle;
}

const void *hm_module_load(const char *name, const char *symbol, char *why, size_t size)
{
    void *handle = open_file(name, why, size);
    const char *const *found = handle ? dlsym(handle, symbol) : NULL;
    if (found && strcmp(*found, HM_VERSION) != 0) {
        snprintf(why, size, "hbmesh/%s is of version %s, the library of version %s: install them together",
                 name, *found, HM_VERSION);
        return NULL;
    }
    return found;
}

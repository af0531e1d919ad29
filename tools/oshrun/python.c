/* In a build tree the Python package lies beside the tools, and PEs find it without being told. */
#define _GNU_SOURCE
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hm_find_top(char *top, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", top, size - 1);
    if (n <= 0) return false;
    top[n] = 0;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(top, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return true;
}

static bool is_there(const char *top, const char *what)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", top, what) < (int)sizeof path && access(path, F_OK) == 0;
}

static bool begins_with(const char *list, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(list, folder, n) && (!list[n] || list[n] == ':');
}

void hm_python_path(void)
{
    char top[PATH_MAX], list[PATH_MAX + 16384];
    const char *now = getenv("PYTHONPATH");
    if (!hm_find_top(top, sizeof top) || !is_there(top, "CMakeCache.txt") || !is_there(top, "python/shmem4py")) return;
    if (strlen(top) + sizeof "/python" > sizeof top) return;
    strcat(top, "/python");
    if (now && begins_with(now, top)) return;
    int n = snprintf(list, sizeof list, "%s%s%s", top, now && *now ? ":" : "", now ? now : "");
    if (n < (int)sizeof list) setenv("PYTHONPATH", list, 1);
}

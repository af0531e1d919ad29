/* A PE's use of the twin, for ../job.sh: under oshrun, with a library of the given folder. */
#define _GNU_SOURCE
#include "../../../twin/acl.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *lib;
static void *find(const char *name)
{
    void *f = dlsym(lib, name);
    if (f) return f;
    printf("no %s\n", name);
    exit(3);
}
#define CALL(name, ...)                                                                                                \
    do {                                                                                                               \
        aclError e_ = ((__typeof__(&name))find(#name))(__VA_ARGS__);                                                   \
        if (e_) {                                                                                                      \
            printf("%s: %d: %s\n", #name, e_, ((__typeof__(&aclGetRecentErrMsg))find("aclGetRecentErrMsg"))());        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv)
{
    char path[4096];
    void *p;
    size_t free_bytes, total;
    const char *pe = getenv("SHMEM_PE");
    int me = pe ? atoi(pe) : 0;
    const char *what = argc > 2 ? argv[2] : "";
    snprintf(path, sizeof path, "%s/libascendcl.so", argv[1]);
    if (!(lib = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        printf("%s\n", dlerror());
        return 2;
    }
    CALL(aclInit, NULL);
    CALL(aclrtSetDevice, me);
    CALL(aclrtMalloc, &p, 4 << 20, ACL_MEM_MALLOC_HUGE_ONLY);
    CALL(aclrtMemset, p, 4 << 20, 1, 4 << 20);
    if (!strcmp(what, "wait")) {
        puts("here");
        fflush(stdout);
        for (;;) pause();
    }
    if (!strcmp(what, "long")) usleep(1500000);
    CALL(aclrtGetMemInfo, ACL_HBM_MEM, &free_bytes, &total);
    if (total - free_bytes != 6 << 20) printf("%zu bytes are used\n", total - free_bytes);
    if (!strcmp(what, "die") && me == 0) raise(SIGKILL);
    CALL(aclFinalize);
    return 0;
}

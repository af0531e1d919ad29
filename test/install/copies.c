/* A process with two copies of the library; see copies.sh. Not a test itself.
 * copies FILE before|after|closed: loads the other copy before or after init, or before and closes it again. */
#include <shmem.h>
#include <shmemx.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *load(const char *file)
{
    void *h = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!h) fprintf(stderr, "%s\n", dlerror());
    return h;
}

int main(int argc, char **argv)
{
    char other[4096] = "", own[4096] = "";
    const char *file = argv[1], *when = argc > 2 ? argv[2] : "";
    void *h = NULL;
    if (shmemx_other_copy(other, sizeof other, own, sizeof own) || *other) return 20;
    if (strcmp(when, "after") && !(h = load(file))) return 21;
    if (h && (shmemx_other_copy(other, sizeof other, own, sizeof own) != 1 || strcmp(other, file))) return 22;
    if (!strcmp(when, "closed")) dlclose(h);
    printf("%s\n", own);
    fflush(stdout);
    shmem_init();
    if (!strcmp(when, "after")) {
        if (!(h = load(file))) return 23;
        void (*init)(void) = (void (*)(void))dlsym(h, "pshmem_init");
        shmem_barrier_all();
        init();
        return 24;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

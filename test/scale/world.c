/* One PE of a large job, all others of which are played: what it keeps for each. A job of 4096 PEs on 513 machines against
 * one of 512: the difference is what grows, memory and descriptors; and init exchanges at most 512 bytes for each PE. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/boot.h"
#include "boot/packet.h"

enum {
    SMALL = 512,
    LARGE = 4096,
    PER_MACHINE = 8,
    CONTACTED = 100,
    CONTEXTS = 4,
    MOST_PER_PE = 256,      /* bytes kept for each remote PE, with one context that is used: what init has freed may serve there */
    MOST_PER_CONTEXT = 24,  /* and for each further one: 16, and what malloc has free already */
    MOST_EXCHANGED = 512,
    OF_THE_BOOTSTRAP = 212, /* what pmix and uid exchange before: boot/meet.c */
};

static int failed;
#define CHECK(what) ((what) ? (void)0 : (printf("FAIL: line %d: %s\n", __LINE__, #what), (void)(failed = 1)))

/* --- a bootstrap that plays the other PEs: they bring what this one brings --- */

static int npes;
static size_t exchanged;

static int machine_of(int pe) { return pe ? 1 + pe / PER_MACHINE : 0; }

static bool yes(char *const envp[])
{
    (void)envp;
    return true;
}

static bool no(char *const envp[], int *pe, int *pid)
{
    (void)envp;
    (void)pe;
    (void)pid;
    return false;
}

static int start(struct hm_boot_world *world)
{
    *world = (struct hm_boot_world){.npes = npes, .machines = machine_of(npes - 1) + 1, .local_npes = 1,
                                    .job_fd = hm_job_make(1)};
    return world->job_fd < 0 ? world->job_fd : 0;
}

/* The greeting, the only gather with descriptors, says at this place on which machine a PE is (core/world.c). */
enum { MACHINE_AT = 28 };

static int gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    exchanged += len;
    for (int i = 0; i < npes; i++) {
        char *to = (char *)all + (size_t)i * len;
        int32_t machine = machine_of(i);
        memcpy(to, mine, len);
        if (nfds) memcpy(to + MACHINE_AT, &machine, sizeof machine);
    }
    for (int i = 0; i < npes * nfds; i++) all_fds[i] = -1;
    return hm_fds_duplicate(fds, nfds, all_fds);
}

static void exit_all(int status) { (void)status; }
static void stop(void) {}

/* Instead of the one in the library, which is linked statically. */
const struct hm_boot hm_boot_pmix = {.name = "pmix", .because = "a test", .without = "", .probe = yes, .descends = no,
                                     .start = start, .gather = gather, .exit_all = exit_all, .stop = stop};

/* --- what this process takes --- */

static long pss(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib * 1024;
}

static int descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) n++;
    if (dir) closedir(dir);
    return n;
}

/* --- one world --- */

static void use(shmem_ctx_t ctx, long *word, int pe, long value)
{
    shmem_ctx_long_p(ctx, word, value, pe);
    shmem_ctx_long_atomic_add(ctx, word + 1, value, pe);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_ctx_long_g(ctx, word, pe) == value);
    CHECK(shmem_ctx_long_atomic_fetch_add(ctx, word + 1, 1, pe) == value);
    CHECK(shmem_ctx_long_atomic_fetch(ctx, word + 1, pe) == value + 1);
}

struct found {
    long at_init, contacted, contexts; /* bytes */
    int descriptors, after;
    size_t exchanged;
};

static struct found world(int n)
{
    struct found f;
    long back[64], *word;
    shmem_ctx_t ctx[CONTEXTS];
    npes = n;
    shmem_init();
    CHECK(shmem_n_pes() == n && shmem_my_pe() == 0 && shmem_team_n_pes(SHMEM_TEAM_SHARED) == 1);
    word = shmem_malloc(64 * sizeof *word);
    CHECK(word != NULL);
    shmem_barrier_all();
    f.exchanged = exchanged;
    f.at_init = pss();
    f.descriptors = descriptors();
    for (int i = 1; i <= CONTACTED; i++) use(SHMEM_CTX_DEFAULT, word, i * (n - 1) / CONTACTED, i);
    shmem_long_put(word, (long[64]){7}, 64, n - 1);
    shmem_long_get(back, word, 64, n - 1);
    CHECK(back[0] == 7);
    shmem_barrier_all();
    f.contacted = pss();
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(0, &ctx[i]) == 0);
        use(ctx[i], word + 4 + 4 * i, n / 2, i + 10);
        use(ctx[i], word + 6 + 4 * i, n - 1, i + 20);
    }
    f.contexts = pss();
    f.after = descriptors();
    for (int i = 0; i < CONTEXTS; i++) shmem_ctx_destroy(ctx[i]);
    shmem_barrier_all();
    shmem_finalize();
    return f;
}

/* In a process of its own, so that one does not use again what another has freed. */
static struct found world_apart(int n)
{
    struct found f = {0};
    int fds[2];
    if (pipe(fds)) exit(1);
    pid_t child = fork();
    if (child == 0) {
        f = world(n);
        ssize_t sent = write(fds[1], &f, sizeof f);
        fflush(stdout);
        _exit(failed || sent != sizeof f);
    }
    close(fds[1]);
    int status = -1;
    if (read(fds[0], &f, sizeof f) != sizeof f) failed = 1;
    close(fds[0]);
    if (waitpid(child, &status, 0) != child || status) failed = 1;
    return f;
}

int main(void)
{
    unsetenv("SHMEM_PATHS");
    setenv("SHMEM_BOOT", "pmix", 1);
    struct found a = world_apart(SMALL), b = world_apart(LARGE);
    if (failed) return 1;
    double more = LARGE - SMALL, per_pe = (double)(b.at_init - a.at_init) / more;
    double used = (double)(b.contacted - b.at_init - a.contacted + a.at_init) / more;
    double per_context = (double)(b.contexts - b.contacted - a.contexts + a.contacted) / more / CONTEXTS;
    printf("%d PEs on %d machines: %.1f MiB at init, of which %.0f bytes for each remote PE; the first context that is used "
           "%.1f more, each further one %.1f\n", LARGE, machine_of(LARGE - 1) + 1, (double)b.at_init / (1 << 20), per_pe, used,
           per_context);
    printf("%d descriptors, %d with %d PEs; %d at the end\n", b.descriptors, a.descriptors, SMALL, b.after);
    printf("init exchanges %zu bytes for each PE, and %d of the bootstrap\n", b.exchanged, OF_THE_BOOTSTRAP);
    CHECK(per_pe + used <= MOST_PER_PE && per_context <= MOST_PER_CONTEXT);
    CHECK(b.descriptors == a.descriptors && b.after == b.descriptors);
    CHECK(b.exchanged + OF_THE_BOOTSTRAP <= MOST_EXCHANGED);
    return failed;
}

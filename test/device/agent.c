/* timeout: 120 */
/* layouts: 1+1 2+1 */
/* Who owns a word need not help: atomics on it are done while its PE computes, and while it is blocked in a call of the
 * device's runtime. What is asked without waiting is bounded, kept in order and complete behind a quiet, whatever thread
 * asks. */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "../spec/check.h"

#include <shmemx.h>

enum { EACH = 50, FLOOD = 3000, THREADS = 4, LIMIT_S = 30 };

static long *word;          /* in the default heap */
static long *come;          /* in host memory: how many have done what they were to do */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void clear(void)
{
    shmem_long_p(word, 0, me);
    *come = 0;
    shmem_barrier_all();
}

/* PE 0 makes no call of the library meanwhile. */
static bool have_come(void) { return __atomic_load_n(come, __ATOMIC_ACQUIRE) == npes - 1; }

static void visit(void)
{
    for (int i = 0; i < EACH; i++) shmem_long_atomic_fetch_add(word, i, 0);
    shmem_long_atomic_inc(come, 0);
    shmem_quiet();
}

static void check_visits(const char *when)
{
    long sum = (long)(npes - 1) * EACH * (EACH - 1) / 2;
    CHECK(have_come(), "of %d PEs %ld were served %s", npes - 1, *come, when);
    shmem_barrier_all();
    CHECK_NUM(shmem_long_g(word, 0), sum, "what they have added %s", when);
    shmem_barrier_all();
}

static void compute(void)
{
    clear();
    if (me == 0)
        for (double end = now() + LIMIT_S; !have_come() && now() < end;) continue;
    else
        visit();
    if (me == 0) check_visits("while PE 0 computed");
    else shmem_barrier_all(), shmem_barrier_all();
}

/* --- a blocked stream --- */

static void hold(void *arg)
{
    (void)arg;
    for (double end = now() + LIMIT_S; !have_come() && now() < end;) usleep(1000);
}

struct runtime {
    int (*set_device)(int32_t), (*create)(void **), (*launch)(void *, void (*)(void *), void *), (*synchronise)(void *),
        (*destroy)(void *);
};

static bool find_runtime(struct runtime *r)
{
    const char *name = getenv("SHMEM_ASCEND_LIBRARY");
    void *lib = dlopen(name ? name : "libascendcl.so", RTLD_NOW);
    if (!lib) return false;
    *(void **)&r->set_device = dlsym(lib, "aclrtSetDevice");
    *(void **)&r->create = dlsym(lib, "aclrtCreateStream");
    *(void **)&r->launch = dlsym(lib, "aclrtLaunchHostFunc");
    *(void **)&r->synchronise = dlsym(lib, "aclrtSynchronizeStream");
    *(void **)&r->destroy = dlsym(lib, "aclrtDestroyStream");
    return r->set_device && r->create && r->launch && r->synchronise && r->destroy;
}

/* PE 0 waits in the runtime until the others have been served by it. */
static void block(void)
{
    struct runtime r;
    void *stream;
    clear();
    if (me != 0) {
        visit();
        shmem_barrier_all(), shmem_barrier_all();
        return;
    }
    if (find_runtime(&r)) {
        CHECK_NUM(r.set_device(0), 0, "aclrtSetDevice");
        CHECK_NUM(r.create(&stream), 0, "aclrtCreateStream");
        CHECK_NUM(r.launch(stream, hold, NULL), 0, "aclrtLaunchHostFunc");
        CHECK_NUM(r.synchronise(stream), 0, "aclrtSynchronizeStream");
        CHECK_NUM(r.destroy(stream), 0, "aclrtDestroyStream");
    } else {
        hold(NULL);
    }
    check_visits("while PE 0 was blocked in a stream");
}

/* --- many at once --- */

static void flood(void)
{
    clear();
    for (int i = 1; i <= FLOOD; i++) shmem_long_atomic_add(word, 1, right);
    CHECK_NUM(shmem_long_atomic_fetch(word, right), (long)FLOOD, "a fetch behind additions without a result");
    for (int i = 1; i <= FLOOD; i++) shmem_long_atomic_set(word, i, right);
    shmem_fence();
    shmem_long_p(come, 1, right);
    shmem_long_wait_until(come, SHMEM_CMP_EQ, 1);
    CHECK_NUM(shmem_long_g(word, me), (long)FLOOD, "the last of many sets, behind a fence");
    shmem_barrier_all();
}

static void *add(void *arg)
{
    for (int i = 0; i < FLOOD / THREADS; i++) {
        shmem_long_atomic_add(word, 1, i % npes);
        if (i % 5 == 0) CHECK(shmem_long_atomic_fetch_inc(word, i % npes) > 0, "nothing there at PE %d", i % npes);
    }
    shmem_quiet();
    return arg;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    long sum = 0, want = 0;
    clear();
    for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, add, NULL);
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    shmem_barrier_all();
    for (int i = 0; i < FLOOD / THREADS; i++) want += 1 + (i % 5 == 0);
    for (int pe = 0; pe < npes; pe++) sum += shmem_long_g(word, pe);
    CHECK_NUM(sum, want * THREADS * npes, "what all threads have added");
    shmem_barrier_all();
}

int main(void)
{
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    check_start();
    word = shmem_malloc(sizeof *word);
    come = shmem_malloc_with_hints(sizeof *come, SHMEM_MALLOC_ATOMICS_REMOTE);
    compute();
    block();
    flood();
    threads();
    shmem_free(come);
    shmem_free(word);
    int rc = check_end();
    shmem_finalize();
    return rc;
}

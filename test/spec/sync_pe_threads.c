/* npes: 2 3 */
/* timeout: 120 */
/* Four threads of each PE of a pair call shmemx_sync_pe as often as they like: threads match in the order they arrive, so
 * the pair of PEs makes as many meetings as either side has calls, nobody is left over, and at no time has one side come
 * back from more calls than the other has made. */
#include <pthread.h>
#include <shmemx.h>

#include "check.h"

enum { THREADS = 4, CALLS = 1500 };

static long entered, left_behind; /* calls begun and ended by this PE's threads */
static int partner;

static void *caller(void *arg)
{
    (void)arg;
    for (int k = 0; k < CALLS; k++) {
        shmem_long_atomic_inc(&entered, me);
        shmemx_sync_pe(partner);
        long back = shmem_long_atomic_fetch_inc(&left_behind, me) + 1;
        long theirs = shmem_long_atomic_fetch(&entered, partner);
        if (theirs < back) { /* checks are counted by one thread at a time */
            static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
            pthread_mutex_lock(&one);
            CHECK(theirs >= back, "%ld calls have come back, PE %d has made %ld", back, partner, theirs);
            pthread_mutex_unlock(&one);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_start();
    CHECK_NUM(provided, SHMEM_THREAD_MULTIPLE, "threads");
    partner = me ^ 1;
    if (partner < npes) {
        for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, caller, NULL);
        for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
        CHECK_NUM(entered, (long)THREADS * CALLS, "calls");
        CHECK_NUM(left_behind, (long)THREADS * CALLS, "calls");
    }
    shmem_barrier_all();
    int bad = check_end(); /* the inner finalize: nested, it is a barrier */
    shmem_finalize();
    return bad;
}

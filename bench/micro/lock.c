/* A lock: taken and given back by one PE alone, then by all at once; next to a pthread mutex in PE 0's memory. x: PEs.
 *
 *     oshcc -O2 -std=gnu11 bench/micro/lock.c -o lock && oshrun -n 8 ./lock
 *
 * "handed over": the time of all divided by all the times that it was taken; a counter under it says that it locks.
 */
#include "bench_shmem.h"
#include <pthread.h>

static long *word;
static long *counter; /* PE 0's */
static pthread_mutex_t *mutex;

static void lock_alone(long n)
{
    LOOP
    {
        shmem_set_lock(word);
        shmem_clear_lock(word);
    }
}

static void lock_all(long n)
{
    LOOP
    {
        shmem_set_lock(word);
        shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
        shmem_clear_lock(word);
    }
}

static void mutex_all(long n)
{
    LOOP
    {
        pthread_mutex_lock(mutex);
        KEEP(mutex);
        pthread_mutex_unlock(mutex);
    }
}

static void measure(void)
{
    bench_line("lock", "alone", "set and clear", bench_alone(lock_alone), "ns");
    if (mutex) bench_line("lock", "limit alone", "set and clear", bench_alone(mutex_all), "ns");
}

static void mutex_begin(void)
{
    pthread_mutex_t *block = bench_heap(sizeof *block);
    if (me == 0) {
        pthread_mutexattr_t shared;
        pthread_mutexattr_init(&shared);
        pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(block, &shared);
    }
    mutex = shmem_ptr(block, 0);
    shmem_barrier_all();
}

static void check(void)
{
    const long times = 20;
    *counter = 0;
    shmem_barrier_all();
    lock_all(times);
    shmem_barrier_all();
    bench_must(me != 0 || *counter == times * npes, "the counter under the lock");
}

int main(void)
{
    bench_start();
    word = bench_heap(64);
    counter = bench_heap(64);
    *word = 0;
    *counter = 0;
    mutex_begin();
    check();
    bench_by_first(measure);
    bench_at("lock handed over", "heap", (size_t)npes, bench_together(lock_all) / npes, "ns");
    if (bench_all_have(mutex))
        bench_at("lock handed over", "limit", (size_t)npes, bench_together(mutex_all) / npes, "ns");
    shmem_finalize();
    return 0;
}

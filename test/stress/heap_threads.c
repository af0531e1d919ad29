/* One thread takes and frees blocks, which moves the top of the heap and closes pages, while others put, get
 * and add to a block that stays. */
/* timeout: 120 */
/* npes: 1 2 4 */
/* libs: -lpthread */
#include "../spec/check.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 3
#define WORDS 64

static long
    *word; /* [2 * THREADS * WORDS] of every PE; each thread owns WORDS of them on the right neighbour */
static int stop;
static long done[THREADS];

static void *work(void *arg)
{
    long t = (long)arg, n = 0, *mine = word + t * WORDS, *counter = word + (THREADS + t) * WORDS;
    for (; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE) || n < 100; n++) {
        for (int i = 0; i < WORDS; i += 9) {
            shmem_long_p(&mine[i], n * 100 + t, right);
            long seen = shmem_long_g(&mine[i], right);
            CHECK_NUM(seen, n * 100 + t, "thread %ld word %d", t, i);
        }
        shmem_long_atomic_inc(counter, right);
        usleep(20); /* with fewer cores than threads the others want to run too */
    }
    done[t] = n;
    return NULL;
}

int main(void)
{
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    check_start();
    if (level < SHMEM_THREAD_MULTIPLE) return 77;
    pthread_t thread[THREADS];
    struct random r = {5};
    word = shmem_calloc(2 * THREADS * WORDS, sizeof *word);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, (void *)t);
    for (int round = 0; round < 150; round++) {
        size_t bytes = 1 + random_below(&r, (size_t)1 << random_below(&r, 22));
        unsigned char *block = shmem_malloc(bytes), *other = shmem_malloc(5000);
        shmem_uchar_p(&block[bytes - 1], (unsigned char)round, right);
        block = shmem_realloc(block, bytes * 2);
        CHECK_NUM(block[bytes - 1], (unsigned char)round, "round %d: %zu bytes", round, bytes);
        shmem_free(block);
        shmem_free(other);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        CHECK_NUM(shmem_long_g(word + (THREADS + t) * WORDS, right), done[t], "counter of thread %d", t);
    shmem_barrier_all();
    shmem_free(word);
    int status = check_end();
    shmem_finalize(); /* of shmem_init_thread */
    return status;
}

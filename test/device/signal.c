/* timeout: 120 */
/* args: 500 */
/* layouts: 1+1 */
/* Data in device memory with its signal in host memory, the reverse, and both on the device: who sees the signal sees the
 * data, in every round. */
#include "../spec/check.h"

#include <shmemx.h>

enum { WORDS = 65, WAYS = 5 };

static uint64_t source[WORDS], seen[WORDS];

/* The first half of the data of a round, or all of it where both are one call. */
static void send(int way, uint64_t *data, uint64_t *from, uint64_t *signal, uint64_t round)
{
    switch (way) {
    case 0: shmem_uint64_put_signal(data, source, WORDS, signal, round, SHMEM_SIGNAL_SET, right); return;
    case 1: shmem_uint64_put_signal_nbi(data, source, WORDS, signal, 1, SHMEM_SIGNAL_ADD, right); return;
    case 2:
        shmem_uint64_put(data, source, WORDS, right);
        shmem_fence();
        shmem_signal_set(signal, round, right);
        return;
    case 3: /* from memory like that of the data: a copy within the device, where it is on one */
        shmem_uint64_put(from, source, WORDS, me);
        shmem_uint64_put_nbi(data, from, WORDS, right);
        shmem_fence();
        shmem_uint64_atomic_inc(signal, right);
        return;
    case 4:
        shmem_uint64_put_nbi(data, source, WORDS, right);
        shmem_quiet();
        shmem_uint64_p(signal, round, right);
        return;
    }
}

static void rounds(uint64_t *data, uint64_t *from, uint64_t *signal, uint64_t *back, long n, const char *where)
{
    uint64_t zero = 0;
    shmem_uint64_put(signal, &zero, 1, me);
    shmem_uint64_put(back, &zero, 1, me);
    shmem_barrier_all();
    for (uint64_t i = 1; i <= (uint64_t)n; i++) {
        int way = (int)(i % WAYS);
        for (int k = 0; k < WORDS; k++) source[k] = i << 8 | (uint64_t)k;
        send(way, data, from, signal, i);
        if (i % 2)
            shmem_signal_wait_until(signal, SHMEM_CMP_GE, i);
        else
            while (!shmem_uint64_test(signal, SHMEM_CMP_GE, i)) continue;
        shmem_uint64_get(seen, data, WORDS, me);
        for (int k = 0; k < WORDS; k++)
            if (seen[k] != (i << 8 | (uint64_t)k)) {
                CHECK_NUM(seen[k], i << 8 | (uint64_t)k, "%s, way %d, word %d", where, way, k);
                break;
            }
        shmem_signal_set(back, i, left); /* the data may be overwritten */
        shmem_signal_wait_until(back, SHMEM_CMP_EQ, i);
        shmem_quiet();
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 500;
    check_start();
    uint64_t *data = shmem_malloc(sizeof source), *from = shmem_malloc(sizeof source), *word = shmem_malloc(sizeof *word),
             *back = shmem_malloc(sizeof *back);
    uint64_t *host_data = shmemx_malloc_on("host", sizeof source), *host_from = shmemx_malloc_on("host", sizeof source),
             *host_word = shmemx_malloc_on("host", sizeof *word), *host_back = shmemx_malloc_on("host", sizeof *word);
    rounds(data, from, host_word, host_back, n, "data on the device, signal on the host");
    rounds(host_data, host_from, word, back, n, "data on the host, signal on the device");
    rounds(data, from, word, host_back, n, "both on the device");
    void *blocks[] = {data, from, word, back, host_data, host_from, host_word, host_back};
    for (int i = 0; i < 8; i++) shmem_free(blocks[i]);
    return check_end();
}

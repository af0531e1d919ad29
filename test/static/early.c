/* Static data is reached by peers and by the thread of a library that ran before main. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

volatile long early_seen, early_word;
extern volatile long early_rounds;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long rounds = early_rounds;
    for (long i = 1; i <= 40; i++) {
        shmem_long_p((long *)&early_word, i, (me + 1) % npes);
        shmem_barrier_all();
        for (int k = 0; early_seen != i; k++) { /* what a peer wrote is what the thread reads */
            if (k > 5000) return printf("PE %d: the thread sees %ld, not %ld\n", me, early_seen, i), 1;
            usleep(1000);
        }
        shmem_barrier_all();
    }
    if (early_rounds == rounds) return printf("PE %d: the thread stands still\n", me), 1;
    shmem_finalize();
    return 0;
}

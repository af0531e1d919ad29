/* Indexed access: many elements, scattered over all PEs, in one call.
 *
 * How many of the numbers below 100000 have which sum of digits? The counters are spread over the PEs: the
 * one for sum s is at PE s % n_pes. Each PE counts its share of the numbers and adds a batch at a time,
 * wherever the counters are; PE 0 then collects them all. The functions are extensions of hbmesh. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

enum { NUMBERS = 100000, SUMS = 46, BATCH = 256 };

static long counter[SUMS]; /* symmetric; the first SUMS / n_pes or so are used */

static int digit_sum(int n)
{
    return n < 10 ? n : n % 10 + digit_sum(n / 10);
}

/* Adds one for each number from `first` on, in steps of n_pes; returns the first number that is left. */
static int count_batch(int first, int n_pes)
{
    long one[BATCH];
    size_t index[BATCH];
    int pe[BATCH], number = first, used = 0;

    for (; used < BATCH && number < NUMBERS; used++, number += n_pes) {
        int sum = digit_sum(number);
        one[used] = 1;
        index[used] = (size_t)(sum / n_pes);
        pe[used] = sum % n_pes;
    }
    shmemx_long_scatter_add(counter, one, index, pe, (size_t)used); /* atomic for each element */
    return number;
}

int main(void)
{
    long all[SUMS];
    size_t index[SUMS];
    int pe[SUMS];

    shmem_init();
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    for (int number = me; number < NUMBERS;)
        number = count_batch(number, n_pes);
    shmem_barrier_all(); /* all have added */

    for (int s = 0; s < SUMS; s++) {
        index[s] = (size_t)(s / n_pes);
        pe[s] = s % n_pes;
    }
    if (me == 0) {
        shmemx_long_gather(all, counter, index, pe, SUMS);
        for (int s = 0; s < SUMS; s += 5)
            printf("%4ld numbers have the sum of digits %d\n", all[s], s);
    }
    shmem_finalize();
    return 0;
}

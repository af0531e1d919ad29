/* An integer sort in the manner of ISx: keys to their owners by a fetch_add, which finds a place there, and one put.
 *
 *     oshcc -O2 isx.c -o isx && oshrun -n 2 isx [keys-of-each-PE]
 */
#include "pes.h"
#include "isx.h"

static uint32_t *arrived;
static long *filled; /* how many keys have found a place here */

static void exchange_keys(void)
{
    for (int i = 0; i < npes; i++) {
        int pe = (me + i) % npes; /* each begins with another one */
        if (count[pe] == 0) continue;
        size_t at = (size_t)shmem_long_atomic_fetch_add(filled, (long)count[pe], pe);
        if (at + count[pe] > room) job_fail("isx: PE %d gets more than the %zu keys there is room for", pe, room);
        shmem_putmem(arrived + at, by_owner + start[pe], count[pe] * sizeof *arrived, pe);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    struct rounds exchange = {.n = 0}, whole = {.n = 0};
    job_begin(&argc, &argv);
    isx_set_up(argc, argv);
    arrived = job_memory(room * sizeof *arrived, "keys that arrive");
    filled = job_memory(sizeof *filled, "a counter");
    while (another_round(&whole)) {
        *filled = 0;
        double begin = job_clock();
        sort_by_owner();
        double sorted = seconds_now();
        exchange_keys();
        add_round(&exchange, seconds_now() - sorted);
        sort_own(arrived, (size_t)*filled);
        add_round(&whole, job_took(begin));
        must_be_sorted(arrived, (size_t)*filled);
    }
    report_isx("put + fetch_add", &exchange, &whole);
    job_end();
    return 0;
}

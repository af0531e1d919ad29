/* Hand-over in global memory: the producer leaves each block in its own memory and says so, the consumer reads it from
 * there.
 *
 *     oshcc -O2 handover_global.c -o h && oshrun -n 2 h [blocks-of-each-producer [KiB-of-a-block]]
 */
#include "../apps/pes.h"
#include "../apps/tell.h"
#include "handover.h"

static uint64_t *ring[DEPTH], *block; /* symmetric, the producer's; the consumer's own */
static flag_t *ready, *taken;         /* symmetric: blocks that the partner has filled; blocks of ours that are read */

/* model: begin */
static void produce_all(void)
{
    for (size_t k = 0; k < blocks; k++) {
        flag_t number = before + k + 1;
        if (k >= DEPTH) wait_for(taken, number - DEPTH);
        produce(ring[k % DEPTH], k);
        moved(sizeof number);
        shmem_quiet();
        tell(ready, number, partner());
    }
}

static void consume_all(void)
{
    for (size_t k = 0; k < blocks; k++) {
        flag_t number = before + k + 1;
        wait_for(ready, number);
        moved(block_bytes());
        shmem_getmem(block, ring[k % DEPTH], block_bytes(), partner());
        moved(sizeof number);
        tell(taken, number, partner());
        consume(block, k);
    }
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    handover_set_up(argc, argv);
    block = need(malloc(block_bytes()), "a block");
    for (int i = 0; i < DEPTH; i++)
        ring[i] = job_memory(block_bytes(), "blocks");
    ready = job_memory(sizeof *ready, "a flag");
    taken = job_memory(sizeof *taken, "a flag");
    run_handover("global memory", produce_all, consume_all);
    job_end();
    return 0;
}

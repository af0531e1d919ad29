/* Hand-over by one-sided push: the producer puts each block into the consumer's ring, with a signal.
 *
 *     oshcc -O2 handover_push.c -o h && oshrun -n 2 h [blocks-of-each-producer [KiB-of-a-block]]
 */
#include "../apps/pes.h"
#include "../apps/tell.h"
#include "handover.h"

static uint64_t *block, *ring[DEPTH]; /* the producer's own; symmetric, the consumer's */
static flag_t *pushed, *taken;        /* symmetric: blocks that came here; blocks of ours that are consumed */

/* model: begin */
static void produce_all(void)
{
    for (size_t k = 0; k < blocks; k++) {
        flag_t number = before + k + 1;
        produce(block, k);
        if (k >= DEPTH) wait_for(taken, number - DEPTH);
        moved(block_bytes());
        put_and_tell(ring[k % DEPTH], block, block_bytes(), pushed, number, partner());
    }
}

static void consume_all(void)
{
    for (size_t k = 0; k < blocks; k++) {
        flag_t number = before + k + 1;
        wait_for(pushed, number);
        consume(ring[k % DEPTH], k);
        moved(sizeof number);
        tell(taken, number, partner());
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
    pushed = job_memory(sizeof *pushed, "a flag");
    taken = job_memory(sizeof *taken, "a flag");
    run_handover("push", produce_all, consume_all);
    job_end();
    return 0;
}

/* The job "handover": blocks of keys and values from a PE that fills them (prefill) to the PE that goes on with them
 * (decode), one after the other. The first half of the PEs produce, each for one PE of the second half; of an odd
 * number one rests.
 *
 *     PROGRAM [blocks-of-each-producer [KiB-of-a-block]]
 *
 * A producer may be DEPTH blocks ahead. Included behind pes.h or ranks.h, before the model. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "model.h"

enum { DEPTH = 4 };

static size_t blocks, words; /* of each producer; 8 bytes each, of a block */
static uint64_t consumed;    /* what a consumer has made of its blocks */
static size_t before;        /* blocks of earlier rounds */

static inline int pairs(void) { return npes / 2; }
static inline int is_producer(void) { return me < pairs(); }
static inline int is_consumer(void) { return me >= pairs() && me < 2 * pairs(); }
static inline int partner(void) { return is_producer() ? me + pairs() : me - pairs(); }
static inline size_t block_bytes(void) { return words * sizeof(uint64_t); }

static inline void fill_block(uint64_t *block, int producer, size_t number)
{
    uint64_t base = mix((uint64_t)producer << 40 ^ number);
    for (size_t i = 0; i < words; i++)
        block[i] = base + i * 0x9e3779b97f4a7c15ull;
}

/* Every word counts, with its place and with the place of its block. */
static inline uint64_t digest_block(const uint64_t *block, size_t number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < words; i++)
        sum += block[i] ^ i * 0xd6e8feb86659fd93ull;
    return mix(sum ^ mix(number));
}

static inline void produce(uint64_t *block, size_t number) { fill_block(block, me, number); }
static inline void consume(const uint64_t *block, size_t number) { consumed += digest_block(block, number); }

static inline void handover_set_up(int argc, char **argv)
{
    blocks = size_argument(argc, argv, 1, "the blocks of each producer", 256, 1 << 24);
    words = size_argument(argc, argv, 2, "the KiB of a block", 64, 1 << 20) * 128;
    if (me == 0)
        printf("# handover: %s, %d PEs, %d pairs, %zu blocks of %zu KiB each\n", JOB_MODEL, npes, pairs(), blocks,
               words / 128);
}

static inline void must_be_consumed(const char *model)
{
    if (!is_consumer()) return;
    uint64_t should = 0, *block = need(malloc(block_bytes()), "a block");
    for (size_t k = 0; k < blocks; k++) {
        fill_block(block, partner(), k);
        should += digest_block(block, k);
    }
    free(block);
    if (consumed != should)
        job_fail("handover, %s: what came from PE %d has digest %016llx and should have %016llx", model, partner(),
                 (unsigned long long)consumed, (unsigned long long)should);
}

static inline void run_handover(const char *model, void (*produce_all)(void), void (*consume_all)(void))
{
    struct rounds rounds = {.n = 0};
    while (another_round(&rounds)) {
        consumed = 0;
        all_moved = (struct moved){0, 0};
        double begin = job_clock();
        if (is_producer()) produce_all();
        if (is_consumer()) consume_all();
        add_round(&rounds, job_took(begin));
        must_be_consumed(model);
        before += blocks;
    }
    report_model("handover", model, median_round(&rounds), consumed);
}

#endif

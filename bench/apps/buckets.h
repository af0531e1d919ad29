/* Words to the PEs they are for, in buckets, in the manner of bale's exstack: everybody fills a bucket for each PE, all
 * exchange them, and each PE looks through those that came. In OpenSHMEM's way: a bucket is one put, one barrier says that
 * all of them are there, and the own bucket stays where it is. Included behind pes.h. */
#ifndef BUCKETS_H
#define BUCKETS_H

#include <stddef.h>

/* Many: where PEs share a core, each finds little of its own in the cache when its turn comes. */
enum { BUCKET_WORDS = 8192 };

struct bucket {
    uint64_t last; /* whether its sender has no more */
    uint64_t filled;
    uint64_t word[BUCKET_WORDS];
};

static struct bucket *outbox; /* by receiver */

/* Symmetric, by sender. There are two, as a sender may be one exchange ahead of who still looks through his. */
static struct bucket *inbox[2];

static inline void buckets_set_up(void)
{
    size_t n = (size_t)npes;
    outbox = need(calloc(n, sizeof *outbox), "buckets");
    for (int i = 0; i < 2; i++)
        inbox[i] = job_memory(n * sizeof *inbox[i], "buckets");
}

static inline int bucket_has_room(int pe, size_t n) { return outbox[pe].filled + n <= BUCKET_WORDS; }
static inline void add_to_bucket(int pe, uint64_t word) { outbox[pe].word[outbox[pe].filled++] = word; }

static inline void send_bucket(int pe, struct bucket *to, int last)
{
    struct bucket *out = &outbox[pe];
    out->last = (uint64_t)last;
    shmem_putmem(to, out, offsetof(struct bucket, word) + out->filled * sizeof *out->word, pe);
    out->filled = 0;
}

/* Everybody's bucket for this PE goes through `apply`. Returns how many PEs have no more. */
static inline int exchange_buckets(int last, void (*apply)(const uint64_t *word, size_t n))
{
    static unsigned exchanges;
    struct bucket *in = inbox[exchanges++ % 2];
    int at_end = last;
    for (int i = 1; i < npes; i++)
        send_bucket((me + i) % npes, &in[me], last); /* each begins with another one */
    apply(outbox[me].word, outbox[me].filled);
    outbox[me].filled = 0;
    shmem_barrier_all();
    for (int i = 1; i < npes; i++) {
        const struct bucket *from = &in[(me + i) % npes];
        apply(from->word, from->filled);
        at_end += from->last != 0;
    }
    return at_end;
}

#endif

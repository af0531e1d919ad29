/* Updates by one-sided push: each is put into a queue at the owner of the element, who applies what is there.
 *
 *     oshcc -O2 updates_push.c -o u && oshrun -n 2 u [updates-of-each-PE [elements-of-each-PE]]
 *
 * One put for each update, and one for 256 of them. */
#include "../apps/pes.h"
#include "../apps/tell.h"
#include "updates.h"
#include <stddef.h>

enum { MOST = 256 };
static int batch = 1; /* updates in a put */

/* model: begin */
enum { SLOTS = 16 };

struct slot {
    uint64_t filled, last;
    struct update bucket[MOST];
};

static struct slot *queue;     /* symmetric: SLOTS for each sender */
static flag_t *pushed, *freed; /* symmetric: by sender, slots that came; by receiver, slots of ours it has applied */
static flag_t *sent, *applied;
static struct slot *out; /* for each PE: what is being filled */
static int finished;     /* PEs whose last slot has come */

static void apply_slot(int pe)
{
    const struct slot *slot = &queue[pe * SLOTS + (int)(applied[pe] % SLOTS)];
    for (uint64_t i = 0; i < slot->filled; i++)
        apply(slot->bucket[i]);
    finished += slot->last != 0;
    if (++applied[pe] % (SLOTS / 4)) return;
    moved(sizeof(flag_t));
    tell(&freed[me], applied[pe], pe);
}

static int apply_what_is_there(void)
{
    int any = 0;
    for (int pe = 0; pe < npes; pe++)
        for (flag_t there = told(&pushed[pe]); applied[pe] < there; any = 1)
            apply_slot(pe);
    return any;
}

static void push(int pe)
{
    while (sent[pe] - told(&freed[pe]) == SLOTS)
        if (!apply_what_is_there()) idle();
    size_t bytes = offsetof(struct slot, bucket) + out[pe].filled * sizeof(struct update);
    struct slot *to = &queue[me * SLOTS + (int)(sent[pe] % SLOTS)];
    moved(bytes);
    put_and_tell(to, &out[pe], bytes, &pushed[me], ++sent[pe], pe);
    out[pe].filled = 0;
    apply_what_is_there();
}

static void update_all(void)
{
    for (size_t k = 0; k < updates; k++) {
        int pe = owner(k);
        if (pe == me) {
            apply(update(k));
            continue;
        }
        out[pe].bucket[out[pe].filled++] = update(k);
        if ((int)out[pe].filled == batch) push(pe);
    }
    finished++; /* and this one */
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me) continue;
        out[pe].last = 1;
        push(pe);
        out[pe].last = 0;
    }
    while (finished < npes)
        if (!apply_what_is_there()) idle();
    finished = 0;
}

static void make_queues(void)
{
    size_t n = (size_t)npes;
    queue = job_memory(n * SLOTS * sizeof *queue, "queues");
    pushed = job_memory(n * sizeof *pushed, "flags");
    freed = job_memory(n * sizeof *freed, "flags");
    sent = need(calloc(n, sizeof *sent), "counters");
    applied = need(calloc(n, sizeof *applied), "counters");
    out = need(calloc(n, sizeof *out), "buckets");
}
/* model: end */

int main(int argc, char **argv)
{
    job_begin(&argc, &argv);
    updates_set_up(argc, argv);
    make_queues();
    run_updates("push, 1 each", update_all);
    batch = MOST;
    run_updates("push, 256 each", update_all);
    job_end();
    return 0;
}

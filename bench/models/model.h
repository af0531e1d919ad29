/* What the programs of this folder share. Three jobs are each written in three models, and all come to the same digest:
 *
 *   updates_*      changes of single elements of a table that is spread over all PEs
 *   handover_*     large blocks from a producer to its consumer, one after the other
 *   neighbours_*   sums over the neighbours in a graph
 *
 *   *_message_mpi  message passing: both sides act, and a receive takes the send that matches; the program in MPI
 *   *_message      the same program over mailboxes in symmetric memory (mailbox.h): the same ground for all
 *   *_push         one-sided push: the sender puts into the receiver's queue, the receiver applies what is there
 *   *_global       global memory: every PE reads and changes what it wants, where it is
 *
 * What a person writes for the model stands between "model: begin" and "model: end", and models.py counts its lines,
 * blank ones, comments and calls of moved() left out. A line that says "model: begin NAME" is a variant with a name of
 * its own.
 *
 * Included behind pes.h or ranks.h. */
#ifndef MODEL_H
#define MODEL_H

#include <sched.h>

static struct moved {
    uint64_t bytes, messages;
} all_moved;

/* Once for each operation that leaves the PE: with the bytes that the program hands over. What a network adds is its
 * own. */
static inline void moved(size_t bytes)
{
    all_moved.bytes += bytes;
    all_moved.messages++;
}

/* Nothing to do at this moment: another PE may have the core. */
static inline void idle(void) { sched_yield(); }

/* `digest` is this PE's part; the whole is the same for each model. */
static inline void report_model(const char *job, const char *model, double took, uint64_t digest)
{
    char table[64];
    uint64_t bytes = job_sum(all_moved.bytes), messages = job_sum(all_moved.messages), whole = job_sum(digest);
    all_moved = (struct moved){0, 0};
    if (me != 0) return;
    printf("# digest of %s: %016llx\n", job, (unsigned long long)whole);
    snprintf(table, sizeof table, "%s, time", job);
    print_row(table, model, (size_t)npes, took * 1e3, "ms");
    snprintf(table, sizeof table, "%s, moved", job);
    print_row(table, model, (size_t)npes, (double)bytes, "bytes");
    snprintf(table, sizeof table, "%s, operations", job);
    print_row(table, model, (size_t)npes, (double)messages, "messages");
}

#endif

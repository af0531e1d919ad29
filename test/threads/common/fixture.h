/* Threads that play PEs: ThreadSanitizer sees no races between processes, so the parts that PEs share run here as
 * threads of one process, over job memory and a heap made by hand.
 *
 * All threads are threads of PE 0 as far as the library is concerned: words that are waited for lie in its heap, and
 * everybody sleeps at its bell. A meeting has one struct hm_sync a thread, so there each thread is a member of its own.
 *
 * A test names test/threads/common/fixture.c among its sources ("with:"). */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "base/base.h"
#include "core/sync.h"

#define FIXTURE_HEAP ((size_t)1 << 20)

/* How waits behave. */
struct mode {
    const char *name;
    bool oversubscribed, membarrier;
    long sleep_after; /* us */
    bool one_core;    /* all threads share one, whatever they believe */
};
extern const struct mode modes[];
extern const int mode_count;

/* Job memory for `npes` PEs and the heap, zeroed; again for each mode. */
void fixture_start(int npes, const struct mode *mode);
void *fixture_heap(size_t offset); /* an address in the heap */

/* Runs body(i) on n threads and waits for all of them. Ends the process when they take over `seconds`. */
void fixture_run(int n, void (*body)(int i), unsigned seconds);

/* How many are announced as sleepers: 0 when nobody waits. */
unsigned fixture_sleepers(void);
/* How many are counted as asleep by those that sleep and those that wake them: the same. */
int fixture_asleep(void);

/* A failed check is said and counted; main returns fixture_end(). */
void fixture_failed(const char *file, int line, const char *format, ...) HM_PRINTF(3, 4);
#define CHECK(cond, ...)                                                                                               \
    do {                                                                                                               \
        if (!(cond)) fixture_failed(__FILE__, __LINE__, __VA_ARGS__);                                                  \
    } while (0)
int fixture_end(void);

#endif

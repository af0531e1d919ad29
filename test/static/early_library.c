/* A library that starts a thread before main: the thread works on its own data and on the program's. */
#include <pthread.h>
#include <sched.h>

extern volatile long early_seen, early_word; /* the program's */
volatile long early_rounds;

static void *work(void *arg)
{
    (void)arg;
    for (;;) {
        early_rounds++;
        early_seen = early_word;
        if (early_rounds % 1000 == 0) sched_yield(); /* the PEs want the cores too */
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, work, 0) == 0) pthread_detach(thread);
}

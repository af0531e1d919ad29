/* A task queue on a global counter: who is free takes the next task.
 *
 * The tasks take different times, and PEs may be slow or fast: fixed shares would leave some idle. Here a PE
 * asks a counter at PE 0 which task comes next, and puts its result into PE 0's table. */
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>

enum { TASKS = 200, SPAN = 1000 };

static int next_task; /* at PE 0 */
static int result[TASKS];

static bool is_prime(int n)
{
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return n > 1;
}

/* How many primes lie in the task's span of numbers: later spans take longer. */
static int do_task(int task)
{
    int primes = 0;

    for (int n = task * SPAN; n < (task + 1) * SPAN; n++)
        primes += is_prime(n);
    return primes;
}

int main(void)
{
    int task;

    shmem_init();
    while ((task = shmem_int_atomic_fetch_add(&next_task, 1, 0)) < TASKS)
        shmem_int_p(&result[task], do_task(task), 0);
    shmem_barrier_all(); /* all results are in */

    if (shmem_my_pe() == 0) {
        int sum = 0;
        for (int i = 0; i < TASKS; i++)
            sum += result[i];
        printf("%d primes below %d, found in %d tasks\n", sum, TASKS * SPAN, TASKS);
    }
    shmem_finalize();
    return 0;
}

/* fork keeps its meaning although static data is shared: the child has a copy of its own as it was at the
 * fork, while peers write to the parent's all the time and a second thread is in malloc and stdio. The heap
 * stays shared; the word there is one that the CPU can reach, whatever the kind of the heap. */
/* timeout: 120 */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 400 };

static long round_of_fork, written_by_child, touched_by_peers, calm;
static volatile int stop;
static int to_child[2], to_parent[2];

static void *busy(void *arg)
{
    FILE *f = fopen("/dev/null", "w");
    (void)arg;
    while (!stop && f) {
        void *p = malloc(64 + (size_t)rand() % 5000);
        fprintf(f, "%p", p);
        free(p);
        usleep(20);
    }
    if (f) fclose(f);
    return NULL;
}

static int in_child(long round, long *heap)
{
    char c;
    long peers = touched_by_peers;
    if (round_of_fork != round) return 1;
    if (calm != round * 3) return 2;
    void *p = malloc(1000);
    char text[32];
    if (!p || snprintf(text, sizeof text, "%ld", round) < 1) return 3;
    free(p);
    if (write(to_parent[1], "r", 1) != 1 || read(to_child[0], &c, 1) != 1) return 4;
    if (round_of_fork != round || calm != round * 3) return 5; /* the parent has written others meanwhile */
    if (touched_by_peers != peers) return 6;                   /* and so have the peers */
    written_by_child = round;
    *heap = round; /* the heap is shared with children */
    if (round % 10 == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            written_by_child = -1;
            _exit(round_of_fork != round);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0) return 7;
        if (written_by_child != round) return 8;
    }
    return 0;
}

static void one_round(long round, long *heap)
{
    char c;
    int status;
    round_of_fork = round;
    calm = round * 3;
    pid_t pid = fork();
    if (pid == 0) _exit(in_child(round, heap));
    round_of_fork = -1;
    calm = -1;
    shmem_long_atomic_inc(&touched_by_peers, right);
    bool told = pid > 0 && read(to_parent[0], &c, 1) == 1 && write(to_child[1], "w", 1) == 1;
    CHECK(told && waitpid(pid, &status, 0) == pid, "fork, round %ld", round);
    CHECK(status == 0, "round %ld: the child ended with status %#x", round, (unsigned)status);
    CHECK_NUM(written_by_child, 0L, "round %ld", round);
    CHECK_NUM(*heap, round, "the heap is shared, round %ld", round);
}

int main(void)
{
    check_start();
    pthread_t thread;
    long *heap = shmem_malloc_with_hints(sizeof *heap, SHMEM_MALLOC_ATOMICS_REMOTE);
    long rounds = ROUNDS / npes;
    if (pipe(to_child) || pipe(to_parent) || pthread_create(&thread, NULL, busy, NULL)) return 1;
    for (long i = 1; i <= rounds && check_failures < 5; i++)
        one_round(i, heap);
    stop = 1;
    pthread_join(thread, NULL);
    shmem_barrier_all();
    CHECK_NUM(touched_by_peers, rounds, "what the neighbour added");
    FILE *p = popen("echo from a shell", "r");
    char line[64] = "";
    CHECK(p && fgets(line, sizeof line, p) && !strcmp(line, "from a shell\n"), "popen: %s", line);
    if (p) pclose(p);
    CHECK(system("exit 7") == 7 << 8, "system");
    return check_end();
}

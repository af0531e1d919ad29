/* What a PE pins when others use a part of its memory over RDMA; words that the card writes, of which nobody is told; and
 * children have memory as ever. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USED = 64 << 20, FROM = 2 << 20, MOVED = 10 << 20 };
static char few[1 << 30]; /* static data of which a few pages are used */
static long word;

static int me, other;

#define CHECK(what) ((what) ? (void)0 : (printf("PE %d, line %d: %s\n", me, __LINE__, #what), shmem_global_exit(1)))

static long pinned_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f)) sscanf(line, "VmPin: %ld", &kib);
    fclose(f);
    return kib;
}

/* fork, popen and system see the heap and the static data, and leave the parent's registered memory alone. */
static void children(char *heap)
{
    char line[64] = "";
    int status;
    memset(heap, me + 1, USED);
    word = 5;
    shmem_barrier_all();
    pid_t child = fork();
    if (child == 0) {
        int good = heap[0] == me + 1 && heap[USED - 1] == me + 1 && word == 5;
        word = 6;
        few[100] = 7;
        _exit(good ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(word == 5);
    FILE *f = popen("echo here", "r");
    CHECK(f && fgets(line, sizeof line, f) && !strcmp(line, "here\n"));
    pclose(f);
    CHECK(system("true") == 0);
    shmem_barrier_all();
    shmem_long_p(&word, 10 + me, other);
    shmem_putmem(heap, heap + 4096, 4096, other);
    shmem_barrier_all();
    CHECK(word == 10 + other && heap[0] == other + 1);
}

/* Too large to travel with others: the card writes them by itself, and the last word is waited for. */
static void words(long *heap)
{
    enum { ROUNDS = 20, LONGS = 1000 };
    static long source[LONGS];
    static uint64_t signal;
    static long count;
    for (long i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < LONGS; k++) source[k] = i;
        shmem_put(heap, source, LONGS, other);
        shmem_quiet();
        shmem_long_wait_until(heap + LONGS - 1, SHMEM_CMP_EQ, i);
        shmem_barrier_all();
        for (int k = 0; k < LONGS; k++) source[k] = -i;
        shmem_put_signal(heap, source, LONGS, &signal, (uint64_t)i, SHMEM_SIGNAL_SET, other);
        CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, (uint64_t)i) == (uint64_t)i);
        for (int k = 0; k < LONGS; k++) CHECK(heap[k] == -i);
        CHECK(shmem_long_atomic_fetch_add(&count, i, other) == i * (i - 1) / 2);
        shmem_barrier_all();
        CHECK(count == i * (i + 1) / 2);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    shmem_init();
    me = shmem_my_pe();
    other = 1 - me;
    char *own = malloc(USED), *heap = shmem_malloc(USED);
    CHECK(own && heap);
    memset(own, 3 + me, USED);
    shmem_barrier_all();
    if (!strcmp(argv[1], "refused")) {
        for (size_t at = 0; at < USED; at += 1 << 20) shmem_putmem(heap + at, own + at, 1024, other);
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    long before = pinned_kib();
    shmem_putmem(heap, own, 8, other);
    shmem_barrier_all();
    printf("PE %d has pinned %ld KiB at first, %ld with a connection\n", me, before, pinned_kib());
    if (!strcmp(argv[1], "queues")) {
        shmem_finalize();
        return 0;
    }
    shmem_putmem(few, own, 100, other);
    for (size_t at = 0; at < USED; at += 1 << 20) shmem_putmem(heap + at, own + at, 1024, other);
    shmem_barrier_all();
    printf("PE %d has pinned %ld KiB with all of the heap that is allocated\n", me, pinned_kib());
    shmem_putmem(heap + FROM, own, MOVED, other);
    shmem_barrier_all();
    CHECK(heap[FROM] == 3 + other && heap[FROM + MOVED - 1] == 3 + other && few[99] == 3 + other);
    shmem_getmem(own, heap + FROM, MOVED, other);
    CHECK(own[0] == 3 + me && own[MOVED - 1] == 3 + me);
    printf("PE %d has pinned %ld KiB\n", me, pinned_kib());
    CHECK(pinned_kib() > 0 && pinned_kib() < 100 << 10);
    shmem_barrier_all();
    words((long *)heap);
    children(heap);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

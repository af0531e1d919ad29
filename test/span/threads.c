/* npes: 4 8 */
/* label: ucx */
/* env: SHMEM_MACHINES=2 */
/* timeout: 120 */
/* Two teams of the same PEs, in other orders, at once: one thread of each PE for each of them, neither waiting for the
 * other. Collectives of all sizes, so that both use cells, rooms, buffers and flows of their own. */
#include <pthread.h>
#include <unistd.h>

#include "../spec/check.h"

enum { TEAMS = 3, ROUNDS = 60, MOST = 40000 };

static struct way {
    shmem_team_t team;
    int me, start, stride; /* world number of member i: start + i * stride */
    long *dest, *source;
    int bad;
} ways[TEAMS];

static long value(const struct way *w, int member, size_t i, int round)
{
    return (long)(check_mix((uint64_t)(w - ways) << 56 ^ (uint64_t)member << 40 ^ (uint64_t)round << 24 ^ i) >> 8);
}

static void expect(struct way *w, const char *what, int round, size_t i, long seen, long want)
{
    if (seen == want || ++w->bad > 3) return;
    printf("PE %d, team %d, round %d: %s: element %zu: expected %#lx, seen %#lx\n", me, (int)(w - ways), round, what, i, want,
           seen);
}

static void sum(struct way *w, int round, size_t n)
{
    shmem_long_sum_reduce(w->team, w->dest, w->source, n);
    for (size_t i = 0; i < n; i++) {
        long want = 0;
        for (int m = 0; m < npes; m++) want += value(w, m, i, round);
        expect(w, "sum", round, i, w->dest[i], want);
    }
}

static void scan(struct way *w, int round, size_t n)
{
    shmem_long_sum_exscan(w->team, w->dest, w->source, n);
    for (size_t i = 0; i < n; i++) {
        long want = 0;
        for (int m = 0; m < w->me; m++) want += value(w, m, i, round);
        expect(w, "exscan", round, i, w->dest[i], want);
    }
}

static void broadcast(struct way *w, int round, size_t n)
{
    int root = round % npes;
    shmem_long_broadcast(w->team, w->dest, w->source, n, root);
    for (size_t i = 0; i < n; i++) expect(w, "broadcast", round, i, w->dest[i], value(w, root, i, round));
}

static void collect(struct way *w, int round, size_t n)
{
    size_t at = 0, part = n / (size_t)npes;
    shmem_long_collect(w->team, w->dest, w->source, part + (size_t)w->me);
    for (int m = 0; m < npes; at += part + (size_t)m++)
        for (size_t i = 0; i < part + (size_t)m; i++)
            expect(w, "collect", round, at + i, w->dest[at + i], value(w, m, i, round));
}

static void alltoall(struct way *w, int round, size_t n)
{
    size_t part = n / (size_t)npes;
    shmem_long_alltoall(w->team, w->dest, w->source, part);
    for (int m = 0; m < npes; m++)
        for (size_t i = 0; i < part; i++)
            expect(w, "alltoall", round, (size_t)m * part + i, w->dest[(size_t)m * part + i],
                   value(w, m, (size_t)w->me * part + i, round));
}

static void *run(void *arg)
{
    static void (*const calls[])(struct way *, int, size_t) = {sum, scan, broadcast, collect, alltoall};
    struct way *w = arg;
    struct random r = {(uint64_t)(w - ways)};
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random_below(&r, 3) ? random_below(&r, 200) : random_below(&r, MOST);
        for (size_t i = 0; i < n + (size_t)npes; i++) w->source[i] = value(w, w->me, i, round);
        shmem_team_sync(w->team);
        if (random_below(&r, (size_t)npes) == (size_t)w->me) usleep(1000);
        calls[round % 5](w, round, n);
        shmem_team_sync(w->team);
    }
    return NULL;
}

static void make(struct way *w, int start, int stride)
{
    *w = (struct way){.start = start, .stride = stride, .me = (me - start) / stride};
    w->dest = shmem_malloc((MOST + 100) * sizeof(long));
    w->source = shmem_malloc((MOST + 100) * sizeof(long));
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, npes, NULL, 0, &w->team), 0, "split");
}

int main(void)
{
    pthread_t thread[TEAMS];
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_start();
    make(&ways[0], 0, 1);
    make(&ways[1], npes - 1, -1);
    make(&ways[2], 0, 1);
    ways[2].team = SHMEM_TEAM_WORLD;
    for (int t = 0; t < TEAMS; t++) pthread_create(&thread[t], NULL, run, &ways[t]);
    for (int t = 0; t < TEAMS; t++) {
        pthread_join(thread[t], NULL);
        CHECK_NUM(ways[t].bad, 0, "team %d", t);
    }
    shmem_barrier_all();
    int bad = check_end();
    shmem_finalize();
    return bad;
}

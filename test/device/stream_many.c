/* Many streams at a time, in another order on each PE, while the host is in collectives, too: each stream has its own
 * team, data and signals, and all come through. */
/* layouts: 1+1 2+2 */
/* timeout: 120 */
#include "stream.h"

enum { STREAMS = 6, ROUNDS = 60, N = 300 };

static struct lane {
    void *stream;
    shmem_team_t team;
    long *values, *sums; /* of the round, on the device; everybody's sum of them */
    unsigned char *cast;
    long *from_left;
    uint64_t *sig;
    long round;
} lane[STREAMS];

static long value(int pe, int s, long round, int i) { return pe * 100000L + s * 1000 + round * 7 + i; }

/* Makes the values of the next round. */
static void kernel(void *arg)
{
    struct lane *l = arg;
    long *at = twin_memory(l->values, N * sizeof *at);
    l->round++;
    for (int i = 0; i < N; i++) at[i] = value(me, (int)(l - lane), l->round, i);
}

static void open_lane(int s)
{
    struct lane *l = &lane[s];
    l->stream = stream_new();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &l->team);
    l->values = shmem_calloc(N, sizeof *l->values);
    l->sums = shmem_calloc(N, sizeof *l->sums);
    l->cast = shmemx_calloc_on(s % 2 ? "host" : device_kind, N, 1);
    l->from_left = shmem_calloc(N, sizeof *l->from_left);
    l->sig = shmemx_calloc_on(s % 3 ? "host" : device_kind, 1, sizeof *l->sig);
}

static void enqueue(struct lane *l, long round)
{
    ACL(twin_launch(l->stream, 1000, kernel, l));
    ON(shmemx_long_sum_reduce_on_stream(l->team, l->sums, l->values, N, l->stream));
    ON(shmemx_putmem_signal_on_stream(l->from_left, l->values, N * sizeof(long), l->sig, 1, SHMEM_SIGNAL_ADD, right,
                                      l->stream));
    ON(shmemx_signal_wait_until_on_stream(l->sig, SHMEM_CMP_GE, (uint64_t)round, l->stream));
    ON(shmemx_broadcastmem_on_stream(l->team, l->cast, l->values, N, (int)round % npes, l->stream));
    ON(shmemx_barrier_on_stream(l->team, l->stream)); /* nobody's next values overwrite what is still read */
}

static void check_lane(int s)
{
    struct lane *l = &lane[s];
    long sums[N], left_values[N], root[N];
    unsigned char cast[N];
    look(sums, l->sums, sizeof sums);
    look(left_values, l->from_left, sizeof left_values);
    look(cast, l->cast, sizeof cast);
    for (int i = 0; i < N; i++) root[i] = value(ROUNDS % npes, s, ROUNDS, i);
    CHECK(!memcmp(cast, root, N), "stream %d: broadcast", s);
    for (int i = 0; i < N; i++) {
        long want = 0;
        for (int pe = 0; pe < npes; pe++) want += value(pe, s, ROUNDS, i);
        CHECK_NUM(sums[i], want, "stream %d, sum %d", s, i);
        CHECK_NUM(left_values[i], value(left, s, ROUNDS, i), "stream %d, element %d from the left", s, i);
    }
}

static void close_lane(struct lane *l)
{
    shmem_free(l->sig);
    shmem_free(l->from_left);
    shmem_free(l->cast);
    shmem_free(l->sums);
    shmem_free(l->values);
    shmem_team_destroy(l->team);
    ACL(aclrtDestroyStream(l->stream));
}

int main(void)
{
    static long one, all;
    check_start();
    runtime_find();
    for (int s = 0; s < STREAMS; s++) open_lane(s);
    shmem_barrier_all();
    for (long r = 1; r <= ROUNDS; r++) {
        for (int k = 0; k < STREAMS; k++) enqueue(&lane[(k + me) % STREAMS], r);
        one = r;
        if (r % 10 == 0) {
            shmem_long_sum_reduce(lane[0].team, &all, &one, 1);
            CHECK_NUM(all, r * npes, "the host's sum");
        }
    }
    for (int s = 0; s < STREAMS; s++) ACL(aclrtSynchronizeStream(lane[s].stream));
    shmem_barrier_all();
    for (int s = 0; s < STREAMS; s++) check_lane(s);
    shmem_barrier_all();
    for (int s = 0; s < STREAMS; s++) close_lane(&lane[s]);
    return check_end();
}

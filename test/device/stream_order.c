/* Operations on streams are in order with the program's kernels, without a word from the host; and two streams whose
 * PEs come to their operations in opposite order wait for each other no longer than the program asks. */
/* layouts: 1+1 2+1 4+4 */
/* timeout: 120 */
#include "stream.h"

enum { N = 2000, ROUNDS = 40 };

/* --- a ring of kernels --- */

struct ring {
    uint32_t *out, *in; /* on the device */
    uint32_t round;
};

/* What came from the left, plus one, goes on to the right; the first of all makes it. */
static void ring_kernel(void *arg)
{
    struct ring *k = arg;
    uint32_t *out = twin_memory(k->out, N * sizeof *out), *in = twin_memory(k->in, N * sizeof *in);
    for (uint32_t i = 0; i < N; i++) out[i] = (k->round == 1 && !me ? i : in[i]) + 1;
}

/* Each round goes once around. The host enqueues all rounds and looks once, at the end. */
static void ring(void *stream, const char *signals)
{
    uint32_t *out = shmem_calloc(N, sizeof *out), *in = shmem_calloc(N, sizeof *in), have[N];
    uint64_t *sig = shmemx_calloc_on(signals, 1, sizeof *sig);
    struct ring k[ROUNDS + 1];
    shmem_barrier_all();
    for (uint32_t r = 1; r <= ROUNDS; r++) {
        k[r] = (struct ring){out, in, r};
        if (me || r > 1) ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_GE, me ? r : r - 1, stream));
        ACL(twin_launch(stream, 5000, ring_kernel, &k[r]));
        ON(shmemx_putmem_signal_on_stream(in, out, N * sizeof *out, sig, r, SHMEM_SIGNAL_SET, right, stream));
    }
    if (!me) ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_GE, ROUNDS, stream));
    ACL(aclrtSynchronizeStream(stream));
    look(have, out, sizeof have);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t want = i + (ROUNDS - 1) * (uint32_t)npes + (uint32_t)me + 1;
        if (have[i] == want) continue;
        CHECK_NUM(have[i], want, "element %u, signals on %s", i, signals);
        break;
    }
    shmem_barrier_all();
    shmem_free(sig);
    shmem_free(in);
    shmem_free(out);
}

/* --- one stream meets while the other waits, in either order --- */

static void opposite(void *a, void *b, const char *kind)
{
    uint64_t *sig = shmemx_calloc_on(kind, 1, sizeof *sig), have;
    void *stream[2] = {me % 2 ? b : a, me % 2 ? a : b};
    shmem_barrier_all();
    for (uint64_t r = 1; r <= ROUNDS; r++) { /* odd PEs put the wait first, even ones the barrier */
        for (int k = 0; k < 2; k++) {
            if ((me + k) % 2)
                ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_GE, r, stream[1]));
            else
                ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream[0]));
        }
        ON(shmemx_putmem_signal_on_stream(NULL, NULL, 0, sig, 1, SHMEM_SIGNAL_ADD, right, stream[0]));
    }
    ACL(aclrtSynchronizeStream(a));
    ACL(aclrtSynchronizeStream(b));
    look(&have, sig, sizeof have);
    CHECK_NUM(have, (uint64_t)ROUNDS, "%s: signals", kind);
    shmem_barrier_all();
    shmem_free(sig);
}

/* Barriers of two teams on two streams, which odd and even PEs put there in opposite order. */
static void two_teams(void *a, void *b)
{
    shmem_team_t other;
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &other), 0, "split");
    for (int r = 0; r < ROUNDS; r++) {
        ON(shmemx_barrier_on_stream(me % 2 ? other : SHMEM_TEAM_WORLD, me % 2 ? b : a));
        ON(shmemx_barrier_on_stream(me % 2 ? SHMEM_TEAM_WORLD : other, me % 2 ? a : b));
    }
    ACL(aclrtSynchronizeStream(a));
    ACL(aclrtSynchronizeStream(b));
    shmem_team_destroy(other);
}

/* A stream that waits for a long time holds up no other one. */
static void side_by_side(void *a, void *b)
{
    uint64_t *sig = shmemx_calloc_on("host", 1, sizeof *sig);
    long *sums = shmem_calloc(10, sizeof *sums), mine[10], have[10];
    for (int i = 0; i < 10; i++) mine[i] = i + me;
    lay(sums, mine, sizeof mine);
    shmem_barrier_all();
    ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_EQ, 1, a));
    ON(shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sums, sums, 10, b));
    ACL(aclrtSynchronizeStream(b));
    look(have, sums, sizeof have);
    for (int i = 0; i < 10; i++) CHECK_NUM(have[i], (long)npes * i + (long)npes * (npes - 1) / 2, "sum %d", i);
    shmem_barrier_all();
    shmemx_signal_set(sig, 1, right);
    ACL(aclrtSynchronizeStream(a));
    shmem_barrier_all();
    shmem_free(sums);
    shmem_free(sig);
}

int main(void)
{
    check_start();
    runtime_find();
    void *a = stream_new(), *b = stream_new();
    if (!is_cuda) {
        ring(a, device_kind);
        ring(b, "host");
    }
    opposite(a, b, device_kind);
    opposite(a, b, "host");
    two_teams(a, b);
    side_by_side(a, b);
    ACL(aclrtDestroyStream(a));
    ACL(aclrtDestroyStream(b));
    return check_end();
}

/* Collectives on streams: sums have the bits of the order of the team, as those that the host asks for, broadcasts
 * bring what the root has, in teams of all kinds, in memory of all kinds, and while the host is in collectives of the
 * same team. */
/* layouts: 1+1 1+1+1 3+1 4+4 */
/* timeout: 120 */
#include "stream.h"

static const size_t sizes[] = {0, 1, 7, 64, 1000, 70001};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 70001 };

/* Numbers whose sum depends on the order of the operands. */
static float operand(int pe, size_t i)
{
    return (float)(check_mix(check_mix((uint64_t)pe) ^ i) % 1000003) * 1e-3f - 300.f;
}

/* In the order of the team, whatever the machines. */
static float sum_of(shmem_team_t team, size_t i)
{
    float sum = operand(shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD), i);
    for (int k = 1; k < shmem_team_n_pes(team); k++)
        sum += operand(shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD), i);
    return sum;
}

/* `in_place`: dest is source. */
static void sums(shmem_team_t team, void *stream, const char *kind, size_t n, int in_place)
{
    float *source = shmemx_malloc_on(kind, MOST * sizeof *source), *dest = shmemx_calloc_on(kind, MOST, sizeof *dest);
    float *host = shmemx_malloc_on("host", MOST * sizeof *host);
    float *on_host = shmemx_calloc_on("host", MOST, sizeof *on_host);
    float *have = calloc(MOST, sizeof *have);
    for (size_t i = 0; i < MOST; i++) host[i] = operand(me, i);
    lay(source, host, MOST * sizeof *host);
    shmem_barrier_all();
    if (team != SHMEM_TEAM_INVALID) {
        ON(shmemx_float_sum_reduce_on_stream(team, in_place ? source : dest, source, n, stream));
        shmem_float_sum_reduce(team, on_host, host, n); /* the host's, at the same time */
        ACL(aclrtSynchronizeStream(stream));
        look(have, in_place ? source : dest, MOST * sizeof *have);
        for (size_t i = 0; i < MOST; i++) {
            float want = i < n ? sum_of(team, i) : in_place ? host[i] : 0;
            if (have[i] == want) continue;
            CHECK_NUM(have[i], want, "%s, element %zu of %zu", kind, i, n);
            break;
        }
        if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes)
            CHECK(!memcmp(have, on_host, n * sizeof *have), "%s, %zu floats: the bits of the host's", kind, n);
    }
    free(have);
    shmem_free(on_host);
    shmem_free(host);
    shmem_free(dest);
    shmem_free(source);
}

/* One of each width, so that a wrong type or size shows. */
#define SUM_OF(TYPE, NAME)                                                                        \
    static void sum_##NAME(void *stream)                                                          \
    {                                                                                             \
        TYPE *at = shmem_malloc(50 * sizeof *at), mine[50], have[50];                             \
        for (int i = 0; i < 50; i++) mine[i] = (TYPE)(i % 10 + me);                               \
        lay(at, mine, sizeof mine);                                                               \
        shmem_barrier_all();                                                                      \
        ON(shmemx_##NAME##_sum_reduce_on_stream(SHMEM_TEAM_WORLD, at, at, 50, stream));           \
        ACL(aclrtSynchronizeStream(stream));                                                      \
        look(have, at, sizeof have);                                                              \
        for (int i = 0; i < 50; i++) {                                                            \
            TYPE want = (TYPE)(npes * (i % 10) + npes * (npes - 1) / 2);                          \
            CHECK(have[i] == want, #NAME ": element %d", i);                                      \
        }                                                                                         \
        shmem_barrier_all();                                                                      \
        shmem_free(at);                                                                           \
    }
SHMEM_REDUCE_ARITHMETIC_TYPES(SUM_OF)

static void broadcasts(shmem_team_t team, void *stream, const char *kind, size_t n, int root)
{
    unsigned char *source = shmemx_malloc_on(kind, MOST), *dest = shmemx_calloc_on(kind, 1, MOST);
    unsigned char *have = malloc(MOST), *want = malloc(MOST);
    int world_root = shmem_team_translate_pe(team, root, SHMEM_TEAM_WORLD);
    for (size_t i = 0; i < MOST; i++) {
        have[i] = (unsigned char)(me * 7 + i * 3 + 1);
        want[i] = i < n ? (unsigned char)(world_root * 7 + i * 3 + 1) : 0;
    }
    lay(source, have, MOST);
    shmem_barrier_all();
    if (team != SHMEM_TEAM_INVALID) {
        ON(shmemx_broadcastmem_on_stream(team, dest, source, n, root, stream));
        ON(shmemx_barrier_on_stream(team, stream));
        ACL(aclrtSynchronizeStream(stream));
        look(have, dest, MOST);
        CHECK(!memcmp(have, want, MOST), "%s, %zu bytes from %d", kind, n, root);
    }
    shmem_barrier_all();
    free(want);
    free(have);
    shmem_free(dest);
    shmem_free(source);
}

/* A barrier completes what was put before it, on the stream and by nbi calls of the host. */
static void barrier_completes(void *stream, const char *kind)
{
    long *at = shmemx_calloc_on(kind, 3, sizeof *at), *source = shmem_malloc(sizeof *source), have[3], mine = me + 5;
    for (long round = 1; round <= 20; round++) {
        long value = mine * round;
        lay(source, &value, sizeof value);
        ON(shmemx_putmem_on_stream(&at[0], source, sizeof value, right, stream));
        ON(shmemx_putmem_on_stream(&at[1], &value, sizeof value, right, stream));
        shmem_putmem_nbi(&at[2], source, sizeof value, right);
        ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream));
        ACL(aclrtSynchronizeStream(stream));
        look(have, at, sizeof have);
        for (int i = 0; i < 3; i++) CHECK_NUM(have[i], (left + 5) * round, "%s, word %d, round %ld", kind, i, round);
        shmem_barrier_all();
    }
    shmem_free(source);
    shmem_free(at);
}

/* Slots of teams are used again: a later team begins anew. */
static void many_teams(void *stream)
{
    for (int i = 0; i < 10; i++) {
        shmem_team_t team;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes > 1 && i % 2 ? npes - 1 : npes, NULL, 0, &team);
        for (int k = 0; k <= i && team != SHMEM_TEAM_INVALID; k++) ON(shmemx_barrier_on_stream(team, stream));
        ACL(aclrtSynchronizeStream(stream));
        if (team != SHMEM_TEAM_INVALID) shmem_team_destroy(team);
    }
}

int main(void)
{
    check_start();
    runtime_find();
    void *stream = stream_new();
    shmem_team_t even, odd = SHMEM_TEAM_INVALID, halves;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &even);
    if (npes > 1) shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd);
    halves = me % 2 ? odd : even;
    for (size_t i = 0; i < SIZES; i++) {
        const char *kind = i % 2 ? device_kind : "host";
        sums(SHMEM_TEAM_WORLD, stream, kind, sizes[i], 0);
        sums(SHMEM_TEAM_WORLD, stream, i % 2 ? "host" : device_kind, sizes[i], 1);
        sums(halves, stream, device_kind, sizes[i], i % 2);
        broadcasts(SHMEM_TEAM_WORLD, stream, device_kind, sizes[i], (int)i % npes);
        broadcasts(halves, stream, kind, sizes[i], 0);
    }
#define CALL(TYPE, NAME) sum_##NAME(stream);
    SHMEM_REDUCE_ARITHMETIC_TYPES(CALL)
    barrier_completes(stream, device_kind);
    barrier_completes(stream, "host");
    many_teams(stream);
    shmem_team_destroy(halves);
    ACL(aclrtDestroyStream(stream));
    return check_end();
}

/* timeout: 120 */
/* Collectives of a megabyte a PE and more, and where dest and source are the same place: reductions and scans (the
 * standard allows it), broadcast, collect and fcollect (programs do it). Members are late by turns. */
#include <unistd.h>

#include "check.h"
#include "groups.h"

enum { N = (1 << 20) / 8 };

static long *dest, *source;
static long *mine, *seen; /* private: what goes to a source, and what has come to dest */

static long value(int pe, size_t i, int round) { return (long)(check_mix((uint64_t)pe << 40 ^ (uint64_t)round << 32 ^ i) >> 6); }

static void bring(long *at, size_t n, int round)
{
    for (size_t i = 0; i < n; i++) mine[i] = value(me, i, round);
    lay(at, mine, n * sizeof *mine);
}

static void lateness(const struct group *g, int round)
{
    if (round % g->n == g->me) usleep(3000);
}

static void check_part(const struct group *g, const char *what, size_t at, size_t n, int from, size_t first, int round)
{
    look(seen, dest + at, n * sizeof *seen);
    for (size_t i = 0; i < n; i++)
        CHECK(seen[i] == value(from, first + i, round), "%s over %s: element %zu of PE %d: expected %#lx, seen %#lx",
              what, g->name, i, from, value(from, first + i, round), seen[i]);
}

static void moves(const struct group *g, int round)
{
    bring(source, N, round);
    shmem_team_sync(g->team);
    lateness(g, round);
    shmem_long_broadcast(g->team, dest, source, N, round % g->n);
    check_part(g, "broadcast", 0, N, g->pe[round % g->n], 0, round);
    shmem_team_sync(g->team);
    lateness(g, round + 1);
    shmem_long_fcollect(g->team, dest, source, N);
    for (int m = 0; m < g->n; m++) check_part(g, "fcollect", (size_t)m * N, N, g->pe[m], 0, round);
    shmem_team_sync(g->team);
    shmem_long_collect(g->team, dest, source, N - g->me % 2 * 1000);
    for (size_t m = 0, at = 0; m < (size_t)g->n; at += N - m % 2 * 1000, m++)
        check_part(g, "collect", at, N - m % 2 * 1000, g->pe[m], 0, round);
    shmem_team_sync(g->team);
    lateness(g, round + 2);
    shmem_long_alltoall(g->team, dest, source, N / g->n);
    for (int m = 0; m < g->n; m++) check_part(g, "alltoall", (size_t)m * (N / g->n), N / g->n, g->pe[m], (size_t)g->me * (N / g->n), round);
    shmem_team_sync(g->team);
}

/* CALL over dest as its own source; SUM: the members that count. */
#define IN_PLACE(CALL, LAST)                                                                                           \
    do {                                                                                                               \
        bring(dest, N, round);                                                                                         \
        shmem_team_sync(g->team);                                                                                      \
        lateness(g, round);                                                                                            \
        CHECK_NUM(CALL(g->team, dest, dest, N), 0, #CALL);                                                             \
        look(seen, dest, N * sizeof *seen);                                                                            \
        for (size_t i = 0; i < N; i++) {                                                                               \
            long want = 0;                                                                                             \
            for (int m = 0; m < (LAST); m++) want += value(g->pe[m], i, round);                                        \
            CHECK(seen[i] == want, #CALL " over %s in place: element %zu: expected %#lx, seen %#lx", g->name, i, want, \
                  seen[i]);                                                                                            \
        }                                                                                                              \
        shmem_team_sync(g->team);                                                                                      \
    } while (0)

static void in_place(const struct group *g, int round)
{
    IN_PLACE(shmem_long_sum_reduce, g->n);
    IN_PLACE(shmem_long_sum_inscan, g->me + 1);
    IN_PLACE(shmem_long_sum_exscan, g->me);
    for (int k = 0; k < 2; k++) {
        size_t n = k ? N : 20;
        bring(dest, n, round);
        shmem_team_sync(g->team);
        shmem_long_broadcast(g->team, dest, dest, n, round % g->n);
        check_part(g, "broadcast in place", 0, n, g->pe[round % g->n], 0, round);
        shmem_team_sync(g->team);
        bring(dest, n, round);
        shmem_team_sync(g->team);
        lateness(g, round);
        shmem_long_fcollect(g->team, dest, dest, n);
        for (int m = 0; m < g->n; m++) check_part(g, "fcollect in place", (size_t)m * n, n, g->pe[m], 0, round);
        shmem_team_sync(g->team);
        bring(dest, n, round);
        shmem_team_sync(g->team);
        lateness(g, round + 1);
        shmem_long_collect(g->team, dest, dest, n / (g->me + 1));
        for (size_t m = 0, at = 0; m < (size_t)g->n; at += n / (m + 1), m++)
            check_part(g, "collect in place", at, n / (m + 1), g->pe[m], 0, round);
        shmem_team_sync(g->team);
    }
}

/* Other element sizes than eight bytes. */
static void narrow_and_wide(void)
{
    char *from = (char *)mine, *to = (char *)seen;
    long double *part = (long double *)mine, *wide = (long double *)seen;
    shmem_sync_all();
    for (size_t i = 0; i < N; i++) from[i] = (char)(i % 7 == (size_t)me % 7);
    lay(source, from, N);
    shmem_char_max_reduce(SHMEM_TEAM_WORLD, (char *)dest, (char *)source, N);
    look(to, dest, N);
    for (size_t i = 0; i < N; i++) CHECK_NUM(to[i], (char)(i % 7 < (size_t)npes), "char max, element %zu", i);
    shmem_sync_all();
    for (size_t i = 0; i < N / 2; i++) part[i] = (long double)(i % 1000) + me;
    lay(source, part, N / 2 * sizeof *part);
    shmem_longdouble_sum_reduce(SHMEM_TEAM_WORLD, (long double *)dest, (long double *)source, N / 2);
    look(wide, dest, N / 2 * sizeof *wide);
    for (size_t i = 0; i < N / 2; i++)
        CHECK_NUM(wide[i], (long double)(i % 1000) * npes + npes * (npes - 1) / 2, "long double sum, element %zu", i);
    shmem_sync_all();
}

int main(void)
{
    check_start();
    dest = shmem_malloc((size_t)npes * N * sizeof *dest);
    source = shmem_malloc(N * sizeof *source);
    mine = malloc(N * sizeof *mine);
    seen = malloc(N * sizeof *seen);
    groups_make();
    for (int g = 0; g < group_count; g++) {
        shmem_barrier_all();
        if (groups[g].me < 0) continue;
        moves(&groups[g], g);
        in_place(&groups[g], g + 1);
    }
    shmem_barrier_all();
    narrow_and_wide();
    groups_destroy();
    return check_end();
}

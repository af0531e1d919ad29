/* timeout: 120 */
/* Broadcast, collect, fcollect, alltoall and alltoalls of every type and as bytes, over teams of every shape, with sizes
 * around those where the library changes its way; each element checked. */
#include "check.h"
#include "groups.h"

enum { MOST = 300, BYTES = MOST * 16 * 8 * 3, GUARD = 16, PLACES = 8 };

static char *places, *dest, *source; /* dest goes round in places, so that calls follow each other without a pause */
static __attribute__((aligned(16))) char mine[BYTES], seen[BYTES + GUARD]; /* what source and dest hold, private */
static int call_number;

/* Elements to try for a type of `size` bytes. */
static size_t count_of(int k, size_t size)
{
    const size_t bytes[] = {240, 248, 256};
    return k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 3 : k < 6 ? bytes[k - 3] / size : k == 6 ? 256 / size + 1 : MOST;
}
enum { COUNTS = 8 };

static void next_place(const struct group *g)
{
    int place = ++call_number % PLACES;
    dest = places + (size_t)place * (BYTES + GUARD);
    if (place) return;
    shmem_team_sync(g->team);
    lay_byte(places, 0xa5, PLACES * (BYTES + GUARD));
    shmem_team_sync(g->team);
}

/* What member i brings to a collect: the most, or less, or nothing. */
static size_t part_of(int i, size_t n) { return ((size_t)i * 5 + n) % (n + 1); }

static void check_guard(const struct group *g, const char *what, size_t bytes)
{
    for (size_t i = bytes; i < bytes + GUARD; i++)
        CHECK((unsigned char)seen[i] == 0xa5, "%s over %s: byte %zu behind the end of dest was written", what, g->name,
              i - bytes);
}

#define TYPE_TEST(TYPE, NAME, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS)                                       \
    static void bring_##NAME(size_t n)                                                                                 \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++) ((TYPE *)mine)[i] = VALUE(TYPE, me, i, call_number);                            \
        lay(source, mine, n * sizeof(TYPE));                                                                           \
    }                                                                                                                  \
    static void check_##NAME(const struct group *g, const char *what, size_t at, size_t n, int from, size_t first)     \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK_NUM(((TYPE *)seen)[at + i], VALUE(TYPE, from, first + i, call_number),                               \
                      #NAME " %s over %s, %zu elements from PE %d, element %zu", what, g->name, n, from, i);           \
    }                                                                                                                  \
    static void broadcast_##NAME(const struct group *g, size_t n, int root)                                            \
    {                                                                                                                  \
        next_place(g);                                                                                                 \
        bring_##NAME(n);                                                                                               \
        CHECK_NUM(BROADCAST(g->team, (TYPE *)dest, (TYPE *)source, n, root), 0, #NAME);                                \
        look(seen, dest, n * sizeof(TYPE) + GUARD);                                                                    \
        check_##NAME(g, "broadcast", 0, n, g->pe[root], 0);                                                            \
        check_guard(g, "broadcast", n * sizeof(TYPE));                                                                 \
    }                                                                                                                  \
    static void fcollect_##NAME(const struct group *g, size_t n)                                                       \
    {                                                                                                                  \
        next_place(g);                                                                                                 \
        bring_##NAME(n);                                                                                               \
        CHECK_NUM(FCOLLECT(g->team, (TYPE *)dest, (TYPE *)source, n), 0, #NAME);                                       \
        look(seen, dest, n * g->n * sizeof(TYPE) + GUARD);                                                             \
        for (int i = 0; i < g->n; i++) check_##NAME(g, "fcollect", i * n, n, g->pe[i], 0);                             \
        check_guard(g, "fcollect", n * g->n * sizeof(TYPE));                                                           \
    }                                                                                                                  \
    static void collect_##NAME(const struct group *g, size_t n)                                                        \
    {                                                                                                                  \
        size_t at = 0;                                                                                                 \
        next_place(g);                                                                                                 \
        bring_##NAME(n);                                                                                               \
        CHECK_NUM(COLLECT(g->team, (TYPE *)dest, (TYPE *)source, part_of(g->me, n)), 0, #NAME);                        \
        look(seen, dest, n * g->n * sizeof(TYPE) + GUARD);                                                             \
        for (int i = 0; i < g->n; i++) {                                                                               \
            size_t part = part_of(i, n);                                                                               \
            check_##NAME(g, "collect", at, part, g->pe[i], 0);                                                         \
            at += part;                                                                                                \
        }                                                                                                              \
        check_guard(g, "collect", at * sizeof(TYPE));                                                                  \
    }                                                                                                                  \
    static void alltoall_##NAME(const struct group *g, size_t n)                                                       \
    {                                                                                                                  \
        next_place(g);                                                                                                 \
        bring_##NAME(n * g->n);                                                                                        \
        CHECK_NUM(ALLTOALL(g->team, (TYPE *)dest, (TYPE *)source, n), 0, #NAME);                                       \
        look(seen, dest, n * g->n * sizeof(TYPE) + GUARD);                                                             \
        for (int i = 0; i < g->n; i++) check_##NAME(g, "alltoall", i * n, n, g->pe[i], g->me * n);                     \
        check_guard(g, "alltoall", n * g->n * sizeof(TYPE));                                                           \
    }                                                                                                                  \
    static void alltoalls_##NAME(const struct group *g, size_t n, ptrdiff_t dst, ptrdiff_t sst)                        \
    {                                                                                                                  \
        size_t all = n * g->n;                                                                                         \
        next_place(g);                                                                                                 \
        bring_##NAME(all * sst);                                                                                       \
        CHECK_NUM(ALLTOALLS(g->team, (TYPE *)dest, (TYPE *)source, dst, sst, n), 0, #NAME);                            \
        look(seen, dest, all * dst * sizeof(TYPE) + GUARD);                                                            \
        for (size_t k = 0; k < all; k++)                                                                               \
            check_##NAME(g, "alltoalls", k * dst, 1, g->pe[k / n], sst * (g->me * n + k % n));                         \
        for (size_t k = 0; k < all * dst; k++)                                                                         \
            if (k % dst)                                                                                               \
                for (size_t b = 0; b < sizeof(TYPE); b++)                                                              \
                    CHECK((unsigned char)seen[k * sizeof(TYPE) + b] == 0xa5,                                           \
                          #NAME " alltoalls over %s: element %zu lies between the strides and was written", g->name,   \
                          k);                                                                                          \
        check_guard(g, "alltoalls", all * dst * sizeof(TYPE));                                                         \
    }                                                                                                                  \
    static void all_##NAME(const struct group *g, size_t n)                                                            \
    {                                                                                                                  \
        broadcast_##NAME(g, n, 0);                                                                                     \
        broadcast_##NAME(g, n, g->n - 1);                                                                              \
        collect_##NAME(g, n);                                                                                          \
        fcollect_##NAME(g, n);                                                                                         \
        alltoall_##NAME(g, n);                                                                                         \
        alltoalls_##NAME(g, n, 1 + n % 3, 1 + n % 2);                                                                  \
        alltoalls_##NAME(g, n, 1, 3);                                                                                  \
    }

#define NAMED(TYPE, NAME)                                                                                              \
    TYPE_TEST(TYPE, NAME, shmem_##NAME##_broadcast, shmem_##NAME##_collect, shmem_##NAME##_fcollect,                   \
              shmem_##NAME##_alltoall, shmem_##NAME##_alltoalls)
SHMEM_RMA_TYPES(NAMED)
TYPE_TEST(char, mem, shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem)

/* Over the world everything, over other teams a part that differs from team to team. */
static bool is_due(int g, int k, int type) { return g == 0 || (k + type + g) % 4 == 0; }

static void test_group(int g)
{
    call_number = g * 1000 * PLACES - 1;
    for (int k = 0; k < COUNTS; k++) {
        int type = 0;
#define ALL(TYPE, NAME)                                                                                                \
    if (is_due(g, k, type++)) all_##NAME(&groups[g], count_of(k, sizeof(TYPE)));
        SHMEM_RMA_TYPES(ALL)
        ALL(char, mem)
    }
}

int main(void)
{
    check_start();
    places = shmem_malloc(PLACES * (BYTES + GUARD));
    source = shmem_malloc(BYTES);
    groups_make();
    for (int g = 0; g < group_count; g++)
        if (groups[g].me >= 0) test_group(g);
    groups_destroy();
    return check_end();
}

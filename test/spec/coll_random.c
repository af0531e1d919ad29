/* timeout: 120 */
/* args: 3000 */
/* A long random sequence of collectives, one behind the other without a pause, over teams that overlap: other roots,
 * sizes, places and speeds each time. The sequence comes from a fixed seed, so every PE can tell what each result must
 * be without talking. Bytes are compared against a sequential model. */
#include <sched.h>
#include <unistd.h>

#include "check.h"
#include "groups.h"

enum { PLACES = 16, BYTES = 64 << 10, ROW = 9, KINDS };

struct step {
    int number, kind, group, root;
    size_t n; /* elements of 8 bytes a member */
    ptrdiff_t dst, sst;
};

static long *places, *sources;
static long given[BYTES / sizeof(long)], seen[BYTES / sizeof(long)]; /* what a source and a dest hold, private */
static const char *const names[KINDS] = {"broadcast", "collect", "fcollect", "alltoall", "alltoalls",
                                         "sum_reduce", "xor_reduce", "sum_inscan", "sum_exscan", "broadcasts in a row"};

static long value(int pe, const struct step *s, size_t i) { return (long)(check_mix((uint64_t)pe << 48 ^ (uint64_t)s->number << 24 ^ i) >> 8); }
static size_t part(const struct step *s, int member) { return check_mix((uint64_t)s->number * 64 + member) % 4 ? (s->n * (member + 1)) / 8 : 0; }

static struct step step_of(struct random *r, int number)
{
    static const size_t sizes[] = {0, 1, 2, 7, 31, 32, 33, 100, 700};
    struct step s = {.number = number, .kind = (int)random_below(r, KINDS), .group = (int)random_below(r, group_count),
                     .root = (int)random_below(r, 1 << 20), .n = sizes[random_below(r, 9)]};
    if (random_below(r, 3) == 0) s.n = random_below(r, 700);
    s.dst = 1 + (ptrdiff_t)random_below(r, 3);
    s.sst = 1 + (ptrdiff_t)random_below(r, 3);
    if (s.kind >= 3 && s.kind <= 4) s.n = s.n / (npes * 3) + (s.n > 0);
    return s;
}

static size_t source_elements(const struct step *s, const struct group *g)
{
    if (s->kind == 3) return s->n * g->n;
    if (s->kind == 4) return s->n * g->n * s->sst;
    return s->n;
}

/* The rows of one 2d split may all be in a step at once, each on its own. */
static int root_of(const struct step *s, const struct group *g) { return s->root % g->n; }

static int call(const struct step *s, const struct group *g, long *to, long *from)
{
    unsigned long *uto = (unsigned long *)to, *ufrom = (unsigned long *)from;
    switch (s->kind) {
    case 0: return shmem_long_broadcast(g->team, to, from, s->n, root_of(s, g));
    case 1: return shmem_long_collect(g->team, to, from, part(s, g->me));
    case 2: return shmem_long_fcollect(g->team, to, from, s->n);
    case 3: return shmem_long_alltoall(g->team, to, from, s->n);
    case 4: return shmem_long_alltoalls(g->team, to, from, s->dst, s->sst, s->n);
    case 5: return shmem_long_sum_reduce(g->team, to, from, s->n);
    case 6: return shmem_ulong_xor_reduce(g->team, uto, ufrom, s->n);
    case 7: return shmem_long_sum_inscan(g->team, to, from, s->n);
    default: return shmem_long_sum_exscan(g->team, to, from, s->n);
    }
}

/* Fills `want` with what must stand at dest and returns how many elements; -1 in `want`: must be untouched. */
static size_t model(const struct step *s, const struct group *g, long *want)
{
    size_t at = 0;
    switch (s->kind) {
    case 0:
        for (; at < s->n; at++) want[at] = value(g->pe[root_of(s, g)], s, at);
        return at;
    case 1:
        for (int m = 0; m < g->n; m++)
            for (size_t i = 0; i < part(s, m); i++) want[at++] = value(g->pe[m], s, i);
        return at;
    case 2:
        for (int m = 0; m < g->n; m++)
            for (size_t i = 0; i < s->n; i++) want[at++] = value(g->pe[m], s, i);
        return at;
    case 3:
        for (int m = 0; m < g->n; m++)
            for (size_t i = 0; i < s->n; i++) want[at++] = value(g->pe[m], s, g->me * s->n + i);
        return at;
    case 4:
        for (size_t k = 0; k < s->n * g->n * s->dst; k++) want[k] = -1;
        for (size_t k = 0; k < s->n * g->n; k++)
            want[k * s->dst] = value(g->pe[k / s->n], s, (g->me * s->n + k % s->n) * s->sst);
        return s->n * g->n * s->dst;
    }
    int last = s->kind < 7 ? g->n : s->kind == 7 ? g->me + 1 : g->me;
    for (; at < s->n; at++) {
        want[at] = 0;
        for (int m = 0; m < last; m++)
            want[at] = s->kind == 6 ? want[at] ^ value(g->pe[m], s, at) : want[at] + value(g->pe[m], s, at);
    }
    return at;
}

static void dawdle(struct random *mine)
{
    switch (random_below(mine, 40)) {
    case 0: usleep(200); break;
    case 1: case 2: sched_yield(); break;
    case 3: for (volatile int i = 0; i < 20000; i++) continue; break;
    }
}

/* Broadcasts with nothing between them: a root runs ahead of the others until they are too far behind, and reuses its source
 * at once. The root stays, or moves on each time. */
static void run_row(const struct step *s, const struct group *g, long *to, struct random *mine)
{
    static const size_t sizes[] = {1, 3, 12, 13, 100, 128, 513, 600, 3000};
    struct random r = {(uint64_t)s->number};
    int times = 1 + (int)random_below(&r, 200), moves = (int)random_below(&r, 2);
    size_t mixed = random_below(&r, 9);
    for (int k = 0; k < times; k++) {
        struct step one = {.number = s->number * 256 + k, .root = s->root + k * moves};
        int root = root_of(&one, g);
        one.n = sizes[random_below(&r, mixed + 1)];
        for (size_t i = 0; i < one.n; i++) given[i] = value(g->pe[root], &one, i);
        if (g->me == root) lay(sources, given, one.n * sizeof(long));
        dawdle(mine);
        CHECK_NUM(shmem_long_broadcast(g->team, to, sources, one.n, root), 0, "step %d", s->number);
        look(seen, to, one.n * sizeof(long));
        CHECK(!memcmp(seen, given, one.n * sizeof(long)), "step %d: broadcast %d of %d in a row over %s: %zu elements of root %d differ",
              s->number, k, times, g->name, one.n, root);
    }
}

static void run(const struct step *s, struct random *mine)
{
    static long want[BYTES / sizeof(long)];
    const struct group *g = &groups[s->group];
    if (g->me < 0) return;
    long *to = places + (s->number % PLACES) * (BYTES / sizeof(long)), *from = sources;
    if (s->kind == ROW) {
        run_row(s, g, to, mine);
        return;
    }
    if (s->kind >= 5 && s->number % 3 == 0) from = to; /* in place */
    size_t n = source_elements(s, g);
    for (size_t i = 0; i < n; i++) given[i] = value(me, s, i);
    lay(from, given, n * sizeof(long));
    if (from == to) shmem_team_sync(g->team);
    dawdle(mine);
    int rc = call(s, g, to, from);
    CHECK(rc == 0, "step %d: %s returned %d", s->number, names[s->kind], rc);
    lay_byte(sources, 0, n * sizeof(long)); /* it may be used again */
    n = model(s, g, want);
    look(seen, to, (n + 4) * sizeof(long));
    for (size_t i = 0; i < n; i++)
        CHECK(seen[i] == want[i], "step %d: %s of %zu over %s, root %d: element %zu: expected %#lx, seen %#lx",
              s->number, names[s->kind], s->n, g->name, root_of(s, g), i, want[i], seen[i]);
    for (size_t i = n; i < n + 4; i++)
        CHECK(seen[i] == -1 || from == to, "step %d: %s of %zu over %s: wrote behind dest", s->number, names[s->kind],
              s->n, g->name);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 3000;
    check_start();
    places = shmem_malloc(PLACES * BYTES);
    sources = shmem_malloc(BYTES);
    groups_make();
    struct random all = {1}, mine = {1000 + me};
    for (int k = 0; k < steps; k++) {
        struct step s = step_of(&all, k);
        if (k % PLACES == 0) {
            shmem_barrier_all();
            lay_byte(places, -1, PLACES * BYTES);
            shmem_barrier_all();
        }
        run(&s, &mine);
    }
    groups_destroy();
    return check_end();
}

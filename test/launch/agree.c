/* agree list: the pairs of calls to try, one a line: WHERE X Y NAME_OF_X NAME_OF_Y, the names as patterns for grep -E.
 * agree WHERE X Y: PE 0 makes call X, all others call Y. WHERE: for each of the two, w on the world or t on a split team.
 * Whatever happens, nobody comes back from it: the job must end, and say what the two calls were. */
#include <shmemx.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long a[512], b[512];
static void *block, *other;
static shmem_team_t split;
static long sync_array[SHMEM_SYNC_SIZE];

#define BROADCAST "shmem_(team_sync|long_broadcast)"
#define CALL(name, action) static void name(shmem_team_t team) { (void)team; action; }
CALL(do_barrier_all, shmem_barrier_all())
CALL(do_sync_all, shmem_sync_all())
CALL(do_finalize, shmem_finalize())
CALL(do_exit, exit(0))
CALL(do_malloc, (void)shmem_malloc(64))
CALL(do_malloc_more, (void)shmem_malloc(6400))
CALL(do_calloc, (void)shmem_calloc(1, 64))
CALL(do_align, (void)shmem_align(64, 64))
CALL(do_hints, (void)shmem_malloc_with_hints(64, 0))
CALL(do_realloc, (void)shmem_realloc(block, 640))
CALL(do_free, shmem_free(block))
CALL(do_free_other, shmem_free(other))
CALL(do_team_sync, shmem_team_sync(team))
CALL(do_split, shmem_team_t t; shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &t))
CALL(do_split_2d, shmem_team_t x; shmem_team_t y; shmem_team_split_2d(team, 2, NULL, 0, &x, NULL, 0, &y))
CALL(do_destroy, shmem_team_destroy(team))
/* The root comes back from it at once: then the next meeting tells. */
CALL(do_broadcast, shmem_long_broadcast(team, a, b, 4, 0); shmem_team_sync(team))
CALL(do_broadcast_root, shmem_long_broadcast(team, a, b, 4, 1); shmem_team_sync(team))
CALL(do_broadcast_more, shmem_long_broadcast(team, a, b, 400, 0); shmem_team_sync(team))
CALL(do_collect, shmem_long_collect(team, a, b, 4))
CALL(do_fcollect, shmem_long_fcollect(team, a, b, 4))
CALL(do_fcollect_more, shmem_long_fcollect(team, a, b, 50))
CALL(do_alltoall, shmem_long_alltoall(team, a, b, 4))
CALL(do_alltoalls, shmem_long_alltoalls(team, a, b, 1, 1, 4))
CALL(do_sum, shmem_long_sum_reduce(team, a, b, 4))
CALL(do_max, shmem_long_max_reduce(team, a, b, 4))
CALL(do_sum_double, shmem_double_sum_reduce(team, (double *)a, (double *)b, 4))
CALL(do_sum_more, shmem_long_sum_reduce(team, a, b, 400))
CALL(do_inscan, shmem_long_sum_inscan(team, a, b, 4))
CALL(do_exscan, shmem_long_sum_exscan(team, a, b, 4))
CALL(do_nothing, shmem_long_sum_reduce(team, NULL, NULL, 0))
CALL(do_set_barrier, shmem_barrier(0, 0, shmem_n_pes(), sync_array))
CALL(do_pair, shmemx_sync_pe(shmem_my_pe() ? 0 : 1))
CALL(do_set_sum, shmem_long_sum_to_all(a, b, 4, 0, 0, shmem_n_pes(), a, sync_array))

/* on: where it can be made, w the world alone, t a split team alone, b both, s among PEs of its own. same: calls that are
 * the same to the library have the same letter; v is a variant with other arguments, tried against its like alone. */
static const struct kind {
    const char *name;
    void (*call)(shmem_team_t team);
    char on, same;
    const char *said;
} kinds[] = {
    {"barrier_all", do_barrier_all, 'w', 0, "shmem_barrier_all"},
    {"sync_all", do_sync_all, 'w', 's', "shmem_sync_all"},
    {"team_sync", do_team_sync, 'b', 's', "shmem_team_sync"},
    {"finalize", do_finalize, 'w', 'f', "shmem_finalize"},
    {"exit", do_exit, 'w', 'f', "exit"},
    {"malloc", do_malloc, 'w', 0, "shmem_malloc"},
    {"malloc_more", do_malloc_more, 'w', 'v', "shmem_malloc"},
    {"calloc", do_calloc, 'w', 0, "shmem_calloc"},
    {"align", do_align, 'w', 0, "shmem_align"},
    {"hints", do_hints, 'w', 0, "shmem_malloc_with_hints"},
    {"realloc", do_realloc, 'w', 0, "shmem_realloc"},
    {"free", do_free, 'w', 0, "shmem_free"},
    {"free_other", do_free_other, 'w', 'v', "shmem_free"},
    {"split", do_split, 'b', 0, "shmem_team_split_strided"},
    {"split_2d", do_split_2d, 'b', 0, "shmem_team_split_2d"},
    {"destroy", do_destroy, 't', 0, "shmem_team_destroy"},
    {"broadcast", do_broadcast, 'b', 0, BROADCAST},
    {"broadcast_root", do_broadcast_root, 'b', 'v', BROADCAST},
    {"broadcast_more", do_broadcast_more, 'b', 'v', BROADCAST},
    {"collect", do_collect, 'b', 0, "shmem_long_collect"},
    {"fcollect", do_fcollect, 'b', 0, "shmem_long_fcollect"},
    {"fcollect_more", do_fcollect_more, 'b', 'v', "shmem_long_fcollect"},
    {"alltoall", do_alltoall, 'b', 0, "shmem_long_alltoall"},
    {"alltoalls", do_alltoalls, 'b', 0, "shmem_long_alltoalls"},
    {"sum", do_sum, 'b', 0, "shmem_long_sum_reduce"},
    {"max", do_max, 'b', 'v', "shmem_long_max_reduce"},
    {"sum_double", do_sum_double, 'b', 'v', "shmem_double_sum_reduce"},
    {"sum_more", do_sum_more, 'b', 'v', "shmem_long_sum_reduce"},
    {"inscan", do_inscan, 'b', 0, "shmem_long_sum_inscan"},
    {"exscan", do_exscan, 'b', 0, "shmem_long_sum_exscan"},
    {"nothing", do_nothing, 'b', 'v', "shmem_long_sum_reduce"},
    {"set_barrier", do_set_barrier, 's', 0, "shmem_barrier"},
    {"set_sum", do_set_sum, 's', 0, "shmem_long_sum_to_all"},
    {"pair", do_pair, 's', 0, "shmemx_sync_pe"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void print_pair(const char *where, const struct kind *x, const struct kind *y)
{
    printf("%s %s %s %s %s\n", where, x->name, y->name, x->said, y->said);
}

static bool are_variants(const struct kind *x, const struct kind *y)
{
    const char *from = strrchr(x->said, '_'), *with = strrchr(y->said, '_');
    return from && with && !strcmp(from, with); /* ..._reduce of any type and operation */
}

/* On one and the same team all pairs; across teams, where the calls are told apart by who waits for whom, one in five,
 * other ones for each. */
static void list(void)
{
    for (int i = 0; i < KINDS; i++) {
        for (int k = 0; k < KINDS; k++) {
            const struct kind *x = &kinds[i], *y = &kinds[k];
            bool variant = x->same == 'v' || y->same == 'v';
            if (variant && !are_variants(x, y)) continue;
            bool alike = i == k || (x->same && x->same == y->same && !variant);
            bool x_world = x->on == 'w' || x->on == 'b', y_world = y->on == 'w' || y->on == 'b';
            bool x_team = x->on == 't' || x->on == 'b', y_team = y->on == 't' || y->on == 'b';
            if (!alike && x_world && y_world) print_pair("ww", x, y);
            if (!alike && x_team && y_team) print_pair("tt", x, y);
            if (!alike && x->on == 's' && y->on == 's') print_pair("ww", x, y);
            if ((i + k) % 5) continue;
            if (x_world && y_team) print_pair("wt", x, y);
            if (x_team && y_world) print_pair("tw", x, y);
            if (x->on == 's' && y_world) print_pair("ww", x, y);
            if (y->on == 's' && x_team) print_pair("tw", x, y);
        }
    }
}

static void make(const char *name, char where)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i].name, name)) kinds[i].call(where == 't' ? split : SHMEM_TEAM_WORLD);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        list();
        return 0;
    }
    shmem_init();
    int me = shmem_my_pe();
    block = shmem_malloc(100);
    other = shmem_malloc(100);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, shmem_n_pes() - 1, -1, shmem_n_pes(), NULL, 0, &split);
    shmem_barrier_all();
    make(argv[me ? 3 : 2], argv[1][me ? 1 : 0]);
    printf("PE %d came back from %s\n", me, argv[me ? 3 : 2]);
    fflush(stdout);
    make(argv[me ? 3 : 2], argv[1][me ? 1 : 0]); /* a hang, if the first was none */
    _Exit(0);
}

/* Predict the section of Debian packages, with one graph spread over the memories of all PEs.
 *
 *     oshcc -O2 *.c -o graph -lm
 *     oshrun -n 8 ./graph
 *
 * README.md, next to this file, tells what it does and how to read what it prints. */
#include "graph.h"

#include <errno.h>
#include <limits.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATA "debian-graph.gz"

/* ---- options ---- */

static void print_help(FILE *to)
{
    fprintf(to, "usage: graph [--hops N] [--fan-in N] [--seed N] [FILE]\n"
                "\n"
                "Predicts the section of every fifth package from the packages it is linked to, once with\n"
                "reads on demand and once by gathering everything everywhere, and compares both with one PE\n"
                "alone. FILE is made by examples/data/make-graph.py (default: " DATA " near the program).\n"
                "\n"
                "  --hops N     how far a package hears, 1 to 16 (default 4)\n"
                "  --fan-in N   how many neighbours a package listens to at most (default 128)\n"
                "  --seed N     which fifth of the packages is hidden (default 0)\n"
                "  --help       this text\n");
}

/* Every PE reads the same options and comes to the same end; PE 0 says it. */
static int complain(const char *option, const char *why)
{
    if (shmem_my_pe() == 0) fprintf(stderr, "graph: %s %s; see graph --help\n", option, why);
    return -1;
}

struct option {
    const char *name;
    int *value;
    int low, high;
};

static int read_number(const struct option *o, const char *text)
{
    char why[80], *end;

    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || value < o->low || value > o->high) {
        snprintf(why, sizeof(why), "needs a number from %d to %d", o->low, o->high);
        return complain(o->name, why);
    }
    *o->value = (int)value;
    return 0;
}

/* 0: run; 1: nothing more to do; -1: wrong, and said so. */
static int read_options(int argc, char **argv, struct settings *set)
{
    const struct option options[] = {
        {"--hops", &set->hops, 1, 16},
        {"--fan-in", &set->fan_in, 1, 1000000},
        {"--seed", &set->seed, 0, 1000000},
    };
    const int count = sizeof(options) / sizeof(options[0]);

    for (int i = 1; i < argc; i++) {
        int k = 0;
        if (strcmp(argv[i], "--help") == 0) return 1;
        while (k < count && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k < count) {
            if (read_number(&options[k], argv[i + 1])) return -1;
            i++; /* the number */
        } else if (argv[i][0] == '-') {
            return complain(argv[i], "is no option of this program");
        } else if (set->path) {
            return complain(argv[i], "is one file too many");
        } else {
            set->path = argv[i];
        }
    }
    return 0;
}

/* ---- data file ---- */

static bool try_path(char *path, size_t size, const char *folder, const char *place)
{
    return snprintf(path, size, "%s%s" DATA, folder, place) < (int)size && access(path, R_OK) == 0;
}

/* Beside the program, where the source tree has it as seen from there, or from where we are. */
static bool find_data(char *path, size_t size)
{
    static const char *const places[] = {"", "../data/", "../examples/data/", "../../examples/data/"};
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

    here[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(here, '/');
    if (slash) slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (try_path(path, size, here, places[i])) return true;
    return try_path(path, size, "", "examples/data/");
}

static int load(struct graph *g, const struct settings *set)
{
    char path[PATH_MAX + 64];

    if (set->path) return graph_load(g, set->path);
    if (find_data(path, sizeof(path))) return graph_load(g, path);
    fprintf(stderr, "graph: no " DATA " near the program; name the file, or make it with make-graph.py\n");
    return -1;
}

/* ---- the run ---- */

/* The first package whose score at its PE is not bit for bit that of the one-PE run, or -1. On PE 0. */
static int find_difference(const struct part *whole, const float *score, const float *expected)
{
    size_t row = (size_t)whole->labels;
    size_t stride = (size_t)whole->stride;
    float *theirs = need(malloc(row * sizeof(float)), "comparing");
    int differ = -1;

    for (int v = 0; v < whole->nodes && differ < 0; v++) {
        size_t index = (size_t)(v % whole->block);
        shmem_float_get(theirs, score + index * stride, row, v / whole->block);
        if (memcmp(theirs, expected + (size_t)v * stride, row * sizeof(float)) != 0) differ = v;
    }
    free(theirs);
    return differ;
}

/* Collective: one way of propagating, and on PE 0 the comparison with the one-PE run. */
static int run_way(void (*way)(const struct part *, int, float *, struct outcome *), const struct part *mine,
                   const struct mirror *score, const struct report *r, struct outcome *out)
{
    way(mine, r->set->hops, score->local, out);
    mirror_show(score, (size_t)mine->block * (size_t)mine->stride);
    shmem_barrier_all(); /* all scores are written */
    int differ = shmem_my_pe() == 0 ? find_difference(r->whole, score->symmetric, r->score) : -1;
    shmem_barrier_all(); /* and compared, so that the next way may write its own */
    return differ;
}

static float *run_alone(const struct part *whole, int hops, struct outcome *out)
{
    float *score = need(malloc((size_t)whole->nodes * (size_t)whole->stride * sizeof(float)), "the scores");

    propagate_alone(whole, hops, score, out);
    return score;
}

static int failed; /* symmetric: PE 0 tells every PE */

static void run(const struct graph *g, const struct settings *set)
{
    struct part mine, whole;
    struct report r = {.graph = g, .whole = &whole, .set = set, .n_pes = shmem_n_pes()};
    float *alone = NULL;

    progress_start(3 * set->hops);
    spread_graph(g, set, &mine, &whole);
    struct mirror score = mirror_make((size_t)mine.block * (size_t)mine.stride, "the scores");

    if (shmem_my_pe() == 0) r.score = alone = run_alone(&whole, set->hops, &r.alone);
    shmem_barrier_all();
    int on_demand = run_way(propagate_on_demand, &mine, &score, &r, &r.demand);
    int gathered = run_way(propagate_gathered, &mine, &score, &r, &r.gather);
    progress_end();

    if (shmem_my_pe() == 0) {
        r.differ = on_demand >= 0 ? on_demand : gathered;
        report_print(&r);
        for (int pe = 0; pe < r.n_pes; pe++)
            shmem_int_p(&failed, r.differ >= 0, pe);
    }
    shmem_barrier_all();
    mirror_free(&score);
    free(alone);
    spread_free(&mine);
    spread_free(&whole);
}

int main(int argc, char **argv)
{
    struct settings set = {.hops = 4, .fan_in = 128};
    struct graph g = {0};

    shmem_init();
    int choice = read_options(argc, argv, &set);
    if (choice) {
        if (choice > 0 && shmem_my_pe() == 0) print_help(stdout);
        shmem_finalize();
        return choice > 0 ? 0 : 2;
    }
    if (shmem_my_pe() == 0 && load(&g, &set)) shmem_global_exit(1);
    run(&g, &set);
    graph_free(&g);
    shmem_finalize();
    return failed;
}

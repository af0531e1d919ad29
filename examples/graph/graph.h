/* The main example: predict the section of Debian packages from the packages they are linked to.
 *
 * graph.c      the run: load, spread, propagate three ways, compare, report
 * load.c       PE 0 reads the data file
 * spread.c     the graph in the global memory, and the part of it that this PE works on
 * propagate.c  the work itself: alone, with reads on demand, with a gather of everything
 * mirror.c     symmetric memory that the CPU may or may not be able to touch
 * modelled.c   the clock of a software NPU, where there is one
 * report.c     progress bar and table
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the user may choose. */
struct settings {
    const char *path; /* the data file, or NULL: look for it near the program */
    int hops;
    int fan_in; /* a package listens to so many neighbours at most */
    int seed;   /* which fifth of the packages is hidden */
};

/* The file, on PE 0. Links count in both directions: the neighbours of v are
 * target[first[v]] to target[first[v + 1] - 1], ascending and without repetition. */
struct graph {
    int nodes, labels;
    int64_t links; /* dependencies in the file, each counted once */
    const char **name, **label_name;
    const char *order; /* in words: how the packages are numbered */
    int32_t *label;
    int64_t *first;
    int32_t *target;
    char *text; /* the file itself: names point into it */
};

/* 0, or -1 after a sentence on stderr. */
int graph_load(struct graph *g, const char *path);
void graph_free(struct graph *g);

/* The packages begin to end - 1 with their edges. Package v belongs to PE v / block, where it is number
 * v % block. Inside a part packages count from 0, and edges from 0: first[0] is 0. */
struct part {
    int nodes, labels, block; /* of the whole graph */
    int stride;               /* floats from a row to the next: labels, or a few more */
    int majority;             /* the section most packages are known to have */
    int begin, end;
    const int64_t *first;
    const int32_t *target; /* counted over the whole graph */
    const float *weight;   /* of each edge */
    const int32_t *known;  /* section, or -1 where it is hidden */
    const int32_t *truth;  /* section, asked only to judge a prediction */
};

/* Collective: PE 0 has the graph, afterwards each PE has its part, and PE 0 the whole as a part too. */
void spread_graph(const struct graph *g, const struct settings *set, struct part *mine, struct part *whole);
void spread_free(struct part *p);

/* Is this symmetric memory out of the CPU's reach? */
bool on_device(const void *symmetric);

/* Symmetric floats, and where this PE computes on them: `local` is the same memory, or a copy. show brings what
 * was computed into symmetric memory, look fetches what lies there. make and free are collective; all begins as
 * zeros. */
struct mirror {
    float *symmetric, *local;
};
struct mirror mirror_make(size_t floats, const char *what);
void mirror_show(const struct mirror *m, size_t floats);
void mirror_look(const struct mirror *m, size_t floats);
void mirror_free(struct mirror *m);

/* Collective, and a barrier: all PEs' modelled clocks become equal, as far as the last one has come. That time
 * in seconds, or -1: nothing is modelled here. */
double modelled_meet(void);

/* What one way of doing the work costs on all PEs together, and what it finds. */
struct outcome {
    double seconds;
    double modelled; /* seconds of the device's time; -1: there is no such clock */
    int64_t rows, bytes; /* moved between PEs */
    long hits;           /* hidden packages whose section was predicted */
};

/* Scores: a row of `labels` floats for each package of the part, zero for those that are not hidden.
 * Each of the three adds its steps to the progress bar. The last two are collective. */
void propagate_alone(const struct part *whole, int hops, float *score, struct outcome *out);
void propagate_on_demand(const struct part *mine, int hops, float *score, struct outcome *out);
void propagate_gathered(const struct part *mine, int hops, float *score, struct outcome *out);

/* The section that a row of scores speaks for. */
int predict(const struct part *p, const float *score);

/* Memory, or the end of the job with a sentence. */
void *need(void *memory, const char *what);

void progress_start(int steps);
void progress_step(const char *doing);
void progress_end(void);

struct report {
    const struct graph *graph;
    const struct part *whole;
    const struct settings *set;
    const float *score; /* of the one-PE run */
    int n_pes;
    struct outcome alone, demand, gather;
    int differ; /* the first package for which the numbers differ, or -1 */
};
void report_print(const struct report *r);

#endif

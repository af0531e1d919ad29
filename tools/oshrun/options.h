/* The command line of oshrun. */
#ifndef OSHRUN_OPTIONS_H
#define OSHRUN_OPTIONS_H

#include "base/base.h"
#include "machines.h"

#include <stdio.h>

struct hm_program {
    int npes;
    bool counted; /* by -n */
    char **argv; /* NULL-terminated, points into main's argv */
    const char *wdir;
    char **set; /* VAR=VALUE, nset of them */
    int nset;
};

enum { HM_STDIN_NONE = -1, HM_STDIN_ALL = -2 };
enum hm_launcher { HM_LAUNCHER_ANY, HM_LAUNCHER_MPIRUN, HM_LAUNCHER_PRTERUN, HM_LAUNCHER_SRUN };
enum hm_bind { HM_BIND_NONE, HM_BIND_CORE, HM_BIND_THREAD };

struct hm_run {
    struct hm_program *programs;
    int nprograms;
    int npes; /* of all programs */
    bool label, verbose, quiet, check, overload, twin;
    bool help, version; /* asked for: nothing else is to be done */
    enum hm_bind bind;
    int stdin_pe; /* or HM_STDIN_... */
    const char *heap, *output, *machines;
    struct hm_layout layout; /* what `machines`, or the environment, makes of it */
    const char *hosts, *hostfile; /* of another launcher, and what it is told: see handover.h */
    enum hm_launcher launcher;
    char **launcher_args, **exported; /* exported: -x VAR */
    int nlauncher_args, nexported;
    bool grace_given;
    double timeout; /* seconds; 0: none */
    double grace, interrupt_grace; /* before a kill; behind SIGINT interpreters have to say where they were */
};

/* Parses the words behind argv[0]. On an error prints one sentence to `err` and returns -EINVAL; `run` is
 * then empty. hm_run_free frees what a successful parse has allocated. */
int hm_run_parse(struct hm_run *run, int argc, char **argv, FILE *err);
void hm_run_free(struct hm_run *run);
/* A copy that owns all its words. It lives as long as the process. */
struct hm_run hm_run_copy(const struct hm_run *run);
void hm_run_help(FILE *out);

#endif

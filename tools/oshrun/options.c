#define _GNU_SOURCE
#include "options.h"

#include "base/option.h"
#include "boot/job.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
#define OSHRUN_OPTION(id, names, argument, help) OPTION_##id,
#include "options.def"
#undef OSHRUN_OPTION
};

struct option {
    enum option_id id;
    const char *names, *argument, *help;
};

static const struct option options[] = {
#define OSHRUN_OPTION(id, names, argument, help) {OPTION_##id, names, argument, help},
#include "options.def"
#undef OSHRUN_OPTION
};

struct parse {
    struct hm_run *run;
    struct hm_program *program; /* the one whose words are being read */
    char **word, **end;
    bool bare; /* behind "--": a ':' is an ordinary word */
    FILE *err;
};

static int complain(struct parse *p, const char *fmt, ...) HM_PRINTF(2, 3);
static int complain(struct parse *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("oshrun: ", p->err);
    vfprintf(p->err, fmt, args);
    fputs("\n", p->err);
    va_end(args);
    return -EINVAL;
}

/* --- names --- */

/* The next name in a list separated by blanks: its length, 0 at the end. */
static size_t next_name(const char **list)
{
    *list += strspn(*list, " ");
    return strcspn(*list, " ");
}

static const struct option *option_find(const char *word, size_t n)
{
    for (size_t i = 0; i < HM_COUNT(options); i++) {
        const char *name = options[i].names;
        for (size_t k; (k = next_name(&name)); name += k)
            if (k == n && !memcmp(name, word, n)) return &options[i];
    }
    return NULL;
}

/* Letters to insert, drop or exchange to make `a` into `b` (Levenshtein). */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[32];
    if (nb >= HM_COUNT(row) || na >= HM_COUNT(row)) return na + nb;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

static int unknown_option(struct parse *p, const char *word, size_t n)
{
    size_t best = SIZE_MAX, best_length = 0;
    const char *nearest = "";
    for (size_t i = 0; i < HM_COUNT(options); i++) {
        const char *name = options[i].names;
        for (size_t k; (k = next_name(&name)); name += k) {
            size_t d = distance(word, n, name, k);
            if (d >= best) continue;
            best = d;
            nearest = name;
            best_length = k;
        }
    }
    if (best < n && best <= 3)
        return complain(p, "unknown option %.*s; did you mean %.*s? oshrun --help lists all", (int)n, word,
                        (int)best_length, nearest);
    return complain(p, "unknown option %.*s; oshrun --help lists all", (int)n, word);
}

/* --- values --- */

static int parse_count(const char *text, long least, long most, long *value)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return -EINVAL;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || *end || v < least || v > most) return -EINVAL;
    *value = v;
    return 0;
}

static int set_npes(struct parse *p, const char *name, const char *text)
{
    long n;
    if (parse_count(text, 1, HM_JOB_MAX_PES, &n))
        return complain(p, "%s %s: the number of PEs is a whole number from 1 to %d", name, text,
                        HM_JOB_MAX_PES);
    p->program->npes = (int)n;
    p->program->counted = true;
    return 0;
}

static int set_seconds(struct parse *p, const char *name, const char *text, double least, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || v < least || v > 1e9)
        return complain(p, "%s %s: a time is a number of seconds, as in 90 or 0.5", name, text);
    *value = v;
    return 0;
}

static int set_heap(struct parse *p, const char *text)
{
    size_t bytes;
    if (hm_parse_size(text, &bytes))
        return complain(p, "--heap %s: a size is a number with an optional suffix k, m, g or t, as in 512m",
                        text);
    p->run->heap = text;
    return 0;
}

static int set_stdin(struct parse *p, const char *text)
{
    long pe;
    if (!strcmp(text, "all"))
        p->run->stdin_pe = HM_STDIN_ALL;
    else if (!strcmp(text, "none"))
        p->run->stdin_pe = HM_STDIN_NONE;
    else if (parse_count(text, 0, HM_JOB_MAX_PES - 1, &pe))
        return complain(p, "--stdin %s: the number of a PE, all or none", text);
    else
        p->run->stdin_pe = (int)pe;
    return 0;
}

static bool parse_bind(struct hm_run *run, const char *text)
{
    static const char *const kinds[] = {"none", "core", "thread"};
    size_t n = strcspn(text, ":");
    bool overload = !strcmp(text + n, ":overload");
    if (text[n] && !overload) return false;
    for (size_t i = 0; i < HM_COUNT(kinds); i++) {
        if (strlen(kinds[i]) != n || memcmp(kinds[i], text, n)) continue;
        run->bind = (enum hm_bind)i;
        run->overload = overload;
        return true;
    }
    return false;
}

/* The kind may be missing, so the next word is taken only when it is one. */
static int set_bind(struct parse *p, const char *given)
{
    if (given) {
        if (parse_bind(p->run, given)) return 0;
        return complain(p, "--bind=%s: none, core or thread, perhaps with :overload", given);
    }
    if (p->word < p->end && parse_bind(p->run, *p->word))
        p->word++;
    else
        p->run->bind = HM_BIND_CORE;
    return 0;
}

static int add_word(struct parse *p, char ***words, int *n, const char *word)
{
    char **all = realloc(*words, sizeof *all * (size_t)(*n + 1));
    if (!all) return complain(p, "out of memory");
    *words = all;
    all[(*n)++] = (char *)word;
    return 0;
}

static int set_launcher(struct parse *p, const char *text)
{
    static const char *const names[] = {"mpirun", "prterun", "srun"};
    for (size_t i = 0; i < HM_COUNT(names); i++) {
        if (strcmp(text, names[i])) continue;
        p->run->launcher = (enum hm_launcher)(HM_LAUNCHER_MPIRUN + i);
        return 0;
    }
    return complain(p, "--launcher %s: mpirun, prterun or srun", text);
}

/* The environment reaches all PEs of this machine anyway; other launchers want to be told. */
static int add_variable(struct parse *p, const char *text)
{
    const char *equal = strchrnul(text, '=');
    if (equal == text) return complain(p, "-x %s: the name of a variable is missing", text);
    if (!*equal) {
        if (getenv(text)) return add_word(p, &p->run->exported, &p->run->nexported, text);
        return complain(p, "-x %s: there is no such variable in the environment; give -x %s=VALUE", text,
                        text);
    }
    return add_word(p, &p->program->set, &p->program->nset, text);
}

static int apply_value(struct parse *p, enum option_id id, const char *name, const char *value)
{
    switch (id) {
    case OPTION_NPES:
        return set_npes(p, name, value);
    case OPTION_EXPORT:
        return add_variable(p, value);
    case OPTION_HEAP:
        return set_heap(p, value);
    case OPTION_TIMEOUT:
        return set_seconds(p, name, value, 1e-3, &p->run->timeout);
    case OPTION_GRACE:
        if (set_seconds(p, name, value, 0, &p->run->grace)) return -EINVAL;
        p->run->interrupt_grace = p->run->grace;
        p->run->grace_given = true;
        return 0;
    case OPTION_WDIR:
        p->program->wdir = value;
        return 0;
    case OPTION_HOSTS:
        p->run->hosts = value;
        return 0;
    case OPTION_HOSTFILE:
        p->run->hostfile = value;
        return 0;
    case OPTION_LAUNCHER:
        return set_launcher(p, value);
    case OPTION_LAUNCHER_ARG:
        return add_word(p, &p->run->launcher_args, &p->run->nlauncher_args, value);
    case OPTION_MACHINES:
        p->run->machines = value;
        return 0;
    case OPTION_OUTPUT:
        p->run->output = value;
        return 0;
    case OPTION_STDIN:
        return set_stdin(p, value);
    default:
        return complain(p, "%s: not an option with a value", name);
    }
}

static void apply_switch(struct parse *p, enum option_id id)
{
    switch (id) {
    case OPTION_LABEL:
        p->run->label = true;
        break;
    case OPTION_CHECK:
        p->run->check = true;
        break;
    case OPTION_TWIN:
        p->run->twin = true;
        break;
    case OPTION_VERBOSE:
        p->run->verbose = true;
        break;
    case OPTION_QUIET:
        p->run->quiet = true;
        break;
    case OPTION_HELP:
        p->run->help = true;
        break;
    case OPTION_VERSION:
        p->run->version = true;
        break;
    default:
        break;
    }
}

/* --- words --- */

static int parse_option(struct parse *p)
{
    char *word = *p->word++;
    size_t n = strcspn(word, "=");
    char *value = word[n] ? word + n + 1 : NULL;
    const struct option *o = option_find(word, n);
    if (!o && word[1] == 'n' && isdigit((unsigned char)word[2])) { /* -n8 */
        o = option_find("-n", n = 2);
        value = word + 2;
    }
    if (!o) return unknown_option(p, word, n);
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (o->id == OPTION_BIND) return set_bind(p, value);
    if (!o->argument) {
        if (value) return complain(p, "%s takes no value", name);
        apply_switch(p, o->id);
        return 0;
    }
    if (!value) {
        if (p->word == p->end) return complain(p, "%s needs a value: %s %s", name, name, o->argument);
        value = *p->word++;
    }
    return apply_value(p, o->id, name, value);
}

static int program_new(struct parse *p)
{
    struct hm_run *run = p->run;
    struct hm_program *all = realloc(run->programs, sizeof *all * (size_t)(run->nprograms + 1));
    if (!all) return complain(p, "out of memory");
    run->programs = all;
    p->program = &all[run->nprograms++];
    *p->program = (struct hm_program){.npes = 1};
    p->bare = false;
    return 0;
}

/* The program and its arguments: up to the next ':' or the end. */
static int parse_command(struct parse *p)
{
    char **from = p->word;
    while (p->word < p->end && (p->bare || strcmp(*p->word, ":")))
        p->word++;
    size_t n = (size_t)(p->word - from);
    if (n == 0) {
        bool beside = p->run->nprograms > 1 || p->word < p->end;
        return complain(p, "%s: oshrun [OPTIONS] PROGRAM [ARGUMENTS]; oshrun --help says more",
                        beside ? "a program is missing beside ':'" : "the program is missing");
    }
    if (!**from) return complain(p, "the name of the program is empty");
    p->program->argv = malloc(sizeof *from * (n + 1));
    if (!p->program->argv) return complain(p, "out of memory");
    memcpy(p->program->argv, from, sizeof *from * n);
    p->program->argv[n] = NULL;
    p->run->npes += p->program->npes;
    return 0;
}

static int parse_program(struct parse *p)
{
    int rc = program_new(p);
    while (!rc && p->word < p->end && **p->word == '-' && (*p->word)[1]) {
        if (!strcmp(*p->word, "--")) {
            p->word++;
            p->bare = true;
            break;
        }
        rc = parse_option(p);
        if (!rc && (p->run->help || p->run->version)) return 0;
    }
    return rc ? rc : parse_command(p);
}

/* Without a word about machines there is one. The environment is for many jobs: it need not fit each of them. */
static int make_layout(struct parse *p)
{
    char why[256];
    struct hm_run *run = p->run;
    const char *given = run->machines, *spec = given ? given : getenv("SHMEM_MACHINES");
    if (!spec || (!given && !*spec)) return 0;
    int rc = hm_layout_parse(&run->layout, spec, run->npes, !given, why, sizeof why);
    if (rc == -ENOMEM) return complain(p, "out of memory");
    return rc ? complain(p, "%s%s: %s", given ? "--machines " : "SHMEM_MACHINES=", spec, why) : 0;
}

static int check_hosts(struct parse *p)
{
    const struct hm_run *run = p->run;
    if (run->hosts && run->hostfile) return complain(p, "--hosts and --hostfile: give one of them");
    if (run->hosts || run->hostfile) return 0;
    if (run->launcher || run->nlauncher_args)
        return complain(p, "%s is for jobs on several hosts: it needs --hosts or --hostfile",
                        run->launcher ? "--launcher" : "--launcher-arg");
    return 0;
}

static int check_whole(struct parse *p)
{
    struct hm_run *run = p->run;
    if (check_hosts(p)) return -EINVAL;
    if (run->npes > HM_JOB_MAX_PES)
        return complain(p, "%d PEs are too many: at most %d", run->npes, HM_JOB_MAX_PES);
    if (run->hosts || run->hostfile) return 0; /* how many PEs there are is not known yet */
    if (run->stdin_pe >= run->npes)
        return complain(p, "--stdin %d: there is no such PE, they are numbered 0 to %d", run->stdin_pe,
                        run->npes - 1);
    return make_layout(p);
}

int hm_run_parse(struct hm_run *run, int argc, char **argv, FILE *err)
{
    *run = (struct hm_run){.grace = 0.5, .interrupt_grace = 2, .layout.machines = 1};
    struct parse p = {.run = run, .word = argv + (argc > 0), .end = argv + argc, .err = err};
    int rc = parse_program(&p);
    while (!rc && p.word < p.end && !run->help && !run->version) {
        p.word++; /* ':' */
        rc = parse_program(&p);
    }
    if (!rc && !run->help && !run->version) rc = check_whole(&p);
    if (rc) hm_run_free(run);
    return rc;
}

void hm_run_free(struct hm_run *run)
{
    for (int i = 0; i < run->nprograms; i++) {
        free(run->programs[i].argv);
        free(run->programs[i].set);
    }
    free(run->programs);
    free(run->launcher_args);
    free(run->exported);
    hm_layout_free(&run->layout);
    *run = (struct hm_run){0};
}

static char *copy_word(const char *word)
{
    char *copy = word ? strdup(word) : NULL;
    if (word && !copy) abort();
    return copy;
}

static char **copy_words(char *const *words, int n)
{
    char **copy = malloc(sizeof *copy * (size_t)(n + 1));
    if (!copy) abort();
    for (int i = 0; i < n; i++)
        copy[i] = copy_word(words[i]);
    copy[n] = NULL;
    return copy;
}

static int *copy_numbers(const int *numbers, int n)
{
    int *copy = numbers ? malloc(sizeof *copy * (size_t)n) : NULL;
    if (!numbers) return NULL;
    if (!copy) abort();
    memcpy(copy, numbers, sizeof *copy * (size_t)n);
    return copy;
}

struct hm_run hm_run_copy(const struct hm_run *run)
{
    struct hm_run copy = *run;
    copy.layout.machine_of = copy_numbers(run->layout.machine_of, run->npes);
    copy.heap = copy_word(run->heap);
    copy.output = copy_word(run->output);
    copy.machines = copy_word(run->machines);
    copy.launcher_args = copy_words(run->launcher_args, run->nlauncher_args);
    copy.exported = copy_words(run->exported, run->nexported);
    copy.programs = malloc(sizeof *copy.programs * (size_t)run->nprograms);
    if (!copy.programs) abort();
    for (int i = 0; i < run->nprograms; i++) {
        const struct hm_program *from = &run->programs[i];
        int argc = 0;
        while (from->argv[argc])
            argc++;
        copy.programs[i] = (struct hm_program){.npes = from->npes,
                                               .argv = copy_words(from->argv, argc),
                                               .wdir = copy_word(from->wdir),
                                               .set = copy_words(from->set, from->nset),
                                               .nset = from->nset};
    }
    return copy;
}

/* --- help --- */

/* Prints `text` in lines of at most 78 columns, each indented by `indent`; the cursor stands at `column`. */
static void print_wrapped(FILE *out, const char *text, int indent, int column)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > 78) {
            fputs("\n", out);
            column = 0;
        } else if (column > indent) {
            fputs(" ", out);
            column++;
        }
        if (column < indent) fprintf(out, "%*s", indent - column, "");
        if (column < indent) column = indent;
        fprintf(out, "%.*s", n, text);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    fputs("\n", out);
}

static void print_option(FILE *out, const struct option *o)
{
    char head[128];
    const char *list = o->names;
    size_t k = next_name(&list);
    int at = snprintf(head, sizeof head, "  %.*s", (int)k, list);
    list += k;
    k = next_name(&list);
    if (k) at += snprintf(head + at, sizeof head - (size_t)at, ", %.*s", (int)k, list);
    if (o->argument) at += snprintf(head + at, sizeof head - (size_t)at, " %s", o->argument);
    fputs(head, out);
    if (at > 22) {
        fputs("\n", out);
        at = 0;
    }
    print_wrapped(out, o->help, 24, at);
}

void hm_run_help(FILE *out)
{
    fputs("Usage: oshrun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n"
          "Runs an OpenSHMEM program as a job of several processing elements (PEs) on this\n"
          "machine. PROGRAM is anything that can be executed: a program, a script, an\n"
          "interpreter, a debugger.\n\nOptions:\n",
          out);
    for (size_t i = 0; i < HM_COUNT(options); i++)
        print_option(out, &options[i]);
    fputs("  --                    ends the options; behind it ':' is an ordinary argument\n"
          "  :                     another program of the same job, with its own -n, -x and\n"
          "                        --wdir; PEs are numbered through from left to right\n"
          "\n"
          "Each PE finds in its environment SHMEM_PE, SHMEM_NPES, SHMEM_LOCAL_PE and\n"
          "SHMEM_LOCAL_NPES, before it has called anything. In a build tree the Python\n"
          "package that was built there is in front of PYTHONPATH.\n"
          "\n"
          "With --hosts or --hostfile another launcher runs the job, and output, signals and\n"
          "exit status are its affair. The variables SHMEM_*, UCX_*, LD_LIBRARY_PATH and\n"
          "PYTHONPATH reach all hosts, others by -x. Hosts without a COUNT take one PE each,\n"
          "or share the PEs of -n; without -n there are as many PEs as the hosts have room for.\n"
          "\n"
          "Output: on a terminal each PE writes to a terminal; elsewhere the lines of\n"
          "different PEs are never mixed, and a line that stays unfinished is passed on\n"
          "after 100 ms.\n"
          "\n"
          "Signals: SIGINT (Ctrl-C), SIGTERM and SIGHUP are passed on, and what still runs\n"
          "after --grace is killed; a second one kills at once. SIGUSR1, SIGUSR2 and SIGWINCH\n"
          "are passed on. SIGTSTP (Ctrl-Z) stops the job, fg continues it. SIGQUIT (Ctrl-\\)\n"
          "prints what each PE waits for, and the job goes on. A job of one PE on a terminal\n"
          "decides itself what Ctrl-C means; three within a second kill it.\n"
          "\n"
          "Exit status: 0 when all PEs ended with 0; that of the first PE that failed; 128\n"
          "plus the signal for a PE or a job that a signal ended; 124 after --timeout; 127 or\n"
          "126 for a program that was not found or could not be executed; 2 for an error on\n"
          "the command line.\n",
          out);
}

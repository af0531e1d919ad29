#define _GNU_SOURCE
#include "handover.h"

#include "boot/job.h"
#include "guard.h"
#include "hosts.h"

#include "base/os.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct launcher {
    enum hm_launcher kind;
    const char *name;
    bool prte; /* PRRTE reads the command line: prterun, and the mpirun of Open MPI 5 */
};

/* The command line that is put together. */
struct command {
    const struct hm_run *run;
    const struct hm_hosts *hosts;
    const struct launcher *launcher;
    int npes;
    char **word; /* NULL-terminated */
    size_t n;
};

/* --- words --- */

static void *must_have(void *p)
{
    if (p) return p;
    fputs("oshrun: out of memory\n", stderr);
    exit(1);
}

static void add(struct command *c, const char *fmt, ...) HM_PRINTF(2, 3);
static void add(struct command *c, const char *fmt, ...)
{
    va_list args;
    char *word;
    va_start(args, fmt);
    if (vasprintf(&word, fmt, args) < 0) word = NULL;
    va_end(args);
    c->word = must_have(realloc(c->word, sizeof *c->word * (c->n + 2)));
    c->word[c->n++] = must_have(word);
    c->word[c->n] = NULL;
}

static void add_pair(struct command *c, const char *option, const char *value)
{
    add(c, "%s", option);
    add(c, "%s", value);
}

/* Has the user said this himself? */
static bool is_given(const struct command *c, const char *option)
{
    size_t n = strlen(option);
    for (int i = 0; i < c->run->nlauncher_args; i++) {
        const char *arg = c->run->launcher_args[i];
        if (!strncmp(arg, option, n) && (!arg[n] || arg[n] == '=')) return true;
    }
    return false;
}

static int refuse(const struct launcher *l, const char *what)
{
    fprintf(stderr, "oshrun: %s cannot be handed over to %s\n", what, l->name);
    return -EINVAL;
}

/* --- which launcher --- */

static bool in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    for (const char *at = path ? path : "/usr/bin:/bin"; at; at = *at ? at + 1 : NULL) {
        size_t n = strcspn(at, ":");
        int k = snprintf(file, sizeof file, "%.*s%s%s", (int)n, at, n ? "/" : "./", name);
        if (k < (int)sizeof file && access(file, X_OK) == 0) return true;
        at += n;
    }
    return false;
}

/* What it prints with this one argument, on both streams. */
static void ask(const char *name, const char *argument, char *text, size_t size)
{
    int fds[2];
    size_t n = 0;
    *text = 0;
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(fds[1], 1);
        dup2(fds[1], 2);
        execlp(name, name, argument, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    for (ssize_t k; pid > 0 && (k = read(fds[0], text + n, size - 1 - n)) > 0;)
        n += (size_t)k;
    text[n] = 0;
    close(fds[0]);
    if (pid > 0) waitpid(pid, NULL, 0);
}

static bool find_mpirun(struct launcher *l)
{
    static const char *const names[] = {"mpirun", "mpirun.openmpi", "orterun"};
    for (size_t i = 0; i < HM_COUNT(names); i++) {
        char text[2048];
        if (!in_path(names[i])) continue;
        ask(names[i], "--version", text, sizeof text);
        const char *version = strstr(text, "Open MPI) ");
        if (!version && !strstr(text, "PRRTE")) continue;
        *l = (struct launcher){HM_LAUNCHER_MPIRUN, names[i],
                               !version || atoi(version + strlen("Open MPI) ")) >= 5};
        return true;
    }
    return false;
}

static bool find_prterun(struct launcher *l)
{
    *l = (struct launcher){HM_LAUNCHER_PRTERUN, "prterun", true};
    return in_path(l->name);
}

static bool find_srun(struct launcher *l)
{
    char text[2048];
    *l = (struct launcher){HM_LAUNCHER_SRUN, "srun", false};
    if (!in_path(l->name)) return false;
    ask(l->name, "--mpi=list", text, sizeof text);
    return strstr(text, "pmix") != NULL;
}

static bool find(enum hm_launcher kind, struct launcher *l)
{
    switch (kind) {
    case HM_LAUNCHER_SRUN:
        return find_srun(l);
    case HM_LAUNCHER_PRTERUN:
        return find_prterun(l);
    default:
        return find_mpirun(l);
    }
}

static int say_none(const struct hm_run *run)
{
    static const char *const wanted[] = {
        [HM_LAUNCHER_ANY] =
            "there is no prterun and no mpirun of Open MPI in PATH, and no allocation of Slurm to use srun in",
        [HM_LAUNCHER_MPIRUN] = "there is no mpirun of Open MPI in PATH",
        [HM_LAUNCHER_PRTERUN] = "there is no prterun in PATH",
        [HM_LAUNCHER_SRUN] = "there is no srun with PMIx (srun --mpi=list) in PATH",
    };
    fprintf(stderr, "oshrun: %s: %s%s; a job on several hosts needs one of them (Debian: openmpi-bin)\n",
            run->hosts ? "--hosts" : "--hostfile", wanted[run->launcher],
            in_path("mpirun") && run->launcher <= HM_LAUNCHER_MPIRUN ? " (the mpirun there is another)" : "");
    return -ENOENT;
}

/* In an allocation of Slurm srun is at home; elsewhere it would first have to ask for one. */
static int choose(const struct hm_run *run, struct launcher *l)
{
    bool found = run->launcher != HM_LAUNCHER_ANY
                     ? find(run->launcher, l)
                     : (getenv("SLURM_JOB_ID") && find_srun(l)) || find_prterun(l) || find_mpirun(l);
    return found ? 0 : say_none(run);
}

/* --- the environment --- */

/* What this process may have of a job it was started in. */
static void forget_outer_job(void)
{
    static const char *const names[] = {HM_LAUNCH_VAR,    "SHMEM_PE",         "SHMEM_NPES",
                                        "SHMEM_LOCAL_PE", "SHMEM_LOCAL_NPES", "SHMEM_MACHINES"};
    for (size_t i = 0; i < HM_COUNT(names); i++)
        unsetenv(names[i]);
}

/* What the library and the transport read, and what finds the library. */
static bool is_ours(const char *variable)
{
    static const char *const starts[] = {"SHMEM_", "SMA_", "UCX_", "HBMESH_TWIN", "LD_LIBRARY_PATH", "PYTHONPATH"};
    for (size_t i = 0; i < HM_COUNT(starts); i++)
        if (!strncmp(variable, starts[i], strlen(starts[i]))) return true;
    return false;
}

static void set_environment(const struct hm_run *run)
{
    forget_outer_job();
    hm_python_path();
    if (run->heap) setenv("SHMEM_SYMMETRIC_SIZE", run->heap, 1);
    if (run->check) setenv("SHMEM_CHECK", "1", 1);
    hm_twin_set();
    if (run->verbose) setenv("SHMEM_PATHS", "on", 0);
}

/* Passes on a variable of the environment, unless the program gets another value. */
static void add_variable(struct command *c, const struct hm_program *program, const char *variable)
{
    size_t n = strcspn(variable, "=");
    for (int i = 0; i < program->nset; i++)
        if (!strncmp(program->set[i], variable, n) && program->set[i][n] == '=') return;
    add(c, "-x");
    add(c, "%.*s", (int)n, variable);
}

/* Launchers of this kind pass on what they are told to. */
static void add_environment(struct command *c, const struct hm_program *program)
{
    for (char **v = environ; *v; v++)
        if (is_ours(*v)) add_variable(c, program, *v);
    for (int i = 0; i < c->run->nexported; i++)
        if (!is_ours(c->run->exported[i])) add_variable(c, program, c->run->exported[i]);
    for (int i = 0; i < program->nset; i++)
        add_pair(c, "-x", program->set[i]);
}

/* --- mpirun and prterun --- */

static void add_stdin(struct command *c, const char *option)
{
    int pe = c->run->stdin_pe;
    if (pe == HM_STDIN_ALL)
        add(c, "%sall", option);
    else if (pe == HM_STDIN_NONE)
        add(c, "%snone", option);
    else
        add(c, "%s%d", option, pe);
}

static void add_hosts(struct command *c)
{
    char *list = NULL;
    size_t size;
    FILE *f = must_have(open_memstream(&list, &size));
    for (int i = 0; i < c->hosts->n; i++)
        fprintf(f, "%s%s:%d", i ? "," : "", c->hosts->host[i].name, c->hosts->host[i].slots);
    fclose(f);
    add_pair(c, "--host", must_have(list));
    free(list);
}

static void add_mpirun_options(struct command *c)
{
    static const char *const bind[] = {"none", "core", "hwthread"};
    const struct hm_run *run = c->run;
    add_hosts(c);
    if (!is_given(c, "--map-by")) add_pair(c, "--map-by", "slot"); /* PEs of a host are neighbours */
    if (!is_given(c, "--bind-to")) {
        add(c, "--bind-to");
        add(c, "%s%s", bind[run->bind], run->overload ? ":overload-allowed" : "");
    }
    if (run->label && c->launcher->prte) add_pair(c, "--output", "tag");
    if (run->label && !c->launcher->prte) add(c, "--tag-output");
    if (run->timeout > 0) {
        add(c, "--timeout");
        add(c, "%.0f", ceil(run->timeout));
    }
    if (run->stdin_pe != 0) {
        add(c, "--stdin");
        add_stdin(c, "");
    }
}

static int add_mpirun_program(struct command *c, const struct hm_program *program, int npes)
{
    add(c, "-n");
    add(c, "%d", npes);
    add_environment(c, program);
    if (program->wdir) add_pair(c, "--wdir", program->wdir);
    for (char **word = program->argv; *word; word++) {
        if (!strcmp(*word, ":")) return refuse(c->launcher, "an argument ':' of the program");
        add(c, "%s", *word);
    }
    return 0;
}

static int make_mpirun(struct command *c)
{
    const struct hm_run *run = c->run;
    int rc = 0;
    add_mpirun_options(c);
    for (int i = 0; !rc && i < run->nprograms; i++) {
        if (i) add(c, ":");
        rc = add_mpirun_program(c, &run->programs[i], run->nprograms > 1 ? run->programs[i].npes : c->npes);
    }
    return rc;
}

/* --- srun --- */

static bool hosts_are_even(const struct hm_hosts *hosts)
{
    for (int i = 1; i < hosts->n; i++)
        if (hosts->host[i].slots != hosts->host[0].slots) return false;
    return true;
}

/* srun reads uneven numbers from a file, one host a line for each PE; ours lasts as long as the process. */
static int add_uneven_hosts(struct command *c)
{
    char path[64];
    int fd = hm_os_memfd("hbmesh-hosts", 0);
    if (fd < 0) return refuse(c->launcher, "hosts with different numbers of PEs");
    for (int i = 0; i < c->hosts->n; i++)
        for (int k = 0; k < c->hosts->host[i].slots; k++)
            dprintf(fd, "%s\n", c->hosts->host[i].name);
    lseek(fd, 0, SEEK_SET);
    fcntl(fd, F_SETFD, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    setenv("SLURM_HOSTFILE", path, 1);
    add(c, "--distribution=arbitrary");
    return 0;
}

static int add_srun_hosts(struct command *c)
{
    const struct hm_hosts *hosts = c->hosts;
    add(c, "--ntasks=%d", c->npes);
    if (!hosts_are_even(hosts)) return add_uneven_hosts(c);
    char *list = NULL;
    size_t size;
    FILE *f = must_have(open_memstream(&list, &size));
    for (int i = 0; i < hosts->n; i++)
        fprintf(f, "%s%s", i ? "," : "", hosts->host[i].name);
    fclose(f);
    add(c, "--nodes=%d", hosts->n);
    add(c, "--ntasks-per-node=%d", hosts->host[0].slots);
    add(c, "--nodelist=%s", list);
    free(list);
    return 0;
}

static int make_srun(struct command *c)
{
    static const char *const bind[] = {"none", "cores", "threads"};
    const struct hm_run *run = c->run;
    if (run->nprograms > 1) return refuse(c->launcher, "a job of several programs (':')");
    if (run->timeout > 0) return refuse(c->launcher, "--timeout");
    if (run->overload) return refuse(c->launcher, "--bind :overload");
    const struct hm_program *program = &run->programs[0];
    if (!is_given(c, "--mpi")) add(c, "--mpi=pmix");
    if (add_srun_hosts(c)) return -EINVAL;
    add(c, "--export=ALL");
    for (int i = 0; i < program->nset; i++)
        putenv(program->set[i]);
    if (!is_given(c, "--cpu-bind")) add(c, "--cpu-bind=%s", bind[run->bind]);
    if (run->label) add(c, "--label");
    add_stdin(c, "--input=");
    if (program->wdir) add(c, "--chdir=%s", program->wdir);
    for (char **word = program->argv; *word; word++)
        add(c, "%s", *word);
    return 0;
}

/* --- all --- */

/* As a shell would read it back. */
static void print_word(FILE *out, const char *word)
{
    static const char plain[] = "%+,-./:=@_";
    const char *at = word;
    while (isalnum((unsigned char)*at) || (*at && strchr(plain, *at)))
        at++;
    if (*word && !*at) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (at = word; *at; at++)
        if (*at == '\'')
            fputs("'\\''", out);
        else
            fputc(*at, out);
    fputc('\'', out);
}

static void announce(const struct command *c)
{
    fprintf(stderr, "oshrun: hosts given: handing over to %s:", c->launcher->name);
    for (size_t i = 0; i < c->n; i++)
        print_word(stderr, c->word[i]);
    fputc('\n', stderr);
}

static int check(const struct hm_run *run, const struct launcher *l, int npes)
{
    if (run->output) return refuse(l, "--output");
    if (run->grace_given) return refuse(l, "--grace");
    if (run->machines) return refuse(l, "--machines");
    if (run->stdin_pe < npes) return 0;
    fprintf(stderr, "oshrun: --stdin %d: there is no such PE, they are numbered 0 to %d\n", run->stdin_pe,
            npes - 1);
    return -EINVAL;
}

/* One program without -n takes all slots there are. */
static int wanted_npes(const struct hm_run *run)
{
    return run->nprograms > 1 || run->programs[0].counted ? run->npes : 0;
}

static int make(struct command *c)
{
    add(c, "%s", c->launcher->name);
    for (int i = 0; i < c->run->nlauncher_args; i++)
        add(c, "%s", c->run->launcher_args[i]);
    return c->launcher->kind == HM_LAUNCHER_SRUN ? make_srun(c) : make_mpirun(c);
}

int hm_handover(struct hm_run *run)
{
    struct hm_hosts hosts;
    struct launcher launcher;
    struct command c = {.run = run, .hosts = &hosts, .launcher = &launcher};
    if (hm_hosts_read(&hosts, run, stderr)) return 2;
    c.npes = hm_hosts_divide(&hosts, wanted_npes(run), stderr);
    if (c.npes < 0) return 2;
    int rc = choose(run, &launcher);
    if (rc) return rc == -ENOENT ? 127 : 2;
    set_environment(run);
    if (check(run, &launcher, c.npes) || make(&c)) return 2;
    if (!run->quiet) announce(&c);
    execvp(c.word[0], c.word);
    fprintf(stderr, "oshrun: cannot run %s: %s\n", c.word[0], strerror(errno));
    return 126;
}

/* Reads the data file. ../data/README.md describes the format; whatever breaks it ends in a sentence. */
#define _GNU_SOURCE /* pipe2 */
#include "graph.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAGIC "hbmesh-graph 1 "
#define MAX_BYTES ((size_t)1 << 30)

extern char **environ;

/* ---- bytes ---- */

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "graph: %s: %s\n", path, why);
    return -1;
}

/* Everything that fd gives, as a string. */
static int read_all(int fd, const char *path, char **text, size_t *size)
{
    size_t room = 1 << 20, used = 0;
    char *buffer = malloc(room);
    ssize_t got = 0;

    while (buffer && (got = read(fd, buffer + used, room - used - 1)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        used += (size_t)got;
        if (used >= MAX_BYTES) break;
        if (used + 1 < room) continue;
        char *more = realloc(buffer, room *= 2);
        if (!more) free(buffer);
        buffer = more;
    }
    if (!buffer) return fail(path, "too little memory to read it");
    if (got != 0) {
        free(buffer);
        return fail(path,
                    got < 0 ? strerror(errno) : "over 1 GiB of text cannot be a graph for this program");
    }
    buffer[used] = '\0';
    *text = buffer;
    *size = used;
    return 0;
}

/* gzip is on every Debian, so the program needs no library for it. Without a shell between, any path will do.
 */
static int spawn_gzip(const char *path, int out, pid_t *pid)
{
    char *argv[] = {"gzip", "-dc", "--", (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc) return rc;
    rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!rc) rc = posix_spawnp(pid, "gzip", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int read_gzip(const char *path, char **text, size_t *size)
{
    int pipe_fd[2], status;
    pid_t pid;

    if (pipe2(pipe_fd, O_CLOEXEC)) return fail(path, strerror(errno));
    int rc = spawn_gzip(path, pipe_fd[1], &pid);
    close(pipe_fd[1]);
    if (rc) {
        close(pipe_fd[0]);
        return fail(path, "cannot run gzip to unpack it; install gzip, or unpack the file and name that one");
    }
    rc = read_all(pipe_fd[0], path, text, size);
    close(pipe_fd[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!rc && status != 0) {
        free(*text);
        return fail(path, "gzip could not unpack it; the file is damaged or cut short");
    }
    return rc;
}

static int read_file(const char *path, char **text, size_t *size)
{
    unsigned char magic[2] = {0, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) return fail(path, strerror(errno));
    if (pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
        close(fd);
        return read_gzip(path, text, size);
    }
    int rc = read_all(fd, path, text, size);
    close(fd);
    return rc;
}

/* ---- lines ---- */

struct reader {
    const char *path;
    char *at; /* the next line */
    size_t size;
    long line;
};

static int fail_line(const struct reader *r, const char *why)
{
    fprintf(stderr, "graph: %s, line %ld: %s\n", r->path, r->line, why);
    return -1;
}

/* The next line without its newline, or NULL after a sentence: every line of a whole file ends in one. */
static char *next_line(struct reader *r)
{
    char *line = r->at, *end = strchr(line, '\n');

    r->line++;
    if (!end) {
        fail_line(r, "the file ends too early; make it anew with examples/data/make-graph.py");
        return NULL;
    }
    *end = '\0';
    r->at = end + 1;
    return line;
}

/* A decimal number within low and high at *at, with what follows it a space or the end of the line. */
static bool number(char **at, long low, long high, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(*at, &end, 10);
    if (end == *at || errno || (*end != ' ' && *end != '\0') || *value < low || *value > high) return false;
    *at = end;
    return true;
}

static int read_header(struct reader *r, struct graph *g)
{
    long nodes, links, labels;

    if (strncmp(r->at, MAGIC, strlen(MAGIC)) != 0) {
        r->line = 1;
        return fail_line(r, "this is no package graph: it does not begin with \"" MAGIC "\"");
    }
    char *line = next_line(r);
    if (!line) return -1;
    line += strlen(MAGIC);
    if (!number(&line, 1, INT_MAX / 2, &nodes) || !number(&line, 0, INT_MAX / 2, &links) ||
        !number(&line, 1, 1024, &labels) || *line != ' ')
        return fail_line(r,
                         "the header should give the numbers of packages, links and sections, and the order");
    /* A line for each package, two bytes for each link: so a wrong number cannot make us ask for the moon. */
    if ((size_t)nodes > r->size / 2 || (size_t)links > r->size / 2)
        return fail_line(r, "the header promises more packages or links than the file has room for");
    g->order = line + 1;
    g->nodes = (int)nodes;
    g->labels = (int)labels;
    g->links = links;
    return 0;
}

/* "name section delta delta ...": a delta is the number of the other package less the number of this one. */
static int read_package(struct reader *r, struct graph *g, int v, int32_t *link, int64_t *used)
{
    char *at = next_line(r);
    long value;

    if (!at) return -1;
    g->name[v] = at;
    at = strchr(at, ' ');
    if (!at || at == g->name[v]) return fail_line(r, "a package needs a name and the number of its section");
    *at++ = '\0';
    if (!number(&at, 0, g->labels - 1, &value))
        return fail_line(r, "the number of the section is out of range");
    g->label[v] = (int32_t)value;
    while (*at) {
        if (!number(&at, -v, g->nodes - 1 - v, &value) || value == 0)
            return fail_line(r, "a link leads to no other package of this file");
        if (*used == g->links) return fail_line(r, "more links than the header promises");
        link[2 * *used] = v;
        link[2 * *used + 1] = v + (int32_t)value;
        ++*used;
    }
    return 0;
}

static int read_body(struct reader *r, struct graph *g, int32_t *link)
{
    int64_t used = 0;

    for (int i = 0; i < g->labels; i++)
        if (!(g->label_name[i] = next_line(r))) return -1;
    for (int v = 0; v < g->nodes; v++)
        if (read_package(r, g, v, link, &used)) return -1;
    if (used != g->links) return fail_line(r, "fewer links than the header promises");
    char *last = next_line(r);
    if (!last) return -1;
    if (strcmp(last, "end") != 0 || *r->at) return fail_line(r, "the last line should be \"end\"");
    return 0;
}

/* ---- neighbours ---- */

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* Sorts each list of neighbours and closes the gaps that repetitions leave. */
static void tidy(struct graph *g)
{
    int64_t kept = 0, begin = 0;

    for (int v = 0; v < g->nodes; v++) {
        int64_t end = g->first[v + 1], start = kept;
        qsort(g->target + begin, (size_t)(end - begin), sizeof(int32_t), compare);
        for (int64_t e = begin; e < end; e++)
            if (kept == start || g->target[kept - 1] != g->target[e]) g->target[kept++] = g->target[e];
        begin = end;
        g->first[v + 1] = kept;
    }
}

/* Each link is entered at both of its ends, by counting. */
static void link_both_ways(struct graph *g, const int32_t *link)
{
    int64_t ends = 2 * g->links;

    for (int64_t i = 0; i < ends; i++)
        g->first[link[i] + 1]++;
    for (int v = 0; v < g->nodes; v++)
        g->first[v + 1] += g->first[v];
    for (int64_t i = ends - 1; i >= 0; i--)
        g->target[--g->first[link[i] + 1]] = link[i ^ 1];
    /* Now first[v + 1] is where the list of v begins; shift back so that first[v] is. */
    for (int v = 0; v < g->nodes; v++)
        g->first[v] = g->first[v + 1];
    g->first[g->nodes] = ends;
    tidy(g);
}

/* ---- the whole ---- */

static int build(struct reader *r, struct graph *g)
{
    size_t nodes = (size_t)g->nodes, ends = 2 * (size_t)g->links;
    int32_t *link = malloc((ends + 1) * sizeof(*link));
    int rc = -1;

    g->name = calloc(nodes, sizeof(*g->name));
    g->label_name = calloc((size_t)g->labels, sizeof(*g->label_name));
    g->label = calloc(nodes, sizeof(*g->label));
    g->first = calloc(nodes + 1, sizeof(*g->first));
    g->target = malloc((ends + 1) * sizeof(*g->target));
    if (!link || !g->name || !g->label_name || !g->label || !g->first || !g->target)
        fail(r->path, "too little memory for this graph");
    else
        rc = read_body(r, g, link);
    if (!rc) link_both_ways(g, link);
    free(link);
    return rc;
}

int graph_load(struct graph *g, const char *path)
{
    struct reader r = {.path = path};

    memset(g, 0, sizeof(*g));
    if (read_file(path, &g->text, &r.size)) {
        g->text = NULL;
        return -1;
    }
    r.at = g->text;
    if (read_header(&r, g) || build(&r, g)) {
        graph_free(g);
        return -1;
    }
    return 0;
}

void graph_free(struct graph *g)
{
    free(g->name);
    free(g->label_name);
    free(g->label);
    free(g->first);
    free(g->target);
    free(g->text);
    memset(g, 0, sizeof(*g));
}

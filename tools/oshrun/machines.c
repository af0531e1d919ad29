#include "machines.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLIC "cyclic:"
#define LIST "list:"

struct request {
    const char *spec;
    int npes;
    bool shrink;
    char *why;
    size_t size;
};

static int refuse(const struct request *r, const char *fmt, ...) HM_PRINTF(2, 3);
static int refuse(const struct request *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, r->size, fmt, args);
    va_end(args);
    return -EINVAL;
}

static int refuse_grammar(const struct request *r)
{
    return refuse(r, "a number of machines, as in 2, their sizes, as in 3+1, cyclic:2, or list:0,1,0");
}

/* A whole number, at least 1, and where it ends. -EINVAL: it is none. What is too large becomes INT_MAX. */
static int read_number(const char **at)
{
    char *end;
    if (!isdigit((unsigned char)**at)) return -EINVAL;
    unsigned long v = strtoul(*at, &end, 10);
    *at = end;
    if (v == 0) return -EINVAL;
    return v < INT_MAX ? (int)v : INT_MAX;
}

static int count_machines(const struct request *r, const char *at)
{
    int n = read_number(&at);
    if (n < 0 || *at) return refuse_grammar(r);
    if (n <= r->npes) return n;
    if (r->shrink) return r->npes;
    return refuse(r, "there are only %d PEs, and a machine has at least one", r->npes);
}

/* The sizes must use up the PEs, no more and no less. */
static int place_sizes(const struct request *r, struct hm_layout *layout)
{
    long sum = 0;
    for (const char *at = r->spec;; at++) {
        int n = read_number(&at);
        if (n < 0 || (*at && *at != '+')) return refuse_grammar(r);
        for (int i = 0; i < n && sum + i < r->npes; i++)
            layout->machine_of[sum + i] = layout->machines;
        sum += n;
        layout->machines++;
        if (!*at) break;
    }
    if (sum == r->npes) return 0;
    return refuse(r, "these machines have %ld PEs together, and the job has %d", sum, r->npes);
}

/* The machine of each PE, the first one's first. */
static int place_list(const struct request *r, const char *at, struct hm_layout *layout)
{
    for (int pe = 0; pe < r->npes; pe++, at++) {
        char *end;
        long machine = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : -1;
        if (machine < 0 || machine > layout->machines || (*end && *end != ',')) return refuse_grammar(r);
        if (machine == layout->machines) layout->machines++;
        layout->machine_of[pe] = (int)machine;
        at = end;
        if (!*end && pe + 1 < r->npes) return refuse(r, "it has %d numbers, and the job %d PEs", pe + 1, r->npes);
    }
    return at[-1] ? refuse(r, "it has more numbers than the job has PEs, %d", r->npes) : 0;
}

static int place(const struct request *r, struct hm_layout *layout)
{
    size_t n = strlen(CYCLIC);
    if (!strncmp(r->spec, LIST, strlen(LIST))) return place_list(r, r->spec + strlen(LIST), layout);
    if (strchr(r->spec, '+')) return place_sizes(r, layout);
    bool cyclic = !strncmp(r->spec, CYCLIC, n);
    int machines = count_machines(r, cyclic ? r->spec + n : r->spec);
    if (machines < 0) return machines;
    layout->machines = machines;
    for (int pe = 0; pe < r->npes; pe++)
        layout->machine_of[pe] = cyclic ? pe % machines : (int)((long)pe * machines / r->npes);
    return 0;
}

int hm_layout_parse(struct hm_layout *layout, const char *spec, int npes, bool shrink, char *why, size_t size)
{
    struct request r = {spec, npes, shrink, why, size};
    *layout = (struct hm_layout){.machine_of = calloc((size_t)npes, sizeof *layout->machine_of)};
    if (!layout->machine_of) return -ENOMEM;
    int rc = place(&r, layout);
    if (rc) hm_layout_free(layout);
    return rc;
}

void hm_layout_free(struct hm_layout *layout)
{
    free(layout->machine_of);
    *layout = (struct hm_layout){.machines = 1};
}

/* The end of the run of neighbouring PEs of this machine that begins at `pe`. */
static int run_end(const struct hm_layout *layout, int npes, int machine, int pe)
{
    while (pe < npes && layout->machine_of[pe] == machine)
        pe++;
    return pe;
}

void hm_layout_list(const struct hm_layout *layout, int npes, int machine, char *text, size_t size)
{
    size_t at = 0;
    *text = 0;
    for (int pe = 0, end; pe < npes; pe = end) {
        char part[32];
        end = run_end(layout, npes, machine, pe);
        if (end == pe) {
            end = pe + 1;
            continue;
        }
        int n = snprintf(part, sizeof part, end - pe > 1 ? "%d-%d" : "%d", pe, end - 1);
        if (at + (size_t)n + sizeof ", , ..." > size) {
            snprintf(text + at, size - at, ", ...");
            return;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", part);
    }
}

#define _GNU_SOURCE
#include "core/paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"
#include "core/far.h"
#include "core/place.h"
#include "core/ways.h"
#include "core/world.h"

_Static_assert(sizeof(struct hm_ways_pe) <= HM_GATHER_MAX && sizeof(struct hm_way) <= HM_GATHER_MAX,
               "what a PE tells of its ways must fit the wire");

enum { MOST_MACHINES = 64 }; /* that a PE connects to for this */

bool hm_paths_asked(const char *call)
{
    const char *how = hm_options.paths;
    if (!strcmp(how, "off") || !*how) return false;
    if (!strcmp(how, "on") || !strcmp(how, "stdout")) return true;
    hm_die(call, "SHMEM_PATHS=%s: it is on, off or stdout", how);
}

/* --- what this PE is --- */

static bool is_live(const char *card)
{
    char path[512], text[32] = "";
    snprintf(path, sizeof path, "/sys/class/infiniband/%.200s/ports/1/state", card);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool live = fgets(text, sizeof text, f) && strstr(text, "ACTIVE");
    fclose(f);
    return live;
}

static void find_card(char *name, size_t size)
{
    DIR *dir = opendir("/sys/class/infiniband");
    *name = 0;
    if (!dir) return;
    for (struct dirent *e; !*name && (e = readdir(dir));)
        if (e->d_name[0] != '.' && is_live(e->d_name)) snprintf(name, size, "%.*s", (int)size - 1, e->d_name);
    closedir(dir);
}

static void describe_self(struct hm_ways_pe *p)
{
    static const char *const variables[] = {"UCX_TLS", "UCX_NET_DEVICES"};
    *p = (struct hm_ways_pe){.machine = hm_places.machine};
    gethostname(p->host, sizeof p->host - 1);
    find_card(p->card, sizeof p->card);
    for (size_t i = 0; i < HM_COUNT(variables) && !*p->asked; i++) {
        const char *value = getenv(variables[i]);
        if (value) snprintf(p->asked, sizeof p->asked, "%s=%s", variables[i], value);
    }
}

/* --- its ways --- */

struct ways {
    const struct hm_ways_pe *all;
    int *target;  /* by machine: the PE there that is asked for; -1: none */
    uint8_t *set; /* by machine: those of the way at hand */
    struct hm_way *way;
    int count, asked; /* ways, machines */
};

/* The one with the same number among the PEs of its machine, so that the PEs of a machine do not all ask for one. */
static void choose_targets(struct ways *w)
{
    int first = hm_places.machine, machines = hm_places.machines;
    for (int m = 0; m < machines; m++) w->target[m] = -1;
    for (int i = hm_world.npes - 1; i >= 0; i--) {
        int m = hm_place_machine(i), ahead = (m - first + machines) % machines, local = hm_place_local(i);
        if (!hm_symm.far || !hm_symm.far[i] || ahead > MOST_MACHINES) continue;
        if (m == first || w->target[m] < 0 || local >= hm_places.local_pe) w->target[m] = i;
    }
}

static void add(struct ways *w, int machine)
{
    int to = w->target[machine], k = 0;
    char text[sizeof w->way->text];
    hm_far_way(to, text, sizeof text);
    uint8_t slow = hm_ways_judge(text, &w->all[hm_world.pe], &w->all[to]);
    while (k < w->count && (w->way[k].slow != slow || strcmp(w->way[k].text, text))) k++;
    if (k == w->count) {
        w->way[w->count] = (struct hm_way){.more = 1, .slow = slow};
        memcpy(w->way[w->count++].text, text, sizeof text);
    }
    w->set[machine] = (uint8_t)(k + 1);
}

/* "the other machines" where it is all of them, whose way is known. */
static void name_targets(struct ways *w, int k)
{
    char list[150], *to = w->way[k].to;
    int machines = hm_places.machines, n = 0;
    uint8_t *mine = calloc((size_t)machines, 1);
    for (int m = 0; mine && m < machines; m++) n += mine[m] = w->set[m] == k + 1;
    if (mine) hm_ways_list(mine, machines, list, sizeof list);
    bool own = mine && mine[hm_places.machine], all_asked = n == w->asked && w->count == 1;
    if (!mine)
        snprintf(to, sizeof w->way->to, "some machines");
    else if (all_asked && n < machines - 1) /* the same words for all PEs, so that they share a line */
        snprintf(to, sizeof w->way->to, "the next %d machines", MOST_MACHINES);
    else if (all_asked)
        snprintf(to, sizeof w->way->to, "%s", own ? "all others" : machines == 2 ? "the other machine" : "the other machines");
    else
        snprintf(to, sizeof w->way->to, "machine%s %s", n > 1 ? "s" : "", list);
    free(mine);
}

static void find_ways(struct ways *w)
{
    choose_targets(w);
    for (int m = 0; m < hm_places.machines; m++)
        if (w->target[m] >= 0) {
            w->asked++;
            add(w, m);
        }
    for (int k = 0; k < w->count; k++) name_targets(w, k);
}

/* --- all together --- */

static void gather(const void *mine, size_t bytes, void *all, const char *call)
{
    int e = hm_world.boot->gather(mine, bytes, all, NULL, 0, NULL);
    if (e) hm_die(call, "the PEs could not tell each other which ways they take: %s", strerror(-e));
}

static HM_NORETURN void no_memory(const char *call) { hm_die(call, "out of memory for SHMEM_PATHS"); }

/* As many rounds as the PE with the most ways needs; gives what was told, by round and PE. */
static struct hm_way *gather_ways(const struct ways *w, int *rounds, const char *call)
{
    size_t n = (size_t)hm_world.npes;
    struct hm_way *all = NULL;
    for (bool any = true; any; ++*rounds) {
        static const struct hm_way none;
        all = realloc(all, (size_t)(*rounds + 1) * n * sizeof *all);
        if (!all) no_memory(call);
        struct hm_way *round = all + (size_t)*rounds * n;
        gather(*rounds < w->count ? &w->way[*rounds] : &none, sizeof none, round, call);
        any = false;
        for (size_t i = 0; i < n; i++) any |= round[i].more;
    }
    return all;
}

static void to_log(const char *text)
{
    bool warns = !strncmp(text, "warning: ", 9);
    hm_log_line(warns ? "warning" : NULL, "%s", warns ? text + 9 : text);
}

static void to_stdout(const char *text) { puts(text); }

static void report(const struct hm_ways_pe *all, const struct hm_way *way, int rounds, const char *call)
{
    struct hm_ways_job job = {.npes = hm_world.npes, .machines = hm_places.machines, .mapped = hm_options.mapped,
                              .pe = all, .way = way, .rounds = rounds, .apart = hm_world.boot->apart};
    bool log = strcmp(hm_options.paths, "stdout") != 0;
    if (hm_ways_report(&job, log ? to_log : to_stdout)) no_memory(call);
    if (!log) fflush(stdout);
}

void hm_paths_show(const char *call)
{
    size_t machines = (size_t)hm_places.machines;
    struct hm_ways_pe mine, *all = malloc((size_t)hm_world.npes * sizeof *all);
    struct ways w = {.all = all,
                     .target = malloc(machines * sizeof *w.target),
                     .set = calloc(machines, 1),
                     .way = malloc(machines * sizeof *w.way)};
    if (!all || !w.target || !w.set || !w.way) no_memory(call);
    describe_self(&mine);
    gather(&mine, sizeof mine, all, call);
    find_ways(&w);
    int rounds = 0;
    struct hm_way *way = gather_ways(&w, &rounds, call);
    if (hm_world.pe == 0) report(all, way, rounds, call);
    free(way);
    free(w.way);
    free(w.set);
    free(w.target);
    free(all);
}

/* --bind: a core, or a hardware thread, for each PE. */
#define _GNU_SOURCE
#include "guard.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int *places; /* per place one CPU that stands for it */
static int nplaces;
static bool whole_core;

/* The hardware threads of the core that `cpu` belongs to. */
static void core_of(int cpu, cpu_set_t *core)
{
    char path[128], text[1024];
    CPU_ZERO(core);
    CPU_SET(cpu, core);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "re");
    if (!f) return;
    for (char *at = fgets(text, sizeof text, f); at && *at;) {
        char *end;
        long from = strtol(at, &end, 10), to = from;
        if (end == at) break;
        if (*end == '-') to = strtol(end + 1, &end, 10);
        for (long i = from; i <= to && i >= 0 && i < CPU_SETSIZE; i++)
            CPU_SET((int)i, core);
        at = *end == ',' ? end + 1 : NULL;
    }
    fclose(f);
}

int hm_bind_prepare(const struct hm_run *run)
{
    cpu_set_t usable, taken, core;
    if (run->bind == HM_BIND_NONE) return 0;
    whole_core = run->bind == HM_BIND_CORE;
    places = malloc(CPU_SETSIZE * sizeof *places);
    if (!places || sched_getaffinity(0, sizeof usable, &usable) != 0) {
        fprintf(stderr, "oshrun: --bind: cannot ask which cores there are\n");
        return -EINVAL;
    }
    CPU_ZERO(&taken);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &usable) || CPU_ISSET(cpu, &taken)) continue;
        places[nplaces++] = cpu;
        if (!whole_core) continue;
        core_of(cpu, &core);
        CPU_OR(&taken, &taken, &core);
    }
    if (run->npes <= nplaces || run->overload) return 0;
    const char *kind = whole_core ? "core" : "thread";
    fprintf(stderr,
            "oshrun: --bind %s: %d PEs need %d %ss and there are %d; --bind %s:overload lets PEs share one\n",
            kind, run->npes, run->npes, kind, nplaces, kind);
    return -EINVAL;
}

int hm_bind_self(int pe)
{
    cpu_set_t set, usable;
    int cpu = places[pe % nplaces];
    CPU_ZERO(&set);
    if (whole_core)
        core_of(cpu, &set);
    else
        CPU_SET(cpu, &set);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) CPU_AND(&set, &set, &usable);
    return sched_setaffinity(0, sizeof set, &set);
}

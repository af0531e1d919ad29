/* The memory of this process: its own pages, and its share of shared ones (Pss), in KiB; -1 if not to be had. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdio.h>

static double bench_memory(void)
{
    char line[128];
    double kib = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %lf", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

#endif

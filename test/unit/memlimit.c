/* The tightest memory limit and whose it is. With an argument it prints what it finds, for a script that
 * makes limits up. */
/* with: src/base/memlimit.c */
#define _GNU_SOURCE
#include "base/memlimit.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

int main(int argc, char **argv)
{
    struct hm_memlimit limit;
    struct sysinfo info;
    (void)argv;
    hm_memlimit_find(&limit);
    printf("%llu %s\n", (unsigned long long)limit.bytes, limit.whose);
    if (argc > 1 || sysinfo(&info) != 0) return 0;
    uint64_t all = ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
    if (!limit.bytes || limit.bytes > all + 65536)
        return printf("more than there is: %llu\n", (unsigned long long)all), 1;
    bool named = !strncmp(limit.whose, "of cgroup ", 10) || !strncmp(limit.whose, "of the ", 7);
    if (!named) return puts("whose is it?"), 1;
    return 0;
}

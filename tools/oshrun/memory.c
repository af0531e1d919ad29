/* Who was killed for want of memory, and whose limit that was. */
#define _GNU_SOURCE
#include "guard.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The memory cgroup of this process: its directory, and whether it is of version 2. */
static bool cgroup_dir(char *dir, size_t size, bool *v2)
{
    char line[4200];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        controllers++;
        path[strcspn(path, "\n")] = 0;
        *v2 = !*controllers;
        if (!*v2 && strcmp(controllers, "memory")) continue;
        snprintf(dir, size, "%s%s", *v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory", path);
        if (*v2 && access(dir, F_OK) == 0) {
            char probe[4300];
            snprintf(probe, sizeof probe, "%s/memory.events", dir);
            found = access(probe, F_OK) == 0;
        } else if (!*v2) {
            found = access(dir, F_OK) == 0;
            if (!found) { /* in a container the path of the host is not ours */
                snprintf(dir, size, "/sys/fs/cgroup/memory");
                found = access(dir, F_OK) == 0;
            }
        }
    }
    fclose(f);
    return found;
}

uint64_t hm_memory_oom_kills(void)
{
    char dir[4250], path[4300], text[1024];
    bool v2;
    if (!cgroup_dir(dir, sizeof dir, &v2)) return 0;
    snprintf(path, sizeof path, "%s/%s", dir, v2 ? "memory.events" : "memory.oom_control");
    if (!read_text(path, text, sizeof text)) return 0;
    char *kills = strstr(text, "oom_kill ");
    return kills ? strtoull(kills + 9, NULL, 10) : 0;
}

/* The lowest limit of this group and those above it; false: there is none. */
static bool cgroup_limit(uint64_t *limit, char *whose, size_t size)
{
    char dir[4250], path[4300], text[64];
    bool v2, found = false;
    if (!cgroup_dir(dir, sizeof dir, &v2)) return false;
    const char *file = v2 ? "memory.max" : "memory.limit_in_bytes";
    const size_t root = strlen(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    while (strlen(dir) >= root) {
        char *end;
        snprintf(path, sizeof path, "%s/%s", dir, file);
        if (read_text(path, text, sizeof text)) {
            uint64_t bytes = strtoull(text, &end, 10);
            if (end != text && bytes < 1ull << 62 && (!found || bytes < *limit)) {
                found = true;
                *limit = bytes;
                snprintf(whose, size, "%s of cgroup %.200s", file, dir + root);
                if (!dir[root]) snprintf(whose, size, "%s of the root cgroup", file);
            }
        }
        char *slash = strrchr(dir, '/');
        if (!slash || slash == dir) break;
        *slash = 0;
    }
    return found;
}

static uint64_t machine_memory(uint64_t *available)
{
    char text[4096];
    uint64_t total = 0;
    *available = 0;
    if (!read_text("/proc/meminfo", text, sizeof text)) return 0;
    char *at = strstr(text, "MemTotal:");
    if (at) total = strtoull(at + 9, NULL, 10) * 1024;
    at = strstr(text, "MemAvailable:");
    if (at) *available = strtoull(at + 13, NULL, 10) * 1024;
    return total;
}

/* Bytes of memory behind the heaps of all PEs. */
static uint64_t committed(const struct hm_guard *g)
{
    uint64_t sum = 0;
    for (int pe = 0; pe < g->npes; pe++) {
        struct stat st;
        int fd = g->hub.members[pe].segment;
        if (fd >= 0 && fstat(fd, &st) == 0) sum += (uint64_t)st.st_blocks * 512;
    }
    return sum;
}

static void say_bytes(char *text, size_t size, uint64_t bytes)
{
    if (bytes >= 1ull << 30)
        snprintf(text, size, "%.1f GiB", (double)bytes / (1ull << 30));
    else
        snprintf(text, size, "%.1f MiB", (double)bytes / (1 << 20));
}

/* Adds nothing when the kernel has killed nobody. */
void hm_memory_say(struct hm_guard *g, char *text, size_t size)
{
    char used[32], most[32], whose[300] = "the memory of this machine";
    uint64_t limit = 0, available, total = machine_memory(&available);
    bool killed = hm_memory_oom_kills() > g->oom_kills;
    bool limited = cgroup_limit(&limit, whose, sizeof whose) && limit < total;
    if (!killed && limited) return;
    if (!killed && available > total / 20) return; /* somebody else killed it */
    if (!limited) {
        limit = total;
        snprintf(whose, sizeof whose, "the memory of this machine");
    }
    say_bytes(used, sizeof used, committed(g));
    say_bytes(most, sizeof most, limit);
    snprintf(text, size,
             " for want of memory: the heaps of all PEs had committed %s, and the limit is %s, %s", used,
             most, whose);
}

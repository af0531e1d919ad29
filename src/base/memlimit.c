#define _GNU_SOURCE
#include "base/memlimit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool read_file(const char *path, char *text, size_t size)
{
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    while (n < size - 1) {
        ssize_t k = read(fd, text + n, size - 1 - n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        n += (size_t)k;
    }
    close(fd);
    text[n] = 0;
    return n > 0;
}

static bool number(const char *p, uint64_t *value)
{
    *value = 0;
    while (*p == ' ')
        p++;
    if (*p < '0' || *p > '9') return false; /* "max" */
    for (; *p >= '0' && *p <= '9'; p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return true;
}

/* Joins up to four strings; what does not fit is cut off. */
static void join(char *to, size_t size, const char *a, const char *b, const char *c, const char *d)
{
    const char *part[] = {a, b, c, d};
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        for (const char *p = part[i]; *p && n < size - 1; p++)
            to[n++] = *p;
    to[n] = 0;
}

static void tighten(struct hm_memlimit *limit, uint64_t bytes, const char *a, const char *b, const char *c)
{
    if (!bytes || (limit->bytes && limit->bytes <= bytes)) return;
    limit->bytes = bytes;
    join(limit->whose, sizeof limit->whose, a, b, c, "");
}

/* The group and all above it. In a container the path may be the host's: then only the last, its root, is
 * there. */
static void look_at_groups(struct hm_memlimit *limit, const char *root, char *path, const char *file)
{
    for (;;) {
        char name[512], text[64];
        uint64_t bytes;
        join(name, sizeof name, root, path, "/", file);
        if (read_file(name, text, sizeof text) && number(text, &bytes))
            tighten(limit, bytes, "of cgroup ", *path ? path : "/",
                    !strcmp(file, "memory.max") ? " (memory.max)" : " (memory.limit_in_bytes)");
        char *slash = strrchr(path, '/');
        if (!slash) return;
        *slash = 0;
    }
}

static bool has_memory(const char *controllers)
{
    for (const char *p = controllers; (p = strstr(p, "memory")); p++)
        if ((p == controllers || p[-1] == ',') && (!p[6] || p[6] == ',')) return true;
    return false;
}

/* "4:memory:/a/b" (v1), "0::/a/b" (v2) */
static void look_at_cgroups(struct hm_memlimit *limit)
{
    char text[4096];
    if (!read_file("/proc/self/cgroup", text, sizeof text)) return;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        controllers++;
        if (!strcmp(path, "/")) *path = 0;
        if (!*controllers)
            look_at_groups(limit, "/sys/fs/cgroup", path, "memory.max");
        else if (has_memory(controllers))
            look_at_groups(limit, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    }
}

static uint64_t meminfo(const char *text, const char *key)
{
    uint64_t kib = 0;
    const char *p = strstr(text, key);
    return p && number(p + strlen(key), &kib) ? kib << 10 : 0;
}

void hm_memlimit_find(struct hm_memlimit *limit)
{
    char text[4096];
    *limit = (struct hm_memlimit){0};
    if (read_file("/proc/meminfo", text, sizeof text)) {
        tighten(limit, meminfo(text, "MemTotal:") + meminfo(text, "SwapTotal:"),
                "of the machine (memory and swap)", "", "");
        char mode[16];
        if (read_file("/proc/sys/vm/overcommit_memory", mode, sizeof mode) && *mode == '2')
            tighten(limit, meminfo(text, "CommitLimit:"),
                    "of the kernel for all processes (vm.overcommit_memory is 2)", "", "");
    }
    look_at_cgroups(limit);
}

#define _GNU_SOURCE
#include "core/maps.h"

#include <fcntl.h>
#include <unistd.h>

static const char *take_number(const char *p, unsigned base, uint64_t *value)
{
    *value = 0;
    for (;; p++) {
        unsigned digit;
        if (*p >= '0' && *p <= '9') digit = (unsigned)(*p - '0');
        else if (*p >= 'a' && *p <= 'f') digit = (unsigned)(*p - 'a') + 10;
        else break;
        if (digit >= base) break;
        *value = *value * base + digit;
    }
    return p;
}

/* "start-end perm offset major:minor inode   path" */
static bool parse(const char *p, struct hm_map *map)
{
    uint64_t start, end, device;
    p = take_number(p, 16, &start);
    if (*p++ != '-') return false;
    p = take_number(p, 16, &end);
    if (*p++ != ' ') return false;
    for (int i = 0; i < 4; i++) {
        if (!*p) return false;
        map->perm[i] = *p++;
    }
    map->perm[4] = 0;
    if (*p++ != ' ') return false;
    p = take_number(p, 16, &map->offset);
    if (*p++ != ' ') return false;
    p = take_number(p, 16, &device);
    if (*p++ != ':') return false;
    p = take_number(p, 16, &device);
    if (*p++ != ' ') return false;
    p = take_number(p, 10, &map->inode);
    while (*p == ' ') p++;
    map->start = start;
    map->end = end;
    map->path = p;
    return true;
}

int hm_maps_each(bool (*visit)(void *arg, const struct hm_map *map), void *arg)
{
    char in[1024], line[320];
    size_t n = 0;
    struct hm_map map;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    for (;;) {
        ssize_t k = read(fd, in, sizeof in);
        if (k < 0 && errno == EINTR) continue;
        int error = k < 0 ? errno : 0;
        for (ssize_t i = 0; i < k; i++) {
            if (in[i] != '\n') {
                if (n < sizeof line - 1) line[n++] = in[i];
                continue;
            }
            line[n] = 0;
            n = 0;
            if (parse(line, &map) && !visit(arg, &map)) k = 0;
        }
        if (k > 0) continue;
        close(fd);
        return -error;
    }
}

#define _GNU_SOURCE
#include "core/maps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *take_number(const char *p, unsigned base, uint64_t *value)
{
    *value = 0;
    for (;; p++) {
        unsigned digit;
        if (*p >= '0' && *p <= '9')
            digit = (unsigned)(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            digit = (unsigned)(*p - 'a') + 10;
        else
            break;
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
    while (*p == ' ')
        p++;
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

/* --- one address --- */

struct finder {
    uintptr_t addr;
    struct hm_place *place;
    char file[sizeof((struct hm_place *)0)->path];
    uintptr_t file_start, last_end;
    bool last_closed;
};

static void copy_end(char *to, size_t size, const char *from)
{
    size_t n = strlen(from);
    if (n >= size) from += n - size + 1;
    memcpy(to, from, strlen(from) + 1);
}

static bool find_map(void *arg, const struct hm_map *map)
{
    struct finder *f = arg;
    struct hm_place *p = f->place;
    if (map->start > f->addr) { /* behind it */
        if (!p->mapped) {
            p->start = f->last_end;
            p->end = map->start;
        }
        p->next_start = map->start;
        memcpy(p->next_perm, map->perm, sizeof p->next_perm);
        p->next_is_stack = !strcmp(map->path, "[stack]");
        return false;
    }
    if (strncmp(f->file, map->path, sizeof f->file - 1) || !*map->path) {
        f->file_start = map->start;
        f->file[0] = 0;
        strncat(f->file, map->path, sizeof f->file - 1);
    }
    if (map->end > f->addr) {
        p->mapped = true;
        p->start = map->start;
        p->end = map->end;
        memcpy(p->perm, map->perm, sizeof p->perm);
        copy_end(p->path, sizeof p->path, map->path);
        p->file_start = f->file_start;
        p->guard_below = f->last_closed && f->last_end == map->start;
    }
    f->last_end = map->end;
    f->last_closed = !strncmp(map->perm, "---", 3);
    return true;
}

int hm_maps_find(uintptr_t addr, struct hm_place *place)
{
    struct finder f = {.addr = addr, .place = place};
    *place = (struct hm_place){0};
    return hm_maps_each(find_map, &f);
}

const char *hm_maps_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

#define _GNU_SOURCE
#include "core/copies.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/maps.h"
#include "core/world.h"

/* What only this library exports: no profiler wraps it, as no header names it. */
static const char mark[] = "shmemx_early_start";

/* --- the dynamic symbols of one object, by their hash: some objects have a hundred thousand --- */

struct table {
    const ElfW(Sym) *symbols;
    const char *names;
    const uint32_t *gnu, *sysv;
};

static struct table table_of(const ElfW(Dyn) *d, uintptr_t bias)
{
    struct table t = {0};
    for (; d->d_tag != DT_NULL; d++) {
        /* the dynamic linker has made addresses of some of these */
        const void *at = (const void *)(d->d_un.d_ptr < bias ? d->d_un.d_ptr + bias : d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB) t.symbols = at;
        if (d->d_tag == DT_STRTAB) t.names = at;
        if (d->d_tag == DT_GNU_HASH) t.gnu = at;
        if (d->d_tag == DT_HASH) t.sysv = at;
    }
    return t;
}

static bool is_defined(const struct table *t, uint32_t i)
{
    return t->symbols[i].st_shndx != SHN_UNDEF && !strcmp(t->names + t->symbols[i].st_name, mark);
}

static bool find_by_gnu_hash(const struct table *t)
{
    enum { BITS = 8 * sizeof(ElfW(Addr)) };
    uint32_t hash = 5381, buckets = t->gnu[0], first = t->gnu[1], words = t->gnu[2], shift = t->gnu[3];
    for (const char *c = mark; *c; c++) hash = hash * 33 + (unsigned char)*c;
    const ElfW(Addr) *bloom = (const void *)(t->gnu + 4);
    const uint32_t *bucket = (const void *)(bloom + words), *chain = bucket + buckets;
    ElfW(Addr) word = words ? bloom[hash / BITS % words] : 0;
    if (!buckets || !(word >> hash % BITS & word >> (hash >> shift) % BITS & 1)) return false;
    uint32_t i = bucket[hash % buckets];
    if (i < first) return false;
    for (;; i++) {
        uint32_t has = chain[i - first];
        if ((has | 1) == (hash | 1) && is_defined(t, i)) return true;
        if (has & 1) return false;
    }
}

static bool find_by_sysv_hash(const struct table *t)
{
    uint32_t hash = 0, buckets = t->sysv[0];
    for (const char *c = mark; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0xfffffff;
    }
    if (!buckets) return false;
    for (uint32_t i = t->sysv[2 + hash % buckets]; i; i = t->sysv[2 + buckets + i])
        if (is_defined(t, i)) return true;
    return false;
}

static bool exports_mark(const ElfW(Dyn) *dynamic, uintptr_t bias)
{
    struct table t = table_of(dynamic, bias);
    if (!t.symbols || !t.names) return false;
    if (t.gnu) return find_by_gnu_hash(&t);
    return t.sysv && find_by_sysv_hash(&t);
}

/* --- all objects of the process --- */

struct look {
    char *other, *own;
    size_t other_size, own_size;
    bool found;
};

static void copy_name(char *to, size_t size, const char *name)
{
    if (!to || !size) return;
    snprintf(to, size, "%s", name);
    if (*name) return;
    ssize_t n = readlink("/proc/self/exe", to, size - 1); /* the program itself has none */
    snprintf(to + (n > 0 ? n : 0), size - (n > 0 ? (size_t)n : 0), "%s", n > 0 ? "" : "the program");
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct look *look = arg;
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t here = (uintptr_t)look_at_object;
    bool ours = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)at;
        if (p->p_type == PT_LOAD) ours |= here - at < p->p_memsz;
    }
    if (ours) {
        copy_name(look->own, look->own_size, info->dlpi_name);
    } else if (!look->found && dynamic && exports_mark(dynamic, info->dlpi_addr)) {
        look->found = true;
        copy_name(look->other, look->other_size, info->dlpi_name);
    }
    return 0;
}

/* Job memory that this copy has not mapped. */
static bool look_at_map(void *arg, const struct hm_map *map)
{
    bool *found = arg;
    static const char name[] = "/memfd:hbmesh-job";
    *found = !strncmp(map->path, name, sizeof name - 1);
    return !*found;
}

bool hm_copies_joined(void)
{
    bool found = false;
    if (!hm_world.job) hm_maps_each(look_at_map, &found);
    return found;
}

bool hm_copies_find(char *other, size_t other_size, char *own, size_t own_size)
{
    struct look look = {other, own, other_size, own_size, false};
    dl_iterate_phdr(look_at_object, &look);
    if (look.found || !hm_copies_joined()) return look.found;
    if (other) snprintf(other, other_size, "one that is linked statically into this process");
    return true;
}

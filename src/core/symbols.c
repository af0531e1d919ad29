#define _GNU_SOURCE
#include "core/symbols.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

struct code {
    uintptr_t start, end, bias;
};

static struct code library, program;
static const ElfW(Sym) * symbols;
static const char *names;
static size_t count;
static char program_path[256] = "the program";

/* The table of symbols does not say how long it is; the table of their hashes does, in its way: the last
 * chain ends with the last symbol. */
static size_t count_by_hash(const uint32_t *table)
{
    uint32_t buckets = table[0], first = table[1], bloom = table[2], last = 0;
    const uint32_t *bucket = table + 4 + bloom * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last) last = bucket[i];
    if (last < first) return first;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

static void read_dynamic(const ElfW(Dyn) * d, uintptr_t bias)
{
    for (; d->d_tag != DT_NULL; d++) {
        /* the dynamic linker has made addresses of some of these */
        const void *at = (const void *)(d->d_un.d_ptr < bias ? d->d_un.d_ptr + bias : d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB) symbols = at;
        if (d->d_tag == DT_STRTAB) names = at;
        if (d->d_tag == DT_GNU_HASH) count = count_by_hash(at);
        if (d->d_tag == DT_HASH && !count) count = ((const uint32_t *)at)[1];
    }
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    bool *first = arg;
    struct code code = {UINTPTR_MAX, 0, info->dlpi_addr};
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)at;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        if (at < code.start) code.start = at;
        if (at + p->p_memsz > code.end) code.end = at + p->p_memsz;
    }
    uintptr_t here = (uintptr_t)look_at_object;
    if (*first) program = code;
    *first = false;
    if (here < code.start || here >= code.end) return 0;
    library = code;
    if (dynamic) read_dynamic(dynamic, info->dlpi_addr);
    return 1;
}

void hm_symbols_prepare(void)
{
    bool first = true;
    if (library.end) return;
    dl_iterate_phdr(look_at_object, &first);
    ssize_t n = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    if (n > 0) program_path[n] = 0;
}

bool hm_symbols_in_library(uintptr_t pc)
{
    return pc >= library.start && pc < library.end;
}
bool hm_symbols_in_program(uintptr_t pc)
{
    return pc >= program.start && pc < program.end;
}
uintptr_t hm_symbols_program_offset(uintptr_t pc)
{
    return pc - program.bias;
}

const char *hm_symbols_program(void)
{
    const char *slash = strrchr(program_path, '/');
    return slash ? slash + 1 : program_path;
}

const char *hm_symbols_name(uintptr_t pc)
{
    const char *name = NULL;
    if (!names || !symbols || !hm_symbols_in_library(pc)) return NULL;
    for (size_t i = 0; i < count; i++) {
        const ElfW(Sym) *s = &symbols[i];
        if ((s->st_info & 15) != STT_FUNC || s->st_shndx == SHN_UNDEF) continue;
        if (pc - library.bias - s->st_value >= s->st_size) continue;
        const char *is = names + s->st_name;
        if (!name || !strncmp(is, "shmem", 5)) name = is;
    }
    return name;
}

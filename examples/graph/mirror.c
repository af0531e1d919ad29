/* Symmetric memory that this PE computes on. In a host's memory that is the memory itself. A device's memory
 * (SHMEM_HEAP_KIND) no CPU can load from or store to: there the PE computes on a copy of its own, and put and
 * get to itself bring the two together. */
#include "graph.h"

#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

bool on_device(const void *symmetric)
{
    return strcmp(shmemx_kind_of(symmetric), "host") != 0;
}

struct mirror mirror_make(size_t floats, const char *what)
{
    float *symmetric = need(shmem_malloc(floats * sizeof(float)), what);
    struct mirror m = {.symmetric = symmetric, .local = symmetric};

    if (on_device(symmetric)) m.local = need(malloc(floats * sizeof(float) + 1), what);
    memset(m.local, 0, floats * sizeof(float));
    mirror_show(&m, floats);
    return m;
}

void mirror_show(const struct mirror *m, size_t floats)
{
    if (m->local != m->symmetric) shmem_float_put(m->symmetric, m->local, floats, shmem_my_pe());
}

void mirror_look(const struct mirror *m, size_t floats)
{
    if (m->local != m->symmetric) shmem_float_get(m->local, m->symmetric, floats, shmem_my_pe());
}

void mirror_free(struct mirror *m)
{
    if (m->local != m->symmetric) free(m->local);
    shmem_free(m->symmetric);
}

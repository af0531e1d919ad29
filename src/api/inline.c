/* The library's side of the inlined form (shmem/inline.h). The table that programs read is the one that hm_symm_map reads,
 * so that there is one place where limits change. */
#pragma GCC visibility push(default)
#include <shmem/inline_table.h>
#pragma GCC visibility pop

#include "api/api.h"
#include "core/rma.h"

/* Version 1: field by field. */
#define SAME(outer, field, inner, own)                                                                                \
    _Static_assert(offsetof(struct outer, field) == offsetof(struct inner, own) &&                                   \
                       sizeof(((struct outer *)0)->field) == sizeof(((struct inner *)0)->own),                       \
                   #outer "." #field " is " #inner "." #own)
SAME(shmemx_inline_table, heap, hm_symm, heap_base);
SAME(shmemx_inline_table, heap_limit, hm_symm, heap_limit);
SAME(shmemx_inline_table, data, hm_symm, data_base);
SAME(shmemx_inline_table, data_limit, hm_symm, data_limit);
SAME(shmemx_inline_table, first, hm_symm, row_first);
SAME(shmemx_inline_table, count, hm_symm, row_count);
SAME(shmemx_inline_table, mask, hm_symm, row_mask);
SAME(shmemx_inline_table, peer, hm_symm, row);
SAME(shmemx_inline_peer, heap, hm_peer, heap);
SAME(shmemx_inline_peer, data, hm_peer, data);
SAME(shmemx_inline_peer, bell, hm_peer, bell);
_Static_assert(sizeof(struct shmemx_inline_peer) == sizeof(struct hm_peer), "entries are as far apart");
_Static_assert(offsetof(struct hm_bell, sleepers) == sizeof(uint32_t), "bell[1] is the sleepers");

const struct shmemx_inline_table *shmemx_inline_open(unsigned version)
{
    return version == SHMEMX_INLINE_VERSION ? (const void *)&hm_symm : NULL;
}

int shmemx_inline_p(void *dest, uint64_t word, size_t size, int pe, const char *call, int token)
{
    (void)token;
    hm_p_slow(&hm_ctx_default, dest, word, size, pe, call);
    return 0;
}

uint64_t shmemx_inline_g(const void *source, size_t size, int pe, const char *call, int token)
{
    (void)token;
    return hm_g_slow(&hm_ctx_default, source, size, pe, call);
}

int shmemx_inline_ring(const void *dest, size_t bytes, int pe, int token)
{
    (void)token;
    hm_bell_look(hm_symm.peer[pe].bell, dest, bytes);
    return 0;
}

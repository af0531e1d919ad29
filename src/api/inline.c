/* The library's side of the inlined form (shmem/inline.h): its table, and what is off its good path. */
#pragma GCC visibility push(default)
#include <shmem/inline_table.h>
#pragma GCC visibility pop

#include "api/api.h"
#include "core/inlined.h"
#include "core/rma.h"

_Static_assert(sizeof(struct shmemx_inline_table) == SHMEMX_INLINE_BYTES, "the size that programs give their table");
_Static_assert(offsetof(struct hm_bell, sleepers) == sizeof(uint32_t), "bell[1] is the sleepers");

void shmemx_inline_join(unsigned version, struct shmemx_inline_table *table)
{
    if (version == SHMEMX_INLINE_VERSION) hm_inlined_join(table);
}

void shmemx_inline_leave(struct shmemx_inline_table *table) { hm_inlined_leave(table); }

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

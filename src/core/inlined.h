/* The tables that programs in the inlined form (shmem/inline.h) look addresses up in. Each such program, and each shared
 * object of one, has a table of its own, which it reads without a call; it is kept in step with hm_symm here. */
#ifndef HM_INLINED_H
#define HM_INLINED_H

struct shmemx_inline_table;

/* From now on the table holds what hm_symm holds, until it leaves: then it lets nothing pass. Either may be said again. */
void hm_inlined_join(struct shmemx_inline_table *table);
void hm_inlined_leave(struct shmemx_inline_table *table);

/* hm_symm has changed: limits, or who can be reached. */
void hm_inlined_tell(void);

#endif

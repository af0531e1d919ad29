/* What the inlined form (inline.h) and the library share: the layout of a table, known by its version, and the functions
 * off the good path. A new layout, or a new meaning, is a new version. */
#ifndef SHMEM_INLINE_TABLE_H
#define SHMEM_INLINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SHMEMX_INLINE_VERSION 2u

/* PEs with numbers below this have an entry; what is for others goes to the library. */
#define SHMEMX_INLINE_PES 1024u

/* A table lies in the program, where the linker knows its address, and the library keeps it in step with what is mapped. All
 * fields are pointers, sizes, too: inline.h says why. The arrays are by PE. The entry behind the last one stays empty and
 * stands for all other PEs. */
struct shmemx_inline_table {
    char *heap, *data;                       /* where the caller's heap and static data begin */
    char *heap_limit[SHMEMX_INLINE_PES + 1]; /* bytes of the heap that may be reached so; 0: not mapped, or nothing is open */
    char *data_limit[SHMEMX_INLINE_PES + 1];
    char *heap_at[SHMEMX_INLINE_PES + 1]; /* where the heap of that PE begins here */
    char *data_at[SHMEMX_INLINE_PES + 1];
    const volatile uint32_t *bell[SHMEMX_INLINE_PES + 1]; /* [1]: not 0 if somebody sleeps there */
    struct shmemx_inline_table *next;                     /* the library's */
};

/* The size of it as a number, which the assembler wants. */
#define SHMEMX_INLINE_BYTES 41024

/* Before anything is inlined, and before the table goes. The library fills a table of a version that it knows; one of
 * another version it leaves as it is: empty, so that nothing is inlined. Each may be called again. */
void shmemx_inline_join(unsigned version, struct shmemx_inline_table *table);
void shmemx_inline_leave(struct shmemx_inline_table *table);

/* Off the good path: p and g of one element that travels as a word, and a look at who sleeps behind a change. `call` is
 * the name of the public function, `token` is not looked at. Why they are called const: see inline.h. */
#define SHMEMX_INLINE_COLD __attribute__((const))
int shmemx_inline_p(void *dest, uint64_t word, size_t size, int pe, const char *call, int token) SHMEMX_INLINE_COLD;
uint64_t shmemx_inline_g(const void *source, size_t size, int pe, const char *call, int token) SHMEMX_INLINE_COLD;
int shmemx_inline_ring(const void *dest, size_t bytes, int pe, int token) SHMEMX_INLINE_COLD;

#endif

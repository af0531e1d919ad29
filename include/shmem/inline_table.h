/* What the inlined form (inline.h) and the library share: the layout of a table, known by its version, and the functions
 * off the good path. A new layout, or a new meaning, is a new version. */
#ifndef SHMEM_INLINE_TABLE_H
#define SHMEM_INLINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SHMEMX_INLINE_VERSION 1u

struct shmemx_inline_peer {
    char *heap, *data;             /* where the heap and static data of that PE begin here */
    const volatile uint32_t *bell; /* [1]: not 0 if somebody sleeps there */
    void *of_the_library[2];
};

/* All fields are pointers, sizes and counts, too: inline.h says why. */
struct shmemx_inline_table {
    char *heap, *heap_limit; /* the caller's heap, and the bytes of it that may be reached so; 0: none */
    char *data, *data_limit; /* the same for its static data */
    char *first, *count;     /* PEs in a row, all of them mapped here; others are the library's */
    char *mask;              /* peer[i & mask] can be read for any i */
    const struct shmemx_inline_peer *peer; /* [0]: of PE `first` */
};

/* The table of that version; NULL: this library has none. It stays where it is and is valid at any time: before init and
 * after finalize nothing is within its limits. */
const struct shmemx_inline_table *shmemx_inline_open(unsigned version);

/* Off the good path: p and g of one element that travels as a word, and a look at who sleeps behind a change. `call` is
 * the name of the public function, `token` is not looked at. Why they are called const: see inline.h. */
#define SHMEMX_INLINE_COLD __attribute__((const))
int shmemx_inline_p(void *dest, uint64_t word, size_t size, int pe, const char *call, int token) SHMEMX_INLINE_COLD;
uint64_t shmemx_inline_g(const void *source, size_t size, int pe, const char *call, int token) SHMEMX_INLINE_COLD;
int shmemx_inline_ring(const void *dest, size_t bytes, int pe, int token) SHMEMX_INLINE_COLD;

#endif

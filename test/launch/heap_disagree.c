/* Allocation calls on which the PEs do not agree, or that are given what is no block: one case per run, named
 * by the first argument. Each of them must end the job; whoever comes to the end prints "survived". */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, odd; /* odd: the one that does something else */
static char in_static[64];
static char *block, *other, *page;

#define DIFFER(name, others, mine) \
    static void name(void)         \
    {                              \
        if (odd) {                 \
            mine;                  \
        } else {                   \
            others;                \
        }                          \
    }

DIFFER(malloc_size, shmem_malloc(64), shmem_malloc(65))
DIFFER(malloc_large, shmem_malloc(64), shmem_malloc((size_t)1 << 50))
DIFFER(malloc_nothing, shmem_malloc(64), shmem_malloc(0))
DIFFER(malloc_calloc, shmem_malloc(64), shmem_calloc(8, 8))
DIFFER(malloc_free, shmem_malloc(64), shmem_free(block))
DIFFER(malloc_barrier, shmem_malloc(64), shmem_barrier_all())
DIFFER(malloc_finalize, shmem_malloc(64), shmem_finalize())
DIFFER(malloc_realloc, shmem_malloc(64), block = shmem_realloc(block, 64))
DIFFER(calloc_count, shmem_calloc(8, 8), shmem_calloc(9, 8))
DIFFER(align_size, shmem_align(64, 64), shmem_align(64, 128))
DIFFER(align_alignment, shmem_align(64, 64), shmem_align(32, 64))
DIFFER(hints_size, shmem_malloc_with_hints(64, 0), shmem_malloc_with_hints(60, 0))
DIFFER(hints_hints, shmem_malloc_with_hints(64, 0), shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE))
DIFFER(free_block, shmem_free(block), shmem_free(other))
DIFFER(free_nothing, shmem_free(block), shmem_free(NULL))
DIFFER(free_sync, shmem_free(block), shmem_sync_all())
DIFFER(realloc_block, block = shmem_realloc(block, 100), other = shmem_realloc(other, 100))
DIFFER(realloc_size, block = shmem_realloc(block, 100), block = shmem_realloc(block, 200))
DIFFER(realloc_free, block = shmem_realloc(block, 100), block = shmem_realloc(block, 0))
DIFFER(realloc_null, block = shmem_realloc(block, 100), other = shmem_realloc(NULL, 100))

/* what is no block */
static void free_inside(void)
{
    shmem_free(block + 16);
}
static void free_padding(void)
{
    shmem_free(other + 112);
} /* behind its 100 bytes */
static void free_twice(void)
{
    shmem_free(block), shmem_free(block);
}
static void free_page_twice(void)
{
    shmem_free(page), shmem_free(page);
}
static void free_static(void)
{
    shmem_free(in_static);
}
static void free_stack(void)
{
    shmem_free(&(int){1});
}
static void free_private(void)
{
    shmem_free(malloc(64));
}
static void free_above(void)
{
    shmem_free(block + (64 << 20));
}
static void free_peer(void)
{
    shmem_free(shmem_ptr(block, (me + 1) % shmem_n_pes()));
}
static void realloc_inside(void)
{
    block = shmem_realloc(block + 8, 64);
}
static void realloc_freed(void)
{
    shmem_free(block), block = shmem_realloc(block, 64);
}
static void realloc_static(void)
{
    block = shmem_realloc(in_static, 64);
}
static void align_odd(void)
{
    shmem_align(48, 64);
}
static void align_zero(void)
{
    shmem_align(0, 64);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name)  \
    {               \
#name, name \
    }
    CASE(malloc_size),   CASE(malloc_large),   CASE(malloc_nothing),  CASE(malloc_calloc),
    CASE(malloc_free),   CASE(malloc_barrier), CASE(malloc_finalize), CASE(malloc_realloc),
    CASE(calloc_count),  CASE(align_size),     CASE(align_alignment), CASE(hints_size),
    CASE(hints_hints),   CASE(free_block),     CASE(free_nothing),    CASE(free_sync),
    CASE(realloc_block), CASE(realloc_size),   CASE(realloc_free),    CASE(realloc_null),
    CASE(free_inside),   CASE(free_padding),   CASE(free_twice),      CASE(free_page_twice),
    CASE(free_static),   CASE(free_stack),     CASE(free_private),    CASE(free_above),
    CASE(free_peer),     CASE(realloc_inside), CASE(realloc_freed),   CASE(realloc_static),
    CASE(align_odd),     CASE(align_zero),
};

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    odd = me == shmem_n_pes() - 1;
    block = shmem_malloc(64);
    other = shmem_malloc(100);
    page = shmem_malloc(3 << 20);
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    shmem_barrier_all(); /* who returned from something that the others are not in finds out here */
    puts("survived");
    fflush(stdout);
    shmem_finalize();
    return 0;
}

/* The inlined form: put, get and atomics of memory that is mapped here, without a call. `oshcc -hm-inline` asks for it
 * (-DSHMEMX_INLINE); it takes a compiler that knows GNU C and optimises. shmem.h includes this file.
 *
 * Nothing changes for a program but the time. Every check is made, and what fails one, or is not mapped, goes to the
 * library's function, which decides and says what is wrong. Only a tool that puts functions of its own in front of the
 * library's does not see these calls; -DSHMEM_PROFILE turns the inlined form off. A pointer to a function is one to the
 * library's, as ever.
 *
 * The checks need the limits and addresses that the library keeps in a table. Each unit gets its address before main. A
 * library that has no table of this version gives none: then the unit keeps an empty one, which lets nothing pass, and
 * all goes to the library.
 *
 * How p and g in a loop come down to a store and a load:
 *   - All fields of the table are pointers. An element never is one, so the compiler knows that a store of an element
 *     leaves the table as it is, and reads it once for the whole loop.
 *   - The functions off the good path are declared const, so that there, too, the compiler takes the table and the
 *     program's variables for unchanged. They do change nothing that the program could know of, beside the element,
 *     which it may not expect to see before the next fence, quiet or wait. What const would allow too much, to leave out
 *     a call or to make one of two, the token prevents: a volatile, of which the compiler cannot know what it reads.
 *   - p and g are accesses to volatile and no barriers: as the standard has it, they order nothing.
 */
#ifndef SHMEM_INLINE_H
#define SHMEM_INLINE_H
#pragma GCC system_header /* compilers grudge static variables in inline functions, and more with more warnings on */

#include <shmem/inline_table.h>

#define SHMEM_API(ret, name, params) ret p##name params;
#include <shmem/standard.h>
#undef SHMEM_API

/* Definitions for inlining alone: what the linker knows by such a name is the library's function. */
#define SHMEMX_INLINED extern __inline__ __attribute__((gnu_inline, always_inline))
#define SHMEMX_OFTEN(x) __builtin_expect(!!(x), 1)
#define SHMEMX_SELDOM(x) __builtin_expect(!!(x), 0)

/* More bytes than this the library copies, which knows how to. */
#define SHMEMX_INLINE_MOST 8192u

/* --- finding the way --- */

static const struct shmemx_inline_peer shmemx_inline_nobody = {0, 0, 0, {0, 0}};
static const struct shmemx_inline_table shmemx_inline_empty = {0, 0, 0, 0, 0, 0, 0, &shmemx_inline_nobody};
static const struct shmemx_inline_table *shmemx_inline_table = &shmemx_inline_empty;

/* Before the constructors of the program, which may use the library. */
static void __attribute__((constructor(101), used)) shmemx_inline_begin(void)
{
    const struct shmemx_inline_table *table = shmemx_inline_open(SHMEMX_INLINE_VERSION);
    if (table) shmemx_inline_table = table;
}

/* A place on PE `pe` as it is mapped here, and the bell of that PE. */
struct shmemx_inline_place {
    char *to;
    const volatile uint32_t *bell;
};

/* Is this the address of a variable, as far as the compiler sees? Then it is not looked for in the heap. */
#define SHMEMX_INLINE_VARIABLE(addr) (__builtin_object_size(addr, 0) != (size_t)-1)

SHMEMX_INLINED int shmemx_inline_within(size_t from, size_t bytes, size_t limit)
{
    return from < limit && ((__builtin_constant_p(bytes) && bytes <= 16) || bytes <= limit - from);
}

/* Where [addr, addr + bytes) of PE `pe` is here; 0 where the library must decide. As in the library (core/symm.h), the
 * first byte speaks for up to 16, since segments end on page boundaries. */
SHMEMX_INLINED int shmemx_inline_find(const void *addr, size_t bytes, int pe, struct shmemx_inline_place *at)
{
    const struct shmemx_inline_table *t = shmemx_inline_table;
    unsigned i = (unsigned)pe - (unsigned)(uintptr_t)t->first;
    const struct shmemx_inline_peer *p = t->peer;
    size_t o;
    if (SHMEMX_SELDOM(i >= (uintptr_t)t->count)) return 0;
    at->bell = p[i].bell;
    if (!SHMEMX_INLINE_VARIABLE(addr)) {
        o = (uintptr_t)addr - (uintptr_t)t->heap;
        at->to = p[i].heap + o;
        if (SHMEMX_OFTEN(shmemx_inline_within(o, bytes, (uintptr_t)t->heap_limit))) return 1;
    }
    o = (uintptr_t)addr - (uintptr_t)t->data;
    at->to = p[i].data + o;
    return SHMEMX_OFTEN(shmemx_inline_within(o, bytes, (uintptr_t)t->data_limit));
}

/* The same for an element that is stored or loaded, where even this is long. All is read first and without conditions:
 * the compiler moves nothing else out of loops. Few instructions are left in those. */
SHMEMX_INLINED int shmemx_inline_find_element(const void *addr, int pe, struct shmemx_inline_place *at)
{
    const struct shmemx_inline_table *t = shmemx_inline_table;
    unsigned i = (unsigned)pe - (unsigned)(uintptr_t)t->first;
    const struct shmemx_inline_peer *p = &t->peer[i & (uintptr_t)t->mask];
    char *heap = p->heap, *data = p->data;
    uintptr_t all_if_there = (uintptr_t)0 - (uintptr_t)(i < (uintptr_t)t->count);
    size_t heap_limit = (uintptr_t)t->heap_limit & all_if_there, data_limit = (uintptr_t)t->data_limit & all_if_there;
    size_t in_heap = (uintptr_t)addr - (uintptr_t)t->heap, in_data = (uintptr_t)addr - (uintptr_t)t->data;
    at->bell = p->bell;
    if (!SHMEMX_INLINE_VARIABLE(addr) && SHMEMX_OFTEN(in_heap < heap_limit)) {
        at->to = heap + in_heap;
        return 1;
    }
    at->to = data + in_data;
    return SHMEMX_OFTEN(in_data < data_limit);
}

/* The word of an atomic. */
SHMEMX_INLINED int shmemx_inline_find_word(const void *addr, size_t size, int pe, struct shmemx_inline_place *at)
{
    return SHMEMX_OFTEN(((uintptr_t)addr & (size - 1)) == 0) && shmemx_inline_find(addr, size, pe, at);
}

/* Behind a change, which is an atomic, or volatile as the look is, so that the compiler keeps their order. The
 * processor's order is the sleeper's business. */
SHMEMX_INLINED void shmemx_inline_look(const struct shmemx_inline_place *at, const void *dest, size_t bytes, int pe)
{
    if (SHMEMX_OFTEN(at->bell[1] == 0)) return;
    volatile int token = 0;
    token = shmemx_inline_ring(dest, bytes, pe, token);
}

SHMEMX_INLINED int shmemx_inline_is_default(shmem_ctx_t ctx)
{
    return SHMEMX_OFTEN(ctx == SHMEM_CTX_DEFAULT);
}

/* --- one element --- */

SHMEMX_INLINED void shmemx_inline_p_else(void *dest, const void *value, size_t size, int pe, const char *call)
{
    volatile int token = 0;
    uint64_t word = 0;
    __builtin_memcpy(&word, value, size);
    token = shmemx_inline_p(dest, word, size, pe, call, token);
}

SHMEMX_INLINED void shmemx_inline_g_else(void *value, const void *source, size_t size, int pe, const char *call)
{
    volatile int token = 0;
    volatile uint64_t word = shmemx_inline_g(source, size, pe, call, token);
    uint64_t got = word;
    __builtin_memcpy(value, &got, size);
}

/* The value goes the way of its own type: the compiler believes that other types are other memory. What does not fit
 * into a word (long double) goes to the library's own function off the good path. */
#define SHMEMX_INLINE_ELEMENT(TYPE, NAME)                                                                      \
    SHMEMX_INLINED void shmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                                       \
    {                                                                                                          \
        struct shmemx_inline_place at;                                                                         \
        if (SHMEMX_OFTEN(shmemx_inline_find_element(dest, pe, &at))) {                                  \
            *(volatile TYPE *)at.to = value;                                                                   \
            shmemx_inline_look(&at, dest, sizeof value, pe);                                                   \
        } else if (sizeof value <= 8) {                                                                        \
            shmemx_inline_p_else(dest, &value, sizeof value & 15, pe, "shmem_" #NAME "_p");                    \
        } else {                                                                                               \
            pshmem_##NAME##_p(dest, value, pe);                                                                \
        }                                                                                                      \
    }                                                                                                          \
    SHMEMX_INLINED TYPE shmem_##NAME##_g(const TYPE *source, int pe)                                           \
    {                                                                                                          \
        struct shmemx_inline_place at;                                                                         \
        TYPE value;                                                                                            \
        if (SHMEMX_OFTEN(shmemx_inline_find_element(source, pe, &at)))                                  \
            return *(const volatile TYPE *)at.to;                                                              \
        if (sizeof value > 8) return pshmem_##NAME##_g(source, pe);                                            \
        shmemx_inline_g_else(&value, source, sizeof value & 15, pe, "shmem_" #NAME "_g");                      \
        return value;                                                                                          \
    }                                                                                                          \
    SHMEMX_INLINED void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)                  \
    {                                                                                                          \
        struct shmemx_inline_place at;                                                                         \
        if (shmemx_inline_is_default(ctx) && SHMEMX_OFTEN(shmemx_inline_find_element(dest, pe, &at))) { \
            *(volatile TYPE *)at.to = value;                                                                   \
            shmemx_inline_look(&at, dest, sizeof value, pe);                                                   \
        } else {                                                                                               \
            pshmem_ctx_##NAME##_p(ctx, dest, value, pe);                                                       \
        }                                                                                                      \
    }                                                                                                          \
    SHMEMX_INLINED TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe)                      \
    {                                                                                                          \
        struct shmemx_inline_place at;                                                                         \
        if (shmemx_inline_is_default(ctx) && SHMEMX_OFTEN(shmemx_inline_find_element(source, pe, &at))) \
            return *(const volatile TYPE *)at.to;                                                              \
        return pshmem_ctx_##NAME##_g(ctx, source, pe);                                                         \
    }
SHMEM_RMA_TYPES(SHMEMX_INLINE_ELEMENT)
#undef SHMEMX_INLINE_ELEMENT

/* --- ranges --- */

SHMEMX_INLINED int shmemx_inline_put(void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    struct shmemx_inline_place at;
    if (SHMEMX_SELDOM(nelems > SHMEMX_INLINE_MOST / size) || !shmemx_inline_find(dest, nelems * size, pe, &at)) return 0;
    __builtin_memcpy(at.to, source, nelems * size);
    __asm__ volatile("" ::: "memory"); /* the look comes behind */
    shmemx_inline_look(&at, dest, nelems * size, pe);
    return 1;
}

SHMEMX_INLINED int shmemx_inline_get(void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    struct shmemx_inline_place at;
    if (SHMEMX_SELDOM(nelems > SHMEMX_INLINE_MOST / size) || !shmemx_inline_find(source, nelems * size, pe, &at)) return 0;
    __builtin_memcpy(dest, at.to, nelems * size);
    return 1;
}

/* `way` is put or get, `name` that of the function behind shmem_. */
#define SHMEMX_INLINE_RANGE(TYPE, name, way, size)                                                                 \
    SHMEMX_INLINED void shmem_##name(TYPE *dest, const TYPE *source, size_t nelems, int pe)                        \
    {                                                                                                              \
        if (SHMEMX_SELDOM(!shmemx_inline_##way(dest, source, nelems, size, pe))) pshmem_##name(dest, source, nelems, pe);         \
    }                                                                                                              \
    SHMEMX_INLINED void shmem_ctx_##name(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems, int pe)   \
    {                                                                                                              \
        if (!shmemx_inline_is_default(ctx) || !shmemx_inline_##way(dest, source, nelems, size, pe))                \
            pshmem_ctx_##name(ctx, dest, source, nelems, pe);                                                      \
    }
#define SHMEMX_INLINE_TYPED(TYPE, NAME)                          \
    SHMEMX_INLINE_RANGE(TYPE, NAME##_put, put, sizeof(TYPE))     \
    SHMEMX_INLINE_RANGE(TYPE, NAME##_put_nbi, put, sizeof(TYPE)) \
    SHMEMX_INLINE_RANGE(TYPE, NAME##_get, get, sizeof(TYPE))     \
    SHMEMX_INLINE_RANGE(TYPE, NAME##_get_nbi, get, sizeof(TYPE))
SHMEM_RMA_TYPES(SHMEMX_INLINE_TYPED)
#define SHMEMX_INLINE_SIZED(BITS, BYTES)                 \
    SHMEMX_INLINE_RANGE(void, put##BITS, put, BYTES)     \
    SHMEMX_INLINE_RANGE(void, put##BITS##_nbi, put, BYTES) \
    SHMEMX_INLINE_RANGE(void, get##BITS, get, BYTES)     \
    SHMEMX_INLINE_RANGE(void, get##BITS##_nbi, get, BYTES)
SHMEM_SIZES(SHMEMX_INLINE_SIZED)
SHMEMX_INLINE_RANGE(void, putmem, put, 1)
SHMEMX_INLINE_RANGE(void, putmem_nbi, put, 1)
SHMEMX_INLINE_RANGE(void, getmem, get, 1)
SHMEMX_INLINE_RANGE(void, getmem_nbi, get, 1)
#undef SHMEMX_INLINE_SIZED
#undef SHMEMX_INLINE_TYPED
#undef SHMEMX_INLINE_RANGE

/* --- atomics --- */

/* A function and its twin with a context. The action behind `give` (return, or nothing where nothing is given back) does
 * it at place.to and returns; otherwise the library does. */
#define SHMEMX_UNWRAP(...) __VA_ARGS__
#define SHMEMX_INLINE_BOTH(ret, stem, word, params, args, give, ...)                                                      \
    SHMEMX_INLINED ret shmem_##stem(SHMEMX_UNWRAP params)                                                                 \
    {                                                                                                                     \
        struct shmemx_inline_place place;                                                                                 \
        if (SHMEMX_OFTEN(shmemx_inline_find_word(word, sizeof *word, pe, &place))) {                                     \
            __VA_ARGS__                                                                                                   \
        }                                                                                                                 \
        give pshmem_##stem(SHMEMX_UNWRAP args);                                                                           \
    }                                                                                                                     \
    SHMEMX_INLINED ret shmem_ctx_##stem(shmem_ctx_t ctx, SHMEMX_UNWRAP params)                                            \
    {                                                                                                                     \
        struct shmemx_inline_place place;                                                                                 \
        if (shmemx_inline_is_default(ctx) && SHMEMX_OFTEN(shmemx_inline_find_word(word, sizeof *word, pe, &place))) { \
            __VA_ARGS__                                                                                                   \
        }                                                                                                                 \
        give pshmem_ctx_##stem(ctx, SHMEMX_UNWRAP args);                                                                  \
    }
#define SHMEMX_INLINE_LOOK shmemx_inline_look(&place, dest, sizeof *dest, pe)

#define SHMEMX_INLINE_EXTENDED(TYPE, NAME)                                                                            \
    SHMEMX_INLINE_BOTH(TYPE, NAME##_atomic_fetch, source, (const TYPE *source, int pe), (source, pe), return,         \
                       TYPE old; __atomic_load((TYPE *)place.to, &old, __ATOMIC_SEQ_CST); return old;)                \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_fetch_nbi, source, (TYPE * fetch, const TYPE *source, int pe),             \
                       (fetch, source, pe), ,                                                                         \
                       TYPE old; __atomic_load((TYPE *)place.to, &old, __ATOMIC_SEQ_CST); *fetch = old; return;)      \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_set, dest, (TYPE * dest, TYPE value, int pe), (dest, value, pe), ,         \
                       __atomic_store((TYPE *)place.to, &value, __ATOMIC_RELEASE); SHMEMX_INLINE_LOOK; return;)       \
    SHMEMX_INLINE_BOTH(TYPE, NAME##_atomic_swap, dest, (TYPE * dest, TYPE value, int pe), (dest, value, pe), return,  \
                       TYPE old; __atomic_exchange((TYPE *)place.to, &value, &old, __ATOMIC_SEQ_CST);                 \
                       SHMEMX_INLINE_LOOK; return old;)                                                               \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_swap_nbi, dest, (TYPE * fetch, TYPE * dest, TYPE value, int pe),           \
                       (fetch, dest, value, pe), , TYPE old;                                                          \
                       __atomic_exchange((TYPE *)place.to, &value, &old, __ATOMIC_SEQ_CST); SHMEMX_INLINE_LOOK;       \
                       *fetch = old; return;)
SHMEM_AMO_EXTENDED_TYPES(SHMEMX_INLINE_EXTENDED)
#undef SHMEMX_INLINE_EXTENDED

/* The three forms of an update: `behind` are the parameters behind dest, `given` the same as arguments. */
#define SHMEMX_INLINE_UPDATE(TYPE, NAME, op, builtin, amount, behind, given)                                          \
    SHMEMX_INLINE_BOTH(TYPE, NAME##_atomic_fetch_##op, dest, (TYPE * dest, SHMEMX_UNWRAP behind),                     \
                       (dest, SHMEMX_UNWRAP given), return,                                                           \
                       TYPE old = builtin((TYPE *)place.to, amount, __ATOMIC_SEQ_CST); SHMEMX_INLINE_LOOK;            \
                       return old;)                                                                                   \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_##op, dest, (TYPE * dest, SHMEMX_UNWRAP behind),                           \
                       (dest, SHMEMX_UNWRAP given), , builtin((TYPE *)place.to, amount, __ATOMIC_SEQ_CST);            \
                       SHMEMX_INLINE_LOOK; return;)                                                                   \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_fetch_##op##_nbi, dest, (TYPE * fetch, TYPE * dest, SHMEMX_UNWRAP behind), \
                       (fetch, dest, SHMEMX_UNWRAP given), ,                                                          \
                       TYPE old = builtin((TYPE *)place.to, amount, __ATOMIC_SEQ_CST); SHMEMX_INLINE_LOOK;            \
                       *fetch = old; return;)

#define SHMEMX_INLINE_SWAP                                                                             \
    __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); SHMEMX_INLINE_LOOK
#define SHMEMX_INLINE_STANDARD(TYPE, NAME)                                                                         \
    SHMEMX_INLINE_UPDATE(TYPE, NAME, add, __atomic_fetch_add, value, (TYPE value, int pe), (value, pe))            \
    SHMEMX_INLINE_UPDATE(TYPE, NAME, inc, __atomic_fetch_add, 1, (int pe), (pe))                                   \
    SHMEMX_INLINE_BOTH(TYPE, NAME##_atomic_compare_swap, dest, (TYPE * dest, TYPE cond, TYPE value, int pe),       \
                       (dest, cond, value, pe), return, TYPE *at = (TYPE *)place.to; SHMEMX_INLINE_SWAP;           \
                       return cond;)                                                                               \
    SHMEMX_INLINE_BOTH(void, NAME##_atomic_compare_swap_nbi, dest,                                                 \
                       (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), (fetch, dest, cond, value, pe), \
                       , TYPE *at = (TYPE *)place.to; SHMEMX_INLINE_SWAP; *fetch = cond; return;)
SHMEM_AMO_TYPES(SHMEMX_INLINE_STANDARD)
#undef SHMEMX_INLINE_STANDARD
#undef SHMEMX_INLINE_SWAP

#define SHMEMX_INLINE_BITWISE(TYPE, NAME)                                                               \
    SHMEMX_INLINE_UPDATE(TYPE, NAME, and, __atomic_fetch_and, value, (TYPE value, int pe), (value, pe)) \
    SHMEMX_INLINE_UPDATE(TYPE, NAME, or, __atomic_fetch_or, value, (TYPE value, int pe), (value, pe))   \
    SHMEMX_INLINE_UPDATE(TYPE, NAME, xor, __atomic_fetch_xor, value, (TYPE value, int pe), (value, pe))
SHMEM_AMO_BITWISE_TYPES(SHMEMX_INLINE_BITWISE)
#undef SHMEMX_INLINE_BITWISE
#undef SHMEMX_INLINE_UPDATE
#undef SHMEMX_INLINE_LOOK
#undef SHMEMX_INLINE_BOTH
#undef SHMEMX_UNWRAP
#undef SHMEMX_INLINE_VARIABLE

#endif

/* The inlined form: put, get and atomics of memory that is mapped here, without a call. `oshcc -hm-inline` asks for it
 * (-DSHMEMX_INLINE); it takes a compiler that knows GNU C and optimises. shmem.h includes this file.
 *
 * Nothing changes for a program but the time. Every check is made, and what fails one, or is not mapped, goes to the
 * library's function, which decides and says what is wrong. Only a tool that puts functions of its own in front of the
 * library's does not see these calls; -DSHMEM_PROFILE turns the inlined form off. A pointer to a function is one to the
 * library's, as ever.
 *
 * The checks need the limits and addresses that the library knows. It keeps them in a table of the program's, whose place
 * the linker knows: no pointer to it is read first. A library that has no table of this version leaves it empty: then
 * nothing passes, and all goes to the library.
 *
 * What the shape of the code is for:
 *   - All fields of the table are pointers. An element never is one, so the compiler knows that a store of an element
 *     leaves the table as it is, and reads it once for the whole loop.
 *   - The functions off the good path are declared const, so that there, too, the compiler takes the table and the
 *     program's variables for unchanged. They do change nothing that the program could know of, beside the element,
 *     which it may not expect to see before the next fence, quiet or wait. What const would allow too much, to leave out
 *     a call or to make one of two, the token prevents: a volatile, of which the compiler cannot know what it reads.
 *   - p and g are accesses to volatile and no barriers: as the standard has it, they order nothing.
 *   - Heap and static data have an access each. With one for both the ways join in front of it, and the compiler likes to
 *     reach that place by a jump; a locked instruction behind a jump takes half as long again.
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
#define SHMEMX_INLINE_TEXT(x) SHMEMX_INLINE_TEXT_OF(x)
#define SHMEMX_INLINE_TEXT_OF(x) #x
#define SHMEMX_SELDOM(x) __builtin_expect(!!(x), 0)

/* More bytes than this the library copies, which knows how to. */
#define SHMEMX_INLINE_MOST 8192u

/* --- finding the way --- */

/* One for the whole program, and one for each shared object: the linker makes one of what each unit asks for. */
__asm__(".hidden shmemx_inline_table\n\t.comm shmemx_inline_table," SHMEMX_INLINE_TEXT(SHMEMX_INLINE_BYTES) ",64");
extern struct shmemx_inline_table shmemx_inline_table __attribute__((visibility("hidden")));

/* Before the constructors of the program, which may use the library, and behind its destructors. */
static void __attribute__((constructor(101), used)) shmemx_inline_begin(void)
{
    shmemx_inline_join(SHMEMX_INLINE_VERSION, &shmemx_inline_table);
}
static void __attribute__((destructor(101), used)) shmemx_inline_end(void)
{
    shmemx_inline_leave(&shmemx_inline_table);
}

/* Is this the address of a variable, as far as the compiler sees? Then it is not looked for in the heap. */
#define SHMEMX_INLINE_VARIABLE(addr) (__builtin_object_size(addr, 0) != (size_t)-1)

/* As in the library (core/symm.h), the first byte speaks for up to 16, since segments end on page boundaries. */
SHMEMX_INLINED int shmemx_inline_within(size_t from, size_t bytes, const char *limit)
{
    return from < (uintptr_t)limit && ((__builtin_constant_p(bytes) && bytes <= 16) || bytes <= (uintptr_t)limit - from);
}

/* A place on another PE as it is mapped here, and the bell of that PE. */
struct shmemx_inline_place {
    char *to;
    const volatile uint32_t *bell;
};

SHMEMX_INLINED int shmemx_inline_has_entry(int pe)
{
    return SHMEMX_OFTEN((unsigned)pe < SHMEMX_INLINE_PES);
}

/* Of PEs that have an entry. Does [addr, addr + bytes) lie in the heap? Then at->to is where it is of PE `pe`. If it lies neither there nor in static
 * data, the library must decide. */
SHMEMX_INLINED int shmemx_inline_in_heap(const void *addr, size_t bytes, int pe, struct shmemx_inline_place *at)
{
    const struct shmemx_inline_table *t = &shmemx_inline_table;
    size_t o = (uintptr_t)addr - (uintptr_t)t->heap;
    unsigned i = (unsigned)pe;
    if (SHMEMX_INLINE_VARIABLE(addr)) return 0;
    at->to = t->heap_at[i] + o;
    at->bell = t->bell[i];
    return SHMEMX_OFTEN(shmemx_inline_within(o, bytes, t->heap_limit[i]));
}

SHMEMX_INLINED int shmemx_inline_in_data(const void *addr, size_t bytes, int pe, struct shmemx_inline_place *at)
{
    const struct shmemx_inline_table *t = &shmemx_inline_table;
    size_t o = (uintptr_t)addr - (uintptr_t)t->data;
    unsigned i = (unsigned)pe;
    at->to = t->data_at[i] + o;
    at->bell = t->bell[i];
    return SHMEMX_OFTEN(shmemx_inline_within(o, bytes, t->data_limit[i]));
}

/* The same for elements that are stored in a loop to one PE: all about the PE is read first and without conditions, which is
 * what the compiler moves out of the loop. */
struct shmemx_inline_way {
    char *heap_limit, *data_limit, *heap_at, *data_at;
    const volatile uint32_t *bell;
};

SHMEMX_INLINED struct shmemx_inline_way shmemx_inline_way_to(int pe)
{
    const struct shmemx_inline_table *t = &shmemx_inline_table;
    size_t i = (unsigned)pe < SHMEMX_INLINE_PES ? (unsigned)pe : SHMEMX_INLINE_PES;
    struct shmemx_inline_way w = {t->heap_limit[i], t->data_limit[i], t->heap_at[i], t->data_at[i], t->bell[i]};
    return w;
}

/* Behind a change, which is an atomic, or volatile as the look is, so that the compiler keeps their order. The
 * processor's order is the sleeper's business. */
SHMEMX_INLINED void shmemx_inline_look(const volatile uint32_t *bell, const void *dest, size_t bytes, int pe)
{
    if (SHMEMX_OFTEN(bell[1] == 0)) return;
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
 * into a word (long double) goes to the library's own function off the good path. shmemx_inline_NAME_p
 * is 1 if it has stored. */
#define SHMEMX_INLINE_ELEMENT(TYPE, NAME)                                                                            \
    SHMEMX_INLINED int shmemx_inline_##NAME##_p(TYPE *dest, TYPE value, int pe)                                      \
    {                                                                                                                \
        struct shmemx_inline_way w = shmemx_inline_way_to(pe);                                                       \
        size_t in_heap = (uintptr_t)dest - (uintptr_t)shmemx_inline_table.heap;                                      \
        size_t in_data = (uintptr_t)dest - (uintptr_t)shmemx_inline_table.data;                                      \
        if (!SHMEMX_INLINE_VARIABLE(dest) && SHMEMX_OFTEN(shmemx_inline_within(in_heap, 1, w.heap_limit))) {         \
            *(volatile TYPE *)(w.heap_at + in_heap) = value;                                                         \
            shmemx_inline_look(w.bell, dest, sizeof value, pe);                                                      \
            return 1;                                                                                                \
        }                                                                                                            \
        if (SHMEMX_SELDOM(!shmemx_inline_within(in_data, 1, w.data_limit))) return 0;                                \
        *(volatile TYPE *)(w.data_at + in_data) = value;                                                             \
        shmemx_inline_look(w.bell, dest, sizeof value, pe);                                                          \
        return 1;                                                                                                    \
    }                                                                                                                \
    SHMEMX_INLINED void shmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                                             \
    {                                                                                                                \
        if (SHMEMX_OFTEN(shmemx_inline_##NAME##_p(dest, value, pe))) return;                                         \
        if (sizeof value <= 8)                                                                                       \
            shmemx_inline_p_else(dest, &value, sizeof value & 15, pe, "shmem_" #NAME "_p");                          \
        else                                                                                                         \
            pshmem_##NAME##_p(dest, value, pe);                                                                      \
    }                                                                                                                \
    SHMEMX_INLINED TYPE shmem_##NAME##_g(const TYPE *source, int pe)                                                 \
    {                                                                                                                \
        struct shmemx_inline_place at;                                                                               \
        TYPE value;                                                                                                  \
        if (shmemx_inline_has_entry(pe)) {                                                                           \
            if (SHMEMX_OFTEN(shmemx_inline_in_heap(source, 1, pe, &at))) return *(const volatile TYPE *)at.to;       \
            if (SHMEMX_OFTEN(shmemx_inline_in_data(source, 1, pe, &at))) return *(const volatile TYPE *)at.to;       \
        }                                                                                                            \
        if (sizeof value > 8) return pshmem_##NAME##_g(source, pe);                                                  \
        shmemx_inline_g_else(&value, source, sizeof value & 15, pe, "shmem_" #NAME "_g");                            \
        return value;                                                                                                \
    }                                                                                                                \
    SHMEMX_INLINED void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)                        \
    {                                                                                                                \
        if (!shmemx_inline_is_default(ctx) || SHMEMX_SELDOM(!shmemx_inline_##NAME##_p(dest, value, pe)))             \
            pshmem_ctx_##NAME##_p(ctx, dest, value, pe);                                                             \
    }                                                                                                                \
    SHMEMX_INLINED TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe)                            \
    {                                                                                                                \
        struct shmemx_inline_place at;                                                                               \
        if (!shmemx_inline_is_default(ctx)) return pshmem_ctx_##NAME##_g(ctx, source, pe);                           \
        if (shmemx_inline_has_entry(pe)) {                                                                           \
            if (SHMEMX_OFTEN(shmemx_inline_in_heap(source, 1, pe, &at))) return *(const volatile TYPE *)at.to;       \
            if (SHMEMX_OFTEN(shmemx_inline_in_data(source, 1, pe, &at))) return *(const volatile TYPE *)at.to;       \
        }                                                                                                            \
        return pshmem_ctx_##NAME##_g(ctx, source, pe);                                                               \
    }
SHMEM_RMA_TYPES(SHMEMX_INLINE_ELEMENT)
#undef SHMEMX_INLINE_ELEMENT

/* --- ranges --- */

/* A few loads and stores instead of a call where the compiler does not know how many bytes there are. As in the library
 * (core/move.h) what is one element of a type is stored once: who waits for it may reset it as soon as he sees it. */
typedef long long shmemx_inline_16 __attribute__((vector_size(16), may_alias, aligned(1)));

SHMEMX_INLINED void shmemx_inline_move_tiny(char *to, const char *from, size_t n)
{
    if (n >= 8) {
        uint64_t a, z;
        __builtin_memcpy(&a, from, 8), __builtin_memcpy(&z, from + n - 8, 8);
        __builtin_memcpy(to, &a, 8);
        if (n > 8) __builtin_memcpy(to + n - 8, &z, 8);
    } else if (n >= 4) {
        uint32_t a, z;
        __builtin_memcpy(&a, from, 4), __builtin_memcpy(&z, from + n - 4, 4);
        __builtin_memcpy(to, &a, 4);
        if (n > 4) __builtin_memcpy(to + n - 4, &z, 4);
    } else if (n) {
        uint16_t a;
        char last = from[n - 1];
        if (n > 1) {
            __builtin_memcpy(&a, from, 2);
            __builtin_memcpy(to, &a, 2);
        }
        if (n != 2) to[n - 1] = last;
    }
}

SHMEMX_INLINED void shmemx_inline_move(char *to, const char *from, size_t n)
{
    if (__builtin_constant_p(n) || n > 64) {
        __builtin_memcpy(to, from, n);
    } else if (n > 32) {
        shmemx_inline_16 a, b, y, z;
        __builtin_memcpy(&a, from, 16), __builtin_memcpy(&b, from + 16, 16);
        __builtin_memcpy(&y, from + n - 32, 16), __builtin_memcpy(&z, from + n - 16, 16);
        __builtin_memcpy(to, &a, 16), __builtin_memcpy(to + 16, &b, 16);
        __builtin_memcpy(to + n - 32, &y, 16), __builtin_memcpy(to + n - 16, &z, 16);
    } else if (n >= 16) {
        shmemx_inline_16 a, z;
        __builtin_memcpy(&a, from, 16), __builtin_memcpy(&z, from + n - 16, 16);
        __builtin_memcpy(to, &a, 16);
        if (n > 16) __builtin_memcpy(to + n - 16, &z, 16);
    } else {
        shmemx_inline_move_tiny(to, from, n);
    }
}

SHMEMX_INLINED int shmemx_inline_find(const void *addr, size_t bytes, int pe, struct shmemx_inline_place *at)
{
    if (!shmemx_inline_has_entry(pe)) return 0;
    if (SHMEMX_OFTEN(shmemx_inline_in_heap(addr, bytes, pe, at))) return 1;
    return SHMEMX_OFTEN(shmemx_inline_in_data(addr, bytes, pe, at));
}

SHMEMX_INLINED int shmemx_inline_put(void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    struct shmemx_inline_place at;
    if (SHMEMX_SELDOM(nelems > SHMEMX_INLINE_MOST / size) || !shmemx_inline_find(dest, nelems * size, pe, &at)) return 0;
    shmemx_inline_move(at.to, (const char *)source, nelems * size);
    __asm__ volatile("" ::: "memory"); /* the look comes behind */
    shmemx_inline_look(at.bell, dest, nelems * size, pe);
    return 1;
}

SHMEMX_INLINED int shmemx_inline_get(void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    struct shmemx_inline_place at;
    if (SHMEMX_SELDOM(nelems > SHMEMX_INLINE_MOST / size) || !shmemx_inline_find(source, nelems * size, pe, &at)) return 0;
    shmemx_inline_move((char *)dest, at.to, nelems * size);
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

SHMEMX_INLINED int shmemx_inline_is_whole(const void *addr, size_t size)
{
    return SHMEMX_OFTEN(((uintptr_t)addr & (size - 1)) == 0);
}

/* A function and its twin with a context. The action behind `give` (return, or nothing where nothing is given back) does
 * it at place.to and returns; otherwise the library does. */
#define SHMEMX_UNWRAP(...) __VA_ARGS__
#define SHMEMX_INLINE_HERE(word, ...)                                                        \
    if (shmemx_inline_is_whole(word, sizeof *word) && shmemx_inline_has_entry(pe)) {         \
        struct shmemx_inline_place place;                                                    \
        if (SHMEMX_OFTEN(shmemx_inline_in_heap(word, sizeof *word, pe, &place))) { __VA_ARGS__ } \
        if (SHMEMX_OFTEN(shmemx_inline_in_data(word, sizeof *word, pe, &place))) { __VA_ARGS__ } \
    }
#define SHMEMX_INLINE_BOTH(ret, stem, word, params, args, give, ...)                    \
    SHMEMX_INLINED ret shmem_##stem(SHMEMX_UNWRAP params)                               \
    {                                                                                   \
        SHMEMX_INLINE_HERE(word, __VA_ARGS__)                                           \
        give pshmem_##stem(SHMEMX_UNWRAP args);                                         \
    }                                                                                   \
    SHMEMX_INLINED ret shmem_ctx_##stem(shmem_ctx_t ctx, SHMEMX_UNWRAP params)          \
    {                                                                                   \
        if (shmemx_inline_is_default(ctx)) { SHMEMX_INLINE_HERE(word, __VA_ARGS__) }    \
        give pshmem_ctx_##stem(ctx, SHMEMX_UNWRAP args);                                \
    }
#define SHMEMX_INLINE_LOOK shmemx_inline_look(place.bell, dest, sizeof *dest, pe)

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
#undef SHMEMX_INLINE_HERE
#undef SHMEMX_UNWRAP
#undef SHMEMX_INLINE_VARIABLE

#endif

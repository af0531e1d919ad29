#define _GNU_SOURCE
#include "core/plain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/maps.h"
#include "core/symm.h"

/* --- what malloc takes with brk --- */

static uintptr_t brk_start; /* it grows and shrinks at its other end alone */

static bool note_heap(void *start, const struct hm_map *map)
{
    if (strcmp(map->path, "[heap]")) return true;
    *(uintptr_t *)start = map->start;
    return false;
}

static bool by_brk(uintptr_t addr) { return addr >= brk_start && addr < (uintptr_t)sbrk(0); }

/* --- the stack of this thread --- */

struct stack {
    uintptr_t start, end;
};
static pthread_key_t stack_key;
static bool has_key;

static struct stack look_at_stack(void)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attr)) return (struct stack){0};
    if (pthread_attr_getstack(&attr, &at, &bytes)) bytes = 0;
    pthread_attr_destroy(&attr);
    return (struct stack){(uintptr_t)at, (uintptr_t)at + bytes};
}

/* No variable of the thread's own, for which a library that is loaded late gets little room. NULL: nothing is known. */
static const struct stack *stack_of_thread(void)
{
    struct stack *s = has_key ? pthread_getspecific(stack_key) : NULL;
    if (s || !has_key || !(s = malloc(sizeof *s))) return s;
    *s = look_at_stack();
    if (!pthread_setspecific(stack_key, s)) return s;
    free(s);
    return NULL;
}

/* From this frame upwards: what is below may not be mapped yet, or be something else. A thread that has gone over to a stack
 * of the program's making knows nothing of that one. */
static bool on_stack(uintptr_t addr)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (addr < frame) return false;
    const struct stack *s = stack_of_thread();
    return s && frame >= s->start && addr < s->end;
}

/* --- all of it --- */

static void make_key(void) { has_key = !pthread_key_create(&stack_key, free); }

void hm_plain_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uintptr_t start = (uintptr_t)sbrk(0);
    pthread_once(&once, make_key);
    if (brk_start) return; /* an earlier init */
    (void)hm_maps_each(note_heap, &start);
    brk_start = start;
}

bool hm_plain_holds(const void *addr)
{
    uintptr_t at = (uintptr_t)addr;
    if (at - hm_symm.heap_base < hm_symm.heap_size || at - hm_symm.data_base < hm_symm.data_span) return true;
    return by_brk(at) || on_stack(at);
}

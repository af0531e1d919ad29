/* What the files of this folder share. A body here checks its arguments, counts bytes and calls one function
 * of the floors below; it keeps no state and calls no public name. */
#ifndef HM_API_H
#define HM_API_H

#pragma GCC visibility push(default)
#include <shmem.h>
#include <shmemx.h>
#include <pshmem.h>
#pragma GCC visibility pop

#include "base/base.h"
#include "base/log.h"
#include "core/ctx.h"
#include "core/symm.h"
#include "core/world.h"

/* What every access reads. Hidden, so that it is addressed directly also inside the shared library. */
extern struct hm_symm hm_symm __attribute__((visibility("hidden")));
extern struct hm_ctx hm_ctx_default __attribute__((visibility("hidden")));
extern struct hm_world hm_world __attribute__((visibility("hidden")));
extern struct hm_team *hm_team_world __attribute__((visibility("hidden")));

/* Begins the definition of a public function: the body is that of pshmem_X; shmem_X is a weak name of it,
 * which a tool may define anew, in the program or preloaded. */
#define HM_API(ret, name, params)                                            \
    extern __typeof__(p##name) name __attribute__((weak, alias("p" #name))); \
    ret p##name params

/* The two forms of a function, <x>_<stem> and <x>_ctx_<stem>: in the body c is the context, pe a number of
 * the world and call the name of the function. */
#define HM_API_BOTH(x, ret, stem, params, ...)                       \
    HM_API(ret, x##_##stem, (HM_UNWRAP params))                      \
    {                                                                \
        const char *const call = #x "_" #stem;                       \
        struct hm_ctx *const c = &hm_ctx_default;                    \
        __VA_ARGS__                                                  \
    }                                                                \
    HM_API(ret, x##_ctx_##stem, (shmem_ctx_t ctx, HM_UNWRAP params)) \
    {                                                                \
        const char *const call = #x "_ctx_" #stem;                   \
        struct hm_ctx *const c = hm_api_ctx(ctx, &pe, call);         \
        __VA_ARGS__                                                  \
    }
#define HM_UNWRAP(...) __VA_ARGS__

/* n elements of a constant size in bytes. More than there can be saturates: such a range lies in no segment,
 * so that the cold path of whoever gets it reports it. */
HM_INLINE size_t hm_bytes(size_t n, size_t size)
{
    size_t bytes;
    return hm_unlikely(__builtin_mul_overflow(n, size, &bytes)) ? SIZE_MAX : bytes;
}

HM_INLINE hm_handle hm_handle_of_team(shmem_team_t team)
{
    return (hm_handle)team;
}
HM_INLINE hm_handle hm_handle_of_ctx(shmem_ctx_t ctx)
{
    return (hm_handle)ctx;
}

/* The context of a ctx form, with *pe turned into a number of the world. */
HM_INLINE struct hm_ctx *hm_api_ctx(shmem_ctx_t ctx, int *pe, const char *call)
{
    return hm_ctx_of(hm_handle_of_ctx(ctx), pe, call);
}

/* The team of a collective. */
HM_INLINE struct hm_team *hm_api_team(shmem_team_t team, const char *call)
{
    hm_world_need(call);
    if (hm_likely(hm_handle_of_team(team) == HM_TEAM_WORLD_HANDLE)) return hm_team_world;
    return hm_team_need(hm_handle_of_team(team), call);
}

/* The active set of a collective of before 1.5. */
HM_INLINE struct hm_team *hm_api_set(int start, int log_stride, int size, const char *call)
{
    hm_world_need(call);
    return hm_team_of_set(start, log_stride, size, call);
}

#endif

/* Contexts. On mapped memory every operation is complete when it returns, so a context is a team and its options;
 * a lane is what a transport keeps for it. Handles are index + generation + tag in a pointer's clothes: never followed. */
#ifndef HM_CTX_H
#define HM_CTX_H

#include "base/base.h"
#include "base/option.h"
#include "core/team.h"

struct hm_lane;
struct hm_packer;
struct hm_flow;

struct hm_ctx {
    uint32_t generation; /* odd: in use */
    uint32_t options;    /* SHMEM_CTX_* bits */
    struct hm_team *team; /* NULL: world team, PE numbers need no translation */
    hm_handle team_handle;
    uint32_t session; /* 0: none; else options of the session, bit 31 set */
    size_t session_ops;
    uint64_t writes, reads; /* operations so far, under SHMEM_COUNT */
    struct hm_lane *lane;   /* of the transport; NULL: not used so far */
    struct hm_packer *packer; /* of small operations (pack.h); NULL: not used so far, or there is none */
    bool on_device; /* copies of device memory or requests to agents may be under way: see device.h */
    struct hm_flow *flow; /* of those copies; NULL: not used so far */
    uint64_t copies, copied; /* that were left under way on it; so many of them are complete */
    uint64_t asked; /* of agents, without waiting; agent.c's */
    bool owned;     /* private, with --check: ... */
    uint64_t owner; /* ... the thread that created it, and must destroy it */
};

#define HM_CTX_DEFAULT_HANDLE ((hm_handle)0x10000c) /* generation 1, index 0: as shmem.h spells it */
extern struct hm_ctx hm_ctx_default;
/* Of the library's own: what it sends between machines. Its PE numbers are world numbers. */
extern struct hm_ctx hm_ctx_inner;

/* SHMEM_COUNT closes the good path, so that every access passes where it is counted. */
static inline void hm_ctx_count(uint64_t *counter, size_t n)
{
    if (hm_unlikely(hm_options.count)) __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* The context of a handle; ends the job with a sentence for one that is invalid or was destroyed. */
struct hm_ctx *hm_ctx_get(hm_handle handle, const char *call);

/* Can this handle be used now? Whatever it is, no message. */
bool hm_ctx_is_valid(hm_handle handle);

/* World number of PE `pe` of the context's team; ends the job with a sentence when it has none, or the team is no more. */
int hm_ctx_world_pe(const struct hm_ctx *ctx, int pe, const char *call);

/* For the ctx forms: the context, and *pe turned into a world number (checked against the context's team). */
HM_INLINE struct hm_ctx *hm_ctx_of(hm_handle handle, int *pe, const char *call)
{
    if (hm_likely(handle == HM_CTX_DEFAULT_HANDLE)) return &hm_ctx_default;
    struct hm_ctx *ctx = hm_ctx_get(handle, call);
    if (ctx->team) *pe = hm_ctx_world_pe(ctx, *pe, call);
    return ctx;
}

/* Who is running is for the program to say; NULL: for the system. */
void hm_ctx_register_gettid(uint64_t (*gettid_fn)(void));

/* 0, or non-zero with *handle = 0 (CTX_INVALID). team 0 (TEAM_INVALID) gives non-zero. */
int hm_ctx_create(hm_handle team, long options, hm_handle *handle, const char *call);
void hm_ctx_destroy(hm_handle handle, const char *call);
int hm_ctx_get_team(hm_handle handle, hm_handle *team, const char *call);
void hm_ctx_session_start(hm_handle handle, long options, const size_t *total_ops, const char *call);
void hm_ctx_session_stop(hm_handle handle, const char *call);
/* All shareable contexts of a team (NULL: of all teams), at team_destroy and finalize. */
void hm_ctx_destroy_all(struct hm_team *team);
/* Everything on all contexts is complete. */
void hm_ctx_quiet_all(void);

#endif

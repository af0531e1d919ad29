/* shmemx_ctx_is_valid and shmemx_team_is_valid: live handles, those of before, junk, and outside of init and finalize.
 */
#include <shmemx.h>

#include "check.h"

static void check_junk(void)
{
    const uintptr_t junk[] = {0, 1, 2, 0xa, 0xc, 0xffff, 0x10000a + 0x100000, 0xfffffffffffffffaull, 0xfffffffffffffffcull,
                              (uintptr_t)&check_failures, (uintptr_t)junk, 0x8000000000000000ull | 0x10000c,
                              0x8000000000000000ull | 0x10000a, 0x10000c | 0xffff0, 0x10000a | 0xffff0};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        CHECK(!shmemx_ctx_is_valid((shmem_ctx_t)junk[i]), "a context: %#lx", (long)junk[i]);
        CHECK(!shmemx_team_is_valid((shmem_team_t)junk[i]), "a team: %#lx", (long)junk[i]);
    }
    struct random r = {77};
    for (int i = 0; i < 20000; i++) { /* near the handles that are live, and far from them */
        uintptr_t low = random_next(&r) & 0xffffff, any = random_next(&r) | (uintptr_t)1 << 63;
        (void)shmemx_ctx_is_valid((shmem_ctx_t)low);
        (void)shmemx_team_is_valid((shmem_team_t)low);
        CHECK(!shmemx_ctx_is_valid((shmem_ctx_t)any) && !shmemx_team_is_valid((shmem_team_t)any), "%#lx", (long)any);
    }
}

static void check_outside(const char *when)
{
    CHECK(!shmemx_ctx_is_valid(SHMEM_CTX_DEFAULT), "%s", when);
    CHECK(!shmemx_team_is_valid(SHMEM_TEAM_WORLD) && !shmemx_team_is_valid(SHMEM_TEAM_SHARED), "%s", when);
    check_junk();
}

static shmem_ctx_t old_ctx;
static shmem_team_t old_team;

static void check_inside(void)
{
    shmem_ctx_t ctx, shared, private;
    shmem_team_t team, again;
    CHECK(shmemx_ctx_is_valid(SHMEM_CTX_DEFAULT), "default");
    CHECK(shmemx_team_is_valid(SHMEM_TEAM_WORLD) && shmemx_team_is_valid(SHMEM_TEAM_SHARED), "predefined");
    check_junk();
    CHECK(!shmem_ctx_create(0, &ctx) && shmemx_ctx_is_valid(ctx), "a new context");
    CHECK(!shmemx_team_is_valid((shmem_team_t)ctx), "a context is no team");
    shmem_ctx_destroy(ctx);
    CHECK(!shmemx_ctx_is_valid(ctx), "a destroyed context");
    CHECK(!shmem_ctx_create(0, &old_ctx) && shmemx_ctx_is_valid(old_ctx) && !shmemx_ctx_is_valid(ctx), "in its place");
    CHECK(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) && shmemx_team_is_valid(team), "team");
    CHECK(!shmemx_ctx_is_valid((shmem_ctx_t)team), "a team is no context");
    CHECK(!shmem_team_create_ctx(team, 0, &shared) && !shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &private), "of it");
    CHECK(shmemx_ctx_is_valid(shared) && shmemx_ctx_is_valid(private), "contexts of a team");
    shmem_team_destroy(team);
    CHECK(!shmemx_team_is_valid(team), "a destroyed team");
    CHECK(!shmemx_ctx_is_valid(shared) && !shmemx_ctx_is_valid(private), "contexts of a destroyed team");
    CHECK(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &again), "another team");
    CHECK(shmemx_team_is_valid(again) && !shmemx_team_is_valid(team) && !shmemx_ctx_is_valid(private), "in its place");
    shmem_ctx_destroy(private);
    old_team = again;
}

int main(void)
{
    check_outside("before init");
    for (int i = 0; i < 3; i++) {
        check_start();
        CHECK(!shmemx_ctx_is_valid(old_ctx) && !shmemx_team_is_valid(old_team), "handles of before the last finalize");
        check_inside();
        shmem_finalize();
        check_outside("after finalize");
    }
    check_start();
    return check_end();
}

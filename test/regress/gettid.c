/* shmemx_register_gettid, SHMEMX_TEAM_NODE and SHMEMX_MALLOC_NO_BARRIER, which programs written for another library use, did
 * not exist. With --check the library asks the registered function whose a private context is. */
/* env: SHMEM_CHECK=on */
#include "../spec/check.h"
#include <shmemx.h>

static uint64_t who = 4711;
static int asked;

static uint64_t gettid_of_ours(void)
{
    asked++;
    return who;
}

int main(void)
{
    shmem_ctx_t ctx;
    static long sum;
    shmemx_register_gettid(gettid_of_ours);
    check_start();
    CHECK_NUM(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0, "create");
    CHECK(asked > 0, "asked %d times", asked);
    shmem_ctx_long_atomic_add(ctx, &sum, me + 1, right);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    CHECK_NUM(sum, left + 1L, "sum");
    CHECK_NUM(shmem_team_n_pes(SHMEMX_TEAM_NODE), shmem_team_n_pes(SHMEM_TEAM_SHARED), "team");
    long *block[4];
    for (int i = 0; i < 4; i++) {
        block[i] = shmem_malloc_with_hints(sizeof(long), SHMEMX_MALLOC_NO_BARRIER);
        CHECK(block[i] != NULL, "block %d", i);
        *block[i] = -1;
    }
    shmem_barrier_all();
    for (int i = 0; i < 4; i++) shmem_long_p(block[i], 10 * me + i, right);
    shmem_barrier_all();
    for (int i = 0; i < 4; i++) CHECK_NUM(*block[i], 10L * left + i, "block %d", i);
    for (int i = 0; i < 4; i++) shmem_free(block[i]);
    return check_end();
}

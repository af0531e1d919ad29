/* npes: 1 2 3 */
/* env: SHMEM_COUNT=on */
/* The counters of contexts: each context has its own, and every kind of operation counts as what it is. */
#include <shmemx.h>

#include "check.h"

static long words[64];
static uint64_t sig;

static void expect(shmem_ctx_t ctx, uint64_t writes, uint64_t reads)
{
    uint64_t seen = 99;
    shmemx_pcntr_t all = {9, 9, 9, 9, 9};
    shmemx_pcntr_get_issued_write(ctx, &seen);
    CHECK_NUM(seen, writes, "issued writes");
    shmemx_pcntr_get_completed_write(ctx, &seen);
    CHECK_NUM(seen, writes, "completed writes");
    shmemx_pcntr_get_issued_read(ctx, &seen);
    CHECK_NUM(seen, reads, "issued reads");
    shmemx_pcntr_get_completed_read(ctx, &seen);
    CHECK_NUM(seen, reads, "completed reads");
    shmemx_pcntr_get_completed_target(&seen);
    CHECK_NUM(seen, 0, "target");
    shmemx_pcntr_get_all(ctx, &all);
    CHECK(all.completed_put == writes && all.pending_put == writes, "all: writes");
    CHECK(all.completed_get == reads && all.pending_get == reads && all.target == 0, "all: reads");
}

int main(void)
{
    shmem_ctx_t ctx, other;
    long local[4] = {0};
    size_t index[3] = {0, 1, 2};
    check_start();
    int pes[3] = {right, right, right};
    long *heap = shmem_calloc(64, sizeof *heap);
    CHECK(heap && !shmem_ctx_create(0, &ctx) && !shmem_ctx_create(SHMEM_CTX_PRIVATE, &other), "contexts");
    expect(ctx, 0, 0);
    shmem_ctx_long_p(ctx, &words[0], 1, right);
    shmem_ctx_long_put(ctx, heap, local, 4, right);
    shmem_ctx_putmem_nbi(ctx, heap, local, 8, right);
    shmem_ctx_long_iput(ctx, heap, local, 2, 1, 4, right);
    shmem_ctx_long_put(ctx, heap, local, 0, right); /* nothing is nothing */
    expect(ctx, 4, 0);
    (void)shmem_ctx_long_g(ctx, heap, right);
    shmem_ctx_long_get(ctx, local, words, 2, right);
    shmem_ctx_long_iget(ctx, local, heap, 1, 2, 2, right);
    expect(ctx, 4, 3);
    shmem_ctx_long_atomic_add(ctx, heap, 1, right);
    shmem_ctx_long_atomic_set(ctx, heap, 1, right);
    (void)shmem_ctx_long_atomic_fetch_add(ctx, heap, 1, right);
    (void)shmem_ctx_long_atomic_swap(ctx, heap, 1, right);
    (void)shmem_ctx_long_atomic_fetch(ctx, heap, right);
    expect(ctx, 6, 6);
    shmem_ctx_long_put_signal(ctx, heap, local, 4, &sig, 1, SHMEM_SIGNAL_SET, right);
    shmem_ctx_signal_add(ctx, &sig, 1, right);
    expect(ctx, 9, 6);
    shmemx_ctx_long_gather(ctx, local, words, index, pes, 3);
    shmemx_ctx_long_scatter(ctx, words, local, index, pes, 3);
    shmemx_ctx_long_scatter_add(ctx, words, local, index, pes, 3);
    expect(ctx, 15, 9);
    expect(other, 0, 0);
    uint64_t before = 0, after = 0;
    shmemx_pcntr_get_issued_write(SHMEM_CTX_DEFAULT, &before);
    shmem_long_p(&words[1], 1, right);
    shmemx_pcntr_get_issued_write(SHMEM_CTX_DEFAULT, &after);
    CHECK_NUM(after, before + 1, "the default context");
    shmem_ctx_destroy(ctx);
    CHECK(!shmem_ctx_create(0, &ctx), "a context anew");
    expect(ctx, 0, 0);
    shmem_ctx_destroy(ctx);
    shmem_ctx_destroy(other);
    return check_end();
}

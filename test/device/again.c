/* layouts: 1+1 */
/* A job may begin again, with its devices; what is under way at finalize, on whatever context, is done there. */
#include <shmem.h>
#include <stdio.h>

enum { TIMES = 3, ADDS = 700 };

int main(void)
{
    int wrong = 0;
    for (int k = 0; k < TIMES; k++) {
        shmem_init();
        int me = shmem_my_pe(), npes = shmem_n_pes();
        long zero = 0, *word = shmem_malloc(sizeof *word);
        shmem_ctx_t ctx;
        shmem_long_put(word, &zero, 1, me);
        shmem_ctx_create(0, &ctx);
        shmem_barrier_all();
        for (int i = 0; i < ADDS; i++) shmem_long_atomic_add(word, 1, (me + 1) % npes);
        shmem_ctx_long_atomic_add(ctx, word, 5, (me + 1) % npes);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        long seen = shmem_long_g(word, me);
        shmem_barrier_all();
        if (seen != ADDS + 5) printf("time %d, PE %d: %ld instead of %d\n", k, me, seen, ADDS + 5), wrong = 1;
        shmem_ctx_long_atomic_add(ctx, word, 5, (me + 1) % npes);
        shmem_finalize();
    }
    return wrong;
}

/* One wrong use of the library per run, named by the first argument. Every one of them must end the job with a sentence;
 * whoever comes to the end of main prints "survived". */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long global_word;
static long me, npes, *block, *other;
static long on_stack[1]; /* not on the stack: symmetric */

static void stack(void)
{
    long local = 0;
    shmem_long_p(&local, 1, (int)npes - 1);
}
static void malloced(void)
{
    long *p = malloc(64);
    shmem_long_p(p, 1, (int)npes - 1);
}
static void malloced_big(void)
{
    char *p = malloc(10 << 20);
    shmem_putmem(p, "x", 1, (int)npes - 1);
}
static void library_data(void)
{
    shmem_putmem(stdin, &me, sizeof me, (int)npes - 1); /* an object in libc's data */
}
static void read_only(void) { shmem_putmem((void *)"text", &me, 4, (int)npes - 1); }
static void null_put(void) { shmem_putmem(NULL, &me, 4, (int)npes - 1); }
static void code(void) { shmem_getmem(on_stack, (void *)(uintptr_t)&code, 4, (int)npes - 1); }
static void above_top(void) { shmem_long_p((long *)((char *)block + (64 << 20)), 1, (int)npes - 1); }
static void get_stack(void)
{
    long local = 0;
    (void)shmem_long_g(&local, (int)npes - 1);
}
static void range_heap(void)
{
    char *big = malloc(1 << 20);
    memset(big, 0, 1 << 20);
    shmem_putmem((char *)block + 4096 - 8, big, 1 << 20, (int)npes - 1);
}
static void range_data(void)
{
    size_t n = (size_t)1 << 40;
    shmem_getmem(block, &global_word, n, (int)npes - 1);
}
static void range_overflow(void) { shmem_long_put(block, block, SIZE_MAX / 4, (int)npes - 1); }
static void range_stride(void) { shmem_long_iput(block, block, (ptrdiff_t)1 << 40, 1, 1000, (int)npes - 1); }
static void stride_zero(void) { shmem_long_iput(block, block, 0, 1, 4, (int)npes - 1); }
static void stride_block(void) { shmem_long_ibput(block, block, 2, 4, 3, 2, (int)npes - 1); }
static void pe_high(void) { shmem_long_p(block, 1, (int)npes); }
static void pe_negative(void) { shmem_long_p(block, 1, -1); }
static void pe_atomic(void) { shmem_long_atomic_inc(block, 99999); }
static void pe_lost(void) { shmem_getmem(block, block, 8, 1 << 30); }
static void team_rank(void)
{
    shmem_team_t t;
    shmem_ctx_t c;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &t);
    if (me == 0 && shmem_team_create_ctx(t, 0, &c) == 0) shmem_ctx_long_p(c, block, 1, 1);
    shmem_barrier_all();
}
static void misaligned(void) { shmem_long_atomic_inc((long *)((char *)block + 3), (int)npes - 1); }
static void misaligned32(void) { shmem_int_atomic_fetch_add((int *)((char *)block + 2), 1, (int)npes - 1); }
static void misaligned_signal(void)
{
    shmem_signal_set((uint64_t *)((char *)block + 4), 1, (int)npes - 1);
}
static void signal_op(void) { shmem_putmem_signal(block, other, 8, (uint64_t *)block + 8, 1, 7, (int)npes - 1); }
static void stale_team(void)
{
    shmem_team_t t;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, (int)npes, NULL, 0, &t);
    shmem_team_destroy(t);
    shmem_team_sync(t);
}
static void wild_team(void) { shmem_team_sync((shmem_team_t)(uintptr_t)0x12345678); }
static void invalid_team(void) { shmem_team_sync(SHMEM_TEAM_INVALID); }
static void stale_ctx(void)
{
    shmem_ctx_t c;
    shmem_ctx_create(0, &c);
    shmem_ctx_destroy(c);
    shmem_ctx_long_p(c, block, 1, 0);
}
static void wild_ctx(void) { shmem_ctx_quiet((shmem_ctx_t)(uintptr_t)0x777); }
static void world_destroy(void) { shmem_team_destroy(SHMEM_TEAM_WORLD); }
static void default_destroy(void) { shmem_ctx_destroy(SHMEM_CTX_DEFAULT); }
static void malloc_differs(void) { (void)shmem_malloc(me == 0 ? 64 : 128); }
static void malloc_barrier(void)
{
    if (me == 0) (void)shmem_malloc(64);
    else shmem_barrier_all();
}
static void free_differs(void) { shmem_free(me == 0 ? block : other); }
static void double_free(void)
{
    shmem_free(block);
    shmem_free(block);
}
static void free_inside(void) { shmem_free(block + 1); }
static void free_malloc(void) { shmem_free(malloc(8)); }
static void coll_differs(void)
{
    if (me == 0) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, other, block, 8);
    else shmem_long_max_reduce(SHMEM_TEAM_WORLD, other, block, 8);
}
static void root_differs(void) { shmem_long_broadcast(SHMEM_TEAM_WORLD, other, block, 8, (int)(me == 0)); }
static void root_wild(void) { shmem_long_broadcast(SHMEM_TEAM_WORLD, other, block, 8, 77); }
static void size_differs(void) { shmem_long_fcollect(SHMEM_TEAM_WORLD, other, block, me == 0 ? 1 : 2); }
static void coll_stack(void)
{
    long local[4] = {0};
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, local, block, 4);
}
static void finalize_barrier(void)
{
    if (me == 0) shmem_finalize();
    else shmem_barrier_all();
}
static void wait_stack(void)
{
    long local = 0;
    shmem_long_wait_until(&local, SHMEM_CMP_EQ, 1);
}
static void wait_cmp(void) { shmem_long_wait_until(block, 17, 1); }
static void lock_stack(void)
{
    long local = 0;
    shmem_set_lock(&local);
}
static void lock_not_held(void) { shmem_clear_lock(&global_word); }
static void align_odd(void) { (void)shmem_align(24, 64); }
static void set_wrong(void)
{
    static long psync[SHMEM_SYNC_SIZE];
    shmem_barrier(0, 0, 1000, psync);
}
static void set_not_in(void)
{
    static long psync[SHMEM_SYNC_SIZE];
    if (me == npes - 1 && npes > 1) shmem_barrier(0, 0, 1, psync);
    else sleep(20);
}
static void freed_page(void)
{
    char *p = shmem_malloc(1 << 20);
    char *behind = shmem_malloc(64);
    shmem_free(p);
    (void)behind;
    shmem_putmem(p + 8192, &me, 4, (int)npes - 1);
}
static void thread_level(void)
{
    int provided;
    shmem_init_thread(99, &provided);
}
static void sync_pe_wild(void) { shmemx_sync_pe(1000); }
static void after_finalize(void)
{
    shmem_finalize();
    shmem_long_p(&global_word, 1, 0);
}
static void barrier_after_finalize(void)
{
    shmem_finalize();
    shmem_barrier_all();
}
/* caught under --check */
static void check_freed(void)
{
    long *a = shmem_malloc(64), *b = shmem_malloc(64);
    shmem_free(a);
    shmem_long_p(a, 1, (int)npes - 1);
    (void)b;
}
static void check_overrun(void)
{
    char *a = shmem_malloc(100), *b = shmem_malloc(100);
    char text[128] = {0};
    (void)b;
    shmem_putmem(a, text, 128, (int)npes - 1);
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(stack), CASE(malloced), CASE(malloced_big), CASE(library_data), CASE(read_only), CASE(null_put), CASE(code),
    CASE(above_top), CASE(get_stack), CASE(range_heap), CASE(range_data), CASE(range_overflow), CASE(range_stride),
    CASE(stride_zero), CASE(stride_block), CASE(pe_high), CASE(pe_negative), CASE(pe_atomic), CASE(pe_lost),
    CASE(team_rank), CASE(misaligned), CASE(misaligned32), CASE(misaligned_signal), CASE(signal_op), CASE(stale_team),
    CASE(wild_team), CASE(invalid_team), CASE(stale_ctx), CASE(wild_ctx), CASE(world_destroy), CASE(default_destroy),
    CASE(malloc_differs), CASE(malloc_barrier), CASE(free_differs), CASE(double_free), CASE(free_inside),
    CASE(free_malloc), CASE(coll_differs), CASE(root_differs), CASE(root_wild), CASE(size_differs), CASE(coll_stack),
    CASE(finalize_barrier), CASE(wait_stack), CASE(wait_cmp), CASE(lock_stack), CASE(lock_not_held), CASE(align_odd),
    CASE(set_wrong), CASE(set_not_in), CASE(freed_page), CASE(thread_level), CASE(sync_pe_wild), CASE(after_finalize),
    CASE(barrier_after_finalize), CASE(check_freed), CASE(check_overrun),
};

int main(int argc, char **argv)
{
    if (argc > 2) { /* before init */
        if (!strcmp(argv[1], "early_put")) shmem_long_p(&global_word, 1, 0);
        if (!strcmp(argv[1], "early_barrier")) shmem_barrier_all();
        if (!strcmp(argv[1], "early_malloc")) (void)shmem_malloc(8);
        if (!strcmp(argv[1], "early_my_pe")) (void)shmem_my_pe();
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    block = shmem_calloc(512, sizeof *block);
    other = shmem_calloc(512, sizeof *other);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
        if (!strcmp(argv[1], cases[i].name)) cases[i].run();
    shmem_barrier_all();
    printf("survived\n");
    return 0;
}

/* One wrong use of device memory per run, named by the first argument; the job must end with a sentence. Or one that is
 * right, though something is missing. Whoever comes to the end of main prints "survived". */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long me, npes, *block;
static volatile long sink;

static void load(void) { sink = block[3]; }
static void store(void) { *(volatile long *)&block[3] = 1; }
static void in_libc(void) { sink = memchr(block, 1, 64) != NULL; }

/* Lists and numbers that the library reads itself must be where it can. */
static void index_on_device(void)
{
    long text[2];
    int pe[2] = {0, 0};
    shmemx_ctx_long_gather(SHMEM_CTX_DEFAULT, text, block, (size_t *)block, pe, 2);
}
static void status_on_device(void)
{
    static long words[2];
    shmem_long_wait_until_all(words, 2, (int *)block, SHMEM_CMP_EQ, 0);
}

/* The program's own handler goes first, whenever it was installed. */
static void on_fault(int sig)
{
    static const char text[] = "own handler\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
    (void)sig;
    _exit(7);
}
static void own_handler(void)
{
    signal(SIGSEGV, on_fault);
    sink = block[0];
}

static void free_of_host(void)
{
    long *host = shmemx_malloc_on("host", 64);
    shmem_free(host + 1);
}
static void double_free(void)
{
    long *other = shmem_malloc(64);
    shmem_free(other);
    shmem_free(other);
}
static void behind_the_end(void) { shmem_long_p(block + (64 << 20) / sizeof(long), 1, (int)npes - 1); }
static void misaligned(void) { shmem_long_atomic_inc((long *)((char *)block + 4), (int)npes - 1); }
static void kind_unknown(void) { (void)shmemx_malloc_on("gold", 64); }
static void heaps_differ(void) { (void)(me ? shmemx_malloc_on("host", 64) : shmem_malloc(64)); }

/* More and more work on the device: some call of the runtime fails, or the device is lost. */
static void work(void)
{
    static long text[4096];
    for (int i = 0; i < 300; i++) {
        shmem_putmem_nbi(block + 4096, block, sizeof text, (int)((me + 1) % npes));
        shmem_putmem(block, text, sizeof text, (int)((me + 1) % npes));
        shmem_barrier_all();
        shmem_getmem(text, block, sizeof text, (int)me);
    }
}

/* Nothing wrong: what was put is there. */
static void right(void)
{
    long seen = 0, want = (me + npes - 1) % npes + 5;
    shmem_long_p(block, me + 5, (int)((me + 1) % npes));
    shmem_barrier_all();
    shmem_getmem(&seen, block, sizeof seen, (int)me);
    if (seen != want) abort();
    printf("right, on %s\n", shmemx_kind_of(block));
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(load), CASE(store), CASE(in_libc), CASE(index_on_device), CASE(status_on_device),
             CASE(own_handler), CASE(free_of_host), CASE(double_free), CASE(behind_the_end), CASE(misaligned),
             CASE(kind_unknown), CASE(heaps_differ), CASE(work), CASE(right)};

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    block = shmem_malloc(1 << 16);
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!strcmp(cases[i].name, argv[1])) cases[i].run();
    shmem_barrier_all();
    shmem_finalize();
    puts("survived");
    return 0;
}

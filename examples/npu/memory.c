/* The HBM of all NPUs as one global memory: what is there, and random access to all of it.
 *
 *     oshcc -O2 memory.c clock.c -o memory
 *     SHMEM_SYMMETRIC_SIZE=31G oshrun --twin -n 8 ./memory      (on hardware: SHMEM_HEAP_KIND=ascend, no --twin)
 *
 * The global memory is an array of 64-bit words, of which each PE holds a block. Any PE reads and writes any word,
 * by its own address of the array and the number of the PE that holds the word. */
#include "npu.h"

#include <inttypes.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GB ((double)(1 << 30))
enum { MAX_PES = 64, LINK_BYTES = 64 << 20, ALONE = 1000 };

static shmemx_device_info_t all[MAX_PES]; /* symmetric; PE 0's is filled by all */
static long wrong, spent;               /* symmetric, at PE 0: words that are wrong; modelled ns of all devices */

struct memory {
    uint64_t *block; /* symmetric: this PE's words, and the address of everybody's */
    uint64_t words;  /* in a block */
    int me, n;
};

/* ---- where a word is ---- */

/* The t-th place of a walk that comes to every word once, and jumps over more than half of the memory each time. */
static uint64_t place(const struct memory *m, uint64_t t)
{
    uint64_t total = m->words * (uint64_t)m->n, jump = 2654435761u; /* a prime that does not divide it */

    return (uint64_t)((unsigned __int128)t * jump % total);
}

static uint64_t *address(const struct memory *m, uint64_t word)
{
    return m->block + word % m->words;
}

static int owner(const struct memory *m, uint64_t word)
{
    return (int)(word / m->words);
}

/* What lies there: any number that depends on all bits of the place. */
static uint64_t content(uint64_t word)
{
    word = (word ^ (word >> 31)) * 0x9e3779b97f4a7c15u;
    return word ^ (word >> 29);
}

/* ---- what is there ---- */

static bool is_device(const void *p)
{
    return strcmp(shmemx_kind_of(p), "host") != 0;
}

static void tell_devices(const struct memory *m)
{
    double heap = (double)m->words * 8 / GB;

    printf("%d NPUs, %d x %.0f GB: one global memory of %.0f GB, %.0f GB from each\n\n", m->n, m->n,
           (double)all[0].total_bytes / GB, heap * m->n, heap);
    printf("  PE   device   name                       HBM    of it free now\n");
    for (int pe = 0; pe < m->n; pe++)
        printf("  %2d   %6d   %-20s %6.1f GB   %6.1f GB\n", pe, all[pe].number, all[pe].name,
               (double)all[pe].total_bytes / GB, (double)all[pe].free_bytes / GB);
}

/* PE 0 copies from its own HBM to that of another PE. */
static uint64_t time_put(const struct memory *m, size_t bytes, int pe)
{
    uint64_t start = npu_now();

    shmem_putmem(m->block + LINK_BYTES / 8, m->block, bytes, pe);
    return npu_now() - start;
}

static void tell_link(const struct memory *m, int pe)
{
    uint64_t few = time_put(m, 8, pe), many = time_put(m, LINK_BYTES, pe);

    printf("  %-28s 8 bytes in %4.1f us, %d MB at %5.1f GB/s\n",
           pe == m->me ? "put of PE 0 to itself" : "put of PE 0 to another NPU", 1e-3 * (double)few, LINK_BYTES >> 20,
           LINK_BYTES / (double)many);
}

static void tell_links(const struct memory *m)
{
    if (!npu_is_modelled()) return;
    printf("\n  Links, in modelled time:\n");
    tell_link(m, 0);
    if (m->n > 1) tell_link(m, 1);
    printf("\n");
}

/* Collective. */
static void introduce(const struct memory *m)
{
    shmemx_device_info_t mine;

    shmemx_device_info(&mine);
    shmem_putmem(&all[m->me], &mine, sizeof mine, 0);
    shmem_barrier_all();
    if (m->me == 0) {
        tell_devices(m);
        tell_links(m);
        fflush(stdout);
    }
    shmem_barrier_all();
}

/* ---- random access ---- */

static void check(uint64_t found, uint64_t word, uint64_t expected)
{
    if (found == expected) return;
    if (shmem_long_atomic_fetch_inc(&wrong, 0) == 0)
        fprintf(stderr, "memory: word %" PRIu64 " is %" PRIx64 ", not %" PRIx64 "\n", word, found, expected);
}

/* Each PE writes words of its own choice, wherever they are. */
static void write_word(const struct memory *m, long k, long count)
{
    uint64_t word = place(m, (uint64_t)(m->me * count + k));

    shmem_uint64_p(address(m, word), content(word), owner(m, word));
}

/* And reads those that its neighbour has written. */
static void read_word(const struct memory *m, long k, long count)
{
    uint64_t word = place(m, (uint64_t)((m->me + 1) % m->n * count + k));

    check(shmem_uint64_g(address(m, word), owner(m, word)), word, content(word));
}

/* All add to the same words, each PE its number and one. */
static void add_to_word(const struct memory *m, long k, long count)
{
    uint64_t word = place(m, (uint64_t)k);

    (void)count;
    shmem_uint64_atomic_add(address(m, word), (uint64_t)m->me + 1, owner(m, word));
}

static void check_sums(const struct memory *m, long count)
{
    uint64_t sum = (uint64_t)m->n * (uint64_t)(m->n + 1) / 2;

    for (long k = m->me; k < count; k += m->n) {
        uint64_t word = place(m, (uint64_t)k);
        check(shmem_uint64_g(address(m, word), owner(m, word)), word, content(word) + sum);
    }
}

struct pass {
    const char *name;
    void (*access)(const struct memory *m, long k, long count);
    long count; /* by each PE */
};

/* The first few by PE 0, while the others do nothing: what that takes of all devices' modelled time, in us for each. Of
 * several PEs' clocks it would tell less: they share links in the order in which this machine runs them. */
static double access_alone(const struct memory *m, const struct pass *p, long few)
{
    uint64_t start = npu_meet();

    spent = 0;
    shmem_barrier_all();
    for (long k = 0; k < few && m->me == 0; k++)
        p->access(m, k, p->count);
    shmem_barrier_all();
    shmem_long_atomic_add(&spent, (long)(npu_now() - start), 0);
    shmem_barrier_all();
    return (double)spent / (double)few / 1e3;
}

static void access_together(const struct memory *m, const struct pass *p)
{
    long few = p->count < ALONE ? p->count : ALONE;
    double modelled = access_alone(m, p, few), seconds = npu_seconds();

    for (long k = m->me == 0 ? few : 0; k < p->count; k++)
        p->access(m, k, p->count);
    shmem_barrier_all();
    seconds = npu_seconds() - seconds;
    if (m->me) return;
    printf("  %-46s %8ld", p->name, p->count * m->n);
    if (npu_is_modelled()) printf("   %6.2f us", modelled);
    printf("   %8.2f s\n", seconds);
    fflush(stdout);
}

static void access_all(const struct memory *m, long count)
{
    const struct pass passes[] = {
        {"shmem_uint64_p to words anywhere", write_word, count},
        {"shmem_uint64_g of what another PE has written", read_word, count},
        {"shmem_uint64_atomic_add, all PEs to the same", add_to_word, count / 4},
    };

    if (m->me == 0)
        printf("  %-46s %8s%s   %10s\n", "random access over all of it", "words",
               npu_is_modelled() ? "    modelled" : "", "machine");
    for (int i = 0; i < 3; i++)
        access_together(m, &passes[i]);
    check_sums(m, count / 4);
    shmem_barrier_all();
    if (m->me) return;
    printf("  verdict: %s\n", wrong ? "WORDS ARE WRONG" : "every word is what it should be");
    printf("  (pages come into being when touched: of the %.0f GB, %.1f at most are in this machine's memory)\n",
           (double)m->words * 8 * m->n / GB, ((double)count * m->n * 4096 + 4.0 * LINK_BYTES) / GB);
    fflush(stdout);
}

/* ---- the whole ---- */

static int usage(int me)
{
    if (me == 0)
        fprintf(stderr, "usage: memory [MEGABYTES [WORDS]]: of each PE's heap (default 31728), and how many words\n"
                        "each PE writes and reads (default 20000)\n");
    shmem_finalize();
    return 2;
}

static bool number(const char *text, long low, long high, long *value)
{
    char *rest;

    *value = strtol(text, &rest, 10);
    return *text && !*rest && *value >= low && *value <= high;
}

int main(int argc, char **argv)
{
    long megabytes = 31728, count = 20000; /* 31 GB, less what the links are tried with and some room */

    shmem_init();
    struct memory m = {.me = shmem_my_pe(), .n = shmem_n_pes()};
    if (argc > 3 || m.n > MAX_PES || (argc > 1 && !number(argv[1], 256, 1 << 22, &megabytes)) ||
        (argc > 2 && !number(argv[2], 4, 10000000, &count)))
        return usage(m.me);
    m.words = (uint64_t)megabytes << 17;
    m.block = shmem_malloc(m.words * 8);
    if (!m.block || !is_device(m.block)) { /* all PEs see the same */
        if (m.me == 0 && !m.block) fprintf(stderr, "memory: no heap of %ld MB; set SHMEM_SYMMETRIC_SIZE\n", megabytes);
        if (m.me == 0 && m.block) fprintf(stderr, "memory: the heap is host memory; set SHMEM_HEAP_KIND=ascend\n");
        shmem_finalize();
        return 1;
    }
    introduce(&m);
    access_all(&m, count);
    shmem_barrier_all();
    bool failed = m.me == 0 && wrong;
    shmem_free(m.block);
    shmem_finalize();
    return failed;
}

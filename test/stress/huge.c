/* Indexed access so much that the kernel is asked for huge pages under it, while all PEs write there: no value is lost, none
 * comes from elsewhere, and memory that nobody touched stays uncommitted. */
/* npes: 1 2 3 8 */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../spec/check.h"

#define WORDS ((size_t)1 << 20) /* 8 MiB on each PE: some extents of 2 MiB */
#define UNTOUCHED ((size_t)64 << 20)
#define N 4096

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssShmem: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

int main(void)
{
    static uint64_t values[N];
    static size_t index[N];
    static int pes[N];
    check_start();
    uint64_t *a = shmem_malloc(WORDS * sizeof *a), *sums = shmem_calloc(WORDS, sizeof *sums);
    char *untouched = shmem_malloc(UNTOUCHED);
    for (size_t i = 0; i < WORDS; i++) a[i] = (uint64_t)me << 32 | i;
    shmem_barrier_all();

    uint64_t state = 77 + (uint64_t)me, wrong = 0;
    long before = resident_kib();
    size_t rounds = (size_t)npes * 700; /* over half a million accesses to an extent */
    if (rounds > 2100) rounds = 2100;
    for (size_t r = 0; r < rounds; r++) {
        for (int i = 0; i < N; i++) {
            index[i] = next(&state) % WORDS;
            pes[i] = (int)(next(&state) % (uint64_t)npes);
        }
        shmemx_uint64_gather(values, a, index, pes, N);
        for (int i = 0; i < N; i++) wrong += values[i] != ((uint64_t)pes[i] << 32 | index[i]);
        if (r % 8 == 0) {
            for (int i = 0; i < N; i++) values[i] = 1;
            shmemx_uint64_scatter_add(sums, values, index, pes, N);
        }
    }
    CHECK_NUM(wrong, 0, "gathered values that are not those of the place");
    shmem_barrier_all();

    uint64_t *total = shmem_calloc(2, sizeof *total);
    for (size_t i = 0; i < WORDS; i++) total[0] += sums[i];
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, total + 1, total, 1);
    CHECK_NUM(total[1], (uint64_t)npes * ((rounds + 7) / 8) * N, "sum of what was added");
    long after = resident_kib();
    CHECK(before < 0 || after - before < (long)(UNTOUCHED >> 10) / 2 + npes * (long)(2 * WORDS * 8 >> 10),
          "untouched memory was committed: %ld KiB before, %ld after", before, after);
    (void)untouched;
    return check_end();
}

# label: ucx
# timeout: 240
# Sums of floats have the same bits on every layout of machines with SHMEM_REPRODUCIBLE, and those of one machine; on device memory,
# too. Sizes go from what a meeting carries to what is combined in many pieces.
. "$SRC/test/launch/lib.sh"
cat > sums.c <<'END'
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed;
/* Of all magnitudes, so that each other order gives other bits. */
static float number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    float x = (float)(seed >> 40) / (1 << 24) - 0.5f;
    return x * (float)(1u << (seed >> 20 & 31));
}

static uint64_t digest(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n--; p++) h = (h ^ *p) * 1099511628211u;
    return h;
}

int main(void)
{
    static const size_t sizes[] = {1, 60, 1000, 40000, 300001};
    shmem_init();
    int me = shmem_my_pe();
    uint64_t h = 14695981039346656037u, every = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        float *source = shmem_malloc(n * sizeof *source), *dest = shmem_malloc(n * sizeof *dest), *mine = malloc(n * sizeof *mine);
        seed = (uint64_t)me * 977 + k;
        for (size_t i = 0; i < n; i++) mine[i] = number();
        shmem_float_put(source, mine, n, me);
        shmem_barrier_all();
        shmem_float_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
        shmem_float_get(mine, dest, n, me);
        h = digest(h, mine, n * sizeof *mine);
        shmem_float_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n);
        shmem_barrier_all(); /* the last one has his */
        shmem_float_get(mine, dest, n, shmem_n_pes() - 1); /* the last one's: alike for all */
        h = digest(h, mine, n * sizeof *mine);
        shmem_barrier_all();
        shmem_free(dest);
        shmem_free(source);
        free(mine);
    }
    for (int pe = 0; pe < shmem_n_pes(); pe++) { /* all have the same */
        static uint64_t theirs;
        theirs = h;
        shmem_barrier_all();
        every |= shmem_uint64_g(&theirs, pe) ^ h;
        shmem_barrier_all();
    }
    if (me == 0) printf("%016llx%s\n", (unsigned long long)h, every ? " and others" : "");
    shmem_finalize();
    return 0;
}
END
"$OSHCC" -O1 -g sums.c -o sums || exit 1
export SHMEM_REPRODUCIBLE=1
want=$("$OSHRUN" --timeout 60 -n 5 ./sums)
[ ${#want} = 16 ] || fail "on one machine: $want"
same() {
    got=$("$OSHRUN" --timeout 60 -n 5 "$@" ./sums)
    [ "$got" = "$want" ] || fail "$*: $got instead of $want"
}
for layout in 2 3+2 cyclic:2 list:0,1,2,0,1 5; do same --machines $layout; done
same --twin
same --twin --machines 3+2
# Another order does give other bits: else all of this says nothing.
SHMEM_REPRODUCIBLE=0
other=$("$OSHRUN" --timeout 60 -n 5 --machines cyclic:2 ./sums)
[ "$other" != "$want" ] || fail "without the option the bits are the same, so the test sees nothing"
expect 1 "one PE alone" "$OSHRUN" --timeout 60 -n 1 -x SHMEM_REPRODUCIBLE=1 ./sums : -n 1 -x SHMEM_REPRODUCIBLE=0 ./sums
says "one PE alone" "^hbmesh: PE .* do not agree"
finish

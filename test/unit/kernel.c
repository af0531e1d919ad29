/* The loops of reductions for newer processors give the same bits as those for all: every type and operation, every length up to
 * some vectors, at odd places, in place, with all bit patterns of floating point, NaN and -0.0 among them. */
#include "coll/kernel.c"

#include <stdio.h>
#include <string.h>

enum { MOST = 140, ROOM = (MOST + 2) * 32 };

static int failures;

static void fill(unsigned char *at, size_t bytes, uint32_t *x)
{
    for (size_t i = 0; i < bytes; i++) {
        *x = *x * 1664525u + 1013904223u;
        at[i] = (unsigned char)(*x >> 24);
    }
}

/* Long doubles of which each is a number, with zeroes in the bytes that belong to none. */
static void make_numbers(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i + 16 <= bytes; i += 16) {
        long double number = (long double)(int8_t)at[i] + (long double)at[i + 1] / 256;
        memset(at + i, 0, 16);
        memcpy(at + i, &number, 10);
    }
}

static void fail(int kind, int op, size_t n, const char *how)
{
    if (++failures <= 10) printf("type %d, operation %d, %zu elements%s: the two sets differ\n", kind, op, n, how);
}

static void compare(int kind, int op, size_t n, size_t shift, uint32_t *x)
{
    static HM_ALIGNED(64) unsigned char a[ROOM], b[ROOM], plain[ROOM], wide[ROOM];
    size_t size = hm_kind_size(kind), at = shift * size;
    fill(a, sizeof a, x);
    fill(b, sizeof b, x);
    if (kind == HM_KIND_LD) make_numbers(a, sizeof a), make_numbers(b, sizeof b);
    int unwritten = kind == HM_KIND_LD ? 0 : 0x5a; /* long doubles have bytes that nobody writes */
    memset(plain, unwritten, sizeof plain);
    memset(wide, unwritten, sizeof wide);
    kernels[0][kind][op](plain + at, a + at, b + at, n);
    kernels[SETS - 1][kind][op](wide + at, a + at, b + at, n);
    if (memcmp(plain, wide, sizeof plain)) fail(kind, op, n, "");
    kernels[SETS - 1][kind][op](a + at, a + at, b + at, n);
    if (memcmp(plain + at, a + at, n * size)) fail(kind, op, n, " in place");
}

int main(void)
{
    uint32_t x = 20261130;
    if (SETS == 1 || !best_set()) return 77;
    for (int kind = 0; kind < HM_KINDS; kind++)
        for (int op = 0; op < HM_OPS; op++)
            for (size_t n = 0; kernels[0][kind][op] && n <= MOST; n++) {
                if (kernels[SETS - 1][kind][op])
                    compare(kind, op, n, n % 3, &x);
                else
                    fail(kind, op, n, ", which one of them lacks");
            }
    if (failures) printf("%d comparisons failed\n", failures);
    return failures != 0;
}

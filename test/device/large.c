/* npes: 2 3 */
/* layouts: 1+1 2+1 */
/* timeout: 120 */
/* Puts and gets of all sizes between device heaps, and between them and private memory, at odd places: what is put is got back,
 * nothing beside it has changed, and a barrier between is enough. */
#include "../spec/check.h"

#define MOST ((size_t)3 << 20)

static const size_t sizes[] = {1, 7, 64, 4095, 8192, 65539, ((size_t)1 << 20) + 1, MOST};
static char *device, *other, *mine, *seen;

static char value(int pe, size_t i, int round)
{
    return (char)check_mix((uint64_t)pe << 40 ^ (uint64_t)round << 32 ^ i / 61 * 61);
}

static void fill(char *to, size_t bytes, int pe, int round)
{
    for (size_t i = 0; i < bytes; i++) to[i] = value(pe, i, round);
}

static void check(const char *what, size_t at, size_t bytes, int pe, int round)
{
    for (size_t i = 0; i < bytes; i++)
        if (seen[at + i] != value(pe, i, round)) {
            CHECK(false, "%s of %zu bytes at %zu: byte %zu is wrong", what, bytes, at, i);
            return;
        }
    for (size_t i = 0; i < 8; i++)
        CHECK(seen[at + bytes + i] == 99 && seen[at - 8 + i] == 99, "%s of %zu bytes at %zu: beside it", what, bytes, at);
}

static void clear(char *block)
{
    memset(seen, 99, MOST + 64);
    shmem_putmem(block, seen, MOST + 64, me);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    device = shmem_malloc(MOST + 64);
    other = shmem_malloc(MOST + 64);
    mine = malloc(MOST + 64);
    seen = malloc(MOST + 64);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k], at = 8 + 3 * k;
        int round = (int)k;
        clear(device);
        fill(mine, n, me, round);
        shmem_putmem(device + at, mine, n, right);
        shmem_barrier_all();
        shmem_getmem(seen, device, at + n + 8, me);
        check("a put", at, n, left, round);
        memset(seen, 0, at + n + 8);
        shmem_getmem(seen, device, at + n + 8, right);
        check("a get of the same", at, n, me, round);
        clear(other);
        shmem_getmem_nbi(other + at, device + at, n, right);
        shmem_quiet();
        shmem_getmem(seen, other, at + n + 8, me);
        check("a get to the device", at, n, me, round);
        shmem_barrier_all();
        clear(device);
        shmem_putmem_nbi(device + at, other + at, n, left);
        shmem_barrier_all();
        shmem_getmem(seen, device, at + n + 8, me);
        check("a put from the device", at, n, right, round);
        shmem_barrier_all();
    }
    free(mine);
    free(seen);
    shmem_free(other);
    shmem_free(device);
    return check_end();
}

/* Static data of every kind is symmetric: global, file and function scope, initialised or not, an array of
 * megabytes, and thread stacks do not disturb it. Puts, gets, atomics, shmem_ptr, waits, collectives on it.
 */
#include "check.h"

#include <shmemx.h>

long initialised = 77;
long zeroed;
static short in_file[3] = {1, 2, 3};
static char large[3 << 20];
static double middle[100] = {0.5};
struct pair {
    char c;
    double d;
} pairs[5] = {{'a', 1.5}};
static long counter, flag, word;
static long sums[16], parts[16];
static const char *text = "a string";

static long *in_function(void)
{
    static long here = 5;
    return &here;
}

static void test_put_get(void)
{
    static long landing;
    CHECK_NUM(shmem_long_g(&initialised, right), 77L, "first value of a neighbour");
    shmem_barrier_all();
    shmem_long_p(&initialised, 100 + me, right);
    shmem_long_p(&zeroed, 200 + me, right);
    shmem_short_p(&in_file[2], (short)(300 + me), right);
    shmem_long_p(in_function(), 400 + me, right);
    shmem_double_p(&middle[99], 500.5 + me, right);
    shmem_double_p(&pairs[4].d, 600.5 + me, right);
    shmem_char_p(&large[sizeof large - 1], (char)(7 + me), right);
    shmem_barrier_all();
    CHECK_NUM(initialised, 100L + left, "initialised");
    CHECK_NUM(zeroed, 200L + left, "zeroed");
    CHECK_NUM(in_file[2], (short)(300 + left), "file scope");
    CHECK_NUM(in_file[1], (short)2, "its neighbour");
    CHECK_NUM(*in_function(), 400L + left, "function scope");
    CHECK_NUM(middle[99], 500.5 + left, "array");
    CHECK_NUM(pairs[4].d, 600.5 + left, "in a struct");
    CHECK_NUM(large[sizeof large - 1], (char)(7 + left), "end of a large array");
    CHECK_NUM(shmem_long_g(&zeroed, right), 200L + me, "got back");
    shmem_getmem(&landing, in_function(), sizeof landing, right);
    CHECK_NUM(landing, 400L + me, "got back in bulk");
    CHECK(!strcmp(text, "a string"), "%s", text);
    shmem_barrier_all();
}

static void test_bulk(void)
{
    static char landing[1 << 20];
    for (size_t i = 0; i < sizeof landing; i++)
        landing[i] = (char)(i * 7 + (size_t)me);
    shmem_putmem(large + 12345, landing, sizeof landing, right);
    shmem_barrier_all();
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof landing; i++)
        wrong += large[12345 + i] != (char)(i * 7 + (size_t)left);
    CHECK_NUM(wrong, (size_t)0, "bytes of a bulk put");
    CHECK_NUM(large[12344], (char)0, "before it");
    CHECK_NUM(large[12345 + sizeof landing], (char)0, "behind it");
    shmem_barrier_all();
}

static void test_atomics(void)
{
    enum { TIMES = 500 };
    for (int i = 0; i < TIMES; i++)
        shmem_long_atomic_inc(&counter, 0);
    shmem_barrier_all();
    if (me == 0) CHECK_NUM(counter, (long)TIMES * npes, "counted");
    CHECK_NUM(shmem_long_atomic_fetch(&counter, 0), (long)TIMES * npes, "fetched");
    shmem_long_p(&word, me, right);
    shmem_quiet();
    shmem_long_atomic_set(&flag, 1, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    CHECK_NUM(word, (long)left, "behind the flag");
    shmem_barrier_all();
}

static void test_ptr(void)
{
    long *there = shmem_ptr(&zeroed, right);
    int here = shmem_team_translate_pe(SHMEM_TEAM_WORLD, right, SHMEM_TEAM_SHARED) >= 0;
    CHECK((there != NULL) == here && shmem_addr_accessible(&zeroed, right), "%p", (void *)there);
    if (there && right != me) {
        *there = 900 + me;
        CHECK(there != &zeroed, "another PE's variable at %p", (void *)there);
    } else {
        shmem_long_p(&zeroed, 900 + me, right); /* itself, or on another machine */
    }
    shmem_barrier_all();
    CHECK_NUM(zeroed, 900L + left, "stored through shmem_ptr");
    CHECK(!shmem_ptr(&there, right) && !shmem_addr_accessible(&there, right), "a variable on the stack");
    shmem_barrier_all();
}

static void test_collectives(void)
{
    for (int i = 0; i < 16; i++)
        parts[i] = (i + 1) * (me + 1);
    CHECK_NUM(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, parts, 16), 0, "sum_reduce");
    for (int i = 0; i < 16; i++)
        CHECK_NUM(sums[i], (long)(i + 1) * npes * (npes + 1) / 2, "sum of element %d", i);
    shmem_barrier_all();
    if (me == npes - 1) sums[3] = 12345;
    CHECK_NUM(shmem_long_broadcast(SHMEM_TEAM_WORLD, &sums[3], &sums[3], 1, npes - 1), 0, "broadcast");
    CHECK_NUM(sums[3], 12345L, "broadcast");
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    test_put_get();
    test_bulk();
    test_atomics();
    test_ptr();
    test_collectives();
    return check_end();
}

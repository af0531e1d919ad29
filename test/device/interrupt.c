/* npes: 1 2 */
/* shmemx_set_interrupt: waits on device words and on a lock there ask the function and are left when it says so; a lock whose
 * waiter has left is handed on all the same. */
#include <unistd.h>

#include "../spec/check.h"

#include <shmemx.h>

static int asked, wrong_kind;

static int ask(int can_return)
{
    if (!can_return) wrong_kind++;
    return ++asked > 2;
}

static void expect_left(const char *what)
{
    CHECK_NUM(asked, 3, "%s: how often it asked", what);
    asked = 0;
}

static void leave_words(int *words)
{
    size_t indices[4];
    shmem_int_wait_until(words, SHMEM_CMP_EQ, 1);
    expect_left("wait_until");
    shmem_int_wait_until_all(words, 4, NULL, SHMEM_CMP_EQ, 1);
    expect_left("wait_until_all");
    CHECK_NUM(shmem_int_wait_until_any(words, 4, NULL, SHMEM_CMP_EQ, 1), SIZE_MAX, "any");
    expect_left("wait_until_any");
    CHECK_NUM(shmem_int_wait_until_some(words, 4, indices, NULL, SHMEM_CMP_EQ, 1), (size_t)0, "some");
    expect_left("wait_until_some");
}

/* Who has left holds no ticket: the lock is free behind its holder. */
static void leave_lock(long *lock)
{
    if (me == 0) shmem_set_lock(lock);
    shmem_barrier_all();
    if (me == npes - 1) {
        shmemx_set_interrupt(ask);
        shmem_set_lock(lock); /* with one PE: held by itself */
        expect_left("set_lock");
        shmemx_set_interrupt(NULL);
    }
    shmem_barrier_all();
    if (me == 0) {
        shmem_clear_lock(lock);
        CHECK_NUM(shmem_test_lock(lock), 0, "a lock whose waiter has left");
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    CHECK_NUM(shmem_long_g(lock, 0), 0L, "the word of a free lock");
    shmem_barrier_all();
}

int main(void)
{
    int zeros[4] = {0};
    long zero = 0;
    check_start();
    int *words = shmem_malloc(sizeof zeros);
    long *lock = shmem_malloc(sizeof *lock);
    shmem_int_put(words, zeros, 4, me);
    shmem_long_put(lock, &zero, 1, me);
    shmem_barrier_all();
    shmemx_set_interrupt(ask);
    leave_words(words);
    shmemx_set_interrupt(NULL);
    leave_lock(lock);
    CHECK_NUM(wrong_kind, 0, "asked as if the call could not return");
    shmem_free(lock);
    shmem_free(words);
    return check_end();
}

/* What goes wrong on streams, by the first argument: see stream_bad.sh. */
#include "stream.h"

static void *stream;
static char *at;      /* 1000 bytes on the device */
static uint64_t *sig; /* on the host */

static struct hold held;

/* A word that nobody changes holds the stream. */
static void block(void) { ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_EQ, 99, stream)); }

static void wrong_arguments(const char *what)
{
    uint64_t word[1], *odd = (uint64_t *)(void *)(at + 4);
    int *numbers = (int *)(void *)at, *local = (int *)(void *)word;
    if (!strcmp(what, "pe")) shmemx_putmem_on_stream(at, at, 8, npes, stream);
    if (!strcmp(what, "dest")) shmemx_putmem_on_stream(local, at, 8, right, stream);
    if (!strcmp(what, "source")) shmemx_getmem_on_stream(at, local, 8, right, stream);
    if (!strcmp(what, "range")) shmemx_putmem_on_stream(at, at, (size_t)1 << 40, right, stream);
    if (!strcmp(what, "sig")) shmemx_putmem_signal_on_stream(at, at, 8, word, 1, SHMEM_SIGNAL_SET, 0, stream);
    if (!strcmp(what, "sig_op")) shmemx_putmem_signal_on_stream(at, at, 8, sig, 1, 77, right, stream);
    if (!strcmp(what, "aligned")) shmemx_signal_wait_until_on_stream(odd, SHMEM_CMP_EQ, 1, stream);
    if (!strcmp(what, "cmp")) shmemx_signal_wait_until_on_stream(sig, 77, 1, stream);
    if (!strcmp(what, "root")) shmemx_broadcastmem_on_stream(SHMEM_TEAM_WORLD, at, at, 8, npes, stream);
    if (!strcmp(what, "team")) shmemx_barrier_on_stream(SHMEM_TEAM_INVALID, stream);
    if (!strcmp(what, "sum")) shmemx_int_sum_reduce_on_stream(SHMEM_TEAM_WORLD, numbers, local, 2, stream);
}

static void disagree(const char *what)
{
    long *sums = (long *)(void *)at;
    size_t n = me == npes - 1 ? 11 : 10;
    if (!strcmp(what, "sizes")) shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sums, sums, n, stream);
    if (!strcmp(what, "types")) {
        if (me) shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sums, sums, 10, stream);
        else shmemx_double_sum_reduce_on_stream(SHMEM_TEAM_WORLD, (double *)sums, (double *)sums, 10, stream);
    }
    if (!strcmp(what, "calls")) {
        if (me == npes - 1) shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream);
        else shmemx_broadcastmem_on_stream(SHMEM_TEAM_WORLD, at, at, 8, 0, stream);
    }
}

/* What each call says where it cannot be put on a stream. Nothing is left under way. */
static void refused(int want)
{
    CHECK_NUM(shmemx_putmem_on_stream(at, at, 8, right, stream), want, "put");
    CHECK_NUM(shmemx_getmem_on_stream(at, at, 8, right, stream), want, "get");
    CHECK_NUM(shmemx_putmem_signal_on_stream(at, at, 8, sig, 1, SHMEM_SIGNAL_SET, right, stream), want, "signal");
    CHECK_NUM(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_EQ, 1, stream), want, "wait");
    CHECK_NUM(shmemx_quiet_on_stream(stream), want, "quiet");
    CHECK_NUM(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream), want, "barrier");
    CHECK_NUM(shmemx_broadcastmem_on_stream(SHMEM_TEAM_WORLD, at, at, 8, 0, stream), want, "broadcast");
    CHECK_NUM(shmemx_char_sum_reduce_on_stream(SHMEM_TEAM_WORLD, at, at, 2, stream), want, "sum");
}

static void faults(void)
{
    char word[8] = "unsent";
    ACL(twin_fault("aclrtMemcpyAsync:1=207001"));
    CHECK_NUM(shmemx_putmem_on_stream(at, at, 8, right, stream), SHMEMX_STREAM_NO_MEMORY, "put");
    ACL(twin_fault(NULL));
    ACL(twin_fault("aclrtMemcpyAsync:1=507899"));
    CHECK_NUM(shmemx_getmem_on_stream(at, at, 8, right, stream), SHMEMX_STREAM_REFUSED, "get");
    ACL(twin_fault(NULL));
    ACL(twin_fault("aclrtLaunchHostFunc:1=207000"));
    CHECK_NUM(shmemx_putmem_on_stream(at, word, 8, right, stream), SHMEMX_STREAM_UNSUPPORTED, "put of private memory");
    ACL(twin_fault(NULL));
    ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream)); /* what was refused has left nothing behind */
    ACL(aclrtSynchronizeStream(stream));
    look(word, at, 8);
    CHECK(!word[0], "nothing has come of what was refused");
}

/* A copy of the worker's that the runtime refuses. */
static void late(const char *what)
{
    static char word[8];
    int with_signal = !strcmp(what, "signal"); /* which must not come when the data has not */
    hold(&held, stream);
    if (me && with_signal) ON(shmemx_signal_wait_until_on_stream(sig, SHMEM_CMP_NE, 0, stream));
    if (!me && with_signal) ON(shmemx_putmem_signal_on_stream(at, at, 8, sig, 1, SHMEM_SIGNAL_SET, right, stream));
    if (!me && !with_signal) ON(shmemx_putmem_on_stream(at, word, sizeof word, right, stream));
    if (!me) ACL(twin_fault("aclrtMemcpy:*=507899,aclrtMemcpyAsync:*=507899"));
    let_go(&held, stream);
    if (me && with_signal) printf("the signal has come\n");
    fflush(stdout);
}

/* Streams are let go behind the call of finalize. */
static void *let_go_later(void *arg)
{
    (void)arg;
    sleep(3);
    __atomic_store_n(&held.go, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void at_finalize(void)
{
    pthread_t thread;
    static char word[8];
    hold(&held, stream);
    ON(shmemx_putmem_on_stream(at, word, sizeof word, right, stream));
    ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, stream));
    pthread_create(&thread, NULL, let_go_later, NULL);
    shmem_finalize();
    pthread_join(thread, NULL);
    exit(0);
}

/* A put that is a copy of the runtime's alone. */
static void copy_at_finalize(const char *what)
{
    pthread_t thread;
    if (!strcmp(what, "fails")) {
        if (!me) ACL(twin_fault("task:1=507052"));
        ON(shmemx_putmem_on_stream(at, at + 512, 64, right, stream));
        shmem_finalize();
        exit(0);
    }
    hold(&held, stream);
    ON(shmemx_putmem_on_stream(at, at + 512, 64, right, stream));
    pthread_create(&thread, NULL, let_go_later, NULL);
    shmem_finalize();
    if (!__atomic_load_n(&held.go, __ATOMIC_ACQUIRE)) exit(9);
    pthread_join(thread, NULL);
    exit(0);
}

/* The same, noticed before: by whatever the program calls next, or by the library itself. */
static void copy_is_lost(const char *where)
{
    void *other = stream_new();
    if (me) shmem_barrier_all();
    ACL(twin_fault(is_cuda ? "task:1=700" : "task:1=507052"));
    ON(shmemx_putmem_on_stream(at, at + 512, 64, right, stream));
    if (!strcmp(where, "told")) { /* to the program, which goes on */
        if (!aclrtSynchronizeStream(stream)) printf("the failure was told to nobody\n");
        shmem_quiet();
        fflush(stdout);
        exit(1);
    }
    if (!strcmp(where, "quiet"))
        for (;;) shmem_quiet();
    if (!strcmp(where, "held")) { /* the runtime would not come to an end of all streams */
        hold(&held, other);
        usleep(30000);
    }
    if (strcmp(where, "alone")) shmemx_getmem_on_stream(at, at, 8, right, stream);
    sleep(20);
}

/* Streams that wait for ever, for a word and for PE 1. */
static void hang(void)
{
    void *other = stream_new();
    block();
    if (!me) ON(shmemx_barrier_on_stream(SHMEM_TEAM_WORLD, other));
    if (!me) ACL(aclrtSynchronizeStream(stream));
    shmem_finalize();
}

static void destroyed(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
    hold(&held, stream);
    ON(shmemx_barrier_on_stream(team, stream));
    shmem_team_destroy(team);
    let_go(&held, stream);
}

static void ends(const char *what)
{
    block();
    if (!strcmp(what, "exit") && me == npes - 1) exit(3);
    if (!strcmp(what, "global_exit") && me == npes - 1) shmem_global_exit(4);
    if (!strcmp(what, "abort") && me == npes - 1) abort();
    if (!strcmp(what, "lost")) {
        if (!me) ACL(twin_fault("device:0=lost"));
        shmem_barrier_all();
        shmemx_putmem_on_stream(at, at, 8, right, stream);
        shmem_barrier_all();
    }
    aclrtSynchronizeStream(stream);
    sleep(20);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "handle", *more = argc > 2 ? argv[2] : "";
    check_start();
    at = shmem_calloc(1, 1000);
    sig = shmem_malloc_with_hints(8, SHMEM_MALLOC_SIGNAL_REMOTE);
    if (!strcmp(what, "no-streams")) {
        refused(SHMEMX_STREAM_UNSUPPORTED);
        return check_end();
    }
    *sig = 0;
    shmem_barrier_all();
    runtime_find();
    stream = stream_new();
    if (!strcmp(what, "argument") && me == npes - 1) wrong_arguments(more);
    if (!strcmp(what, "disagree")) disagree(more);
    if (!strcmp(what, "handle")) {
        static char junk[256];
        stream = junk;
        refused(SHMEMX_STREAM_REFUSED);
        return check_end();
    }
    if (!strcmp(what, "faults")) {
        faults();
        return check_end();
    }
    if (!strcmp(what, "late")) late(more);
    if (!strcmp(what, "finalize")) at_finalize();
    if (!strcmp(what, "copy")) copy_at_finalize(more);
    if (!strcmp(what, "lost")) copy_is_lost(more);
    if (!strcmp(what, "hang")) hang();
    if (!strcmp(what, "destroyed")) destroyed();
    if (!strcmp(what, "ends")) ends(more);
    aclrtSynchronizeStream(stream);
    sleep(5); /* whoever is to blame speaks first */
    return check_end();
}

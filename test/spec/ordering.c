/* Ordering: what a fence puts in order, what a quiet completes and for whom, and what the meetings do to
 * stores and puts. Small programs that go wrong when an order is lost, each many times over. */
/* timeout: 120 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <shmemx.h>

#include "check.h"

#define ROUNDS TIMES(600)
#define N 8

static shmem_ctx_t ctx;
static long *data, *flag, *ack; /* data: 2 * N */

static void place(void)
{
    PLACED(long, all, 2 * N + 2);
    data = all;
    flag = all + 2 * N;
    ack = flag + 1;
}

/* All of data has the value of this round. */
static void check_data(int form, long value)
{
    long seen[N];
    look(seen, data, sizeof seen);
    for (int i = 0; i < N; i++)
        CHECK_NUM(seen[i], value + i, "form %d: element %d, behind the flag", form, i);
}

static void put_data(int form, const long *mine)
{
    long spread[2 * N];
    switch (form) {
    case 0:
        for (int i = 0; i < N; i++)
            shmem_long_p(&data[i], mine[i], right);
        break;
    case 1:
        shmem_long_put(data, mine, N, right);
        break;
    case 2:
        shmem_long_put_nbi(data, mine, N, right);
        break;
    case 3:
        for (int i = 0; i < N; i++)
            spread[2 * i] = mine[i];
        shmem_long_iput(data, spread, 1, 2, N, right);
        break;
    case 4:
        for (int i = 0; i < N; i++)
            shmem_long_atomic_set(&data[i], mine[i], right);
        break;
    case 5:
        shmem_putmem_nbi(data, mine, N * sizeof *mine, right);
        break;
    case 6: {
        long *there = strcmp(shmemx_kind_of(data), "host") ? NULL : shmem_ptr(data, right); /* not for the CPU */
        for (int i = 0; there != NULL && i < N; i++)
            there[i] = mine[i];
        if (there == NULL) shmem_long_put(data, mine, N, right);
        break;
    }
    default:
        shmem_ctx_long_put_nbi(ctx, data, mine, N, right);
    }
}

static void raise_flag(int form, long value)
{
    static long number;
    switch (form) {
    case 0:
        shmem_long_p(flag, value, right);
        break;
    case 1:
        shmem_long_atomic_set(flag, value, right);
        break;
    case 2:
        number = value; /* stays until the quiet at the end of the round */
        shmem_long_put_nbi(flag, &number, 1, right);
        break;
    default:
        shmem_long_atomic_swap(flag, value, right);
    }
}

static void await_flag(int form, long value)
{
    if (form == 0)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, value);
    else if (form == 1)
        while (!shmem_long_test(flag, SHMEM_CMP_GE, value)) {
        }
    else
        shmem_long_wait_until_any(flag, 1, NULL, SHMEM_CMP_GE, value);
}

/* data, fence, flag: who sees the flag sees the data. Once he has looked, he says so, and the next round may
 * begin. */
static void test_fence(bool quiet)
{
    int forms = 0;
    LAY(flag, 0);
    LAY(ack, 0);
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        long mine[N], value = round << 20;
        forms++;
        for (int i = 0; i < N; i++)
            mine[i] = value + me + i;
        put_data(forms % 8, mine);
        if (forms % 8 == 7 && quiet)
            shmem_ctx_quiet(ctx);
        else if (forms % 8 == 7)
            shmem_ctx_fence(ctx);
        else if (quiet)
            shmem_quiet();
        else
            shmem_fence();
        if (forms % 8 == 7) {
            shmem_ctx_long_p(ctx, flag, round, right); /* the fence orders within its context */
            shmem_ctx_quiet(ctx);
        } else {
            raise_flag(forms / 8 % 4, round);
        }
        await_flag(forms % 3, round);
        check_data(forms % 8, value + left);
        shmem_long_atomic_inc(ack, left);
        shmem_long_wait_until(ack, SHMEM_CMP_GE, round);
        shmem_quiet();
        shmem_ctx_quiet(ctx);
    }
    shmem_barrier_all();
}

/* Quiet completes for everybody: a third PE that is told by the first finds the data on the second. */
static void test_quiet_for_all(void)
{
    PLACED(long, place, 1);
    PLACED(long, told, 1);
    int second = right, third = (me + 2) % npes, first = (me + npes - 2) % npes, second_of_first = left;
    LAY(place, 0);
    LAY(told, 0);
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        long value = round * 64 + me;
        int list[3] = {second, third, second};
        switch (round % 3) {
        case 0:
            shmem_long_p(place, value, second);
            break;
        case 1:
            shmem_long_put_nbi(place, &value, 1, second);
            break;
        case 2:
            shmem_long_atomic_set(place, value, second);
            break;
        }
        switch (round / 3 % 3) {
        case 0:
            shmem_quiet();
            break;
        case 1:
            shmem_pe_quiet(list, 3);
            break;
        case 2:
            shmem_pe_quiet(&second, 1);
            break;
        }
        shmem_long_atomic_set(told, round, third);
        shmem_long_wait_until(told, SHMEM_CMP_GE, round);
        long seen = shmem_long_g(place, second_of_first);
        CHECK_NUM(seen, round * 64 + first, "what PE %d put to PE %d, as it told", first, second_of_first);
        shmem_barrier_all();
    }
}

/* Non-blocking gets and fetching atomics are there after quiet. */
static void test_nbi_fetch(void)
{
    PLACED(long, source, N);
    PLACED(uint64_t, word, 1);
    for (long round = 1; round <= ROUNDS / 4; round++) {
        long got[N], text[N], one = -1;
        uint64_t fetched = 99, swapped = 99;
        int forms = (int)(round % 4);
        for (int i = 0; i < N; i++)
            text[i] = round * 1000 + me * 10 + i;
        lay(source, text, sizeof text);
        LAY(word, (uint64_t)(round * 100 + me));
        shmem_barrier_all();
        if (forms < 2) {
            shmem_long_get_nbi(got, source, N, right);
            shmem_long_get_nbi(&one, &source[3], 1, right);
            shmem_uint64_atomic_fetch_nbi(&fetched, word, right);
            shmem_uint64_atomic_fetch_add_nbi(&swapped, word, 5, right);
            if (forms == 0) shmem_quiet();
            if (forms == 1) shmem_pe_quiet(&right, 1);
        } else {
            shmem_ctx_long_get_nbi(ctx, got, source, N, right);
            shmem_ctx_long_get_nbi(ctx, &one, &source[3], 1, right);
            shmem_ctx_uint64_atomic_fetch_nbi(ctx, &fetched, word, right);
            shmem_ctx_uint64_atomic_fetch_add_nbi(ctx, &swapped, word, 5, right);
            if (forms == 2) shmem_ctx_quiet(ctx);
            if (forms == 3) shmem_ctx_pe_quiet(ctx, &right, 1);
        }
        for (int i = 0; i < N; i++)
            CHECK_NUM(got[i], round * 1000 + right * 10 + i, "get_nbi element %d", i);
        CHECK_NUM(one, round * 1000 + right * 10 + 3, "get_nbi of one");
        CHECK_NUM(swapped, (uint64_t)(round * 100 + right), "fetch_add_nbi");
        CHECK(fetched == swapped || fetched == swapped + 5, "fetch_nbi: %llu", (unsigned long long)fetched);
        shmem_barrier_all();
        CHECK_NUM(LOOK(word), (uint64_t)(round * 100 + me + 5), "the word that was added to");
        shmem_barrier_all();
    }
}

/* Two PEs each store and then look at the other's: after quiet at least one of them must see the other's
 * store. */
static void test_store_load(void)
{
    static long x, result;
    if (npes < 2) return;
    int pair = me ^ 1, both = 0;
    if (pair >= npes) pair = -1;
    for (int round = 0; round < ROUNDS; round++) {
        x = result = 0;
        shmem_barrier_all();
        if (pair >= 0) {
            shmem_long_p(&x, 1, pair); /* my mark, in the other's memory */
            shmem_quiet();
            result = *(volatile long *)&x;
        }
        shmem_barrier_all();
        if (pair >= 0) both += result == 0 && shmem_long_g(&result, pair) == 0;
        shmem_barrier_all();
    }
    CHECK_NUM(both, 0, "rounds in which neither PE saw the other's store");
}

/* --- the meetings --- */

static long sync_psync[SHMEM_SYNC_SIZE], barrier_psync[SHMEM_BARRIER_SYNC_SIZE];

static void meet(int form)
{
    switch (form) {
    case 0:
        shmem_barrier_all();
        break;
    case 1:
        shmem_sync_all();
        break;
    case 2:
        shmem_team_sync(SHMEM_TEAM_WORLD);
        break;
    case 3:
        shmem_barrier(0, 0, npes, barrier_psync);
        break;
    case 4:
        (shmem_sync)(0, 0, npes, sync_psync);
        break;
    default:
        shmem_free(shmem_malloc(8));
    }
}

/* Stores to own memory, and stores through pointers, are seen by all after any of them; puts after those that
 * quiet. */
static void test_meetings(void)
{
    static long own, through, put[2];
    for (long round = 1; round <= ROUNDS; round++) {
        int form = (int)(round % 6);
        bool quiets = form == 0 || form == 3 || form == 5;
        long value = round * 100 + me;
        long *there = shmem_ptr(&through, right);
        own = value;
        if (there != NULL) *there = value;
        shmem_long_put_nbi(&put[0], &value, 1, right);
        shmem_long_p(&put[1], value, right);
        if (!quiets) shmem_quiet();
        meet(form);
        for (int pe = 0; pe < npes; pe++)
            CHECK_NUM(shmem_long_g(&own, pe), round * 100 + pe, "store of PE %d, form %d", pe, form);
        if (shmem_ptr(&through, left) != NULL) CHECK_NUM(through, round * 100 + left, "store through a pointer, form %d", form);
        CHECK_NUM(put[0], round * 100 + left, "put_nbi, form %d", form);
        CHECK_NUM(put[1], round * 100 + left, "p, form %d", form);
        meet((form + 1) % 6);
    }
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        CHECK_NUM(sync_psync[i], (long)SHMEM_SYNC_VALUE, "pSync %d", i);
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        CHECK_NUM(barrier_psync[i], (long)SHMEM_SYNC_VALUE, "pSync %d", i);
}

/* A context that is none, and lists of nobody. */
static void test_nothing(void)
{
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_pe_quiet(NULL, 0);
    shmem_pe_quiet(&right, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
}

/* A PE that computes does not hold up who reads and writes its memory. */
static void test_passive(void)
{
    static long word, stop;
    word = stop = 0;
    shmem_barrier_all();
    if (me == npes - 1) {
        while (*(volatile long *)&stop == 0) {
        } /* no call at all */
    } else if (me == 0) {
        for (long i = 1; i <= 100; i++) {
            shmem_long_p(&word, i, npes - 1);
            shmem_quiet();
            CHECK_NUM(shmem_long_g(&word, npes - 1), i, "read back");
            CHECK_NUM(shmem_long_atomic_fetch_inc(&word, npes - 1), i, "fetch_inc");
        }
        shmem_long_p(&stop, 1, npes - 1);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    place();
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_psync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        barrier_psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    test_nothing();
    test_fence(false);
    test_fence(true);
    test_quiet_for_all();
    test_nbi_fetch();
    test_store_load();
    test_meetings();
    if (npes > 1) test_passive();
    shmem_ctx_destroy(ctx);
    return check_end();
}

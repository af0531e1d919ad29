/* Tests of the functions that come without types, one each. N(name) is the function or its profiling twin. */
#ifndef SINGLES_H
#define SINGLES_H

#include "names.h"

#ifdef NAMES_TWINS
#define N(name) p##name
#else
#define N(name) name
#endif
#define SINGLE(name) static void single_##name(void)

/* Is the library up, with all PEs? */
static int alive(void)
{
    int up = 0;
    shmem_query_initialized(&up);
    meet();
    return up != 0 && shmem_n_pes() == npes;
}

/* Everybody's flag must have been set by the left neighbour when `synchronise` returns. */
#define SYNCHRONISES(...)                          \
    do {                                           \
        for (int round = 1; round <= 3; round++) { \
            if (round % npes == me) linger();      \
            shmem_int_p(&arrived, round, right);   \
            shmem_quiet();                         \
            __VA_ARGS__;                           \
            CHECK(arrived == round);               \
            meet();                                \
        }                                          \
        arrived = 0;                               \
    } while (0)

/* Data, then what orders or completes, then a flag: who sees the flag sees the data. */
#define ORDERS(...)                                                      \
    do {                                                                 \
        long *data = DEST(long);                                         \
        *data = 0;                                                       \
        arrived = 0;                                                     \
        meet();                                                          \
        shmem_long_p(data, 1000 + me, right);                            \
        shmem_ctx_long_p(ctx, data + 1, 2000 + me, of_backwards(right)); \
        __VA_ARGS__;                                                     \
        shmem_int_p(&arrived, 1, right);                                 \
        shmem_int_wait_until(&arrived, SHMEM_CMP_EQ, 1);                 \
        CHECK(*data == 1000 + left);                                     \
        quiet();                                                         \
        meet();                                                          \
        CHECK(data[1] == 2000 + left);                                   \
        arrived = 0;                                                     \
    } while (0)

/* A symmetric block of n bytes works: its last long can be written by the neighbour. */
static void check_block(void *block, size_t bytes)
{
    long *last = (long *)block + bytes / sizeof(long) - 1;
    CHECK(block != NULL && (uintptr_t)block % 16 == 0 && shmem_addr_accessible(block, right));
    if (!block) return;
    meet();
    shmem_long_p(last, 500 + me, right);
    meet();
    CHECK(*last == 500 + left);
    meet();
}

/* --- setup, exit, query --- */
SINGLE(shmem_init)
{
    N(shmem_init)();
    CHECK(alive());
    shmem_finalize();
    CHECK(alive());
}
SINGLE(shmem_finalize)
{
    shmem_init();
    SYNCHRONISES(N(shmem_finalize)(); shmem_init());
    N(shmem_finalize)();
    CHECK(alive());
}
SINGLE(shmem_init_thread)
{
    int provided = -1;
    CHECK(N(shmem_init_thread)(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    shmem_finalize();
    CHECK(alive());
}
SINGLE(shmem_query_thread)
{
    int provided = -1;
    N(shmem_query_thread)(&provided);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
}
SINGLE(shmem_query_initialized)
{
    int up = 0;
    N(shmem_query_initialized)(&up);
    CHECK(up != 0);
}
SINGLE(start_pes)
{
    N(start_pes)(0);
    CHECK(alive());
}
SINGLE(shmem_my_pe)
{
    int *there = DEST(int);
    CHECK(N(shmem_my_pe)() == me && me >= 0 && me < npes);
    *there = -1;
    meet();
    shmem_int_p(there, N(shmem_my_pe)(), right);
    meet();
    CHECK(*there == left && *there == shmem_team_my_pe(SHMEM_TEAM_WORLD) - 1 + (me == 0 ? npes : 0));
}
SINGLE(_my_pe)
{
    CHECK(N(_my_pe)() == me);
}
SINGLE(shmem_n_pes)
{
    CHECK(N(shmem_n_pes)() == npes);
}
SINGLE(_num_pes)
{
    CHECK(N(_num_pes)() == npes);
}
SINGLE(shmem_pe_accessible)
{
    CHECK(N(shmem_pe_accessible)(me) == 1 && N(shmem_pe_accessible)(right) == 1);
    CHECK(N(shmem_pe_accessible)(-1) == 0 && N(shmem_pe_accessible)(npes) == 0);
}
SINGLE(shmem_addr_accessible)
{
    int local;
    CHECK(N(shmem_addr_accessible)(heap_room, right) == 1 &&
          N(shmem_addr_accessible)(static_room, right) == 1);
    CHECK(N(shmem_addr_accessible)(&local, right) == 0 && N(shmem_addr_accessible)(heap_room, npes) == 0);
}
SINGLE(shmem_ptr)
{
    char local;
    long *there = (long *)N(shmem_ptr)(DEST(long), right);
    CHECK(N(shmem_ptr)(DEST(long), me) == DEST(void) && N(shmem_ptr)(&local, right) == NULL);
    CHECK(there != NULL);
    meet();
    *there = 70 + me;
    meet();
    CHECK(*DEST(long) == 70 + left);
    CHECK(N(shmem_ptr)(DEST(long), -1) == NULL && N(shmem_ptr)(DEST(long), npes) == NULL);
}
SINGLE(shmem_team_ptr)
{
    long *there = (long *)N(shmem_team_ptr)(backwards, DEST(long), of_backwards(right));
    CHECK(there != NULL && there == shmem_ptr(DEST(long), right));
    CHECK(N(shmem_team_ptr)(SHMEM_TEAM_INVALID, DEST(long), 0) == NULL);
    CHECK(N(shmem_team_ptr)(backwards, DEST(long), npes) == NULL);
}
SINGLE(shmem_info_get_version)
{
    int major = 0, minor = 0;
    N(shmem_info_get_version)(&major, &minor);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && major == 1 && minor == 6);
}
SINGLE(shmem_info_get_name)
{
    char name[SHMEM_MAX_NAME_LEN];
    N(shmem_info_get_name)(name);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
}
SINGLE(shmem_pcontrol)
{
    N(shmem_pcontrol)(0);
    N(shmem_pcontrol)(1, "anything", 2.5);
    CHECK(alive());
}

/* --- memory --- */
SINGLE(shmem_malloc)
{
    void *block = N(shmem_malloc)(1000);
    check_block(block, 1000);
    CHECK(N(shmem_malloc)(0) == NULL);
    shmem_free(block);
}
SINGLE(shmalloc)
{
    void *block = N(shmalloc)(1000);
    check_block(block, 1000);
    shmem_free(block);
}
SINGLE(shmem_free)
{
    void *block = shmem_malloc(1 << 20), *again;
    N(shmem_free)(block);
    N(shmem_free)(NULL);
    again = shmem_malloc(1 << 20);
    CHECK(again == block);
    shmem_free(again);
}
SINGLE(shfree)
{
    void *block = shmem_malloc(1 << 20), *again;
    N(shfree)(block);
    again = shmem_malloc(1 << 20);
    CHECK(again == block);
    shmem_free(again);
}
#define REALLOCATES(realloc_)                    \
    do {                                         \
        long *block = (long *)shmem_malloc(64);  \
        for (int i = 0; i < 8; i++)              \
            block[i] = me * 100 + i;             \
        block = (long *)realloc_(block, 100000); \
        CHECK(block != NULL);                    \
        for (int i = 0; i < 8; i++)              \
            CHECK(block[i] == me * 100 + i);     \
        check_block(block, 100000);              \
        shmem_free(block);                       \
    } while (0)
SINGLE(shmem_realloc)
{
    REALLOCATES(N(shmem_realloc));
    void *block = N(shmem_realloc)(NULL, 64);
    check_block(block, 64);
    CHECK(N(shmem_realloc)(block, 0) == NULL);
}
SINGLE(shrealloc)
{
    REALLOCATES(N(shrealloc));
}
SINGLE(shmem_align)
{
    void *block = N(shmem_align)(4096, 1000);
    CHECK((uintptr_t)block % 4096 == 0);
    check_block(block, 1000);
    shmem_free(block);
}
SINGLE(shmemalign)
{
    void *block = N(shmemalign)(4096, 1000);
    CHECK((uintptr_t)block % 4096 == 0);
    check_block(block, 1000);
    shmem_free(block);
}
SINGLE(shmem_malloc_with_hints)
{
    void *block = N(shmem_malloc_with_hints)(1000, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    check_block(block, 1000);
    shmem_free(block);
}
SINGLE(shmem_calloc)
{
    void *dirty = shmem_malloc(1000);
    char zero[1000];
    memset(zero, 0, sizeof zero);
    if (dirty) memset(dirty, 0x55, 1000);
    shmem_free(dirty);
    void *block = N(shmem_calloc)(10, 100);
    CHECK(block != NULL && memcmp(block, zero, 1000) == 0);
    check_block(block, 1000);
    CHECK(N(shmem_calloc)(SIZE_MAX / 2, 3) == NULL);
    shmem_free(block);
}

/* --- teams --- */
SINGLE(shmem_team_my_pe)
{
    CHECK(N(shmem_team_my_pe)(SHMEM_TEAM_WORLD) == me && N(shmem_team_my_pe)(backwards) == of_backwards(me));
    CHECK(N(shmem_team_my_pe)(SHMEM_TEAM_INVALID) == -1);
}
SINGLE(shmem_team_n_pes)
{
    CHECK(N(shmem_team_n_pes)(SHMEM_TEAM_WORLD) == npes && N(shmem_team_n_pes)(backwards) == npes);
    CHECK(N(shmem_team_n_pes)(SHMEM_TEAM_SHARED) >= 1 && N(shmem_team_n_pes)(SHMEM_TEAM_INVALID) == -1);
}
SINGLE(shmem_team_translate_pe)
{
    CHECK(N(shmem_team_translate_pe)(backwards, of_backwards(right), SHMEM_TEAM_WORLD) == right);
    CHECK(N(shmem_team_translate_pe)(SHMEM_TEAM_WORLD, left, backwards) == of_backwards(left));
    CHECK(N(shmem_team_translate_pe)(SHMEM_TEAM_WORLD, npes, backwards) == -1);
    CHECK(N(shmem_team_translate_pe)(SHMEM_TEAM_INVALID, 0, backwards) == -1);
}
/* A team with a configuration: get_config reports it. */
SINGLE(shmem_team_get_config)
{
    shmem_team_config_t config;
    shmem_team_t t = SHMEM_TEAM_INVALID;
    config.num_contexts = 3;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &t) == 0);
    config.num_contexts = -1;
    CHECK(N(shmem_team_get_config)(t, 0, NULL) == 0);
    CHECK(N(shmem_team_get_config)(t, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts == 3);
    CHECK(N(shmem_team_get_config)(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    shmem_team_destroy(t);
}
SINGLE(shmem_team_split_strided)
{
    shmem_team_t t = SHMEM_TEAM_INVALID;
    int n = (npes + 1) / 2; /* every second PE */
    CHECK(N(shmem_team_split_strided)(SHMEM_TEAM_WORLD, 0, 2, n, NULL, 0, &t) == 0);
    CHECK((t == SHMEM_TEAM_INVALID) == (me % 2 != 0));
    CHECK(shmem_team_my_pe(t) == (me % 2 ? -1 : me / 2));
    CHECK(shmem_team_n_pes(t) == (me % 2 ? -1 : n));
    shmem_team_destroy(t);
    meet();
    t = SHMEM_TEAM_WORLD;
    CHECK(N(shmem_team_split_strided)(SHMEM_TEAM_WORLD, 0, 1, npes + 1, NULL, 0, &t) != 0);
    CHECK(t == SHMEM_TEAM_INVALID);
}
SINGLE(shmem_team_split_2d)
{
    shmem_team_t x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    int xrange = 2;
    CHECK(N(shmem_team_split_2d)(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) == 0);
    if (npes < xrange) xrange = npes;
    CHECK(shmem_team_my_pe(x) == me % xrange && shmem_team_my_pe(y) == me / xrange);
    CHECK(shmem_team_translate_pe(x, 0, SHMEM_TEAM_WORLD) == me / xrange * xrange);
    CHECK(shmem_team_translate_pe(y, 0, SHMEM_TEAM_WORLD) == me % xrange);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}
SINGLE(shmem_team_destroy)
{
    shmem_team_t t = SHMEM_TEAM_INVALID;
    N(shmem_team_destroy)(t);
    for (int i = 0; i < 1100; i++) { /* more than there can be at once */
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &t) == 0 &&
              t != SHMEM_TEAM_INVALID);
        N(shmem_team_destroy)(t);
    }
}

/* --- contexts and sessions --- */
static void check_context(shmem_ctx_t c)
{
    long *x = DEST(long);
    CHECK(c != SHMEM_CTX_INVALID);
    meet();
    shmem_ctx_long_p(c, x, 80 + me, right);
    shmem_ctx_quiet(c);
    meet();
    CHECK(*x == 80 + left);
}
SINGLE(shmem_ctx_create)
{
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    CHECK(N(shmem_ctx_create)(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &c) == 0);
    check_context(c);
    shmem_ctx_destroy(c);
}
SINGLE(shmem_team_create_ctx)
{
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    CHECK(N(shmem_team_create_ctx)(SHMEM_TEAM_WORLD, SHMEM_CTX_SERIALIZED, &c) == 0);
    check_context(c);
    shmem_ctx_destroy(c);
    CHECK(N(shmem_team_create_ctx)(SHMEM_TEAM_INVALID, 0, &c) != 0 && c == SHMEM_CTX_INVALID);
}
SINGLE(shmem_ctx_destroy)
{
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    N(shmem_ctx_destroy)(c);
    for (int i = 0; i < 17000; i++) { /* more than there can be at once */
        CHECK(shmem_ctx_create(0, &c) == 0);
        if (i % 4000 == 0) check_context(c);
        N(shmem_ctx_destroy)(c);
    }
}
SINGLE(shmem_ctx_get_team)
{
    shmem_team_t t = SHMEM_TEAM_INVALID;
    CHECK(N(shmem_ctx_get_team)(ctx, &t) == 0 && t == backwards);
    CHECK(N(shmem_ctx_get_team)(SHMEM_CTX_DEFAULT, &t) == 0 && t == SHMEM_TEAM_WORLD);
    CHECK(N(shmem_ctx_get_team)(SHMEM_CTX_INVALID, &t) != 0 && t == SHMEM_TEAM_INVALID);
}
SINGLE(shmem_ctx_session_start)
{
    shmem_ctx_session_config_t config;
    config.total_ops = 100;
    N(shmem_ctx_session_start)(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    N(shmem_ctx_session_start)(SHMEM_CTX_DEFAULT, 0, NULL, 0);
    N(shmem_ctx_session_start)(SHMEM_CTX_INVALID, 0, NULL, 0);
    check_context(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(ctx);
}
SINGLE(shmem_ctx_session_stop)
{
    N(shmem_ctx_session_stop)(ctx);
    N(shmem_ctx_session_stop)(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    N(shmem_ctx_session_stop)(SHMEM_CTX_DEFAULT);
    check_context(SHMEM_CTX_DEFAULT);
}

static uint64_t the_only_thread(void)
{
    return 1;
}
SINGLE(shmemx_register_gettid)
{
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    N(shmemx_register_gettid)(the_only_thread);
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &c) == 0);
    check_context(c);
    shmem_ctx_destroy(c);
    N(shmemx_register_gettid)(NULL);
}

/* Nothing is counted here; test/spec/counters.c has it counted. */
static long counter_word;
SINGLE(shmemx_pcntr_get_issued_write)
{
    uint64_t seen = 77;
    shmem_long_p(&counter_word, 1, me);
    N(shmemx_pcntr_get_issued_write)(SHMEM_CTX_DEFAULT, &seen);
    CHECK(seen == 0);
}
SINGLE(shmemx_pcntr_get_issued_read)
{
    uint64_t seen = 77;
    shmem_long_p(&counter_word, 1, me);
    N(shmemx_pcntr_get_issued_read)(SHMEM_CTX_DEFAULT, &seen);
    CHECK(seen == 0);
}
SINGLE(shmemx_pcntr_get_completed_write)
{
    uint64_t seen = 77;
    shmem_long_p(&counter_word, 1, me);
    N(shmemx_pcntr_get_completed_write)(SHMEM_CTX_DEFAULT, &seen);
    CHECK(seen == 0);
}
SINGLE(shmemx_pcntr_get_completed_read)
{
    uint64_t seen = 77;
    shmem_long_p(&counter_word, 1, me);
    N(shmemx_pcntr_get_completed_read)(SHMEM_CTX_DEFAULT, &seen);
    CHECK(seen == 0);
}
SINGLE(shmemx_pcntr_get_completed_target)
{
    uint64_t seen = 77;
    N(shmemx_pcntr_get_completed_target)(&seen);
    CHECK(seen == 0);
}
SINGLE(shmemx_pcntr_get_all)
{
    shmemx_pcntr_t all = {1, 2, 3, 4, 5};
    N(shmemx_pcntr_get_all)(SHMEM_CTX_DEFAULT, &all);
    CHECK(all.completed_put == 0 && all.completed_get == 0 && all.pending_put == 0 && all.pending_get == 0);
    CHECK(all.target == 0);
}

/* --- kinds of memory --- */
SINGLE(shmemx_malloc_on)
{
    long *p = N(shmemx_malloc_on)("host", sizeof *p);
    shmem_long_p(p, me + 5, right);
    meet();
    CHECK(*p == left + 5 && N(shmemx_malloc_on)("host", 0) == NULL);
    shmem_free(p);
}
SINGLE(shmemx_calloc_on)
{
    long *p = N(shmemx_calloc_on)("host", 3, sizeof *p);
    CHECK(p && shmem_addr_accessible(p, right) && !p[0] && !p[2]);
    shmem_free(p);
}
SINGLE(shmemx_align_on)
{
    char *p = N(shmemx_align_on)("host", 4096, 100);
    CHECK(p && (uintptr_t)p % 4096 == 0 && shmem_addr_accessible(p, right));
    shmem_free(p);
}
SINGLE(shmemx_kind_of)
{
    CHECK(!strcmp(N(shmemx_kind_of)(&arrived), "host") && N(shmemx_kind_of)(NULL) == NULL);
}
SINGLE(shmemx_peer_table)
{
    void *table[64] = {NULL};
    CHECK(N(shmemx_peer_table)(&arrived, table) == npes && table[me] == &arrived);
    for (int pe = 0; pe < npes; pe++) CHECK(table[pe] == shmem_ptr(&arrived, pe));
}

/* --- on streams: a job without a device heap has none, and is told so. test/device has the rest --- */
SINGLE(shmemx_putmem_on_stream)
{
    long *data = DEST(long), one = 1;
    *data = 7;
    CHECK(N(shmemx_putmem_on_stream)(data, &one, sizeof one, me, NULL) == SHMEMX_STREAM_UNSUPPORTED && *data == 7);
}
SINGLE(shmemx_getmem_on_stream)
{
    long *data = DEST(long), one = 1;
    *data = 7;
    CHECK(N(shmemx_getmem_on_stream)(&one, data, sizeof one, me, NULL) == SHMEMX_STREAM_UNSUPPORTED && one == 1);
}
SINGLE(shmemx_putmem_signal_on_stream)
{
    long *data = DEST(long), one = 1;
    *data = 7;
    CHECK(N(shmemx_putmem_signal_on_stream)(data, &one, sizeof one, signal_word, 9, SHMEM_SIGNAL_SET, me, NULL) ==
          SHMEMX_STREAM_UNSUPPORTED);
    CHECK(*data == 7 && signal_word[0] != 9);
}
SINGLE(shmemx_signal_wait_until_on_stream)
{
    CHECK(N(shmemx_signal_wait_until_on_stream)(signal_word, SHMEM_CMP_EQ, 99, NULL) == SHMEMX_STREAM_UNSUPPORTED);
}
SINGLE(shmemx_quiet_on_stream)
{
    CHECK(N(shmemx_quiet_on_stream)(NULL) == SHMEMX_STREAM_UNSUPPORTED);
}
SINGLE(shmemx_barrier_on_stream)
{
    CHECK(N(shmemx_barrier_on_stream)(team, NULL) == SHMEMX_STREAM_UNSUPPORTED);
}
SINGLE(shmemx_broadcastmem_on_stream)
{
    long *data = DEST(long);
    *data = me;
    CHECK(N(shmemx_broadcastmem_on_stream)(team, data, data, sizeof *data, 0, NULL) == SHMEMX_STREAM_UNSUPPORTED);
    CHECK(*data == me);
}
SINGLE(shmemx_device_info)
{
    shmemx_device_info_t info = {.kind = "none", .number = 7, .total_bytes = 7};
    int none = N(shmemx_device_info)(&info);
    CHECK(none ? none == 1 && !info.kind && !info.number && !info.total_bytes && !info.name[0]
               : strcmp(info.kind, "host") && info.name[0] && info.number >= 0 && info.free_bytes <= info.total_bytes);
}

/* --- for libraries on top --- */
SINGLE(shmemx_agree)
{
    char mine[SHMEMX_AGREE_MAX] = "the same on all", theirs[SHMEMX_AGREE_MAX] = "";
    int pe = 77;
    CHECK(N(shmemx_agree)(SHMEM_TEAM_WORLD, mine, sizeof mine, theirs, &pe) == 0 && pe == 77 && !theirs[0]);
    mine[SHMEMX_AGREE_MAX - 1] = me == 0 ? 'x' : 0; /* of the team it is the last one */
    int differ = N(shmemx_agree)(backwards, mine, sizeof mine, theirs, &pe);
    CHECK(differ == (npes > 1));
    if (differ) CHECK(pe == of_backwards(0) && theirs[SHMEMX_AGREE_MAX - 1] == 'x');
}
SINGLE(shmemx_ctx_is_valid)
{
    shmem_ctx_t c = SHMEM_CTX_INVALID;
    CHECK(N(shmemx_ctx_is_valid)(SHMEM_CTX_DEFAULT) == 1 && N(shmemx_ctx_is_valid)(c) == 0);
    CHECK(shmem_ctx_create(0, &c) == 0 && N(shmemx_ctx_is_valid)(c) == 1);
    shmem_ctx_destroy(c);
    CHECK(N(shmemx_ctx_is_valid)(c) == 0);
}
SINGLE(shmemx_team_is_valid)
{
    CHECK(N(shmemx_team_is_valid)(backwards) == 1 && N(shmemx_team_is_valid)(SHMEM_TEAM_WORLD) == 1);
    CHECK(N(shmemx_team_is_valid)(SHMEM_TEAM_INVALID) == 0);
}
SINGLE(shmemx_keep_memory)
{
    N(shmemx_keep_memory)(1);
    N(shmemx_keep_memory)(0);
    CHECK(alive()); /* test/spec/keep_memory.c looks behind finalize */
}
SINGLE(shmemx_claim_report)
{
    int told = N(shmemx_claim_report)(), *all = (int *)DEST(int);
    if (told) CHECK(N(shmemx_claim_report)() == 1);
    *all = 0;
    meet();
    shmem_int_atomic_add(all, told, 0);
    meet();
    if (me == 0) CHECK(*all == 1);
    meet();
}
SINGLE(shmemx_is_descendant)
{
    CHECK(N(shmemx_is_descendant)() == 0); /* test/launch/descendant.sh has others */
}
SINGLE(shmemx_get_uniqueid)
{
    shmemx_uniqueid_t one, two;
    CHECK(N(shmemx_get_uniqueid)(&one) == 0 && N(shmemx_get_uniqueid)(&two) == 0);
    CHECK(memcmp(&one, &two, sizeof one) != 0);
}
SINGLE(shmemx_set_attr_uniqueid_args)
{
    shmemx_uniqueid_t id;
    shmemx_init_attr_t attr;
    memset(&id, 7, sizeof id);
    CHECK(N(shmemx_set_attr_uniqueid_args)(3, 5, &id, &attr) == 0);
    CHECK(attr.size == sizeof attr && attr.pe == 3 && attr.npes == 5 && attr.thread_level == SHMEM_THREAD_SINGLE);
    CHECK(memcmp(&attr.id, &id, sizeof id) == 0);
}
SINGLE(shmemx_init_attr)
{
    shmemx_uniqueid_t id;
    shmemx_init_attr_t attr;
    CHECK(N(shmemx_get_uniqueid)(&id) == 0 && N(shmemx_set_attr_uniqueid_args)(me, npes, &id, &attr) == 0);
    CHECK(N(shmemx_init_attr)(SHMEMX_INIT_WITH_UNIQUEID, &attr) == 0); /* counted, as any init; test/boot has first ones */
    shmem_finalize();
    CHECK(N(shmemx_init_attr)(0, NULL) == 0);
    shmem_finalize();
    CHECK(alive());
}
SINGLE(shmemx_other_copy)
{
    char other[512] = "", own[512] = "";
    CHECK(N(shmemx_other_copy)(other, sizeof other, own, sizeof own) == 0 && !other[0]);
    CHECK(strstr(own, "libhbmesh.so") != NULL); /* test/install/copies.sh has two */
}
static int interrupt_asked;
static int leave(int can_return)
{
    interrupt_asked++;
    return can_return;
}
SINGLE(shmemx_set_interrupt)
{
    long *never = DEST(long);
    *never = 0;
    interrupt_asked = 0;
    N(shmemx_set_interrupt)(leave);
    shmem_long_wait_until(never, SHMEM_CMP_EQ, 1);
    N(shmemx_set_interrupt)(NULL);
    CHECK(interrupt_asked == 1 && *never == 0);
    meet();
}

/* --- synchronisation and ordering --- */
SINGLE(shmem_barrier_all)
{
    long *x = DEST(long);
    SYNCHRONISES(N(shmem_barrier_all)());
    meet();
    shmem_long_p(x, 60 + me, right);
    N(shmem_barrier_all)();
    CHECK(*x == 60 + left);
}
SINGLE(shmem_barrier)
{
    long *x = DEST(long);
    SYNCHRONISES(N(shmem_barrier)(0, 0, npes, sync_room));
    meet();
    shmem_long_p(x, 60 + me, right);
    N(shmem_barrier)(0, 0, npes, sync_room);
    CHECK(*x == 60 + left);
}
SINGLE(shmem_sync_all)
{
    SYNCHRONISES(N(shmem_sync_all)());
}
SINGLE(shmem_sync)
{
    SYNCHRONISES(N(shmem_sync)(0, 0, npes, sync_room));
}
SINGLE(shmem_team_sync)
{
    SYNCHRONISES(CHECK(N(shmem_team_sync)(team) == 0));
}
SINGLE(shmem_fence)
{
    ORDERS(N(shmem_fence)());
}
SINGLE(shmem_quiet)
{
    ORDERS(N(shmem_quiet)());
}
SINGLE(shmem_ctx_fence)
{
    ORDERS(N(shmem_ctx_fence)(SHMEM_CTX_DEFAULT); N(shmem_ctx_fence)(ctx));
    N(shmem_ctx_fence)(SHMEM_CTX_INVALID);
}
SINGLE(shmem_ctx_quiet)
{
    ORDERS(N(shmem_ctx_quiet)(SHMEM_CTX_DEFAULT); N(shmem_ctx_quiet)(ctx));
    N(shmem_ctx_quiet)(SHMEM_CTX_INVALID);
}
SINGLE(shmem_pe_quiet)
{
    ORDERS(N(shmem_pe_quiet)(&right, 1));
    N(shmem_pe_quiet)(NULL, 0);
}
SINGLE(shmem_ctx_pe_quiet)
{
    const int twice[2] = {of_backwards(right), of_backwards(right)};
    ORDERS(N(shmem_ctx_pe_quiet)(SHMEM_CTX_DEFAULT, &right, 1); N(shmem_ctx_pe_quiet)(ctx, twice, 2));
    N(shmem_ctx_pe_quiet)(ctx, NULL, 0);
}
SINGLE(shmem_signal_fetch)
{
    signal_word[1] = 0;
    meet();
    shmem_signal_set(&signal_word[1], 0x100000000u + (uint64_t)me, right);
    shmem_quiet();
    meet();
    CHECK(N(shmem_signal_fetch)(&signal_word[1]) == 0x100000000u + (uint64_t)left);
}
SINGLE(shmem_signal_wait_until)
{
    signal_word[1] = 5;
    CHECK(N(shmem_signal_wait_until)(&signal_word[1], SHMEM_CMP_EQ, 5) == 5);
    CHECK(N(shmem_signal_wait_until)(&signal_word[1], SHMEM_CMP_LE, 5) == 5);
    CHECK(N(shmem_signal_wait_until)(&signal_word[1], SHMEM_CMP_LT, UINT64_MAX) == 5);
    meet();
    shmem_signal_add(&signal_word[1], 0x100000000u + (uint64_t)me, right);
    CHECK(N(shmem_signal_wait_until)(&signal_word[1], SHMEM_CMP_GT, 5) == 0x100000005u + (uint64_t)left);
}
SINGLE(shmem_wait_until)
{
    long *x = DEST(long);
    x[0] = -3;
    x[1] = 0;
    meet();
    N(shmem_wait_until)(x, SHMEM_CMP_LT, -2);
    N(shmem_wait_until)(x, SHMEM_CMP_GE, -3);
    SEND_ROUND(shmem_long_p(x + 1, 90 + me, right), N(shmem_wait_until)(x + 1, SHMEM_CMP_EQ, 90 + left);
               CHECK(x[1] == 90 + left));
}
SINGLE(shmem_wait)
{
    long *x = DEST(long);
    x[0] = 3;
    x[1] = 0;
    meet();
    N(shmem_wait)(x, 4);
    SEND_ROUND(shmem_long_p(x + 1, 90 + me, right), N(shmem_wait)(x + 1, 0); CHECK(x[1] == 90 + left));
}
SINGLE(shmemx_sync_pe)
{
    long *x = DEST(long);
    CHECK(N(shmemx_sync_pe)(me) == 0);
    for (int round = 1; round <= 20; round++) {
        for (int distance = 1; distance < npes; distance++) {
            int pe = (me ^ distance) < npes && (npes & (npes - 1)) == 0 ? me ^ distance : -1;
            if (pe < 0) continue;
            shmem_long_p(x + me, round, pe);
            shmem_quiet();
            CHECK(N(shmemx_sync_pe)(pe) == 0);
            CHECK(x[pe] == round);
            CHECK(N(shmemx_sync_pe)(pe) == 0);
        }
        /* in a ring: to the right first, but for the last one */
        if (npes > 1) {
            CHECK(N(shmemx_sync_pe)(me < right ? right : left) == 0);
            CHECK(N(shmemx_sync_pe)(me < right ? left : right) == 0);
        }
    }
}

/* --- locks --- */
#define LOCKED(take)                                   \
    do {                                               \
        static long lock, counter;                     \
        for (int i = 0; i < 20; i++) {                 \
            long seen;                                 \
            take;                                      \
            seen = shmem_long_g(&counter, 0);          \
            shmem_long_p(&counter, seen + 1, 0);       \
            N(shmem_clear_lock)(&lock);                \
        }                                              \
        meet();                                        \
        CHECK(shmem_long_g(&counter, 0) == 20 * npes); \
        meet();                                        \
        counter = 0;                                   \
    } while (0)
SINGLE(shmem_set_lock)
{
    LOCKED(N(shmem_set_lock)(&lock));
}
SINGLE(shmem_test_lock)
{
    LOCKED(while (N(shmem_test_lock)(&lock)) continue);
}
SINGLE(shmem_clear_lock)
{
    static long lock;
    if (me == 0) shmem_set_lock(&lock);
    meet();
    CHECK(npes == 1 || me == 0 || shmem_test_lock(&lock) == 1);
    meet();
    if (me == 0) N(shmem_clear_lock)(&lock);
    meet();
    if (me == npes - 1) {
        CHECK(shmem_test_lock(&lock) == 0);
        N(shmem_clear_lock)(&lock);
    }
    meet();
}

#endif

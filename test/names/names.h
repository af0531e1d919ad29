/* What the generated programs of this folder share. Each function under test is called by one of
 * families/<family>.inc, which is included once for each of them with
 *
 *   TEST         the name of the C function to define        NAME     what is tested, as a string
 *   T            the type                                    F(...)   the call, without the context or team
 * it takes PE(pe)       the PE number to pass for world PE `pe`     VALUE(v) the number v as a T, spread over
 * all its bytes
 *
 * and what the family needs besides. The same text is compiled as C (functions, their profiling twins, C11
 * generics) and as C++ (overloads).
 */
#ifndef NAMES_H
#define NAMES_H

#include <shmem.h>
#include <shmemx.h>
#ifdef NAMES_TWINS
#include <pshmem.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNED(n) __attribute__((aligned(n)))
#define UNUSED __attribute__((unused))

__extension__ typedef unsigned __int128 word128;

static int me, npes, left, right; /* neighbours in a ring */
static int failures;
static const char *testing; /* the name of the function under test */

/* The PEs backwards, so that a number that is not translated is wrong, and a context of them. */
static shmem_team_t backwards;
static shmem_ctx_t ctx;
UNUSED static int of_backwards(int pe)
{
    return npes - 1 - pe;
}

/* The team of the collectives: the world, or the PEs backwards. */
static shmem_team_t team;
UNUSED static int team_world(int i)
{
    return team == SHMEM_TEAM_WORLD ? i : npes - 1 - i;
}
#define TEAM_ME team_world(me) /* it is its own inverse */

/* Symmetric room: one on the heap, one in static data. */
#define ROOM 8192
static char *heap_room;
static ALIGNED(64) char static_room[ROOM];
static ALIGNED(64) char source_room[ROOM];
static uint64_t signal_word[3];
static int arrived;
static long sync_room[SHMEM_SYNC_SIZE];
UNUSED static ALIGNED(64) char work_room[ROOM];
#define DEST(T) ((T *)(void *)(which_room() ? heap_room : static_room))
#define SOURCE(T) ((T *)(void *)source_room)

static int room;
static int which_room(void)
{
    return room;
}

#define CHECK(cond)                                     \
    do {                                                \
        if (!(cond)) failed(__FILE__, __LINE__, #cond); \
    } while (0)
static void failed(const char *file, int line, const char *cond)
{
    if (++failures <= 20)
        printf("%s:%d: PE %d of %d: %s: not true: %s\n", file, line, me, npes, testing, cond);
}

/* A number for element i of PE pe, small enough for a char. */
UNUSED static int number(int pe, int i)
{
    return 1 + pe * 9 + i * 3;
}
#define VAL(pe, i) VALUE(number(pe, i))

/* v in each of the bytes. */
UNUSED static word128 spread(int v, size_t size)
{
    word128 all = 0;
    for (size_t i = 0; i < size; i++)
        all = all << 8 | (unsigned char)v;
    return all;
}
#define VALUE_INTEGER(T, v) ((T)spread(v, sizeof(T)))
/* The low bits of a long double are beyond those of a double. */
#define VALUE_FLOAT(T, v) ((T)((T)(v) + (T)0.25))
#define VALUE_LONG_DOUBLE(T, v) ((T)((T)(v) + (T)(1.0L / 18014398509481984)))
#define VALUE_COMPLEX(T, v)               \
    __extension__({                       \
        T complex_value;                  \
        __real__ complex_value = (v);     \
        __imag__ complex_value = (v) + 1; \
        complex_value;                    \
    })

static void meet(void)
{
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

static void quiet(void)
{
    shmem_ctx_quiet(ctx);
    shmem_quiet();
}

/* A value of any type into the memory of PE pe, so that somebody who waits there sees it. */
UNUSED static void send(void *dest, const void *value, size_t size, int pe)
{
    shmem_putmem(dest, value, size, pe);
    shmem_quiet();
}

/* PE 0 sends late, the others once they have got theirs: whoever does not wait for it sees it missing. */
UNUSED static void linger(void)
{
    if (npes > 1) usleep(1000);
}
#define SEND_ROUND(send_it, wait_for_it) \
    do {                                 \
        if (me == 0) {                   \
            linger();                    \
            send_it;                     \
        }                                \
        wait_for_it;                     \
        if (me != 0) send_it;            \
    } while (0)

struct test {
    const char *name;
    void (*run)(void);
};

static void start(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    left = (me + npes - 1) % npes;
    right = (me + 1) % npes;
    heap_room = (char *)shmem_malloc(ROOM);
    testing = "start";
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &backwards) == 0);
    CHECK(shmem_team_create_ctx(backwards, 0, &ctx) == 0);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_room[i] = SHMEM_SYNC_VALUE;
    team = SHMEM_TEAM_WORLD;
    if (failures) shmem_global_exit(2);
    meet();
}

/* Every test (or only that of one name) twice: with dest on the heap and the world's team, in static data and
 * the team backwards. */
static void run_all(const struct test *tests, size_t n, const char *only)
{
    for (size_t i = 0; i < n; i++) {
        if (only && strcmp(only, tests[i].name) != 0) continue;
        testing = tests[i].name;
        for (room = 0; room < 2; room++) {
            team = room ? backwards : SHMEM_TEAM_WORLD;
            memset(DEST(char), 0, ROOM);
            memset(source_room, 0, ROOM);
            meet();
            tests[i].run();
            meet();
        }
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++)
            CHECK(sync_room[k] == SHMEM_SYNC_VALUE);
    }
}

/* Ends through global_exit: it does not return. */
static int finish(const char *what, size_t tested, size_t names, size_t untested)
{
    int all = failures;
    testing = "finish";
    if (me == 0) printf("%s: %zu tests, %zu names, %zu untested\n", what, tested, names, untested);
    if (untested) all++;
    if (all == 0) meet(); /* nobody ends with success before all have come so far */
#ifdef NAMES_TWINS
    pshmem_global_exit(all ? 1 : 0);
#else
    shmem_global_exit(all ? 1 : 0);
#endif
    return 99;
}

#endif

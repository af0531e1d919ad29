/* When a PE that has yielded goes to another core: PEs, cores, time and who runs are made up here. */
/* with: src/core/even.c src/core/crowd.c */
#define _GNU_SOURCE
#include "core/even.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "core/place.h"
#include "core/world.h"
#include "check.h"

#define MS 1000000ull
enum { PES = 8, CORES = 4 };

static int running = PES, usable = 2;
static int core_of[PES], here; /* the PE that runs */
static bool refuses;
static uint64_t now = 1000 * MS;
struct hm_world hm_world;
struct hm_places hm_places = {.local_npes = PES};

int hm_os_running(void) { return running; }
int sched_getcpu(void) { return core_of[here]; }

int hm_os_near_cores(uint16_t *cores, int max)
{
    int n = 0;
    if (usable > max) abort();
    cores[n++] = (uint16_t)core_of[here];
    for (int core = 0; core < usable; core++)
        if (core != core_of[here]) cores[n++] = (uint16_t)core;
    return n;
}

int hm_os_go_to_core(unsigned core)
{
    if (refuses) return -1;
    core_of[here] = (int)core;
    return 0;
}

static void be(int pe)
{
    here = pe;
    hm_world.pe = pe;
    hm_world.page = hm_job_page(hm_world.job, pe);
}

/* So many PEs on each core. */
static void put(const int *on)
{
    int pe = 0;
    for (int core = 0; core < CORES; core++)
        for (int i = 0; i < on[core]; i++) core_of[pe++] = core;
    if (pe != PES) abort();
}

static int pes_on(int core)
{
    int n = 0;
    for (int pe = 0; pe < PES; pe++) n += core_of[pe] == core;
    return n;
}

static bool are(const int *on)
{
    for (int core = 0; core < CORES; core++)
        if (pes_on(core) != on[core]) return false;
    return true;
}
#define ON(...) ((const int[CORES]){__VA_ARGS__})

/* The PEs from `first` on yield, a microsecond each, in no order, for so long. */
static void yield_from(int first, uint64_t ns)
{
    static uint32_t random = 1;
    for (uint64_t end = now + ns; now < end; now += 1000) {
        random = random * 1664525u + 1013904223u;
        be(first + (int)((random >> 16) % (uint32_t)(PES - first)));
        hm_even_look(now);
    }
}

static void yield_for(uint64_t ns) { yield_from(0, ns); }

static void test_two_cores(void)
{
    put(ON(5, 3));
    yield_for(20 * MS);
    CHECK(are(ON(4, 4)));
    put(ON(0, 8));
    yield_for(20 * MS);
    CHECK(are(ON(4, 4)));
}

/* All see the same, and if all went the other core would be the full one. */
static void test_one_at_a_time(void)
{
    put(ON(8, 0));
    for (int i = 0, before = 8; i < 10; i++, before = pes_on(0)) {
        yield_for(2 * MS);
        CHECK(pes_on(0) >= before - 1);
    }
    CHECK(are(ON(4, 4)));
}

/* One more than elsewhere is as even as it gets. */
static void test_three_cores(void)
{
    usable = 3;
    put(ON(3, 3, 2));
    yield_for(20 * MS);
    CHECK(are(ON(3, 3, 2)));
    put(ON(4, 3, 1));
    yield_for(20 * MS);
    CHECK(are(ON(3, 3, 2)));
    usable = 2;
}

/* Of those that it may use, or of its node. */
static void test_only_near_cores(void)
{
    usable = 1;
    put(ON(8));
    yield_for(20 * MS);
    CHECK(are(ON(8)));
    usable = 2;
    put(ON(3, 5, 0));
    yield_for(20 * MS);
    CHECK(are(ON(4, 4, 0)));
}

/* Somebody else runs on the emptier core. */
static void test_strangers(void)
{
    running = PES + 1;
    put(ON(5, 3));
    yield_for(20 * MS);
    CHECK(are(ON(5, 3)));
    running = 0; /* not known */
    yield_for(20 * MS);
    CHECK(are(ON(5, 3)));
    running = PES;
    yield_for(20 * MS);
    CHECK(are(ON(4, 4)));
}

/* Who sleeps takes nobody's place. */
static void test_sleepers(void)
{
    put(ON(5, 3));
    for (int pe = 0; pe < 2; pe++) {
        be(pe);
        hm_even_rest();
    }
    yield_from(2, 20 * MS);
    CHECK(are(ON(5, 3)));
    yield_for(20 * MS); /* awake again */
    CHECK(are(ON(4, 4)));
}

/* Nobody knows where one is that computes. */
static void test_one_computes(void)
{
    yield_for(20 * MS);
    now += MS;
    put(ON(5, 3));
    yield_from(1, 20 * MS);
    CHECK(are(ON(5, 3)));
    yield_for(20 * MS);
    CHECK(are(ON(4, 4)));
}

/* Who may not go stays where it is, in everybody's eyes. */
static void test_refused(void)
{
    refuses = true;
    put(ON(5, 3));
    yield_for(20 * MS);
    CHECK(are(ON(5, 3)));
    for (int pe = 0; pe < PES; pe++)
        CHECK((hm_job_page(hm_world.job, pe)->yielded & 0xffff) == (unsigned)core_of[pe] + 1);
    refuses = false;
}

int main(void)
{
    hm_world.job = aligned_alloc(4096, hm_job_pairs_at(PES));
    if (!hm_world.job) return 99;
    for (size_t i = 0; i < hm_job_pairs_at(PES); i++) ((char *)hm_world.job)[i] = 0;
    hm_world.ready = true;
    test_two_cores();
    test_one_at_a_time();
    test_three_cores();
    test_only_near_cores();
    test_strangers();
    test_sleepers();
    test_one_computes();
    test_refused();
    free(hm_world.job);
    return failures != 0;
}

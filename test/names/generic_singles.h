/* Generic forms that are not one function for each type. The same in C11 and C++. */
#ifndef GENERIC_SINGLES_H
#define GENERIC_SINGLES_H

#include "names.h"

#define SINGLE(name) static void single_##name(void)

SINGLE(shmem_team_sync)
{
    for (int round = 1; round <= 3; round++) {
        if (round % npes == me) linger();
        shmem_p(&arrived, round, right);
        shmem_quiet();
        CHECK(shmem_sync(team) == 0);
        CHECK(arrived == round);
        meet();
    }
    arrived = 0;
}

/* The active set of the world: four arguments. */
SINGLE(shmem_sync)
{
    for (int round = 1; round <= 3; round++) {
        if (round % npes == me) linger();
        shmem_p(&arrived, round, right);
        shmem_quiet();
        shmem_sync(0, 0, npes, sync_room);
        CHECK(arrived == round);
        meet();
    }
    arrived = 0;
}

/* Any integer type is a PE. */
SINGLE(shmemx_sync_pe)
{
    int pe = me ^ 1;
    if (pe >= npes) pe = me;
    CHECK(shmem_sync(pe) == 0 && shmem_sync((unsigned)pe) == 0 && shmem_sync((long)pe) == 0);
    CHECK(shmem_sync((unsigned long)pe) == 0 && shmem_sync((long long)pe) == 0);
    CHECK(shmem_sync((unsigned long long)pe) == 0 && shmem_sync((short)pe) == 0);
    CHECK(shmem_sync((unsigned short)pe) == 0 && shmem_sync((char)pe) == 0);
    CHECK(shmem_sync((signed char)pe) == 0 && shmem_sync((unsigned char)pe) == 0);
    CHECK(shmem_sync((size_t)pe) == 0 && shmem_sync((int64_t)pe) == 0);
    if (npes == 1) CHECK(shmem_sync(0) == 0 && shmem_sync(0L) == 0);
}

/* Arrays as they are, const sources, and a call inside the arguments of another. */
SINGLE(arrays)
{
    static double all[4], one;
    static const double constant[2] = {2.5, 3.5};
    static volatile long flag;
    double got[4] = {0, 0, 0, 0};
    all[0] = 0;
    one = 1.5 + me;
    meet();
    shmem_put(all, constant, 2, right);
    shmem_p(&all[2], shmem_g(&one, right), right);
    shmem_p((long *)&flag, 3L, right);
    quiet();
    shmem_wait_until((long *)&flag, SHMEM_CMP_EQ, 3);
    meet();
    CHECK(all[0] == 2.5 && all[1] == 3.5 && all[2] == 1.5 + me);
    shmem_get(got, all, 3, right);
    CHECK(got[0] == 2.5 && got[1] == 3.5 && got[2] == 1.5 + right);
    meet();
    flag = 0;
}

/* Scans of other libraries' manner: the world without a team. */
SINGLE(world_scans)
{
    int *dest = DEST(int), *source = SOURCE(int), before = 0;
    source[0] = me + 1;
    for (int pe = 0; pe < me; pe++)
        before += pe + 1;
    meet();
    CHECK(shmemx_sum_inscan(dest, source, 1) == 0 && *dest == before + me + 1);
    meet();
    CHECK(shmemx_sum_exscan(dest, source, 1) == 0 && *dest == before);
}

#ifdef __cplusplus
/* std::complex, which the header does not know. */
template <class V> static void check_complex()
{
    typedef std::complex<V> Z;
    Z *dest = (Z *)(void *)DEST(char), *source = (Z *)(void *)source_room, sum(0, 0), product(1, 0),
      before(0, 0);
    source[0] = Z(V(me + 1), V(2 - me));
    for (int pe = 0; pe < npes; pe++) {
        Z z(V(pe + 1), V(2 - pe));
        int member = team == SHMEM_TEAM_WORLD ? pe : npes - 1 - pe;
        sum += z;
        product *= z;
        if (member < TEAM_ME) before += z;
    }
    meet();
    CHECK(shmem_sum_reduce(team, dest, source, 1) == 0 && dest[0] == sum);
    meet();
    CHECK(shmem_prod_reduce(team, dest, source, 1) == 0 && dest[0] == product);
    meet();
    CHECK(shmem_sum_inscan(team, dest, source, 1) == 0 && dest[0] == before + source[0]);
    meet();
    CHECK(shmem_sum_exscan(team, dest, source, 1) == 0 && dest[0] == before);
}
SINGLE(complex_classes)
{
    check_complex<float>();
    meet();
    check_complex<double>();
}
#endif

#endif

/* shmem_sync in C++: one argument is a PE of any integer type or a team, four are an active set. */
#include <shmem.h>
#include <shmemx.h>

#include <cstdio>

static long seen[2], sync_array[SHMEM_SYNC_SIZE];
static int failures;

template <typename T> static void meet(int partner, const char *type)
{
    static long round;
    ++round;
    shmem_long_p(&seen[0], round, partner);
    shmem_sync(static_cast<T>(partner));
    long was = seen[0];
    if (was < round || was > round + 1) {
        std::printf("PE %d: shmem_sync(%s): expected the store of round %ld, seen %ld\n", shmem_my_pe(), type, round, was);
        failures++;
    }
    shmem_sync(partner);
}

int main()
{
    shmem_init();
    int partner = shmem_my_pe() ^ 1;
    if (partner < shmem_n_pes()) {
        for (int k = 0; k < 100; k++) {
            meet<int>(partner, "int");
            meet<long>(partner, "long");
            meet<unsigned>(partner, "unsigned");
            meet<unsigned long long>(partner, "unsigned long long");
            meet<short>(partner, "short");
            meet<unsigned char>(partner, "unsigned char");
        }
    }
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_sync(SHMEM_TEAM_SHARED);
    shmem_sync(0, 0, shmem_n_pes(), sync_array);
    shmemx_sync_pe(shmem_my_pe());
    shmem_finalize();
    return failures != 0;
}

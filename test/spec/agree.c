/* shmemx_agree: the first member that differs from member 0 is told to all of them, with its bytes; on the world, on a
 * team in reverse order, and in every position of the bytes. */
#include <shmemx.h>

#include "check.h"

enum { ROUNDS = 300 };
static int most;

/* Members who[0..n) of the team give something else than the rest. */
static void round_of(shmem_team_t team, size_t bytes, const int *who, int n, int round)
{
    unsigned char mine[SHMEMX_AGREE_MAX], theirs[SHMEMX_AGREE_MAX], expected[SHMEMX_AGREE_MAX];
    int my = shmem_team_my_pe(team), first = 0, pe = -5;
    for (size_t i = 0; i < bytes; i++) mine[i] = expected[i] = VALUE(unsigned char, 0, i, round);
    memset(theirs, 0xee, sizeof theirs);
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)(who[i] * 37 + round) % bytes;
        if (who[i] == my) mine[at] ^= (unsigned char)(1 + who[i]);
        if (who[i] && (!first || who[i] < first)) first = who[i];
    }
    bool zero = n && who[0] == 0; /* then everybody else differs */
    if (zero && shmem_team_n_pes(team) > 1) first = 1;
    for (int i = 0; i < n; i++)
        if (who[i] == first) expected[(size_t)(first * 37 + round) % bytes] ^= (unsigned char)(1 + first);
    int differ = shmemx_agree(team, mine, bytes, theirs, &pe);
    CHECK_NUM(differ, first != 0, "round %d, %zu bytes", round, bytes);
    CHECK_NUM(pe, first ? first : -5, "round %d", round);
    if (first)
        CHECK(!memcmp(theirs, expected, bytes), "round %d: other bytes than those of member %d", round, first);
    else
        CHECK(theirs[0] == 0xee, "round %d: written although all agree", round);
    if (bytes < SHMEMX_AGREE_MAX) CHECK(theirs[bytes] == 0xee, "round %d: written behind the end", round);
}

static void rounds_of(shmem_team_t team, uint64_t seed)
{
    struct random r = {seed};
    int n = shmem_team_n_pes(team);
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = 1 + random_below(&r, SHMEMX_AGREE_MAX);
        int who[2], differing = (int)random_below(&r, 3);
        who[0] = (int)random_below(&r, (size_t)n);
        who[1] = who[0] + 1 + (n > 1 ? (int)random_below(&r, (size_t)n) : 0);
        if (differing == 2 && (who[1] >= n || who[0] == 0)) differing = 1;
        round_of(team, bytes, who, differing, round);
    }
    CHECK_NUM(shmemx_agree(team, NULL, 0, NULL, NULL), 0, "nothing to compare");
    int mine = shmem_team_my_pe(team);
    CHECK_NUM(shmemx_agree(team, &mine, sizeof mine, NULL, NULL), n > 1, "nobody wants to know who");
    most++;
}

int main(void)
{
    shmem_team_t half = SHMEM_TEAM_INVALID, back = SHMEM_TEAM_INVALID;
    check_start();
    rounds_of(SHMEM_TEAM_WORLD, 1000);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &half);
    if (half != SHMEM_TEAM_INVALID) rounds_of(half, 2000);
    if (npes > 1) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back);
        rounds_of(back, 3000);
        CHECK_NUM(shmem_team_my_pe(back), npes - 1 - me, "the team is in reverse order");
    }
    CHECK(most >= 1, "no team");
    return check_end();
}

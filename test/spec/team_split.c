/* Splits: every triplet of the world, valid or not; 2d splits of every width; nested, reversed, of one PE; what members
 * and others get; predefined teams; invalid handles; configurations. */
#include "check.h"
#include "groups.h"

static shmem_team_t in_initialiser = SHMEM_TEAM_SHARED;

/* By the rule: members are parent PEs start, start + stride, ..., all inside the parent. */
static bool is_valid(int n, int start, int stride, int size)
{
    if (size < 1 || start < 0 || start >= n) return false;
    if (size > 1 && stride == 0) return false;
    long last = start + (long)stride * (size - 1);
    return last >= 0 && last < n && size <= n;
}

static void triplet(shmem_team_t parent, int start, int stride, int size)
{
    int n = shmem_team_n_pes(parent), my = shmem_team_my_pe(parent), at = -1;
    bool valid = is_valid(n, start, stride, size);
    shmem_team_t team = parent;
    int rc = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
    CHECK((rc == 0) == valid, "split %d:%d:%d of %d returned %d", start, stride, size, n, rc);
    for (int i = 0; valid && i < size; i++)
        if (start + i * stride == my) at = i;
    CHECK((team != SHMEM_TEAM_INVALID) == (at >= 0), "split %d:%d:%d of %d: handle %p, expected number %d", start, stride,
          size, n, (void *)team, at);
    CHECK_NUM(shmem_team_my_pe(team), at, "split %d:%d:%d of %d", start, stride, size, n);
    CHECK_NUM(shmem_team_n_pes(team), at >= 0 ? size : -1, "split %d:%d:%d of %d", start, stride, size, n);
    if (at >= 0) {
        for (int i = 0; i < size; i++)
            CHECK_NUM(shmem_team_translate_pe(team, i, parent), start + i * stride, "split %d:%d:%d of %d", start, stride,
                      size, n);
        shmem_team_sync(team);
    }
    shmem_team_destroy(team); /* no member: does nothing */
}

static void all_triplets(shmem_team_t parent)
{
    int n = shmem_team_n_pes(parent);
    for (int start = -1; start <= n; start++)
        for (int stride = -n; stride <= n; stride++)
            for (int size = -1; size <= n + 1; size += 1 + (n > 4 && size > 1)) triplet(parent, start, stride, size);
    triplet(parent, 0, INT32_MAX, 2);
    triplet(parent, n - 1, INT32_MIN, 2);
    triplet(parent, 0, 1, INT32_MAX);
    triplet(parent, INT32_MAX, 1, 1);
    triplet(parent, 0, INT32_MAX, 1); /* any stride will do for one */
}

/* x = pe mod xrange, y = pe / xrange; the last row may be short. */
static void split_2d(shmem_team_t parent, int xrange)
{
    int n = shmem_team_n_pes(parent), my = shmem_team_my_pe(parent), width = xrange < n ? xrange : n;
    shmem_team_t row = parent, column = parent;
    int rc = shmem_team_split_2d(parent, xrange, NULL, 0, &row, NULL, 0, &column);
    if (xrange < 1) {
        CHECK(rc != 0 && row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID, "2d by %d returned %d", xrange, rc);
        return;
    }
    int x = my % width, y = my / width, rows = (n + width - 1) / width;
    CHECK_NUM(rc, 0, "2d by %d", xrange);
    CHECK_NUM(shmem_team_my_pe(row), x, "%d by %d", n, xrange);
    CHECK_NUM(shmem_team_my_pe(column), y, "%d by %d", n, xrange);
    CHECK_NUM(shmem_team_n_pes(row), y < rows - 1 ? width : n - (rows - 1) * width, "%d by %d", n, xrange);
    CHECK_NUM(shmem_team_n_pes(column), x + (rows - 1) * width < n ? rows : rows - 1, "%d by %d", n, xrange);
    for (int i = 0; i < shmem_team_n_pes(row); i++)
        CHECK_NUM(shmem_team_translate_pe(row, i, parent), y * width + i, "%d by %d", n, xrange);
    for (int i = 0; i < shmem_team_n_pes(column); i++)
        CHECK_NUM(shmem_team_translate_pe(column, i, parent), x + i * width, "%d by %d", n, xrange);
    shmem_team_sync(column);
    shmem_team_sync(row);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
}

static void invalid_handles(void)
{
    shmem_team_t none = SHMEM_TEAM_INVALID, team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {.num_contexts = 5};
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    CHECK_NUM(shmem_team_my_pe(none), -1, "invalid");
    CHECK_NUM(shmem_team_n_pes(none), -1, "invalid");
    CHECK_NUM(shmem_team_translate_pe(none, 0, SHMEM_TEAM_WORLD), -1, "invalid");
    CHECK_NUM(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, none), -1, "invalid");
    CHECK(shmem_team_get_config(none, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0, "get_config took an invalid team");
    CHECK(shmem_team_split_strided(none, 0, 1, 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID, "%p", (void *)team);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(none, 1, NULL, 0, &team, NULL, 0, &other) != 0, "split_2d took an invalid team");
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID, "%p %p", (void *)team, (void *)other);
    CHECK(shmem_team_create_ctx(none, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID, "%p", (void *)ctx);
    CHECK(shmem_team_ptr(none, &config, 0) == NULL, "team_ptr of an invalid team");
    shmem_team_destroy(none);
    CHECK_NUM(shmem_team_translate_pe(SHMEM_TEAM_WORLD, npes, SHMEM_TEAM_SHARED), -1, "PE out of range");
    CHECK_NUM(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_SHARED), -1, "PE out of range");
}

static void predefined(void)
{
    CHECK_NUM(shmem_team_my_pe(SHMEM_TEAM_WORLD), me, "world");
    CHECK_NUM(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes, "world");
    int here = 0;
    static int word = 5;
    for (int i = 0; i < npes; i++) here += shmem_ptr(&word, i) != NULL;
    CHECK_NUM(shmem_team_n_pes(in_initialiser), here, "shared: the PEs of this machine");
    int mine = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    CHECK_NUM(shmem_team_translate_pe(SHMEM_TEAM_SHARED, mine, SHMEM_TEAM_WORLD), me, "shared");
    for (int i = 0; i < shmem_team_n_pes(SHMEM_TEAM_SHARED); i++)
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, &word, i) != NULL, "member %d of the shared team is out of reach", i);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, &word, me) == &word, "%p", shmem_team_ptr(SHMEM_TEAM_WORLD, &word, me));
    all_triplets(SHMEM_TEAM_SHARED);
}

static void configs(void)
{
    shmem_team_config_t config = {.num_contexts = 7}, seen = {.num_contexts = -1};
    shmem_team_t team;
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team), 0, "split");
    CHECK_NUM(shmem_team_get_config(team, 0, NULL), 0, "mask 0");
    CHECK_NUM(shmem_team_get_config(team, 0, &seen), 0, "mask 0");
    CHECK_NUM(seen.num_contexts, -1, "mask 0 fills in nothing");
    CHECK_NUM(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &seen), 0, "get_config");
    CHECK_NUM(seen.num_contexts, 7, "get_config");
    shmem_team_destroy(team);
    config.num_contexts = 9; /* without its mask bit it does not count */
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 0, &team), 0, "split");
    CHECK_NUM(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &seen), 0, "get_config");
    CHECK(seen.num_contexts != 9, "a value without its mask bit was taken");
    shmem_team_destroy(team);
}

/* Numbers are always those of the parent: a split of a reversed split of every second PE. */
static void nested(void)
{
    shmem_team_t even, back, last;
    int n = (npes + 1) / 2;
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, n, NULL, 0, &even), 0, "even");
    if (even == SHMEM_TEAM_INVALID) return;
    CHECK_NUM(shmem_team_split_strided(even, n - 1, -1, n, NULL, 0, &back), 0, "back");
    CHECK_NUM(shmem_team_my_pe(back), n - 1 - me / 2, "reversed");
    CHECK_NUM(shmem_team_split_strided(back, 0, 1, 1, NULL, 0, &last), 0, "last");
    CHECK_NUM(shmem_team_my_pe(last), me == 2 * (n - 1) ? 0 : -1, "the first of the reversed is the last");
    if (last != SHMEM_TEAM_INVALID) {
        shmem_team_t again;
        CHECK_NUM(shmem_team_split_strided(last, 0, -5, 1, NULL, 0, &again), 0, "a team of one can be split");
        CHECK_NUM(shmem_team_split_strided(last, 0, 1, 2, NULL, 0, &back), -1, "but not into two");
        shmem_team_sync(again);
        shmem_team_destroy(again);
        CHECK_NUM(shmem_team_split_2d(last, 4, NULL, 0, &again, NULL, 0, &back), 0, "2d of one");
        CHECK_NUM(shmem_team_n_pes(again) + shmem_team_n_pes(back), 2, "2d of one");
    }
    for (int k = 1; k <= 4; k++) split_2d(even, k);
    shmem_team_sync(even);
}

int main(void)
{
    check_start();
    invalid_handles();
    predefined();
    all_triplets(SHMEM_TEAM_WORLD);
    for (int x = -1; x <= npes + 2; x++) split_2d(SHMEM_TEAM_WORLD, x);
    split_2d(SHMEM_TEAM_WORLD, INT32_MAX);
    nested();
    configs();
    groups_make();
    for (int g = 0; g < group_count; g++)
        if (groups[g].me >= 0) shmem_team_sync(groups[g].team);
    groups_destroy();
    return check_end(); /* some teams of nested() are still there: finalize takes care of them */
}

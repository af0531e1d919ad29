/* Teams of every shape, for tests that run over all of them. Behind check.h.
 *
 *     groups_make(); for (int g = 0; g < group_count; g++) if (groups[g].me >= 0) ...; groups_destroy();
 *
 * All PEs know all groups, members or not, so that a random sequence of calls can be agreed on without talking. Of the
 * rows and columns of a 2d split there is one group each: the one that the PE is in. */
#ifndef GROUPS_H
#define GROUPS_H

#define GROUP_PES 64

struct group {
    const char *name;
    shmem_team_t team;
    int me, n;          /* -1, 0 where the PE is no member */
    int pe[GROUP_PES];  /* world numbers */
};

static struct group groups[12];
static int group_count;

/* The group is what its arithmetic says: members in order, translated both ways. */
static void group_add(const char *name, shmem_team_t team, int start, int stride, int n)
{
    struct group *g = &groups[group_count++];
    *g = (struct group){.name = name, .team = team, .me = -1};
    for (int i = 0; i < n; i++)
        if (start + i * stride == me) g->me = i;
    CHECK((team != SHMEM_TEAM_INVALID) == (g->me >= 0), "%s: handle %p, member %d", name, (void *)team, g->me);
    if (g->me < 0) return;
    g->n = n;
    for (int i = 0; i < n; i++) g->pe[i] = start + i * stride;
    CHECK_NUM(shmem_team_my_pe(team), g->me, "%s", name);
    CHECK_NUM(shmem_team_n_pes(team), n, "%s", name);
    for (int i = 0; i < n; i++) {
        CHECK_NUM(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), g->pe[i], "%s, member %d", name, i);
        CHECK_NUM(shmem_team_translate_pe(SHMEM_TEAM_WORLD, g->pe[i], team), i, "%s, member %d", name, i);
    }
}

static void group_split(const char *name, shmem_team_t parent, int parent_start, int parent_stride, int start,
                        int stride, int n)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int rc = shmem_team_split_strided(parent, start, stride, n, NULL, 0, &team);
    CHECK_NUM(rc, 0, "%s", name);
    group_add(name, team, parent_start + start * parent_stride, stride * parent_stride, n);
}

static void groups_make(void)
{
    int half = (npes + 1) / 2, across = npes >= 6 ? 3 : 2;
    group_count = 0;
    group_add("world", SHMEM_TEAM_WORLD, 0, 1, npes);
    group_split("copy of the world", SHMEM_TEAM_WORLD, 0, 1, 0, 1, npes);
    group_split("every second", SHMEM_TEAM_WORLD, 0, 1, 0, 2, half);
    group_split("reversed", SHMEM_TEAM_WORLD, 0, 1, npes - 1, -1, npes);
    group_split("last half reversed", SHMEM_TEAM_WORLD, 0, 1, npes - 1, -1, half);
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK_NUM(shmem_team_split_2d(SHMEM_TEAM_WORLD, across, NULL, 0, &row, NULL, 0, &column), 0, "2d by %d", across);
    if (across > npes) across = npes;
    int x = me % across, y = me / across, rows = (npes + across - 1) / across;
    group_add("row", row, y * across, 1, y == rows - 1 ? npes - y * across : across);
    group_add("column", column, x, across, x < npes - (rows - 1) * across ? rows : rows - 1);
    group_split("alone", SHMEM_TEAM_WORLD, 0, 1, npes - 1, 1, 1);
    if (groups[3].me >= 0) group_split("every second, reversed", groups[3].team, npes - 1, -1, 0, 2, half);
}

static void groups_destroy(void)
{
    for (int g = group_count - 1; g > 0; g--) shmem_team_destroy(groups[g].team);
}

#endif

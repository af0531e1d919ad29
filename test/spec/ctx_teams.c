/* Contexts: of every team and option; PE numbers count in the context's team in each family of calls; get_team; destroy
 * with operations under way, of the team before the context; thousands of them; invalid handles; sessions. */
#include <shmemx.h>

#include "check.h"
#include "groups.h"

enum { WORDS = 64 };

static uint64_t *box; /* WORDS for each sender */
static uint64_t *signals;

static uint64_t *box_of(int from) { return box + from * WORDS; }

/* Every member writes to the next member, by each family, and looks at what the one before has written to it. */
static void families(const struct group *g, shmem_ctx_t ctx)
{
    int next = (g->me + 1) % g->n, before = (g->me + g->n - 1) % g->n;
    uint64_t text[8], *to = box_of(me), got[8], old = 0, fetched = 0;
    const int pes[2] = {next, next};
    for (int i = 0; i < 8; i++) text[i] = VALUE(uint64_t, me, i, 1);
    lay_byte(box, 0, (size_t)npes * WORDS * sizeof *box);
    lay_byte(signals, 0, 3 * sizeof *signals);
    shmem_team_sync(g->team);
    shmem_ctx_uint64_p(ctx, to, text[0], next);
    shmem_ctx_uint64_put(ctx, to + 1, text, 8, next);
    shmem_ctx_putmem_nbi(ctx, to + 9, text, sizeof text, next);
    shmem_ctx_uint64_iput(ctx, to + 17, text, 2, 1, 4, next);
    shmem_ctx_uint64_ibput(ctx, to + 25, text, 3, 2, 2, 4, next);
    shmem_ctx_uint64_put_signal(ctx, to + 37, text, 3, signals, 1, SHMEM_SIGNAL_ADD, next);
    shmem_ctx_signal_add(ctx, signals + 1, 5, next);
    shmem_ctx_signal_set(ctx, signals + 2, 6, next);
    shmem_ctx_uint64_atomic_set(ctx, to + 40, text[1], next);
    shmem_ctx_uint64_atomic_add(ctx, to + 41, text[2], next);
    old = shmem_ctx_uint64_atomic_fetch_add(ctx, to + 41, 1, next);
    CHECK_NUM(old, text[2], "%s", g->name);
    CHECK_NUM(shmem_ctx_uint64_atomic_compare_swap(ctx, to + 42, 0, text[3], next), 0u, "%s", g->name);
    CHECK_NUM(shmem_ctx_uint64_atomic_swap(ctx, to + 43, text[4], next), 0u, "%s", g->name);
    shmem_ctx_uint64_atomic_or(ctx, to + 44, text[5], next);
    shmem_ctx_uint64_atomic_fetch_nbi(ctx, &fetched, to + 42, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_pe_quiet(ctx, pes, 2);
    shmem_ctx_quiet(ctx);
    CHECK_NUM(fetched, text[3], "%s", g->name);
    CHECK_NUM(shmem_ctx_uint64_g(ctx, to + 40, next), text[1], "%s", g->name);
    shmem_ctx_uint64_get(ctx, got, to + 1, 8, next);
    CHECK(!memcmp(got, text, sizeof got), "%s: get", g->name);
    shmem_ctx_uint64_iget(ctx, got, to + 17, 1, 2, 4, next);
    CHECK(!memcmp(got, text, 32), "%s: iget", g->name);
    shmem_team_sync(g->team);
    uint64_t in[WORDS], s[3];
    look(in, box_of(g->pe[before]), sizeof in);
    look(s, signals, sizeof s);
    for (int i = 0; i < 8; i++) {
        uint64_t want = VALUE(uint64_t, g->pe[before], i, 1);
        CHECK_NUM(in[1 + i], want, "%s: put, word %d", g->name, i);
        CHECK_NUM(in[9 + i], want, "%s: putmem_nbi, word %d", g->name, i);
        CHECK_NUM(in[25 + i / 2 * 3 + (i & 1)], want, "%s: ibput, word %d", g->name, i);
        if (i < 4) CHECK_NUM(in[17 + 2 * i], want, "%s: iput, word %d", g->name, i);
        if (i < 3) CHECK_NUM(in[37 + i], want, "%s: put_signal, word %d", g->name, i);
    }
    CHECK_NUM(in[0], VALUE(uint64_t, g->pe[before], 0, 1), "%s: p", g->name);
    CHECK_NUM(in[41], VALUE(uint64_t, g->pe[before], 2, 1) + 1, "%s: add", g->name);
    CHECK_NUM(in[43], VALUE(uint64_t, g->pe[before], 4, 1), "%s: swap", g->name);
    CHECK_NUM(in[44], VALUE(uint64_t, g->pe[before], 5, 1), "%s: or", g->name);
    CHECK_NUM(s[0] + s[1] * 10 + s[2] * 100, 651u, "%s: signals", g->name);
    shmem_team_sync(g->team);
}

static void of_teams(const struct group *g)
{
    for (long options = 0; options < 8; options++) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        shmem_team_t team = SHMEM_TEAM_INVALID;
        CHECK_NUM(shmem_team_create_ctx(g->team, options, &ctx), 0, "%s, options %ld", g->name, options);
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT, "%s: %p", g->name, (void *)ctx);
        CHECK_NUM(shmem_ctx_get_team(ctx, &team), 0, "%s", g->name);
        CHECK(team == g->team, "%s: %p is not %p", g->name, (void *)team, (void *)g->team);
        families(g, ctx);
        shmem_ctx_destroy(ctx);
    }
}

static void of_world(void)
{
    shmem_ctx_t ctx;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_NUM(shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &ctx), 0, "create");
    CHECK_NUM(shmem_ctx_get_team(ctx, &team), 0, "get_team");
    CHECK(team == SHMEM_TEAM_WORLD, "%p", (void *)team);
    families(&groups[0], ctx);
    shmem_ctx_destroy(ctx);
    CHECK_NUM(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0, "get_team");
    CHECK(team == SHMEM_TEAM_WORLD, "%p", (void *)team);
    families(&groups[0], SHMEM_CTX_DEFAULT);
}

static void invalid(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID, "%p", (void *)team);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, NULL, 0);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

/* Many at once, handles never seen twice. */
static void many(void)
{
    enum { MANY = 1000 };
    static shmem_ctx_t ctx[MANY];
    for (int k = 0; k < MANY; k++) CHECK_NUM(shmem_ctx_create(k & 7, &ctx[k]), 0, "context %d", k);
    shmem_barrier_all();
    for (int k = 0; k < MANY; k++) shmem_ctx_uint64_p(ctx[k], box_of(me) + k % WORDS, (uint64_t)k, right);
    for (int k = 0; k < MANY; k++) shmem_ctx_destroy(ctx[k]);
    shmem_sync_all();
    uint64_t in[WORDS];
    look(in, box_of(left), sizeof in);
    for (int k = 0; k < WORDS; k++)
        CHECK_NUM(in[k], (uint64_t)((MANY - 1 - k) / WORDS * WORDS + k), "word %d", k);
    shmem_ctx_t last = SHMEM_CTX_INVALID, next;
    for (int k = 0; k < 20000; k++) {
        CHECK_NUM(shmem_ctx_create(0, &next), 0, "round %d", k);
        CHECK(next != last, "round %d: the handle of a destroyed context is used again", k);
        shmem_ctx_destroy(last = next);
    }
    shmem_barrier_all();
}

/* The team goes while contexts of it are open: they end, what they did is complete. */
static void team_first(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx[3];
    CHECK_NUM(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team), 0, "split");
    for (int k = 0; k < 3; k++) CHECK_NUM(shmem_team_create_ctx(team, k == 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx[k]), 0, "%d", k);
    for (int k = 0; k < 3; k++) shmem_ctx_uint64_p(ctx[k], box_of(me) + k, 900 + (uint64_t)k, npes - 1 - right);
    shmem_team_destroy(team);
    for (int k = 0; k < 3; k++) CHECK_NUM(LOOK(box_of(left) + k), 900 + (uint64_t)k, "context %d", k);
    shmem_barrier_all();
}

/* Hints, which change nothing. */
static void sessions(void)
{
    shmem_ctx_session_config_t config = {.total_ops = 100};
    shmem_ctx_t ctx[2] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};
    CHECK_NUM(shmem_ctx_create(0, &ctx[1]), 0, "create");
    for (int k = 0; k < 2; k++) {
        shmem_ctx_session_stop(ctx[k]); /* without a start: nothing */
        shmem_ctx_session_start(ctx[k], 0, NULL, 0);
        shmem_ctx_session_start(ctx[k], SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        config.total_ops = SIZE_MAX;
        shmem_ctx_session_start(ctx[k], SHMEM_CTX_SESSION_BATCH, &config, 0);
        families(&groups[0], ctx[k]);
        shmem_ctx_session_stop(ctx[k]);
        families(&groups[0], ctx[k]);
        shmem_ctx_session_start(ctx[k], SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    }
    shmem_ctx_destroy(ctx[1]); /* with its session open */
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}

int main(void)
{
    check_start();
    box = shmem_calloc((size_t)npes * WORDS, sizeof *box);
    signals = shmem_calloc(3, sizeof *signals);
    groups_make();
    invalid();
    of_world();
    for (int g = 0; g < group_count; g++)
        if (groups[g].me >= 0) of_teams(&groups[g]);
    many();
    team_first();
    sessions();
    groups_destroy();
    return check_end();
}

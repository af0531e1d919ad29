#define _GNU_SOURCE
#include "core/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "core/ctx.h"
#include "core/place.h"
#include "core/span.h"
#include "core/symm.h"
#include "core/wait.h"
#include "core/world.h"

enum { TEAM_TAG = 0xa, INDEX_SHIFT = 4, INDEX_BITS = 16, GENERATION_SHIFT = INDEX_SHIFT + INDEX_BITS };
enum { WORLD_SLOT, SHARED_SLOT };

static struct hm_team teams[HM_TEAM_SLOTS];
struct hm_team *hm_team_world = &teams[0];

/* --- handles --- */

static hm_handle handle_of(unsigned index, uint32_t generation)
{
    return (hm_handle)generation << GENERATION_SHIFT | (hm_handle)index << INDEX_SHIFT | TEAM_TAG;
}

struct hm_team *hm_team_get(hm_handle handle, const char *call)
{
    if (!handle) return NULL;
    unsigned index = handle >> INDEX_SHIFT & ((1u << INDEX_BITS) - 1);
    if ((handle & ((1u << INDEX_SHIFT) - 1)) == TEAM_TAG && index < HM_TEAM_SLOTS) {
        struct hm_team *team = &teams[index];
        if (hm_likely(team->handle == handle && team->generation & 1)) return team;
        hm_world_need(call);
        if (handle >> GENERATION_SHIFT <= team->generation)
            hm_die(call, "team: this team was destroyed by shmem_team_destroy and cannot be used any more");
    }
    hm_world_need(call);
    hm_die(call, "team: %#lx is no team handle; use SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED or a handle that "
           "shmem_team_split_* returned", (unsigned long)handle);
}

struct hm_team *hm_team_need(hm_handle handle, const char *call)
{
    struct hm_team *team = hm_team_get(handle, call);
    hm_world_need(call);
    if (!team) hm_die(call, "team: SHMEM_TEAM_INVALID given; this PE is no member of such a team");
    return team;
}

bool hm_team_is_valid(hm_handle handle)
{
    unsigned index = handle >> INDEX_SHIFT & ((1u << INDEX_BITS) - 1);
    if (!hm_world.ready || index >= HM_TEAM_SLOTS) return false;
    uint32_t generation = __atomic_load_n(&teams[index].generation, __ATOMIC_ACQUIRE);
    return generation & 1 && handle == handle_of(index, generation);
}

/* An unused entry, marked used; NULL when all are taken. */
static struct hm_team *entry_take(void)
{
    for (unsigned i = 2; i < HM_TEAM_SLOTS; i++) {
        uint32_t g = __atomic_load_n(&teams[i].generation, __ATOMIC_RELAXED);
        if (g & 1 || !__atomic_compare_exchange_n(&teams[i].generation, &g, g + 1, false, __ATOMIC_ACQUIRE,
                                                  __ATOMIC_RELAXED))
            continue;
        teams[i].handle = handle_of(i, g + 1);
        return &teams[i];
    }
    return NULL;
}

static void entry_give(struct hm_team *team) { __atomic_fetch_add(&team->generation, 1, __ATOMIC_RELEASE); }

/* The last member to leave gives the slot back: until then somebody may still look at its words. `ending`: at finalize.
 */
static void leave_slot(struct hm_team *team, bool ending)
{
    struct hm_meeting *m = team->sync.meeting;
    if (team->sync.span)
        hm_span_leave(&team->sync, !ending);
    else if (__atomic_add_fetch(&m->users, 1, __ATOMIC_ACQ_REL) == (uint32_t)team->size)
        hm_sync_slot_give((int)team->sync.slot);
    hm_sync_close(&team->sync);
    free(team->list);
    team->list = NULL;
}

/* --- numbers --- */

int hm_team_world_pe(const struct hm_team *team, int pe, const char *call)
{
    if (hm_unlikely((unsigned)pe >= (unsigned)team->size))
        hm_die(call, "pe: %d is not in the team of this context, whose PEs are 0 to %d", pe, team->size - 1);
    return hm_team_pe(team, pe);
}

static int rank_in_list(const struct hm_team *team, int world_pe)
{
    for (int i = 0; i < team->size; i++)
        if (team->list[i] == world_pe) return i;
    return -1;
}

int hm_team_rank(const struct hm_team *team, int world_pe)
{
    if (hm_unlikely(team->list != NULL)) return rank_in_list(team, world_pe);
    int far = world_pe - team->start;
    if (team->size == 1) return far == 0 ? 0 : -1;
    if (far % team->stride) return -1;
    int rank = far / team->stride;
    return rank >= 0 && rank < team->size ? rank : -1;
}

int hm_team_translate(hm_handle src, int pe, hm_handle dest, const char *call)
{
    struct hm_team *from = hm_team_get(src, call), *to = hm_team_get(dest, call);
    if (!from || !to || (unsigned)pe >= (unsigned)from->size) return -1;
    return hm_team_rank(to, hm_team_pe(from, pe));
}

int hm_team_get_config(hm_handle handle, long mask, struct hm_team_config *config, const char *call)
{
    struct hm_team *team = hm_team_get(handle, call);
    if (!team || mask & ~1l) return -1;
    if (!mask) return 0;
    if (!config) return -1;
    config->num_contexts = team->num_contexts;
    return 0;
}

/* --- splits --- */

struct triplet {
    int start, stride, size; /* in the parent's numbers */
};

/* Valid, and inside the parent: no wrap-around. */
static bool triplet_of(const struct hm_team *parent, int start, int stride, int size, struct triplet *t)
{
    if (size < 1 || size > parent->size || start < 0 || start >= parent->size) return false;
    if (size > 1 && stride == 0) return false;
    long last = start + (long)(size - 1) * (size > 1 ? stride : 0);
    if (last < 0 || last >= parent->size) return false;
    *t = (struct triplet){start, size > 1 ? stride : 1, size};
    return true;
}

/* Of a member of the parent in the new team, -1: it is not in there. */
static int triplet_rank(const struct triplet *t, int member)
{
    struct hm_team as_team = {.start = t->start, .stride = t->stride, .size = t->size};
    return hm_team_rank(&as_team, member);
}

/* Are the members on more than one machine? */
static bool spans(const struct hm_team *parent, const struct triplet *t)
{
    if (!parent->sync.span) return false;
    for (int i = 1; i < t->size; i++)
        if (parent->sync.span->group_of[t->start + i * t->stride] != parent->sync.span->group_of[t->start]) return true;
    return false;
}

/* By member 0 of the new team: a cleared slot, or -1. */
static int32_t make_slot(const struct hm_team *parent, const struct triplet *t)
{
    bool wide = spans(parent, t);
    int slot = wide ? hm_span_slot_take() : hm_sync_slot_take();
    if (slot < 0) return -1;
    if (!wide) hm_sync_slot_clear(slot, t->size); /* the others are left clean */
    return slot;
}

static void give_slot(const struct hm_team *parent, const struct triplet *t, int slot)
{
    if (spans(parent, t))
        hm_span_slot_give(slot);
    else
        hm_sync_slot_give(slot);
}

/* The members of a team that is said by world numbers: kept as a list only where they are no affine set. */
static void set_members(struct hm_team *team, int32_t *list, int size)
{
    team->size = size;
    team->start = list[0];
    team->stride = size > 1 ? list[1] - list[0] : 1;
    team->list = NULL;
    for (int i = 2; i < size && !team->list; i++)
        if (list[i] - list[i - 1] != team->stride) team->list = list;
    if (team->list)
        team->start = -1, team->stride = 0;
    else
        free(list);
}

static int32_t *make_list(int size)
{
    int32_t *list = calloc((size_t)size, sizeof *list);
    if (!list) hm_die(NULL, "out of memory for a team of %d PEs", size);
    return list;
}

static void set_part(struct hm_team *team, const struct hm_team *parent, const struct triplet *t)
{
    if (!parent->list) {
        team->start = hm_team_pe(parent, t->start);
        team->stride = t->size > 1 ? t->stride * parent->stride : 1;
        team->size = t->size;
        team->list = NULL;
        return;
    }
    int32_t *list = make_list(t->size);
    for (int i = 0; i < t->size; i++) list[i] = hm_team_pe(parent, t->start + i * t->stride);
    set_members(team, list, t->size);
}

static void open_sync(struct hm_team *team, int slot)
{
    hm_sync_open(&team->sync, slot, team->start, team->stride, team->size, team->me, team->list);
}

static void open_team(struct hm_team *team, const struct hm_team *parent, const struct triplet *t, int slot,
                      const struct hm_team_config *config, long mask)
{
    set_part(team, parent, t);
    team->me = triplet_rank(t, parent->me);
    team->num_contexts = config && mask & 1 ? config->num_contexts : 0;
    team->config_mask = mask;
    open_sync(team, slot);
}

/* What a member of the parent contributes to a split: the slots of the teams it leads (-2: it leads none). */
struct split_note {
    int32_t slot[2];
    int32_t can; /* it has an entry for each team it joins */
};

static const struct split_note *note_of(const struct hm_team *parent, int i) { return hm_sync_theirs(&parent->sync, i); }

/* Every parent PE sees every note, so all come to the same verdict. */
static bool split_succeeded(const struct hm_team *parent)
{
    for (int i = 0; i < parent->size; i++) {
        const struct split_note *n = note_of(parent, i);
        if (n->slot[0] == -1 || n->slot[1] == -1 || !n->can) return false;
    }
    return true;
}

/* Entries for those of the teams that this PE joins, before it promises to join them. */
static bool take_entries(const struct hm_team *parent, int n, const struct triplet *t, struct hm_team **entry)
{
    bool all = true;
    for (int i = 0; i < n; i++) {
        bool member = triplet_rank(&t[i], parent->me) >= 0;
        entry[i] = member ? entry_take() : NULL;
        all &= entry[i] || !member;
    }
    return all;
}

/* Makes up to two new teams (the axes of a 2d split) among the members of `parent`. */
static int split(struct hm_team *parent, int n, const struct triplet *t, const struct hm_team_config *const *config,
                 const long *mask, hm_handle *const *out, const char *call)
{
    struct hm_team *entry[2] = {NULL, NULL};
    struct split_note mine = {{-2, -2}, take_entries(parent, n, t, entry)};
    for (int i = 0; i < n; i++)
        if (triplet_rank(&t[i], parent->me) == 0) mine.slot[i] = make_slot(parent, &t[i]);
    memcpy(hm_sync_mine(&parent->sync, sizeof mine), &mine, sizeof mine);
    hm_sync_again(&parent->sync, call);
    bool good = split_succeeded(parent);
    for (int i = 0; i < n; i++) {
        if (!good && mine.slot[i] >= 0) give_slot(parent, &t[i], mine.slot[i]);
        if (!good && entry[i]) entry_give(entry[i]);
        if (!good || !entry[i]) continue;
        open_team(entry[i], parent, &t[i], note_of(parent, t[i].start)->slot[i], config[i], mask[i]);
        *out[i] = entry[i]->handle;
    }
    return good ? 0 : -1;
}

static uint64_t blend(uint64_t h, uint64_t x) { return (h ^ x) * 0x9e3779b97f4a7c15ull; }

int hm_team_split_strided(hm_handle parent_handle, int start, int stride, int size, const struct hm_team_config *config,
                          long mask, hm_handle *out, const char *call)
{
    struct hm_team *parent = hm_team_get(parent_handle, call);
    *out = 0;
    if (!parent) return -1;
    struct hm_purpose purpose = {.kind = HM_COLL_SPLIT, .root = start,
                                 .size = blend(blend(1, (uint32_t)stride), (uint32_t)size)};
    hm_sync_enter(&parent->sync, &purpose, call);
    struct triplet t;
    if (!triplet_of(parent, start, stride, size, &t)) return -1;
    return split(parent, 1, &t, &config, &mask, &out, call);
}

int hm_team_split_2d(hm_handle parent_handle, int xrange, const struct hm_team_config *xconfig, long xmask,
                     hm_handle *xout, const struct hm_team_config *yconfig, long ymask, hm_handle *yout,
                     const char *call)
{
    struct hm_team *parent = hm_team_get(parent_handle, call);
    *xout = *yout = 0;
    if (!parent) return -1;
    struct hm_purpose purpose = {.kind = HM_COLL_SPLIT_2D, .root = xrange};
    hm_sync_enter(&parent->sync, &purpose, call);
    if (xrange < 1) return -1;
    int n = parent->size, x_size = xrange < n ? xrange : n;
    int x = parent->me % x_size, y = parent->me / x_size, rows = (n + x_size - 1) / x_size;
    int row = n - y * x_size < x_size ? n - y * x_size : x_size;
    int column = x < n - (rows - 1) * x_size ? rows : rows - 1;
    struct triplet t[2];
    if (!triplet_of(parent, y * x_size, 1, row, &t[0]) || !triplet_of(parent, x, x_size, column, &t[1])) return -1;
    const struct hm_team_config *config[2] = {xconfig, yconfig};
    return split(parent, 2, t, config, (long[2]){xmask, ymask}, (hm_handle *[2]){xout, yout}, call);
}

void hm_team_destroy(hm_handle handle, const char *call)
{
    struct hm_team *team = hm_team_get(handle, call);
    if (!team) return;
    if (team == &teams[WORLD_SLOT] || team == &teams[SHARED_SLOT])
        hm_die(call, "team: %s is predefined and cannot be destroyed",
               team == &teams[WORLD_SLOT] ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
    struct hm_purpose purpose = {.kind = HM_COLL_DESTROY};
    hm_ctx_destroy_all(team);
    hm_sync_enter(&team->sync, &purpose, call);
    leave_slot(team, false);
    entry_give(team);
}

/* --- active sets --- */

struct set {
    struct hm_team team;
    struct set *next;
};
static struct set *sets; /* grows at the head, read without a lock */
static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;

static struct hm_team *find_set(int start, int stride, int size)
{
    for (struct set *s = __atomic_load_n(&sets, __ATOMIC_ACQUIRE); s; s = s->next)
        if (s->team.start == start && s->team.stride == stride && s->team.size == size) return &s->team;
    return NULL;
}

/* The slot of a set: who comes first takes one and writes the key, the others find it. The lock is held for
 * microseconds; who dies in it ends the job anyway. */
static int set_slot_here(uint64_t key, int size, const char *call)
{
    struct hm_job *job = hm_world.job;
    struct hm_wait w;
    hm_wait_begin(&w, hm_wait_own_bell(), true, call);
    while (__atomic_exchange_n(&job->aset_lock, 1, __ATOMIC_ACQUIRE)) hm_wait_pause(&w);
    hm_wait_end(&w);
    int slot = -1;
    for (int i = 2; i < HM_TEAM_SLOTS && slot < 0; i++)
        if (job->set_key[i] == key) slot = i;
    if (slot < 0 && (slot = hm_sync_slot_take()) >= 0) {
        hm_sync_slot_clear(slot, size);
        job->set_key[slot] = key;
    }
    __atomic_store_n(&job->aset_lock, 0, __ATOMIC_RELEASE);
    return slot;
}

static int set_slot(const struct hm_team *set, const char *call)
{
    uint64_t key = 1ull << 63 | (uint64_t)set->start << 40 | (uint64_t)set->stride << 20 | (uint64_t)set->size;
    struct triplet t = {set->start, set->stride, set->size};
    int slot = spans(hm_team_world, &t) ? hm_span_slot_of_set(key, call) : set_slot_here(key, set->size, call);
    if (slot < 0)
        hm_die(call, "too many teams and active sets at once: all places for them are taken");
    return slot;
}

static struct hm_team *make_set(int start, int stride, int size, int rank, const char *call)
{
    struct set *s = calloc(1, sizeof *s);
    if (!s) hm_die(call, "out of memory");
    s->team = (struct hm_team){.generation = 1, .start = start, .stride = stride, .size = size, .me = rank};
    open_sync(&s->team, set_slot(&s->team, call));
    s->next = sets;
    __atomic_store_n(&sets, s, __ATOMIC_RELEASE);
    return &s->team;
}

struct hm_team *hm_team_of_set(int start, int log_stride, int size, const char *call)
{
    hm_world_need(call);
    int npes = hm_world.npes;
    if (log_stride < 0 || log_stride > 20 || size < 1 || start < 0 ||
        start + ((long)(size - 1) << log_stride) >= npes)
        hm_die(call, "PE_start %d, logPE_stride %d, PE_size %d: no active set of this job, whose PEs are 0 to %d", start,
               log_stride, size, npes - 1);
    int stride = size > 1 ? 1 << log_stride : 1;
    struct hm_team *team = find_set(start, stride, size);
    if (hm_likely(team != NULL)) return team;
    struct hm_team probe = {.start = start, .stride = stride, .size = size};
    int rank = hm_team_rank(&probe, hm_world.pe);
    if (rank < 0)
        hm_die(call, "PE_start %d, logPE_stride %d, PE_size %d: PE %d is not in this active set and must not call", start,
               log_stride, size, hm_world.pe);
    pthread_mutex_lock(&sets_lock);
    team = find_set(start, stride, size);
    if (!team) team = make_set(start, stride, size, rank, call);
    pthread_mutex_unlock(&sets_lock);
    return team;
}

static void leave_set(struct hm_team *set)
{
    uint32_t slot = set->sync.slot;
    if (set->sync.span)
        hm_span_leave(&set->sync, false);
    else if (__atomic_add_fetch(&set->sync.meeting->users, 1, __ATOMIC_ACQ_REL) == (uint32_t)set->size) {
        hm_world.job->set_key[slot] = 0;
        hm_sync_slot_give((int)slot);
    }
    hm_sync_close(&set->sync);
}

static void leave_sets(void)
{
    while (sets) {
        struct set *s = sets;
        sets = s->next;
        leave_set(&s->team);
        free(s);
    }
}

/* --- start and stop --- */

static void open_predefined(int slot)
{
    struct hm_team *team = &teams[slot];
    __atomic_fetch_or(&hm_world.job->slot_map[0], 1ull << slot, __ATOMIC_RELAXED);
    *team = (struct hm_team){.generation = 1, .start = 0, .stride = 1, .size = hm_world.npes, .me = hm_world.pe,
                             .handle = handle_of((unsigned)slot, 1)};
    if (slot == SHARED_SLOT && hm_places.machines > 1) {
        int32_t *list = make_list(hm_places.local_npes);
        memcpy(list, hm_places.local, (size_t)hm_places.local_npes * sizeof *list);
        set_members(team, list, hm_places.local_npes);
        team->me = hm_places.local_pe;
    }
    open_sync(team, slot);
}

static void close_predefined(int slot)
{
    hm_sync_close(&teams[slot].sync);
    free(teams[slot].list);
    teams[slot].list = NULL;
    teams[slot].handle = 0;
}

int hm_team_start(void)
{
    _Static_assert(HM_TEAM_WORLD_HANDLE == ((hm_handle)1 << GENERATION_SHIFT | 0 << INDEX_SHIFT | TEAM_TAG), "world");
    _Static_assert(HM_TEAM_SHARED_HANDLE == ((hm_handle)1 << GENERATION_SHIFT | 1 << INDEX_SHIFT | TEAM_TAG), "shared");
    open_predefined(WORLD_SLOT);
    open_predefined(SHARED_SLOT);
    return 0;
}

void hm_team_stop(void)
{
    for (unsigned i = 2; i < HM_TEAM_SLOTS; i++) {
        if (!(teams[i].generation & 1)) continue;
        leave_slot(&teams[i], true);
        entry_give(&teams[i]);
    }
    leave_sets();
    close_predefined(WORLD_SLOT);
    close_predefined(SHARED_SLOT);
}

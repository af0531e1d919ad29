/* Teams: an affine set of world PEs (start + i * stride, i < size) and the shared words its members meet at. Only the PEs
 * of one machine among several, and teams made of them, may be any list. */
#ifndef HM_TEAM_H
#define HM_TEAM_H

#include "base/base.h"
#include "core/sync.h"

typedef uintptr_t hm_handle;

struct hm_team {
    uint32_t generation; /* odd: in use */
    int start, stride, size;
    int32_t *list; /* world numbers of the members, where they are no affine set; NULL: they are */
    int me; /* this PE's number in the team */
    int num_contexts;
    long config_mask;
    hm_handle handle;
    struct hm_sync sync; /* where the members meet */
};

#define HM_TEAM_WORLD_HANDLE ((hm_handle)0x10000a) /* generation 1, index 0: as shmem.h spells them */
#define HM_TEAM_SHARED_HANDLE ((hm_handle)0x10001a)

struct hm_team_config {
    int num_contexts;
};

/* The team of a handle: NULL for TEAM_INVALID (0); ends the job with a sentence for one that was destroyed. */
struct hm_team *hm_team_get(hm_handle handle, const char *call);
/* The same, but TEAM_INVALID ends the job too (collectives). */
struct hm_team *hm_team_need(hm_handle handle, const char *call);
/* Can this handle be used now? Whatever it is, no message. */
bool hm_team_is_valid(hm_handle handle);

/* World number of member `i`, unchecked. */
HM_INLINE int hm_team_pe(const struct hm_team *team, int i)
{
    return hm_unlikely(team->list != NULL) ? team->list[i] : team->start + i * team->stride;
}
/* World number of member `pe`; ends the job with a sentence when pe is not in 0 .. size-1. */
int hm_team_world_pe(const struct hm_team *team, int pe, const char *call);
/* Number in the team of a world PE, -1 when it is no member. */
int hm_team_rank(const struct hm_team *team, int world_pe);

int hm_team_translate(hm_handle src, int pe, hm_handle dest, const char *call);
int hm_team_split_strided(hm_handle parent, int start, int stride, int size, const struct hm_team_config *config,
                          long mask, hm_handle *out, const char *call);
int hm_team_split_2d(hm_handle parent, int xrange, const struct hm_team_config *xconfig, long xmask, hm_handle *xout,
                     const struct hm_team_config *yconfig, long ymask, hm_handle *yout, const char *call);
void hm_team_destroy(hm_handle handle, const char *call);
int hm_team_get_config(hm_handle handle, long mask, struct hm_team_config *config, const char *call);

/* Active sets of the deprecated calls: PE_start, log2 of the stride, size. The team is made at the first use and kept.
 * Ends the job with a sentence for a set that is impossible or does not hold the caller. */
struct hm_team *hm_team_of_set(int start, int log_stride, int size, const char *call);

extern struct hm_team *hm_team_world;

int hm_team_start(void); /* at init: world and shared */
void hm_team_stop(void); /* at finalize: all of them */

#endif

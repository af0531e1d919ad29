/* Which PE is on which machine. A machine is a set of PEs that map each other's memory; its number is that of boot.h. On
 * one machine, the common case, all questions are answered without a look at a table. */
#ifndef HM_PLACE_H
#define HM_PLACE_H

#include "base/base.h"

struct hm_places {
    int machines, machine;    /* how many, this PE's */
    int local_npes, local_pe; /* PEs of this machine, and which of them this is */
    /* The rest is NULL on one machine. */
    int32_t *machine_of; /* [npes] */
    int32_t *local_of;   /* [npes] number among the PEs of its machine */
    int32_t *local;      /* [local_npes] world numbers of the PEs of this machine, ascending */
    int32_t *leader;     /* [machines] lowest PE of each machine */
};
extern struct hm_places hm_places;

HM_INLINE bool hm_place_is_far(int pe)
{
    return hm_unlikely(hm_places.machine_of != NULL) && hm_places.machine_of[pe] != hm_places.machine;
}
HM_INLINE int hm_place_machine(int pe) { return hm_places.machine_of ? hm_places.machine_of[pe] : 0; }
/* Of a PE of this machine: its number in job memory. */
HM_INLINE int hm_place_local(int pe) { return hm_places.local_of ? hm_places.local_of[pe] : pe; }
/* The i-th PE of this machine. */
HM_INLINE int hm_place_pe(int local) { return hm_places.local ? hm_places.local[local] : local; }

/* `machine` of each PE, as the bootstrap says. 0 or -ENOMEM. */
int hm_places_set(int pe, int npes, int machines, const int32_t *machine);
void hm_places_clear(void);

#endif

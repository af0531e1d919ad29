/* Which way a collective takes at which size: the table choice.def, and what SHMEM_COLL says instead. All PEs must come to
 * the same choice; meetings compare it. */
#ifndef HM_CHOICE_H
#define HM_CHOICE_H

#include "base/base.h"

enum hm_choice {
#define HM_CHOICE(collective, way, with_cores, without, what) HM_CHOICE_##collective,
#include "base/choice.def"
#undef HM_CHOICE
    HM_CHOICES
};

/* From so many bytes on the second way is taken: with a core for each PE [0], with fewer [1]. */
extern size_t hm_choice_from[2][HM_CHOICES];

/* Reads the value of SHMEM_COLL: "auto", or entries with commas between: COLLECTIVE:WAY or COLLECTIVE:WAY@SIZE. On a
 * malformed one prints a sentence and returns -EINVAL. */
int hm_choice_read(const char *text);

/* For shmem-info: the i-th row, false behind the last. */
struct hm_choice_view {
    const char *collective, *way, *what;
    size_t from[2];
};
bool hm_choice_view(unsigned i, struct hm_choice_view *view);

#endif

/* PE 0 says which way the PEs take to each other: SHMEM_PATHS, oshrun -v, shmem-info --paths. */
#ifndef HM_PATHS_H
#define HM_PATHS_H

#include "base/base.h"

/* Does this PE's environment ask for it? Ends the job with a sentence for a value that is none. */
bool hm_paths_asked(const char *call);
/* Collective, at init when the job is there, if PE 0 was asked to. Connects to a PE of each machine (of the next 64 when
 * there are more). */
void hm_paths_show(const char *call);

#endif

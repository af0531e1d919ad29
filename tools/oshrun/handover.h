/* A job on several hosts is started by the launcher that is there: mpirun of Open MPI, prterun or srun. The PEs then find
 * each other by PMIx, and oshrun takes no further part. */
#ifndef OSHRUN_HANDOVER_H
#define OSHRUN_HANDOVER_H

#include "options.h"

/* Becomes the launcher. Returns the exit status when it cannot, after one sentence to standard error. */
int hm_handover(struct hm_run *run);

#endif

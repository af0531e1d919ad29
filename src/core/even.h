/* PEs that share cores, spread over them evenly.
 *
 * Who yields is always ready to run, so no core ever seems idle to the kernel, and no thread seems worth to be moved, since each
 * has just run: eight PEs on two cores stay five and three, or six and two, for a tenth of a second and longer, and each exchange
 * takes as long as the fuller core does. So each PE notes where it yields, and now and then one looks whether another core has two
 * PEs less. As long as a PE computes, that is left to the kernel: nobody knows where it is, or who is best moved. */
#ifndef HM_EVEN_H
#define HM_EVEN_H

#include "base/base.h"

/* This PE has yielded, and it is `now`. */
void hm_even_look(uint64_t now);
/* It does not want to run for a while. */
void hm_even_rest(void);

#endif

/* A second copy of this library in one process: two worlds that know nothing of each other would want the same PE, and
 * each call would go to one or the other as the dynamic linker happens to see them. */
#ifndef HM_COPIES_H
#define HM_COPIES_H

#include "base/base.h"

/* True when there is one; then the files of both. A copy that is linked into a program or another library without being
 * exported from there is only seen when it has been initialised. Each may be NULL. */
bool hm_copies_find(char *other, size_t other_size, char *own, size_t own_size);
/* Asked while this copy has not joined a job: has another one? */
bool hm_copies_joined(void);

#endif

/* acc[i] = acc[i] op more[i], i < n, for each machine type and operation. */
#ifndef HM_KERNEL_H
#define HM_KERNEL_H

#include "coll/coll.h"

typedef void hm_kernel(void *acc, const void *more, size_t n);

/* NULL where the type has no such operation (AND of floats, MAX of complex). */
hm_kernel *hm_kernel_of(enum hm_kind kind, enum hm_op op);

#endif

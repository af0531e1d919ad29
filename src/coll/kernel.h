/* to[i] = a[i] op b[i], i < n, for each machine type and operation. `to` may be a or b, and overlaps neither in part. */
#ifndef HM_KERNEL_H
#define HM_KERNEL_H

#include "coll/coll.h"

typedef void hm_kernel(void *to, const void *a, const void *b, size_t n);

/* NULL where the type has no such operation (AND of floats, MAX of complex). */
hm_kernel *hm_kernel_of(enum hm_kind kind, enum hm_op op);

#endif

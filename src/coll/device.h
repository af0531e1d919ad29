/* Collectives whose data are in device memory, at one end or both. They meet as all others do, under the same purpose; in
 * between members pull what is theirs by the get of the library, which finds its way to any memory of any PE. Operands
 * of reductions and scans pass through the host, in the order of the team: the results have the same bits as those of
 * host memory. */
#ifndef HM_COLL_DEVICE_H
#define HM_COLL_DEVICE_H

#include "base/option.h"
#include "coll/kernel.h"
#include "coll/member.h"
#include "core/device.h"

/* Is any of this device memory? Both are symmetric, so all members come to the same answer. */
HM_INLINE bool hm_is_on_device(const void *dest, const void *source)
{
    return hm_device_any() && (hm_device_holds(dest, 1) || hm_device_holds(source, 1));
}

/* On several machines the algorithms for those combine machine by machine: where the bits must not depend on the layout, members
 * pull as they do from devices. */
HM_INLINE bool hm_is_pulled(const struct hm_team *team, bool small)
{
    return hm_unlikely(team->sync.span != NULL) && !small && hm_options.reproducible;
}

/* Arguments have been checked. */
HM_COLD void hm_device_broadcast(struct hm_team *team, const struct hm_purpose *purpose, void *dest, const void *source,
                                 size_t bytes, int root, bool skip_root, const char *call);
/* `bytes`: this member's, which may differ from the others' in a collect. */
HM_COLD void hm_device_collect(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const void *source,
                               size_t bytes, const char *call);
/* Blocks of nelems elements; dst, sst in elements. */
HM_COLD void hm_device_alltoall(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source,
                                ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, const char *call);
HM_COLD void hm_device_reduce(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source, size_t n,
                              size_t size, hm_kernel *combine, const char *call);
HM_COLD void hm_device_scan(struct hm_team *team, const struct hm_purpose *purpose, char *dest, const char *source, size_t n,
                            size_t size, bool inclusive, hm_kernel *add, const char *call);

#endif

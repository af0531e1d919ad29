/* The other PEs' memory, mapped here. */
#ifndef HM_REMOTE_H
#define HM_REMOTE_H

#include "base/base.h"
#include "core/image.h"

/* fds: two of each PE, its heap and its image. Fills in hm_symm.peer[].heap and .data; ends the job with a sentence
 * where the address space does not hold them. */
void hm_remote_map_heaps(const int *fds, int npes, const char *call);
void hm_remote_map_data(const int *fds, int npes, const struct hm_image *image, const char *call);
void hm_remote_unmap(int npes);
/* Leaves the heaps mapped in hm_remote_unmap, so that who still holds addresses of them can read; static data is not. */
void hm_remote_keep(bool on);
bool hm_remote_keeps(void);

#endif

/* The memory of the other PEs of this machine, mapped here. */
#ifndef HM_REMOTE_H
#define HM_REMOTE_H

#include "base/base.h"
#include "core/image.h"

/* fds: nfds of each PE: its heap, its image, its work memory if it has any. Fills in hm_symm.peer[].heap, .data and .work
 * of the PEs of this machine; ends the job with a sentence where the address space does not hold them. */
void hm_remote_map_heaps(const int *fds, int nfds, const char *call);
void hm_remote_map_data(const int *fds, int nfds, const struct hm_image *image, const char *call);
void hm_remote_map_work(const int *fds, int nfds, size_t bytes, const char *call);
/* This PE's static data once more, for a transport that does to a mapping what it likes; NULL: errno says why. */
char *hm_remote_map_data_again(void);
void hm_remote_unmap_data(char *again);
void hm_remote_unmap(void);
/* Leaves the heaps mapped in hm_remote_unmap, so that who still holds addresses of them can read; static data is not. */
void hm_remote_keep(bool on);
bool hm_remote_keeps(void);

#endif

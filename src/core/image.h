/* The executable's static data, shared in place.
 *
 * Every whole page of the executable's writable segments behind RELRO is copied into a memfd, which is then
 * mapped over the same addresses; peers map the same memfd. fork keeps its meaning: the child gets a private
 * copy, made before the fork, so it sees what was there at the fork and nothing that either side writes
 * afterwards reaches the other. (clone(2) and _Fork run no atfork handlers: their children share static data,
 * as they share the heap. vfork, system, popen and posix_spawn have no copy to make.)
 */
#ifndef HM_IMAGE_H
#define HM_IMAGE_H

#include "base/base.h"

#define HM_IMAGE_PARTS 4

struct hm_image {
    int fd;         /* the memfd; -1: not shared */
    uintptr_t base; /* lowest shared address */
    size_t span;    /* from base to the end of the highest part */
    int parts;      /* contiguous pieces; between them nothing is shared */
    struct {
        size_t at, bytes; /* in the span */
        size_t file_at;   /* in the memfd */
    } part[HM_IMAGE_PARTS];
    uint64_t identity;   /* hash of executable (build id, or device, inode, size, mtime) and layout: equal on
                            PEs that   run the same program */
    const char *because; /* why it is not shared; NULL when it is */
    double ms;
    size_t copied;
};

/* Makes the switch, once; later calls only return the outcome. `early`: no other thread can exist yet and
 * libc's constructors have not run. Where it cannot be made safely (threads run, static executable, W+X
 * segment, no memfd) everything is left alone and `because` says why in a clause of at most 110 bytes that
 * fits "static data is not shared: ...". */
const struct hm_image *hm_image_share(bool early);
/* The outcome so far (fd -1, because "..." when share was not called). For a job of one PE: base and span of
 * the writable data without any switch. */
const struct hm_image *hm_image_look(void);

/* Maps a peer's memfd with this layout; returns the address that corresponds to base, or NULL (errno set).
 * Left out of core files. */
char *hm_image_map_peer(int fd, const struct hm_image *layout);
void hm_image_unmap_peer(char *at, const struct hm_image *layout);

/* Before a core file is written: what was never written is left out of it, all else is in it. Safe in a
 * signal handler. */
void hm_image_trim_core(void);

#endif

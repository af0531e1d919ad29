/* How the PEs of one machine meet where no oshrun is, and the links that stay between them.
 *
 * PE 0 listens on an abstract unix socket that the others find by its name; each side sees to it that the other is a
 * process of the same user, and the others show a secret. PE 0 makes the job memory and hands it over. Of each other PE it
 * keeps two connections: the wire, for gathers, and the lifeline. A thread of each PE watches its lifelines: one that
 * closes without a word is a dead PE, and the job ends with a sentence about it, whatever the PEs do meanwhile.
 *
 * The lifelines are a star, the flat form of a tree; a job on several machines has one star on each.
 */
#ifndef HM_LINKS_H
#define HM_LINKS_H

#include "base/base.h"
#include "boot/boot.h"

#define HM_SECRET_BYTES 32
struct hm_meeting_place {
    char name[100]; /* of the socket, without the NUL byte in front */
    unsigned char secret[HM_SECRET_BYTES];
};

struct hm_links_plan {
    int pe, npes;     /* among the PEs of this machine */
    const char *what; /* what has told them that they are PEs, for messages */
    /* Where PE 0 is. 0, -EAGAIN: it is not known yet, or -errno with the reason said. PE 0 is asked once. */
    int (*find)(struct hm_meeting_place *place);
};

/* Meets the others; *job_fd is the caller's. 0, or -errno as hm_boot's start. */
int hm_links_open(const struct hm_links_plan *plan, int *job_fd);
/* As in hm_boot. */
int hm_links_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds);
void hm_links_exit_all(int status);
void hm_links_close(void);

#endif

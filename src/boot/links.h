/* How the PEs of one machine meet where no oshrun is, and the links that stay between them.
 *
 * The middle is one of them. It listens on an abstract unix socket, whose name and secret the others have been told; each
 * side sees to it that the other is a process of the same user, and they try a piece of shared memory: PEs that can do that
 * are of one machine, whatever their hosts are called and in whatever containers they are. The middle makes the job memory
 * and hands it over. Of each other PE it keeps two connections: the wire, for gathers, and the lifeline. A thread of each
 * PE watches its lifelines: one that closes without a word is a dead PE, and the job ends with a sentence about it,
 * whatever the PEs do meanwhile.
 *
 * The lifelines are a star, the flat form of a tree; a job on several machines has one star on each, and net.h between
 * their middles.
 */
#ifndef HM_LINKS_H
#define HM_LINKS_H

#include "base/base.h"
#include "boot/boot.h"
#include "boot/lifeline.h"

#define HM_SECRET_BYTES 32
struct hm_meeting_place {
    char name[100]; /* of the socket, without the NUL byte in front */
    unsigned char secret[HM_SECRET_BYTES];
};

/* A PE that may become the middle listens; `npes`: of the job. 0, or -errno with the reason said. */
int hm_links_listen(const struct hm_meeting_place *place, int npes);
/* The middle: answers those that have come, without waiting. */
void hm_links_serve(void);
/* Another: tries the middle there. 1: the two are of one machine; 0: they are not; -errno: no more to be had, said. */
int hm_links_join(const struct hm_meeting_place *place, int pe);

struct hm_links_plan {
    int local_pe, local_npes;
    const int *world; /* world numbers of the PEs of this machine, ascending; the first is the middle */
    const struct hm_far_line *far; /* lifelines to other machines; on success no longer the caller's */
    int far_count;
    bool several; /* machines: sentences then say which host */
};
/* Closes the meeting: those of `world` are the machine. *job_fd is the caller's. 0, or -errno as hm_boot's start. */
int hm_links_open(const struct hm_links_plan *plan, int *job_fd);
/* The job cannot be, and somebody has said why: those that have joined here, or this one, leave. */
void hm_links_refuse(void);
/* Like hm_boot's, of the PEs of this machine. */
int hm_links_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds);
/* What the middle has in `all`, of all npes PEs of the job, goes to all of this machine. */
int hm_links_spread(int npes, size_t len, void *all);
void hm_links_exit_all(int status);
void hm_links_close(void);

#endif

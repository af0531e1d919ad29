/* How the PEs of a job find out who is on which machine, once each knows its number and they can exchange a few bytes: the
 * half that pmix and uid have in common.
 *
 * Which PEs are one machine is decided by what works. Each says by a number what it can see of its surroundings: kernel,
 * network namespace (abstract sockets belong to it), user namespace and user (by which both sides know each other's
 * process). Those with one number try: the lowest of them is the middle, the others show it a piece of memory over its
 * socket (links.h). Who does not get through says so in the next exchange, and those that are left over try among
 * themselves. So both sides of a pair always agree, and no names of hosts are asked.
 */
#ifndef HM_MEET_H
#define HM_MEET_H

#include "base/base.h"
#include "boot/boot.h"
#include "boot/shake.h"

struct hm_meet_plan {
    int pe, npes;
    /* All-gather over all PEs of the job: `all` holds npes * len bytes. Calls `serve` (NULL: nothing) again and again while
     * it waits. 0, or -errno with the reason said, by this PE or another. */
    int (*exchange)(const void *mine, size_t len, void *all, void (*serve)(void));
    const struct hm_shake_key *key; /* of the job, for TCP between machines; NULL: PE 0 makes one and the exchange
                                       carries it */
};
/* As hm_boot's start. */
int hm_meet(const struct hm_meet_plan *plan, struct hm_boot_world *world);
/* The number mentioned above: 32 bits for the kernel, then 12, 10 and 10 for namespaces and user. */
uint64_t hm_surroundings(void);

/* As in hm_boot. */
int hm_meet_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds);
const char *hm_meet_apart(int a, int b, bool *asked);
void hm_meet_exit_all(int status);
void hm_meet_stop(void);

#endif

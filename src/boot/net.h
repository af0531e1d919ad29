/* What joins the machines of a job: a tree of TCP connections between their middles (links.h), at most 16 below each. Over
 * it go gathers, and it stays open while the job runs.
 *
 * Beside the leader of a machine the next PE there keeps lifelines to its neighbours: if the leader dies, it tells how, and
 * the neighbours need not guess.
 *
 * Each edge is two connections, proven by the handshake of shake.h: the wire, for gathers, and the lifeline, which the
 * watch of lifeline.c polls. That a host has gone, or the network to it, the kernel finds out: keep-alive probes on the
 * lifeline are answered by the other kernel, whatever its processes do. So a PE that is stopped or in a debugger is not
 * taken for dead, while one that dies closes its connections at once, and no thread has to send heartbeats in time.
 */
#ifndef HM_NET_H
#define HM_NET_H

#include "base/base.h"
#include "boot/gate.h"
#include "boot/lifeline.h"

#define HM_HOST_BYTES 48
/* A machine as the others know it. */
struct hm_net_machine {
    int32_t leader;
    char host[HM_HOST_BYTES];
    struct hm_address at[HM_ADDRESSES];
};

/* Opens the door that others will come to: fills `at`. 0, or -errno with the reason said. */
int hm_net_listen(struct hm_address at[HM_ADDRESSES]);

struct hm_net_plan {
    int pe, npes, machine, machines;
    bool deputy; /* not the leader of its machine, but the next PE there */
    const int32_t *machine_of;            /* by PE */
    const struct hm_net_machine *members; /* by machine */
    struct hm_shake_key key;
};
/* Leaders and deputies; blocks until the neighbours are connected. The lines to them are the caller's, as is the array. 0, or
 * -errno with the reason said. */
int hm_net_open(const struct hm_net_plan *plan, struct hm_far_line **lines, int *count);
/* Leaders. `all` holds what the PEs of this machine give; what those of others give is put in. 0 or -errno. */
int hm_net_gather(size_t len, char *all);
void hm_net_close(void);

#endif

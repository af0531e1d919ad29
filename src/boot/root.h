/* Where PEs that know no more than their number find each other: one of them, the root, lets the others in, at an abstract
 * unix socket and, where they may come from elsewhere, at a TCP port, each with the handshake of shake.h. Then it carries
 * the exchanges of meet.h. For uid.c.
 *
 * Who is the root is known beforehand (PE 0), or the first of those that may be it and come to the name of the unix socket
 * on one machine. One that comes later and has a TCP port, which others know already, hands that over to the root. */
#ifndef HM_ROOT_H
#define HM_ROOT_H

#include "base/base.h"
#include "boot/gate.h"

struct hm_root_plan {
    int pe, npes;
    const char *what;               /* has told them that they are PEs, for messages */
    const char *hint;               /* how PEs of other machines could come, where they cannot; for messages */
    const char *name;               /* of the unix socket, without the NUL byte in front */
    uint64_t job;                   /* no other job with the same key has it */
    const struct hm_shake_key *key; /* size 0: no secret */
    bool root;   /* this PE is it, or, with `others`, may be it */
    bool others; /* of this machine may be it as well */
    /* The root: the listening socket, which stays the caller's; -1: nobody comes from elsewhere. */
    int door;
    /* The others: adds addresses to try, again when it has found none; NULL: the root is on this machine. */
    void (*find)(struct hm_reach *reach);
    bool near; /* the root is most likely on this machine, and only slow: it is not tried elsewhere at once */
    const char *only_near; /* what is said when it is not on this machine soon: it will not be; NULL: wait on */
    const char *absent;    /* who it is that has not come, for messages; NULL: PE 0 */
};
/* 0, or -errno with the reason said. */
int hm_root_open(const struct hm_root_plan *plan);
/* As in meet.h. */
int hm_root_exchange(const void *mine, size_t len, void *all, void (*serve)(void));
/* After a failure that somebody has told the user of: the others leave without a word of their own. */
void hm_root_refuse(void);
void hm_root_close(void);

#endif

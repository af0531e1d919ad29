/* Where PEs that know no more than their number find each other: PE 0 lets the others in, at an abstract unix socket and,
 * where they may come from elsewhere, at a TCP port, each with the handshake of shake.h. Then it carries the exchanges of
 * meet.h. For uid.c. */
#ifndef HM_ROOT_H
#define HM_ROOT_H

#include "base/base.h"
#include "boot/gate.h"

struct hm_root_plan {
    int pe, npes;
    const char *what;               /* has told them that they are PEs, for messages */
    const char *name;               /* of the unix socket, without the NUL byte in front */
    uint64_t job;                   /* no other job with the same key has it */
    const struct hm_shake_key *key; /* size 0: no secret */
    /* PE 0: the listening socket, which stays the caller's; -1: nobody comes from elsewhere. */
    int door;
    /* The others: adds addresses to try, again when it has found none; NULL: PE 0 is on this machine. */
    void (*find)(struct hm_reach *reach);
    bool near; /* PE 0 is most likely on this machine, and only slow: it is not tried elsewhere at once */
};
/* 0, or -errno with the reason said. */
int hm_root_open(const struct hm_root_plan *plan);
/* As in meet.h. */
int hm_root_exchange(const void *mine, size_t len, void *all, void (*serve)(void));
/* After a failure that somebody has told the user of: the others leave without a word of their own. */
void hm_root_refuse(void);
void hm_root_close(void);

#endif

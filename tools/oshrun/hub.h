/* The launcher's end of the wires: who has joined as which PE, and the all-gather over them.
 *
 * Knows nothing of processes beyond their numbers: whether a process died, and what follows, is the guard's
 * affair.
 */
#ifndef OSHRUN_HUB_H
#define OSHRUN_HUB_H

#include "boot/job.h"

#include <sys/types.h>

struct hm_gather {
    bool waiting; /* this PE has sent its part and waits for the others */
    int round;
    uint32_t len, nfds;
    unsigned char bytes[HM_GATHER_MAX];
    int fds[4];
};

/* PEs that share one job memory. */
struct hm_machine {
    int npes, job_fd;
    struct hm_job *job; /* header and pages */
};

struct hm_member {
    int machine, local; /* local: number among the PEs of its machine */
    int wire;       /* the launcher's end; -1: closed */
    pid_t pid;      /* of the process that has joined; 0: nobody */
    int pidfd;      /* of it; -1: none */
    int lifeline;   /* ends with the process; -1: none */
    uint64_t image; /* hash of /proc/PID/auxv at hello; 0: not known */
    bool exec;      /* the lifeline ended although the process lives */
    unsigned joins; /* hellos so far */
    int round;      /* the next gather must have this number */
    int segment;    /* descriptor of the first memory segment this PE gave away, for its size; -1: none */
    int sent;       /* answers of the current gather that this PE has received; npes: all */
    struct hm_gather part;
};

struct hm_hub {
    int npes, nmachines;
    struct hm_machine *machines; /* the caller's */
    struct hm_member *members;
    /* the gather being answered: nobody can begin another before it has received this one */
    unsigned char *bytes;
    int *fds;
    uint32_t len, nfds;
    int receivers;     /* members that have not received all of it */
    char trouble[512]; /* the sentence behind HM_HUB_TROUBLE */
    int status;        /* the status behind HM_HUB_EXIT_ALL */
};

enum hm_hub_event {
    HM_HUB_NOTHING,   /* no packet was there */
    HM_HUB_PACKET,    /* one was handled */
    HM_HUB_JOINED,    /* pidfd and lifeline are new */
    HM_HUB_FINALIZED, /* and closed again */
    HM_HUB_EXIT_ALL,
    HM_HUB_ENDED, /* nobody holds the other end any more */
    HM_HUB_TROUBLE,
};

/* machine_of: of each PE; NULL: all are on the first. Machines are numbered by the lowest PE on each. */
int hm_hub_open(struct hm_hub *hub, int npes, struct hm_machine *machines, int nmachines, const int *machine_of);
void hm_hub_close(struct hm_hub *hub);

static inline struct hm_job *hm_hub_job(const struct hm_hub *hub, int pe)
{
    return hub->machines[hub->members[pe].machine].job;
}
static inline struct hm_pe_page *hm_hub_page(const struct hm_hub *hub, int pe)
{
    return hm_job_page(hm_hub_job(hub, pe), hub->members[pe].local);
}
/* All machines learn that the job ends: see hm_job. */
void hm_hub_stopping(struct hm_hub *hub, uint32_t stopping);

/* Makes the wire of a PE. The other end goes to the PE: no close-on-exec. */
int hm_hub_wire(struct hm_hub *hub, int pe, int *theirs);

/* Handles one packet of this PE. Never blocks. */
enum hm_hub_event hm_hub_read(struct hm_hub *hub, int pe);

/* Goes on with answers that could not be sent at once. True while there are more. */
bool hm_hub_send(struct hm_hub *hub);

/* Who has joined is no more. */
void hm_hub_forget(struct hm_hub *hub, int pe);

/* Has the process that joined executed another program since? */
bool hm_hub_executed(struct hm_hub *hub, int pe);

#endif

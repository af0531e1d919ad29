/* One packet of the wires that boot/job.h describes, and what the bootstraps that send them share. */
#ifndef HM_PACKET_H
#define HM_PACKET_H

#include "base/base.h"
#include "boot/job.h"

struct hm_packet {
    struct hm_msg head;
    unsigned char body[HM_MSG_MAX];
    int fds[HM_MSG_FDS];
};

/* 0 or -errno. Descriptors stay the caller's. */
int hm_packet_send(int wire, enum hm_msg_type type, int arg, const void *body, size_t len, const int *fds, int nfds);

/* Blocks until a packet is there, with a look at hm_boot_idle. 0: `p->fds` are the caller's. -EPIPE: the other end is
 * gone; -EMFILE: the descriptors find no room in this process; -EPROTO: it is no packet of ours; else -errno. */
int hm_packet_receive(int wire, struct hm_packet *p);
/* The same without that look; -EAGAIN: the socket's own limit of time is over. */
int hm_packet_take(int wire, struct hm_packet *p);

/* Takes a packet with the answers to a gather into `all` and `all_fds`, of which `have` are there already: how many PEs
 * it held. -EPROTO: it makes no sense, its descriptors are closed. */
int hm_packet_gathered(struct hm_packet *p, int have, int npes, size_t len, char *all, int nfds, int *all_fds);

/* Sends what was gathered, of all PEs, in as many packets as that takes. */
int hm_packet_send_gathered(int wire, int npes, size_t len, const char *all, int nfds, const int *all_fds);

void hm_fds_close(const int *fds, int n);
/* Descriptors of all PEs arrive at once: takes what the hard limit allows. */
void hm_fds_raise_limit(void);
void hm_fds_say_too_many(int npes);
/* Close-on-exec. 0, or -errno with the reason said. */
int hm_fds_duplicate(const int *fds, int n, int *copies);

/* New job memory for the PEs of one machine: the descriptor, or -errno, with the reason said. */
int hm_job_make(int npes);

/* What is wrong for all PEs alike PE 0 says: gives it time for that, since launchers end the job with the first that goes. */
int hm_boot_leave_to_first(void);

/* The value of a variable, as getenv has it; NULL when it is not there. */
const char *hm_boot_variable(char *const envp[], const char *name);

#endif

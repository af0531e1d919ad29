/* --hosts and --hostfile: which host runs how many PEs. */
#ifndef OSHRUN_HOSTS_H
#define OSHRUN_HOSTS_H

#include "options.h"

struct hm_host {
    char *name;
    int slots; /* 0: not said */
};

struct hm_hosts {
    struct hm_host *host; /* each name once */
    int n;
};

/* Reads what the command line names. 0; -EINVAL after one sentence to `err`. */
int hm_hosts_read(struct hm_hosts *hosts, const struct hm_run *run, FILE *err);
void hm_hosts_free(struct hm_hosts *hosts);

/* Divides the PEs: with `npes` 0 there are as many as slots, a host without a number having one. Otherwise the hosts are
 * filled in their order, and where none has a number they share the PEs. Afterwards the slots of all hosts that are left
 * are the PEs there. How many in all, or -EINVAL after one sentence. */
int hm_hosts_divide(struct hm_hosts *hosts, int npes, FILE *err);

#endif

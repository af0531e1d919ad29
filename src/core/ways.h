/* Which way the PEs take to each other, for people. What each PE tells is fixed in size; the report groups PEs that
 * say the same, so that its length goes with what differs in the job and not with pairs of PEs. */
#ifndef HM_WAYS_H
#define HM_WAYS_H

#include "base/base.h"

/* What a PE tells first. */
struct hm_ways_pe {
    int32_t machine;
    char host[64];
    char card[32]; /* an RDMA device with a live port; "": it sees none */
    char asked[96]; /* what its environment asks UCX for: "UCX_TLS=tcp"; "": nothing */
};

/* And then, one by one, the ways that it takes. */
enum hm_way_slow { HM_WAY_FINE, HM_WAY_TCP /* though both ends have a card */ };
struct hm_way {
    uint8_t more; /* this one is there; 0: it has told all */
    uint8_t slow;
    char text[62]; /* "ucx tcp/eth0" */
    char to[192];  /* "machines 1-3, 5" */
};

struct hm_ways_job {
    int npes, machines;
    bool mapped; /* PEs of one machine map each other's memory */
    const struct hm_ways_pe *pe; /* [npes] */
    const struct hm_way *way;    /* [rounds][npes] */
    int rounds;
    /* As in boot.h; NULL: nobody knows. */
    const char *(*apart)(int a, int b, bool *asked);
};

/* Calls `say` with a line at a time. 0 or -ENOMEM. */
int hm_ways_report(const struct hm_ways_job *job, void (*say)(const char *line));

/* "1-3, 5": numbers below n whose byte is not 0; ends in "..." where there is no room. Gives how many there are. */
int hm_ways_list(const uint8_t *set, int n, char *text, size_t size);
/* Is this way, between PEs that have these cards, slow? */
enum hm_way_slow hm_ways_judge(const char *text, const struct hm_ways_pe *a, const struct hm_ways_pe *b);

#endif

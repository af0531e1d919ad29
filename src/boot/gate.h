/* Doors of TCP (and of unix sockets, for uid): listening for PEs that prove who they are, and getting in at one of several
 * addresses. Strangers, scanners and those that never say a word take one of a bounded number of places for 2 s each, and
 * disturb nobody else. */
#ifndef HM_GATE_H
#define HM_GATE_H

#include "base/base.h"
#include "boot/shake.h"

#include <netinet/in.h>

/* IPv4 as IPv6 has it (::ffff:a.b.c.d); port 0: none. */
struct hm_address {
    unsigned char ip[16];
    uint16_t port; /* host order */
};
#define HM_ADDRESSES 4

/* --- to let in --- */

#define HM_GATE_DOORS 2
#define HM_GATE_PLACES 64
struct hm_gate {
    int door[HM_GATE_DOORS]; /* listening sockets, ours; -1: none */
    bool local[HM_GATE_DOORS];
    const struct hm_shake_key *key;
    /* Somebody has proven his hello. WELCOME: `fd` is the callee's, blocking again; 0: the job cannot be, and somebody
     * has said why. */
    enum hm_shake_verdict (*admit)(int fd, const struct hm_shake_hello *hello);
    struct hm_shake place[HM_GATE_PLACES]; /* fd -1: free */
};
void hm_gate_init(struct hm_gate *g, const struct hm_shake_key *key,
                  enum hm_shake_verdict (*admit)(int fd, const struct hm_shake_hello *hello));
/* Listens on this port of all addresses, 0: any. The socket, or -errno. */
int hm_listen_tcp(uint16_t port);
uint16_t hm_port_of(int fd);
/* What others may reach this machine by: interfaces that are up, the loopback one only where there is no other. Returns how
 * many; the rest gets port 0. */
int hm_own_addresses(struct hm_address *to, int most, uint16_t port);
/* Waits for news for so many milliseconds at most, and handles them. */
void hm_gate_serve(struct hm_gate *g, int milliseconds);
/* Closes doors and whoever is still in front of them. */
void hm_gate_close(struct hm_gate *g);

/* --- to get in --- */

#define HM_REACH_MOST 64
struct hm_reach {
    struct hm_address at[HM_REACH_MOST];
    int count;
    const struct hm_shake_key *key;
    struct hm_shake_hello hello;
    struct hm_shake shake[HM_REACH_MOST]; /* fd -1: none under way */
    uint64_t again[HM_REACH_MOST];        /* when to try next */
    uint32_t verdict;                     /* the last one, if it was no welcome */
    int error;                            /* the last, for messages */
};
void hm_reach_init(struct hm_reach *r, const struct hm_shake_key *key, const struct hm_shake_hello *hello);
void hm_reach_add(struct hm_reach *r, const struct hm_address *at);
/* Goes on for so many milliseconds at most. A connected descriptor, blocking; -EAGAIN: not yet; -EPERM: see `verdict`. */
int hm_reach_step(struct hm_reach *r, int milliseconds);
void hm_reach_stop(struct hm_reach *r);

/* "10.0.0.1 port 4711" */
void hm_address_print(const struct hm_address *at, char *text, size_t size);
void hm_address_from(struct hm_address *at, const struct sockaddr *from, uint16_t port);

#endif

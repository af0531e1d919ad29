/* What PEs of different machines say to each other beside puts, gets and atomics: messages of the transport, each of which
 * begins with one of these. They are heard by the progress thread of the PE (far.c), which passes them on. */
#ifndef HM_MESSAGE_H
#define HM_MESSAGE_H

#include "base/base.h"

enum hm_message_kind {
    HM_MESSAGE_PACKET = 1, /* small operations that travel together (pack.c) */
    HM_MESSAGE_REPLY,      /* a packet has been applied, and what it has fetched (pack.c) */
    HM_MESSAGE_UNLOCK,     /* have a lock that lives here go on (farlock.c) */
    HM_MESSAGE_WITHDRAW,   /* who waits for such a lock wants to go */
    HM_MESSAGE_WITHDRAWN,  /* the answer */
    HM_MESSAGE_CELL,       /* the value of a word in work memory: a group has come to a meeting (far.c) */
    HM_MESSAGE_AGENT,      /* a request on device memory (agent_far.c) */
    HM_MESSAGE_AGENT_ANSWER,
};

struct hm_message {
    uint32_t kind;
    uint32_t spare;
};

#endif

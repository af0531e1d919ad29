/* What an agent is asked for (agent.h), as the files of the agent share it:
 *
 *   agent.c        the thread, and requests of PEs of its machine
 *   agent_words.c  what it does to words of its device heap
 *   agent_far.c    requests of other machines, and for them
 */
#ifndef HM_ASK_H
#define HM_ASK_H

#include "base/base.h"
#include "core/ctx.h"
#include "core/wait.h"
#include "transport/transport.h" /* enum hm_amo */

/* Further operations on words, beside enum hm_amo; without a result. `value` holds the bits. */
enum { HM_ASK_ADD_FLOAT = HM_AMO_XOR + 1, HM_ASK_WORDS };

struct hm_ask {
    uint8_t op;
    uint8_t size;    /* 4 or 8 */
    uint64_t offset; /* in the device heap */
    uint64_t value;  /* and the result */
    uint64_t cond;
};

HM_INLINE bool hm_ask_is_silent(const struct hm_ask *ask)
{
    return ask->op == HM_ASK_ADD_FLOAT || hm_amo_is_silent((enum hm_amo)ask->op);
}

/* --- agent_words.c: by the agent's thread alone --- */

enum { HM_ASK_BATCH = 64 };
void hm_agent_words_start(const char *call);
void hm_agent_words_stop(void);
/* In their order, up to HM_ASK_BATCH of them: done, seen by all, and who waits for these words woken, when it returns. */
void hm_agent_do(struct hm_ask **asks, size_t n);
/* Between this PE's device heap and host memory; a write may be under way until hm_agent_finish. */
void hm_agent_write(size_t offset, const void *from, size_t bytes);
void hm_agent_read(void *to, size_t offset, size_t bytes);
void hm_agent_finish(void);

/* --- agent_far.c --- */

/* By the agent's thread: what other machines have asked for. False: nothing. */
bool hm_agent_serve_far(void);
bool hm_agent_has_far(void);
uint64_t hm_agent_ask_far(int pe, const struct hm_ask *ask, const char *call);
void hm_agent_quiet_far(const char *call);
void hm_agent_far_start(const char *call);
void hm_agent_far_stop(void);

/* --- agent.c --- */

/* Has the agent of this PE look for work. */
void hm_agent_wake(void);

#endif

#include "plain_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/agent.h"
#include "core/device.h"

/* So far from where they are that nothing is there. */
#define SECRET ((size_t)1 << 40)
char plain_memory[PLAIN_BYTES];
static pthread_mutex_t bus = PTHREAD_MUTEX_INITIALIZER;

static int nothing(void) { return 0; }
static void leave(void) {}
static char *real(const void *at, enum hm_side side) { return (char *)(uintptr_t)at - (side == HM_SIDE_HOST ? 0 : SECRET); }
static int open_flow(struct hm_flow **flow)
{
    *flow = malloc(1);
    return 0;
}
static void close_flow(struct hm_flow *flow) { free(flow); }
static int copy(struct hm_flow *flow, void *to, enum hm_side to_side, const void *from, enum hm_side from_side, size_t bytes,
                bool nbi)
{
    (void)flow, (void)nbi;
    pthread_mutex_lock(&bus);
    memcpy(real(to, to_side), real(from, from_side), bytes);
    pthread_mutex_unlock(&bus);
    return 0;
}
static int finish(struct hm_flow *flow)
{
    (void)flow;
    return 0;
}
static const struct hm_device_ops ops = {.enter = nothing, .leave = leave, .flow_open = open_flow, .flow_close = close_flow,
                                         .copy = copy, .finish = finish};

void plain_device_start(void)
{
    memset(plain_memory, 0, sizeof plain_memory);
    hm_device = (struct hm_device){.ops = &ops, .base = plain_memory + SECRET, .size = PLAIN_BYTES, .limit = PLAIN_BYTES};
    hm_agent_start("start");
}

void plain_device_stop(void)
{
    hm_agent_stop();
    hm_device = (struct hm_device){0};
}

void hm_device_quiet(struct hm_ctx *ctx) { hm_agent_quiet(ctx); }

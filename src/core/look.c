#include "core/look.h"

#include "core/device.h"
#include "core/world.h"

/* Of all threads that wait: a copy is done when it returns, so none holds up others for long. */
static struct hm_flow *flow;

static struct hm_flow *flow_of(const char *call)
{
    struct hm_flow *f = __atomic_load_n(&flow, __ATOMIC_ACQUIRE), *none = NULL;
    if (hm_likely(f != NULL)) return f;
    int e = hm_device.ops->flow_open(&f);
    if (e) hm_device_fail(call, "no stream could be had for waits", -1, e);
    if (__atomic_compare_exchange_n(&flow, &none, f, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return f;
    hm_device.ops->flow_close(f); /* another thread was quicker */
    return none;
}

void hm_look(void *to, const void *device, size_t bytes, const char *call)
{
    const struct hm_device_ops *ops = hm_device.ops;
    int e = ops->enter();
    if (!e) e = ops->copy(flow_of(call), to, HM_SIDE_HOST, device, HM_SIDE_OWN, bytes, false);
    if (hm_unlikely(e)) hm_device_fail(call, "a word of the device heap cannot be looked at", hm_world.pe, e);
    ops->leave();
}

void hm_look_stop(void)
{
    if (flow) hm_device.ops->flow_close(flow);
    flow = NULL;
}

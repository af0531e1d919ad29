/* Devices: those of a thread, their memory as a whole, and who may reach whom. */
#include "facade.h"

TWIN_API aclError aclrtGetDeviceCount(uint32_t *count)
{
    ENTER(aclrtGetDeviceCount, READY);
    NEED(count);
    *count = (uint32_t)tw_shared->config.devices;
    return *count ? ACL_SUCCESS : twin_refuse(ACL_ERROR_RT_NO_DEVICE, "there is no device");
}

TWIN_API aclError aclrtSetDevice(int32_t deviceId)
{
    ENTER(aclrtSetDevice, READY);
    return twin_status(tw_device_use(deviceId));
}

TWIN_API aclError aclrtGetDevice(int32_t *deviceId)
{
    ENTER(aclrtGetDevice, READY | CONTEXT);
    NEED(deviceId);
    *deviceId = device;
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtResetDevice(int32_t deviceId)
{
    ENTER(aclrtResetDevice, READY | ORDERS);
    return twin_status(tw_device_leave(deviceId, false));
}

TWIN_API aclError aclrtResetDeviceForce(int32_t deviceId)
{
    ENTER(aclrtResetDeviceForce, READY | ORDERS);
    return twin_status(tw_device_leave(deviceId, true));
}

/* --- contexts --- */

TWIN_API aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    ENTER(aclrtCreateContext, READY | ORDERS);
    NEED(context);
    return twin_status(tw_context_make(deviceId, (struct tw_context **)context));
}

TWIN_API aclError aclrtDestroyContext(aclrtContext context)
{
    ENTER(aclrtDestroyContext, READY | ORDERS);
    NEED(context);
    return twin_status(tw_context_drop(context));
}

TWIN_API aclError aclrtSetCurrentContext(aclrtContext context)
{
    ENTER(aclrtSetCurrentContext, READY);
    NEED(context);
    return twin_status(tw_context_set(context));
}

TWIN_API aclError aclrtGetCurrentContext(aclrtContext *context)
{
    ENTER(aclrtGetCurrentContext, READY | CONTEXT);
    NEED(context);
    *context = tw_context_current();
    return ACL_SUCCESS;
}

/* --- waiting, and peers --- */

static aclError wait_for_device(int device, int64_t ms)
{
    TW_COUNT(waits_device);
    tw_clock_spend((uint64_t)tw_shared->config.wait_ns);
    return twin_status(tw_streams_wait(device, ms));
}

TWIN_API aclError aclrtSynchronizeDevice(void)
{
    ENTER(aclrtSynchronizeDevice, READY | CONTEXT | ORDERS);
    return wait_for_device(device, -1);
}

TWIN_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    ENTER(aclrtSynchronizeDeviceWithTimeout, READY | CONTEXT | ORDERS);
    if (timeout < -1 || !timeout) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "a timeout of %d ms", timeout);
    return wait_for_device(device, timeout);
}

static aclError check_pair(int a, int b)
{
    int n = tw_shared->config.devices;
    if (a < 0 || a >= n || b < 0 || b >= n)
        return twin_refuse(ACL_ERROR_RT_INVALID_DEVICEID, "devices %d and %d of %d", a, b, n);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    ENTER(aclrtDeviceCanAccessPeer, READY);
    NEED(canAccessPeer);
    aclError e = check_pair(deviceId, peerDeviceId);
    if (e) return e;
    if (deviceId == peerDeviceId)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "device %d is no peer of itself", deviceId);
    *canAccessPeer = tw_server_of(deviceId) == tw_server_of(peerDeviceId);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    ENTER(aclrtDeviceEnablePeerAccess, READY | CONTEXT);
    if (flags) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flags must be 0");
    return twin_status(tw_peer_set(device, peerDeviceId, true));
}

TWIN_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    ENTER(aclrtDeviceDisablePeerAccess, READY | CONTEXT);
    return twin_status(tw_peer_set(device, peerDeviceId, false));
}

TWIN_API aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    ENTER(aclrtDevicePeerAccessStatus, READY);
    NEED(status);
    aclError e = check_pair(deviceId, peerDeviceId);
    if (!e) *status = deviceId != peerDeviceId && tw_peer_get(deviceId, peerDeviceId);
    return e;
}

TWIN_API aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    ENTER(aclrtDeviceGetBareTgid, READY);
    NEED(pid);
    *pid = tw_pid();
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
    ENTER(aclrtGetMemInfo, READY | CONTEXT);
    NEED(free);
    NEED(total);
    *free = *total = 0; /* kinds that the hardware has not */
    if (attr != ACL_HBM_MEM && attr != ACL_HBM_MEM_HUGE && attr != ACL_HBM_MEM_NORMAL && attr != ACL_HBM_MEM_HUGE1G)
        return ACL_SUCCESS;
    *total = tw_shared->config.hbm;
    *free = *total - atomic_load(&tw_shared->device[device].used);
    return ACL_SUCCESS;
}

/* Memory: allocations, page-locked host memory, keys, physical memory and reserved addresses. */
#define _GNU_SOURCE
#include "facade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- malloc --- */

enum { SMALL_PAGE = 4096 };

/* Blocks below the size of their pages are cut out of pages; who asks for nothing but large pages gets them. */
static aclError allocate(int device, void **p, size_t size, size_t padded, aclrtMemMallocPolicy policy)
{
    if (!p || !size) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "%s", p ? "size is 0" : "devPtr is NULL");
    if ((unsigned)policy > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "policy %d", (int)policy);
    if (padded < size) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes", size);
    bool normal = policy == ACL_MEM_MALLOC_NORMAL_ONLY || policy == ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
    bool page = size >= (normal ? SMALL_PAGE : TW_PAGE / 2);
    if (policy >= ACL_MEM_MALLOC_HUGE1G_ONLY) padded = (size + (1u << 30) - 1) >> 30 << 30;
    return twin_status(tw_malloc(device, padded, page, p));
}

TWIN_API aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    ENTER(aclrtMalloc, READY | CONTEXT | ORDERS);
    return allocate(device, devPtr, size, (size + 31) / 32 * 32 + 32, policy);
}

TWIN_API aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    ENTER(aclrtMallocAlign32, READY | CONTEXT | ORDERS);
    return allocate(device, devPtr, size, (size + 31) / 32 * 32, policy);
}

TWIN_API aclError aclrtFree(void *devPtr)
{
    ENTER(aclrtFree, READY | CONTEXT | ORDERS);
    NEED(devPtr);
    return twin_status(tw_free(devPtr));
}

TWIN_API aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    ENTER(aclrtMallocHost, READY | CONTEXT | ORDERS);
    NEED(hostPtr);
    if (!size) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "size is 0");
    return twin_status(tw_host_malloc(size, hostPtr));
}

TWIN_API aclError aclrtFreeHost(void *hostPtr)
{
    ENTER(aclrtFreeHost, READY | ORDERS);
    NEED(hostPtr);
    return twin_status(tw_host_free(hostPtr));
}

static aclError register_host(void *p, uint64_t size)
{
    NEED(p);
    if ((uintptr_t)p % 4096) return twin_refuse(ACL_ERROR_RT_ADDR_UNALIGNED, "%p does not begin a page of 4 KiB", p);
    if (!size || tw_is_device(p))
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "%llu bytes at %p", (unsigned long long)size, p);
    return ACL_SUCCESS;
}

/* For kernels only: what it gives is no address for copies, so here it is the host's own. */
TWIN_API aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    ENTER(aclrtHostRegister, READY | CONTEXT);
    NEED(devPtr);
    if (type != ACL_HOST_REGISTER_MAPPED) return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "type %d", (int)type);
    aclError e = register_host(ptr, size);
    if (!e && tw_host_kind(ptr, size) != TW_ALLOCATED) e = twin_status(tw_host_pin(ptr, size));
    if (!e) *devPtr = ptr;
    return e;
}

TWIN_API aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    ENTER(aclrtHostRegisterV2, READY | CONTEXT);
    if (!flag || flag & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED))
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "flags 0x%x", flag);
    aclError e = register_host(ptr, size);
    return e ? e : twin_status(tw_host_pin(ptr, size));
}

TWIN_API aclError aclrtHostUnregister(void *ptr)
{
    ENTER(aclrtHostUnregister, READY);
    NEED(ptr);
    if (tw_host_kind(ptr, 1) == TW_ALLOCATED) return ACL_SUCCESS;
    return twin_status(tw_host_unpin(ptr));
}

TWIN_API aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    ENTER(aclrtPointerGetAttributes, READY | CONTEXT);
    NEED(ptr);
    NEED(attributes);
    const struct tw_piece *piece = tw_piece_at(ptr);
    *attributes = (aclrtPtrAttributes){.pageSize = 4096};
    if (piece) {
        attributes->location = (aclrtMemLocation){(uint32_t)piece->physical->home, ACL_MEM_LOCATION_TYPE_DEVICE};
        attributes->pageSize = TW_PAGE;
    } else {
        attributes->location.type =
            tw_host_kind(ptr, 1) == TW_ALLOCATED ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    }
    return ACL_SUCCESS;
}

/* --- keys --- */

enum { KEY = 65 };
static const char key_head[] = "hbmesh-twin-ipc-";

static bool read_key(const char *key, uint64_t *token)
{
    char *end;
    if (strnlen(key, KEY) == KEY || strncmp(key, key_head, sizeof key_head - 1)) return false;
    *token = strtoull(key + sizeof key_head - 1, &end, 16);
    return !*end && *token;
}

#define READ_KEY(key, token)                                                                                           \
    NEED(key);                                                                                                         \
    if (!read_key(key, &token)) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "that is no key")

TWIN_API aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags)
{
    ENTER(aclrtIpcMemGetExportKey, READY | CONTEXT);
    uint64_t token = 0;
    NEED(devPtr);
    NEED(key);
    if (len != KEY || !size || flags > 1)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "len %zu (must be 65), size %zu, flags %llu", len, size,
                           (unsigned long long)flags);
    aclError e = twin_status(tw_key_export(devPtr, size, flags ? TW_SHARE_ANYBODY : 0, &token));
    if (e) return e;
    memset(key, 0, len);
    snprintf(key, len, "%s%016llx", key_head, (unsigned long long)token);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num)
{
    ENTER(aclrtIpcMemSetImportPid, READY);
    uint64_t token = 0;
    READ_KEY(key, token);
    NEED(pid);
    return twin_status(tw_allow(token, pid, num));
}

TWIN_API aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags)
{
    ENTER(aclrtIpcMemImportByKey, READY | CONTEXT);
    uint64_t token = 0;
    NEED(devPtr);
    READ_KEY(key, token);
    if (flags > 1) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flags %llu", (unsigned long long)flags);
    aclError e = twin_status(tw_key_import(token, device, devPtr));
    if (e || !flags) return e;
    int home = tw_piece_at(*devPtr)->physical->home;
    return home == device ? ACL_SUCCESS : twin_status(tw_peer_set(device, home, true));
}

TWIN_API aclError aclrtIpcMemClose(const char *key)
{
    ENTER(aclrtIpcMemClose, READY);
    uint64_t token = 0;
    READ_KEY(key, token);
    return twin_status(tw_key_close(token));
}

/* --- physical memory --- */

static size_t granularity_of(aclrtMemAttr attr)
{
    switch (attr) {
    case ACL_MEM_HUGE1G:
    case ACL_HBM_MEM_HUGE1G: return (size_t)1 << 30;
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
    case ACL_MEM_P2P_NORMAL:
    case ACL_MEM_P2P_HUGE:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL: return TW_PAGE;
    default: return 0;
    }
}

static aclError check_prop(const aclrtPhysicalMemProp *p)
{
    NEED(p);
    if (p->handleType != ACL_MEM_HANDLE_TYPE_NONE || p->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "handleType %d, allocationType %d", (int)p->handleType,
                           (int)p->allocationType);
    if (!granularity_of(p->memAttr))
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "memAttr %d", (int)p->memAttr);
    if (p->location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the twin has physical memory of devices only");
    if (p->location.id >= (uint32_t)tw_shared->config.devices)
        return twin_refuse(ACL_ERROR_RT_INVALID_DEVICEID, "device %u of %d", p->location.id, tw_shared->config.devices);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
                                                   size_t *granularity)
{
    ENTER(aclrtMemGetAllocationGranularity, READY | CONTEXT);
    NEED(granularity);
    if ((unsigned)option > ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "option %d", (int)option);
    aclError e = check_prop(prop);
    if (!e) *granularity = granularity_of(prop->memAttr);
    return e;
}

TWIN_API aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
                                      uint64_t flags)
{
    ENTER(aclrtMallocPhysical, READY | CONTEXT | ORDERS);
    NEED(handle);
    aclError e = check_prop(prop);
    if (e) return e;
    if (!size || flags)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "size %zu, flags %llu", size, (unsigned long long)flags);
    return twin_status(tw_physical_make((int)prop->location.id, size, (struct tw_physical **)handle));
}

#define HANDLE(handle, m)                                                                                              \
    struct tw_physical *m = tw_physical_check(handle);                                                                 \
    if (!m) return twin_refuse(ACL_ERROR_RT_INVALID_HANDLE, "%p is no handle of physical memory", handle)

TWIN_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    ENTER(aclrtFreePhysical, READY | ORDERS);
    HANDLE(handle, m);
    return twin_status(tw_physical_free(m));
}

static aclError check_expected(uintptr_t at, size_t size)
{
    if (!at) return ACL_SUCCESS;
    if (at < (uintptr_t)16 << 40 || at >= (uintptr_t)24 << 40)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "expectPtr %p is not between 16 and 24 TiB", (void *)at);
    size_t align = (size_t)1 << 30;
    if (size < align)
        for (align = TW_PAGE; align < size;) align *= 2;
    return at % align
               ? twin_refuse(ACL_ERROR_RT_ADDR_UNALIGNED, "expectPtr %p is not aligned to %zu", (void *)at, align)
               : ACL_SUCCESS;
}

TWIN_API aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags)
{
    ENTER(aclrtReserveMemAddress, READY | CONTEXT | ORDERS);
    NEED(virPtr);
    if (!size || alignment || flags > 1)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "size %zu, alignment %zu (must be 0), flags %llu", size,
                           alignment, (unsigned long long)flags);
    aclError e = check_expected((uintptr_t)expectPtr, size);
    return e ? e : twin_status(tw_reserve(size, expectPtr, virPtr));
}

TWIN_API aclError aclrtReleaseMemAddress(void *virPtr)
{
    ENTER(aclrtReleaseMemAddress, READY | ORDERS);
    NEED(virPtr);
    return twin_status(tw_unreserve(virPtr));
}

TWIN_API aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    ENTER(aclrtMapMem, READY | CONTEXT | ORDERS);
    NEED(virPtr);
    HANDLE(handle, m);
    if (offset || flags || !size || size % TW_PAGE)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "size %zu, offset %zu (must be 0), flags %llu (must be 0)", size,
                           offset, (unsigned long long)flags);
    return twin_status(tw_map(virPtr, size, m));
}

TWIN_API aclError aclrtUnmapMem(void *virPtr)
{
    ENTER(aclrtUnmapMem, READY | ORDERS);
    NEED(virPtr);
    return twin_status(tw_unmap(virPtr));
}

/* Mappings can be used anyway, as documented for aclrtMapMem; what is asked for must make sense. */
TWIN_API aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    ENTER(aclrtMemSetAccess, READY | CONTEXT);
    NEED(virPtr);
    NEED(desc);
    const struct tw_piece *piece = tw_piece_at(virPtr);
    if (!piece || !piece->reserved || piece->va != (uintptr_t)virPtr || piece->bytes != size || !count)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p are no mapping of aclrtMapMem", size, virPtr);
    for (size_t i = 0; i < count; i++) {
        int flags = (int)desc[i].flags;
        if (desc[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
            desc[i].location.id >= (uint32_t)tw_shared->config.devices ||
            (flags != ACL_RT_MEM_ACCESS_FLAGS_NONE && flags != ACL_RT_MEM_ACCESS_FLAGS_READ &&
             flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE))
            return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "description %zu: location %d/%u, flags %d", i,
                               (int)desc[i].location.type, desc[i].location.id, flags);
    }
    return ACL_SUCCESS;
}

/* --- shareable handles --- */

enum { FABRIC = 128 };
static const char fabric_head[] = "hbmesh-twin-fabric";

static aclError export(aclrtDrvMemHandle handle, uint64_t flags, uint32_t kind, uint64_t *token)
{
    HANDLE(handle, m);
    if (flags > 1) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flags %llu", (unsigned long long)flags);
    return twin_status(tw_physical_export(m, kind | (flags ? TW_SHARE_ANYBODY : 0), token));
}

TWIN_API aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                                  uint64_t flags, uint64_t *shareableHandle)
{
    ENTER(aclrtMemExportToShareableHandle, READY | CONTEXT);
    NEED(shareableHandle);
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "handleType %d", (int)handleType);
    return export(handle, flags, 0, shareableHandle);
}

TWIN_API aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    ENTER(aclrtMemSetPidToShareableHandle, READY);
    NEED(pid);
    return twin_status(tw_allow(shareableHandle, pid, pidNum));
}

TWIN_API aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                    aclrtDrvMemHandle *handle)
{
    ENTER(aclrtMemImportFromShareableHandle, READY | CONTEXT);
    NEED(handle);
    return twin_status(tw_physical_import(shareableHandle, deviceId, 0, (struct tw_physical **)handle));
}

/* Handles for other servers: the hardware of some series only. */
static aclError check_type(aclrtMemSharedHandleType type)
{
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) return ACL_SUCCESS;
    if (type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "shareType %d", (int)type);
    if (tw_shared->config.fabric) return ACL_SUCCESS;
    return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "these devices have no handles for other servers (fabric=on)");
}

static aclError read_shared(const void *in, aclrtMemSharedHandleType type, uint64_t *token)
{
    size_t skip = type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC ? sizeof fabric_head : 0;
    if (skip && memcmp(in, fabric_head, skip))
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "that is no handle of a fabric");
    memcpy(token, (const char *)in + skip, sizeof *token);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                    aclrtMemSharedHandleType shareType, void *shareableHandle)
{
    ENTER(aclrtMemExportToShareableHandleV2, READY | CONTEXT);
    uint64_t token = 0;
    NEED(shareableHandle);
    bool fabric = shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
    aclError e = check_type(shareType);
    if (!e) e = export(handle, flags, fabric ? TW_SHARE_FABRIC : 0, &token);
    if (e) return e;
    char *out = shareableHandle;
    if (fabric) {
        memset(out, 0, FABRIC);
        memcpy(out, fabric_head, sizeof fabric_head);
        out += sizeof fabric_head;
    }
    memcpy(out, &token, sizeof token);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
                                                    int32_t *pid, size_t pidNum)
{
    ENTER(aclrtMemSetPidToShareableHandleV2, READY);
    uint64_t token = 0;
    NEED(shareableHandle);
    NEED(pid);
    aclError e = check_type(shareType);
    if (!e) e = read_shared(shareableHandle, shareType, &token);
    return e ? e : twin_status(tw_allow(token, pid, pidNum));
}

TWIN_API aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
                                                      uint64_t flags, aclrtDrvMemHandle *handle)
{
    ENTER(aclrtMemImportFromShareableHandleV2, READY | CONTEXT);
    uint64_t token = 0;
    NEED(shareableHandle);
    NEED(handle);
    if (flags) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flags must be 0");
    aclError e = check_type(shareType);
    if (!e) e = read_shared(shareableHandle, shareType, &token);
    if (e) return e;
    uint32_t kind = shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC ? TW_SHARE_FABRIC : 0;
    return twin_status(tw_physical_import(token, device, kind, (struct tw_physical **)handle));
}

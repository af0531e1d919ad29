/* Copies and settings: which of them the documents allow, between what. */
#include "facade.h"

#include <string.h>

enum { HOST = -1 };

/* One end of a copy. */
struct side {
    const struct tw_piece *piece; /* NULL: host memory */
    int home;
    bool foreign; /* of another device's process, under the rules for such */
};

static aclError look(const void *p, size_t bytes, struct side *side)
{
    *side = (struct side){.home = HOST};
    if (!tw_is_device(p)) return ACL_SUCCESS;
    side->piece = tw_piece_at(p);
    if (!side->piece || (uintptr_t)p - side->piece->va + bytes > side->piece->bytes) {
        int rc = tw_check_range(p, bytes);
        if (rc) return twin_status(rc);
    }
    const struct tw_physical *m = side->piece->physical;
    side->home = m->home;
    side->foreign = m->home != m->user && (m->origin == TW_KEY || (m->origin == TW_IMPORTED && twin_strict >= 2));
    return ACL_SUCCESS;
}

static aclrtMemcpyKind kind_of(const struct side *to, const struct side *from)
{
    if (to->piece) return from->piece ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    return from->piece ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
}

static bool kind_fits(aclrtMemcpyKind kind, aclrtMemcpyKind real, const struct side *to, const struct side *from)
{
    if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return real == ACL_MEMCPY_DEVICE_TO_DEVICE && to->home == from->home;
    if (kind == ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return real == ACL_MEMCPY_DEVICE_TO_DEVICE && to->home != from->home;
    return kind == real || kind == ACL_MEMCPY_DEFAULT;
}

static aclError check_sizes(const void *dst, size_t destMax, const void *src, size_t count, int kind)
{
    NEED(dst);
    NEED(src);
    if (!count || count > destMax)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "count %zu, destMax %zu", count, destMax);
    if (kind < 0 || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "kind %d", kind);
    return ACL_SUCCESS;
}

/* The executing device must have been opened towards each other one that it reads or writes. */
static aclError check_peer(int device, int home)
{
    if (home == HOST || tw_peer_get(device, home)) return ACL_SUCCESS;
    return twin_refuse(ACL_ERROR_RT_NO_PERMISSION, "device %d has no access to device %d: aclrtDeviceEnablePeerAccess",
                       device, home);
}

/* Memory of another device that was imported by key: asynchronous copies between devices only, and named as such. */
static aclError check_foreign(aclrtMemcpyKind kind, aclrtMemcpyKind real, bool async)
{
    if (kind == ACL_MEMCPY_DEFAULT)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID,
                           "the direction of copies of another device's imported memory is not found out");
    if (real != ACL_MEMCPY_DEVICE_TO_DEVICE)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID,
                           "another device's imported memory is not copied from or to the host");
    if (!async)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "another device's imported memory is not copied synchronously");
    return ACL_SUCCESS;
}

static bool reserved_here(const struct side *s) { return s->piece->reserved && s->piece->physical->origin == TW_MINE; }

static aclError check_rules(int device, const struct side *to, const struct side *from, aclrtMemcpyKind kind,
                            aclrtMemcpyKind real, bool async)
{
    aclError e = ACL_SUCCESS;
    if ((async || twin_strict) && !kind_fits(kind, real, to, from))
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "kind %d does not fit the addresses, which are of kind %d",
                           (int)kind, (int)real);
    if (to->foreign || from->foreign) e = check_foreign(kind, real, async);
    if (e || real != ACL_MEMCPY_DEVICE_TO_DEVICE) return e;
    if (!async && to->home != from->home && (reserved_here(to) || reserved_here(from)))
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID,
                           "reserved addresses of one process are copied between devices by aclrtMemcpyAsync only");
    e = check_peer(device, to->home);
    return e ? e : check_peer(device, from->home);
}

static enum tw_way way_of(const struct side *to, const struct side *from)
{
    if (!to->piece) return from->piece ? TW_D2H : TW_H2H;
    if (!from->piece) return TW_H2D;
    return to->home == from->home ? TW_D2D : TW_P2P;
}

static void account(enum tw_way way, int from, int to, size_t count)
{
    TW_COUNT(copies[0][way]);
    atomic_fetch_add_explicit(&tw_live.bytes[0][way], count, memory_order_relaxed);
    struct tw_span span = tw_clock_copy(way, from, to, count, tw_clock_now());
    tw_clock_pass(span.end);
    tw_note(way == TW_SET ? "set" : 0, 0, from, to, count, span);
}

TWIN_API aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    ENTER(aclrtMemcpy, READY | CONTEXT);
    struct side to, from;
    aclError e = check_sizes(dst, destMax, src, count, (int)kind);
    if (!e) e = look(dst, count, &to);
    if (!e) e = look(src, count, &from);
    if (!e && (to.piece || from.piece || twin_strict))
        e = check_rules(device, &to, &from, kind, kind_of(&to, &from), false);
    if (e || dst == src) return e;
    tw_copy_now(dst, src, count);
    account(way_of(&to, &from), from.home, to.home, count);
    return ACL_SUCCESS;
}

/* Host memory that is not page-locked makes the call wait; older documents do not allow it. */
static aclError check_async(const struct side *to, const struct side *from, const void *dst, const void *src,
                            size_t count, bool *at_once)
{
    if (twin_strict && (((uintptr_t)dst | (uintptr_t)src) & 63))
        return twin_refuse(ACL_ERROR_RT_ADDR_UNALIGNED, "%p and %p must be aligned to 64 bytes", dst, src);
    const void *host = !to->piece ? dst : !from->piece ? src : NULL;
    *at_once = host && tw_host_kind(host, count) == TW_PAGEABLE;
    if (twin_strict && *at_once)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "the host memory at %p is not page-locked", host);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                   aclrtStream stream)
{
    ENTER(aclrtMemcpyAsync, READY | CONTEXT | ORDERS);
    struct side to, from;
    struct tw_stream *s;
    bool at_once;
    aclError e = check_sizes(dst, destMax, src, count, (int)kind);
    if (!e) e = twin_status(tw_stream_find(stream, &s));
    if (!e) e = look(dst, count, &to);
    if (!e) e = look(src, count, &from);
    if (!e && kind_of(&to, &from) == ACL_MEMCPY_HOST_TO_HOST)
        e = twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "no asynchronous copies inside the host");
    if (!e) e = check_rules(device, &to, &from, kind, kind_of(&to, &from), true);
    if (!e) e = check_async(&to, &from, dst, src, count, &at_once);
    return e ? e : twin_status(tw_stream_copy(s, dst, src, count, at_once));
}

/* --- settings --- */

static aclError check_set(int device, void *p, size_t max, size_t count, struct side *side)
{
    NEED(p);
    if (!count || count > max) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "count %zu, maxCount %zu", count, max);
    aclError e = look(p, count, side);
    if (e) return e;
    if (!side->piece && tw_host_kind(p, count) == TW_PAGEABLE)
        return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "the host memory at %p is not of aclrtMallocHost", p);
    return check_peer(device, side->home);
}

TWIN_API aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    ENTER(aclrtMemset, READY | CONTEXT);
    struct side side;
    aclError e = check_set(device, devPtr, maxCount, count, &side);
    if (e) return e;
    tw_set_now(devPtr, value, count);
    account(TW_SET, HOST, side.home, count);
    return ACL_SUCCESS;
}

TWIN_API aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    ENTER(aclrtMemsetAsync, READY | CONTEXT | ORDERS);
    struct side side;
    struct tw_stream *s;
    aclError e = twin_status(tw_stream_find(stream, &s));
    if (!e) e = check_set(device, devPtr, maxCount, count, &side);
    return e ? e : twin_status(tw_stream_set(s, devPtr, value, count));
}

/* --- words --- */

static aclError check_word(int device, void *word, aclrtStream stream, struct tw_stream **s)
{
    NEED(word);
    if ((uintptr_t)word % 8) return twin_refuse(ACL_ERROR_RT_ADDR_UNALIGNED, "%p is not aligned to 8 bytes", word);
    const struct tw_piece *piece = tw_piece_at(word);
    if (!piece) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "%p is no device memory", word);
    aclError e = check_peer(device, piece->physical->home);
    return e ? e : twin_status(tw_stream_find(stream, s));
}

TWIN_API aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    ENTER(aclrtValueWrite, READY | CONTEXT | ORDERS);
    struct tw_stream *s;
    if (flag) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flag must be 0");
    aclError e = check_word(device, devAddr, stream, &s);
    return e ? e : twin_status(tw_stream_write(s, devAddr, value));
}

TWIN_API aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    ENTER(aclrtValueWait, READY | CONTEXT | ORDERS);
    struct tw_stream *s;
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "flag %u", flag);
    aclError e = check_word(device, devAddr, stream, &s);
    return e ? e : twin_status(tw_stream_await(s, devAddr, value, flag));
}

/* --- reductions: int8, int16, int32 and float here; the halves of the hardware are not modelled --- */

#define REDUCER(name, type, expression)                                                                                \
    static void name(void *to, const void *from, size_t bytes)                                                         \
    {                                                                                                                  \
        for (size_t i = 0; i + sizeof(type) <= bytes; i += sizeof(type)) {                                             \
            type a, b;                                                                                                 \
            memcpy(&a, (char *)to + i, sizeof a);                                                                      \
            memcpy(&b, (const char *)from + i, sizeof b);                                                              \
            a = (type)(expression);                                                                                    \
            memcpy((char *)to + i, &a, sizeof a);                                                                      \
        }                                                                                                              \
    }
#define REDUCERS(suffix, type)                                                                                         \
    REDUCER(sum_##suffix, type, a + b)                                                                                 \
    REDUCER(max_##suffix, type, a > b ? a : b)                                                                         \
    REDUCER(min_##suffix, type, a < b ? a : b)
REDUCERS(float, float)
REDUCERS(i8, int8_t)
REDUCERS(i16, int16_t)
REDUCER(sum_i32, int32_t, (uint32_t)a + (uint32_t)b)
REDUCER(max_i32, int32_t, a > b ? a : b)
REDUCER(min_i32, int32_t, a < b ? a : b)

static void (*reducer(aclrtReduceKind kind, aclDataType type))(void *, const void *, size_t)
{
    static void (*const all[3][4])(void *, const void *, size_t) = {{sum_float, sum_i8, sum_i16, sum_i32},
                                                                    {max_float, max_i8, max_i16, max_i32},
                                                                    {min_float, min_i8, min_i16, min_i32}};
    int t = type == ACL_FLOAT ? 0 : type == ACL_INT8 ? 1 : type == ACL_INT16 ? 2 : type == ACL_INT32 ? 3 : -1;
    int k = (int)kind - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    return t < 0 || k < 0 || k > 2 ? NULL : all[k][t];
}

TWIN_API aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type,
                                   aclrtStream stream, void *reserve)
{
    ENTER(aclrtReduceAsync, READY | CONTEXT | ORDERS);
    struct side to, from;
    struct tw_stream *s;
    void (*fn)(void *, const void *, size_t) = reducer(kind, type);
    if (reserve) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "reserve must be NULL");
    if (!fn) return twin_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind %d of type %d", (int)kind, (int)type);
    aclError e = check_sizes(dst, count, src, count, ACL_MEMCPY_DEFAULT);
    if (!e) e = look(dst, count, &to);
    if (!e) e = look(src, count, &from);
    if (!e && (to.home != device || from.home != device))
        e = twin_refuse(ACL_ERROR_RT_PARAM_INVALID, "both must be memory of the stream's device");
    if (!e) e = twin_status(tw_stream_find(stream, &s));
    return e ? e : twin_status(tw_stream_reduce(s, dst, src, count, fn));
}

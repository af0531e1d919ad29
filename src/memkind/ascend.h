/* The Ascend runtime as the files of the kind ascend use it. */
#ifndef HM_ASCEND_H
#define HM_ASCEND_H

#include "memkind/device.h"
#include "memkind/vendor.h"

/* Layouts and values of the runtime's interface, as documented; LP64. */
struct acl_location {
    uint32_t id;
    int32_t type; /* 0 host, 1 device */
};
struct acl_physical {
    int32_t handle_type, allocation_type, memory;
    struct acl_location location;
    uint64_t reserved;
};
struct acl_access {
    int32_t flags;
    struct acl_location location;
    uint8_t reserved[12];
};
struct acl_pointer {
    struct acl_location location;
    uint32_t page;
    uint32_t reserved[4];
};
enum { ACL_DEVICE = 1, ACL_HBM = 1, ACL_HUGE_ONLY = 1, ACL_HBM_HUGE = 4, ACL_READ_WRITE = 3, ACL_KEY_BYTES = 65 };
enum { ACL_H2D = 1, ACL_D2H = 2, ACL_D2D = 3 };
enum { ACL_UNINITIALISED = 100001, ACL_REPEATED = 100002, ACL_OTHER_CONTEXT = 107003, ACL_NO_TIME = 507046 };
enum { ACL_STREAM_IDLE = 0, ACL_EVENT_RECORDED = 1, ACL_OF_THREAD = 0 };

/* The runtime's functions: acl.aclrtMemcpy(...). */
struct hm_acl {
#define HM_ACL(set, result, name, arguments) result(*name) arguments;
#include "memkind/ascend.def"
#undef HM_ACL
};
extern struct hm_acl hm_acl;

/* What a call has returned becomes 0 or -errno, and the text of why. */
HM_COLD int hm_acl_failed(const char *call, int code);
/* What was tried and may fail: its sentence is not left to the next failure. */
bool hm_acl_fails(int code);
#define hm_acl_call(name, ...) (hm_acl_result(#name, hm_acl.name(__VA_ARGS__)))
HM_INLINE int hm_acl_result(const char *call, int code) { return hm_likely(code == 0) ? 0 : hm_acl_failed(call, code); }

extern struct hm_ascend {
    int device; /* -1: not begun */
    struct hm_peers peers;
} hm_ascend;

extern const struct hm_device_ops hm_ascend_ops;

/* ascend_copy.c, ascend_stream.c */
int hm_ascend_flow_open(struct hm_flow **flow);
void hm_ascend_flow_close(struct hm_flow *flow);
void hm_ascend_flows_end(void);
int hm_ascend_copy(struct hm_flow *flow, void *to, enum hm_side to_side, const void *from, enum hm_side from_side,
                   size_t bytes, bool nbi);
int hm_ascend_set(struct hm_flow *flow, void *at, int byte, size_t bytes);
int hm_ascend_finish(struct hm_flow *flow);
/* Can one asynchronous copy do it, on any version of the runtime? */
bool hm_ascend_is_plain(const void *to, enum hm_side to_side, const void *from, enum hm_side from_side);

int hm_ascend_stream_begin(void);
void hm_ascend_stream_end(void);
int hm_ascend_stream_copy(void *stream, void *to, enum hm_side to_side, const void *from, enum hm_side from_side,
                          size_t bytes);
int hm_ascend_stream_call(void *stream, void (*fn)(void *arg), void *arg);
int hm_ascend_stream_drain(void);
int hm_ascend_stream_mark(void **mark, void *stream);
int hm_ascend_stream_ask(void *mark, void *stream);
void hm_ascend_mark_drop(void *mark);
/* A stream of the program's could not be let go on: 0 or -errno, once. */
int hm_ascend_stream_failure(void);

int hm_ascend_enter(void);
void hm_ascend_leave(void);
/* Binds the thread to the context that it had before it entered, and back. false: it had none, or this very one. */
bool hm_ascend_as_before(bool before);
#define HM_ASCEND_ENTERED(what) HM_ENTERED(hm_ascend_enter, hm_ascend_leave, what)

#endif

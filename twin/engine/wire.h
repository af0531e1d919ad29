/* What processes and the driver of a node share: messages over a socket, and one page of state.
 *
 * The driver owns all physical memory and knows who uses what. It is asked only when memory, devices or shares come and
 * go; copies never ask it. Its state is mapped by all: what devices there are, what they have left, and the queues of
 * the modelled clock.
 */
#ifndef TW_WIRE_H
#define TW_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TW_DEVICES = 64, TW_PIDS = 128, TW_VERSION = 1 };
#define TW_PAGE ((size_t)2 << 20) /* of device memory: what it is given out in */

struct tw_link {
    double ns, bytes_per_ns; /* before the first byte; then */
};

struct tw_config {
    int devices, servers, procs; /* procs: processes that may use one device */
    bool all_roce, fabric;       /* no HCCS anywhere; handles that are valid on other servers */
    uint64_t hbm;                /* bytes of each device */
    struct tw_link hbm_link, hccs, roce, pcie;
    double call_ns, wait_ns, host_func_ns; /* what host calls cost: any, one that waits, a host function */
    char soc[32];
};

struct tw_device {
    _Atomic uint64_t used;
    _Atomic int procs, lost;
    /* modelled time until which each is taken, in ns */
    _Atomic uint64_t hbm_busy, up_busy, down_busy, nic_out, nic_in;
};

struct tw_shared {
    uint32_t version;
    struct tw_config config;
    struct tw_device device[TW_DEVICES];
    _Atomic uint64_t hccs_busy[TW_DEVICES][TW_DEVICES];
    _Atomic uint64_t latest; /* the latest modelled time that any process has seen */
};

enum tw_op {
    TW_HELLO,    /* text: configuration. -> descriptor of the state, pid */
    TW_OPEN,     /* device */
    TW_CLOSE,    /* device */
    TW_ALLOCATE, /* device, bytes. -> id, descriptor of the memory */
    TW_FREE,     /* id */
    TW_EXPORT,   /* id, offset, bytes, flags. -> token */
    TW_ALLOW,    /* token, pids */
    TW_IMPORT,   /* token, device. -> id of the import, device at home, offset, bytes, whole, descriptor */
    TW_RELEASE,  /* id of an import */
    TW_CLOSE_KEY /* token: the exporter withdraws it */
};

enum {
    TW_SHARE_KEY = 1,     /* a range, by name; a handle of a whole allocation otherwise */
    TW_SHARE_ANYBODY = 2, /* without a list of processes */
    TW_SHARE_FABRIC = 4   /* for other servers, too */
};

struct tw_request {
    uint32_t op;
    int32_t device;
    uint64_t id, bytes, offset;
    uint32_t flags, count;
    union {
        int32_t pids[TW_PIDS];
        char text[TW_PIDS * 4];
    };
};

struct tw_reply {
    int32_t status; /* enum tw_status */
    int32_t device, pid;
    uint32_t flags;
    uint64_t id, bytes, offset, whole;
    char why[200];
};

/* What a call can come to; the facade has the runtime's codes for them. */
enum tw_status {
    TW_OK,
    TW_INVALID,     /* an argument */
    TW_NO_DEVICE,   /* no such device */
    TW_NO_CONTEXT,  /* the thread has no device */
    TW_OTHER_CONTEXT, /* a stream or event of another device */
    TW_HANDLE,      /* no such handle, or not any more */
    TW_NO_MEMORY,   /* device memory */
    TW_NO_HOST_MEMORY,
    TW_LIMIT,       /* too many of something */
    TW_ALIGN,
    TW_FORBIDDEN,   /* a process that is not on the list, a copy without peer access */
    TW_IN_USE,      /* by another process, or twice */
    TW_UNSUPPORTED,
    TW_TIMEOUT_STREAM,
    TW_TIMEOUT_EVENT,
    TW_TIMEOUT_REPORT,
    TW_LOST,        /* the device */
    TW_GONE,        /* the driver */
    TW_FORKED,      /* a child of fork */
    TW_START,       /* the driver could not be started */
    TW_FAULT,       /* a code from outside: tw_fault_code() */
    TW_BROKEN,      /* a task went wrong on the device */
    TW_SUBSCRIBE,   /* callbacks without a thread */
};

/* --- config.c --- */

/* Reads `text` ("devices=8,hbm=32G", "@file", NULL: the defaults). 0, or -1 with *why. */
int tw_config_read(struct tw_config *c, const char *text, char *why, size_t size);

/* The name of the socket, behind the zero byte of abstract names. */
void tw_node_name(char *name, size_t size);

#endif

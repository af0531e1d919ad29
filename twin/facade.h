/* Inside the facade: how a call begins, and how it fails. */
#ifndef TWIN_FACADE_H
#define TWIN_FACADE_H

#include "acl.h"
#include "engine/engine.h"
#include "twin.h"

#define TWIN_API __attribute__((visibility("default")))

/* What a call may need. */
enum {
    ANY = 0,
    READY = 1,   /* aclInit */
    CONTEXT = 2, /* a device of the thread */
    ORDERS = 4   /* it gives work, waits or handles resources: not in a host function */
};

extern int twin_strict; /* 1: as older documents say; 2: and VMM imports refuse what imports by key refuse */

/* Begins every call: 0, or what it returns. *device: the thread's. */
aclError twin_enter(const char *call, int needs, int *device);

/* The code of what went wrong, and a sentence for aclGetRecentErrMsg. */
aclError twin_status(int status);
aclError twin_refuse(aclError code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define ENTER(call, needs)                                                                                             \
    int device = -1;                                                                                                   \
    aclError entered = twin_enter(#call, needs, &device);                                                              \
    if (__builtin_expect(entered != 0, 0)) return entered;                                                             \
    (void)device

#define NEED(pointer)                                                                                                  \
    if (!(pointer)) return twin_refuse(ACL_ERROR_RT_PARAM_INVALID, #pointer " is NULL")

#endif

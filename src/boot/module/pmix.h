/* What the module hbmesh/pmix.so does for src/boot/pmix.c. It is a module of its own, loaded when a PMIx launcher has
 * started the process, so that the library needs no PMIx and other jobs load none. It exports hm_pmix_module alone. */
#ifndef HM_PMIX_MODULE_H
#define HM_PMIX_MODULE_H

#include "base/base.h"

struct hm_pmix_job {
    int pe, npes; /* of the whole job */
};

struct hm_pmix {
    const char *version; /* of the library it was built with */
    /* Tells the server that we are there. 0, or -errno with a reason in `why`. */
    int (*open)(struct hm_pmix_job *job, char *why, size_t size);
    /* Makes `key` known to the PEs of this job once they have passed the next fence, to those of this machine at once. 0
     * or -errno. */
    int (*put)(const char *key, const void *value, size_t size);
    /* Begins to wait for all PEs of the job. 0 or -errno. */
    int (*fence)(void);
    /* 0: they have all come, -EAGAIN: not yet, or -errno. */
    int (*fence_done)(void);
    /* What PE `pe` has put: 0, -EAGAIN: it is not known here, or -errno. Does not wait for it, unless the PE has passed a
     * fence since (`fenced`) and the server must fetch it. */
    int (*get)(int pe, const char *key, bool fenced, void *value, size_t size);
    /* Has the launcher put it on this machine? */
    bool (*is_local)(int pe);
    /* May be opened again. */
    void (*close)(void);
};

#define HM_PMIX_SYMBOL "hm_pmix_module"

#endif

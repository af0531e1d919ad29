/* What the kinds of device.h share: a vendor's library loaded by a list of its functions, the text of the last failure, the
 * table of attached heaps, and helper threads for what a stream calls.
 */
#ifndef HM_VENDOR_H
#define HM_VENDOR_H

#include <pthread.h>

#include "base/base.h"

/* --- the library --- */

/* Functions that belong together are a set: 1, 2, 4 ...; 0: without it the kind is of no use. */
struct hm_vendor_function {
    const char *name;
    void **at;
    unsigned set;
    bool optional;
};

struct hm_vendor {
    const char *kind, *variable, *file; /* the variable names another file than `file` */
    const char *const *homes;           /* variables of folders whose lib64 may hold it, up to NULL */
    const struct hm_vendor_function *functions;
    size_t n;
    /* filled by open */
    enum { HM_VENDOR_UNTRIED, HM_VENDOR_ABSENT, HM_VENDOR_HALF, HM_VENDOR_THERE } state;
    unsigned missing;           /* the sets that are not whole */
    const char *missing_name;   /* the first function of such a set that is not there */
    char why[400];              /* not there, half, or without devices: a clause */
};

/* An option of the user's (option.def): NULL where it is not set, or "auto". */
const char *hm_vendor_setting(const char *variable);

/* Once in a process, any thread. Half a library is warned of, an absent one is said to who debugs. true: it is there.
 * `whole(missing sets)` says whether the rest is enough. */
bool hm_vendor_open(struct hm_vendor *v, bool (*whole)(unsigned missing));

/* How many devices there are, as memkind.h asks. `count` fills in their number; `lock` is held meanwhile. `none`: a clause. */
int hm_vendor_devices(struct hm_vendor *v, bool (*whole)(unsigned missing), pthread_mutex_t *lock, int (*count)(int *n),
                      const char *none, const char **why);

/* --- the last failure of the calling thread --- */

const char *hm_vendor_why(void);
void hm_vendor_say(const char *fmt, ...) HM_PRINTF(1, 2);

/* What is rare binds its thread itself, so that whoever comes late in a process's life need not. */
#define HM_ENTERED(enter, leave, what)                                                                                 \
    ({                                                                                                                 \
        int entered_ = enter();                                                                                        \
        if (!entered_) {                                                                                               \
            entered_ = (what);                                                                                         \
            leave();                                                                                                   \
        }                                                                                                              \
        entered_;                                                                                                      \
    })

/* --- attached heaps --- */

struct hm_peer {
    char *at;
    size_t bytes;
    int device;
    bool near;       /* of this process's own device */
    bool closed;     /* not for copies from and to the host */
    bool mapped;     /* it was not opened by a key */
    void *handle;    /* of the kind's own */
    char key[80];    /* the same */
};

struct hm_peers {
    pthread_rwlock_t lock;
    struct hm_peer *peer;
    size_t n, room;
};
#define HM_PEERS_NONE {.lock = PTHREAD_RWLOCK_INITIALIZER}

int hm_peers_add(struct hm_peers *peers, const struct hm_peer *peer);
/* Copies what is attached at the address (find: that the address is in). */
bool hm_peers_find(struct hm_peers *peers, const void *at, struct hm_peer *found);
bool hm_peers_take(struct hm_peers *peers, const void *at, struct hm_peer *taken); /* NULL: any */

/* --- flows --- */

struct hm_flow; /* device.h */

/* What a kind's struct hm_flow begins with. */
struct hm_flow_head {
    pthread_mutex_t lock;
    void *stream;
    bool busy; /* something may be under way */
    struct hm_flow_head *next;
};

struct hm_flows {
    pthread_mutex_t lock;
    struct hm_flow_head *first;
};
#define HM_FLOWS_NONE {.lock = PTHREAD_MUTEX_INITIALIZER}

/* `size` zero bytes with a head in front, whose stream `make` has made; in the list. */
int hm_flows_open(struct hm_flows *flows, size_t size, int (*make)(void **stream), struct hm_flow **flow);
/* Takes it out of the list (NULL: any); NULL: it is not there. Behind that hm_flow_free gives back its memory. */
struct hm_flow *hm_flows_take(struct hm_flows *flows, struct hm_flow *flow);
void hm_flow_free(struct hm_flow *flow);

/* --- helpers --- */

/* Runs fn on a thread that does nothing else until fn returns; from any thread, also one of the vendor's. -errno: no thread
 * could be had. */
int hm_helpers_run(void (*fn)(void *), void *arg);
/* Waits until all have returned and ends the threads. */
void hm_helpers_end(void);

#endif

#define _GNU_SOURCE
#include "memkind/vendor.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* --- the library --- */

const char *hm_vendor_setting(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "auto") ? value : NULL;
}

static void *open_in_home(const struct hm_vendor *v, const char *variable)
{
    char path[4096];
    const char *home = getenv(variable);
    if (!home || !*home) return NULL;
    if (snprintf(path, sizeof path, "%s/lib64/%s", home, v->file) >= (int)sizeof path) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_file(struct hm_vendor *v)
{
    const char *named = hm_vendor_setting(v->variable), *wrong;
    void *library = dlopen(named ? named : v->file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        wrong = dlerror();
        snprintf(v->why, sizeof v->why, "%s%s%s", named ? v->variable : "", named ? ": " : "",
                 wrong ? wrong : "it cannot be loaded");
    }
    for (size_t i = 0; !library && !named && v->homes[i]; i++) library = open_in_home(v, v->homes[i]);
    return library;
}

/* false: a function is missing that nothing can do without. A set of which nothing is there is of a newer version; one that is
 * there in parts is half a library. */
static bool resolve(struct hm_vendor *v, void *library)
{
    const char *lacks[32] = {0};
    unsigned present = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct hm_vendor_function *f = &v->functions[i];
        *f->at = dlsym(library, f->name);
        if (f->optional) continue;
        if (*f->at) {
            present |= f->set;
            continue;
        }
        if (!v->missing_name) v->missing_name = f->name;
        if (!f->set) return false;
        if (!(v->missing & f->set)) lacks[__builtin_ctz(f->set)] = f->name;
        v->missing |= f->set;
    }
    for (unsigned half = v->missing & present; half; half &= half - 1)
        hm_warn("memory kind %s: %s has no %s, so what else is there of that way to share memory is not used", v->kind, v->file,
                lacks[__builtin_ctz(half)]);
    return true;
}

static void open_once(struct hm_vendor *v, bool (*whole)(unsigned missing))
{
    void *library = open_file(v);
    if (!library) {
        v->state = HM_VENDOR_ABSENT;
        hm_debug("memory kind %s: not here: %s", v->kind, v->why);
        return;
    }
    if (resolve(v, library) && whole(v->missing)) {
        v->state = HM_VENDOR_THERE;
        return;
    }
    v->state = HM_VENDOR_HALF;
    snprintf(v->why, sizeof v->why, "%s has no %s", v->file, v->missing_name);
    hm_warn("memory kind %s cannot be used: %s, which is needed: is the runtime's version too old?", v->kind, v->why);
}

bool hm_vendor_open(struct hm_vendor *v, bool (*whole)(unsigned missing))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (v->state == HM_VENDOR_UNTRIED) open_once(v, whole);
    pthread_mutex_unlock(&lock);
    return v->state == HM_VENDOR_THERE;
}

int hm_vendor_devices(struct hm_vendor *v, bool (*whole)(unsigned missing), pthread_mutex_t *lock, int (*count)(int *n),
                      const char *none, const char **why)
{
    int n = 0;
    *why = v->why;
    if (!hm_vendor_open(v, whole)) return 0;
    pthread_mutex_lock(lock);
    int rc = count(&n);
    if (rc) n = 0;
    if (!n) snprintf(v->why, sizeof v->why, "%s", rc ? hm_vendor_why() : none);
    pthread_mutex_unlock(lock);
    return n;
}

/* --- the last failure --- */

/* No variable of the thread's own: a library that is loaded late (Python's) gets little room for those. */
enum { SAID_BYTES = 1024 };
static pthread_key_t said_key;
static bool said_has_key;

static void make_key(void) { said_has_key = pthread_key_create(&said_key, free) == 0; }

/* NULL: there is no memory for it. */
static char *said_by_thread(bool make)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    if (!said_has_key) return NULL;
    char *said = pthread_getspecific(said_key);
    if (said || !make) return said;
    said = calloc(1, SAID_BYTES);
    if (said && pthread_setspecific(said_key, said)) {
        free(said);
        said = NULL;
    }
    return said;
}

const char *hm_vendor_why(void)
{
    const char *said = said_by_thread(false);
    return said ? said : "the runtime has said nothing";
}

void hm_vendor_say(const char *fmt, ...)
{
    char *said = said_by_thread(true);
    if (!said) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(said, SAID_BYTES, fmt, args);
    va_end(args);
    size_t n = strlen(said); /* runtimes end their sentences with newlines; ours is one line */
    while (n && (said[n - 1] == '\n' || said[n - 1] == ' ')) said[--n] = '\0';
    for (char *c = said; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
}

/* --- attached heaps --- */

int hm_peers_add(struct hm_peers *peers, const struct hm_peer *peer)
{
    int rc = 0;
    pthread_rwlock_wrlock(&peers->lock);
    if (peers->n == peers->room) {
        size_t room = peers->room ? peers->room * 2 : 16;
        struct hm_peer *more = realloc(peers->peer, room * sizeof *more);
        if (more) peers->peer = more, peers->room = room;
        else rc = -ENOMEM;
    }
    if (!rc) peers->peer[peers->n++] = *peer;
    pthread_rwlock_unlock(&peers->lock);
    return rc;
}

static struct hm_peer *look(struct hm_peers *peers, const void *at)
{
    for (size_t i = 0; i < peers->n; i++)
        if ((uintptr_t)at - (uintptr_t)peers->peer[i].at < peers->peer[i].bytes) return &peers->peer[i];
    return NULL;
}

bool hm_peers_find(struct hm_peers *peers, const void *at, struct hm_peer *found)
{
    pthread_rwlock_rdlock(&peers->lock);
    const struct hm_peer *p = look(peers, at);
    if (p) *found = *p;
    pthread_rwlock_unlock(&peers->lock);
    return p;
}

bool hm_peers_take(struct hm_peers *peers, const void *at, struct hm_peer *taken)
{
    pthread_rwlock_wrlock(&peers->lock);
    struct hm_peer *p = at ? look(peers, at) : peers->n ? &peers->peer[0] : NULL;
    bool there = p && (!at || p->at == at);
    if (there) {
        *taken = *p;
        *p = peers->peer[--peers->n];
    }
    pthread_rwlock_unlock(&peers->lock);
    return there;
}

/* --- flows --- */

int hm_flows_open(struct hm_flows *flows, size_t size, int (*make)(void **stream), struct hm_flow **flow)
{
    struct hm_flow_head *f = calloc(1, size);
    if (!f) return -ENOMEM;
    int rc = make(&f->stream);
    if (rc) {
        free(f);
        return rc;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_lock(&flows->lock);
    f->next = flows->first;
    flows->first = f;
    pthread_mutex_unlock(&flows->lock);
    *flow = (struct hm_flow *)f;
    return 0;
}

struct hm_flow *hm_flows_take(struct hm_flows *flows, struct hm_flow *flow)
{
    pthread_mutex_lock(&flows->lock);
    struct hm_flow_head **at = &flows->first;
    while (flow && *at && *at != (struct hm_flow_head *)flow) at = &(*at)->next;
    struct hm_flow_head *f = *at;
    if (f) *at = f->next;
    pthread_mutex_unlock(&flows->lock);
    return (struct hm_flow *)f;
}

void hm_flow_free(struct hm_flow *flow)
{
    pthread_mutex_destroy(&((struct hm_flow_head *)flow)->lock);
    free(flow);
}

/* --- helpers: a thread that waits in a call must not keep another call waiting, so there are as many as calls --- */

struct job {
    void (*fn)(void *);
    void *arg;
    struct job *next;
};

static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t helpers_wanted = PTHREAD_COND_INITIALIZER, helpers_gone = PTHREAD_COND_INITIALIZER;
static struct {
    struct job *first, **last;
    unsigned threads, idle, waiting; /* waiting: jobs in the list */
    bool ending;
} helpers;

static struct job *next_job(void)
{
    struct job *job = helpers.first;
    if (!job) return NULL;
    helpers.first = job->next;
    if (!helpers.first) helpers.last = NULL;
    helpers.waiting--;
    return job;
}

static void *help(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&helpers_lock);
    for (;;) {
        struct job *job = next_job();
        if (!job && helpers.ending) break;
        if (!job) {
            helpers.idle++;
            pthread_cond_wait(&helpers_wanted, &helpers_lock);
            helpers.idle--;
            continue;
        }
        pthread_mutex_unlock(&helpers_lock);
        job->fn(job->arg);
        free(job);
        pthread_mutex_lock(&helpers_lock);
    }
    helpers.threads--;
    pthread_cond_broadcast(&helpers_gone);
    pthread_mutex_unlock(&helpers_lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_helper(void)
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int rc = pthread_create(&thread, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) return -rc;
    pthread_detach(thread);
    helpers.threads++;
    return 0;
}

int hm_helpers_run(void (*fn)(void *), void *arg)
{
    struct job *job = malloc(sizeof *job);
    if (!job) return -ENOMEM;
    *job = (struct job){fn, arg, NULL};
    pthread_mutex_lock(&helpers_lock);
    int rc = helpers.idle > helpers.waiting ? 0 : start_helper();
    if (rc && !helpers.threads) {
        pthread_mutex_unlock(&helpers_lock);
        free(job);
        return rc;
    }
    *(helpers.last ? helpers.last : &helpers.first) = job;
    helpers.last = &job->next;
    helpers.waiting++;
    pthread_cond_signal(&helpers_wanted);
    pthread_mutex_unlock(&helpers_lock);
    return 0;
}

void hm_helpers_end(void)
{
    pthread_mutex_lock(&helpers_lock);
    helpers.ending = true;
    pthread_cond_broadcast(&helpers_wanted);
    while (helpers.threads) pthread_cond_wait(&helpers_gone, &helpers_lock);
    helpers.ending = false;
    pthread_mutex_unlock(&helpers_lock);
}

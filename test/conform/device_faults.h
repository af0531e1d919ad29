/* What comes of each call of a runtime that fails, on the software devices: a sentence that names it, nothing left behind, no
 * hang.
 */
#ifndef DEVICE_FAULTS_H
#define DEVICE_FAULTS_H

#include "device_test.h"

/* The text of HBMESH_TWIN_FAULT, NULL: none; for what begins from now on. */
static void fault_from_start(const char *text);

/* One process does a little of everything. */
static inline int scenario(void)
{
    struct hm_flow *f;
    struct hm_device_info info;
    void *at;
    char host[100] = {0};
    const char *why;
    if (kind->devices(&why) <= 0) return -ENODEV;
    int rc = ops->begin(0);
    if (rc) return rc;
    rc = ops->enter();
    if (!rc) rc = ops->info(&info);
    if (!rc) rc = ops->make(ops->grain(), &at);
    if (!rc) rc = ops->whoami(&shared->id[0]);
    if (!rc) rc = ops->share(at, (int32_t[]){1}, 1, &shared->token[0]);
    if (!rc) rc = ops->flow_open(&f);
    if (!rc) rc = ops->set(f, at, 1, 1000);
    if (!rc) rc = ops->copy(f, (char *)at + 1, HM_SIDE_OWN, host, HM_SIDE_HOST, sizeof host, false);
    if (!rc) rc = ops->copy(f, (char *)at + 64, HM_SIDE_OWN, host, HM_SIDE_HOST, sizeof host, true);
    if (!rc) rc = ops->copy(f, (char *)at + 640, HM_SIDE_OWN, at, HM_SIDE_OWN, sizeof host, true);
    if (!rc) rc = ops->finish(f);
    if (!rc) rc = ops->drop(at);
    return rc;
}

static inline size_t free_now(void)
{
    const char *why;
    struct hm_device_info info = {0};
    NEED(kind->devices(&why) > 0 && ops->begin(0) == 0 && ops->enter() == 0 && ops->info(&info) == 0);
    ops->leave();
    ops->end();
    return info.free_bytes;
}

/* A call that gives something back has failed: what it should have given back may be gone until the process ends. */
static inline bool gives_back(const char *call)
{
    static const char *const words[] = {"Free", "Unmap", "Close", "Reset", "Release", "Destroy"};
    for (size_t i = 0; i < HM_COUNT(words); i++)
        if (strstr(call, words[i])) return true;
    return false;
}

static inline void one_call_fails(const char *call, int code, size_t *before, size_t *failures)
{
    char text[100];
    snprintf(text, sizeof text, "%s:1=%d", call, code);
    fault_from_start(text);
    int rc = scenario();
    if (rc && !strstr(ops->why(), call)) printf("%s: %s\n", call, ops->why());
    CHECK(!rc || strstr(ops->why(), call) || rc == -ENODEV);
    *failures += rc != 0;
    fault_from_start(NULL);
    ops->end();
    CHECK(free_now() >= *before || gives_back(call));
    if (gives_back(call)) *before = free_now();
}

static inline void all_fail(const char *const *calls, size_t n, int code, size_t least)
{
    size_t before = free_now(), failures = 0;
    for (size_t i = 0; i < n; i++) one_call_fails(calls[i], code, &before, &failures);
    CHECK(failures >= least);
}

/* The other way to share is taken where a call of the better one says that it cannot; `variable` asks for no other. */
static inline void one_falls_back(const char *call, int code, const char *variable)
{
    char text[100];
    size_t before = free_now();
    snprintf(text, sizeof text, "%s:*=%d", call, code);
    unsetenv(variable);
    fault_from_start(text);
    CHECK(scenario() == 0);
    ops->end();
    setenv(variable, "vmm", 1);
    CHECK(scenario() == -ENOTSUP && strstr(ops->why(), call));
    ops->end();
    fault_from_start(NULL);
    CHECK(free_now() == before);
}

#endif

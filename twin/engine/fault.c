/* Faults on demand: "call:3=507056" the third of these calls fails with the code, "call:*=stall:200" each takes 200
 * ms longer, "call:3-=5" from the third on; "task:5=507013" the fifth task of the process's streams goes wrong, which
 * shows when its stream is waited for; "device:1@50=lost" device 1 is lost after 50 calls that use it. By commas.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FAULTS = 64 };

static struct fault {
    char call[48]; /* empty: of a device */
    int device;
    long first, last; /* of the calls; last LONG_MAX: all from there */
    int code, stall_ms;
    long seen;
} faults[MAX_FAULTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic int tw_faults;
_Thread_local int tw_fault_code;

/* "3", "3-", "2-5", "*" */
static bool read_which(char *text, struct fault *f)
{
    char *end;
    f->first = 1;
    f->last = __LONG_MAX__;
    if (!strcmp(text, "*")) return true;
    f->first = f->last = strtol(text, &end, 10);
    if (end == text || f->first < 1) return false;
    if (*end == '-') f->last = end[1] ? strtol(end + 1, &end, 10) : (end++, __LONG_MAX__);
    return !*end && f->last >= f->first;
}

static bool read_device(const char *text, struct fault *f)
{
    int n = 0;
    f->last = __LONG_MAX__;
    if (sscanf(text, "device:%d@%ld=lost%n", &f->device, &f->first, &n) == 2 && n && !text[n]) return f->first++ >= 0;
    n = 0;
    if (sscanf(text, "device:%d=lost%n", &f->device, &n) != 1 || !n || text[n]) return false;
    f->first = 1;
    return true;
}

static bool read_one(char *text, struct fault *f)
{
    *f = (struct fault){.device = -1};
    if (!strncmp(text, "device:", 7)) return read_device(text, f) && f->device >= 0 && f->device < TW_DEVICES;
    char *colon = strchr(text, ':'), *equals = colon ? strchr(colon, '=') : NULL, *end;
    if (!equals || (size_t)(colon - text) >= sizeof f->call) return false;
    *colon = *equals = 0;
    strcpy(f->call, text);
    if (!read_which(colon + 1, f)) return false;
    if (!strncmp(equals + 1, "stall:", 6)) f->stall_ms = (int)strtol(equals + 7, &end, 10);
    else f->code = (int)strtol(equals + 1, &end, 10);
    return !*end && (f->stall_ms > 0 || f->code > 0);
}

int tw_fault_read(const char *text)
{
    char copy[4096];
    int rc = 0;
    pthread_mutex_lock(&lock);
    if (!text) atomic_store(&tw_faults, 0);
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *save, *one = strtok_r(copy, ", ", &save); one && !rc; one = strtok_r(NULL, ", ", &save)) {
        int n = atomic_load(&tw_faults);
        if (n == MAX_FAULTS || !read_one(one, &faults[n])) rc = -1;
        else atomic_store(&tw_faults, n + 1);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static bool matches(struct fault *f, const char *call, int device)
{
    if (f->call[0] ? strcmp(f->call, call) != 0 : f->device != device) return false;
    long seen = ++f->seen;
    return seen >= f->first && seen <= f->last;
}

int tw_fault_meet(const char *call, int device)
{
    int stall = 0, code = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < atomic_load(&tw_faults); i++) {
        struct fault *f = &faults[i];
        if (!matches(f, call, device)) continue;
        if (!f->call[0] && f->device < tw_shared->config.devices) atomic_store(&tw_shared->device[f->device].lost, 1);
        stall += f->stall_ms;
        if (f->code) code = f->code;
    }
    pthread_mutex_unlock(&lock);
    if (stall) usleep((unsigned)stall * 1000);
    if (code) tw_fault_code = code;
    return code ? tw_fail(TW_FAULT, "fault on demand (HBMESH_TWIN_FAULT)") : TW_OK;
}

#define _GNU_SOURCE
#include "transport/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/version.h"

static const struct {
    const char *name, *environment;
} transports[] = {
#define HM_TRANSPORT(name, environment) {#name, environment},
#include "transport/transports.def"
#undef HM_TRANSPORT
};

static char because[512]; /* of the transport that was asked last */

/* --- loading a module --- */

/* "NAME=value NAME=value": those that are not set yet, or what was set is taken back. One bit each in the
 * result. */
static uint32_t change_environment(const char *settings, bool back, uint32_t which)
{
    char text[512], *rest, *word;
    uint32_t changed = 0, bit = 1;
    snprintf(text, sizeof text, "%s", settings);
    for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), bit <<= 1) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (back && which & bit) unsetenv(word);
        if (back || getenv(word)) continue;
        if (setenv(word, value, 1) == 0) changed |= bit;
    }
    return changed;
}

/* The folder of the library that this function is in; "" when that cannot be told. */
static void own_folder(char *folder, size_t size)
{
    Dl_info info;
    *folder = '\0';
    if (!dladdr((void *)hm_transport_find, &info) || !info.dli_fname) return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash) snprintf(folder, size, "%.*s/", (int)(slash - info.dli_fname), info.dli_fname);
}

/* Beside the library; a program that has the library inside finds it in its own lib folder, or where the
 * loader looks. */
static void *open_module(const char *name)
{
    static const char *const places[] = {"hbmesh/", "../lib/hbmesh/"};
    char folder[3000], path[4096];
    void *module = NULL;
    own_folder(folder, sizeof folder);
    for (size_t i = 0; !module && i < HM_COUNT(places); i++) {
        snprintf(path, sizeof path, "%s%slibhbmesh-%s.so", folder, places[i], name);
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!module && i == 0) snprintf(because, sizeof because, "%s", dlerror());
    }
    if (module) return module;
    snprintf(path, sizeof path, "libhbmesh-%s.so", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static const struct hm_transport *load(const char *name, const char *environment)
{
    uint32_t changed = change_environment(environment, false, 0);
    void *module = open_module(name);
    change_environment(environment, true, changed);
    if (!module) return NULL;
    const struct hm_transport_module *m = dlsym(module, HM_TRANSPORT_SYMBOL);
    if (m && !strcmp(m->version, HM_VERSION)) return m->transport;
    snprintf(because, sizeof because, "the module of transport %s is of version %s, this library of %s", name,
             m ? m->version : "unknown", HM_VERSION);
    dlclose(module);
    return NULL;
}

const struct hm_transport *hm_transport_at(unsigned i, const char **name, const char **why)
{
    const char *reason;
    *name = *why = NULL;
    if (i >= HM_COUNT(transports)) return NULL;
    *name = transports[i].name;
    *why = because;
    const struct hm_transport *transport = load(transports[i].name, transports[i].environment);
    if (!transport) return NULL;
    if (!(reason = transport->probe())) return transport;
    snprintf(because, sizeof because, "%s", reason);
    return NULL;
}

const struct hm_transport *hm_transport_find(const char **why)
{
    const char *name;
    for (unsigned i = 0;; i++) {
        const struct hm_transport *transport = hm_transport_at(i, &name, why);
        if (transport) return transport;
        if (!name) break;
        hm_debug("transport %s: %s", name, *why);
    }
    *why = because;
    return NULL;
}

/* What the devices of a node are like, and what the node is called. */
#define _GNU_SOURCE
#include "wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct tw_config defaults = {
    .devices = 8,
    .servers = 1,
    .procs = 64,
    .hbm = 32ull << 30,
    .hbm_link = {500, 1200},
    .hccs = {2000, 28},
    .roce = {5000, 12.5},
    .pcie = {3000, 24},
    .call_ns = 200,
    .wait_ns = 500,
    .host_func_ns = 5000,
    .soc = "Ascend910B-twin",
};

/* A number with a unit behind it: *rest is the unit. */
static bool number(const char *text, double *value, const char **rest)
{
    char *end;
    *value = strtod(text, &end);
    *rest = end;
    return end != text && *value >= 0;
}

static bool whole(const char *text, int least, int most, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (end == text || *end || v < least || v > most) return false;
    *out = (int)v;
    return true;
}

static bool size_of(const char *text, uint64_t *out)
{
    double v;
    const char *unit;
    if (!number(text, &v, &unit)) return false;
    switch (toupper((unsigned char)*unit)) {
    case 'T': v *= 1024; /* fall through */
    case 'G': v *= 1024; /* fall through */
    case 'M': v *= 1024; /* fall through */
    case 'K': v *= 1024; /* fall through */
    case 0: break;
    default: return false;
    }
    *out = (uint64_t)v;
    return v >= (double)TW_PAGE;
}

static bool time_of(const char *text, double *ns)
{
    const char *unit;
    if (!number(text, ns, &unit)) return false;
    if (!strcmp(unit, "ms")) *ns *= 1e6;
    else if (!strcmp(unit, "us")) *ns *= 1e3;
    else if (strcmp(unit, "ns")) return false;
    return true;
}

/* GB/s are bytes, Gb/s bits; both decimal. A byte each ns is 1 GB/s. */
static bool rate_of(const char *text, double *bytes_per_ns)
{
    const char *unit;
    if (!number(text, bytes_per_ns, &unit) || *bytes_per_ns <= 0) return false;
    if (!strcmp(unit, "Gb/s")) *bytes_per_ns /= 8;
    else if (strcmp(unit, "GB/s")) return false;
    return true;
}

static bool link_of(const char *text, struct tw_link *l)
{
    char time[32];
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof time) return false;
    snprintf(time, sizeof time, "%.*s", (int)(colon - text), text);
    return time_of(time, &l->ns) && rate_of(colon + 1, &l->bytes_per_ns);
}

static bool set(struct tw_config *c, const char *key, const char *value)
{
    if (!strcmp(key, "devices")) return whole(value, 0, TW_DEVICES, &c->devices);
    if (!strcmp(key, "servers")) return whole(value, 1, TW_DEVICES, &c->servers);
    if (!strcmp(key, "procs")) return whole(value, 1, 100000, &c->procs);
    if (!strcmp(key, "hbm")) return size_of(value, &c->hbm);
    if (!strcmp(key, "hbm_bw")) return rate_of(value, &c->hbm_link.bytes_per_ns);
    if (!strcmp(key, "hbm_latency")) return time_of(value, &c->hbm_link.ns);
    if (!strcmp(key, "hccs")) return link_of(value, &c->hccs);
    if (!strcmp(key, "roce")) return link_of(value, &c->roce);
    if (!strcmp(key, "pcie")) return link_of(value, &c->pcie);
    if (!strcmp(key, "call")) return time_of(value, &c->call_ns);
    if (!strcmp(key, "wait")) return time_of(value, &c->wait_ns);
    if (!strcmp(key, "host_func")) return time_of(value, &c->host_func_ns);
    if (!strcmp(key, "links")) {
        c->all_roce = !strcmp(value, "roce");
        return c->all_roce || !strcmp(value, "hccs");
    }
    if (!strcmp(key, "fabric")) {
        c->fabric = !strcmp(value, "on");
        return c->fabric || !strcmp(value, "off");
    }
    if (!strcmp(key, "soc")) return *value && snprintf(c->soc, sizeof c->soc, "%s", value) < (int)sizeof c->soc;
    return false;
}

static int read_items(struct tw_config *c, char *text, char *why, size_t size)
{
    for (char *save, *item = strtok_r(text, ", \t\n", &save); item; item = strtok_r(NULL, ", \t\n", &save)) {
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        if (value && set(c, item, value)) continue;
        snprintf(why, size, "HBMESH_TWIN: '%s%s%s' is not understood", item, value ? "=" : "", value ? value : "");
        return -1;
    }
    if (c->servers <= c->devices || !c->devices) return 0;
    snprintf(why, size, "HBMESH_TWIN: %d servers for %d devices", c->servers, c->devices);
    return -1;
}

static int read_file(const char *path, char *text, size_t size, char *why, size_t why_size)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, why_size, "HBMESH_TWIN: %s: %s", path, strerror(errno));
        return -1;
    }
    size_t n = 0;
    for (char line[256]; fgets(line, sizeof line, f) && n + sizeof line < size;)
        n += (size_t)snprintf(text + n, size - n, "%.*s ", (int)strcspn(line, "#\n"), line);
    fclose(f);
    return 0;
}

int tw_config_read(struct tw_config *c, const char *text, char *why, size_t size)
{
    char copy[8192] = "";
    *c = defaults;
    if (!text) return 0;
    if (*text == '@') {
        if (read_file(text + 1, copy, sizeof copy, why, size)) return -1;
    } else {
        snprintf(copy, sizeof copy, "%s", text);
    }
    return read_items(c, copy, why, size);
}

/* --- the node --- */

/* Parent, name and start of a process; false when /proc does not tell. */
static bool parent_of(pid_t pid, pid_t *parent, char comm[64], unsigned long long *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close - open >= 64) return false;
    snprintf(comm, 64, "%.*s", (int)(close - open - 1), open + 1);
    int up = 0;
    *start = 0;
    int k = sscanf(close + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &up,
                   start);
    *parent = up;
    return k == 2;
}

/* oshrun ends every process below it with its job, the driver among them: such a job has a node of its own. */
static bool launcher_above(char *name, size_t size)
{
    pid_t pid = getpid(), up;
    char comm[64];
    unsigned long long start;
    for (int depth = 0; depth < 64 && pid > 1 && parent_of(pid, &up, comm, &start); depth++, pid = up) {
        if (strcmp(comm, "oshrun")) continue;
        snprintf(name, size, "job-%d-%llu", (int)pid, start);
        return true;
    }
    return false;
}

void tw_node_name(char *name, size_t size)
{
    char node[80] = "default";
    const char *given = getenv("HBMESH_TWIN_NODE");
    if (given && *given) snprintf(node, sizeof node, "n-%s", given);
    else launcher_above(node, sizeof node);
    snprintf(name, size, "hbmesh-twin.%d.%s", (int)getuid(), node);
}

/* The ladder: context, target worker, address. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/ucx/ucx.h"

#define RDMA_DEVICES "/sys/class/infiniband"

struct hm_ucx hm_ucx = {.target_fd = -1};

/* What we want otherwise than UCX does, unless the user has set the variable. Shared memory is the
 * library's own business, and UCX's would not be between machines that are containers of one. Atomics by
 * the CPU, since PEs of the target's machine use the CPU on the same words. TCP in large segments: by
 * default it moves 1 MiB at a quarter of what the wire carries. Short queues for RDMA: each worker pins its
 * own, by default 50 MiB in all, and there is one for each context. */
static const struct {
    const char *variable, *name, *value; /* UCX's configuration drops the names of transports */
    const char *transport;               /* that takes it, in the form of UCX's list; NULL: UCX as such */
} settings[] = {
    {"UCX_TLS", "TLS", "^sm", NULL},
    {"UCX_ATOMIC_MODE", "ATOMIC_MODE", "cpu", NULL},
    {"UCX_PROTO_ENABLE", "PROTO_ENABLE", "n", NULL}, /* see hm_ucx_has_old_protocols */
    {"UCX_TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "128k", " tcp/"},
    {"UCX_TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "256k", " tcp/"},
    /* A port that is blocked is known after 7 s instead of 2 minutes; UCX 1.13 spoils the number of buffers with it. */
    {"UCX_TCP_SYN_CNT", "SYN_CNT", "2", " tcp/"},
    {"UCX_TCP_TX_MAX_BUFS", "TX_MAX_BUFS", "-1", " tcp/"},
    {"UCX_IB_RX_QUEUE_LEN", "IB_RX_QUEUE_LEN", "512", " rc_"},
    {"UCX_IB_RX_BUFS_GROW", "IB_RX_BUFS_GROW", "128", " rc_"},
    {"UCX_IB_TX_BUFS_GROW", "IB_TX_BUFS_GROW", "128", " rc_"},
};

int hm_ucx_errno(ucs_status_t status)
{
    switch (status) {
    case UCS_ERR_NO_MEMORY:
        return -ENOMEM;
    case UCS_ERR_NO_RESOURCE:
        return -ENOSPC;
    case UCS_ERR_UNREACHABLE:
        return -EHOSTUNREACH;
    case UCS_ERR_NO_DEVICE:
        return -ENODEV;
    case UCS_ERR_UNSUPPORTED:
        return -ENOTSUP;
    case UCS_ERR_INVALID_PARAM:
        return -EINVAL;
    default:
        return -EIO;
    }
}

int hm_ucx_say(const char *what, ucs_status_t status)
{
    hm_ucx.host->say(NULL, "UCX: %s: %s", what, ucs_status_string(status));
    return hm_ucx_errno(status);
}

void hm_ucx_signals_off(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void hm_ucx_signals_back(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

const char *hm_ucx_probe(void)
{
    static char text[128];
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    if (UCP_VERSION(major, minor) >= UCP_API_VERSION) return NULL;
    snprintf(text, sizeof text, "UCX %u.%u is here, but the module was built with %d.%d", major, minor,
             UCP_API_MAJOR, UCP_API_MINOR);
    return text;
}

/* UCX has two sets of protocols. The newer has no atomics by the CPU for endpoints that hear of errors, so the older is taken
 * as long as UCX has it; later versions have put and get in the newer alone, and there endpoints do not hear of errors: that a
 * PE has gone is told by the bootstrap's lifeline in any case. */
bool hm_ucx_has_old_protocols(void)
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    return UCP_VERSION(major, minor) < UCP_VERSION(1, 21);
}

/* By this name, or, a setting of all devices for RDMA, for one way to use them: UCX_RC_RX_QUEUE_LEN, UCX_UD_VERBS_... */
static bool is_the_users(const char *variable)
{
    static const char general[] = "UCX_IB_";
    if (getenv(variable)) return true;
    if (!strcmp(variable, "UCX_TCP_TX_SEG_SIZE") && getenv("UCX_TCP_RX_SEG_SIZE")) return true; /* which bounds it */
    if (strncmp(variable, general, sizeof general - 1)) return false;
    const char *tail = variable + sizeof general - 2; /* from the last _ on */
    size_t bytes = strlen(tail);
    for (char **e = environ; *e; e++) {
        size_t name = strcspn(*e, "=");
        if (name > bytes && !strncmp(*e, "UCX_", 4) && !strncmp(*e + name - bytes, tail, bytes)) return true;
    }
    return false;
}

/* Versions differ in whether a transport's own settings have the transport's name before them. 1.17 and 1.18 take a name
 * without it, but warn that no transport does. */
static ucs_status_t modify(ucp_config_t *config, const char *name, const char *variable, const char *value)
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    const char *full = variable + strlen("UCX_");
    bool is_full = UCP_VERSION(major, minor) >= UCP_VERSION(1, 17);
    ucs_status_t status = ucp_config_modify(config, is_full ? full : name, value);
    return status == UCS_OK ? status : ucp_config_modify(config, is_full ? name : full, value);
}

/* `transports`: what UCX says it uses; NULL: not known yet. */
static ucs_status_t read_config(const char *transports, ucp_config_t **config)
{
    ucs_status_t status = ucp_config_read(NULL, NULL, config);
    if (status != UCS_OK) return status;
    for (size_t i = 0; i < HM_COUNT(settings); i++) {
        const char *needs = settings[i].transport;
        if (is_the_users(settings[i].variable) || (needs && !(transports && strstr(transports, needs)))) continue;
        if (!strcmp(settings[i].name, "PROTO_ENABLE") && !hm_ucx_has_old_protocols()) continue;
        status = modify(*config, settings[i].name, settings[i].variable, settings[i].value);
        if (status != UCS_OK)
            hm_ucx.host->say("warning", "UCX: cannot set %s to %s: %s", settings[i].variable, settings[i].value,
                             ucs_status_string(status));
    }
    return UCS_OK;
}

static ucs_status_t init_context(const char *transports)
{
    ucp_config_t *config;
    ucs_status_t status = read_config(transports, &config);
    if (status != UCS_OK) return status;
    ucp_params_t params = {
        .field_mask =
            UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM |
                    UCP_FEATURE_WAKEUP,
        .mt_workers_shared = 1,
        .estimated_num_eps = (size_t)hm_ucx.host->npes,
    };
    status = ucp_init(&params, config, &hm_ucx.context);
    ucp_config_release(config);
    return status;
}

/* What UCX says about the context; to be freed, may be NULL. */
static char *describe_context(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return NULL;
    ucp_context_print_info(hm_ucx.context, f);
    fclose(f);
    return text;
}

/* Which transports there are tells a context, made for that where the answer is not plain: UCX warns of settings that
 * none of its transports takes. */
static ucs_status_t open_context(void)
{
    bool is_plain = !getenv("UCX_TLS") && !getenv("UCX_NET_DEVICES") && access(RDMA_DEVICES, F_OK);
    if (is_plain) return init_context(" tcp/");
    ucs_status_t status = init_context(NULL);
    if (status != UCS_OK) return status;
    char *text = describe_context();
    ucp_cleanup(hm_ucx.context);
    hm_ucx.context = NULL;
    status = init_context(text);
    free(text);
    return status;
}

/* A device for RDMA pins the worker's queues. */
static int say_no_worker(ucs_status_t status)
{
    char limit[256] = "";
    if (access(RDMA_DEVICES, F_OK) == 0) hm_ucx_lock_limit(limit, sizeof limit);
    hm_ucx.host->say(NULL, "UCX: PE %d cannot open a worker: %s%s", hm_ucx.host->pe, ucs_status_string(status), limit);
    return hm_ucx_errno(status);
}

int hm_ucx_worker_open(ucp_worker_h *worker, int *fd)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_MULTI};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};
    __atomic_fetch_add(&hm_ucx.workers, 1, __ATOMIC_RELAXED);
    ucs_status_t status = hm_ucx_try_to_pin(0);
    if (status == UCS_OK) status = ucp_worker_create(hm_ucx.context, &params, worker);
    if (status != UCS_OK) return say_no_worker(status);
    status = ucp_worker_query(*worker, &attr);
    if (status == UCS_OK && attr.thread_mode != UCS_THREAD_MODE_MULTI) status = UCS_ERR_UNSUPPORTED;
    if (status == UCS_OK) status = ucp_worker_get_efd(*worker, fd);
    if (status == UCS_OK) return 0;
    ucp_worker_destroy(*worker);
    *worker = NULL;
    return hm_ucx_say(
        "a worker cannot serve several threads, one of them asleep (UCX must be built with --enable-mt)",
        status);
}

static int open_target(void)
{
    int e = hm_ucx_worker_open(&hm_ucx.target, &hm_ucx.target_fd);
    if (e) return e;
    ucs_status_t status = hm_ucx_hear_messages();
    if (status == UCS_OK) status = hm_ucx_hear_keys(hm_ucx.target, NULL);
    if (status == UCS_OK) status = hm_ucx_hear_streams(hm_ucx.target, NULL);
    if (status != UCS_OK) return hm_ucx_say("a worker cannot be told of messages", status);
    hm_ucx_memory_open();
    return 0;
}

int hm_ucx_start(const struct hm_transport_host *host)
{
    sigset_t before;
    hm_ucx = (struct hm_ucx){.host = host, .target_fd = -1};
    hm_ucx_signals_off(&before);
    hm_ucx_hear_log();
    ucs_status_t status = open_context();
    int e = status == UCS_OK ? open_target() : hm_ucx_say("cannot be initialised", status);
    hm_ucx_signals_back(&before);
    return e;
}

int hm_ucx_address(void *address, size_t room, size_t *bytes)
{
    struct hm_ucx_address *a = address;
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
        .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY,
    };
    ucs_status_t status = ucp_worker_query(hm_ucx.target, &attr);
    if (status != UCS_OK) return hm_ucx_say("cannot tell the address of a worker", status);
    *bytes = sizeof *a + attr.address_length;
    bool fits = *bytes <= room;
    if (fits) {
        a->shift = (uint8_t)hm_ucx.shift;
        memcpy(a->worker, attr.address, attr.address_length);
    }
    ucp_worker_release_address(hm_ucx.target, attr.address);
    return fits ? 0 : -ENOSPC;
}

int hm_ucx_join(const void *const *addresses)
{
    sigset_t before;
    hm_ucx.addresses = addresses;
    hm_ucx_signals_off(&before);
    int e = hm_ucx_thread_start();
    hm_ucx_signals_back(&before);
    return e;
}

void hm_ucx_leave(void)
{
    __atomic_store_n(&hm_ucx.leaving, true, __ATOMIC_SEQ_CST);
}

void hm_ucx_stop(void)
{
    if (!hm_ucx.context) return;
    hm_ucx.leaving = true;
    hm_ucx_thread_halt();
    hm_ucx_lanes_drop();
    if (hm_ucx.target) ucp_worker_destroy(hm_ucx.target);
    hm_ucx_memory_close();
    ucp_cleanup(hm_ucx.context);
    hm_ucx.context = NULL;
}

/* What UCX says of connections that fail. It says so with a line of its own, on standard error, before it tells us; but a
 * PE that has left rightly, by global_exit, is no error, and of one that died the launcher knows better what to say. So the
 * line is kept, and becomes part of our own sentence if there is one. All else that UCX says is passed on. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucs/debug/log_def.h>

#include "transport/ucx/ucx.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char latest[256];

static bool is_of_sockets(const char *file)
{
    const char *slash = strrchr(file, '/');
    return strcmp(slash ? slash + 1 : file, "sock.c") == 0;
}

static ucs_log_func_rc_t on_line(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                 const ucs_log_component_config_t *component, const char *format,
                                 va_list args)
{
    (void)line, (void)function, (void)component;
    if (level != UCS_LOG_LEVEL_ERROR || !is_of_sockets(file)) return UCS_LOG_FUNC_RC_CONTINUE;
    pthread_mutex_lock(&lock);
    vsnprintf(latest, sizeof latest, format, args);
    pthread_mutex_unlock(&lock);
    return UCS_LOG_FUNC_RC_STOP;
}

/* Who has chosen what UCX is to say gets all of it. */
void hm_ucx_hear_log(void)
{
    static bool hears;
    if (hears || getenv("UCX_LOG_LEVEL")) return;
    hears = true;
    ucs_log_push_handler(on_line);
}

void hm_ucx_fail(int pe, ucs_status_t status)
{
    char why[384];
    pthread_mutex_lock(&lock);
    snprintf(why, sizeof why, *latest ? "%s (%s)" : "%s", ucs_status_string(status), latest);
    pthread_mutex_unlock(&lock);
    hm_ucx.host->fail(pe, why);
}

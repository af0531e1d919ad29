#define _GNU_SOURCE
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hm_log_debugging;
void (*hm_die_hook)(int status);
bool (*hm_die_claim)(void);
static int log_pe = -1;

void hm_log_set_pe(int pe) { log_pe = pe; }
void hm_log_set_debug(bool on) { hm_log_debugging = on; }

static void write_whole(const char *text, size_t n)
{
    while (n) {
        ssize_t k = write(STDERR_FILENO, text, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return;
        text += k;
        n -= (size_t)k;
    }
}

static void emit(const char *prefix, const char *call, const char *fmt, va_list args)
{
    char line[2048];
    size_t n = 0, room = sizeof line - 1; /* one byte is kept for the newline */
    int k = log_pe >= 0 ? snprintf(line, room, "hbmesh: PE %d: ", log_pe) : snprintf(line, room, "hbmesh: ");
    n += (size_t)k;
    if (prefix) n += (size_t)snprintf(line + n, room - n, "%s: ", prefix);
    if (call) n += (size_t)snprintf(line + n, room - n, "%s: ", call);
    k = vsnprintf(line + n, room - n, fmt, args);
    if (k > 0) n += (size_t)k < room - n ? (size_t)k : room - n - 1;
    line[n++] = '\n';
    write_whole(line, n);
}

void hm_log_line(const char *prefix, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    emit(prefix, NULL, fmt, args);
    va_end(args);
}

void hm_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    emit("warning", NULL, fmt, args);
    va_end(args);
}

/* What the program printed before it went wrong belongs to the report; but a thread that died inside printf holds the
 * lock, and waiting for it would turn an error into a hang. */
static void flush_if_free(FILE *f)
{
    if (ftrylockfile(f)) return;
    fflush(f);
    funlockfile(f);
}

static HM_NORETURN void die(int status, const char *call, const char *fmt, va_list args)
{
    if (!hm_die_claim || hm_die_claim()) emit(NULL, call, fmt, args);
    flush_if_free(stdout);
    if (hm_die_hook) hm_die_hook(status);
    _exit(status);
}

void hm_die(const char *call, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    die(1, call, fmt, args);
}

void hm_die_with(int status, const char *call, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    die(status, call, fmt, args);
}

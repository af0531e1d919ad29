/* The one way a message leaves the library, and the one way a job is given up.
 *
 * Every line reads "hbmesh: PE 3: shmem_long_p: dest: ...": who, which call, which argument, what it is, what to do.
 * Lines are written with one write(2), so lines of different PEs never mix.
 */
#ifndef HM_LOG_H
#define HM_LOG_H

#include "base/base.h"

/* What stands in front of the text; -1 for a process that has no PE number (yet). */
void hm_log_set_pe(int pe);
void hm_log_set_debug(bool on);
extern bool hm_log_debugging; /* SHMEM_DEBUG: read it through hm_debug only */

void hm_log_line(const char *prefix, const char *fmt, ...) HM_PRINTF(2, 3);
void hm_warn(const char *fmt, ...) HM_PRINTF(1, 2);
#define hm_debug(...)                                                                                                  \
    do {                                                                                                               \
        if (hm_unlikely(hm_log_debugging)) hm_log_line("debug", __VA_ARGS__);                                          \
    } while (0)

/* The abort path. Prints one line that names the call (NULL: no call), flushes stdout where that cannot block, tells
 * the launcher that this PE has said why, and ends the process with status 1. Higher floors hook in through
 * hm_die_hook, which is called between the message and the exit. */
void hm_die(const char *call, const char *fmt, ...) HM_NORETURN HM_COLD HM_PRINTF(2, 3);
/* The same, with another status. */
void hm_die_with(int status, const char *call, const char *fmt, ...) HM_NORETURN HM_COLD HM_PRINTF(3, 4);
extern void (*hm_die_hook)(int status);
/* False when another PE has already said why the job ends: then this one goes without a word. NULL: always true. */
extern bool (*hm_die_claim)(void);

#endif

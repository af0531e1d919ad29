/* Options: one table (option.def), read once from the environment at init. */
#ifndef HM_OPTION_H
#define HM_OPTION_H

#include "base/base.h"

enum hm_option_kind { HM_OPTION_size, HM_OPTION_flag, HM_OPTION_switch, HM_OPTION_count, HM_OPTION_text };
#define HM_OPTION_CTYPE_size size_t
#define HM_OPTION_CTYPE_flag bool
#define HM_OPTION_CTYPE_switch bool
#define HM_OPTION_CTYPE_count long
#define HM_OPTION_CTYPE_text const char *

struct hm_options {
#define HM_OPTION(field, name, kind, dflt, help) HM_OPTION_CTYPE_##kind field;
#include "base/option.def"
#undef HM_OPTION
};
extern struct hm_options hm_options;

/* Reads the environment; call again for a re-init. On a malformed value prints one sentence (variable, value, what is
 * allowed) and returns -EINVAL; a SHMEM_ variable that no option has gets one warning with the nearest known name when
 * `warn` is set (one PE of a job warns for all). */
int hm_options_read(bool warn);

/* For shmem-info and SHMEM_INFO: the i-th option, false behind the last. Strings live for ever. */
struct hm_option_view {
    const char *name; /* without SHMEM_ */
    const char *kind, *dflt, *help;
    const char *origin; /* "default", or the variable that set it */
    char value[64];
};
bool hm_option_view(unsigned i, struct hm_option_view *view);

/* "20kk" is 20 KiB, ".5m" half a MiB, rounded up (OpenSHMEM 1.6, Environment Variables). 0 or -EINVAL, -ERANGE. */
int hm_parse_size(const char *text, size_t *bytes);

#endif

#define _GNU_SOURCE
#include "base/option.h"
#include "base/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct hm_options hm_options;

struct option {
    const char *name; /* whole, as in the environment: SHMEM_... */
    enum hm_option_kind kind;
    size_t at; /* of its field in struct hm_options */
    const char *dflt, *help;
};

static const struct option options[] = {
#define HM_OPTION(field, name, kind, dflt, help) \
    {"SHMEM_" name, HM_OPTION_##kind, offsetof(struct hm_options, field), dflt, help},
#include "base/option.def"
#undef HM_OPTION
};

/* NULL: the default. An origin is a name of these tables, so it lives for ever. */
static const char *origins[HM_COUNT(options)];

static const char *const kind_names[] = {"size", "flag", "switch", "count", "text"};

static const char *const kind_grammar[] = {
    "a number of bytes: digits, perhaps a fraction, perhaps a suffix k, m, g or t, as in 512m or 1.5G",
    "anything, it is on whenever it is set",
    "one of on, off, 1, 0, yes, no, true, false",
    "a whole number, 0 or more",
    "text",
};

/* The old names that the standard keeps as deprecated aliases. */
static const struct {
    const char *name, *old;
} aliases[] = {
    {"SHMEM_VERSION", "SMA_VERSION"},
    {"SHMEM_INFO", "SMA_INFO"},
    {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"},
    {"SHMEM_DEBUG", "SMA_DEBUG"},
};

/* Not options: what the launcher reads and tells its PEs, and what the compiler wrappers read. */
static const char *const other_names[] = {
    "SHMEM_PE", "SHMEM_NPES", "SHMEM_LOCAL_PE", "SHMEM_LOCAL_NPES", "SHMEM_LAUNCH", "SHMEM_SECRET", "SHMEM_MACHINES", "SHMEM_CC",
    "SHMEM_CXX",
};

static void *field_of(const struct option *o)
{
    return (char *)&hm_options + o->at;
}

static int suffix_shift(char c)
{
    switch (c) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return 20;
    case 'g':
    case 'G':
        return 30;
    case 't':
    case 'T':
        return 40;
    default:
        return -1;
    }
}

/* Reads ".125" as 125 / 1000. Digits that cannot matter any more are only remembered as `more`. */
static const char *parse_fraction(const char *p, unsigned __int128 *frac, unsigned __int128 *unit, bool *more)
{
    *frac = 0, *unit = 1, *more = false;
    for (int digits = 0; isdigit((unsigned char)*p); p++, digits++) {
        if (digits < 24) {
            *frac = *frac * 10 + (unsigned)(*p - '0');
            *unit *= 10;
        } else if (*p != '0') {
            *more = true;
        }
    }
    return p;
}

/* In whole numbers throughout: a double has too few digits for "1.1t", and strtod asks the locale what a
 * point is. */
int hm_parse_size(const char *text, size_t *bytes)
{
    const char *p = text;
    while (isspace((unsigned char)*p))
        p++;
    if (!isdigit((unsigned char)p[0]) && !(p[0] == '.' && isdigit((unsigned char)p[1]))) return -EINVAL;

    unsigned __int128 whole = 0, frac = 0, unit = 1;
    bool more = false;
    for (; isdigit((unsigned char)*p); p++) {
        whole = whole * 10 + (unsigned)(*p - '0');
        if (whole > SIZE_MAX) return -ERANGE;
    }
    if (*p == '.') p = parse_fraction(p + 1, &frac, &unit, &more);

    int shift = suffix_shift(*p); /* whatever stands behind the letter is ignored, says the standard */
    if (shift < 0) {
        while (isspace((unsigned char)*p))
            p++;
        if (*p) return -EINVAL;
        shift = 0;
    }
    unsigned __int128 part = frac << shift;
    unsigned __int128 sum = (whole << shift) + part / unit + (part % unit || more ? 1 : 0);
    if (sum > SIZE_MAX) return -ERANGE;
    *bytes = (size_t)sum;
    return 0;
}

static int parse_switch(const char *text, bool *on)
{
    static const char *const yes[] = {"on", "1", "yes", "true"}, *const no[] = {"off", "0", "no", "false"};
    for (size_t i = 0; i < HM_COUNT(yes); i++) {
        bool is_yes = !strcasecmp(text, yes[i]);
        if (!is_yes && strcasecmp(text, no[i])) continue;
        *on = is_yes;
        return 0;
    }
    return -EINVAL;
}

static int parse_count(const char *text, long *count)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) return -EINVAL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*end) return -EINVAL;
    if (errno) return -ERANGE;
    *count = n;
    return 0;
}

/* The environment may change under us, so we keep our own copy. Those of earlier rounds stay: a view may show
 * them. */
static int copy_text(const char *text, const char **copy)
{
    if (*copy && !strcmp(*copy, text)) return 0;
    char *s = strdup(text);
    if (!s) return -ENOMEM;
    *copy = s;
    return 0;
}

static int set(const struct option *o, const char *text)
{
    switch (o->kind) {
    case HM_OPTION_size:
        return hm_parse_size(text, field_of(o));
    case HM_OPTION_flag:
        *(bool *)field_of(o) = true;
        return 0;
    case HM_OPTION_switch:
        return parse_switch(text, field_of(o));
    case HM_OPTION_count:
        return parse_count(text, field_of(o));
    case HM_OPTION_text:
        return copy_text(text, field_of(o));
    }
    return -EINVAL;
}

static void set_default(const struct option *o)
{
    if (o->kind == HM_OPTION_flag)
        *(bool *)field_of(o) = false;
    else
        set(o, o->dflt);
}

static const char *find(const struct option *o, const char **origin)
{
    const char *value = getenv(o->name);
    *origin = o->name;
    for (size_t i = 0; !value && i < HM_COUNT(aliases); i++) {
        if (strcmp(aliases[i].name, o->name)) continue;
        *origin = aliases[i].old;
        value = getenv(aliases[i].old);
    }
    return value;
}

static int read_one(size_t i)
{
    const struct option *o = &options[i];
    const char *origin, *value = find(o, &origin);
    set_default(o);
    origins[i] = NULL;
    if (!value) return 0;
    int rc = set(o, value);
    if (!rc) {
        origins[i] = origin;
    } else if (rc == -ERANGE) {
        hm_log_line(NULL, "environment variable %s=%s: the number is too large (the largest is %zu)", origin,
                    value, o->kind == HM_OPTION_size ? SIZE_MAX : (size_t)LONG_MAX);
    } else if (rc == -ENOMEM) {
        hm_log_line(NULL, "environment variable %s: no memory for a copy of its value", origin);
    } else {
        hm_log_line(
            NULL, "environment variable %s=%s: not understood; allowed is %s. Correct it, or unset it for %s",
            origin, value, kind_grammar[o->kind], o->dflt);
    }
    return rc;
}

/* Levenshtein's distance over the first `n` letters of `a` (names longer than a row compare by their
 * beginning). */
static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[64];
    size_t m = strlen(b);
    if (m > HM_COUNT(row) - 1) m = HM_COUNT(row) - 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

/* The known name nearest to the `n` letters at `name`; *d tells how near: 0 is the name itself. */
static const char *nearest(const char *name, size_t n, unsigned *d)
{
    const char *best = NULL;
    *d = UINT_MAX;
    for (size_t i = 0; i < HM_COUNT(options) + HM_COUNT(other_names); i++) {
        const char *known = i < HM_COUNT(options) ? options[i].name : other_names[i - HM_COUNT(options)];
        unsigned here = distance(name, n, known);
        if (here >= *d) continue;
        *d = here;
        best = known;
    }
    return best;
}

extern char **environ;

static void warn_unknown(void)
{
    static bool warned; /* a re-init has nothing new to say */
    if (warned) return;
    warned = true;
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "SHMEM_", 6)) continue;
        unsigned d;
        size_t n = strcspn(*e, "=");
        const char *known = nearest(*e, n, &d);
        if (d)
            hm_warn("environment variable %.*s: hbmesh has no such option; did you mean %s?", (int)n, *e,
                    known);
    }
}

int hm_options_read(bool warn)
{
    int rc = 0;
    for (size_t i = 0; i < HM_COUNT(options); i++) {
        int one = read_one(i);
        if (one && !rc) rc = one == -ERANGE ? -EINVAL : one;
    }
    if (warn) warn_unknown();
    return rc;
}

/* "64M" rather than 67108864, where that says the same. */
static void print_size(char *out, size_t room, size_t n)
{
    static const char suffix[] = "\0KMGT";
    int unit = 0;
    while (unit < 4 && n && n % 1024 == 0)
        n /= 1024, unit++;
    snprintf(out, room, unit ? "%zu%c" : "%zu", n, suffix[unit]);
}

bool hm_option_view(unsigned i, struct hm_option_view *view)
{
    if (i >= HM_COUNT(options)) return false;
    const struct option *o = &options[i];
    *view = (struct hm_option_view){.name = o->name + strlen("SHMEM_"),
                                    .kind = kind_names[o->kind],
                                    .dflt = o->dflt,
                                    .help = o->help,
                                    .origin = origins[i] ? origins[i] : "default"};
    const void *field = field_of(o);
    switch (o->kind) {
    case HM_OPTION_size:
        print_size(view->value, sizeof view->value, *(const size_t *)field);
        break;
    case HM_OPTION_flag:
    case HM_OPTION_switch:
        strcpy(view->value, *(const bool *)field ? "on" : "off");
        break;
    case HM_OPTION_count:
        snprintf(view->value, sizeof view->value, "%ld", *(const long *)field);
        break;
    case HM_OPTION_text: {
        const char *text = *(const char *const *)field;
        snprintf(view->value, sizeof view->value, "%s", text ? text : "");
        break;
    }
    }
    return true;
}

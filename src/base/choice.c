#include "base/choice.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"

static const struct {
    const char *collective, *way, *what;
    size_t from[2];
} rows[HM_CHOICES] = {
#define HM_CHOICE(collective, way, with_cores, without, what) {#collective, #way, what, {with_cores, without}},
#include "base/choice.def"
#undef HM_CHOICE
};

size_t hm_choice_from[2][HM_CHOICES];

static void set(size_t row, size_t with_cores, size_t without)
{
    hm_choice_from[0][row] = with_cores;
    hm_choice_from[1][row] = without;
}

static void set_defaults(void)
{
    for (size_t i = 0; i < HM_CHOICES; i++) set(i, rows[i].from[0], rows[i].from[1]);
}

struct entry { /* COLLECTIVE:WAY@SIZE, cut up */
    char text[64];
    const char *way, *size;
};

static int malformed(const char *entry, size_t n, const char *why)
{
    char names[96] = "";
    for (size_t i = 0; i < HM_CHOICES; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", rows[i].collective);
    hm_log_line(NULL, "environment variable SHMEM_COLL: %.*s: %s. Entries are COLLECTIVE:WAY or COLLECTIVE:WAY@SIZE, with commas "
                "between them, such as reduce:sliced@64k; the collectives are %s, and shmem-info lists their ways", (int)n, entry,
                why, names);
    return -EINVAL;
}

/* NULL, or what is wrong with it. */
static const char *cut(struct entry *e, const char *from, size_t n)
{
    if (n >= sizeof e->text) return "it is too long";
    memcpy(e->text, from, n);
    e->text[n] = 0;
    char *way = strchr(e->text, ':'), *size = strchr(e->text, '@');
    if (!way || (size && size < way)) return "there is no way behind a colon";
    *way++ = 0;
    if (size) *size++ = 0;
    e->way = way;
    e->size = size;
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *apply(const struct entry *e)
{
    size_t row = 0, from = 0;
    while (row < HM_CHOICES && strcmp(rows[row].collective, e->text)) row++;
    if (row == HM_CHOICES) return "there is no such collective";
    if (!strcmp(e->way, "slots")) {
        if (e->size) return "slots are taken from 0 bytes on and have no size; say where the other way begins";
        set(row, SIZE_MAX, SIZE_MAX);
        return NULL;
    }
    if (strcmp(e->way, rows[row].way)) return "the collective has no such way";
    if (e->size && hm_parse_size(e->size, &from)) return "the size is no number of bytes";
    set(row, from, from);
    return NULL;
}

int hm_choice_read(const char *text)
{
    set_defaults();
    if (!strcmp(text, "auto")) return 0;
    for (const char *at = text;; at++) {
        struct entry e;
        size_t n = strcspn(at, ",");
        const char *why = cut(&e, at, n);
        if (!why) why = apply(&e);
        if (why) return malformed(at, n, why);
        at += n;
        if (!*at) return 0;
    }
}

bool hm_choice_view(unsigned i, struct hm_choice_view *view)
{
    if (i >= HM_CHOICES) return false;
    *view = (struct hm_choice_view){.collective = rows[i].collective, .way = rows[i].way, .what = rows[i].what,
                                    .from = {hm_choice_from[0][i], hm_choice_from[1][i]}};
    return true;
}

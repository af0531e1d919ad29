/* Building a line where nothing else may be called: in a signal handler. */
#ifndef HM_TEXT_H
#define HM_TEXT_H

#include "base/base.h"

struct hm_text {
    char at[768];
    size_t n;
};

static inline void hm_text_add(struct hm_text *t, const char *s)
{
    while (*s && t->n < sizeof t->at - 1)
        t->at[t->n++] = *s++;
}

static inline void hm_text_number(struct hm_text *t, uint64_t value, unsigned base)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (n && t->n < sizeof t->at - 1)
        t->at[t->n++] = digits[--n];
}

static inline void hm_text_dec(struct hm_text *t, uint64_t value)
{
    hm_text_number(t, value, 10);
}

static inline void hm_text_hex(struct hm_text *t, uint64_t value)
{
    hm_text_add(t, "0x");
    hm_text_number(t, value, 16);
}

/* "812 bytes", "36 KiB", "1536 MiB": whole units. */
static inline void hm_text_bytes(struct hm_text *t, uint64_t bytes)
{
    int unit = bytes >= (uint64_t)16 << 20 ? 20 : bytes >= (uint64_t)16 << 10 ? 10 : 0;
    hm_text_dec(t, bytes >> unit);
    hm_text_add(t, unit == 20 ? " MiB" : unit == 10 ? " KiB" : " bytes");
}

#endif

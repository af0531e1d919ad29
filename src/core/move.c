#include "core/move.h"

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Before init nothing goes past the caches: nobody has asked for it. */
struct hm_moves hm_moves = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

/* What a core's cache of the second level holds many times over is not found in any cache by the time it is read: of the last
 * level, which may be large, a core has no more than a share when all are at work. As measured, with the reading counted in,
 * past the caches is quicker from 8 times that size on where another core reads, and from 16 times where this one does, which
 * has the beginning of it in its own cache. */
enum { OUT = 8, IN = 16, L2_USUAL = 1 << 20 };
/* And from an eighth of that size on it pays to fetch ahead. */
enum { AHEAD = 8 };

static size_t second_cache(void)
{
    size_t l2 = hm_os_second_cache();
    return l2 ? l2 : L2_USUAL;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void hm_move_start(const char *call)
{
    const char *text = hm_options.nontemporal_from;
    bool automatic = !strcmp(text, "auto"), off = !strcmp(text, "off");
    size_t from = SIZE_MAX;
    if (automatic)
        from = second_cache() * OUT;
    else if (!off && hm_parse_size(text, &from))
        hm_die(call, "SHMEM_NONTEMPORAL_FROM: \"%s\" is not understood; it is auto, off, or a number of bytes as in 16m", text);
    size_t ahead = second_cache() / AHEAD;
#ifndef __SSE2__
    ahead = from = SIZE_MAX; /* no such loads and stores here */
#endif
    hm_moves.out_from = from;
    hm_moves.in_from = automatic && from != SIZE_MAX ? from / OUT * IN : from;
    hm_moves.ahead_from = least(ahead, least(hm_moves.out_from, hm_moves.in_from));
}

#ifdef __SSE2__

enum { LINE = HM_LINE, STRETCH = 4096, STRETCHES = 4, STRETCH_AHEAD = 4 * HM_LINE, LINES_AHEAD = 2048 };

HM_INLINE void line_past_caches(char *to, const char *from)
{
    __m128i a = _mm_loadu_si128((const __m128i *)from), b = _mm_loadu_si128((const __m128i *)(from + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + 32)), d = _mm_loadu_si128((const __m128i *)(from + 48));
    _mm_stream_si128((__m128i *)to, a);
    _mm_stream_si128((__m128i *)(to + 16), b);
    _mm_stream_si128((__m128i *)(to + 32), c);
    _mm_stream_si128((__m128i *)(to + 48), d);
}

/* A line of each of four stretches in turn: the loads of one core then keep several pages of memory busy at once. */
static void block_past_caches(char *to, const char *from)
{
    for (size_t at = 0; at < STRETCH; at += LINE) {
        for (size_t i = 0; i < STRETCHES; i++) {
            size_t o = i * STRETCH + at;
            _mm_prefetch(from + o + STRETCH_AHEAD, _MM_HINT_T0);
            line_past_caches(to + o, from + o);
        }
    }
}

/* Such stores have no order with others, in neither direction: unlike all else on this machine a fence or an atomic of the
 * caller's behind this call, which cost nothing or are ordinary stores, would not do. */
void hm_move_past_caches(void *dest, const void *source, size_t bytes)
{
    char *to = dest;
    const char *from = source;
    size_t head = -(uintptr_t)to & (LINE - 1);
    if (head > bytes) head = bytes;
    _mm_sfence();
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= STRETCHES * STRETCH; to += STRETCHES * STRETCH, from += STRETCHES * STRETCH, bytes -= STRETCHES * STRETCH)
        block_past_caches(to, from);
    for (; bytes >= LINE; to += LINE, from += LINE, bytes -= LINE) line_past_caches(to, from);
    memcpy(to, from, bytes);
    _mm_sfence();
}

HM_INLINE void copy_line(char *to, const char *from)
{
    __m128i a = _mm_loadu_si128((const __m128i *)from), b = _mm_loadu_si128((const __m128i *)(from + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + 32)), d = _mm_loadu_si128((const __m128i *)(from + 48));
    _mm_storeu_si128((__m128i *)to, a);
    _mm_storeu_si128((__m128i *)(to + 16), b);
    _mm_storeu_si128((__m128i *)(to + 32), c);
    _mm_storeu_si128((__m128i *)(to + 48), d);
}

/* The line for oneself alone. Compilers have this instruction for newer processors only; older ones pass it over. */
HM_INLINE void fetch_to_write(const char *line) { __asm__ volatile("prefetchw %0" : : "m"(*line)); }

void hm_move_ahead(void *dest, const void *source, size_t bytes)
{
    char *to = dest;
    const char *from = source;
    for (; bytes >= LINES_AHEAD + LINE; to += LINE, from += LINE, bytes -= LINE) {
        _mm_prefetch(from + LINES_AHEAD, _MM_HINT_T0);
        fetch_to_write(to + LINES_AHEAD);
        copy_line(to, from);
    }
    memcpy(to, from, bytes);
}

#else

void hm_move_past_caches(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void hm_move_ahead(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

#endif

void hm_move_large(void *to, const void *from, size_t bytes, size_t past_caches_from)
{
    if (bytes >= past_caches_from)
        hm_move_past_caches(to, from, bytes);
    else
        hm_move_ahead(to, from, bytes);
}

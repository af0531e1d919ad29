/* Page-locked host memory, and copies of bytes. */
#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct locked {
    uintptr_t at;
    size_t bytes;
    bool allocated; /* by us, not only registered */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct locked *all; /* sorted */
static size_t n, room;

/* The place of the last one that begins at or below `at`, plus 1. */
static size_t behind(uintptr_t at)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (all[mid].at <= at) low = mid + 1;
        else high = mid;
    }
    return low;
}

static int add(uintptr_t at, size_t bytes, bool allocated)
{
    if (n == room) {
        size_t more = room ? 2 * room : 64;
        struct locked *bigger = realloc(all, more * sizeof *all);
        if (!bigger) return tw_fail(TW_NO_HOST_MEMORY, "no host memory");
        all = bigger;
        room = more;
    }
    size_t i = behind(at);
    if ((i && all[i - 1].at + all[i - 1].bytes > at) || (i < n && at + bytes > all[i].at))
        return tw_fail(TW_INVALID, "the host memory at %p is page-locked already", (void *)at);
    memmove(all + i + 1, all + i, (n - i) * sizeof *all);
    all[i] = (struct locked){at, bytes, allocated};
    n++;
    return TW_OK;
}

static int drop(uintptr_t at, bool allocated, size_t *bytes)
{
    size_t i = behind(at);
    if (!i || all[i - 1].at != at || all[i - 1].allocated != allocated)
        return tw_fail(TW_INVALID, "%p was not %s", (void *)at,
                       allocated ? "given out" : "registered");
    *bytes = all[i - 1].bytes;
    memmove(all + i - 1, all + i, (n - i) * sizeof *all);
    n--;
    return TW_OK;
}

int tw_host_malloc(size_t bytes, void **p)
{
    bytes = (bytes + 4095) / 4096 * 4096;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return tw_fail(TW_NO_HOST_MEMORY, "%zu bytes of host memory: %s", bytes, strerror(errno));
    pthread_rwlock_wrlock(&lock);
    int rc = add((uintptr_t)at, bytes, true);
    pthread_rwlock_unlock(&lock);
    if (rc) munmap(at, bytes);
    else *p = at;
    return rc;
}

int tw_host_free(void *p)
{
    size_t bytes = 0;
    pthread_rwlock_wrlock(&lock);
    int rc = drop((uintptr_t)p, true, &bytes);
    pthread_rwlock_unlock(&lock);
    if (rc == TW_OK) munmap(p, bytes);
    return rc;
}

int tw_host_pin(void *p, size_t bytes)
{
    pthread_rwlock_wrlock(&lock);
    int rc = add((uintptr_t)p, bytes, false);
    pthread_rwlock_unlock(&lock);
    return rc;
}

int tw_host_unpin(void *p)
{
    size_t bytes;
    pthread_rwlock_wrlock(&lock);
    int rc = drop((uintptr_t)p, false, &bytes);
    pthread_rwlock_unlock(&lock);
    return rc;
}

int tw_host_kind(const void *p, size_t bytes)
{
    pthread_rwlock_rdlock(&lock);
    size_t i = behind((uintptr_t)p);
    int kind = TW_PAGEABLE;
    if (i && (uintptr_t)p + bytes <= all[i - 1].at + all[i - 1].bytes)
        kind = all[i - 1].allocated ? TW_ALLOCATED : TW_PINNED;
    pthread_rwlock_unlock(&lock);
    return kind;
}

/* What the program has forgotten stays mapped: it may still be looked at. */
void tw_host_close(void)
{
    pthread_rwlock_wrlock(&lock);
    free(all);
    all = NULL;
    n = room = 0;
    pthread_rwlock_unlock(&lock);
}

/* --- bytes --- */

int tw_check_range(const void *p, size_t bytes)
{
    const char *at = p;
    if (!tw_is_device(at)) return TW_OK;
    while (bytes) {
        const struct tw_piece *piece = tw_piece_at(at);
        if (!piece) return tw_fail(TW_INVALID, "no device memory is behind the device address %p", (const void *)at);
        size_t left = piece->va + piece->bytes - (uintptr_t)at, k = bytes < left ? bytes : left;
        at += k;
        bytes -= k;
    }
    return TW_OK;
}

/* Where the CPU finds *p, and for how many of *bytes that holds. */
static char *found(const void *p, size_t *bytes)
{
    const struct tw_piece *piece = tw_piece_at(p);
    if (!piece) return (char *)p;
    size_t offset = (uintptr_t)p - piece->va;
    if (*bytes > piece->bytes - offset) *bytes = piece->bytes - offset;
    return piece->secret + offset;
}

void *tw_secret(const void *p, size_t bytes)
{
    size_t got = bytes;
    if (tw_is_device(p) && !tw_piece_at(p)) return NULL;
    char *at = found(p, &got);
    return got == bytes ? at : NULL;
}

void tw_copy_bytes(void *to, const void *from, size_t bytes)
{
    uintptr_t bits = (uintptr_t)to | (uintptr_t)from | bytes;
    if (bytes == 8 && !(bits & 7)) {
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        tw_word_changed();
    } else if (bytes == 4 && !(bits & 3))
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
    else memmove(to, from, bytes);
}

void tw_copy_now(void *to, const void *from, size_t bytes)
{
    while (bytes) {
        size_t k = bytes;
        char *source = found(from, &k), *target = found(to, &k);
        tw_copy_bytes(target, source, k);
        to = (char *)to + k;
        from = (const char *)from + k;
        bytes -= k;
    }
}

/* Zeroes of whole pages are taken away: device memory stays lazy. */
void tw_set_bytes(char *to, int byte, size_t bytes, bool shared)
{
    enum { PAGE = 65536 };
    if (byte == 0 && shared && bytes >= 4 * PAGE) {
        char *first = (char *)(((uintptr_t)to + PAGE - 1) / PAGE * PAGE),
             *last = (char *)((uintptr_t)(to + bytes) / PAGE * PAGE);
        if (!madvise(first, (size_t)(last - first), MADV_REMOVE)) {
            memset(to, 0, (size_t)(first - to));
            memset(last, 0, (size_t)(to + bytes - last));
            return;
        }
    }
    memset(to, byte, bytes);
}

void tw_set_now(void *to, int byte, size_t bytes)
{
    while (bytes) {
        size_t k = bytes;
        char *target = found(to, &k);
        tw_set_bytes(target, byte, k, tw_is_device(to));
        to = (char *)to + k;
        bytes -= k;
    }
}

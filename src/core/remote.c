#define _GNU_SOURCE
#include "core/remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "core/place.h"
#include "core/symm.h"
#include "core/world.h"
#include "memkind/memkind.h"

/* Where the range of all heaps is asked for, so that a PE's heap has the same address in every PE; only a wish. */
#define RANGE_WISH ((void *)0x200000000000)
#define HUGE_PAGE ((size_t)2 << 20)
#define MOST_ALIGN ((size_t)1 << 30)

static struct {
    char *at; /* the one range; NULL: mapped one by one */
    size_t bytes, stride;
} range;
static size_t work_bytes;
static struct hm_image data_layout;
static bool keep; /* the heaps stay mapped behind the last finalize */

void hm_remote_keep(bool on) { keep = on; }
bool hm_remote_keeps(void) { return keep; }

/* What the address of every heap is a multiple of, in every PE: an alignment up to this comes out of an offset alone. From a
 * huge page on, so that the kernel may use them; up to an eighth of the heap, which is what it may cost in addresses. */
static size_t heap_align(void)
{
    size_t align = HUGE_PAGE;
    while (align < MOST_ALIGN && align <= hm_symm.heap_size / 16) align *= 2;
    return align;
}

/* Behind each heap lies a page at least where nothing is mapped: an overrun faults, it does not reach the next PE. */
static size_t heap_stride(void) { return hm_round_up(hm_symm.heap_size + hm_os_page(), heap_align()); }

static char *reserve(size_t bytes, void *wish)
{
    size_t align = heap_align(), more = bytes + align;
    char *at = mmap(wish, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    char *begin = (char *)hm_round_up((uintptr_t)at, align), *end = begin + bytes;
    if (begin > at) munmap(at, (size_t)(begin - at));
    munmap(end, (size_t)(at + more - end));
    return begin;
}

static HM_COLD void no_address_space(size_t bytes, int error, int npes, const char *call)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        hm_die(call, "%d heaps of %zu bytes need %zu bytes of address space, but the limit is %llu (ulimit -v); raise the "
               "limit or set SHMEM_SYMMETRIC_SIZE lower", npes, hm_symm.heap_size, bytes,
               (unsigned long long)limit.rlim_cur);
    hm_die(call, "cannot map %d heaps of %zu bytes (%zu bytes of address space): %s; set SHMEM_SYMMETRIC_SIZE lower", npes,
           hm_symm.heap_size, bytes, strerror(error));
}

void hm_remote_map_heaps(const int *fds, int nfds, const char *call)
{
    int npes = hm_places.local_npes;
    range.stride = heap_stride();
    if (__builtin_mul_overflow(range.stride, (size_t)npes, &range.bytes)) no_address_space(SIZE_MAX, ENOMEM, npes, call);
    range.at = hm_options.bind_range ? reserve(range.bytes, RANGE_WISH) : NULL;
    for (int i = 0; i < npes; i++) {
        char *place = range.at ? range.at + (size_t)i * range.stride : reserve(range.stride, NULL);
        if (!place) no_address_space(range.bytes, errno, npes, call);
        void *at;
        int pe = hm_place_pe(i), e = hm_symm.heap_kind->map(fds[nfds * pe], hm_symm.heap_size, place, &at);
        if (e) no_address_space(range.bytes, -e, npes, call);
        hm_symm.peer[pe].heap = at;
    }
}

void hm_remote_map_work(const int *fds, int nfds, size_t bytes, const char *call)
{
    const struct hm_memkind *host = hm_memkind_find("host");
    work_bytes = bytes;
    for (int i = 0; i < hm_places.local_npes; i++) {
        void *at;
        int pe = hm_place_pe(i), e = host->map(fds[nfds * pe + 2], bytes, NULL, &at);
        if (e)
            hm_die(call, "cannot map the %zu bytes that PE %d has for the traffic between machines: %s", bytes, pe,
                   strerror(-e));
        hm_symm.peer[pe].work = at;
    }
}

void hm_remote_map_data(const int *fds, int nfds, const struct hm_image *image, const char *call)
{
    data_layout = *image;
    for (int i = 0; i < hm_places.local_npes; i++) {
        int pe = hm_place_pe(i);
        bool own = pe == hm_world.pe;
        hm_symm.peer[pe].data = own ? (char *)image->base : hm_image_map_peer(fds[nfds * pe + 1], image);
        if (!hm_symm.peer[pe].data)
            hm_die(call, "cannot map the static data of PE %d (%zu bytes): %s; SHMEM_STATIC=off does without", pe,
                   image->span, strerror(errno));
    }
}

/* What lies between the parts may be touched here: a card pins across it. */
char *hm_remote_map_data_again(void)
{
    char *at = hm_image_map_peer(data_layout.fd, &data_layout);
    if (!at || mprotect(at, data_layout.span, PROT_READ | PROT_WRITE) == 0) return at;
    hm_remote_unmap_data(at);
    return NULL;
}

void hm_remote_unmap_data(char *again) { hm_image_unmap_peer(again, &data_layout); }

void hm_remote_unmap(void)
{
    for (int i = 0; i < hm_places.local_npes; i++) {
        int pe = hm_place_pe(i);
        struct hm_peer *peer = &hm_symm.peer[pe];
        if (peer->data && pe != hm_world.pe) hm_image_unmap_peer(peer->data, &data_layout);
        if (peer->work) munmap(peer->work, work_bytes);
        if (!keep && !range.at && peer->heap) munmap(peer->heap, range.stride);
    }
    if (!keep && range.at) munmap(range.at, range.bytes);
    range.at = NULL;
}

/* Symmetric memory: from an address of this PE and a PE number to that PE's copy as it is mapped here.
 *
 * This is the way of every access, so it is arithmetic and one table load. Two segments are symmetric: the heap (up to
 * its top: what was never allocated is outside) and the executable's static data. What is in neither goes to the cold
 * path, which finds the owner's address by other means or says what is wrong: checking costs nothing on the good path.
 *
 * Under --check the limits here are 0, so that every access takes the cold path and is checked against the blocks; with
 * SHMEM_MAPPED=off too, so that it finds the transport.
 */
#ifndef HM_SYMM_H
#define HM_SYMM_H

#include "base/base.h"
#include "boot/job.h"

struct hm_peer {
    char *heap;             /* where that PE's heap begins here; NULL: not mapped */
    char *data;             /* where its static data begins here; NULL: not mapped */
    struct hm_bell *bell;   /* where its threads sleep; NULL: on another machine */
    struct hm_pe_page *page; /* NULL: on another machine */
    char *work;             /* its work memory (core/work.h); NULL: on another machine, or the job is on one */
};

struct hm_symm {
    uintptr_t heap_base;
    size_t heap_limit; /* the heap's top: end of the last page that holds a block */
    uintptr_t data_base;
    size_t data_limit;
    unsigned npes; /* 0 before init and after finalize: then nothing is symmetric */
    struct hm_peer *peer;
    /* not on the good path */
    const struct hm_memkind *heap_kind; /* what memory the heaps are of */
    size_t heap_size;             /* usable bytes of each heap */
    size_t real_heap_limit;       /* what heap_limit would be without --check */
    size_t real_data_limit;
    size_t data_span;             /* where static data lies even if it is not shared: data_base and this many bytes */
    const char *data_off_because; /* why static data is not shared; NULL: it is */
    const uint8_t *far;           /* [pe]: 1: accesses to that PE go through a transport; NULL: there is no such PE */
};
extern struct hm_symm hm_symm;

/* The copy of [addr, addr + bytes) on the PE of that entry, if it is in the heap, or in static data; else NULL. For bytes <= 16
 * (single elements) only the first byte is looked at: heap and data end on page boundaries, behind which nothing is mapped.
 * What is so short that a jump counts asks for each and has code of its own for each. */
HM_INLINE bool hm_symm_has(int pe) { return hm_likely((unsigned)pe < hm_symm.npes); }

HM_INLINE char *hm_symm_in_heap(const void *addr, size_t bytes, const struct hm_peer *peer)
{
    size_t o = (uintptr_t)addr - hm_symm.heap_base;
    bool small = __builtin_constant_p(bytes) && bytes <= 16;
    if (hm_unlikely(o >= hm_symm.heap_limit || (!small && bytes > hm_symm.heap_limit - o))) return NULL;
    return hm_likely(peer->heap != NULL) ? peer->heap + o : NULL;
}

HM_INLINE char *hm_symm_in_data(const void *addr, size_t bytes, const struct hm_peer *peer)
{
    size_t o = (uintptr_t)addr - hm_symm.data_base;
    bool small = __builtin_constant_p(bytes) && bytes <= 16;
    if (hm_unlikely(o >= hm_symm.data_limit || (!small && bytes > hm_symm.data_limit - o))) return NULL;
    return hm_likely(peer->data != NULL) ? peer->data + o : NULL;
}

/* The same of world PE `pe`, and that PE's entry; NULL where the cold path must decide. */
HM_INLINE char *hm_symm_map(const void *addr, size_t bytes, int pe, const struct hm_peer **peer)
{
    if (!hm_symm_has(pe)) return NULL;
    *peer = &hm_symm.peer[pe];
    char *at = hm_symm_in_heap(addr, bytes, *peer);
    return hm_likely(at != NULL) ? at : hm_symm_in_data(addr, bytes, *peer);
}

/* The cold path: the same, but NULL only where the address is right and that PE is reached through a transport, to
 * which far.h leads, or the address is of the device heap (device.h). Anything wrong ends the job with a sentence: before
 * init, PE out of range, address outside every segment, range that leaves its segment, (with --check) a range not inside
 * one allocated block, a PE to which nothing leads. `arg` is the name of the argument in the API. `bytes` may be 0 only if
 * the caller has dealt with empty transfers before. */
HM_COLD char *hm_symm_find(const void *addr, size_t bytes, int pe, const struct hm_peer **peer, const char *call,
                           const char *arg);

/* How every access finds its way: hm_symm_map and, where that has no answer, hm_symm_find. */
HM_INLINE char *hm_symm_reach(const void *addr, size_t bytes, int pe, const struct hm_peer **peer, const char *call,
                              const char *arg)
{
    char *at = hm_symm_map(addr, bytes, pe, peer);
    return hm_likely(at != NULL) ? at : hm_symm_find(addr, bytes, pe, peer, call, arg);
}

/* The same for what works on mapped memory alone (collectives within a machine, locks): never NULL. */
HM_COLD char *hm_symm_find_mapped(const void *addr, size_t bytes, int pe, const char *call, const char *arg);
HM_INLINE char *hm_symm_reach_mapped(const void *addr, size_t bytes, int pe, const char *call, const char *arg)
{
    const struct hm_peer *peer;
    char *at = hm_symm_map(addr, bytes, pe, &peer);
    return hm_likely(at != NULL) ? at : hm_symm_find_mapped(addr, bytes, pe, call, arg);
}

/* Is it plainly symmetric? False says nothing: the cold path decides. */
HM_INLINE bool hm_symm_is_plain(const void *addr, size_t bytes)
{
    size_t o = (uintptr_t)addr - hm_symm.heap_base;
    if (hm_likely(o < hm_symm.heap_limit && bytes <= hm_symm.heap_limit - o)) return true;
    o = (uintptr_t)addr - hm_symm.data_base;
    return o < hm_symm.data_limit && bytes <= hm_symm.data_limit - o;
}

/* At init: entries for all PEs, of nobody so far; -ENOMEM. Then, when those of this machine are mapped, the entries are
 * opened to all accesses; at finalize they are closed, and go. */
int hm_symm_make_peers(int npes);
void hm_symm_open_peers(int npes);
void hm_symm_close_peers(void);
void hm_symm_drop_peers(void);

/* False when options close the good path: the limits that hm_symm_map looks at are 0 then. */
bool hm_symm_is_open(void);

/* Is [addr, addr + bytes) symmetric here? No message. */
bool hm_symm_holds(const void *addr, size_t bytes);

/* The offset of a symmetric address in its segment, -1 if it is not symmetric. */
int64_t hm_symm_offset(const void *addr, bool *in_heap);

/* Local arguments that must be symmetric (collectives, locks, waits): ends the job with a sentence when not. */
void hm_symm_require(const void *addr, size_t bytes, const char *call, const char *arg);

/* With --check: ends the job with a sentence when the heap range is not inside one allocated block. */
void hm_symm_check_block(const void *addr, size_t bytes, const char *call, const char *arg);

/* What an address is, for messages: "on the stack", "in malloc memory", "in the data of libfoo.so", ... */
void hm_symm_describe(const void *addr, char *text, size_t size);

#endif

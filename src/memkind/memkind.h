/* Kinds of memory: where a symmetric heap lies, and how the other PEs of the machine get at it. The functions here are
 * those of memory that the CPU can touch; device.h has the others.
 *
 * A kind is one file that defines one `const struct hm_memkind`, and one line in kinds.def. A heap is made once, by its
 * owner; what leaves the owner is a descriptor, which travels to the peers over the bootstrap; each peer maps it. Nothing
 * here knows of PEs. Functions return 0 or -errno and set their outputs only on success; they may block for as long as the
 * device needs, never for another PE. Called by one thread at a time, except copy, set and finish.
 */
#ifndef HM_MEMKIND_H
#define HM_MEMKIND_H

#include "base/base.h"

struct hm_device_ops; /* device.h */

/* What the CPU may do with a mapping of this kind. The way that atomics on a word take follows from the kind of the
 * segment alone, so that CPU atomics and others never meet on one word. */
enum {
    HM_MEM_LOADS = 1,   /* loads and stores */
    HM_MEM_ATOMICS = 2, /* CPU atomics, and futexes */
    HM_MEM_PAGES = 4,   /* give_back and close work on whole pages */
};

struct hm_memkind {
    const char *name; /* as SHMEM_HEAP_KIND and shmem-info say it */
    unsigned can;     /* HM_MEM_ bits */

    /* How many devices of this kind there are (host memory is one). 0: none, and *why says so in a clause that lives for
     * ever. Must not change anything. */
    int (*devices)(const char **why);

    /* `bytes` bytes on a device, all zero, taken lazily where the kind can. *descriptor is close-on-exec and the caller's;
     * the memory lives until the last descriptor and the last mapping of it are gone. -EFBIG: a limit on file sizes
     * forbids it. */
    int (*make)(int device, size_t bytes, int *descriptor);

    /* Maps it: by its owner or by a peer. `place` is an address range that the caller has reserved (NULL: anywhere). The
     * range is left out of core files. Page-aligned. */
    int (*map)(int descriptor, size_t bytes, void *place, void **at);
    int (*unmap)(void *at, size_t bytes);

    /* Between two mappings of this kind, or one of them and private memory. A copy may be under way when the call returns:
     * finish waits until all that the calling thread began is done and seen by all who share the memory. */
    int (*copy)(void *to, const void *from, size_t bytes);
    int (*set)(void *to, int byte, size_t bytes);
    int (*finish)(void);

    /* Whole pages (HM_MEM_PAGES). give_back returns the memory of [offset, offset + bytes), which reads as zero afterwards
     * in every mapping. close makes any access through this one mapping a fault, open allows it again. */
    int (*give_back)(int descriptor, size_t offset, size_t bytes);
    int (*close)(void *at, size_t bytes);
    int (*open)(void *at, size_t bytes);

    /* Makes large pages of [at, at + bytes) in this mapping, if most of it is committed already. Contents stay, also while
     * others write. NULL: the kind has no such thing. */
    int (*merge)(void *at, size_t bytes);

    /* Pages of this mapping that somebody touches first from now on, through whatever mapping, lie near the caller, who owns
     * them. 0 also where there is nothing to choose. NULL: the kind has no such thing. */
    int (*keep_near)(void *at, size_t bytes);

    /* Memory that the CPU cannot touch: all but name, can and devices is in here, and NULL above. NULL: it can. */
    const struct hm_device_ops *device;
};

/* The kind of that name, NULL: no such. The i-th kind, NULL behind the last. */
const struct hm_memkind *hm_memkind_find(const char *name);
const struct hm_memkind *hm_memkind_at(unsigned i);

#endif

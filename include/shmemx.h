/* What hbmesh adds to OpenSHMEM. Functions are shmemx_, macros SHMEMX_; each function has a profiling twin pshmemx_ in
 * pshmem.h, and, as in shmem.h, generic forms in C11 and overloads in C++.
 *
 *   int shmemx_sync_pe(int pe)       declared in shmem.h: the caller and PE `pe` meet. The k-th call of one matches the
 *                                    k-th call of the other; with several threads in the order they arrive. With the
 *                                    caller's own number it returns at once. Completes stores as shmem_sync does, not
 *                                    puts: quiet first. shmem_sync(pe) is the same in C11 and C++. Returns 0.
 *   indexed access, aliases,         shmem/extension.h, where each is described
 *   counters
 *   SHMEMX_TEAM_NODE                 another name of SHMEM_TEAM_SHARED
 *   SHMEMX_MALLOC_NO_BARRIER         a hint: nobody needs the barrier at the end of shmem_malloc_with_hints. It is there
 *                                    anyway: in it the PEs compare what they ask for
 *   SHMEMX_HBMESH_MAJOR, ..._MINOR,  the version of this header (SHMEM_VENDOR_STRING names it, too)
 *   ..._PATCH, ..._VERSION
 *   shmemx_init_attr, get_uniqueid,  shmem/extension.h: init with rank, size and a unique id that the program hands over
 *   set_attr_uniqueid_args
 *   shmemx_agree, is_valid,          for libraries and languages on top of this one: shmem/extension.h
 *   keep_memory, claim_report,
 *   set_interrupt, is_descendant,
 *   other_copy
 *   SHMEMX_HAVE_SYNC_PE, ..._INDEXED, ..._PCNTR, ..._AGREE, ..._IS_VALID, ..._KEEP_MEMORY, ..._CLAIM_REPORT,
 *   ..._INTERRUPT, ..._IS_DESCENDANT, ..._OTHER_COPY, ..._INIT_ATTR
 *                                    defined where the feature is there
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#define SHMEMX_HAVE_SYNC_PE 1
#define SHMEMX_HAVE_INDEXED 1
#define SHMEMX_HAVE_PCNTR 1
#define SHMEMX_HAVE_AGREE 1
#define SHMEMX_HAVE_IS_VALID 1
#define SHMEMX_HAVE_KEEP_MEMORY 1
#define SHMEMX_HAVE_CLAIM_REPORT 1
#define SHMEMX_HAVE_INTERRUPT 1
#define SHMEMX_HAVE_IS_DESCENDANT 1
#define SHMEMX_HAVE_OTHER_COPY 1
#define SHMEMX_HAVE_INIT_ATTR 1
#define SHMEMX_HAVE_ON_STREAM 1

#define SHMEMX_INIT_WITH_UNIQUEID 1u

#define SHMEMX_AGREE_MAX 128 /* bytes */

/* What the functions _on_stream return beside 0: see shmem/extension.h. */
#define SHMEMX_STREAM_UNSUPPORTED (-95)
#define SHMEMX_STREAM_NO_MEMORY (-12)
#define SHMEMX_STREAM_LOST (-19)
#define SHMEMX_STREAM_REFUSED (-5)

#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
#define SHMEMX_MALLOC_NO_BARRIER (1L << 2)

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_API(ret, name, params) SHMEMX_CALL ret name params;
#include <shmem/extension.h>
#undef SHMEM_API

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus)
#include <shmem/overloadx.h>
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include <shmem/genericx.h>
#endif

#endif

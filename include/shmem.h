/* OpenSHMEM 1.6: one global memory of many processing elements (PEs).
 *
 * In C99 and later: the functions. In C11: also the type-generic forms, as in shmem_put(dest, source, n, pe).
 * In C++11 and later: the same forms as overloads. Extensions are in shmemx.h, the profiling twins in
 * pshmem.h.
 *
 * Before including it may be defined:
 *   SHMEM_WARN_DEPRECATED   the compiler warns about calls that the standard has deprecated
 *   SHMEMX_INLINE           calls for elements, small ranges and atomics are inlined: see shmem/inline.h
 *   SHMEM_PROFILE           not even then: a tool is to see each call
 */
#ifndef SHMEM_H
#define SHMEM_H

#include <shmem/types.h>

/* --- Version --- */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 256
#define SHMEM_VENDOR_STRING "hbmesh 0.1.0"

/* The library's own version, and its record in every unit: a program that was compiled with one version and
 * runs with another is told at init. */
#define SHMEMX_HBMESH_MAJOR 0
#define SHMEMX_HBMESH_MINOR 1
#define SHMEMX_HBMESH_PATCH 0
#define SHMEMX_HBMESH_VERSION (SHMEMX_HBMESH_MAJOR << 16 | SHMEMX_HBMESH_MINOR << 8 | SHMEMX_HBMESH_PATCH)
static const uint32_t shmem_header_version __attribute__((used, section("hbmesh_header"))) =
    SHMEMX_HBMESH_VERSION;

/* A call through the procedure linkage table costs a jump more; these go through the global offset table. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define SHMEMX_CALL __attribute__((noplt))
#endif
#endif
#ifndef SHMEMX_CALL
#define SHMEMX_CALL
#endif

/* Programs that provide for libraries of different completeness, shmem4py of PyPI among them, know one that has all of 1.5
 * by these names, which Sandia's headers define. */
#define SHMEM_DEF_H
#define SHMEM_FUNCTION_ATTRIBUTES SHMEMX_CALL

/* --- Constants --- */
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)
#define SHMEM_CTX_PRIVATE (1L << 0)
#define SHMEM_CTX_SERIALIZED (1L << 1)
#define SHMEM_CTX_NOSTORE (1L << 2)
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0)
#define SHMEM_CTX_SESSION_BATCH (1L << 0)
#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE (1L << 1)

/* The pSync and pWrk arrays of the active-set calls: this library does not touch them. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 16
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Spellings of before 1.3. */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* --- Handles and structures --- */

/* Handles are numbers in the clothes of pointers: one that has become stale is recognised, never followed. */
typedef struct shmem_team_handle *shmem_team_t;
typedef struct shmem_ctx_handle *shmem_ctx_t;

#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)0x10000aL)
#define SHMEM_TEAM_SHARED ((shmem_team_t)0x10001aL)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)0x10000cL)

typedef struct {
    int num_contexts;
} shmem_team_config_t;

typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

/* --- Functions --- */
#if defined(__cplusplus)
#define SHMEM_NORETURN [[noreturn]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SHMEM_NORETURN _Noreturn
#else
#define SHMEM_NORETURN __attribute__((noreturn))
#endif
#ifdef SHMEM_WARN_DEPRECATED
#define SHMEM_OLD __attribute__((deprecated))
#else
#define SHMEM_OLD
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_API(ret, name, params) SHMEMX_CALL ret name params;
#include <shmem/standard.h>
#undef SHMEM_API

/* Declared here and not in shmemx.h, because shmem_sync(pe) arrives at it. */
int shmemx_sync_pe(int pe);

/* A thread sanitizer would take the accesses of two threads to one element for a race of the program's. */
#if defined(__SANITIZE_THREAD__)
#define SHMEMX_WATCHES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHMEMX_WATCHES_THREADS 1
#endif
#endif
#if defined(SHMEMX_INLINE) && !defined(SHMEM_PROFILE) && !defined(SHMEMX_WATCHES_THREADS) && defined(__OPTIMIZE__) && \
    defined(__GNUC__) && defined(__LP64__)
#include <shmem/inline.h>
#endif

#ifdef __cplusplus
}
#endif

/* --- Generic forms --- */
#if defined(__cplusplus)
#include <shmem/overload.h>
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include <shmem/generic.h>
#endif

#endif

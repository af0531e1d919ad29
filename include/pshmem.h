/* The profiling twins: pshmem_X is what the library defines, shmem_X a weak name of it, so that a tool may
 * define its own shmem_X and call pshmem_X. Names without the prefix get a p: pstart_pes, p_my_pe, pshmalloc.
 *
 * In C11 four functions are also names of generic forms: a tool that defines shmem_sync, shmem_wait_until,
 * shmem_signal_add or shmem_signal_set writes the name in parentheses, void (shmem_sync)(int, int, int, long
 * *). */
#ifndef PSHMEM_H
#define PSHMEM_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_API(ret, name, params) ret p##name params;
#include <shmem/standard.h>
#include <shmem/extension.h>
#undef SHMEM_API
int pshmemx_sync_pe(int pe);

#ifdef __cplusplus
}
#endif

#endif

/* Linked into every executable by oshcc, by name: it runs before the first constructor of any shared object,
 * when surely no thread has been started yet. (Shared objects may not have a .preinit_array; oshcc leaves it
 * out there.)
 *
 * It also knows what the library cannot: every unit that includes shmem.h puts the version of that header
 * into the section "hbmesh_header", and the linker gathers them here. */
#include "core/early.h"

extern const unsigned __start_hbmesh_header[] __attribute__((weak, visibility("hidden")));
extern const unsigned __stop_hbmesh_header[] __attribute__((weak, visibility("hidden")));

static void start(int argc, char **argv, char **envp)
{
    shmemx_early_start(argc, argv, envp, __start_hbmesh_header, __stop_hbmesh_header);
}

typedef void entry_function(int, char **, char **);
__attribute__((section(".preinit_array"), used)) static entry_function *entry = start;

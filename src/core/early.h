/* Before the first constructor: what the object that oshcc links into executables (src/start) calls. */
#ifndef HM_EARLY_H
#define HM_EARLY_H

/* Exported, for that object alone. `begin` to `end`: the versions of shmem.h with which the executable's
 * units were compiled, each 0x00MMmmpp (major, minor, patch); both NULL when no unit says. */
__attribute__((visibility("default"))) void shmemx_early_start(int argc, char **argv, char **envp,
                                                               const void *begin, const void *end);

/* Did it run? (Not in a program that was linked without oshcc, or that loaded the library later.) */
int hm_early_ran(void);

/* 0 when every unit was compiled with a header of this library's major and minor version, or nothing is
 * known; else a sentence in `text` that names both versions, and -EINVAL. */
int hm_early_versions(char *text, unsigned long size);

#endif

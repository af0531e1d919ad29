#include "core/early.h"

#include "base/log.h"
#include "base/version.h"
#include "boot/boot.h"
#include "core/image.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const unsigned *versions, *versions_end;
static bool ran;

/* The first of that name, as getenv takes it. libc's own environ is not set up yet. */
static const char *find(char *const envp[], const char *name)
{
    size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (!strncmp(*envp, name, n) && (*envp)[n] == '=') return *envp + n + 1;
    return NULL;
}

/* What is malformed is reported at init, by the one parser of options. */
static bool says_off(const char *value)
{
    return value && (!strcasecmp(value, "off") || !strcasecmp(value, "no") || !strcasecmp(value, "false") ||
                     !strcmp(value, "0"));
}

void shmemx_early_start(int argc, char **argv, char **envp, const void *begin, const void *end)
{
    (void)argc, (void)argv;
    ran = true;
    versions = begin;
    versions_end = end;
    if (says_off(find(envp, "SHMEM_STATIC"))) return;
    const struct hm_boot *boot = hm_boot_find(envp); /* what is contradictory is reported at init, too */
    if (boot && strcmp(boot->name, "single") != 0) hm_image_share(true);
}

int hm_early_ran(void)
{
    return ran;
}

int hm_early_versions(char *text, unsigned long size)
{
    unsigned major = 0, minor = 0;
    if (sscanf(HM_VERSION, "%u.%u", &major, &minor) != 2) return 0;
    for (const unsigned *v = versions; v && v < versions_end; v++) {
        if (!*v || *v >> 8 == (major << 8 | minor)) continue; /* 0: padding of the linker */
        snprintf(
            text, size,
            "the program was compiled with shmem.h of hbmesh %u.%u.%u, but runs with library %s; compile "
            "it again with this library's oshcc, or run it with that version's library",
            *v >> 16, *v >> 8 & 0xff, *v & 0xff, HM_VERSION);
        return -EINVAL;
    }
    return 0;
}

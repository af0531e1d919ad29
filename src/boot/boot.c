#include "boot/boot.h"

#define HM_BOOT(name) extern const struct hm_boot hm_boot_##name;
#include "boot/boots.def"
#undef HM_BOOT

static const struct hm_boot *const boots[] = {
#define HM_BOOT(name) &hm_boot_##name,
#include "boot/boots.def"
#undef HM_BOOT
};

void (*hm_boot_idle)(void);

const struct hm_boot *hm_boot_find(char *const envp[])
{
    for (size_t i = 0; i < HM_COUNT(boots); i++)
        if (boots[i]->probe(envp)) return boots[i];
    return boots[HM_COUNT(boots) - 1];
}

bool hm_boot_descends(char *const envp[], int *pe, int *pid)
{
    for (size_t i = 0; i < HM_COUNT(boots); i++)
        if (boots[i]->descends(envp, pe, pid)) return true;
    return false;
}

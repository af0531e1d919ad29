#include "boot/boot.h"

#define HM_BOOT(name) extern const struct hm_boot hm_boot_##name;
#include "boot/boots.def"
#undef HM_BOOT

static const struct hm_boot *const boots[] = {
#define HM_BOOT(name) &hm_boot_##name,
#include "boot/boots.def"
#undef HM_BOOT
};

const struct hm_boot *hm_boot_find(char *const envp[])
{
    for (size_t i = 0; i < HM_COUNT(boots); i++)
        if (boots[i]->probe(envp)) return boots[i];
    return boots[HM_COUNT(boots) - 1];
}

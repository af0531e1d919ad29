#include "memkind/memkind.h"

#include <string.h>

#define HM_MEMKIND(name) extern const struct hm_memkind hm_memkind_##name;
#include "memkind/kinds.def"
#undef HM_MEMKIND

static const struct hm_memkind *const kinds[] = {
#define HM_MEMKIND(name) &hm_memkind_##name,
#include "memkind/kinds.def"
#undef HM_MEMKIND
};

const struct hm_memkind *hm_memkind_at(unsigned i) { return i < HM_COUNT(kinds) ? kinds[i] : NULL; }

const struct hm_memkind *hm_memkind_find(const char *name)
{
    for (unsigned i = 0; i < HM_COUNT(kinds); i++)
        if (!strcmp(kinds[i]->name, name)) return kinds[i];
    return NULL;
}

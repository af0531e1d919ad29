/* What this machine lets the library do. */
#ifndef HM_INFO_MACHINE_H
#define HM_INFO_MACHINE_H

#include "base/base.h"

struct hm_finding {
    const char *name;
    bool good;           /* false: the library takes its second choice */
    char state[160];     /* a value, "available", or what stands in the way */
    const char *instead; /* what the library does then; NULL: nothing else is needed */
};

/* The i-th facility, looked up now; false behind the last. */
bool hm_machine_look(unsigned i, struct hm_finding *finding);

#endif

/* Modules of the bootstraps: what needs a library of others', built where that is and loaded when it is needed. */
#ifndef HM_MODULE_H
#define HM_MODULE_H

#include "base/base.h"

/* Loads hbmesh/NAME from beside the library, for good, and returns what `symbol` names in it: a table that begins with the
 * version of the library that it was built with. NULL: there is none, or of another version; `why` says so. */
const void *hm_module_load(const char *name, const char *symbol, char *why, size_t size);

#endif

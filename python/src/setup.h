/* Between setup.c, interrupt.c and module.c. */
#ifndef PY_SETUP_H
#define PY_SETUP_H

#include <pthread.h>

#include "py.h"

void py_flush_streams(void); /* sys.stdout and sys.stderr; errors are nobody's business any more */

static inline int py_is_finalizing(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

#endif

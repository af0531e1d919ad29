/* The integer type of a wait. */
#ifndef HM_API_WAIT_H
#define HM_API_WAIT_H

#include "core/wait.h"

#define HM_WORD_OF(TYPE)                                                    \
    _Generic((TYPE)0, short                                                 \
             : HM_WORD_I16, unsigned short                                  \
             : HM_WORD_U16, int                                             \
             : HM_WORD_I32, unsigned                                        \
             : HM_WORD_U32, long                                            \
             : sizeof(long) == 8 ? HM_WORD_I64 : HM_WORD_I32, unsigned long \
             : sizeof(long) == 8 ? HM_WORD_U64 : HM_WORD_U32, long long     \
             : HM_WORD_I64, unsigned long long                              \
             : HM_WORD_U64)

#endif

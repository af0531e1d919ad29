/* The machine type of a reduction. */
#ifndef HM_API_COLL_H
#define HM_API_COLL_H

#include <limits.h>

#include "coll/coll.h"

#define HM_KIND_OF(TYPE)                                                         \
    _Generic((TYPE)0, char                                                       \
             : CHAR_MIN < 0 ? HM_KIND_I8 : HM_KIND_U8, signed char               \
             : HM_KIND_I8, short                                                 \
             : HM_KIND_I16, int                                                  \
             : HM_KIND_I32, long                                                 \
             : sizeof(long) == 8 ? HM_KIND_I64 : HM_KIND_I32, long long          \
             : HM_KIND_I64, unsigned char                                        \
             : HM_KIND_U8, unsigned short                                        \
             : HM_KIND_U16, unsigned int                                         \
             : HM_KIND_U32, unsigned long                                        \
             : sizeof(long) == 8 ? HM_KIND_U64 : HM_KIND_U32, unsigned long long \
             : HM_KIND_U64, float                                                \
             : HM_KIND_F32, double                                               \
             : HM_KIND_F64, long double                                          \
             : HM_KIND_LD, float _Complex                                        \
             : HM_KIND_CF, double _Complex                                       \
             : HM_KIND_CD)

#endif

/* Values of the atomic types and the 64 bits in which they travel. */
#ifndef HM_API_AMO_H
#define HM_API_AMO_H

#include <string.h>

#include "base/base.h"

HM_INLINE uint64_t hm_bits_of_integer(uint64_t value)
{
    return value;
}
HM_INLINE uint64_t hm_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
HM_INLINE uint64_t hm_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
#define HM_BITS(value)                    \
    _Generic((value), float               \
             : hm_bits_of_float, double   \
             : hm_bits_of_double, default \
             : hm_bits_of_integer)(value)

HM_INLINE uint64_t hm_integer_of_bits(uint64_t bits)
{
    return bits;
}
HM_INLINE float hm_float_of_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
HM_INLINE double hm_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#define HM_VALUE(TYPE, bits)                     \
    (TYPE) _Generic((TYPE)0, float               \
                    : hm_float_of_bits, double   \
                    : hm_double_of_bits, default \
                    : hm_integer_of_bits)(bits)

/* An atomic in a body of HM_API_BOTH. */
#define HM_AMO(op, addr, value, cond) hm_amo(c, op, (void *)(addr), value, cond, sizeof *(addr), pe, call)
/* The same, with the value to `fetch`. */
#define HM_AMO_NBI(op, fetch, addr, value, cond) \
    hm_amo_nbi(c, op, (void *)(addr), value, cond, sizeof *(addr), pe, call, fetch)

#endif

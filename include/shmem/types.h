/* The type tables of OpenSHMEM 1.6, each in one place. Prototypes, profiling twins, C11 generics, C++
 * overloads and the bodies in the library are all expansions of these.
 *
 * X(TYPE, NAME) is one row: the C type and the name it has in functions, as in shmem_NAME_put(TYPE *, ...).
 */
#ifndef SHMEM_TYPES_H
#define SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* C++ knows complex numbers of C as an extension only; strict modes want to be asked nicely. */
#ifdef __cplusplus
__extension__ typedef float _Complex shmem_complexf_t;
__extension__ typedef double _Complex shmem_complexd_t;
#define SHMEM_COMPLEXF shmem_complexf_t
#define SHMEM_COMPLEXD shmem_complexd_t
#else
#define SHMEM_COMPLEXF float _Complex
#define SHMEM_COMPLEXD double _Complex
#endif

/* --- standard RMA types: put, get, p, g, strided forms, put with signal, broadcast, collect, alltoall;
 *     also the types of maximum and minimum --- */
#define SHMEM_RMA_TYPES(X)           \
    X(float, float)                  \
    X(double, double)                \
    X(long double, longdouble)       \
    X(char, char)                    \
    X(signed char, schar)            \
    X(short, short)                  \
    X(int, int)                      \
    X(long, long)                    \
    X(long long, longlong)           \
    X(unsigned char, uchar)          \
    X(unsigned short, ushort)        \
    X(unsigned int, uint)            \
    X(unsigned long, ulong)          \
    X(unsigned long long, ulonglong) \
    X(int8_t, int8)                  \
    X(int16_t, int16)                \
    X(int32_t, int32)                \
    X(int64_t, int64)                \
    X(uint8_t, uint8)                \
    X(uint16_t, uint16)              \
    X(uint32_t, uint32)              \
    X(uint64_t, uint64)              \
    X(size_t, size)                  \
    X(ptrdiff_t, ptrdiff)

/* Sized forms: X(BITS, BYTES). */
#define SHMEM_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

/* --- atomics --- */
#define SHMEM_AMO_TYPES(X)           \
    X(int, int)                      \
    X(long, long)                    \
    X(long long, longlong)           \
    X(unsigned int, uint)            \
    X(unsigned long, ulong)          \
    X(unsigned long long, ulonglong) \
    X(int32_t, int32)                \
    X(int64_t, int64)                \
    X(uint32_t, uint32)              \
    X(uint64_t, uint64)              \
    X(size_t, size)                  \
    X(ptrdiff_t, ptrdiff)

/* fetch, set, swap */
#define SHMEM_AMO_EXTENDED_TYPES(X) X(float, float) X(double, double) SHMEM_AMO_TYPES(X)

#define SHMEM_AMO_BITWISE_TYPES(X)   \
    X(unsigned int, uint)            \
    X(unsigned long, ulong)          \
    X(unsigned long long, ulonglong) \
    X(int32_t, int32)                \
    X(int64_t, int64)                \
    X(uint32_t, uint32)              \
    X(uint64_t, uint64)

/* The atomics of before 1.4: fetch, set, swap; cswap, finc, inc, fadd, add. The standard has them for int,
 * long and long long (and fetch, set and swap for float and double); programs in use have come to expect all
 * types of their successors. */
#define SHMEM_OLD_AMO_EXTENDED_TYPES(X) SHMEM_AMO_EXTENDED_TYPES(X)
#define SHMEM_OLD_AMO_TYPES(X) SHMEM_AMO_TYPES(X)

/* --- waits and tests: the standard asks for the small ones only in wait_until and test --- */
#define SHMEM_WAIT_TYPES(X) X(short, short) X(unsigned short, ushort) SHMEM_AMO_TYPES(X)

/* wait, of before 1.4 */
#define SHMEM_OLD_WAIT_TYPES(X) X(short, short) X(int, int) X(long, long) X(long long, longlong)

/* --- reductions of teams --- */
#define SHMEM_REDUCE_BITWISE_TYPES(X) \
    X(unsigned char, uchar)           \
    X(unsigned short, ushort)         \
    X(unsigned int, uint)             \
    X(unsigned long, ulong)           \
    X(unsigned long long, ulonglong)  \
    X(int8_t, int8)                   \
    X(int16_t, int16)                 \
    X(int32_t, int32)                 \
    X(int64_t, int64)                 \
    X(uint8_t, uint8)                 \
    X(uint16_t, uint16)               \
    X(uint32_t, uint32)               \
    X(uint64_t, uint64)               \
    X(size_t, size)                   \
    SHMEM_REDUCE_BITWISE_1_5_TYPES(X)
/* 1.5 had these too, in a table that 1.6 dropped. */
#define SHMEM_REDUCE_BITWISE_1_5_TYPES(X) X(short, short) X(int, int) X(long, long) X(long long, longlong)
#define SHMEM_REDUCE_COMPARE_TYPES(X) SHMEM_RMA_TYPES(X)
/* sum and product; the scans are sums */
#define SHMEM_REDUCE_ARITHMETIC_TYPES(X) \
    SHMEM_RMA_TYPES(X) X(SHMEM_COMPLEXD, complexd) X(SHMEM_COMPLEXF, complexf)

/* --- reductions of active sets (to_all) --- */
#define SHMEM_TO_ALL_BITWISE_TYPES(X) X(short, short) X(int, int) X(long, long) X(long long, longlong)
#define SHMEM_TO_ALL_COMPARE_TYPES(X) \
    SHMEM_TO_ALL_BITWISE_TYPES(X) X(float, float) X(double, double) X(long double, longdouble)
#define SHMEM_TO_ALL_ARITHMETIC_TYPES(X) \
    SHMEM_TO_ALL_COMPARE_TYPES(X) X(SHMEM_COMPLEXD, complexd) X(SHMEM_COMPLEXF, complexf)

/* --- the distinct types of the tables above ---
 *
 * int32_t, size_t and the like are other names of standard types, and neither _Generic nor overloads take a
 * type twice. X(TYPE, NAME, a, z): a and z are handed through.
 */
#define SHMEM_DISTINCT_RMA_TYPES(X, a, z) \
    X(float, float, a, z)                 \
    X(double, double, a, z)               \
    X(long double, longdouble, a, z)      \
    X(char, char, a, z)                   \
    X(signed char, schar, a, z)           \
    X(short, short, a, z)                 \
    X(int, int, a, z)                     \
    X(long, long, a, z)                   \
    X(long long, longlong, a, z)          \
    X(unsigned char, uchar, a, z)         \
    X(unsigned short, ushort, a, z)       \
    X(unsigned int, uint, a, z)           \
    X(unsigned long, ulong, a, z)         \
    X(unsigned long long, ulonglong, a, z)

#define SHMEM_DISTINCT_AMO_TYPES(X, a, z) \
    X(int, int, a, z)                     \
    X(long, long, a, z)                   \
    X(long long, longlong, a, z)          \
    X(unsigned int, uint, a, z)           \
    X(unsigned long, ulong, a, z)         \
    X(unsigned long long, ulonglong, a, z)

#define SHMEM_DISTINCT_AMO_EXTENDED_TYPES(X, a, z) \
    X(float, float, a, z) X(double, double, a, z) SHMEM_DISTINCT_AMO_TYPES(X, a, z)

/* The signed ones are reached through the exact-width names: whichever of long and long long is int64_t. */
#if defined(__LP64__) || defined(_LP64)
#define SHMEM_INT64_IS(X, a, z) X(long, int64, a, z)
#else
#define SHMEM_INT64_IS(X, a, z) X(long long, int64, a, z)
#endif
#define SHMEM_DISTINCT_AMO_BITWISE_TYPES(X, a, z) \
    X(unsigned int, uint, a, z)                   \
    X(unsigned long, ulong, a, z)                 \
    X(unsigned long long, ulonglong, a, z)        \
    X(int, int32, a, z)                           \
    SHMEM_INT64_IS(X, a, z)

#define SHMEM_DISTINCT_OLD_AMO_TYPES SHMEM_DISTINCT_AMO_TYPES
#define SHMEM_DISTINCT_OLD_AMO_EXTENDED_TYPES SHMEM_DISTINCT_AMO_EXTENDED_TYPES

#define SHMEM_DISTINCT_WAIT_TYPES(X, a, z) SHMEM_DISTINCT_WAIT_BUT_LONG_TYPES(X, a, z) X(long, long, a, z)
/* In C++ the C function shmem_wait_until(long *, ...) is the overload for long. */
#define SHMEM_DISTINCT_WAIT_BUT_LONG_TYPES(X, a, z) \
    X(short, short, a, z)                           \
    X(unsigned short, ushort, a, z)                 \
    X(int, int, a, z)                               \
    X(long long, longlong, a, z)                    \
    X(unsigned int, uint, a, z)                     \
    X(unsigned long, ulong, a, z)                   \
    X(unsigned long long, ulonglong, a, z)

#define SHMEM_DISTINCT_REDUCE_BITWISE_TYPES(X, a, z) \
    X(signed char, int8, a, z)                       \
    X(short, short, a, z)                            \
    X(int, int, a, z)                                \
    X(long, long, a, z)                              \
    X(long long, longlong, a, z)                     \
    X(unsigned char, uchar, a, z)                    \
    X(unsigned short, ushort, a, z)                  \
    X(unsigned int, uint, a, z)                      \
    X(unsigned long, ulong, a, z)                    \
    X(unsigned long long, ulonglong, a, z)

#define SHMEM_DISTINCT_REDUCE_ARITHMETIC_TYPES(X, a, z) \
    SHMEM_DISTINCT_RMA_TYPES(X, a, z) X(SHMEM_COMPLEXD, complexd, a, z) X(SHMEM_COMPLEXF, complexf, a, z)

/* Accumulation of indexed elements (shmemx.h). */
#define SHMEM_ACCUMULATE_TYPES(X) SHMEM_AMO_EXTENDED_TYPES(X)
#define SHMEM_DISTINCT_ACCUMULATE_TYPES(X, a, z) SHMEM_DISTINCT_AMO_EXTENDED_TYPES(X, a, z)

/* Whatever may be a PE number in shmem_sync(pe). */
#define SHMEM_DISTINCT_INTEGER_TYPES(X, a, z) \
    X(int, int, a, z)                         \
    X(long, long, a, z)                       \
    X(long long, longlong, a, z)              \
    X(unsigned int, uint, a, z)               \
    X(unsigned long, ulong, a, z)             \
    X(unsigned long long, ulonglong, a, z)    \
    X(short, short, a, z)                     \
    X(unsigned short, ushort, a, z)           \
    X(char, char, a, z)                       \
    X(signed char, schar, a, z)               \
    X(unsigned char, uchar, a, z)

#endif

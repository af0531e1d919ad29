#include "coll/kernel.h"

/* An element depends on none but its own operands, also where `to` is one of them: the loops become vector code. */
#if defined __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Vectors of 16 bytes, which all processors have, do double sums as fast as they come from memory; for products and the larger of
 * two 64-bit integers they need several instructions, so there is a second set for processors that have AVX2. The elements are
 * independent, and there is no fused multiplication in it: both give the same bits. */
#if defined __x86_64__ && !defined __AVX2__
#define WIDE(name, T, expression) __attribute__((target("avx2"))) LOOP_IN(name##_wide, T, expression)
#define SETS 2
#else
#define WIDE(name, T, expression)
#define SETS 1
#endif

/* One loop; signed sums and products are formed unsigned (U, wide enough to escape promotion to int), so that they wrap
 * instead of being undefined. */
#define LOOP(name, T, expression)                                                                                      \
    LOOP_IN(name, T, expression)                                                                                       \
    WIDE(name, T, expression)
#define LOOP_IN(name, T, expression)                                                                                   \
    static void name(void *to, const void *left, const void *right, size_t n)                                          \
    {                                                                                                                  \
        T *result = to;                                                                                                \
        const T *a = left, *b = right;                                                                                 \
        INDEPENDENT                                                                                                    \
        for (size_t i = 0; i < n; i++) result[i] = (T)(expression);                                                    \
    }

#define BITS(K, T)                                                                                                     \
    LOOP(K##_and, T, a[i] & b[i])                                                                                      \
    LOOP(K##_or, T, a[i] | b[i])                                                                                       \
    LOOP(K##_xor, T, a[i] ^ b[i])
#define ORDER(K, T)                                                                                                    \
    LOOP(K##_max, T, a[i] > b[i] ? a[i] : b[i])                                                                        \
    LOOP(K##_min, T, a[i] < b[i] ? a[i] : b[i])
#define ARITHMETIC(K, T, U)                                                                                            \
    LOOP(K##_sum, T, (U)a[i] + (U)b[i])                                                                                \
    LOOP(K##_prod, T, (U)a[i] * (U)b[i])

#define INTEGERS(X)                                                                                                    \
    X(I8, int8_t, uint32_t)                                                                                            \
    X(I16, int16_t, uint32_t)                                                                                          \
    X(I32, int32_t, uint32_t)                                                                                          \
    X(I64, int64_t, uint64_t)                                                                                          \
    X(U8, uint8_t, uint32_t)                                                                                           \
    X(U16, uint16_t, uint32_t)                                                                                         \
    X(U32, uint32_t, uint32_t)                                                                                         \
    X(U64, uint64_t, uint64_t)
#define REALS(X)                                                                                                       \
    X(F32, float, float)                                                                                               \
    X(F64, double, double)                                                                                             \
    X(LD, long double, long double)
#define COMPLEXES(X)                                                                                                   \
    X(CF, float _Complex, float _Complex)                                                                              \
    X(CD, double _Complex, double _Complex)

#define MAKE_INTEGER(K, T, U) BITS(K, T) ORDER(K, T) ARITHMETIC(K, T, U)
#define MAKE_REAL(K, T, U) ORDER(K, T) ARITHMETIC(K, T, U)
#define MAKE_COMPLEX(K, T, U) ARITHMETIC(K, T, U)
INTEGERS(MAKE_INTEGER)
REALS(MAKE_REAL)
COMPLEXES(MAKE_COMPLEX)

#define ROW_ARITHMETIC(K, set) [HM_OP_SUM] = K##_sum##set, [HM_OP_PROD] = K##_prod##set
#define ROW_ORDER(K, set) [HM_OP_MAX] = K##_max##set, [HM_OP_MIN] = K##_min##set
#define ROW_BITS(K, set) [HM_OP_AND] = K##_and##set, [HM_OP_OR] = K##_or##set, [HM_OP_XOR] = K##_xor##set
#define INTEGER_ROW_OF(K, set) [HM_KIND_##K] = {ROW_BITS(K, set), ROW_ORDER(K, set), ROW_ARITHMETIC(K, set)},
#define REAL_ROW_OF(K, set) [HM_KIND_##K] = {ROW_ORDER(K, set), ROW_ARITHMETIC(K, set)},
#define COMPLEX_ROW_OF(K, set) [HM_KIND_##K] = {ROW_ARITHMETIC(K, set)},
#define INTEGER_ROW(K, T, U) INTEGER_ROW_OF(K, )
#define REAL_ROW(K, T, U) REAL_ROW_OF(K, )
#define COMPLEX_ROW(K, T, U) COMPLEX_ROW_OF(K, )
#define INTEGER_ROW_WIDE(K, T, U) INTEGER_ROW_OF(K, _wide)
#define REAL_ROW_WIDE(K, T, U) REAL_ROW_OF(K, _wide)
#define COMPLEX_ROW_WIDE(K, T, U) COMPLEX_ROW_OF(K, _wide)
static hm_kernel *const kernels[SETS][HM_KINDS][HM_OPS] = {
    {INTEGERS(INTEGER_ROW) REALS(REAL_ROW) COMPLEXES(COMPLEX_ROW)},
#if SETS > 1
    {INTEGERS(INTEGER_ROW_WIDE) REALS(REAL_ROW_WIDE) COMPLEXES(COMPLEX_ROW_WIDE)},
#endif
};

/* The set for this processor. */
static int best_set(void)
{
#if SETS > 1
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

hm_kernel *hm_kernel_of(enum hm_kind kind, enum hm_op op) { return kernels[best_set()][kind][op]; }

#define SIZE(K, T, U) [HM_KIND_##K] = sizeof(T),
static const uint8_t sizes[HM_KINDS] = {INTEGERS(SIZE) REALS(SIZE) COMPLEXES(SIZE)};

size_t hm_kind_size(enum hm_kind kind) { return sizes[kind]; }

#include "coll/kernel.h"

/* An element depends on none but its own operands, also where `to` is one of them: the loops become vector code. */
#if defined __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* One loop; signed sums and products are formed unsigned (U, wide enough to escape promotion to int), so that they wrap
 * instead of being undefined. */
#define LOOP(name, T, expression)                                                                                      \
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

#define ROW_ARITHMETIC(K) [HM_OP_SUM] = K##_sum, [HM_OP_PROD] = K##_prod
#define ROW_ORDER(K) [HM_OP_MAX] = K##_max, [HM_OP_MIN] = K##_min
#define ROW_BITS(K) [HM_OP_AND] = K##_and, [HM_OP_OR] = K##_or, [HM_OP_XOR] = K##_xor
#define INTEGER_ROW(K, T, U) [HM_KIND_##K] = {ROW_BITS(K), ROW_ORDER(K), ROW_ARITHMETIC(K)},
#define REAL_ROW(K, T, U) [HM_KIND_##K] = {ROW_ORDER(K), ROW_ARITHMETIC(K)},
#define COMPLEX_ROW(K, T, U) [HM_KIND_##K] = {ROW_ARITHMETIC(K)},
static hm_kernel *const kernels[HM_KINDS][HM_OPS] = {INTEGERS(INTEGER_ROW) REALS(REAL_ROW) COMPLEXES(COMPLEX_ROW)};

hm_kernel *hm_kernel_of(enum hm_kind kind, enum hm_op op) { return kernels[kind][op]; }

#define SIZE(K, T, U) [HM_KIND_##K] = sizeof(T),
static const uint8_t sizes[HM_KINDS] = {INTEGERS(SIZE) REALS(SIZE) COMPLEXES(SIZE)};

size_t hm_kind_size(enum hm_kind kind) { return sizes[kind]; }

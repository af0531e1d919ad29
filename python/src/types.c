/* The table of types: OpenSHMEM's names and NumPy's dtypes. */
#include "ops.h"

#if NPY_ABI_VERSION < 0x02000000
#define PyDataType_ELSIZE(descr) ((descr)->elsize)
#endif

#define NUM_OF(TYPE)                                            \
    _Generic((TYPE)0, float                                     \
             : NPY_FLOAT, double                                \
             : NPY_DOUBLE, long double                          \
             : NPY_LONGDOUBLE, char                             \
             : (char)-1 < 0 ? NPY_BYTE : NPY_UBYTE, signed char \
             : NPY_BYTE, short                                  \
             : NPY_SHORT, int                                   \
             : NPY_INT, long                                    \
             : NPY_LONG, long long                              \
             : NPY_LONGLONG, unsigned char                      \
             : NPY_UBYTE, unsigned short                        \
             : NPY_USHORT, unsigned int                         \
             : NPY_UINT, unsigned long                          \
             : NPY_ULONG, unsigned long long                    \
             : NPY_ULONGLONG, SHMEM_COMPLEXF                    \
             : NPY_CFLOAT, SHMEM_COMPLEXD                       \
             : NPY_CDOUBLE)
#define CLASS_OF(TYPE)                                             \
    _Generic((TYPE)0, float                                        \
             : PY_FLOATING, double                                 \
             : PY_FLOATING, long double                            \
             : PY_FLOATING, SHMEM_COMPLEXF                         \
             : PY_COMPLEX, SHMEM_COMPLEXD                          \
             : PY_COMPLEX, char                                    \
             : (char)-1 < 0 ? PY_SIGNED : PY_UNSIGNED, signed char \
             : PY_SIGNED, short                                    \
             : PY_SIGNED, int                                      \
             : PY_SIGNED, long                                     \
             : PY_SIGNED, long long                                \
             : PY_SIGNED, default                                  \
             : PY_UNSIGNED)

#define INDEX(TYPE, NAME) TYPE_##NAME,
enum { SHMEM_REDUCE_ARITHMETIC_TYPES(INDEX) TYPES };

/* The rows first, then what each can do, from the tables of the standard. */
#define ROW(TYPE, NAME) \
    [TYPE_##NAME] = {.name = #NAME, .num = NUM_OF(TYPE), .class = CLASS_OF(TYPE), .size = sizeof(TYPE)},
#define RMA(TYPE, NAME) [TYPE_##NAME].rma = true,
#define AMO(TYPE, NAME) [TYPE_##NAME].amo = true,
#define AMO_EXT(TYPE, NAME) [TYPE_##NAME].amo_ext = true,
#define AMO_BITS(TYPE, NAME) [TYPE_##NAME].amo_bits = true,
#define WAIT(TYPE, NAME) [TYPE_##NAME].wait = true,
#define REDUCE_BITS(TYPE, NAME) [TYPE_##NAME].reduce_bits = true,
#define REDUCE_ORDER(TYPE, NAME) [TYPE_##NAME].reduce_order = true,
#define REDUCE_SUM(TYPE, NAME) [TYPE_##NAME].reduce_sum = true,
#define ACCUMULATE(TYPE, NAME) [TYPE_##NAME].accumulate = true,

const struct py_type py_types[] = {
    SHMEM_REDUCE_ARITHMETIC_TYPES(ROW) SHMEM_RMA_TYPES(RMA) SHMEM_AMO_TYPES(AMO)
        SHMEM_AMO_EXTENDED_TYPES(AMO_EXT) SHMEM_AMO_BITWISE_TYPES(AMO_BITS) SHMEM_WAIT_TYPES(WAIT)
            SHMEM_REDUCE_BITWISE_TYPES(REDUCE_BITS) SHMEM_REDUCE_COMPARE_TYPES(REDUCE_ORDER)
                SHMEM_REDUCE_ARITHMETIC_TYPES(REDUCE_SUM) SHMEM_ACCUMULATE_TYPES(ACCUMULATE)};
const int py_types_count = TYPES;

bool py_type_has(const struct py_type *t, enum py_feature feature)
{
    switch (feature) {
    case PY_F_NONE:
        return true;
    case PY_F_RMA:
        return t->rma;
    case PY_F_AMO:
        return t->amo;
    case PY_F_AMO_EXT:
        return t->amo_ext;
    case PY_F_AMO_BITS:
        return t->amo_bits;
    case PY_F_WAIT:
        return t->wait;
    case PY_F_REDUCE_BITS:
        return t->reduce_bits;
    case PY_F_REDUCE_ORDER:
        return t->reduce_order;
    case PY_F_REDUCE_SUM:
        return t->reduce_sum;
    case PY_F_ACCUMULATE:
        return t->accumulate;
    }
    return false;
}

/* --- NumPy's numbers --- */

enum { NUMBERS = NPY_CLONGDOUBLE + 1, FEATURES = PY_F_ACCUMULATE + 1 };

/* Class and size of NumPy's numbers; size 0: the API has no such class. */
static const struct {
    unsigned char class, size;
} machine[NUMBERS] = {
    [NPY_BYTE] = {PY_SIGNED, sizeof(signed char)},
    [NPY_UBYTE] = {PY_UNSIGNED, sizeof(char)},
    [NPY_SHORT] = {PY_SIGNED, sizeof(short)},
    [NPY_USHORT] = {PY_UNSIGNED, sizeof(short)},
    [NPY_INT] = {PY_SIGNED, sizeof(int)},
    [NPY_UINT] = {PY_UNSIGNED, sizeof(int)},
    [NPY_LONG] = {PY_SIGNED, sizeof(long)},
    [NPY_ULONG] = {PY_UNSIGNED, sizeof(long)},
    [NPY_LONGLONG] = {PY_SIGNED, sizeof(long long)},
    [NPY_ULONGLONG] = {PY_UNSIGNED, sizeof(long long)},
    [NPY_FLOAT] = {PY_FLOATING, sizeof(float)},
    [NPY_DOUBLE] = {PY_FLOATING, sizeof(double)},
    [NPY_LONGDOUBLE] = {PY_FLOATING, sizeof(long double)},
    [NPY_CFLOAT] = {PY_COMPLEX, 2 * sizeof(float)},
    [NPY_CDOUBLE] = {PY_COMPLEX, 2 * sizeof(double)},
};

size_t py_descr_size(const PyArray_Descr *descr)
{
    return (size_t)PyDataType_ELSIZE((PyArray_Descr *)descr);
}

static bool is_machine_number(const PyArray_Descr *descr)
{
    return descr->type_num >= 0 && descr->type_num < NUMBERS && PyArray_ISNBO(descr->byteorder);
}

bool py_descr_is_number(const PyArray_Descr *descr)
{
    return (descr->type_num >= 0 && descr->type_num < NUMBERS) || descr->type_num == NPY_HALF;
}

bool py_type_fits(const struct py_type *t, const PyArray_Descr *descr)
{
    return is_machine_number(descr) && machine[descr->type_num].size == t->size &&
           machine[descr->type_num].class == t->class;
}

static const struct py_type *first_with(const PyArray_Descr *descr, enum py_feature feature)
{
    for (int i = 0; i < TYPES; i++)
        if (py_type_fits(&py_types[i], descr) && py_type_has(&py_types[i], feature)) return &py_types[i];
    return NULL;
}

const struct py_type *py_type_with(const PyArray_Descr *descr, enum py_feature feature)
{
    static struct {
        bool known;
        const struct py_type *type;
    } found[NUMBERS][FEATURES];
    if (!is_machine_number(descr)) return NULL;
    if (py_unlikely(!found[descr->type_num][feature].known)) {
        found[descr->type_num][feature].type = first_with(descr, feature);
        found[descr->type_num][feature].known = true;
    }
    return found[descr->type_num][feature].type;
}

const struct py_type *py_type_of(const PyArray_Descr *descr)
{
    return py_type_with(descr, PY_F_NONE);
}

bool py_type_is_plain(const PyArray_Descr *descr)
{
    return descr->type_num != NPY_OBJECT && !PyDataType_REFCHK((PyArray_Descr *)descr) &&
           py_descr_size(descr) > 0;
}

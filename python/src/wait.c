/* Waits and tests: until words of this PE's memory, which others change, are as wanted. */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

enum scope { ONE, ALL, ANY, SOME };

struct wait_call {
    enum scope scope;
    bool test, vector;
    const struct py_type *type;
    struct py_operand ivars;
    int cmp;
    int *status;     /* NULL: none is excluded */
    int *status_own; /* to be freed */
    const void *values;
    void *values_own;
    size_t *indices;
    union {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } value;
};

/* Every variant of one type; `some` leaves the number of indices. */
#define VARIANTS(TYPE, NAME)                                                                           \
    static size_t run_##NAME(const struct wait_call *c)                                                \
    {                                                                                                  \
        TYPE *x = (TYPE *)c->ivars.data, value;                                                        \
        const TYPE *values = c->values;                                                                \
        size_t n = c->ivars.count;                                                                     \
        memcpy(&value, &c->value, sizeof value);                                                       \
        switch (c->scope << 2 | c->test << 1 | c->vector) {                                            \
        case ONE << 2 | 0:                                                                             \
            shmem_##NAME##_wait_until(x, c->cmp, value);                                               \
            return 1;                                                                                  \
        case ONE << 2 | 2:                                                                             \
            return (size_t)shmem_##NAME##_test(x, c->cmp, value);                                      \
        case ALL << 2 | 0:                                                                             \
            shmem_##NAME##_wait_until_all(x, n, c->status, c->cmp, value);                             \
            return 1;                                                                                  \
        case ALL << 2 | 1:                                                                             \
            shmem_##NAME##_wait_until_all_vector(x, n, c->status, c->cmp, values);                     \
            return 1;                                                                                  \
        case ALL << 2 | 2:                                                                             \
            return (size_t)shmem_##NAME##_test_all(x, n, c->status, c->cmp, value);                    \
        case ALL << 2 | 3:                                                                             \
            return (size_t)shmem_##NAME##_test_all_vector(x, n, c->status, c->cmp, values);            \
        case ANY << 2 | 0:                                                                             \
            return shmem_##NAME##_wait_until_any(x, n, c->status, c->cmp, value);                      \
        case ANY << 2 | 1:                                                                             \
            return shmem_##NAME##_wait_until_any_vector(x, n, c->status, c->cmp, values);              \
        case ANY << 2 | 2:                                                                             \
            return shmem_##NAME##_test_any(x, n, c->status, c->cmp, value);                            \
        case ANY << 2 | 3:                                                                             \
            return shmem_##NAME##_test_any_vector(x, n, c->status, c->cmp, values);                    \
        case SOME << 2 | 0:                                                                            \
            return shmem_##NAME##_wait_until_some(x, n, c->indices, c->status, c->cmp, value);         \
        case SOME << 2 | 1:                                                                            \
            return shmem_##NAME##_wait_until_some_vector(x, n, c->indices, c->status, c->cmp, values); \
        case SOME << 2 | 2:                                                                            \
            return shmem_##NAME##_test_some(x, n, c->indices, c->status, c->cmp, value);               \
        case SOME << 2 | 3:                                                                            \
            return shmem_##NAME##_test_some_vector(x, n, c->indices, c->status, c->cmp, values);       \
        }                                                                                              \
        return 0;                                                                                      \
    }
VARIANTS(short, short)
VARIANTS(unsigned short, ushort)
VARIANTS(int32_t, int32)
VARIANTS(uint32_t, uint32)
VARIANTS(int64_t, int64)
VARIANTS(uint64_t, uint64)

static size_t run(const struct wait_call *c)
{
    bool is_signed = c->type->class == PY_SIGNED;
    switch (c->type->size) {
    case 2:
        return is_signed ? run_short(c) : run_ushort(c);
    case 4:
        return is_signed ? run_int32(c) : run_uint32(c);
    default:
        return is_signed ? run_int64(c) : run_uint64(c);
    }
}

/* --- is it so already? --- */

static int64_t extend(const void *p, const struct py_type *t)
{
    bool is_signed = t->class == PY_SIGNED;
    switch (t->size) {
    case 2:
        return is_signed ? __atomic_load_n((const int16_t *)p, __ATOMIC_ACQUIRE)
                         : (int64_t)__atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE);
    case 4:
        return is_signed ? __atomic_load_n((const int32_t *)p, __ATOMIC_ACQUIRE)
                         : (int64_t)__atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const int64_t *)p, __ATOMIC_ACQUIRE);
    }
}

static bool is_met(const struct wait_call *c)
{
    int64_t have = extend(c->ivars.data, c->type), want = extend(&c->value, c->type);
    bool less = c->type->class == PY_UNSIGNED ? (uint64_t)have < (uint64_t)want : have < want;
    switch (c->cmp) {
    case SHMEM_CMP_EQ:
        return have == want;
    case SHMEM_CMP_NE:
        return have != want;
    case SHMEM_CMP_GT:
        return !less && have != want;
    case SHMEM_CMP_GE:
        return !less;
    case SHMEM_CMP_LT:
        return less;
    default:
        return less || have == want;
    }
}

/* --- arguments --- */

static int find_type(const py_row *row, struct wait_call *c)
{
    c->type = row->type ? row->type : py_type_with(c->ivars.descr, PY_F_WAIT);
    if (c->type) return 0;
    PyErr_Format(PyExc_TypeError, "%s: dtype %S cannot be waited for; integers of 2, 4 and 8 bytes can",
                 c->scope == ONE ? "ivar" : "ivars", c->ivars.descr);
    return -1;
}

static int too_short(const char *arg, size_t have, size_t need)
{
    PyErr_Format(PyExc_ValueError, "%s: it has %zu elements, but ivars has %zu", arg, have, need);
    return -1;
}

/* A NULL with MemoryError where there is none; never for 0 elements. */
static void *room_for(size_t n, size_t size)
{
    void *p = n <= PY_SSIZE_T_MAX / size ? malloc(n * size + 1) : NULL;
    if (!p) PyErr_NoMemory();
    return p;
}

static bool is_flat(PyObject *o, int num)
{
    return PyArray_Check(o) && PyArray_TYPE((PyArrayObject *)o) == num &&
           PyArray_ISCARRAY_RO((PyArrayObject *)o);
}

static int copy_mask(PyObject *o, struct wait_call *c)
{
    size_t n = c->ivars.count;
    if (py_need_host(o, "status")) return -1;
    PyObject *items = PySequence_Fast(o, "status: a sequence of truth values is needed");
    if (!items) return -1;
    int rc = (size_t)PySequence_Fast_GET_SIZE(items) < n
                 ? too_short("status", (size_t)PySequence_Fast_GET_SIZE(items), n)
                 : 0;
    if (!rc && !(c->status = c->status_own = room_for(n, sizeof(int)))) rc = -1;
    for (size_t i = 0; !rc && i < n; i++) {
        c->status[i] = PyObject_IsTrue(PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i));
        if (c->status[i] < 0) rc = -1;
    }
    Py_DECREF(items);
    return rc;
}

static int parse_status(PyObject *o, struct wait_call *c)
{
    if (py_absent(o)) return 0;
    if (!is_flat(o, NPY_INT)) return copy_mask(o, c);
    if ((size_t)PyArray_SIZE((PyArrayObject *)o) < c->ivars.count)
        return too_short("status", (size_t)PyArray_SIZE((PyArrayObject *)o), c->ivars.count);
    c->status = PyArray_DATA((PyArrayObject *)o);
    return 0;
}

static int copy_values(PyObject *o, struct wait_call *c)
{
    size_t n = c->ivars.count, size = c->type->size;
    if (py_need_host(o, "values")) return -1;
    PyObject *items = PySequence_Fast(o, "values: an array or a sequence of numbers is needed");
    if (!items) return -1;
    int rc = (size_t)PySequence_Fast_GET_SIZE(items) < n
                 ? too_short("values", (size_t)PySequence_Fast_GET_SIZE(items), n)
                 : 0;
    if (!rc && !(c->values = c->values_own = room_for(n, size))) rc = -1;
    for (size_t i = 0; !rc && i < n; i++)
        rc = py_arg_value(PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i), c->type, "values",
                          (char *)c->values_own + i * size);
    Py_DECREF(items);
    return rc;
}

static int parse_values(PyObject *o, struct wait_call *c)
{
    if (!c->vector) return py_arg_value(o, c->type, "value", &c->value);
    bool fits = PyArray_Check(o) && py_type_fits(c->type, PyArray_DESCR((PyArrayObject *)o)) &&
                PyArray_ISCARRAY_RO((PyArrayObject *)o);
    if (!fits) return copy_values(o, c);
    if ((size_t)PyArray_SIZE((PyArrayObject *)o) < c->ivars.count)
        return too_short("values", (size_t)PyArray_SIZE((PyArrayObject *)o), c->ivars.count);
    c->values = PyArray_DATA((PyArrayObject *)o);
    return 0;
}

static int parse_wait(const py_row *row, PyObject *const *a, struct wait_call *c)
{
    bool one = c->scope == ONE;
    if (py_need(row->name)) return -1;
    if (one ? py_arg_one(a[0], row->type, 0, "ivar", &c->ivars)
            : py_arg_operand(a[0], row->type, PY_SYMMETRIC, "ivars", &c->ivars))
        return -1;
    if (find_type(row, c) || py_need_aligned(&c->ivars, one ? "ivar" : "ivars") || py_arg_cmp(a[1], &c->cmp))
        return -1;
    if (parse_values(a[2], c) || (!one && parse_status(a[3], c))) return -1;
    return c->scope == SOME && !(c->indices = room_for(c->ivars.count, sizeof *c->indices)) ? -1 : 0;
}

/* --- results --- */

static PyObject *list_of(const size_t *indices, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *index = PyLong_FromSize_t(indices[i]);
        if (!index)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, index);
    }
    return list;
}

static PyObject *result_of(const struct wait_call *c, size_t result)
{
    if (c->scope == ANY && result < c->ivars.count) return PyLong_FromSize_t(result);
    if (c->scope == SOME) return list_of(c->indices, result);
    if (c->scope != ANY && c->test) return PyBool_FromLong(result != 0);
    Py_RETURN_NONE;
}

/* Others may go on while this thread waits; a wait that an interrupt ends has its exception set. */
static PyObject *run_and_answer(struct wait_call *c)
{
    size_t result;
    if (c->scope == ONE && !c->test && !c->ivars.device && is_met(c)) Py_RETURN_NONE;
    PyThreadState *state = py_unlock(c->test && !c->ivars.device ? c->ivars.count * c->ivars.size : SIZE_MAX);
    result = run(c);
    py_relock(state);
    return PyErr_Occurred() ? NULL : result_of(c, result);
}

static struct py_params one_params = {.names = {"ivar", "cmp", "value"}, .required = 3};
static struct py_params many_params = {.names = {"ivars", "cmp", "value", "status"}, .required = 3};
static struct py_params vector_params = {.names = {"ivars", "cmp", "values", "status"}, .required = 3};
static struct py_params signal_params = {.names = {"signal", "cmp", "value"}, .required = 3};

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

static PyObject *wait_call(enum scope scope, bool test, bool vector, ARGS)
{
    const py_row *row = py_row_of(self);
    struct wait_call c = {.scope = scope, .test = test, .vector = vector};
    PyObject *a[4] = {NULL};
    struct py_params *params = scope == ONE ? &one_params : vector ? &vector_params : &many_params;
    if (py_parse(params, row->name, args, nargs, kwnames, a)) return NULL;
    PyObject *answer = parse_wait(row, a, &c) ? NULL : run_and_answer(&c);
    free(c.status_own);
    free(c.values_own);
    free(c.indices);
    return answer;
}

#define CALLS(CALL)                                 \
    CALL(wait_until, ONE, false, false)             \
    CALL(wait_until_all, ALL, false, false)         \
    CALL(wait_until_any, ANY, false, false)         \
    CALL(wait_until_some, SOME, false, false)       \
    CALL(wait_until_all_vector, ALL, false, true)   \
    CALL(wait_until_any_vector, ANY, false, true)   \
    CALL(wait_until_some_vector, SOME, false, true) \
    CALL(test, ONE, true, false)                    \
    CALL(test_all, ALL, true, false)                \
    CALL(test_any, ANY, true, false)                \
    CALL(test_some, SOME, true, false)              \
    CALL(test_all_vector, ALL, true, true)          \
    CALL(test_any_vector, ANY, true, true)          \
    CALL(test_some_vector, SOME, true, true)
#define CALL(name, ...)                                            \
    static PyObject *call_##name(ARGS)                             \
    {                                                              \
        return wait_call(__VA_ARGS__, self, args, nargs, kwnames); \
    }
CALLS(CALL)
#undef CALL

static PyObject *call_signal_wait_until(ARGS)
{
    struct wait_call c = {.scope = ONE};
    PyObject *a[3];
    uint64_t *signal, value;
    const char *name = py_row_of(self)->name;
    if (py_parse(&signal_params, name, args, nargs, kwnames, a) || py_need(name)) return NULL;
    if (py_arg_signal(a[0], &signal) || py_arg_cmp(a[1], &c.cmp)) return NULL;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT64);
    c.type = py_type_of(descr);
    Py_DECREF(descr);
    if (py_arg_value(a[2], c.type, "value", &c.value)) return NULL;
    value = c.value.u64;
    PY_BEGIN_CALL
    value = shmem_signal_wait_until(signal, c.cmp, value);
    PY_END_CALL
    return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(value);
}

#define CMPS "cmp: CMP_EQ, 'eq' or '==', and so on. "
#define MASK "status: a mask; elements where it is true are left out. "

const struct py_call py_calls_wait[] = {
    {"wait_until", call_wait_until, &one_params, PY_F_WAIT, true,
     "(ivar, cmp, value)\nWait until ivar, one symmetric %s element of this PE, compares so with "
     "value.\n\n" CMPS},
    {"wait_until_all", call_wait_until_all, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nWait until all elements of ivars compare so with value.\n\n" CMPS
         MASK},
    {"wait_until_any", call_wait_until_any, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nWait until an element of ivars compares so with value: its index, "
     "None when all "
     "are left out.\n\n" CMPS MASK},
    {"wait_until_some", call_wait_until_some, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nWait until at least one element of ivars compares so with value: a "
     "list of the "
     "indices of all that do.\n\n" CMPS MASK},
    {"wait_until_all_vector", call_wait_until_all_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nWait until all elements of ivars compare so, each with its "
     "value.\n\n" CMPS MASK},
    {"wait_until_any_vector", call_wait_until_any_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nWait until an element of ivars compares so with its value: its "
     "index, or None.\n\n" CMPS MASK},
    {"wait_until_some_vector", call_wait_until_some_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nWait until elements of ivars compare so with their values: a list "
     "of indices.\n\n" CMPS MASK},
    {"test", call_test, &one_params, PY_F_WAIT, true,
     "(ivar, cmp, value)\nDoes ivar, one symmetric %s element of this PE, compare so with value?\n\n" CMPS},
    {"test_all", call_test_all, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nDo all elements of ivars compare so with value?\n\n" CMPS MASK},
    {"test_any", call_test_any, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nThe index of an element that compares so with value, or "
     "None.\n\n" CMPS MASK},
    {"test_some", call_test_some, &many_params, PY_F_WAIT, true,
     "(ivars, cmp, value, status=None)\nA list of the indices of elements that compare so with "
     "value.\n\n" CMPS MASK},
    {"test_all_vector", call_test_all_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nDo all elements of ivars compare so, each with its value?\n\n" CMPS
         MASK},
    {"test_any_vector", call_test_any_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nThe index of an element that compares so with its value, or "
     "None.\n\n" CMPS MASK},
    {"test_some_vector", call_test_some_vector, &vector_params, PY_F_WAIT, true,
     "(ivars, cmp, values, status=None)\nA list of the indices of elements that compare so with their "
     "values.\n\n" CMPS MASK},
    {"signal_wait_until", call_signal_wait_until, &signal_params, PY_F_NONE, true,
     "(signal, cmp, value)\nWait until the signal compares so with value; returns what it holds, an "
     "int.\n\n" CMPS},
    {NULL},
};

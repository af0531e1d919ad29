/* What the files of calls share beyond py.h. */
#ifndef PY_OPS_H
#define PY_OPS_H

#include "memory.h"

static inline bool py_absent(PyObject *o)
{
    return !o || o == Py_None;
}

/* The GIL is given away only where the copy takes longer than that costs. */
static inline PyThreadState *py_unlock(size_t bytes)
{
    return bytes > PY_LONG_COPY ? py_call_begin() : NULL;
}
/* A copy of the runtime, and what the agent of a device is asked, take as long in any case. */
static inline PyThreadState *py_unlock_for(size_t bytes, bool device)
{
    return py_unlock(py_unlikely(device) ? SIZE_MAX : bytes);
}
static inline void py_relock(PyThreadState *state)
{
    if (state) py_call_end(state);
}

/* --- types.c --- */

/* Size of an element in bytes, whatever NumPy the extension is built with. */
size_t py_descr_size(const PyArray_Descr *descr);
bool py_type_has(const struct py_type *t, enum py_feature feature);
/* The first row of the dtype's class and size that has the feature; NULL: none. */
const struct py_type *py_type_with(const PyArray_Descr *descr, enum py_feature feature);
/* Is the dtype one of NumPy's own numbers, so that py_scalar can make its scalars? */
bool py_descr_is_number(const PyArray_Descr *descr);

/* --- args.c --- */

enum { PY_STRIDED = 8 }; /* more for py_arg_operand: any strides will do; data, count then say little */

/* First and last byte + 1 of an array of any strides. */
void py_extent(PyArrayObject *array, char **low, char **high);

/* "index: ...", for arguments that the CPU reads: -1 with TypeError for a DeviceArray. */
int py_need_host(PyObject *o, const char *arg);

struct py_where {
    shmem_ctx_t ctx;
    int pe;
    bool plain; /* no context was given */
};
int py_arg_where_slow(PyObject *pe, PyObject *ctx, struct py_where *w);
static inline int py_arg_where(PyObject *pe, PyObject *ctx, struct py_where *w)
{
    if (py_likely(py_absent(ctx) && PyLong_CheckExact(pe))) {
        int overflow;
        long n = PyLong_AsLongAndOverflow(pe, &overflow);
        if (py_likely(n >= 0 && n < py_world.npes && !overflow)) {
            *w = (struct py_where){SHMEM_CTX_DEFAULT, (int)n, true};
            return 0;
        }
    }
    return py_arg_where_slow(pe, ctx, w);
}

/* One element to be addressed (not its snapshot): the short way for elements of Arrays. */
static inline int py_arg_one(PyObject *o, const struct py_type *t, int need, const char *arg,
                             struct py_operand *op)
{
    if (py_likely(py_is_element(o))) {
        const struct py_element *e = py_element_of(o);
        if (py_likely(e->array != NULL)) {
            PyArray_Descr *descr = PyArray_DESCR(e->array);
            size_t size = (size_t)PyArray_ITEMSIZE(e->array);
            bool fits = !t || (descr->type_num == t->num && PyArray_ISNBO(descr->byteorder));
            bool writes = !(need & PY_WRITE) || PyArray_ISWRITEABLE(e->array);
            if (py_likely(fits && writes && py_symmetric(e->data, size) &&
                          descr->type_num <= NPY_CLONGDOUBLE)) {
                *op = (struct py_operand){e->data, 1, size, descr, e->array, true, false};
                return 0;
            }
        }
    }
    return py_arg_operand(o, t, need | PY_ONE | PY_SYMMETRIC, arg, op);
}

/* What is put: an array (op is filled in), or a value of one element that is laid into `room` (op then
 * points there). An element of an Array is a snapshot and counts as its value. t NULL: the dtype of
 * `target`. */
struct py_room {
    _Alignas(16) char bytes[64];
    PyObject *owner; /* for values that are larger; free with Py_CLEAR */
};
int py_arg_source(PyObject *o, const struct py_type *t, const struct py_operand *target, const char *arg,
                  struct py_room *room, struct py_operand *op);
/* The same for one value of a dtype that has no row. */
int py_arg_foreign(PyObject *o, const struct py_operand *target, const char *arg, struct py_room *room,
                   struct py_operand *op);

/* Do both hold the same kind of elements? -1 with TypeError. */
int py_same_dtype(const struct py_operand *a, const char *arg_a, const struct py_operand *b,
                  const char *arg_b);
/* Arrays of the same shape are copied in the order of their memory, so it must be the same, too: C or Fortran.
 * -1 with ValueError. */
int py_same_order(const struct py_operand *target, const struct py_operand *source);
/* The address must be a multiple of the element's size. */
int py_need_aligned(const struct py_operand *op, const char *arg);

int py_arg_cmp(PyObject *o, int *cmp);
int py_arg_sigop(PyObject *o, int *sigop);
int py_arg_signal(PyObject *o, uint64_t **signal);
int py_arg_stride(PyObject *o, const char *arg, ptrdiff_t *stride);
/* The name in a string (or string enum), in lower case, into name[16]. */
int py_arg_word(PyObject *o, const char *arg, char *word);

/* --- rma.c --- */

/* What the array `from` holds on that PE, of an element a scalar. to: NULL, or an array to fill in and return. t NULL: of any
 * dtype. */
PyObject *py_get_array(const struct py_type *t, PyObject *from, PyObject *to, const struct py_where *w);
/* Into this PE's memory, of the host or of a device, from the other memory of the two. */
void py_copy(void *to, bool to_device, const void *from, bool from_device, size_t bytes);

/* --- pending.c --- */

/* Behind a nonblocking call on that context, which may go on reading or writing the operand. */
void py_pending_add(shmem_ctx_t ctx, const struct py_operand *op);
/* What the context's nonblocking calls have used so far, NULL for nothing: a reference to be dropped behind a quiet. */
PyObject *py_pending_take(shmem_ctx_t ctx);
void py_quiet(shmem_ctx_t ctx);

/* --- coll.c --- */
/* Collective: do all members of the team bring the same numbers? names[i] names what i is; error != 0:
 * this PE has an exception set. Returns 0 when all agree and nobody has an error; else -1 with an
 * exception on all. */
enum { PY_FIELDS_MAX = 8 };
int py_agree(shmem_team_t team, const char *call, const int64_t *mine, const char *const *names, int count);

#endif

/* Indexed access: gather, scatter and scatter_add, of elements or of rows of a matrix. All indices and PEs
 * are looked at before anything moves; then they go to the library, in chunks on the stack where they need
 * converting. */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2048 };

/* The numbers of an argument: one for all, or an array of 8 or 4 bytes each. */
struct numbers {
    PyArrayObject *array; /* owned; NULL: `one` */
    npy_intp one;
    bool wide, negative; /* int64, not int32; there are some below 0 */
};

struct indexed {
    const py_row *row;
    const struct py_type *type;
    struct py_where w;
    struct py_operand x;
    npy_intp rows;               /* x.shape[0] */
    size_t row_bytes, row_count; /* of one index */
    struct numbers index, pe;
    size_t n;
};

/* --- numbers --- */

static int not_integers(PyObject *o, const char *arg)
{
    if (PyArray_Check(o))
        PyErr_Format(PyExc_TypeError, "%s: integers are needed, not %S", arg,
                     PyArray_DESCR((PyArrayObject *)o));
    else
        PyErr_Format(PyExc_TypeError, "%s: an integer or an array of integers is needed, not %.200s", arg,
                     Py_TYPE(o)->tp_name);
    return -1;
}

static PyArrayObject *contiguous(PyObject *o, int num)
{
    return (PyArrayObject *)PyArray_FROMANY(
        o, num, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSUREARRAY);
}

/* Numbers that have been looked at must not change: in symmetric memory this very call, or another PE, might do it. */
static PyArrayObject *keep(PyArrayObject *a)
{
    if (!a || !py_block_at(PyArray_DATA(a))) return a;
    PyObject *copy = PyArray_NewLikeArray(a, NPY_CORDER, NULL, 0);
    if (copy && PyArray_CopyInto((PyArrayObject *)copy, a)) Py_CLEAR(copy);
    Py_DECREF(a);
    return (PyArrayObject *)copy;
}

/* Lists and the like become arrays first, so that their kind can be seen. */
static int parse_array(PyObject *o, const char *arg, struct numbers *n)
{
    if (py_need_host(o, arg)) return -1;
    if (!PyArray_Check(o) && !PySequence_Check(o)) return not_integers(o, arg);
    PyObject *array = PyArray_FROM_O(o);
    if (!array) return -1;
    PyArrayObject *a = (PyArrayObject *)array;
    bool empty_list = !PyArray_Check(o) && !PyArray_SIZE(a);
    if (!PyArray_ISINTEGER(a) && !empty_list) {
        not_integers(array, arg);
        Py_DECREF(array);
        return -1;
    }
    n->wide = PyArray_ITEMSIZE(a) != sizeof(int32_t) || PyArray_TYPE(a) == NPY_UINT;
    if (PyArray_ISUNSIGNED(a) && PyArray_ITEMSIZE(a) == sizeof(uint64_t) && PyArray_ISNOTSWAPPED(a))
        n->array = contiguous(array, NPY_UINT64); /* too large ones look negative: out of range either way */
    else
        n->array = contiguous(array, n->wide ? NPY_INT64 : NPY_INT32);
    Py_DECREF(array);
    n->array = keep(n->array);
    return n->array ? 0 : -1;
}

static int parse_one(PyObject *o, const char *arg, struct numbers *n)
{
    int overflow;
    if (py_need_host(o, arg)) return -1;
    PyObject *number = PyArray_IsScalar(o, Bool) ? NULL : PyNumber_Index(o);
    if (!number) {
        PyErr_Clear();
        return not_integers(o, arg);
    }
    n->one = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) n->one = overflow > 0 ? NPY_MAX_INTP : NPY_MIN_INTP;
    Py_DECREF(number);
    return 0;
}

/* --- ranges --- */

/* Blocks of a constant length, so that compilers make vectors of it; the sign bit says that a number is
 * below 0 or above the last that is right. */
enum { BLOCK = 1024 };

static bool all_within64(const int64_t *v, size_t n, int64_t last)
{
    uint64_t bad = 0;
    for (; n >= BLOCK; n -= BLOCK, v += BLOCK)
        for (int i = 0; i < BLOCK; i++)
            bad |= (uint64_t)v[i] | ((uint64_t)last - (uint64_t)v[i]);
    for (size_t i = 0; i < n; i++)
        bad |= (uint64_t)v[i] | ((uint64_t)last - (uint64_t)v[i]);
    return !(bad >> 63);
}

static bool all_within32(const int32_t *v, size_t n, int32_t last)
{
    uint32_t bad = 0;
    for (; n >= BLOCK; n -= BLOCK, v += BLOCK)
        for (int i = 0; i < BLOCK; i++)
            bad |= (uint32_t)v[i] | ((uint32_t)last - (uint32_t)v[i]);
    for (size_t i = 0; i < n; i++)
        bad |= (uint32_t)v[i] | ((uint32_t)last - (uint32_t)v[i]);
    return !(bad >> 31);
}

/* Is every number from 0 on and below the limit, so that nothing need be converted? */
static bool are_below(const struct numbers *v, size_t n, npy_intp limit)
{
    if (!v->array) return v->one >= 0 && v->one < limit;
    if (!n || limit < 1) return !n;
    if (v->wide) return all_within64(PyArray_DATA(v->array), n, limit - 1);
    return all_within32(PyArray_DATA(v->array), n, limit > INT32_MAX ? INT32_MAX : (int32_t)(limit - 1));
}

static npy_intp number_at(const struct numbers *v, size_t i)
{
    if (!v->array) return v->one;
    return v->wide ? ((const int64_t *)PyArray_DATA(v->array))[i]
                   : ((const int32_t *)PyArray_DATA(v->array))[i];
}

static int out_of_range(const struct numbers *v, size_t i, const char *arg, const char *what, npy_intp limit)
{
    npy_intp value = number_at(v, i);
    bool is_unsigned = v->array && PyArray_TYPE(v->array) == NPY_UINT64;
    PyObject *shown = is_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)value) : PyLong_FromLongLong(value);
    if (shown && v->array)
        PyErr_Format(PyExc_IndexError, "%s: %S at position %zu is out of range; there are %zd %s", arg, shown,
                     i, (Py_ssize_t)limit, what);
    else if (shown)
        PyErr_Format(PyExc_IndexError, "%s: %S is out of range; there are %zd %s", arg, shown,
                     (Py_ssize_t)limit, what);
    Py_XDECREF(shown);
    return -1;
}

static int check_pes(struct indexed *x, int npes)
{
    if (py_likely(are_below(&x->pe, x->n, npes))) return 0;
    size_t i = 0;
    while (number_at(&x->pe, i) >= 0 && number_at(&x->pe, i) < npes)
        i++;
    return out_of_range(&x->pe, i, "pe", "PEs", npes);
}

/* Negative indices count from the end, as in NumPy. */
static int check_indices(struct indexed *x)
{
    if (py_likely(are_below(&x->index, x->n, x->rows))) return 0;
    bool is_unsigned = x->index.array && PyArray_TYPE(x->index.array) == NPY_UINT64;
    for (size_t i = 0; i < x->n; i++) {
        npy_intp v = number_at(&x->index, i);
        if (v >= x->rows || v < (is_unsigned ? 0 : -x->rows))
            return out_of_range(&x->index, i, "index", x->row_count == 1 ? "elements" : "rows", x->rows);
    }
    x->index.negative = true;
    return 0;
}

/* --- arguments --- */

static int members_of(const struct py_where *w)
{
    shmem_team_t team;
    if (w->plain || w->ctx == SHMEM_CTX_DEFAULT) return py_world.npes;
    return shmem_ctx_get_team(w->ctx, &team) ? 0 : shmem_team_n_pes(team);
}

static bool is_array_like(PyObject *o)
{
    if (PyArray_Check(o)) return PyArray_NDIM((PyArrayObject *)o) > 0;
    return !PyIndex_Check(o) && PySequence_Check(o);
}

static bool same_shape(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_NDIM(a) == PyArray_NDIM(b) &&
           PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

static int parse_x(PyObject *o, int need, struct indexed *x)
{
    PyArrayObject *a = (PyArrayObject *)py_layout(o);
    if (!PyArray_Check(a) || !PyArray_NDIM(a)) {
        PyErr_Format(PyExc_TypeError,
                     "x: a symmetric array with rows or elements to index is needed, not %.200s",
                     PyArray_Check(a) ? "one without dimensions" : Py_TYPE(o)->tp_name);
        return -1;
    }
    if (py_arg_operand(o, x->row->type, need | PY_SYMMETRIC, "x", &x->x)) return -1;
    if (!PyArray_IS_C_CONTIGUOUS(a)) {
        PyErr_SetString(PyExc_ValueError, "x: the array is not C-contiguous");
        return -1;
    }
    x->rows = PyArray_DIM(a, 0);
    x->row_count = x->rows ? x->x.count / (size_t)x->rows : 0;
    x->row_bytes = x->row_count * x->x.size;
    return 0;
}

static int parse_where(PyObject *pe, PyObject *ctx, struct indexed *x)
{
    x->w = (struct py_where){SHMEM_CTX_DEFAULT, 0, py_absent(ctx)};
    if (py_arg_ctx(ctx, &x->w.ctx)) return -1;
    if (is_array_like(pe) ? parse_array(pe, "pe", &x->pe) : parse_one(pe, "pe", &x->pe)) return -1;
    if (!x->pe.array || (x->index.array && same_shape(x->pe.array, x->index.array))) return 0;
    PyErr_SetString(PyExc_ValueError, "pe: its shape is not that of index");
    return -1;
}

/* x, index and pe: everything but what moves. */
static int parse_indexed(PyObject *const *a, PyObject *ctx, int need, struct indexed *x)
{
    if (py_need(x->row->name) || parse_x(a[0], need, x)) return -1;
    if (is_array_like(a[1]) ? parse_array(a[1], "index", &x->index) : parse_one(a[1], "index", &x->index))
        return -1;
    x->n = x->index.array ? (size_t)PyArray_SIZE(x->index.array) : 1;
    if (parse_where(a[2], ctx, x)) return -1;
    return check_pes(x, members_of(&x->w)) || check_indices(x) ? -1 : 0;
}

static void release(struct indexed *x)
{
    Py_XDECREF((PyObject *)x->index.array);
    Py_XDECREF((PyObject *)x->pe.array);
}

/* The shape of what moves: index.shape + x.shape[1:]. -1 with ValueError when that is too much. */
static int shape_of(const struct indexed *x, npy_intp *dims)
{
    PyArrayObject *a = x->x.array;
    int nd = x->index.array ? PyArray_NDIM(x->index.array) : 0, more = PyArray_NDIM(a) - 1;
    if (nd + more > NPY_MAXDIMS) {
        PyErr_Format(PyExc_ValueError, "index: the result would have %d dimensions", nd + more);
        return -1;
    }
    for (int d = 0; d < nd; d++)
        dims[d] = PyArray_DIM(x->index.array, d);
    for (int d = 0; d < more; d++)
        dims[nd + d] = PyArray_DIM(a, d + 1);
    return nd + more;
}

static int check_shape(const struct indexed *x, PyObject *o, int need, const char *arg, struct py_operand *op)
{
    npy_intp dims[NPY_MAXDIMS];
    int nd = shape_of(x, dims);
    if (nd < 0 || py_arg_operand(o, x->row->type, need, arg, op) || py_same_dtype(&x->x, "x", op, arg))
        return -1;
    PyArrayObject *a = op->array;
    if (!op->element && PyArray_NDIM(a) == nd && PyArray_CompareLists(PyArray_DIMS(a), dims, nd)) {
        if (PyArray_IS_C_CONTIGUOUS(a)) return 0;
        PyErr_Format(PyExc_ValueError, "%s: the array is not C-contiguous", arg);
        return -1;
    }
    PyErr_Format(PyExc_ValueError, "%s: its shape is not that of index and of a row of x together", arg);
    return -1;
}

/* --- chunks --- */

struct chunk {
    size_t index_room[CHUNK];
    int pe_room[CHUNK];
    const size_t *index;
    const int *pe;
};

static void narrow(int *to, const int64_t *from, size_t n)
{
    for (; n >= BLOCK; n -= BLOCK, to += BLOCK, from += BLOCK)
        for (int i = 0; i < BLOCK; i++)
            to[i] = (int)from[i];
    for (size_t i = 0; i < n; i++)
        to[i] = (int)from[i];
}

static void fill_pes(const struct indexed *x, struct chunk *c, size_t from, size_t n)
{
    const struct numbers *v = &x->pe;
    c->pe = c->pe_room;
    if (!v->array) {
        if (!from)
            for (size_t i = 0; i < n; i++)
                c->pe_room[i] = (int)v->one;
    } else if (v->wide) {
        narrow(c->pe_room, (const int64_t *)PyArray_DATA(v->array) + from, n);
    } else {
        c->pe = (const int *)PyArray_DATA(v->array) + from;
    }
}

static void fill_indices(const struct indexed *x, struct chunk *c, size_t from, size_t n)
{
    const struct numbers *v = &x->index;
    if (v->array && v->wide && !v->negative) {
        c->index = (const size_t *)PyArray_DATA(v->array) + from;
        return;
    }
    c->index = c->index_room;
    for (size_t i = 0; i < n; i++) {
        npy_intp number = number_at(v, from + i);
        c->index_room[i] = (size_t)(number < 0 ? number + x->rows : number);
    }
}

enum direction { GATHER, SCATTER, ADD };

/* In an accumulation each element of a row has an index of its own. */
static void add_elements(const struct indexed *x, const char *from, const size_t *index, const int *pe,
                         size_t n)
{
    void *to = x->x.data;
    switch ((x->type->class == PY_FLOATING) << 4 | x->type->size) {
    case 4:
        shmemx_ctx_uint32_scatter_add(x->w.ctx, to, (const void *)from, index, pe, n);
        return;
    case 8:
        shmemx_ctx_uint64_scatter_add(x->w.ctx, to, (const void *)from, index, pe, n);
        return;
    case 1 << 4 | 4:
        shmemx_ctx_float_scatter_add(x->w.ctx, to, (const void *)from, index, pe, n);
        return;
    case 1 << 4 | 8:
        shmemx_ctx_double_scatter_add(x->w.ctx, to, (const void *)from, index, pe, n);
        return;
    }
}

static void add_rows(const struct indexed *x, const char *from, const struct chunk *c, size_t n)
{
    size_t index[CHUNK], used = 0, width = x->row_count;
    int pe[CHUNK];
    if (width == 1) {
        add_elements(x, from, c->index, c->pe, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < width; j++) {
            index[used] = c->index[i] * width + j;
            pe[used++] = c->pe[i];
            if (used < CHUNK) continue;
            add_elements(x, from, index, pe, used);
            from += used * x->x.size;
            used = 0;
        }
    }
    add_elements(x, from, index, pe, used);
}

static void move(const struct indexed *x, char *other, enum direction direction)
{
    struct chunk c;
    for (size_t from = 0; from < x->n; from += CHUNK) {
        size_t n = x->n - from < CHUNK ? x->n - from : CHUNK;
        char *at = other + from * x->row_bytes;
        fill_pes(x, &c, from, n);
        fill_indices(x, &c, from, n);
        if (direction == GATHER)
            shmemx_ctx_gathermem(x->w.ctx, at, x->x.data, c.index, c.pe, n, x->row_bytes);
        else if (direction == SCATTER)
            shmemx_ctx_scattermem(x->w.ctx, x->x.data, at, c.index, c.pe, n, x->row_bytes);
        else
            add_rows(x, at, &c, n);
    }
}

static void move_unlocked(const struct indexed *x, char *other, bool device, enum direction direction)
{
    PyThreadState *state = py_unlock_for(x->n * x->row_bytes, device || x->x.device);
    if (x->row_bytes) move(x, other, direction);
    py_relock(state);
}

/* --- the calls --- */

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

static struct py_params gather_params = {.names = {"x", "index", "pe", "out", "ctx"}, .required = 3};
static struct py_params scatter_params = {.names = {"x", "index", "pe", "source", "ctx"}, .required = 4};

static PyObject *new_result(const struct indexed *x)
{
    npy_intp dims[NPY_MAXDIMS];
    int nd = shape_of(x, dims), num = x->row->type ? x->row->type->num : 0;
    if (nd < 0) return NULL;
    PyArray_Descr *descr =
        num ? PyArray_DescrFromType(num) : (PyArray_Descr *)Py_NewRef((PyObject *)x->x.descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, NULL, NULL, 0, NULL);
}

static bool share_memory(PyArrayObject *a, PyArrayObject *b)
{
    char *low_a, *high_a, *low_b, *high_b;
    if (!a || !b) return false;
    py_extent(a, &low_a, &high_a);
    py_extent(b, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

/* Where the result would overwrite what is still to be read, it goes by way of an array of its own. */
static int gather_aside(struct indexed *x, const struct py_operand *out)
{
    size_t bytes = x->n * x->row_bytes;
    char *aside = PyMem_RawMalloc(bytes ? bytes : 1);
    if (!aside) {
        PyErr_NoMemory();
        return -1;
    }
    move_unlocked(x, aside, out->device, GATHER);
    py_copy(out->data, out->device, aside, false, bytes);
    PyMem_RawFree(aside);
    return 0;
}

static PyObject *gather(struct indexed *x, PyObject *out)
{
    struct py_operand op;
    if (!py_absent(out)) {
        if (!PyArray_Check(out) && !py_is_device(out))
            return PyErr_Format(PyExc_TypeError, "out: an array is needed, not %.200s",
                                Py_TYPE(out)->tp_name);
        if (check_shape(x, out, PY_WRITE, "out", &op)) return NULL;
        PyArrayObject *to = op.array;
        if (share_memory(to, x->x.array) || share_memory(to, x->index.array) || share_memory(to, x->pe.array))
            return gather_aside(x, &op) ? NULL : Py_NewRef(out);
        move_unlocked(x, op.data, op.device, GATHER);
        return Py_NewRef(out);
    }
    PyObject *result = new_result(x);
    if (!result) return NULL;
    move_unlocked(x, PyArray_BYTES((PyArrayObject *)result), false, GATHER);
    return PyArray_Return((PyArrayObject *)result);
}

static PyObject *call_gather(ARGS)
{
    PyObject *a[5];
    struct indexed x = {.row = py_row_of(self)};
    if (py_parse(&gather_params, x.row->name, args, nargs, kwnames, a)) return NULL;
    PyObject *result = parse_indexed(a, a[4], 0, &x) ? NULL : gather(&x, a[3]);
    release(&x);
    return result;
}

/* What is written must not change what is still to be read. */
static int copy_source(struct py_operand *op, struct py_room *room)
{
    room->owner = PyArray_NewLikeArray(op->array, NPY_CORDER, NULL, 0);
    if (!room->owner) return -1;
    char *copy = PyArray_BYTES((PyArrayObject *)room->owner);
    py_copy(copy, false, op->data, op->device, op->count * op->size);
    op->data = copy;
    op->device = false;
    return 0;
}

/* One number for one element does not need an array around it. */
static int parse_source(PyObject *o, struct indexed *x, struct py_room *room, struct py_operand *op)
{
    room->owner = NULL;
    if (PyArray_Check(o) || py_is_device(o)) {
        if (check_shape(x, o, 0, "source", op)) return -1;
        return share_memory(op->array, x->x.array) ? copy_source(op, room) : 0;
    }
    if (!x->index.array && x->row_count == 1)
        return py_arg_source(o, x->row->type, &x->x, "source", room, op);
    PyErr_Format(PyExc_TypeError, "source: an array is needed, not %.200s", Py_TYPE(o)->tp_name);
    return -1;
}

static PyObject *scatter(struct indexed *x, PyObject *source, enum direction direction)
{
    struct py_operand op;
    struct py_room room;
    if (direction == ADD) {
        x->type = x->row->type ? x->row->type : py_type_with(x->x.descr, PY_F_ACCUMULATE);
        if (!x->type)
            return PyErr_Format(PyExc_TypeError,
                                "x: dtype %S cannot be added to atomically; integers of 4 and 8 bytes, "
                                "float32 and float64 can",
                                x->x.descr);
        if (py_need_aligned(&x->x, "x")) return NULL;
    }
    if (parse_source(source, x, &room, &op)) return NULL;
    move_unlocked(x, op.data, op.device, direction);
    Py_XDECREF(room.owner);
    Py_RETURN_NONE;
}

static PyObject *scatter_call(enum direction direction, ARGS)
{
    PyObject *a[5];
    struct indexed x = {.row = py_row_of(self)};
    if (py_parse(&scatter_params, x.row->name, args, nargs, kwnames, a)) return NULL;
    PyObject *result = parse_indexed(a, a[4], PY_WRITE, &x) ? NULL : scatter(&x, a[3], direction);
    release(&x);
    return result;
}

static PyObject *call_scatter(ARGS)
{
    return scatter_call(SCATTER, self, args, nargs, kwnames);
}
static PyObject *call_scatter_add(ARGS)
{
    return scatter_call(ADD, self, args, nargs, kwnames);
}

#define INDEXED                                                                                              \
    "x: a C-contiguous symmetric %s array; an index names an element of it, or a row when it has several\n"  \
    "dimensions. index: integers; negative ones count from the end. pe: a number, or an integer array of\n"  \
    "the shape of index.\n"

const struct py_call py_calls_indexed[] = {
    {"gather", call_gather, &gather_params, PY_F_RMA, true,
     "(x, index, pe, out=None, ctx=None)\nx[index[i]] of PE pe[i], for all i: an ndarray of shape "
     "index.shape + "
     "x.shape[1:].\n\n" INDEXED "out: an array of that shape to fill in and return."},
    {"scatter", call_scatter, &scatter_params, PY_F_RMA, true,
     "(x, index, pe, source, ctx=None)\nx[index[i]] of PE pe[i] becomes source[i], for all i; complete after "
     "quiet.\n\n" INDEXED
     "source: an array of shape index.shape + x.shape[1:]. Of several for one place one wins."},
    {"scatter_add", call_scatter_add, &scatter_params, PY_F_ACCUMULATE, true,
     "(x, index, pe, source, ctx=None)\nsource[i] is added to x[index[i]] of PE pe[i], element by element "
     "atomically; "
     "complete after\nquiet.\n\n" INDEXED "source: an array of shape index.shape + x.shape[1:]."},
    {NULL},
};

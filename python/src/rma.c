/* Remote memory access: single elements, arrays, strided, nonblocking, with signal. */
#include "ops.h"

#include <stdlib.h>

#define CALL(NAME) \
    static PyObject *NAME(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
CALL(call_p);
CALL(call_g);
CALL(call_typed_get);
CALL(call_put);
CALL(call_put_nbi);
CALL(call_get);
CALL(call_get_nbi);
CALL(call_iput);
CALL(call_iget);
CALL(call_put_signal);
CALL(call_put_signal_nbi);
CALL(call_signal_set);
CALL(call_signal_add);
CALL(call_signal_fetch);
CALL(call_new_signal);
CALL(call_del_signal);

static struct py_params p_params = {.names = {"target", "value", "pe", "ctx"}, .required = 3};
static struct py_params g_params = {.names = {"source", "pe", "ctx"}, .required = 2};
static struct py_params typed_get_params = {.names = {"source", "pe", "out", "ctx"}, .required = 2};
static struct py_params move_params = {.names = {"target", "source", "pe", "size", "ctx"}, .required = 3};
static struct py_params strided_params = {.names = {"target", "source", "pe", "tst", "sst", "size", "ctx"},
                                          .required = 3};
static struct py_params put_signal_params = {
    .names = {"target", "source", "pe", "signal", "value", "sigop", "size", "ctx"}, .required = 6};
static struct py_params signal_params = {.names = {"signal", "value", "pe", "ctx"}, .required = 3};
static struct py_params signal_only_params = {.names = {"signal"}, .required = 1};
static struct py_params no_params = {.names = {NULL}, .required = 0};

#define SIZES "size: elements to copy; by default all, and then both must have the same number."
#define SIZES_MIN "size: elements to copy; by default as many as both have."

const struct py_call py_calls_rma[] = {
    {"p", call_p, &p_params, PY_F_RMA, true,
     "(target, value, pe, ctx=None)\nStore one value into target, one symmetric %s element, on PE pe."},
    {"g", call_g, &g_params, PY_F_RMA, true,
     "(source, pe, ctx=None)\nThe value of source, one symmetric %s element, on PE pe: a NumPy scalar."},
    {"get", call_typed_get, &typed_get_params, PY_F_RMA, false,
     "(source, pe, out=None, ctx=None)\nWhat the symmetric source holds on PE pe: of an element a %s scalar, "
     "of an array a "
     "new ndarray of its shape.\n\nout: an array of the same shape to fill in and return."},
    {"put", call_put, &move_params, PY_F_RMA, true,
     "(target, source, pe, size=None, ctx=None)\nCopy the %s array (or value) source to the symmetric target "
     "on PE pe.\n\n" SIZES},
    {"put_nbi", call_put_nbi, &move_params, PY_F_RMA, true,
     "(target, source, pe, size=None, ctx=None)\nput without waiting: complete after quiet.\n\n" SIZES},
    {"get", call_get, &move_params, PY_F_NONE, true,
     "(target, source, pe, size=None, ctx=None)\nCopy the symmetric source of PE pe to the array "
     "target.\n\n" SIZES},
    {"get_nbi", call_get_nbi, &move_params, PY_F_RMA, true,
     "(target, source, pe, size=None, ctx=None)\nget without waiting: complete after quiet.\n\n" SIZES},
    {"_put", call_put, &move_params, PY_F_NONE, true,
     "(target, source, pe, size=None, ctx=None)\nput of the published API.\n\n" SIZES_MIN},
    {"_put_nbi", call_put_nbi, &move_params, PY_F_NONE, true,
     "(target, source, pe, size=None, ctx=None)\nput_nbi of the published API.\n\n" SIZES_MIN},
    {"_get", call_get, &move_params, PY_F_NONE, true,
     "(target, source, pe, size=None, ctx=None)\nget of the published API.\n\n" SIZES_MIN},
    {"_get_nbi", call_get_nbi, &move_params, PY_F_NONE, true,
     "(target, source, pe, size=None, ctx=None)\nget_nbi of the published API.\n\n" SIZES_MIN},
    {"iput", call_iput, &strided_params, PY_F_RMA, true,
     "(target, source, pe, tst=1, sst=1, size=None, ctx=None)\nCopy every sst-th %s element of source to "
     "every tst-th of "
     "the symmetric target on PE pe.\n\n" SIZES_MIN},
    {"iget", call_iget, &strided_params, PY_F_RMA, true,
     "(target, source, pe, tst=1, sst=1, size=None, ctx=None)\nCopy every sst-th %s element of the symmetric "
     "source of PE "
     "pe to every tst-th of target.\n\n" SIZES_MIN},
    {"put_signal", call_put_signal, &put_signal_params, PY_F_RMA, true,
     "(target, source, pe, signal, value, sigop, size=None, ctx=None)\nput, and then set signal on PE pe to "
     "value, or add "
     "value to it.\n\nsigop: SIGNAL_SET or SIGNAL_ADD. " SIZES},
    {"put_signal_nbi", call_put_signal_nbi, &put_signal_params, PY_F_RMA, true,
     "(target, source, pe, signal, value, sigop, size=None, ctx=None)\nput_signal without "
     "waiting.\n\n" SIZES},
    {"_put_signal", call_put_signal, &put_signal_params, PY_F_NONE, true,
     "(target, source, pe, signal, value, sigop, size=None, ctx=None)\nput_signal of the published "
     "API.\n\n" SIZES_MIN},
    {"_put_signal_nbi", call_put_signal_nbi, &put_signal_params, PY_F_NONE, true,
     "(target, source, pe, signal, value, sigop, size=None, ctx=None)\nput_signal_nbi of the published "
     "API.\n\n" SIZES_MIN},
    {"signal_set", call_signal_set, &signal_params, PY_F_NONE, true,
     "(signal, value, pe, ctx=None)\nSet the signal on PE pe."},
    {"signal_add", call_signal_add, &signal_params, PY_F_NONE, true,
     "(signal, value, pe, ctx=None)\nAdd value to the signal on PE pe."},
    {"signal_fetch", call_signal_fetch, &signal_only_params, PY_F_NONE, true,
     "(signal)\nWhat this PE's copy of the signal holds, an int."},
    {"new_signal", call_new_signal, &no_params, PY_F_NONE, true,
     "()\nA new signal, 0: a symmetric uint64 array of one element. Collective."},
    {"del_signal", call_del_signal, &signal_only_params, PY_F_NONE, true,
     "(signal)\nFree a signal. Collective."},
    {NULL},
};

/* The published API copies as many elements as both arrays have; here a difference is an error. */
static bool takes_least(const py_row *row)
{
    return row->call->name[0] == '_';
}

/* --- single elements --- */

union word {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    char bytes[64];
    long double align;
};

static inline void load_plain(union word *v, const void *from, size_t size, int pe)
{
    switch (size) {
    case 4:
        v->u32 = shmem_uint32_g(from, pe);
        return;
    case 8:
        v->u64 = shmem_uint64_g(from, pe);
        return;
    case 1:
        v->u8 = shmem_uint8_g(from, pe);
        return;
    case 2:
        v->u16 = shmem_uint16_g(from, pe);
        return;
    default:
        shmem_getmem(v, from, size, pe);
    }
}

static void load(union word *v, const void *from, size_t size, const struct py_where *w)
{
    switch (size) {
    case 4:
        v->u32 = shmem_ctx_uint32_g(w->ctx, from, w->pe);
        return;
    case 8:
        v->u64 = shmem_ctx_uint64_g(w->ctx, from, w->pe);
        return;
    case 1:
        v->u8 = shmem_ctx_uint8_g(w->ctx, from, w->pe);
        return;
    case 2:
        v->u16 = shmem_ctx_uint16_g(w->ctx, from, w->pe);
        return;
    default:
        shmem_ctx_getmem(w->ctx, v, from, size, w->pe);
    }
}

static inline void store_plain(void *to, const void *value, size_t size, int pe)
{
    const union word *v = value;
    switch (size) {
    case 4:
        shmem_uint32_p(to, v->u32, pe);
        return;
    case 8:
        shmem_uint64_p(to, v->u64, pe);
        return;
    case 1:
        shmem_uint8_p(to, v->u8, pe);
        return;
    case 2:
        shmem_uint16_p(to, v->u16, pe);
        return;
    default:
        shmem_putmem(to, value, size, pe);
    }
}

static void store(void *to, const void *value, size_t size, const struct py_where *w)
{
    const union word *v = value;
    switch (size) {
    case 4:
        shmem_ctx_uint32_p(w->ctx, to, v->u32, w->pe);
        return;
    case 8:
        shmem_ctx_uint64_p(w->ctx, to, v->u64, w->pe);
        return;
    case 1:
        shmem_ctx_uint8_p(w->ctx, to, v->u8, w->pe);
        return;
    case 2:
        shmem_ctx_uint16_p(w->ctx, to, v->u16, w->pe);
        return;
    default:
        shmem_ctx_putmem(w->ctx, to, value, size, w->pe);
    }
}

/* Elements of dtypes that are no numbers: records, strings, times, and what is in the other byte order. */
static PyObject *get_foreign(const struct py_operand *op, const struct py_where *w)
{
    Py_INCREF(op->descr);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, op->descr, 0, NULL, NULL, NULL, 0, NULL);
    if (!out) return NULL;
    PyThreadState *state = py_unlock_for(0, op->device);
    shmem_ctx_getmem(w->ctx, PyArray_DATA((PyArrayObject *)out), op->data, op->size, w->pe);
    py_relock(state);
    return PyArray_Return((PyArrayObject *)out);
}

static inline PyObject *get_one(const struct py_type *t, const struct py_operand *op,
                                const struct py_where *w)
{
    union word v;
    if (py_unlikely(!t && (!py_descr_is_number(op->descr) || !PyArray_ISNBO(op->descr->byteorder))))
        return get_foreign(op, w);
    PyThreadState *state = py_unlock_for(0, op->device);
    if (py_likely(w->plain))
        load_plain(&v, op->data, op->size, w->pe);
    else
        load(&v, op->data, op->size, w);
    py_relock(state);
    return py_scalar(t ? t->num : op->descr->type_num, &v);
}

CALL(call_g)
{
    const py_row *row = py_row_of(self);
    PyObject *a[3];
    struct py_where w;
    struct py_operand op;
    if (py_parse(&g_params, row->name, args, nargs, kwnames, a) || py_need(row->name)) return NULL;
    if (py_arg_where(a[1], a[2], &w) || py_arg_one(a[0], row->type, 0, "source", &op)) return NULL;
    return get_one(row->type, &op, &w);
}

CALL(call_p)
{
    const py_row *row = py_row_of(self);
    PyObject *a[4];
    struct py_where w;
    struct py_operand to, from;
    struct py_room room;
    if (py_parse(&p_params, row->name, args, nargs, kwnames, a) || py_need(row->name)) return NULL;
    if (py_arg_where(a[2], a[3], &w) || py_arg_one(a[0], row->type, PY_WRITE, "target", &to)) return NULL;
    const struct py_type *t = row->type ? row->type : py_type_of(to.descr);
    room.owner = NULL;
    from.data = room.bytes;
    if (t ? py_arg_value(a[1], t, "value", room.bytes) : py_arg_foreign(a[1], &to, "value", &room, &from))
        return NULL;
    PyThreadState *state = py_unlock_for(0, to.device);
    if (py_likely(w.plain))
        store_plain(to.data, from.data, to.size, w.pe);
    else
        store(to.data, from.data, to.size, &w);
    py_relock(state);
    Py_XDECREF(room.owner);
    Py_RETURN_NONE;
}

/* --- get that makes its result --- */

static void get_bytes(char *to, const char *from, size_t bytes, bool device, const struct py_where *w)
{
    PyThreadState *state = py_unlock_for(bytes, device);
    if (w->plain)
        shmem_getmem(to, from, bytes, w->pe);
    else
        shmem_ctx_getmem(w->ctx, to, from, bytes, w->pe);
    py_relock(state);
}

/* One row of a view, into contiguous memory. */
static void get_row(char *to, const char *from, npy_intp n, npy_intp stride, size_t size,
                    const struct py_where *w)
{
    if (stride == (npy_intp)size)
        shmem_ctx_getmem(w->ctx, to, from, (size_t)n * size, w->pe);
    else if (stride > 0 && stride % (npy_intp)size == 0)
        shmem_ctx_ibget8(w->ctx, to, from, (ptrdiff_t)size, stride, size, (size_t)n, w->pe);
    else
        for (npy_intp i = 0; i < n; i++)
            shmem_ctx_getmem(w->ctx, to + (size_t)i * size, from + i * stride, size, w->pe);
}

/* A view with gaps: row by row, in C order. */
static void get_rows(char *to, PyArrayObject *source, const struct py_where *w)
{
    int nd = PyArray_NDIM(source);
    npy_intp at[NPY_MAXDIMS] = {0}, n = PyArray_DIM(source, nd - 1);
    size_t size = (size_t)PyArray_ITEMSIZE(source), row = (size_t)n * size;
    const char *from = PyArray_BYTES(source);
    for (;;) {
        get_row(to, from, n, PyArray_STRIDE(source, nd - 1), size, w);
        to += row;
        int d = nd - 2;
        while (d >= 0 && ++at[d] == PyArray_DIM(source, d)) {
            from -= (at[d] - 1) * PyArray_STRIDE(source, d);
            at[d--] = 0;
        }
        if (d < 0) return;
        from += PyArray_STRIDE(source, d);
    }
}

static bool same_shape(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_NDIM(a) == PyArray_NDIM(b) &&
           PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

static int check_out(PyObject *o, const struct py_type *t, const struct py_operand *source,
                     struct py_operand *out)
{
    if (!PyArray_Check(o) && !py_is_device(o)) {
        PyErr_Format(PyExc_TypeError, "out: an array is needed, not %.200s", Py_TYPE(o)->tp_name);
        return -1;
    }
    if (py_arg_operand(o, t, PY_WRITE, "out", out)) return -1;
    if (source->element ? out->count == 1 : same_shape(out->array, source->array)) return 0;
    PyErr_SetString(PyExc_ValueError, "out: its shape is not that of source");
    return -1;
}

static bool is_contiguous_alike(PyArrayObject *a, PyArrayObject *b)
{
    return (PyArray_IS_C_CONTIGUOUS(a) && PyArray_IS_C_CONTIGUOUS(b)) ||
           (PyArray_IS_F_CONTIGUOUS(a) && PyArray_IS_F_CONTIGUOUS(b));
}

void py_copy(void *to, bool to_device, const void *from, bool from_device, size_t bytes)
{
    if (to_device)
        shmem_putmem(to, from, bytes, py_world.pe);
    else if (from_device)
        shmem_getmem(to, from, bytes, py_world.pe);
    else
        memcpy(to, from, bytes);
}

/* Of an array of the host, in C order, to `out`, which has another. */
static int reorder(const struct py_operand *out, PyArrayObject *values)
{
    if (!out->device) return PyArray_CopyInto(out->array, values);
    PyArrayObject *copy = (PyArrayObject *)PyArray_NewLikeArray(out->array, NPY_KEEPORDER, NULL, 0);
    int rc = copy ? PyArray_CopyInto(copy, values) : -1;
    if (!rc) py_copy(out->data, true, PyArray_DATA(copy), false, (size_t)PyArray_NBYTES(copy));
    Py_XDECREF((PyObject *)copy);
    return rc;
}

/* out has the shape of source. When the two differ in layout, the values go by way of a fresh array. */
static int fill(const struct py_operand *to, const struct py_operand *from, const struct py_where *w)
{
    PyArrayObject *out = to->array, *source = from->array;
    size_t bytes = (size_t)PyArray_NBYTES(source);
    bool device = to->device || from->device;
    if (!bytes) return 0;
    if (is_contiguous_alike(out, source)) {
        get_bytes(to->data, from->data, bytes, device, w);
        return 0;
    }
    if (PyArray_IS_C_CONTIGUOUS(out)) {
        PyThreadState *state = py_unlock_for(bytes, device);
        get_rows(to->data, source, w);
        py_relock(state);
        return 0;
    }
    PyArrayObject *aside = (PyArrayObject *)PyArray_NewLikeArray(source, NPY_CORDER, NULL, 0);
    if (!aside) return -1;
    struct py_operand values = {.data = PyArray_BYTES(aside), .array = aside};
    int rc = fill(&values, from, w);
    if (!rc) rc = reorder(to, aside);
    Py_DECREF((PyObject *)aside);
    return rc;
}

static PyObject *new_like(const struct py_type *t, PyArrayObject *source)
{
    if (!t) return PyArray_NewLikeArray(source, NPY_KEEPORDER, NULL, 0);
    PyArray_Descr *descr = PyArray_DescrFromType(t->num);
    return descr ? PyArray_NewLikeArray(source, NPY_KEEPORDER, descr, 0) : NULL;
}

PyObject *py_get_array(const struct py_type *t, PyObject *from, PyObject *to, const struct py_where *w)
{
    struct py_operand source, out;
    if (py_arg_operand(from, t, PY_SYMMETRIC | PY_STRIDED, "source", &source)) return NULL;
    if (py_absent(to) && (source.element || !PyArray_NDIM(source.array))) return get_one(t, &source, w);
    if (!py_absent(to) && (check_out(to, t, &source, &out) || py_same_dtype(&source, "source", &out, "out"))) return NULL;
    if (source.element) {
        get_bytes(out.data, source.data, source.size, out.device, w);
        return Py_NewRef(to);
    }
    PyObject *result = py_absent(to) ? new_like(t, source.array) : Py_NewRef(to);
    if (result && py_absent(to)) out = (struct py_operand){.data = PyArray_BYTES((PyArrayObject *)result),
                                                           .array = (PyArrayObject *)result};
    if (result && fill(&out, &source, w)) Py_CLEAR(result);
    return result;
}

CALL(call_typed_get)
{
    const py_row *row = py_row_of(self);
    PyObject *a[4];
    struct py_where w;
    struct py_operand op;
    if (py_parse(&typed_get_params, row->name, args, nargs, kwnames, a) || py_need(row->name)) return NULL;
    if (py_arg_where(a[1], a[3], &w)) return NULL;
    if (py_unlikely(!py_is_element(a[0]) || !py_absent(a[2]))) return py_get_array(row->type, a[0], a[2], &w);
    if (py_arg_one(a[0], row->type, 0, "source", &op)) return NULL;
    return get_one(row->type, &op, &w);
}

/* --- arrays --- */

struct move {
    struct py_operand target, source;
    struct py_room room;
    struct py_where w;
    size_t count, bytes;
};

static bool on_device(const struct move *m) { return m->target.device || m->source.device; }

static int too_many(size_t size, const struct py_operand *op, const char *arg)
{
    PyErr_Format(PyExc_ValueError, "size: %zu elements are more than the %zu of %s", size, op->count, arg);
    return -1;
}

static int count_of(const py_row *row, PyObject *size, struct move *m)
{
    size_t least = m->target.count < m->source.count ? m->target.count : m->source.count;
    if (py_arg_size(size, "size", least, &m->count)) return -1;
    if (py_absent(size) && m->target.count != m->source.count && !takes_least(row)) {
        PyErr_Format(PyExc_ValueError,
                     "source: it has %zu elements and target has %zu; say how many with size=",
                     m->source.count, m->target.count);
        return -1;
    }
    if (!takes_least(row) && py_same_order(&m->target, &m->source)) return -1;
    if (m->count > m->target.count) return too_many(m->count, &m->target, "target");
    if (m->count > m->source.count) return too_many(m->count, &m->source, "source");
    m->bytes = m->count * m->target.size;
    return 0;
}

/* Only with this PE itself can the two be the same memory. */
static int check_overlap(const struct move *m)
{
    const char *to = m->target.data, *from = m->source.data;
    if (py_likely(to >= from + m->bytes || from >= to + m->bytes || to == from)) return 0;
    if (!m->w.plain || m->w.pe != py_world.pe) return 0;
    PyErr_SetString(PyExc_ValueError, "source: it overlaps target, and pe is this PE itself");
    return -1;
}

static int prepare_put(const py_row *row, PyObject *target, PyObject *source, PyObject *pe, PyObject *size,
                       PyObject *ctx, struct move *m)
{
    if (py_need(row->name) || py_arg_where(pe, ctx, &m->w)) return -1;
    if (py_arg_operand(target, row->type, PY_WRITE | PY_SYMMETRIC, "target", &m->target)) return -1;
    if (py_arg_source(source, row->type, &m->target, "source", &m->room, &m->source)) return -1;
    return count_of(row, size, m) || check_overlap(m) ? -1 : 0;
}

static PyObject *put(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, bool nbi)
{
    const py_row *row = py_row_of(self);
    PyObject *a[5];
    struct move m;
    m.room.owner = NULL;
    if (py_parse(&move_params, row->name, args, nargs, kwnames, a)) return NULL;
    if (prepare_put(row, a[0], a[1], a[2], a[3], a[4], &m)) {
        Py_XDECREF(m.room.owner);
        return NULL;
    }
    PyThreadState *state = py_unlock_for(m.bytes, on_device(&m));
    if (nbi && !m.source.element)
        shmem_ctx_putmem_nbi(m.w.ctx, m.target.data, m.source.data, m.bytes, m.w.pe);
    else
        shmem_ctx_putmem(m.w.ctx, m.target.data, m.source.data, m.bytes, m.w.pe);
    py_relock(state);
    if (nbi && !m.source.element) py_pending_add(m.w.ctx, &m.source);
    Py_XDECREF(m.room.owner);
    Py_RETURN_NONE;
}

CALL(call_put)
{
    return put(self, args, nargs, kwnames, false);
}
CALL(call_put_nbi)
{
    return put(self, args, nargs, kwnames, true);
}

static int prepare_get(const py_row *row, PyObject *const *a, struct move *m)
{
    if (py_need(row->name) || py_arg_where(a[2], a[4], &m->w)) return -1;
    if (py_arg_operand(a[0], row->type, PY_WRITE, "target", &m->target)) return -1;
    if (py_arg_operand(a[1], row->type, PY_SYMMETRIC, "source", &m->source)) return -1;
    if (py_same_dtype(&m->target, "target", &m->source, "source")) return -1;
    return count_of(row, a[3], m) || check_overlap(m) ? -1 : 0;
}

static PyObject *get(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, bool nbi)
{
    const py_row *row = py_row_of(self);
    PyObject *a[5];
    struct move m;
    if (py_parse(&move_params, row->name, args, nargs, kwnames, a) || prepare_get(row, a, &m)) return NULL;
    PyThreadState *state = py_unlock_for(m.bytes, on_device(&m));
    if (nbi)
        shmem_ctx_getmem_nbi(m.w.ctx, m.target.data, m.source.data, m.bytes, m.w.pe);
    else
        shmem_ctx_getmem(m.w.ctx, m.target.data, m.source.data, m.bytes, m.w.pe);
    py_relock(state);
    if (nbi) py_pending_add(m.w.ctx, &m.target);
    Py_RETURN_NONE;
}

CALL(call_get)
{
    return get(self, args, nargs, kwnames, false);
}
CALL(call_get_nbi)
{
    return get(self, args, nargs, kwnames, true);
}

/* --- strided --- */

/* How many elements an array has at that stride. */
static size_t steps_in(const struct py_operand *op, ptrdiff_t stride)
{
    return op->count ? 1 + (op->count - 1) / (size_t)stride : 0;
}

static int strided_count(PyObject *size, ptrdiff_t tst, ptrdiff_t sst, struct move *m)
{
    size_t to = steps_in(&m->target, tst), from = steps_in(&m->source, sst);
    if (py_arg_size(size, "size", to < from ? to : from, &m->count)) return -1;
    m->bytes = m->count * m->target.size;
    if (m->count <= to && m->count <= from) return 0;
    PyErr_Format(PyExc_ValueError, "size: %zu elements are more than the %zu of %s at its stride", m->count,
                 m->count > to ? to : from, m->count > to ? "target" : "source");
    return -1;
}

/* Elements of any size; a power of two has a function of its own, which is faster. A single element has no
 * stride. */
static void put_strided(const struct move *m, ptrdiff_t tst, ptrdiff_t sst)
{
    void *to = m->target.data;
    const void *from = m->source.data;
    size_t n = m->count, size = m->target.size;
    shmem_ctx_t ctx = m->w.ctx;
    int pe = m->w.pe;
    if (n < 2) tst = sst = 1;
    switch (size) {
    case 1:
        shmem_ctx_iput8(ctx, to, from, tst, sst, n, pe);
        return;
    case 2:
        shmem_ctx_iput16(ctx, to, from, tst, sst, n, pe);
        return;
    case 4:
        shmem_ctx_iput32(ctx, to, from, tst, sst, n, pe);
        return;
    case 8:
        shmem_ctx_iput64(ctx, to, from, tst, sst, n, pe);
        return;
    case 16:
        shmem_ctx_iput128(ctx, to, from, tst, sst, n, pe);
        return;
    default:
        shmem_ctx_ibput8(ctx, to, from, tst * (ptrdiff_t)size, sst * (ptrdiff_t)size, size, n, pe);
    }
}

static void get_strided(const struct move *m, ptrdiff_t tst, ptrdiff_t sst)
{
    void *to = m->target.data;
    const void *from = m->source.data;
    size_t n = m->count, size = m->target.size;
    shmem_ctx_t ctx = m->w.ctx;
    int pe = m->w.pe;
    if (n < 2) tst = sst = 1;
    switch (size) {
    case 1:
        shmem_ctx_iget8(ctx, to, from, tst, sst, n, pe);
        return;
    case 2:
        shmem_ctx_iget16(ctx, to, from, tst, sst, n, pe);
        return;
    case 4:
        shmem_ctx_iget32(ctx, to, from, tst, sst, n, pe);
        return;
    case 8:
        shmem_ctx_iget64(ctx, to, from, tst, sst, n, pe);
        return;
    case 16:
        shmem_ctx_iget128(ctx, to, from, tst, sst, n, pe);
        return;
    default:
        shmem_ctx_ibget8(ctx, to, from, tst * (ptrdiff_t)size, sst * (ptrdiff_t)size, size, n, pe);
    }
}

static PyObject *strided(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                         bool puts)
{
    const py_row *row = py_row_of(self);
    PyObject *a[7];
    struct move m;
    ptrdiff_t tst, sst;
    if (py_parse(&strided_params, row->name, args, nargs, kwnames, a) || py_need(row->name)) return NULL;
    if (py_arg_where(a[2], a[6], &m.w)) return NULL;
    if (py_arg_operand(a[0], row->type, puts ? PY_WRITE | PY_SYMMETRIC : PY_WRITE, "target", &m.target))
        return NULL;
    if (py_arg_operand(a[1], row->type, puts ? 0 : PY_SYMMETRIC, "source", &m.source)) return NULL;
    if (py_same_dtype(&m.target, "target", &m.source, "source")) return NULL;
    if (py_arg_stride(a[3], "tst", &tst) || py_arg_stride(a[4], "sst", &sst)) return NULL;
    if (strided_count(a[5], tst, sst, &m)) return NULL;
    PyThreadState *state = py_unlock_for(m.bytes, on_device(&m));
    puts ? put_strided(&m, tst, sst) : get_strided(&m, tst, sst);
    py_relock(state);
    Py_RETURN_NONE;
}

CALL(call_iput)
{
    return strided(self, args, nargs, kwnames, true);
}
CALL(call_iget)
{
    return strided(self, args, nargs, kwnames, false);
}

/* --- signals --- */

static const struct py_type *uint64_row(void)
{
    static const struct py_type *row;
    if (row) return row;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT64);
    row = py_type_of(descr);
    Py_DECREF(descr);
    return row;
}

static PyObject *put_signal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                            bool nbi)
{
    const py_row *row = py_row_of(self);
    PyObject *a[8];
    struct move m;
    uint64_t *signal, value;
    int sigop;
    m.room.owner = NULL;
    if (py_parse(&put_signal_params, row->name, args, nargs, kwnames, a)) return NULL;
    if (prepare_put(row, a[0], a[1], a[2], a[6], a[7], &m) || py_arg_signal(a[3], &signal) ||
        py_arg_value(a[4], uint64_row(), "value", &value) || py_arg_sigop(a[5], &sigop)) {
        Py_XDECREF(m.room.owner);
        return NULL;
    }
    PyThreadState *state = py_unlock_for(m.bytes, on_device(&m) || py_is_device(a[3]));
    if (nbi && !m.source.element)
        shmem_ctx_putmem_signal_nbi(m.w.ctx, m.target.data, m.source.data, m.bytes, signal, value, sigop,
                                    m.w.pe);
    else
        shmem_ctx_putmem_signal(m.w.ctx, m.target.data, m.source.data, m.bytes, signal, value, sigop, m.w.pe);
    py_relock(state);
    if (nbi && !m.source.element) py_pending_add(m.w.ctx, &m.source);
    Py_XDECREF(m.room.owner);
    Py_RETURN_NONE;
}

CALL(call_put_signal)
{
    return put_signal(self, args, nargs, kwnames, false);
}
CALL(call_put_signal_nbi)
{
    return put_signal(self, args, nargs, kwnames, true);
}

static int parse_signal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                        uint64_t **signal, uint64_t *value, struct py_where *w)
{
    PyObject *a[4];
    const char *name = py_row_of(self)->name;
    if (py_parse(&signal_params, name, args, nargs, kwnames, a) || py_need(name)) return -1;
    if (py_arg_where(a[2], a[3], w) || py_arg_signal(a[0], signal)) return -1;
    return py_arg_value(a[1], uint64_row(), "value", value);
}

CALL(call_signal_set)
{
    uint64_t *signal, value;
    struct py_where w;
    if (parse_signal(self, args, nargs, kwnames, &signal, &value, &w)) return NULL;
    shmem_ctx_signal_set(w.ctx, signal, value, w.pe);
    Py_RETURN_NONE;
}

CALL(call_signal_add)
{
    uint64_t *signal, value;
    struct py_where w;
    if (parse_signal(self, args, nargs, kwnames, &signal, &value, &w)) return NULL;
    shmem_ctx_signal_add(w.ctx, signal, value, w.pe);
    Py_RETURN_NONE;
}

CALL(call_signal_fetch)
{
    PyObject *a[1];
    uint64_t *signal;
    const char *name = py_row_of(self)->name;
    if (py_parse(&signal_only_params, name, args, nargs, kwnames, a) || py_need(name)) return NULL;
    if (py_arg_signal(a[0], &signal)) return NULL;
    return PyLong_FromUnsignedLongLong(shmem_signal_fetch(signal));
}

CALL(call_new_signal)
{
    const char *name = py_row_of(self)->name;
    if (py_parse(&no_params, name, args, nargs, kwnames, NULL) || py_need(name)) return NULL;
    py_block *block = py_memory_alloc(sizeof(uint64_t), 0, SHMEM_MALLOC_SIGNAL_REMOTE, true, "a signal", "host");
    if (!block) return NULL;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT64);
    PyObject *signal = py_array_new(descr, 1, (npy_intp[1]){1}, 0, block->start, (PyObject *)block, false);
    Py_DECREF(descr);
    return signal;
}

CALL(call_del_signal)
{
    PyObject *a[1];
    uint64_t *signal;
    const char *name = py_row_of(self)->name;
    if (py_parse(&signal_only_params, name, args, nargs, kwnames, a) || py_need(name)) return NULL;
    if (py_arg_signal(a[0], &signal)) return NULL;
    py_block *block = py_block_at(signal);
    if (!block || block->start != (char *)signal || block->bytes != sizeof *signal) {
        PyErr_SetString(PyExc_ValueError, "signal: it was not made by new_signal");
        return NULL;
    }
    Py_INCREF(block);
    int rc = py_memory_free(block);
    Py_DECREF(block);
    if (rc) return NULL;
    Py_RETURN_NONE;
}

/* Arguments of calls: keywords, PEs, contexts, arrays, values. Every message begins with the argument's
 * name. */
#include "ops.h"

#include <string.h>

/* --- keywords --- */

int py_params_register(struct py_params *p)
{
    int n = 0;
    while (p->names[n])
        n++;
    for (int i = 0; i < n; i++)
        if (!p->interned[i] && !(p->interned[i] = PyUnicode_InternFromString(p->names[i]))) return -1;
    p->count = n;
    return 0;
}

static int find_param(const struct py_params *p, PyObject *name)
{
    for (int i = 0; i < p->count; i++)
        if (p->interned[i] == name || PyUnicode_Compare(p->interned[i], name) == 0) return i;
    return -1;
}

static int take_keyword(const struct py_params *p, const char *call, PyObject *name, PyObject *value,
                        PyObject **out)
{
    int i = find_param(p, name);
    if (i >= 0 && !out[i]) {
        out[i] = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 i < 0 ? "%s() got an unexpected keyword argument '%U'"
                       : "%s() got multiple values for argument '%U'",
                 call, name);
    return -1;
}

int py_parse_slow(struct py_params *p, const char *call, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject **out)
{
    if (!p->count && py_params_register(p)) return -1;
    if (nargs > p->count) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments (%zd given)", call, p->count, nargs);
        return -1;
    }
    for (int i = 0; i < p->count; i++)
        out[i] = i < nargs ? args[i] : NULL;
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++)
        if (take_keyword(p, call, PyTuple_GET_ITEM(kwnames, k), args[nargs + k], out)) return -1;
    for (int i = 0; i < p->required; i++) {
        if (out[i]) continue;
        PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", call, p->names[i]);
        return -1;
    }
    return 0;
}

/* --- whole numbers --- */

static int wrong_type(const char *arg, const char *wanted, PyObject *o)
{
    PyErr_Format(PyExc_TypeError, "%s: %s is needed, not %.200s", arg, wanted, Py_TYPE(o)->tp_name);
    return -1;
}

/* A new reference to the int that an integer of any kind stands for; truth values of NumPy are none. */
static PyObject *index_of(PyObject *o, const char *arg)
{
    if (PyLong_Check(o)) return Py_NewRef(o);
    bool no_number = PyArray_IsScalar(o, Bool) || (PyArray_Check(o) && PyArray_NDIM((PyArrayObject *)o));
    PyObject *n = no_number ? NULL : PyNumber_Index(o);
    if (n) return n;
    PyErr_Clear();
    wrong_type(arg, "an integer", o);
    return NULL;
}

/* Out of the range of a C long long: what it is clipped to, so that range checks find it. */
static int arg_number(PyObject *o, const char *arg, long long *n)
{
    int overflow;
    PyObject *number = index_of(o, arg);
    if (!number) return -1;
    *n = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) *n = overflow > 0 ? LLONG_MAX : LLONG_MIN;
    Py_DECREF(number);
    return *n == -1 && PyErr_Occurred() ? -1 : 0;
}

int py_arg_size(PyObject *o, const char *arg, size_t dflt, size_t *n)
{
    long long number;
    *n = dflt;
    if (py_absent(o)) return 0;
    if (arg_number(o, arg, &number)) return -1;
    if (number < 0) {
        PyErr_Format(PyExc_ValueError, "%s: %R is less than 0", arg, o);
        return -1;
    }
    *n = (size_t)number;
    return 0;
}

int py_arg_stride(PyObject *o, const char *arg, ptrdiff_t *stride)
{
    long long number = 1;
    if (!py_absent(o) && arg_number(o, arg, &number)) return -1;
    if (number < 1) {
        PyErr_Format(PyExc_ValueError, "%s: the stride is %R, it must be 1 or more elements", arg, o);
        return -1;
    }
    *stride = (ptrdiff_t)number;
    return 0;
}

int py_need_host(PyObject *o, const char *arg)
{
    if (!py_is_device(o)) return 0;
    PyErr_Format(PyExc_TypeError, "%s: host memory is needed, not a DeviceArray, which the CPU cannot read; take a copy: "
                 "x.copy_to_host()", arg);
    return -1;
}

/* --- where to --- */

int py_arg_ctx(PyObject *o, shmem_ctx_t *ctx)
{
    *ctx = SHMEM_CTX_DEFAULT;
    if (py_absent(o)) return 0;
    if (!PyObject_TypeCheck(o, py_ctx_type)) return wrong_type("ctx", "a Ctx or None", o);
    *ctx = ((py_ctx *)o)->handle;
    if (py_likely(*ctx == SHMEM_CTX_DEFAULT || shmemx_ctx_is_valid(*ctx))) return 0;
    if (*ctx == SHMEM_CTX_INVALID)
        PyErr_SetString(PyExc_ValueError, "ctx: CTX_INVALID is no context to communicate on");
    else
        PyErr_SetString(PyExc_RuntimeError, "ctx: this context was destroyed, or its team was");
    return -1;
}

int py_arg_team(PyObject *o, shmem_team_t *team, int *npes)
{
    *team = SHMEM_TEAM_WORLD;
    *npes = py_world.npes;
    if (py_absent(o)) return 0;
    if (!PyObject_TypeCheck(o, py_team_type)) return wrong_type("team", "a Team or None", o);
    *team = ((py_team *)o)->handle;
    if (py_likely(shmemx_team_is_valid(*team))) {
        *npes = shmem_team_n_pes(*team);
        return 0;
    }
    if (*team == SHMEM_TEAM_INVALID)
        PyErr_SetString(PyExc_ValueError, "team: TEAM_INVALID, a team of which this PE is no member");
    else
        PyErr_SetString(PyExc_RuntimeError, "team: this team was destroyed");
    return -1;
}

static int members_of(shmem_ctx_t ctx)
{
    shmem_team_t team;
    if (ctx == SHMEM_CTX_DEFAULT) return py_world.npes;
    return shmem_ctx_get_team(ctx, &team) ? 0 : shmem_team_n_pes(team);
}

static int pe_among(PyObject *o, int npes, int *pe)
{
    long long number;
    if (arg_number(o, "pe", &number)) return -1;
    if (number < 0 || number >= npes) {
        PyErr_Format(PyExc_IndexError, "pe: %R is out of range; the PEs are 0 to %d", o, npes - 1);
        return -1;
    }
    *pe = (int)number;
    return 0;
}

int py_arg_where_slow(PyObject *pe, PyObject *ctx, struct py_where *w)
{
    w->plain = py_absent(ctx);
    if (py_arg_ctx(ctx, &w->ctx)) return -1;
    return pe_among(pe, members_of(w->ctx), &w->pe);
}

int py_arg_pe(PyObject *o, PyObject *ctx, int *pe)
{
    struct py_where w;
    if (py_arg_where(o, ctx, &w)) return -1;
    *pe = w.pe;
    return 0;
}

/* --- words --- */

int py_arg_word(PyObject *o, const char *arg, char *word)
{
    enum { ROOM = 16 };
    Py_ssize_t n;
    if (!PyUnicode_Check(o)) return wrong_type(arg, "a string", o);
    const char *text = PyUnicode_AsUTF8AndSize(o, &n);
    if (!text) return -1;
    word[0] = 0;
    if (n >= ROOM) return 0; /* no word of ours is that long: the caller will not know it */
    for (Py_ssize_t i = 0; i <= n; i++)
        word[i] = (char)Py_TOLOWER((unsigned char)text[i]);
    return 0;
}

int py_arg_cmp(PyObject *o, int *cmp)
{
    static const struct {
        const char *name, *sign;
        int cmp;
    } known[] = {{"eq", "==", SHMEM_CMP_EQ}, {"ne", "!=", SHMEM_CMP_NE}, {"gt", ">", SHMEM_CMP_GT},
                 {"ge", ">=", SHMEM_CMP_GE}, {"lt", "<", SHMEM_CMP_LT},  {"le", "<=", SHMEM_CMP_LE}};
    char word[16];
    long long number = 0;
    bool text = PyUnicode_Check(o);
    if (text ? py_arg_word(o, "cmp", word) : arg_number(o, "cmp", &number)) return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (text ? strcmp(word, known[i].name) && strcmp(word, known[i].sign) : number != known[i].cmp)
            continue;
        *cmp = known[i].cmp;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "cmp: %R is no comparison; use CMP_EQ, 'eq' or '==', and so on", o);
    return -1;
}

int py_arg_sigop(PyObject *o, int *sigop)
{
    char word[16];
    long long number = -1;
    bool text = PyUnicode_Check(o);
    if (text ? py_arg_word(o, "sigop", word) : arg_number(o, "sigop", &number)) return -1;
    if (text) number = !strcmp(word, "set") ? SHMEM_SIGNAL_SET : !strcmp(word, "add") ? SHMEM_SIGNAL_ADD : -1;
    if (number != SHMEM_SIGNAL_SET && number != SHMEM_SIGNAL_ADD) {
        PyErr_Format(PyExc_ValueError, "sigop: %R is neither SIGNAL_SET nor SIGNAL_ADD", o);
        return -1;
    }
    *sigop = (int)number;
    return 0;
}

/* --- values --- */

static int no_value_for(PyObject *o, const struct py_type *t, const char *arg, const char *wanted)
{
    if (py_need_host(o, arg)) return -1;
    PyErr_Format(PyExc_TypeError, "%s: %s is needed for %s, not %.200s", arg, wanted, t->name,
                 Py_TYPE(o)->tp_name);
    return -1;
}

/* NumPy's truth values and ours are no indices for Python, but 0 and 1 for NumPy. */
static bool is_numpy_bool(PyObject *o)
{
    return PyArray_IsScalar(o, Bool) ||
           (py_is_element(o) && py_element_of(o)->array && PyArray_TYPE(py_element_of(o)->array) == NPY_BOOL);
}

/* A new reference to a scalar for what is an array without dimensions, o itself for what is none, NULL for
 * the rest. */
static PyObject *scalar_of(PyObject *o, const struct py_type *t, const char *arg)
{
    if (!PyArray_Check(o)) return Py_NewRef(o);
    if (!PyArray_NDIM((PyArrayObject *)o))
        return PyArray_ToScalar(PyArray_DATA((PyArrayObject *)o), (PyArrayObject *)o);
    no_value_for(o, t, arg, "a number");
    return NULL;
}

static void lay_integer(uint64_t v, size_t size, void *value)
{
    switch (size) {
    case 1:
        *(uint8_t *)value = (uint8_t)v;
        return;
    case 2:
        *(uint16_t *)value = (uint16_t)v;
        return;
    case 4:
        *(uint32_t *)value = (uint32_t)v;
        return;
    default:
        *(uint64_t *)value = v;
    }
}

static int out_of_range(PyObject *o, const struct py_type *t, const char *arg)
{
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "%s: %S is out of range for %s, %s integers of %d bytes", arg, o,
                 t->name, t->class == PY_SIGNED ? "signed" : "unsigned", t->size);
    return -1;
}

static int integer_of(PyObject *number, const struct py_type *t, const char *arg, void *value)
{
    int overflow, unused = 64 - 8 * t->size;
    long long n = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (t->class == PY_SIGNED) {
        if (overflow || (long long)((unsigned long long)n << unused) >> unused != n)
            return out_of_range(number, t, arg);
        lay_integer((uint64_t)n, t->size, value);
        return 0;
    }
    unsigned long long u = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : (unsigned long long)n;
    if (overflow < 0 || (!overflow && n < 0) || PyErr_Occurred() || u << unused >> unused != u)
        return out_of_range(number, t, arg);
    lay_integer(u, t->size, value);
    return 0;
}

static int integer_value(PyObject *o, const struct py_type *t, const char *arg, void *value)
{
    if (py_likely(PyLong_CheckExact(o))) return integer_of(o, t, arg, value);
    if (is_numpy_bool(o)) {
        lay_integer((uint64_t)PyObject_IsTrue(o), t->size, value);
        return 0;
    }
    PyObject *number = PyNumber_Index(o);
    if (!number) {
        PyErr_Clear();
        return no_value_for(o, t, arg, "an integer");
    }
    int rc = integer_of(number, t, arg, value);
    Py_DECREF(number);
    return rc;
}

/* Strings and complex numbers are no real numbers, whatever float() makes of them. */
static bool is_real(PyObject *o)
{
    const PyNumberMethods *n = Py_TYPE(o)->tp_as_number;
    return n && !py_is_device(o) && (n->nb_float || n->nb_index) && !PyArray_IsScalar(o, ComplexFloating);
}

static int real_of(PyObject *o, const struct py_type *t, const char *arg, double *d)
{
    if (PyFloat_Check(o)) {
        *d = PyFloat_AS_DOUBLE(o);
        return 0;
    }
    if (!is_real(o)) return no_value_for(o, t, arg, "a number");
    PyObject *number = PyNumber_Float(o);
    if (!number) return -1;
    *d = PyFloat_AS_DOUBLE(number);
    Py_DECREF(number);
    return 0;
}

static int floating_value(PyObject *o, const struct py_type *t, const char *arg, void *value)
{
    double d = 0;
    if (t->size == sizeof(float) && PyArray_IsScalar(o, Float)) {
        memcpy(value, &PyArrayScalar_VAL(o, Float), sizeof(float));
        return 0;
    }
    if (t->size == sizeof(long double) && PyArray_IsScalar(o, LongDouble)) {
        memcpy(value, &PyArrayScalar_VAL(o, LongDouble), sizeof(long double));
        return 0;
    }
    if (t->size == sizeof(long double) && PyLong_Check(o)) { /* it has more digits than a double */
        PyObject *wide = PyObject_CallFunctionObjArgs((PyObject *)&PyLongDoubleArrType_Type, o, NULL);
        if (!wide) return -1;
        memcpy(value, &PyArrayScalar_VAL(wide, LongDouble), sizeof(long double));
        Py_DECREF(wide);
        return 0;
    }
    if (real_of(o, t, arg, &d)) return -1;
    switch (t->size) {
    case sizeof(float):
        *(float *)value = (float)d;
        return 0;
    case sizeof(double):
        *(double *)value = d;
        return 0;
    default:
        *(long double *)value = d;
        return 0;
    }
}

static int complex_value(PyObject *o, const struct py_type *t, const char *arg, void *value)
{
    if (!PyComplex_Check(o) && !PyArray_IsScalar(o, ComplexFloating) && !is_real(o))
        return no_value_for(o, t, arg, "a number");
    Py_complex c = PyComplex_AsCComplex(o);
    if (c.real == -1.0 && PyErr_Occurred()) return -1;
    if (t->size == 2 * sizeof(float))
        memcpy(value, (float[2]){(float)c.real, (float)c.imag}, 2 * sizeof(float));
    else
        memcpy(value, (double[2]){c.real, c.imag}, 2 * sizeof(double));
    return 0;
}

static int value_of(PyObject *o, const struct py_type *t, const char *arg, void *value)
{
    switch (t->class) {
    case PY_FLOATING:
        return floating_value(o, t, arg, value);
    case PY_COMPLEX:
        return complex_value(o, t, arg, value);
    default:
        return integer_value(o, t, arg, value);
    }
}

int py_arg_value(PyObject *o, const struct py_type *t, const char *arg, void *value)
{
    if (py_likely(!PyArray_Check(o))) return value_of(o, t, arg, value);
    PyObject *scalar = scalar_of(o, t, arg);
    int rc = scalar ? value_of(scalar, t, arg, value) : -1;
    Py_XDECREF(scalar);
    return rc;
}

/* --- arrays --- */

static int wrong_dtype(const char *arg, const PyArray_Descr *descr, const struct py_type *t)
{
    PyArray_Descr *wanted = PyArray_DescrFromType(t->num);
    PyErr_Format(PyExc_TypeError, "%s: its dtype is %S, but %s takes %S", arg, descr, t->name, wanted);
    Py_XDECREF(wanted);
    return -1;
}

static int check_dtype(const PyArray_Descr *descr, const struct py_type *t, const char *arg)
{
    if (t) return py_type_fits(t, descr) ? 0 : wrong_dtype(arg, descr, t);
    if (py_type_is_plain(descr)) return 0;
    PyErr_Format(PyExc_TypeError, "%s: elements of dtype %S cannot be moved between PEs", arg, descr);
    return -1;
}

void py_extent(PyArrayObject *array, char **low, char **high)
{
    *low = *high = PyArray_BYTES(array);
    if (!PyArray_SIZE(array)) return;
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        npy_intp far = (PyArray_DIM(array, d) - 1) * PyArray_STRIDE(array, d);
        if (far < 0)
            *low += far;
        else
            *high += far;
    }
    *high += PyArray_ITEMSIZE(array);
}

static int check_layout(PyArrayObject *a, int need, const char *arg)
{
    if (need & PY_WRITE && !PyArray_ISWRITEABLE(a)) {
        PyErr_Format(PyExc_ValueError, "%s: the array is read-only", arg);
        return -1;
    }
    if (need & PY_ONE && PyArray_SIZE(a) != 1) {
        PyErr_Format(PyExc_ValueError, "%s: one element is needed, not an array of %zd", arg,
                     (Py_ssize_t)PyArray_SIZE(a));
        return -1;
    }
    if (need & PY_STRIDED || PyArray_IS_C_CONTIGUOUS(a) || PyArray_IS_F_CONTIGUOUS(a)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: the array is not contiguous", arg);
    return -1;
}

/* Nothing may touch freed memory, and what must be symmetric has to be. */
static int check_memory(const char *low, size_t bytes, int need, const char *arg)
{
    if (!bytes) return 0;
    if (need & PY_SYMMETRIC) return py_need_symmetric(low, bytes, arg);
    const py_block *block = py_block_at(low);
    return block && block->state != PY_BLOCK_LIVE ? py_not_symmetric(low, bytes, arg) : 0;
}

static struct py_operand operand_of(PyArrayObject *a, char *data, bool element)
{
    size_t count = element ? 1 : (size_t)PyArray_SIZE(a);
    return (struct py_operand){data, count, (size_t)PyArray_ITEMSIZE(a), PyArray_DESCR(a), a, element, false};
}

static int device_operand(py_device *x, const struct py_type *t, int need, const char *arg, struct py_operand *op)
{
    *op = operand_of(x->layout, PyArray_BYTES(x->layout), false);
    op->device = true;
    return py_need_block(x->block, arg) || check_dtype(op->descr, t, arg) || check_layout(x->layout, need, arg) ? -1 : 0;
}

static int element_operand(PyObject *o, const struct py_type *t, int need, const char *arg,
                           struct py_operand *op)
{
    const struct py_element *e = py_element_of(o);
    if (!e->array) return wrong_type(arg, "a symmetric array or an element of one", o);
    *op = operand_of(e->array, e->data, true);
    if (check_dtype(op->descr, t, arg) || check_memory(op->data, op->size, need, arg)) return -1;
    if (!(need & PY_WRITE) || PyArray_ISWRITEABLE(e->array)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: the array is read-only", arg);
    return -1;
}

int py_arg_operand(PyObject *o, const struct py_type *t, int need, const char *arg, struct py_operand *op)
{
    char *low, *high;
    if (py_is_element(o)) return element_operand(o, t, need, arg, op);
    if (py_is_device(o)) return device_operand((py_device *)o, t, need, arg, op);
    if (!PyArray_Check(o))
        return wrong_type(arg, need & PY_SYMMETRIC ? "a symmetric array or an element of one" : "an array",
                          o);
    PyArrayObject *a = (PyArrayObject *)o;
    *op = operand_of(a, PyArray_BYTES(a), false);
    if (check_dtype(op->descr, t, arg) || check_layout(a, need, arg)) return -1;
    py_extent(a, &low, &high);
    return check_memory(low, (size_t)(high - low), need, arg);
}

int py_same_dtype(const struct py_operand *a, const char *arg_a, const struct py_operand *b,
                  const char *arg_b)
{
    if (a->descr == b->descr || PyArray_EquivTypes(a->descr, b->descr)) return 0;
    const struct py_type *t = py_type_of(a->descr);
    if (t && py_type_fits(t, b->descr)) return 0;
    PyErr_Format(PyExc_TypeError, "%s: its dtype is %S, but that of %s is %S", arg_b, b->descr, arg_a,
                 a->descr);
    return -1;
}

int py_same_order(const struct py_operand *target, const struct py_operand *source)
{
    PyArrayObject *a = target->array, *b = source->array;
    if (target->element || source->element) return 0;
    if (PyArray_IS_C_CONTIGUOUS(a) ? PyArray_IS_C_CONTIGUOUS(b) : PyArray_IS_F_CONTIGUOUS(b)) return 0;
    if (PyArray_IS_F_CONTIGUOUS(a) && PyArray_IS_F_CONTIGUOUS(b)) return 0;
    if (PyArray_NDIM(a) != PyArray_NDIM(b) ||
        !PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a)))
        return 0;
    PyErr_SetString(PyExc_ValueError, "source: it has the shape of target but not its order: one has its rows contiguous "
                                      "('C'), the other its columns ('F')");
    return -1;
}

int py_need_aligned(const struct py_operand *op, const char *arg)
{
    size_t align = op->size > sizeof(uint64_t) ? sizeof(uint64_t) : op->size;
    if (py_likely((uintptr_t)op->data % align == 0 || !op->count)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: its address is no multiple of the %zu bytes of an element", arg,
                 align);
    return -1;
}

int py_arg_signal(PyObject *o, uint64_t **signal)
{
    struct py_operand op;
    static const struct py_type *uint64;
    if (!uint64) {
        PyArray_Descr *descr = PyArray_DescrFromType(NPY_UINT64);
        uint64 = py_type_of(descr);
        Py_DECREF(descr);
    }
    if (py_arg_one(o, uint64, PY_WRITE, "signal", &op) || py_need_aligned(&op, "signal")) return -1;
    *signal = (uint64_t *)op.data;
    return 0;
}

/* --- what is put --- */

static void whole_room(struct py_room *room, const struct py_operand *target, struct py_operand *op)
{
    *op = (struct py_operand){room->bytes, 1, target->size, target->descr, NULL, true, false};
}

/* A value of a dtype that has no row (bool, half, records): NumPy makes one element of it. */
int py_arg_foreign(PyObject *o, const struct py_operand *target, const char *arg, struct py_room *room,
                   struct py_operand *op)
{
    int how = NPY_ARRAY_CARRAY | NPY_ARRAY_ENSUREARRAY |
              NPY_ARRAY_FORCECAST; /* as an assignment to an array does it */
    Py_INCREF(target->descr);
    PyObject *array = PyArray_FromAny(o, target->descr, 0, 0, how, NULL);
    if (!array) return -1;
    room->owner = array;
    PyArrayObject *a = (PyArrayObject *)array;
    *op = operand_of(a, PyArray_BYTES(a), true);
    if (!PyArray_NDIM(a) && op->size == target->size) return 0;
    Py_CLEAR(room->owner);
    PyErr_Format(PyExc_TypeError, "%s: one value of dtype %S is needed, not %.200s", arg, target->descr,
                 Py_TYPE(o)->tp_name);
    return -1;
}

int py_arg_source(PyObject *o, const struct py_type *t, const struct py_operand *target, const char *arg,
                  struct py_room *room, struct py_operand *op)
{
    room->owner = NULL;
    if (PyArray_Check(o) || py_is_device(o))
        return py_arg_operand(o, t, 0, arg, op) || py_same_dtype(target, "target", op, arg) ? -1 : 0;
    if (PySequence_Check(o) && !PyArray_CheckScalar(o) && target->descr->type_num < NPY_OBJECT)
        return wrong_type(arg, "an array or a value", o);
    if (!t) t = py_type_of(target->descr);
    if (!t) return py_arg_foreign(o, target, arg, room, op);
    whole_room(room, target, op);
    return py_arg_value(o, t, arg, room->bytes);
}

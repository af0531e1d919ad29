/* Array, the ndarray of symmetric memory, and its elements.
 *
 * Array is a subclass of ndarray without fields of its own. NumPy makes instances of it wherever it makes an array from an
 * Array: slices, but also copies and results. Its __array_finalize__ sees each of them at birth and turns those that do
 * not lie in symmetric memory into plain ndarrays, so the type tells the truth about where the memory is.
 *
 * x[i] is an element: an instance of a subclass of NumPy's scalar type that also holds the array and the address. It has
 * the value of the moment when it was made, as x[i] of any ndarray has; calls such as float_get take the address. */
#include "memory.h"

PyTypeObject *py_array_type;

/* NumPy's own numbers end with NPY_HALF; those of user dtypes lie above. */
enum { NUMS = NPY_HALF + 1, DIMS_MAX = 32 };
static PyTypeObject *element_types[NUMS];
static unsigned char value_offsets[NUMS];

/* --- elements --- */

void py_element_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    Py_XDECREF((PyObject *)py_element_of(o)->array);
    PyObject_Free(o);
    Py_DECREF(type);
}

static inline void copy_value(char *to, const char *from, int size)
{
    switch (size) {
    case 8: memcpy(to, from, 8); break;
    case 4: memcpy(to, from, 4); break;
    case 2: memcpy(to, from, 2); break;
    case 1: *to = *from; break;
    default: memcpy(to, from, (size_t)size);
    }
}

static const unsigned char sizes[NUMS] = {
    [NPY_BOOL] = 1, [NPY_BYTE] = 1, [NPY_UBYTE] = 1, [NPY_SHORT] = sizeof(short), [NPY_USHORT] = sizeof(short),
    [NPY_INT] = sizeof(int), [NPY_UINT] = sizeof(int), [NPY_LONG] = sizeof(long), [NPY_ULONG] = sizeof(long),
    [NPY_LONGLONG] = sizeof(long long), [NPY_ULONGLONG] = sizeof(long long), [NPY_FLOAT] = sizeof(float),
    [NPY_DOUBLE] = sizeof(double), [NPY_LONGDOUBLE] = sizeof(long double), [NPY_CFLOAT] = 2 * sizeof(float),
    [NPY_CDOUBLE] = 2 * sizeof(double), [NPY_CLONGDOUBLE] = 2 * sizeof(long double), [NPY_HALF] = sizeof(npy_half),
};

static PyTypeObject *element_type(PyArrayObject *a)
{
    int num = PyArray_TYPE(a);
    return num < NUMS && PyArray_ISNOTSWAPPED(a) ? element_types[num] : NULL;
}

static PyObject *element_new(PyTypeObject *type, PyArrayObject *array, char *data)
{
    int num = PyArray_TYPE(array);
    PyObject *o = PyObject_Malloc((size_t)type->tp_basicsize);
    if (!o) return PyErr_NoMemory();
    PyObject_Init(o, type);
    copy_value((char *)o + value_offsets[num], data, sizes[num]);
    struct py_element *e = py_element_of(o);
    e->array = (PyArrayObject *)Py_NewRef((PyObject *)array);
    e->data = data;
    return o;
}

PyObject *py_scalar(int num, const void *value)
{
    PyObject *o;
    switch (num) {
#define SCALAR(NUM, NAME, FIELD)                                            \
    case NUM:                                                               \
        if ((o = PyArrayScalar_New(NAME))) memcpy(&PyArrayScalar_VAL(o, NAME), value, sizeof PyArrayScalar_VAL(o, NAME)); \
        return o;
        SCALAR(NPY_BYTE, Byte, )
        SCALAR(NPY_UBYTE, UByte, )
        SCALAR(NPY_SHORT, Short, )
        SCALAR(NPY_USHORT, UShort, )
        SCALAR(NPY_INT, Int, )
        SCALAR(NPY_UINT, UInt, )
        SCALAR(NPY_LONG, Long, )
        SCALAR(NPY_ULONG, ULong, )
        SCALAR(NPY_LONGLONG, LongLong, )
        SCALAR(NPY_ULONGLONG, ULongLong, )
        SCALAR(NPY_FLOAT, Float, )
        SCALAR(NPY_DOUBLE, Double, )
        SCALAR(NPY_LONGDOUBLE, LongDouble, )
        SCALAR(NPY_CFLOAT, CFloat, )
        SCALAR(NPY_CDOUBLE, CDouble, )
        SCALAR(NPY_CLONGDOUBLE, CLongDouble, )
#undef SCALAR
    case NPY_BOOL: PyArrayScalar_RETURN_BOOL_FROM_LONG(*(const char *)value != 0);
    default: break;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(num);
    if (!descr) return NULL;
    o = PyArray_Scalar((void *)value, descr, NULL);
    Py_DECREF(descr);
    return o;
}

/* --- the look-alike of numpy.bool_, which cannot be subclassed --- */

typedef struct {
    PyObject_HEAD
    npy_bool value;
    struct py_element element; /* last, as in all elements */
} bool_object;

static PyObject *plain_bool(PyObject *o) /* borrowed: True and False of NumPy live forever */
{
    return ((bool_object *)o)->value ? PyArrayScalar_True : PyArrayScalar_False;
}

static PyObject *unwrap(PyObject *o) { return py_is_element(o) && element_types[NPY_BOOL] == Py_TYPE(o) ? plain_bool(o) : o; }

#define BOOL_BINARY(NAME, FUNCTION) \
    static PyObject *bool_##NAME(PyObject *a, PyObject *b) { return FUNCTION(unwrap(a), unwrap(b)); }
BOOL_BINARY(add, PyNumber_Add)
BOOL_BINARY(subtract, PyNumber_Subtract)
BOOL_BINARY(multiply, PyNumber_Multiply)
BOOL_BINARY(true_divide, PyNumber_TrueDivide)
BOOL_BINARY(floor_divide, PyNumber_FloorDivide)
BOOL_BINARY(remainder, PyNumber_Remainder)
BOOL_BINARY(divmod, PyNumber_Divmod)
BOOL_BINARY(and, PyNumber_And)
BOOL_BINARY(or, PyNumber_Or)
BOOL_BINARY(xor, PyNumber_Xor)
BOOL_BINARY(lshift, PyNumber_Lshift)
BOOL_BINARY(rshift, PyNumber_Rshift)
#define BOOL_UNARY(NAME, FUNCTION) \
    static PyObject *bool_##NAME(PyObject *a) { return FUNCTION(plain_bool(a)); }
BOOL_UNARY(invert, PyNumber_Invert)
BOOL_UNARY(positive, PyNumber_Positive)
BOOL_UNARY(int, PyNumber_Long)
BOOL_UNARY(float, PyNumber_Float)
BOOL_UNARY(absolute, PyNumber_Absolute)
BOOL_UNARY(repr, PyObject_Repr)
BOOL_UNARY(str, PyObject_Str)

static PyObject *bool_power(PyObject *a, PyObject *b, PyObject *c) { return PyNumber_Power(unwrap(a), unwrap(b), c); }
static int bool_bool(PyObject *a) { return ((bool_object *)a)->value; }
static Py_hash_t bool_hash(PyObject *a) { return ((bool_object *)a)->value; }
static PyObject *bool_compare(PyObject *a, PyObject *b, int op) { return PyObject_RichCompare(unwrap(a), unwrap(b), op); }

static PyObject *bool_subscript(PyObject *a, PyObject *key) { return PyObject_GetItem(plain_bool(a), key); }
static int bool_getbuffer(PyObject *a, Py_buffer *view, int flags) { return PyObject_GetBuffer(plain_bool(a), view, flags); }
static PyObject *bool_format(PyObject *a, PyObject *spec) { return PyObject_Format(plain_bool(a), spec); }

/* dtype, item(), __array__, __reduce__ and the rest are those of the scalar, its class among them. But for results of
 * ufuncs this is no array: the scalar's __array_wrap__ would make one element of them. */
static PyObject *bool_getattr(PyObject *o, PyObject *name)
{
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__array_wrap__") == 0)
        return PyErr_Format(PyExc_AttributeError, "shmem4py.bool_ has no %U", name);
    return PyObject_GetAttr(plain_bool(o), name);
}

static PyMethodDef bool_methods[] = {{"__format__", bool_format, METH_O, NULL}, {0}};

static PyType_Slot bool_slots[] = {
    {Py_tp_dealloc, py_element_dealloc}, {Py_tp_repr, bool_repr}, {Py_tp_str, bool_str}, {Py_tp_hash, bool_hash},
    {Py_tp_richcompare, bool_compare}, {Py_tp_getattro, bool_getattr}, {Py_nb_bool, bool_bool}, {Py_nb_int, bool_int},
    {Py_nb_float, bool_float}, {Py_nb_absolute, bool_absolute}, {Py_nb_invert, bool_invert}, {Py_nb_add, bool_add},
    {Py_nb_subtract, bool_subtract}, {Py_nb_multiply, bool_multiply}, {Py_nb_true_divide, bool_true_divide},
    {Py_nb_floor_divide, bool_floor_divide}, {Py_nb_remainder, bool_remainder}, {Py_nb_power, bool_power},
    {Py_nb_and, bool_and}, {Py_nb_or, bool_or}, {Py_nb_xor, bool_xor}, {Py_nb_lshift, bool_lshift},
    {Py_nb_rshift, bool_rshift}, {Py_nb_divmod, bool_divmod}, {Py_nb_positive, bool_positive},
    {Py_mp_subscript, bool_subscript}, {Py_bf_getbuffer, bool_getbuffer}, {Py_tp_methods, bool_methods},
    {Py_tp_doc, "An element of a symmetric array of bool: the value of numpy.bool_, and where it comes from."},
    {0, NULL},
};
static PyType_Spec bool_spec = {"shmem4py.bool_", sizeof(bool_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bool_slots};

/* --- element types --- */

/* NumPy 2 puts the type's name into the text; an element reads as the scalar that it stands for. */
static PyObject *element_repr(PyObject *o)
{
    int num = 0;
    while (num < NUMS && element_types[num] != Py_TYPE(o)) num++;
    PyObject *plain = num < NUMS ? py_scalar(num, (char *)o + value_offsets[num]) : NULL;
    if (!plain) return PyErr_Occurred() ? NULL : PyUnicode_FromFormat("<%s>", Py_TYPE(o)->tp_name);
    PyObject *text = PyObject_Repr(plain);
    Py_DECREF(plain);
    return text;
}

static int make_element_type(int num, size_t value_offset)
{
    char name[64];
    PyObject *base = PyArray_TypeObjectFromType(num);
    if (!base) return -1;
    const char *dot = strrchr(((PyTypeObject *)base)->tp_name, '.');
    PyOS_snprintf(name, sizeof name, "shmem4py.%s", dot ? dot + 1 : ((PyTypeObject *)base)->tp_name);
    size_t size = ((size_t)((PyTypeObject *)base)->tp_basicsize + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    PyType_Slot slots[] = {
        {Py_tp_dealloc, py_element_dealloc},
        {Py_tp_repr, element_repr},
        {Py_tp_doc, "An element of a symmetric array: NumPy's scalar, and where it comes from."},
        {0, NULL},
    };
    char *kept = strdup(name); /* the type holds on to it */
    if (!kept) return -1;
    PyType_Spec spec = {kept, (int)(size + sizeof(struct py_element)), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *bases = PyTuple_Pack(1, base);
    Py_DECREF(base);
    if (!bases) return -1;
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases);
    Py_DECREF(bases);
    if (!type) return -1;
    element_types[num] = type;
    value_offsets[num] = (unsigned char)value_offset;
    return 0;
}

static int make_element_types(void)
{
#define ELEMENT(NUM, NAME) \
    if (make_element_type(NUM, offsetof(Py##NAME##ScalarObject, obval))) return -1;
    ELEMENT(NPY_BYTE, Byte)
    ELEMENT(NPY_UBYTE, UByte)
    ELEMENT(NPY_SHORT, Short)
    ELEMENT(NPY_USHORT, UShort)
    ELEMENT(NPY_INT, Int)
    ELEMENT(NPY_UINT, UInt)
    ELEMENT(NPY_LONG, Long)
    ELEMENT(NPY_ULONG, ULong)
    ELEMENT(NPY_LONGLONG, LongLong)
    ELEMENT(NPY_ULONGLONG, ULongLong)
    ELEMENT(NPY_HALF, Half)
    ELEMENT(NPY_FLOAT, Float)
    ELEMENT(NPY_DOUBLE, Double)
    ELEMENT(NPY_LONGDOUBLE, LongDouble)
    ELEMENT(NPY_CFLOAT, CFloat)
    ELEMENT(NPY_CDOUBLE, CDouble)
    ELEMENT(NPY_CLONGDOUBLE, CLongDouble)
#undef ELEMENT
    element_types[NPY_BOOL] = (PyTypeObject *)PyType_FromSpec(&bool_spec);
    value_offsets[NPY_BOOL] = offsetof(bool_object, value);
    return element_types[NPY_BOOL] ? 0 : -1;
}

/* --- x[...] --- */

static bool is_index(PyObject *o)
{
    if (PyLong_CheckExact(o)) return true;
    return PyIndex_Check(o) && !PyArray_Check(o) && !PyBool_Check(o) && !PyArray_IsScalar(o, Bool) && !PyTuple_Check(o) &&
           Py_TYPE(o) != element_types[NPY_BOOL];
}

/* The index along an axis, or -1 when NumPy shall say what is wrong with it. */
static npy_intp index_in(PyObject *o, npy_intp n)
{
    npy_intp i = PyLong_CheckExact(o) ? PyLong_AsSsize_t(o) : PyNumber_AsSsize_t(o, NULL);
    if (i < 0) {
        if (i == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return -1;
        }
        i += n;
    }
    return i < n ? i : -1;
}

/* Where x[key] is when the key names one element, else NULL. */
static char *locate(PyArrayObject *a, PyObject *key)
{
    int nd = PyArray_NDIM(a);
    char *at = PyArray_BYTES(a);
    if (nd == 1 && is_index(key)) {
        npy_intp i = index_in(key, PyArray_DIM(a, 0));
        return i < 0 ? NULL : at + i * PyArray_STRIDE(a, 0);
    }
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != nd) return NULL;
    for (int d = 0; d < nd; d++) {
        PyObject *o = PyTuple_GET_ITEM(key, d);
        npy_intp i = is_index(o) ? index_in(o, PyArray_DIM(a, d)) : -1;
        if (i < 0) return NULL;
        at += i * PyArray_STRIDE(a, d);
    }
    return at;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    PyArrayObject *a = (PyArrayObject *)self;
    PyTypeObject *type = element_type(a);
    char *at = type ? locate(a, key) : NULL;
    if (py_likely(at != NULL)) return element_new(type, a, at);
    return PyArray_Type.tp_as_mapping->mp_subscript(self, key);
}

static PyObject *array_item(PyObject *self, Py_ssize_t i)
{
    PyArrayObject *a = (PyArrayObject *)self;
    PyTypeObject *type = element_type(a);
    if (type && PyArray_NDIM(a) == 1 && i >= 0 && i < PyArray_DIM(a, 0))
        return element_new(type, a, PyArray_BYTES(a) + i * PyArray_STRIDE(a, 0));
    return PyArray_Type.tp_as_sequence->sq_item(self, i);
}

/* --- what becomes of results --- */

/* NumPy makes the result of x[mask] a view of an array that nobody sees. */
static bool has_own_memory(PyArrayObject *a)
{
    PyArrayObject *base = PyArray_BASE(a) && PyArray_Check(PyArray_BASE(a)) ? (PyArrayObject *)PyArray_BASE(a) : NULL;
    return PyArray_CHKFLAGS(a, NPY_ARRAY_OWNDATA) || (base && PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA));
}

/* Called by NumPy for each new instance. One outside of symmetric memory becomes what it is: an ndarray. */
static int array_finalize(PyArrayObject *a, PyObject *from)
{
    if (Py_TYPE(a) != py_array_type || py_block_at(PyArray_DATA(a))) return 0;
    if (PyArray_SIZE(a) == 0 && from && Py_IS_TYPE(from, py_array_type) && !has_own_memory(a))
        return 0; /* x[n:] of n elements */
    Py_SET_TYPE(a, &PyArray_Type);
    Py_DECREF(py_array_type);
    return 0;
}

/* The result of a ufunc: as it is. (x += 1 has x itself as its result.) */
static PyObject *array_wrap(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)self;
    (void)kwnames;
    if (nargs < 1 || !PyArray_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "__array_wrap__: an array is needed");
        return NULL;
    }
    PyArrayObject *result = (PyArrayObject *)Py_NewRef(args[0]);
    bool keep = nargs > 2 && args[2] == Py_False; /* NumPy 2 says whether it wants a scalar */
    return keep || !PyArray_CheckExact((PyObject *)result) ? (PyObject *)result : PyArray_Return(result);
}

/* --- exports --- */

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    int rc = PyArray_Type.tp_as_buffer->bf_getbuffer(self, view, flags);
    if (rc) return rc;
    py_block *block = py_block_at(view->buf);
    if (block) block->exports++;
    view->internal = block; /* NumPy leaves it alone; the block lives as long as self, which the view holds */
    return 0;
}

static void array_releasebuffer(PyObject *self, Py_buffer *view)
{
    py_block *block = view->internal;
    if (block) block->exports--;
    view->internal = NULL;
    if (PyArray_Type.tp_as_buffer->bf_releasebuffer) PyArray_Type.tp_as_buffer->bf_releasebuffer(self, view);
}

/* What a DLPack capsule holds: it keeps the array, and counts as an export until the consumer is done. */
typedef struct {
    PyObject_HEAD
    PyObject *array;
    py_block *block;
} export_object;
static PyTypeObject *export_type;

static void export_dealloc(export_object *e)
{
    PyTypeObject *type = Py_TYPE(e);
    e->block->exports--;
    Py_DECREF(e->array);
    PyObject_Free(e);
    Py_DECREF(type);
}

static PyType_Slot export_slots[] = {{Py_tp_dealloc, export_dealloc}, {0, NULL}};
static PyType_Spec export_spec = {"shmem4py.Export", sizeof(export_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, export_slots};

/* A plain ndarray of the same memory whose base counts as an export. */
static PyObject *counted_view(PyArrayObject *a, py_block *block)
{
    export_object *e = PyObject_New(export_object, export_type);
    if (!e) return NULL;
    e->array = Py_NewRef((PyObject *)a);
    e->block = block;
    block->exports++;
    PyArray_Descr *descr = PyArray_DESCR(a);
    Py_INCREF(descr);
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(a), PyArray_DIMS(a), PyArray_STRIDES(a),
                                          PyArray_DATA(a), PyArray_FLAGS(a) & NPY_ARRAY_WRITEABLE, NULL);
    if (!view) {
        Py_DECREF(e);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)view, (PyObject *)e)) Py_CLEAR(view);
    return view;
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    py_block *block = py_block_at(PyArray_DATA((PyArrayObject *)self));
    PyObject *from = block ? counted_view((PyArrayObject *)self, block) : Py_NewRef(self);
    if (!from) return NULL;
    PyObject *method = PyObject_GetAttrString((PyObject *)&PyArray_Type, "__dlpack__"), *result = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *all = method ? PyTuple_New(n + 1) : NULL;
    if (all) {
        PyTuple_SET_ITEM(all, 0, Py_NewRef(from));
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
        result = PyObject_Call(method, all, kwargs);
    }
    Py_XDECREF(all);
    Py_XDECREF(method);
    Py_DECREF(from);
    return result;
}

/* --- free, with --- */

static PyObject *array_free(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("shmem4py");
    if (!module) return NULL;
    PyObject *result = PyObject_CallMethod(module, "free", "O", self);
    Py_DECREF(module);
    return result;
}

static PyObject *array_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* A block left by an exception does not enter the collective free: the other PEs may never come to it. */
static PyObject *array_exit(PyObject *self, PyObject *args)
{
    PyObject *type = Py_None, *value, *trace;
    if (!PyArg_ParseTuple(args, "|OOO", &type, &value, &trace)) return NULL;
    const py_block *block = py_block_at(PyArray_DATA((PyArrayObject *)self));
    if (type != Py_None || !block || block->state != PY_BLOCK_LIVE) Py_RETURN_NONE; /* freed in the block, or finalized */
    return array_free(self, NULL);
}

static PyMethodDef array_methods[] = {
    {"__array_wrap__", (PyCFunction)(void (*)(void))array_wrap, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule of the same memory. While its consumer lives, the array cannot be freed."},
    {"free", array_free, METH_NOARGS, "Free the array. Collective: all PEs free the same arrays in the same order."},
    {"__enter__", array_enter, METH_NOARGS, NULL},
    {"__exit__", array_exit, METH_VARARGS, "Free the array, unless an exception is on its way. Collective."},
    {0},
};

static PyType_Slot array_slots[] = {
    {Py_mp_subscript, array_subscript},
    {Py_sq_item, array_item},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_bf_releasebuffer, array_releasebuffer},
    {Py_tp_methods, array_methods},
    {Py_tp_doc, "An ndarray in symmetric memory. Made by shm.alloc and the like; slices of it are Arrays, too."},
    {0, NULL},
};
static PyType_Spec array_spec = {"shmem4py.Array", 0, 0, Py_TPFLAGS_DEFAULT, array_slots};

/* --- making and moving --- */

PyObject *py_array_new(PyArray_Descr *descr, int nd, const npy_intp *dims, int fortran, char *data, PyObject *base, bool plain)
{
    Py_INCREF(descr);
    int flags = NPY_ARRAY_WRITEABLE | (fortran ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS);
    PyObject *a = PyArray_NewFromDescr(plain ? &PyArray_Type : py_array_type, descr, nd, (npy_intp *)dims, NULL, data, flags,
                                       NULL);
    if (!a) {
        Py_DECREF(base);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)a, base)) Py_CLEAR(a);
    return a;
}

/* Is this array all that holds its block? Then nobody sees the memory but through it. */
static bool is_only_view(PyArrayObject *a, const py_block *block)
{
    PyObject *base = PyArray_BASE(a);
    if (block->exports || Py_REFCNT(base) != 1 || Py_REFCNT(block) != 1) return false;
    return base == (const PyObject *)block || PyMemoryView_Check(base);
}

static void copy_dealloc(PyObject *capsule) { PyMem_RawFree(PyCapsule_GetPointer(capsule, NULL)); }

int py_array_move_out(PyObject *array)
{
    PyArrayObject *a = (PyArrayObject *)array;
    py_block *block = py_block_at(PyArray_DATA(a));
    if (!block || !is_only_view(a, block) || !py_only_variables_hold(array, 1)) return 0;
    char *copy = PyMem_RawMalloc(block->room);
    if (!copy) return 0;
    PyObject *capsule = PyCapsule_New(copy, NULL, copy_dealloc);
    if (!capsule) {
        PyMem_RawFree(copy);
        return -1;
    }
    memcpy(copy, block->start, block->bytes);
    PyArrayObject_fields *fields = (PyArrayObject_fields *)a;
    PyObject *base = fields->base;
    fields->data = copy + (fields->data - block->start);
    fields->base = capsule;
    Py_DECREF(base);
    return 1;
}

/* --- calls --- */

static PyObject *call_array_on(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_is_symmetric(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static struct py_params array_on_params = {.names = {"base", "shape", "dtype", "order", "plain"}, .required = 3};
static struct py_params obj_params = {.names = {"obj"}, .required = 1};

const struct py_call py_calls_array[] = {
    {"array_on", call_array_on, &array_on_params, PY_F_NONE, true,
     "(base, shape, dtype, order='C', plain=False)\nAn array on a Block, or on a memoryview of one, from its start.\n\n"
     "shape is a tuple of ints. With ``plain`` an ndarray rather than an Array."},
    {"is_symmetric", call_is_symmetric, &obj_params, PY_F_NONE, true,
     "(obj)\nTrue if the array or element lies in symmetric memory that is in use."},
    {NULL},
};

static int shape_of(PyObject *o, npy_intp *dims)
{
    if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) > DIMS_MAX) {
        PyErr_SetString(PyExc_ValueError, "shape: a tuple of at most 32 numbers is needed");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++) {
        dims[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(o, i), PyExc_OverflowError);
        if (dims[i] == -1 && PyErr_Occurred()) return -1;
        if (dims[i] < 0) {
            PyErr_Format(PyExc_ValueError, "shape: %zd is negative", dims[i]);
            return -1;
        }
    }
    return (int)PyTuple_GET_SIZE(o);
}

/* Does the array fit the block? The product must not overflow, either. */
static bool fits(int nd, const npy_intp *dims, size_t size, size_t bytes)
{
    for (int i = 0; i < nd; i++)
        if (__builtin_mul_overflow(size, (size_t)dims[i], &size)) return false;
    return size <= bytes;
}

static py_block *block_under(PyObject *base)
{
    if (Py_IS_TYPE(base, py_block_type)) return (py_block *)base;
    if (!PyMemoryView_Check(base)) return NULL;
    const Py_buffer *view = PyMemoryView_GET_BUFFER(base);
    return view->obj && Py_IS_TYPE(view->obj, py_block_type) ? (py_block *)view->obj : NULL;
}

static PyObject *call_array_on(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[5];
    npy_intp dims[DIMS_MAX];
    if (py_parse(&array_on_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    py_block *block = block_under(a[0]);
    if (!block) return PyErr_Format(PyExc_TypeError, "base: a Block or a memoryview of one is needed, not %.100s",
                                    Py_TYPE(a[0])->tp_name);
    int nd = shape_of(a[1], dims);
    if (nd < 0) return NULL;
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrConverter(a[2], &descr)) return NULL;
    PyObject *result = NULL;
    if (PyDataType_REFCHK(descr)) {
        PyErr_Format(PyExc_TypeError, "dtype: %R holds Python objects; they have no meaning on another PE", descr);
    } else if (!fits(nd, dims, (size_t)PyDataType_ELSIZE(descr), block->bytes)) {
        PyErr_Format(PyExc_ValueError, "shape: %R of %R needs more than the %zu bytes of the block", a[1], descr, block->bytes);
    } else {
        bool fortran = a[3] && PyUnicode_Check(a[3]) && PyUnicode_CompareWithASCIIString(a[3], "F") == 0;
        bool plain = a[4] && PyObject_IsTrue(a[4]) == 1;
        result = block->device >= 0 ? py_device_new(descr, nd, dims, fortran, block)
                                    : py_array_new(descr, nd, dims, fortran, block->start, Py_NewRef(a[0]), plain);
        if (result && !block->root && block->device < 0) block->root = PyWeakref_NewRef(result, NULL);
    }
    Py_DECREF(descr);
    return result;
}

static PyObject *call_is_symmetric(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    if (py_parse(&obj_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    if (py_is_element(a[0])) {
        struct py_element *e = py_element_of(a[0]);
        return PyBool_FromLong(e->array && py_symmetric(e->data, (size_t)PyArray_ITEMSIZE(e->array)));
    }
    if (py_is_device(a[0])) return PyBool_FromLong(py_world.ready && ((py_device *)a[0])->block->state == PY_BLOCK_LIVE);
    if (!PyArray_Check(a[0])) Py_RETURN_FALSE;
    PyArrayObject *x = (PyArrayObject *)a[0];
    if (!PyArray_IS_C_CONTIGUOUS(x) && !PyArray_IS_F_CONTIGUOUS(x)) {
        const py_block *block = py_block_at(PyArray_DATA(x));
        return PyBool_FromLong(block && block->state == PY_BLOCK_LIVE);
    }
    return PyBool_FromLong(py_symmetric(PyArray_DATA(x), (size_t)PyArray_NBYTES(x)));
}

/* --- ready --- */

int py_array_ready(PyObject *module)
{
    export_type = (PyTypeObject *)PyType_FromSpec(&export_spec);
    PyObject *bases = PyTuple_Pack(1, &PyArray_Type);
    if (!export_type || !bases || make_element_types()) return -1;
    py_array_type = (PyTypeObject *)PyType_FromSpecWithBases(&array_spec, bases);
    Py_DECREF(bases);
    PyObject *finalize = py_array_type ? PyCapsule_New((void *)array_finalize, NULL, NULL) : NULL;
    if (!finalize || PyObject_SetAttrString((PyObject *)py_array_type, "__array_finalize__", finalize)) return -1;
    Py_DECREF(finalize);
    return PyModule_AddObjectRef(module, "Array", (PyObject *)py_array_type);
}

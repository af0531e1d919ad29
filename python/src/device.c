/* DeviceArray: an array in a device heap, which the CPU cannot touch.
 *
 * It holds an ndarray, its layout, whose data pointer is a device address: that one knows shape, strides and dtype, and
 * makes views of itself, so calls take it for their operand as they take any array. Nobody looks through it: it never leaves
 * this file and the calls, views are made by basic indexing alone, and all data goes by calls of the library. */
#include "ops.h"

#include <structmember.h>

PyTypeObject *py_device_type;

static const char cannot[] = "the memory of a DeviceArray cannot be read by the CPU: take a copy, x.copy_to_host(), or for one "
                             "element x[i].item()";

static PyObject *refuse(void)
{
    PyErr_SetString(PyExc_TypeError, cannot);
    return NULL;
}

/* A reference to layout is stolen, also on failure. */
static PyObject *device_new(PyArrayObject *layout, py_block *block)
{
    py_device *x = layout ? (py_device *)py_device_type->tp_alloc(py_device_type, 0) : NULL;
    if (!x) {
        Py_XDECREF((PyObject *)layout);
        return NULL;
    }
    x->layout = layout;
    x->block = (py_block *)Py_NewRef((PyObject *)block);
    return (PyObject *)x;
}

PyObject *py_device_new(PyArray_Descr *descr, int nd, const npy_intp *dims, int fortran, py_block *block)
{
    return device_new((PyArrayObject *)py_array_new(descr, nd, dims, fortran, block->start, Py_NewRef((PyObject *)block), true),
                      block);
}

static void device_dealloc(py_device *x)
{
    PyTypeObject *type = Py_TYPE(x);
    if (x->weak) PyObject_ClearWeakRefs((PyObject *)x);
    Py_XDECREF((PyObject *)x->layout);
    Py_XDECREF((PyObject *)x->block);
    type->tp_free(x);
    Py_DECREF(type);
}

static int need_live(const py_device *x, const char *call)
{
    return py_need(call) || py_need_block(x->block, call) ? -1 : 0;
}

/* --- views --- */

static bool is_truth(PyObject *o)
{
    return PyBool_Check(o) || PyArray_IsScalar(o, Bool) ||
           (py_is_element(o) && py_element_of(o)->array && PyArray_TYPE(py_element_of(o)->array) == NPY_BOOL);
}

/* A new reference to what NumPy takes for basic indexing whatever the type is called: it must not read a single element. */
static PyObject *basic_index(PyObject *o)
{
    if (o == Py_None || o == Py_Ellipsis || PySlice_Check(o)) return Py_NewRef(o);
    bool array = PyArray_Check(o) && PyArray_NDIM((PyArrayObject *)o);
    if (PyIndex_Check(o) && !is_truth(o) && !array && !py_is_device(o)) return PyNumber_Index(o);
    PyErr_Format(PyExc_TypeError, "index: a DeviceArray takes integers, slices, ... and None, not %.200s; for elements here and "
                 "there use shm.gather and shm.scatter", Py_TYPE(o)->tp_name);
    return NULL;
}

/* With an ellipsis in the key NumPy answers with a view in any case, one without dimensions for an element. */
static PyObject *basic_key(PyObject *key)
{
    bool tuple = PyTuple_Check(key), dots = false;
    Py_ssize_t n = tuple ? PyTuple_GET_SIZE(key) : 1;
    PyObject *basic = PyTuple_New(n + 1);
    for (Py_ssize_t i = 0; basic && i < n; i++) {
        PyObject *o = basic_index(tuple ? PyTuple_GET_ITEM(key, i) : key);
        dots |= o == Py_Ellipsis;
        if (o)
            PyTuple_SET_ITEM(basic, i, o);
        else
            Py_CLEAR(basic);
    }
    if (!basic) return NULL;
    PyTuple_SET_ITEM(basic, n, Py_NewRef(Py_Ellipsis));
    if (!dots) return basic;
    PyObject *once = PyTuple_GetSlice(basic, 0, n); /* NumPy takes one ellipsis */
    Py_DECREF(basic);
    return once;
}

static PyObject *view_of(py_device *x, PyObject *layout)
{
    if (layout && PyArray_CheckExact(layout)) return device_new((PyArrayObject *)layout, x->block);
    Py_XDECREF(layout);
    return PyErr_Occurred() ? NULL : refuse();
}

static PyObject *device_subscript(py_device *x, PyObject *key)
{
    PyObject *basic = basic_key(key);
    if (!basic) return NULL;
    PyObject *layout = PyObject_GetItem((PyObject *)x->layout, basic);
    Py_DECREF(basic);
    return view_of(x, layout);
}

static Py_ssize_t device_length(py_device *x)
{
    if (PyArray_NDIM(x->layout)) return PyArray_DIM(x->layout, 0);
    PyErr_SetString(PyExc_TypeError, "len() of a DeviceArray without dimensions");
    return -1;
}

static PyObject *device_item(py_device *x, Py_ssize_t i)
{
    PyObject *number = PyLong_FromSsize_t(i), *item = number ? device_subscript(x, number) : NULL;
    Py_XDECREF(number);
    return item;
}

static PyObject *device_iter(PyObject *o)
{
    return device_length((py_device *)o) < 0 ? NULL : PySeqIter_New(o);
}

static int device_assign(py_device *x, PyObject *key, PyObject *value)
{
    (void)x, (void)key, (void)value;
    PyErr_SetString(PyExc_TypeError, "the memory of a DeviceArray cannot be written by the CPU: use x[...].copy_from_host(values)");
    return -1;
}

static PyObject *device_reshape(py_device *x, PyObject *args)
{
    bool one = PyTuple_GET_SIZE(args) == 1 && !PyIndex_Check(PyTuple_GET_ITEM(args, 0));
    if (!PyArray_IS_C_CONTIGUOUS(x->layout))
        return PyErr_Format(PyExc_ValueError, "reshape: the array is not C-contiguous");
    if (one && PyTuple_GET_ITEM(args, 0) == Py_None) return PyErr_Format(PyExc_TypeError, "reshape: a shape is needed, not None");
    PyArray_Dims dims = {NULL, 0};
    if (!PyArray_IntpConverter(one ? PyTuple_GET_ITEM(args, 0) : args, &dims)) return NULL;
    PyObject *layout = PyArray_Newshape(x->layout, &dims, NPY_CORDER);
    PyDimMem_FREE(dims.ptr);
    return view_of(x, layout);
}

/* --- to and from the host --- */

static PyObject *device_to_host(py_device *x, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"out", NULL};
    PyObject *out = NULL;
    struct py_where here = {SHMEM_CTX_DEFAULT, py_world.pe, true};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:copy_to_host", names, &out) || py_need("copy_to_host")) return NULL;
    if (py_absent(out) || PyArray_Check(out)) return py_get_array(NULL, (PyObject *)x, out, &here);
    return PyErr_Format(PyExc_TypeError, "out: an ndarray is needed, not %.200s", Py_TYPE(out)->tp_name);
}

static PyObject *device_to_number(py_device *x, PyObject *unused)
{
    (void)unused;
    if (PyArray_SIZE(x->layout) != 1)
        return PyErr_Format(PyExc_ValueError, "item: one element is needed, not an array of %zd", (Py_ssize_t)PyArray_SIZE(x->layout));
    PyObject *none = PyTuple_New(0), *copy = none ? device_to_host(x, none, NULL) : NULL;
    PyObject *item = copy ? PyObject_CallMethod(copy, "item", NULL) : NULL;
    Py_XDECREF(copy);
    Py_XDECREF(none);
    return item;
}

static bool lies_as(PyArrayObject *a, PyArrayObject *b)
{
    bool alike = PyArray_IS_C_CONTIGUOUS(b) ? PyArray_IS_C_CONTIGUOUS(a) : PyArray_IS_F_CONTIGUOUS(a);
    return alike && PyArray_NDIM(a) == PyArray_NDIM(b) &&
           PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a)) &&
           PyArray_EquivTypes(PyArray_DESCR(a), PyArray_DESCR(b));
}

/* A new reference to an array that has the bytes as they are to lie on the device. */
static PyArrayObject *laid_out(PyArrayObject *values, PyArrayObject *layout)
{
    if (lies_as(values, layout)) return (PyArrayObject *)Py_NewRef((PyObject *)values);
    if (!PyArray_CanCastArrayTo(values, PyArray_DESCR(layout), NPY_SAME_KIND_CASTING)) {
        PyErr_Format(PyExc_TypeError, "values: their dtype is %S, that of the DeviceArray %S; convert them with astype",
                     PyArray_DESCR(values), PyArray_DESCR(layout));
        return NULL;
    }
    PyArrayObject *copy = (PyArrayObject *)PyArray_NewLikeArray(layout, NPY_KEEPORDER, NULL, 0);
    if (copy && PyArray_CopyInto(copy, values)) Py_CLEAR(copy);
    return copy;
}

static PyObject *device_from_host(py_device *x, PyObject *o)
{
    PyArrayObject *layout = x->layout;
    if (need_live(x, "copy_from_host")) return NULL;
    if (!PyArray_IS_C_CONTIGUOUS(layout) && !PyArray_IS_F_CONTIGUOUS(layout))
        return PyErr_Format(PyExc_ValueError, "copy_from_host: this view is not contiguous; write it by contiguous parts, or with "
                            "shm.iput");
    if (py_is_device(o))
        return PyErr_Format(PyExc_TypeError, "values: host memory is needed, not a DeviceArray; between these use shm.put or shm.get");
    PyArrayObject *values = (PyArrayObject *)PyArray_FROM_O(o), *bytes = values ? laid_out(values, layout) : NULL;
    Py_XDECREF((PyObject *)values);
    if (!bytes) return NULL;
    PY_BEGIN_CALL
    shmem_putmem(PyArray_DATA(layout), PyArray_DATA(bytes), (size_t)PyArray_NBYTES(layout), py_world.pe);
    PY_END_CALL
    Py_DECREF((PyObject *)bytes);
    Py_RETURN_NONE;
}

/* --- DLPack: how libraries for devices share memory. Its structures are laid down in its specification --- */

struct dl_tensor {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements */
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *owner;
    void (*deleter)(struct dl_managed *self);
    int64_t sizes[]; /* not of DLPack: where shape and strides point to */
};

/* By whom the tensor was taken, on whatever thread. */
static void dl_delete(struct dl_managed *m)
{
    if (!Py_IsInitialized()) return; /* the process ends */
    PyGILState_STATE state = PyGILState_Ensure();
    py_device *x = m->owner;
    x->block->exports--;
    Py_DECREF((PyObject *)x);
    PyMem_RawFree(m);
    PyGILState_Release(state);
}

/* Whoever takes the tensor gives the capsule another name. */
static void dl_untaken(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    struct dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
    m->deleter(m);
}

/* -1: the dtype has none. */
static int dl_code(const PyArray_Descr *descr)
{
    enum { INT = 0, UINT = 1, FLOAT = 2, COMPLEX = 5, BOOL = 6 };
    if (!PyArray_ISNBO(descr->byteorder)) return -1;
    switch (descr->kind) {
    case 'i': return INT;
    case 'u': return UINT;
    case 'f': return descr->type_num == NPY_LONGDOUBLE ? -1 : FLOAT;
    case 'c': return descr->type_num == NPY_CLONGDOUBLE ? -1 : COMPLEX;
    case 'b': return BOOL;
    default: return -1;
    }
}

static PyObject *no_export(const char *why) { return PyErr_Format(PyExc_BufferError, "__dlpack__: %s", why); }

static PyObject *dl_capsule(py_device *x, int code)
{
    PyArrayObject *a = x->layout;
    int nd = PyArray_NDIM(a);
    size_t size = (size_t)PyArray_ITEMSIZE(a);
    struct dl_managed *m = PyMem_RawCalloc(1, sizeof *m + 2 * (size_t)nd * sizeof m->sizes[0]);
    if (!m) return PyErr_NoMemory();
    m->tensor.data = PyArray_DATA(a);
    m->tensor.device.type = py_kind.dlpack;
    m->tensor.device.number = py_kind.number;
    m->tensor.ndim = nd;
    m->tensor.dtype.code = (uint8_t)code;
    m->tensor.dtype.bits = (uint8_t)(8 * size);
    m->tensor.dtype.lanes = 1;
    m->tensor.shape = m->sizes;
    m->tensor.strides = m->sizes + nd;
    for (int d = 0; d < nd; d++) {
        m->sizes[d] = PyArray_DIM(a, d);
        m->sizes[nd + d] = PyArray_STRIDE(a, d) / (npy_intp)size;
    }
    m->owner = Py_NewRef((PyObject *)x);
    m->deleter = dl_delete;
    x->block->exports++;
    PyObject *capsule = PyCapsule_New(m, "dltensor", dl_untaken);
    if (!capsule) dl_delete(m);
    return capsule;
}

/* Writes of this PE are complete when they return, so no stream has to wait for anything. */
static PyObject *device_dlpack(py_device *x, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *where = Py_None, *copy = Py_None;
    int type, number;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &where, &copy)) return NULL;
    if (need_live(x, "__dlpack__")) return NULL;
    if (!py_kind.dlpack)
        return PyErr_Format(PyExc_BufferError, "__dlpack__: devices of kind %s have no number in DLPack; take a copy: "
                            "x.copy_to_host()", x->block->kind);
    if (where != Py_None && !PyTuple_Check(where))
        return PyErr_Format(PyExc_TypeError, "dl_device: a pair of numbers is needed, not %.200s", Py_TYPE(where)->tp_name);
    if (where != Py_None && !PyArg_ParseTuple(where, "ii;dl_device: a pair of numbers is needed", &type, &number)) return NULL;
    if (where != Py_None && (type != py_kind.dlpack || number != py_kind.number))
        return no_export("the memory is on another device than dl_device says; take a copy: x.copy_to_host()");
    if (copy == Py_True) return no_export("it is the memory itself that is shared, never a copy");
    int code = dl_code(PyArray_DESCR(x->layout));
    if (code < 0) return no_export("DLPack has no code for this dtype");
    return dl_capsule(x, code);
}

static PyObject *device_dlpack_device(py_device *x, PyObject *unused)
{
    (void)unused;
    if (need_live(x, "__dlpack_device__")) return NULL;
    if (py_kind.dlpack) return Py_BuildValue("(ii)", py_kind.dlpack, py_kind.number);
    return PyErr_Format(PyExc_BufferError, "__dlpack_device__: devices of kind %s have no number in DLPack", x->block->kind);
}

/* --- free, with --- */

static PyObject *device_free(PyObject *x, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("shmem4py");
    PyObject *result = module ? PyObject_CallMethod(module, "free", "O", x) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *device_enter(PyObject *x, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(x);
}

/* As Array does. */
static PyObject *device_exit(PyObject *x, PyObject *args)
{
    PyObject *type = Py_None, *value, *trace;
    if (!PyArg_ParseTuple(args, "|OOO", &type, &value, &trace)) return NULL;
    if (type != Py_None || ((py_device *)x)->block->state != PY_BLOCK_LIVE) Py_RETURN_NONE;
    return device_free(x, NULL);
}

/* --- what would read the memory --- */

static PyObject *refuse_args(PyObject *x, PyObject *args, PyObject *kwargs)
{
    (void)x, (void)args, (void)kwargs;
    return refuse();
}
static PyObject *refuse_one(PyObject *x)
{
    (void)x;
    return refuse();
}
static PyObject *refuse_two(PyObject *x, PyObject *y)
{
    (void)x, (void)y;
    return refuse();
}
static PyObject *refuse_three(PyObject *x, PyObject *y, PyObject *z)
{
    (void)x, (void)y, (void)z;
    return refuse();
}
static PyObject *refuse_compare(PyObject *x, PyObject *y, int op)
{
    (void)x, (void)y, (void)op;
    return refuse();
}
static int refuse_truth(PyObject *x)
{
    (void)x;
    refuse();
    return -1;
}

/* --- what it is --- */

static PyObject *device_repr(py_device *x)
{
    static const char *const states[] = {"", ", freed", ", of before finalize"};
    PyObject *shape = PyObject_GetAttrString((PyObject *)x->layout, "shape");
    if (!shape) return NULL;
    PyObject *text = PyUnicode_FromFormat("<DeviceArray: shape %R, dtype %S, in %s memory of device %d%s>", shape,
                                          PyArray_DESCR(x->layout), x->block->kind, x->block->device, states[x->block->state]);
    Py_DECREF(shape);
    return text;
}

static PyObject *get_of_layout(py_device *x, void *name) { return PyObject_GetAttrString((PyObject *)x->layout, name); }
static PyObject *get_kind(py_device *x, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(x->block->kind);
}
static PyObject *get_number(py_device *x, void *unused)
{
    (void)unused;
    return PyLong_FromLong(x->block->device);
}
static PyObject *get_address(py_device *x, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(PyArray_DATA(x->layout));
}

#define OF_LAYOUT(NAME, DOC) {#NAME, (getter)get_of_layout, NULL, DOC, #NAME}
static PyGetSetDef getters[] = {
    OF_LAYOUT(shape, "Lengths of the dimensions."),
    OF_LAYOUT(dtype, "Type of the elements."),
    OF_LAYOUT(ndim, "How many dimensions there are."),
    OF_LAYOUT(size, "How many elements there are."),
    OF_LAYOUT(itemsize, "Bytes of an element."),
    OF_LAYOUT(nbytes, "Bytes of all elements."),
    OF_LAYOUT(strides, "Bytes from one element to the next, for each dimension."),
    {"kind", (getter)get_kind, NULL, "The kind of memory, as SHMEM_HEAP_KIND says it.", NULL},
    {"device", (getter)get_number, NULL, "The number of this PE's device.", NULL},
    {"address", (getter)get_address, NULL, "The device address, for kernels and the device's own runtime.", NULL},
    {0},
};

static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(py_device, weak), READONLY, NULL}, {0}};

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"copy_to_host", WITH_KEYWORDS(device_to_host),
     "copy_to_host($self, out=None)\n--\n\nA new ndarray with what this PE's memory holds; a scalar of an element.\n\n"
     "out: an array of the same shape and dtype to fill in and return."},
    {"copy_from_host", (PyCFunction)device_from_host, METH_O,
     "copy_from_host($self, values, /)\n--\n\nWrite values, an array of the same shape or what NumPy makes one of, to this PE's "
     "memory."},
    {"item", (PyCFunction)device_to_number, METH_NOARGS, "item($self)\n--\n\nThe one element, as a Python number."},
    {"reshape", (PyCFunction)device_reshape, METH_VARARGS,
     "reshape($self, *shape)\n--\n\nThe same memory in another shape. It must be C-contiguous."},
    {"free", device_free, METH_NOARGS,
     "free($self)\n--\n\nFree the array. Collective: all PEs free the same arrays in the same order."},
    {"__enter__", device_enter, METH_NOARGS, NULL},
    {"__exit__", device_exit, METH_VARARGS, "Free the array, unless an exception is on its way. Collective."},
    {"__dlpack__", WITH_KEYWORDS(device_dlpack),
     "A DLPack capsule of the same memory. While its consumer lives, the array cannot be freed."},
    {"__dlpack_device__", (PyCFunction)device_dlpack_device, METH_NOARGS, "Type and number of the device in DLPack."},
    {"__array__", WITH_KEYWORDS(refuse_args), "TypeError: the CPU cannot read the memory."},
    {"__array_ufunc__", WITH_KEYWORDS(refuse_args), "TypeError: the CPU cannot read the memory."},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_repr, device_repr},
    {Py_tp_iter, device_iter},
    {Py_tp_richcompare, refuse_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_members, members},
    {Py_mp_subscript, device_subscript},
    {Py_mp_ass_subscript, device_assign},
    {Py_mp_length, device_length},
    {Py_sq_item, device_item},
    {Py_sq_length, device_length},
    {Py_nb_bool, refuse_truth},
    {Py_nb_int, refuse_one},
    {Py_nb_float, refuse_one},
    {Py_nb_absolute, refuse_one},
    {Py_nb_negative, refuse_one},
    {Py_nb_invert, refuse_one},
    {Py_nb_add, refuse_two},
    {Py_nb_subtract, refuse_two},
    {Py_nb_multiply, refuse_two},
    {Py_nb_matrix_multiply, refuse_two},
    {Py_nb_true_divide, refuse_two},
    {Py_nb_floor_divide, refuse_two},
    {Py_nb_remainder, refuse_two},
    {Py_nb_power, refuse_three},
    {Py_nb_and, refuse_two},
    {Py_nb_or, refuse_two},
    {Py_nb_xor, refuse_two},
    {Py_tp_doc, "An array in the symmetric heap of a device. Made by shm.alloc; slices of it are DeviceArrays, too, and so are "
                "its elements."},
    {0, NULL},
};
static PyType_Spec spec = {"shmem4py.DeviceArray", sizeof(py_device), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int py_device_ready(PyObject *module)
{
    py_device_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return py_device_type ? PyModule_AddObjectRef(module, "DeviceArray", (PyObject *)py_device_type) : -1;
}

/* Order and completion, and what can be asked of addresses and PEs. */
#include "ops.h"

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

static struct py_params ctx_params = {.names = {"ctx"}, .required = 0};
static struct py_params pe_params = {.names = {"pe"}, .required = 1};
static struct py_params addr_params = {.names = {"addr", "pe"}, .required = 2};
static struct py_params x_params = {.names = {"x"}, .required = 1};
static struct py_params ptr_params = {.names = {"target", "pe"}, .required = 2};

/* 1: there is something to do; 0: CTX_INVALID, on which nothing was ever issued. */
static int parse_order(ARGS, shmem_ctx_t *ctx)
{
    PyObject *a[1];
    const char *name = py_row_of(self)->name;
    if (py_parse(&ctx_params, name, args, nargs, kwnames, a) || py_need(name)) return -1;
    if (!py_absent(a[0]) && PyObject_TypeCheck(a[0], py_ctx_type) &&
        ((py_ctx *)a[0])->handle == SHMEM_CTX_INVALID)
        return 0;
    return py_arg_ctx(a[0], ctx) ? -1 : 1;
}

static PyObject *call_fence(ARGS)
{
    shmem_ctx_t ctx;
    int some = parse_order(self, args, nargs, kwnames, &ctx);
    if (some < 0) return NULL;
    if (some) shmem_ctx_fence(ctx);
    Py_RETURN_NONE;
}

static PyObject *call_quiet(ARGS)
{
    shmem_ctx_t ctx;
    int some = parse_order(self, args, nargs, kwnames, &ctx);
    if (some < 0) return NULL;
    if (some) py_quiet(ctx);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* A PE number out of range is a fair question here: -1 then. */
static int parse_any_pe(PyObject *o, int *pe)
{
    if (!py_arg_pe(o, NULL, pe)) return 0;
    if (!PyErr_ExceptionMatches(PyExc_IndexError)) return -1;
    PyErr_Clear();
    *pe = -1;
    return 0;
}

static PyObject *call_pe_accessible(ARGS)
{
    PyObject *a[1];
    int pe;
    const char *name = py_row_of(self)->name;
    if (py_parse(&pe_params, name, args, nargs, kwnames, a) || py_need(name) || parse_any_pe(a[0], &pe))
        return NULL;
    return PyBool_FromLong(pe >= 0 && shmem_pe_accessible(pe));
}

static PyObject *call_addr_accessible(ARGS)
{
    PyObject *a[2];
    struct py_operand op;
    char *low, *high;
    int pe;
    const char *name = py_row_of(self)->name;
    if (py_parse(&addr_params, name, args, nargs, kwnames, a) || py_need(name) || parse_any_pe(a[1], &pe))
        return NULL;
    if (py_arg_operand(a[0], NULL, PY_STRIDED, "addr", &op)) return NULL;
    py_extent(op.array, &low, &high);
    if (op.element) low = op.data, high = op.data + op.size;
    return PyBool_FromLong(pe >= 0 && py_symmetric(low, (size_t)(high - low)) &&
                           shmem_addr_accessible(op.data, pe));
}

/* The same array in the memory of a peer, as it is mapped here. The block stays as long as somebody looks. */
static PyObject *peer_view(const struct py_operand *op, char *data)
{
    PyArrayObject *a = op->array;
    int nd = op->element ? 0 : PyArray_NDIM(a),
        flags = PyArray_FLAGS(a) & (NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED);
    PyObject *block = (PyObject *)py_block_at(op->data);
    Py_INCREF(op->descr);
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, op->descr, nd, PyArray_DIMS(a), PyArray_STRIDES(a),
                                          data, flags, NULL);
    if (!view) return NULL;
    if (PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(block ? block : (PyObject *)a)))
        Py_CLEAR(view);
    return view;
}

static PyObject *call_ptr(ARGS)
{
    PyObject *a[2];
    struct py_operand op;
    int pe;
    const char *name = py_row_of(self)->name;
    if (py_parse(&ptr_params, name, args, nargs, kwnames, a) || py_need(name) || py_arg_pe(a[1], NULL, &pe))
        return NULL;
    if (py_arg_operand(a[0], NULL, PY_STRIDED | PY_SYMMETRIC, "target", &op)) return NULL;
    char *data = op.device ? NULL : shmem_ptr(op.data, pe);
    if (!data) Py_RETURN_NONE;
    return peer_view(&op, data);
}

static PyObject *list_of(void *const *table)
{
    PyObject *list = PyList_New(py_world.npes);
    for (int pe = 0; list && pe < py_world.npes; pe++) {
        PyObject *address = table[pe] ? PyLong_FromVoidPtr(table[pe]) : Py_NewRef(Py_None);
        if (address)
            PyList_SET_ITEM(list, pe, address);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *call_peer_table(ARGS)
{
    PyObject *a[1];
    struct py_operand op;
    const char *name = py_row_of(self)->name;
    if (py_parse(&x_params, name, args, nargs, kwnames, a) || py_need(name)) return NULL;
    if (py_arg_operand(a[0], NULL, PY_STRIDED | PY_SYMMETRIC, "x", &op)) return NULL;
    void **table = PyMem_RawCalloc((size_t)py_world.npes, sizeof *table);
    if (!table) return PyErr_NoMemory();
    if (py_symmetric(op.data, 1)) shmemx_peer_table(op.data, table); /* an array of no elements may lie anywhere */
    PyObject *list = list_of(table);
    PyMem_RawFree(table);
    return list;
}

const struct py_call py_calls_order[] = {
    {"fence", call_fence, &ctx_params, PY_F_NONE, true,
     "(ctx=None)\nPuts and atomics before it arrive at each PE before those behind it."},
    {"quiet", call_quiet, &ctx_params, PY_F_NONE, true,
     "(ctx=None)\nWait until all puts, atomics and nbi calls are complete."},
    {"pe_accessible", call_pe_accessible, &pe_params, PY_F_NONE, true, "(pe)\nIs there a PE of that number?"},
    {"addr_accessible", call_addr_accessible, &addr_params, PY_F_NONE, true,
     "(addr, pe)\nIs addr a symmetric array that PE pe has, too?"},
    {"ptr", call_ptr, &ptr_params, PY_F_NONE, true,
     "(target, pe)\nAn ndarray that is the target of PE pe itself, for loads and stores; None when it is not "
     "mapped here."},
    {"peer_table", call_peer_table, &x_params, PY_F_NONE, true,
     "(x)\nFor each PE the address by which kernels of this PE's device (or loads, for memory of the host) reach what x is there:\n"
     "a number, None where they do not, as on another machine."},
    {NULL},
};

/* The cost of a call of that signature that does nothing: what a call of the package is measured against. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *empty(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)self, (void)args, (void)nargs, (void)kwnames;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"empty", (PyCFunction)(void (*)(void))empty, METH_FASTCALL | METH_KEYWORDS, NULL},
    {0},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "empty", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_empty(void) { return PyModule_Create(&definition); }

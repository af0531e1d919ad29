/* The module: its types, its constants, and a function for each name of each table. */
#define PY_MODULE_C
#include <stdlib.h>

#include "ops.h"
#include "setup.h"

extern const struct py_call py_calls_array[];

static const struct py_call *const tables[] = {
    py_calls_setup, py_calls_memory, py_calls_array, py_calls_rma, py_calls_amo, py_calls_wait,
    py_calls_coll, py_calls_indexed, py_calls_lock, py_calls_order,
};

/* --- rows: the self of a call --- */

static PyTypeObject *row_type;

static PyObject *row_repr(py_row *row) { return PyUnicode_FromFormat("<module 'shmem4py', for %s>", row->name); }
static PyType_Slot row_slots[] = {{Py_tp_repr, row_repr}, {0, NULL}};
static PyType_Spec row_spec = {"shmem4py.Row", sizeof(py_row), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               row_slots};

/* The docstring of one function: the table's text with the type's name in it, in the form that inspect reads. */
static char *doc_of(const struct py_call *call, const char *name, const char *type)
{
    size_t room = 2 * strlen(call->doc) + strlen(name) + 64 + strlen(type) * 8;
    char *doc = malloc(room);
    if (!doc) return NULL;
    size_t n = (size_t)snprintf(doc, room, "%s", name);
    for (const char *p = call->doc; *p; p++) {
        if (p[0] == '%' && p[1] == 's') {
            n += (size_t)snprintf(doc + n, room - n, "%s", type);
            p += *type || p[2] != ' ' ? 1 : 2; /* no type, no space behind it */
        } else if (*p == '\n' && !memchr(call->doc, '\n', (size_t)(p - call->doc))) {
            n += (size_t)snprintf(doc + n, room - n, "\n--\n\n");
        } else {
            doc[n++] = *p;
        }
    }
    doc[n] = 0;
    return doc;
}

/* Lives as long as the process, as the module does. */
static int add_function(PyObject *module, PyObject *module_name, const struct py_call *call, const struct py_type *type)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", type ? type->name : "", type ? "_" : "", call->name);
    PyMethodDef *def = calloc(1, sizeof *def);
    char *kept = strdup(name), *doc = doc_of(call, name, type ? type->name : "");
    py_row *row = PyObject_New(py_row, row_type);
    if (!def || !kept || !doc || !row) {
        free(def), free(kept), free(doc);
        PyErr_NoMemory();
        return -1;
    }
    row->type = type;
    row->call = call;
    row->name = kept;
    *def = (PyMethodDef){kept, (PyCFunction)(void (*)(void))call->fn, METH_FASTCALL | METH_KEYWORDS, doc};
    PyObject *function = PyCFunction_NewEx(def, (PyObject *)row, module_name);
    Py_DECREF(row);
    if (!function) return -1;
    int rc = PyModule_AddObjectRef(module, name, function);
    Py_DECREF(function);
    return rc;
}

static int add_functions(PyObject *module, PyObject *module_name, const struct py_call *call)
{
    if (py_params_register(call->params)) return -1;
    if ((call->generic || !call->types) && add_function(module, module_name, call, NULL)) return -1;
    for (int i = 0; call->types && i < py_types_count; i++)
        if (py_type_has(&py_types[i], call->types) && add_function(module, module_name, call, &py_types[i])) return -1;
    return 0;
}

static int add_tables(PyObject *module)
{
    PyObject *name = PyUnicode_FromString("shmem4py");
    if (!name) return -1;
    int rc = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables && !rc; t++)
        for (const struct py_call *call = tables[t]; call->name && !rc; call++) rc = add_functions(module, name, call);
    Py_DECREF(name);
    return rc;
}

/* --- constants --- */

static int add_constants(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
#define CONSTANT(NAME) {#NAME, SHMEM_##NAME}
        CONSTANT(THREAD_SINGLE), CONSTANT(THREAD_FUNNELED), CONSTANT(THREAD_SERIALIZED), CONSTANT(THREAD_MULTIPLE),
        CONSTANT(CMP_EQ), CONSTANT(CMP_NE), CONSTANT(CMP_GT), CONSTANT(CMP_GE), CONSTANT(CMP_LT), CONSTANT(CMP_LE),
        CONSTANT(SIGNAL_SET), CONSTANT(SIGNAL_ADD), CONSTANT(CTX_PRIVATE), CONSTANT(CTX_SERIALIZED), CONSTANT(CTX_NOSTORE),
        CONSTANT(MALLOC_ATOMICS_REMOTE), CONSTANT(MALLOC_SIGNAL_REMOTE), CONSTANT(TEAM_NUM_CONTEXTS),
        CONSTANT(MAJOR_VERSION), CONSTANT(MINOR_VERSION), CONSTANT(MAX_NAME_LEN),
#undef CONSTANT
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value)) return -1;
    return PyModule_AddStringConstant(module, "VENDOR_STRING", SHMEM_VENDOR_STRING);
}

static int add_types(PyObject *module)
{
    row_type = (PyTypeObject *)PyType_FromSpec(&row_spec);
    if (!row_type) return -1;
    return py_block_ready(module) || py_array_ready(module) || py_device_ready(module) || py_handle_ready(module) || py_lock_ready(module) ? -1 : 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "shmem4py._core", .m_doc = "The calls of shmem4py.", .m_size = -1};

/* Who runs Python's signal handlers, whichever thread imports this module. */
static int find_main_thread(void)
{
    PyObject *module = PyImport_ImportModule("threading");
    PyObject *thread = module ? PyObject_CallMethod(module, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (ident) py_world.main_thread = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(module);
    return PyErr_Occurred() ? -1 : 0;
}

PyMODINIT_FUNC PyInit__core(void)
{
    import_array();
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (find_main_thread() || add_types(module) || add_constants(module) || add_tables(module)) Py_CLEAR(module);
    return module;
}

/* Who holds an array? Its memory can be moved away only if nobody else knows the address, and whatever has taken the
 * address from the array (a view, an element, a memoryview, a tensor) does nothing else but hold a reference to it. So the
 * references that are plain variables and members of containers are counted; if that is all there are, nobody else looks.
 *
 * In doubt the answer is no: a reference that was not found is one that may be a view's. */
#include "memory.h"

struct search {
    PyObject *array;
    PyObject *seen;        /* set of addresses: containers that the collector does not track, and that were looked into */
    traverseproc instance; /* of instances of classes written in Python */
    Py_ssize_t found;
    bool holds; /* what is under the eye holds its members, and does no more */
};

/* Containers of Python, which hold what is in them and do not look into it. */
static bool is_container(PyObject *o, traverseproc instance)
{
    if (PyDict_Check(o) || PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyAnySet_CheckExact(o)) return true;
    if (PyCell_Check(o) || PyFrame_Check(o)) return true;
    for (PyTypeObject *t = Py_TYPE(o); t != &PyBaseObject_Type; t = t->tp_base)
        if (!t || !(t->tp_flags & Py_TPFLAGS_HEAPTYPE) || t->tp_traverse != instance) return false;
    return true;
}

static int look_into(PyObject *o, struct search *s);

static int visit(PyObject *child, void *arg)
{
    struct search *s = arg;
    if (child == s->array) s->found += s->holds;
    if (!PyTuple_CheckExact(child) && !PyDict_CheckExact(child)) return 0;
    if (PyObject_GC_IsTracked(child)) return 0; /* comes by itself */
    PyObject *address = PyLong_FromVoidPtr(child);
    int known = address ? PySet_Contains(s->seen, address) : -1;
    int rc = known < 0 || (!known && PySet_Add(s->seen, address)) ? -1 : 0;
    Py_XDECREF(address);
    return rc || known ? rc : look_into(child, s);
}

static int look_into(PyObject *o, struct search *s)
{
    bool before = s->holds;
    s->holds = is_container(o, s->instance);
    int rc = Py_TYPE(o)->tp_traverse ? Py_TYPE(o)->tp_traverse(o, visit, s) : 0;
    s->holds = before;
    return rc;
}

static int look_into_all(struct search *s)
{
    PyObject *gc = PyImport_ImportModule("gc"), *all = gc ? PyObject_CallMethod(gc, "get_objects", NULL) : NULL;
    int rc = all ? 0 : -1;
    for (Py_ssize_t i = 0; !rc && i < PyList_GET_SIZE(all); i++) rc = look_into(PyList_GET_ITEM(all, i), s);
    Py_XDECREF(all);
    Py_XDECREF(gc);
    return rc;
}

/* --- local variables of running functions, which the collector does not see from Python 3.11 on --- */

#if PY_VERSION_HEX >= 0x030b0000
static int is_in(PyObject *names, PyObject *name)
{
    int rc = names ? PySequence_Contains(names, name) : -1;
    Py_XDECREF(names);
    return rc;
}

/* What is in a cell is counted with the cell. */
static int visit_locals(PyObject *locals, PyCodeObject *code, struct search *s)
{
    PyObject *items = PyMapping_Items(locals);
    int rc = items ? 0 : -1;
    for (Py_ssize_t i = 0; !rc && i < PyList_GET_SIZE(items); i++) {
        PyObject *name = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 0);
        int cell = is_in(PyCode_GetCellvars(code), name), free = is_in(PyCode_GetFreevars(code), name);
        rc = cell < 0 || free < 0 ? -1 : 0;
        if (!rc && !cell && !free) rc = visit(PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 1), s);
    }
    Py_XDECREF(items);
    return rc;
}

static int visit_frame(PyFrameObject *frame, struct search *s)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *locals = NULL;
    int rc = 0;
    if (code->co_flags & CO_OPTIMIZED) {
        rc = (locals = PyFrame_GetLocals(frame)) ? visit_locals(locals, code, s) : -1;
        /* before 3.13 the frame keeps this copy, and with it all that is in it; who has asked for locals() keeps theirs */
        if (locals && PyDict_Check(locals) && Py_REFCNT(locals) == 2) PyDict_Clear(locals);
    }
    Py_XDECREF(locals);
    Py_DECREF(code);
    return rc;
}

static int visit_frames(PyThreadState *thread, struct search *s)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    int rc = 0;
    s->holds = true;
    while (frame && !rc) {
        rc = visit_frame(frame, s);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF((PyObject *)frame);
    return rc;
}
#else
static int visit_frames(PyThreadState *thread, struct search *s)
{
    (void)thread;
    (void)s;
    return 0;
}
#endif

static int visit_threads(struct search *s)
{
    int rc = 0;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(PyThreadState_Get()));
#if PY_VERSION_HEX >= 0x030e0000 /* a call in another thread may have the array without a reference of its own */
    if (PyThreadState_Next(thread)) return -1;
#endif
    for (; thread && !rc; thread = PyThreadState_Next(thread)) rc = visit_frames(thread, s);
    return rc;
}

/* How the collector walks instances of classes written in Python: as it walks this one. */
static traverseproc instance_traverse(void)
{
    PyObject *module = PyImport_ImportModule("shmem4py._rc");
    PyObject *class = module ? PyObject_GetAttrString(module, "Rc") : NULL;
    traverseproc traverse = class ? ((PyTypeObject *)class)->tp_traverse : NULL;
    Py_XDECREF(class);
    Py_XDECREF(module);
    return traverse;
}

/* No line of Python runs from the first count to the answer, nor a collection, which might run one. */
bool py_only_variables_hold(PyObject *array, Py_ssize_t besides)
{
    struct search s = {.array = array, .instance = instance_traverse(), .seen = PySet_New(NULL)};
    Py_ssize_t holders = Py_REFCNT(array) - besides;
    int was_enabled = PyGC_Disable();
    /* the frames first: what locals() has given out changes with the look, and may be tracked from then on */
    int rc = s.instance && s.seen ? visit_threads(&s) || look_into_all(&s) : -1;
    if (was_enabled) PyGC_Enable();
    Py_XDECREF(s.seen);
    if (rc) PyErr_Clear();
    return !rc && s.found == holders;
}

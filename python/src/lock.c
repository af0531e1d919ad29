/* Locks: one symmetric long, which all PEs know by the same array. Setting a lock twice or clearing one
 * that somebody else holds would end the job or break the lock, so this PE's own locks are remembered
 * here. */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

/* --- the locks this PE holds; the GIL guards the table --- */

struct held {
    const long *lock;
    uint64_t block; /* its number: memory that was freed and given out again is another lock */
    unsigned long thread;
};
static struct held *held;
static size_t held_count, held_room;

static uint64_t block_number(const long *lock)
{
    const py_block *block = py_block_at(lock);
    return block ? block->number : 0;
}

static struct held *find_held(const long *lock)
{
    uint64_t number = block_number(lock);
    for (size_t i = 0; i < held_count; i++)
        if (held[i].lock == lock && held[i].block == number) return &held[i];
    return NULL;
}

/* Room for one more, before the lock is taken: afterwards nothing may fail. */
static int make_room(void)
{
    if (held_count < held_room) return 0;
    size_t room = held_room ? 2 * held_room : 16;
    struct held *more = realloc(held, room * sizeof *held);
    if (!more) {
        PyErr_NoMemory();
        return -1;
    }
    held = more;
    held_room = room;
    return 0;
}

static void remember(const long *lock)
{
    struct held *old = find_held(lock);
    if (!old && make_room()) {
        PyErr_Clear(); /* another thread took the room: only the checks suffer */
        return;
    }
    struct held now = {lock, block_number(lock), PyThread_get_thread_ident()};
    if (old)
        *old = now;
    else
        held[held_count++] = now;
}

static void forget(const long *lock)
{
    struct held *old = find_held(lock);
    if (old) *old = held[--held_count];
}

/* --- arguments --- */

static const struct py_type *long_row(void)
{
    static const struct py_type *row;
    if (row) return row;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_LONG);
    row = py_type_of(descr);
    Py_DECREF(descr);
    return row;
}

static int arg_lock(PyObject *o, long **lock)
{
    struct py_operand op;
    if (py_arg_one(o, long_row(), PY_WRITE, "lock", &op) || py_need_aligned(&op, "lock")) return -1;
    *lock = (long *)op.data;
    return 0;
}

/* --- what can be done with them --- */

static int lock_set(long *lock, const char *call)
{
    const struct held *h = find_held(lock);
    if (h && h->thread == PyThread_get_thread_ident()) {
        PyErr_Format(PyExc_RuntimeError, "%s: this PE holds the lock already; locks cannot be set twice",
                     call);
        return -1;
    }
    if (make_room()) return -1;
    PY_BEGIN_CALL
    shmem_set_lock(lock);
    PY_END_CALL
    if (PyErr_Occurred()) return -1; /* interrupted: it is not held */
    remember(lock);
    return 0;
}

/* 0: taken; 1: it was set; -1: an exception */
static int lock_test(long *lock)
{
    if (make_room()) return -1;
    int taken = shmem_test_lock(lock);
    if (!taken) remember(lock);
    return taken != 0;
}

static int lock_clear(long *lock, const char *call)
{
    if (!find_held(lock)) {
        PyErr_Format(PyExc_RuntimeError, "%s: this PE does not hold the lock", call);
        return -1;
    }
    forget(lock);
    PY_BEGIN_CALL
    shmem_clear_lock(lock);
    PY_END_CALL
    return PyErr_Occurred() ? -1 : 0;
}

static py_block *lock_alloc(void)
{
    return py_memory_alloc(sizeof(long), 0, SHMEM_MALLOC_ATOMICS_REMOTE, true, "a lock", "host");
}

static int lock_free(py_block *block)
{
    const long *lock = (long *)block->start;
    bool is_held = find_held(lock) != NULL;
    if (py_memory_free(block)) return -1;
    if (is_held) forget(lock);
    return 0;
}

/* --- the calls --- */

static struct py_params lock_params = {.names = {"lock"}, .required = 1};
static struct py_params no_params = {.names = {NULL}, .required = 0};

static int parse_lock(ARGS, long **lock)
{
    PyObject *a[1];
    const char *name = py_row_of(self)->name;
    if (py_parse(&lock_params, name, args, nargs, kwnames, a) || py_need(name)) return -1;
    return arg_lock(a[0], lock);
}

static PyObject *call_new_lock(ARGS)
{
    const char *name = py_row_of(self)->name;
    if (py_parse(&no_params, name, args, nargs, kwnames, NULL) || py_need(name)) return NULL;
    py_block *block = lock_alloc();
    if (!block) return NULL;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_LONG);
    PyObject *lock = py_array_new(descr, 1, (npy_intp[1]){1}, 0, block->start, (PyObject *)block, false);
    Py_DECREF(descr);
    return lock;
}

static PyObject *call_del_lock(ARGS)
{
    long *lock;
    if (parse_lock(self, args, nargs, kwnames, &lock)) return NULL;
    py_block *block = py_block_at(lock);
    if (!block || block->start != (char *)lock || block->bytes != sizeof *lock)
        return PyErr_Format(PyExc_ValueError, "lock: it was not made by new_lock");
    Py_INCREF(block);
    int rc = lock_free(block);
    Py_DECREF(block);
    if (rc) return NULL;
    Py_RETURN_NONE;
}

static PyObject *call_set_lock(ARGS)
{
    long *lock;
    if (parse_lock(self, args, nargs, kwnames, &lock) || lock_set(lock, py_row_of(self)->name)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *call_test_lock(ARGS)
{
    long *lock;
    if (parse_lock(self, args, nargs, kwnames, &lock)) return NULL;
    int rc = lock_test(lock);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static PyObject *call_clear_lock(ARGS)
{
    long *lock;
    if (parse_lock(self, args, nargs, kwnames, &lock) || lock_clear(lock, py_row_of(self)->name)) return NULL;
    Py_RETURN_NONE;
}

#define LOCK                                                                                            \
    "\n\nlock: what new_lock gave, or any symmetric long array of one element that is 0 on all PEs at " \
    "first."

const struct py_call py_calls_lock[] = {
    {"new_lock", call_new_lock, &no_params, PY_F_NONE, true,
     "()\nA new lock, free: a symmetric long array of one element. Collective."},
    {"del_lock", call_del_lock, &lock_params, PY_F_NONE, true,
     "(lock)\nFree the memory of a lock. Collective."},
    {"set_lock", call_set_lock, &lock_params, PY_F_NONE, true,
     "(lock)\nTake the lock; waits until it is free." LOCK},
    {"test_lock", call_test_lock, &lock_params, PY_F_NONE, true,
     "(lock)\nTake the lock if it is free. False: this PE has it now; True: it was set." LOCK},
    {"clear_lock", call_clear_lock, &lock_params, PY_F_NONE, true,
     "(lock)\nGive back a lock that this PE holds; its puts are complete before." LOCK},
    {NULL},
};

/* --- the type Lock --- */

typedef struct {
    PyObject_HEAD py_block *block; /* NULL: destroyed */
} lock_object;

static PyObject *lock_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":Lock", names) || py_need("Lock")) return NULL;
    lock_object *self = (lock_object *)type->tp_alloc(type, 0);
    if (self && !(self->block = lock_alloc())) Py_CLEAR(self);
    return (PyObject *)self;
}

/* Like any block that is dropped: freed when all PEs have dropped it. */
static void lock_dealloc(lock_object *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF((PyObject *)self->block);
    type->tp_free(self);
    Py_DECREF(type);
}

static long *lock_of(lock_object *self, const char *call)
{
    if (py_need(call)) return NULL;
    if (!self->block) {
        PyErr_Format(PyExc_RuntimeError, "%s: this lock was destroyed", call);
        return NULL;
    }
    if (py_need_symmetric(self->block->start, sizeof(long), "lock")) return NULL;
    return (long *)self->block->start;
}

static PyObject *lock_acquire(lock_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocking", NULL};
    int blocking = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:acquire", names, &blocking)) return NULL;
    long *lock = lock_of(self, "Lock.acquire");
    if (!lock) return NULL;
    int rc = blocking ? lock_set(lock, "Lock.acquire") : lock_test(lock);
    return rc < 0 ? NULL : PyBool_FromLong(rc == 0);
}

static PyObject *lock_release(lock_object *self, PyObject *unused)
{
    (void)unused;
    long *lock = lock_of(self, "Lock.release");
    if (!lock || lock_clear(lock, "Lock.release")) return NULL;
    Py_RETURN_NONE;
}

static PyObject *lock_destroy(lock_object *self, PyObject *unused)
{
    (void)unused;
    if (!self->block) Py_RETURN_NONE;
    if (py_need("Lock.destroy")) return NULL;
    if (lock_free(self->block)) return NULL;
    Py_CLEAR(self->block);
    Py_RETURN_NONE;
}

static PyObject *lock_enter(lock_object *self, PyObject *unused)
{
    (void)unused;
    long *lock = lock_of(self, "Lock.acquire");
    if (!lock || lock_set(lock, "Lock.acquire")) return NULL;
    return Py_NewRef((PyObject *)self);
}

static PyObject *lock_exit(lock_object *self, PyObject *args)
{
    (void)args;
    return lock_release(self, NULL);
}

static PyObject *lock_repr(lock_object *self)
{
    if (!self->block) return PyUnicode_FromString("<shmem4py.Lock, destroyed>");
    return PyUnicode_FromFormat("<shmem4py.Lock%s>",
                                find_held((long *)self->block->start) ? ", held by this PE" : "");
}

static PyMethodDef lock_methods[] = {
    {"acquire", (PyCFunction)(void (*)(void))lock_acquire, METH_VARARGS | METH_KEYWORDS,
     "acquire($self, blocking=True)\n--\n\nTake the lock. Without blocking: False when somebody has it."},
    {"release", (PyCFunction)lock_release, METH_NOARGS, "release($self)\n--\n\nGive the lock back."},
    {"destroy", (PyCFunction)lock_destroy, METH_NOARGS, "destroy($self)\n--\n\nFree its memory. Collective."},
    {"__enter__", (PyCFunction)lock_enter, METH_NOARGS, "Take the lock."},
    {"__exit__", (PyCFunction)lock_exit, METH_VARARGS, "Give the lock back."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot lock_slots[] = {
    {Py_tp_new, lock_new},
    {Py_tp_dealloc, lock_dealloc},
    {Py_tp_repr, lock_repr},
    {Py_tp_methods, lock_methods},
    {Py_tp_doc, "Lock()\n--\n\nA lock of all PEs. Collective. Usable in with statements."},
    {0, NULL},
};
static PyType_Spec lock_spec = {"shmem4py.Lock", sizeof(lock_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, lock_slots};

int py_lock_ready(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&lock_spec);
    if (!type) return -1;
    int rc = PyModule_AddObjectRef(module, "Lock", type);
    Py_DECREF(type);
    return rc;
}

/* What a nonblocking call still reads or writes after its return.
 *
 * In a job on several machines a put_nbi reads its source, and a get_nbi writes its target, until a quiet of its context. In C the
 * caller's memory just stays; here the array may be a temporary that nobody else holds: so a reference is kept until then.
 * On one machine such a call is done when it returns, and symmetric memory stays in any case. The GIL guards the table. */
#include "ops.h"

enum { MANY = 1000 }; /* arrays of one context: then it is time for a quiet */

static struct {
    shmem_ctx_t ctx;
    PyObject *arrays; /* a list */
} *pending;
static size_t count, room;

static PyObject *list_of(shmem_ctx_t ctx)
{
    size_t i = 0;
    while (i < count && pending[i].ctx != ctx) i++;
    if (i < count) return pending[i].arrays;
    if (count == room) {
        size_t more = room ? 2 * room : 8;
        void *larger = PyMem_RawRealloc(pending, more * sizeof *pending);
        if (!larger) return NULL;
        pending = larger;
        room = more;
    }
    pending[count].ctx = ctx;
    pending[count].arrays = PyList_New(0);
    return pending[count].arrays ? pending[count++].arrays : NULL;
}

PyObject *py_pending_take(shmem_ctx_t ctx)
{
    for (size_t i = 0; i < count; i++) {
        if (pending[i].ctx != ctx) continue;
        PyObject *arrays = pending[i].arrays;
        pending[i] = pending[--count];
        return arrays;
    }
    return NULL;
}

void py_quiet(shmem_ctx_t ctx)
{
    PyObject *arrays = py_pending_take(ctx);
    PY_BEGIN_CALL
    shmem_ctx_quiet(ctx);
    PY_END_CALL
    Py_XDECREF(arrays);
}

void py_pending_add(shmem_ctx_t ctx, const struct py_operand *op)
{
    if (!py_world.far || op->device || py_block_at(op->data)) return;
    PyObject *arrays = list_of(ctx);
    if (arrays && !PyList_Append(arrays, (PyObject *)op->array) && PyList_GET_SIZE(arrays) < MANY) return;
    PyErr_Clear();
    py_quiet(ctx);
}

void py_pending_forget(void)
{
    while (count) {
        PyObject *arrays = pending[--count].arrays;
        Py_DECREF(arrays);
    }
}

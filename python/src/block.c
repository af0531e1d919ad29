/* Blocks of symmetric memory, and where an address belongs.
 *
 * A block is a Python object that arrays have as their base, so it lives as long as the last view of it. When the
 * collector drops it, the memory cannot be given back on the spot, because freeing is collective: memory.c remembers it. */
#include "memory.h"

#include <stdio.h>

PyTypeObject *py_block_type;
struct py_last_block py_last_live;

/* All blocks that an object stands for, by address. */
static struct {
    py_block **at;
    Py_ssize_t count, room;
} known;

/* The first block that ends behind the address. */
static Py_ssize_t find(const char *addr)
{
    Py_ssize_t from = 0, to = known.count;
    while (from < to) {
        Py_ssize_t i = (from + to) / 2;
        if (addr < known.at[i]->start + known.at[i]->room)
            to = i;
        else
            from = i + 1;
    }
    return from;
}

static int insert(py_block *block)
{
    if (known.count == known.room) {
        Py_ssize_t room = known.room ? known.room * 2 : 64;
        py_block **at = PyMem_RawRealloc(known.at, (size_t)room * sizeof *at);
        if (!at) {
            PyErr_NoMemory();
            return -1;
        }
        known.at = at;
        known.room = room;
    }
    Py_ssize_t i = find(block->start);
    memmove(known.at + i + 1, known.at + i, (size_t)(known.count - i) * sizeof *known.at);
    known.at[i] = block;
    known.count++;
    return 0;
}

static void forget(const py_block *block)
{
    Py_ssize_t i = find(block->start);
    if (i == known.count || known.at[i] != block) return;
    known.count--;
    memmove(known.at + i, known.at + i + 1, (size_t)(known.count - i) * sizeof *known.at);
}

static void forget_last(const py_block *block)
{
    if (py_last_live.start == block->start) py_last_live = (struct py_last_block){NULL, NULL};
}

py_block *py_block_new(char *start, size_t bytes, uint64_t number, const char *kind)
{
    py_block *block = PyObject_New(py_block, py_block_type);
    if (!block) return NULL;
    block->start = start;
    block->bytes = bytes;
    block->room = bytes ? bytes : 1;
    block->number = number;
    block->state = PY_BLOCK_LIVE;
    block->exports = 0;
    block->root = NULL;
    snprintf(block->kind, sizeof block->kind, "%s", kind);
    block->device = strcmp(kind, "host") ? py_kind.number : -1;
    if (insert(block) == 0) return block;
    block->state = PY_BLOCK_GONE;
    Py_DECREF(block);
    return NULL;
}

static void block_dealloc(py_block *block)
{
    PyTypeObject *type = Py_TYPE(block);
    forget_last(block);
    forget(block);
    if (block->state != PY_BLOCK_GONE) py_memory_dropped(block->number);
    Py_XDECREF(block->root);
    PyObject_Free(block);
    Py_DECREF(type);
}

void py_block_end(py_block *block, enum py_block_state state)
{
    forget_last(block);
    block->state = state;
}

void py_block_release(py_block *block)
{
    forget_last(block);
    forget(block);
    py_memory_dropped(block->number);
}

void py_block_end_all(void)
{
    for (Py_ssize_t i = 0; i < known.count; i++) py_block_end(known.at[i], PY_BLOCK_GONE);
}

py_block *py_block_each(Py_ssize_t i) { return i < known.count ? known.at[i] : NULL; }

py_block *py_block_at(const void *addr)
{
    Py_ssize_t i = find(addr);
    return i < known.count && (const char *)addr >= known.at[i]->start ? known.at[i] : NULL;
}

/* --- what is symmetric --- */

/* Symmetric memory that no block of ours stands for: what a program got from the C API, through cffi for instance. */
static bool is_others(const void *addr, size_t bytes)
{
    const char *last = (const char *)addr + (bytes ? bytes - 1 : 0);
    return shmem_addr_accessible(addr, py_world.pe) && shmem_addr_accessible(last, py_world.pe);
}

bool py_symmetric_slow(const void *addr, size_t bytes)
{
    if (!py_world.ready) return false;
    const py_block *block = py_block_at(addr);
    if (!block) return is_others(addr, bytes);
    size_t offset = (size_t)((const char *)addr - block->start);
    if (block->state != PY_BLOCK_LIVE || bytes > block->room - offset) return false;
    py_last_live = (struct py_last_block){block->start, block->start + block->room};
    return true;
}

int py_need_block(const py_block *block, const char *arg)
{
    if (py_likely(block->state == PY_BLOCK_LIVE)) return 0;
    if (block->state == PY_BLOCK_FREED)
        PyErr_Format(PyExc_RuntimeError, "%s: the memory of this array has been freed (shm.free)", arg);
    else
        PyErr_Format(PyExc_RuntimeError, "%s: this array was made before shm.finalize; its memory is symmetric no more", arg);
    return -1;
}

int py_not_symmetric(const void *addr, size_t bytes, const char *arg)
{
    const py_block *block = py_block_at(addr);
    if (block && py_need_block(block, arg)) return -1;
    if (block)
        PyErr_Format(PyExc_ValueError, "%s: %zu bytes at offset %zd reach beyond the %zu bytes of the symmetric block", arg,
                     bytes, (Py_ssize_t)((const char *)addr - block->start), block->bytes);
    else
        PyErr_Format(PyExc_ValueError, "%s: not in symmetric memory; it must be an array made by shm.alloc, shm.zeros or the "
                     "like, or a slice of one (results of arithmetic, copies and fancy indexing are ordinary arrays)", arg);
    return -1;
}

/* --- the type --- */

static int block_getbuffer(py_block *block, Py_buffer *view, int flags)
{
    if (block->device >= 0) {
        view->obj = NULL;
        PyErr_Format(PyExc_BufferError, "this block is %s memory, which the CPU cannot read", block->kind);
        return -1;
    }
    if (PyBuffer_FillInfo(view, (PyObject *)block, block->start, (Py_ssize_t)block->bytes, 0, flags)) return -1;
    return 0;
}

static PyObject *block_repr(py_block *block)
{
    static const char *const states[] = {"", ", freed", ", of before finalize"};
    if (block->device < 0)
        return PyUnicode_FromFormat("<symmetric block %llu: %zu bytes%s>", (unsigned long long)block->number, block->bytes,
                                    states[block->state]);
    return PyUnicode_FromFormat("<symmetric block %llu: %zu bytes in %s memory%s>", (unsigned long long)block->number,
                                block->bytes, block->kind, states[block->state]);
}

static PyObject *get_number(py_block *block, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(block->number);
}

static PyObject *get_nbytes(py_block *block, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(block->bytes);
}

static PyObject *get_address(py_block *block, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(block->start);
}

static PyObject *get_freed(py_block *block, void *closure)
{
    (void)closure;
    return PyBool_FromLong(block->state != PY_BLOCK_LIVE);
}

static PyObject *get_kind(py_block *block, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(block->kind);
}

static PyObject *get_exports(py_block *block, void *closure)
{
    (void)closure;
    return PyLong_FromSsize_t(block->exports);
}

static PyGetSetDef getters[] = {
    {"number", (getter)get_number, NULL, "The how-manieth allocation this is, the same on all PEs.", NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Size in bytes.", NULL},
    {"address", (getter)get_address, NULL, "Address on this PE.", NULL},
    {"freed", (getter)get_freed, NULL, "True after shm.free, or after shm.finalize.", NULL},
    {"kind", (getter)get_kind, NULL, "The kind of memory: 'host', or that of SHMEM_HEAP_KIND.", NULL},
    {"exports", (getter)get_exports, NULL, "Memoryviews, DLPack capsules and the like that keep it from being freed.", NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, block_dealloc},
    {Py_tp_repr, block_repr},
    {Py_tp_getset, getters},
    {Py_bf_getbuffer, block_getbuffer},
    {Py_tp_doc, "A block of symmetric memory. Arrays have it as their base; it lives as long as the last view of it."},
    {0, NULL},
};
static PyType_Spec spec = {"shmem4py.Block", sizeof(py_block), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int py_block_ready(PyObject *module)
{
    py_block_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return py_block_type ? PyModule_AddObjectRef(module, "Block", (PyObject *)py_block_type) : -1;
}

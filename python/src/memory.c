/* The collective side of blocks.
 *
 * Freeing symmetric memory is collective, garbage collection is not: each PE's collector drops blocks when it likes. What
 * it drops is remembered, and the memory goes back to the heap in the next collective allocation or free: there the PEs
 * show each other what they have dropped, and the blocks that all of them have dropped are freed. An explicit free makes
 * the block unusable at once, on all PEs; its memory goes the same way, so a view that somebody still holds never sees
 * memory that was given out again.
 *
 * PEs meet here through records in a piece of symmetric memory of our own. It holds two records, used in turn: who
 * writes the one has been through the meeting after it, so nobody reads it any more. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { DROPPED_MAX = 440, WHAT_MAX = 96 };
enum op { OP_ALLOC = 1, OP_FREE, OP_AGAIN };

struct record {
    uint64_t op, number, bytes, align, hints, clear, exports;
    char what[WHAT_MAX], kind[PY_KIND_MAX]; /* kind "": as shmem_malloc and its kin choose */
    uint64_t dropped_count;
    uint64_t dropped[DROPPED_MAX]; /* numbers, ascending */
};

/* An allocation that has not been given back to the heap. */
struct owned {
    uint64_t number;
    char *start;
    bool dropped;
};

static struct {
    struct record *records; /* symmetric: two */
    unsigned turn;
    struct owned *owned; /* by number */
    Py_ssize_t count, room, dropped;
    uint64_t next;
    bool busy;
    struct record theirs; /* a peer's, as read */
} memory;

struct py_kind py_kind;

static struct record *mine(void) { return &memory.records[memory.turn & 1]; }

/* --- what is allocated --- */

static struct owned *owned_of(uint64_t number)
{
    Py_ssize_t from = 0, to = memory.count;
    while (from < to) {
        Py_ssize_t i = (from + to) / 2;
        if (memory.owned[i].number < number)
            from = i + 1;
        else
            to = i;
    }
    return from < memory.count && memory.owned[from].number == number ? &memory.owned[from] : NULL;
}

void py_memory_dropped(uint64_t number)
{
    if (!py_world.ready) return;
    struct owned *o = owned_of(number);
    if (!o || o->dropped) return;
    o->dropped = true;
    memory.dropped++;
}

static int owned_add(uint64_t number, char *start)
{
    if (memory.count == memory.room) {
        Py_ssize_t room = memory.room ? memory.room * 2 : 64;
        struct owned *o = PyMem_RawRealloc(memory.owned, (size_t)room * sizeof *o);
        if (!o) return -1;
        memory.owned = o;
        memory.room = room;
    }
    memory.owned[memory.count++] = (struct owned){number, start, false};
    return 0;
}

/* --- meetings --- */

static void read_head(int pe) { shmem_getmem(&memory.theirs, mine(), offsetof(struct record, dropped), pe); }
static void read_record(int pe) { shmem_getmem(&memory.theirs, mine(), sizeof memory.theirs, pe); }

static void list_dropped(struct record *r)
{
    r->dropped_count = 0;
    if (!memory.dropped) return;
    for (Py_ssize_t i = 0; i < memory.count && r->dropped_count < DROPPED_MAX; i++)
        if (memory.owned[i].dropped) r->dropped[r->dropped_count++] = memory.owned[i].number;
}

static struct record *begin(enum op op)
{
    memory.turn++;
    struct record *r = mine();
    memset(r, 0, offsetof(struct record, dropped));
    r->op = op;
    return r;
}

/* Lets all PEs see each other's records. */
static void meet(void)
{
    list_dropped(mine());
    PY_BEGIN_CALL
    shmem_sync_all();
    PY_END_CALL
}

static size_t intersect(uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (a[i] == b[k]) a[kept++] = a[i], k++, i++;
        else if (a[i] < b[k]) i++;
        else k++;
    }
    return kept;
}

static void give_back(uint64_t number)
{
    struct owned *o = owned_of(number);
    char *start = o->start;
    PY_BEGIN_CALL
    shmem_free(start);
    PY_END_CALL
    o = owned_of(number); /* it may have moved */
    memory.count--;
    memory.dropped--;
    memmove(o, o + 1, (size_t)(memory.owned + memory.count - o) * sizeof *o);
}

/* After a meeting: frees what all PEs have dropped. All of them find the same set. */
static void sweep(void)
{
    static uint64_t common[DROPPED_MAX];
    size_t n = mine()->dropped_count;
    memcpy(common, mine()->dropped, n * sizeof *common);
    for (int pe = 0; pe < py_world.npes && n; pe++) {
        read_record(pe);
        n = intersect(common, n, memory.theirs.dropped, memory.theirs.dropped_count);
    }
    for (size_t i = 0; i < n; i++) give_back(common[i]);
}

/* --- agreement --- */

static const char *const op_names[] = {"?", "allocates", "frees an array", "allocates"};

static bool differs(const struct record *a, const struct record *b)
{
    return memcmp(a, b, offsetof(struct record, exports)) || memcmp(a->what, b->what, sizeof a->what) ||
           memcmp(a->kind, b->kind, sizeof a->kind);
}

static int say_difference(const struct record *a, const struct record *b, int pe)
{
    if (a->op != b->op)
        PyErr_Format(PyExc_ValueError, "the PEs do not make the same collective call: PE 0 %s, PE %d %s",
                     op_names[a->op], pe, op_names[b->op]);
    else if (a->op == OP_FREE)
        PyErr_Format(PyExc_ValueError, "free: the PEs free different arrays: PE 0 allocation %llu, PE %d allocation %llu; "
                     "free is collective: all PEs free the same arrays in the same order",
                     (unsigned long long)a->number, pe, (unsigned long long)b->number);
    else if (strcmp(a->what, b->what) || a->bytes != b->bytes)
        PyErr_Format(PyExc_ValueError, "shape, dtype: the PEs ask for different arrays: PE 0 for %s (%llu bytes), PE %d for "
                     "%s (%llu bytes)", a->what, (unsigned long long)a->bytes, pe, b->what, (unsigned long long)b->bytes);
    else if (strcmp(a->kind, b->kind))
        PyErr_Format(PyExc_ValueError, "kind: PE 0 asks for %s%s%s, PE %d for %s%s%s", *a->kind ? "'" : "", *a->kind ? a->kind : "None",
                     *a->kind ? "'" : "", pe, *b->kind ? "'" : "", *b->kind ? b->kind : "None", *b->kind ? "'" : "");
    else if (a->align != b->align)
        PyErr_Format(PyExc_ValueError, "align: PE 0 asks for %llu, PE %d for %llu", (unsigned long long)a->align, pe,
                     (unsigned long long)b->align);
    else
        PyErr_Format(PyExc_ValueError, "%s: PE 0 and PE %d ask for different ones", a->hints != b->hints ? "hints" : "clear", pe);
    return -1;
}

/* 0 when all PEs have come for the same; *exporter: the first PE with exports of the block, -1 for none. */
static int compare(int *exporter)
{
    static struct record first;
    if (exporter) *exporter = -1;
    read_head(0);
    memcpy(&first, &memory.theirs, offsetof(struct record, dropped));
    for (int pe = 0; pe < py_world.npes; pe++) {
        read_head(pe);
        if (differs(&first, &memory.theirs)) return say_difference(&first, &memory.theirs, pe);
        if (exporter && *exporter < 0 && memory.theirs.exports) *exporter = pe;
    }
    return 0;
}

/* One thread of a PE at a time: what the PEs agree on is the order of these calls. */
static int enter(const char *call)
{
    if (py_need(call)) return -1;
    if (memory.busy) {
        PyErr_Format(PyExc_RuntimeError, "%s: another thread of this PE is in a collective allocation or free; all PEs must "
                     "make these calls in the same order, so one thread at a time makes them", call);
        return -1;
    }
    memory.busy = true;
    return 0;
}

static void leave(void) { memory.busy = false; }

/* --- allocate --- */

struct request {
    size_t bytes, align;
    long hints;
    bool clear;
    const char *kind; /* "": as shmem_malloc and its kin choose */
};

static bool is_host(const char *kind) { return !strcmp(kind, "host"); }

/* In the heap of that kind. Hints say no more than that, so with a kind they say nothing. */
static char *ask_for_kind(const struct request *r, size_t bytes)
{
    if (r->align) return shmemx_align_on(r->kind, r->align, bytes);
    return r->clear ? shmemx_calloc_on(r->kind, bytes, 1) : shmemx_malloc_on(r->kind, bytes);
}

static char *ask_for_any(const struct request *r, size_t bytes)
{
    if (r->align) return shmem_align(r->align, bytes);
    if (r->hints) return shmem_malloc_with_hints(bytes, r->hints);
    return r->clear ? shmem_calloc(bytes, 1) : shmem_malloc(bytes);
}

static void zero(char *p, size_t bytes)
{
    static const char zeros[1 << 16];
    if (is_host(shmemx_kind_of(p)))
        memset(p, 0, bytes);
    else
        for (size_t done = 0, n; done < bytes; done += n) {
            n = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
            shmem_putmem(p + done, zeros, n, py_world.pe);
        }
}

static char *ask(const struct request *r)
{
    size_t bytes = r->bytes ? r->bytes : 1;
    bool zeroed = !r->align && (!r->hints || *r->kind);
    char *p;
    PY_BEGIN_CALL
    p = *r->kind ? ask_for_kind(r, bytes) : ask_for_any(r, bytes);
    if (p && r->clear && !zeroed) {
        zero(p, bytes);
        shmem_barrier_all();
    }
    PY_END_CALL
    return p;
}

static void meet_again(void)
{
    begin(OP_AGAIN);
    meet();
    sweep();
}

/* Of freed arrays that nobody but their owner's variable holds, the memory can be had by moving them away. */
static void move_out_freed(void)
{
    for (Py_ssize_t i = 0; py_block_each(i);) {
        py_block *block = py_block_each(i);
        PyObject *root = block->root && block->state == PY_BLOCK_FREED ? PyWeakref_GetObject(block->root) : Py_None;
        if (root == Py_None) {
            i++;
            continue;
        }
        Py_INCREF(root);
        int moved = py_array_move_out(root); /* drops the block, which leaves the list */
        Py_DECREF(root);
        if (moved != 1) i++;
        if (moved < 0) PyErr_Clear();
    }
}

/* A freed DeviceArray cannot be read any more, so who holds it does not matter; but a thread may be in a call on it. */
static void release_freed(void)
{
    for (Py_ssize_t i = 0; !py_world.inside && py_block_each(i);) {
        py_block *block = py_block_each(i);
        if (block->device >= 0 && block->state == PY_BLOCK_FREED)
            py_block_release(block); /* it leaves the list */
        else
            i++;
    }
}

static char *ask_by_all_means(const struct request *r)
{
    char *p = ask(r);
    if (p) return p;
    PyGC_Collect();
    meet_again();
    if ((p = ask(r))) return p;
    move_out_freed();
    release_freed();
    meet_again();
    return ask(r);
}

/* Which heap was too small. */
static bool on_device(const struct request *r)
{
    const char *on = getenv("SHMEM_MALLOC_ON");
    if (*r->kind) return !is_host(r->kind);
    bool hinted = !r->align && r->hints & (SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    return *py_kind.name && !hinted && !(on && is_host(on));
}

static void say_no_memory(const struct request *r, const char *what)
{
    size_t live = 0, freed = 0;
    bool device = on_device(r);
    for (Py_ssize_t i = 0; py_block_each(i); i++) {
        const py_block *b = py_block_each(i);
        if ((b->device >= 0) != device) continue;
        if (b->state == PY_BLOCK_LIVE) live += b->bytes;
        if (b->state == PY_BLOCK_FREED) freed += b->bytes;
    }
    PyErr_Format(PyExc_MemoryError, "%s (%zu bytes) does not fit the symmetric heap%s%s of each PE: %zu bytes are in arrays that "
                 "are in use here, %zu in freed arrays of which views are still held; make the heap larger by "
                 "SHMEM_SYMMETRIC_SIZE (for instance 4G)", what, r->bytes, device ? " of kind " : "", device ? py_kind.name : "",
                 live, freed);
}

static py_block *allocate(const struct request *request, const char *what)
{
    struct record *r = begin(OP_ALLOC);
    r->bytes = request->bytes;
    r->align = request->align;
    r->hints = (uint64_t)request->hints;
    r->clear = request->clear;
    snprintf(r->kind, sizeof r->kind, "%s", request->kind);
    snprintf(r->what, sizeof r->what, "%s", what ? what : "a block");
    meet();
    if (compare(NULL)) return NULL;
    sweep();
    char *p = ask_by_all_means(request);
    if (!p) {
        say_no_memory(request, what ? what : "a block");
        return NULL;
    }
    uint64_t number = ++memory.next;
    if (owned_add(number, p)) { /* out of private memory: this block is lost to all, but nothing else is */
        PyErr_NoMemory();
        return NULL;
    }
    return py_block_new(p, request->bytes, number, shmemx_kind_of(p));
}

static int check_kind(const char *kind)
{
    if (!kind || is_host(kind) || (*py_kind.name && !strcmp(kind, py_kind.name))) return 0;
    PyErr_Format(PyExc_ValueError, "kind: this job has no heap of kind '%s'; it has 'host'%s%s%s (SHMEM_HEAP_KIND)", kind,
                 *py_kind.name ? " and '" : "", py_kind.name, *py_kind.name ? "'" : "");
    return -1;
}

py_block *py_memory_alloc(size_t bytes, size_t align, long hints, bool clear, const char *what, const char *kind)
{
    if (check_kind(kind)) return NULL;
    if (align && (align & (align - 1) || align < sizeof(void *))) {
        PyErr_Format(PyExc_ValueError, "align: %zu is no power of two from %zu on", align, sizeof(void *));
        return NULL;
    }
    if (enter("alloc")) return NULL;
    struct request request = {bytes, align, hints, clear, kind ? kind : ""};
    py_block *block = allocate(&request, what);
    leave();
    return block;
}

/* --- free --- */

static int free_block(py_block *block)
{
    int exporter;
    struct record *r = begin(OP_FREE);
    r->number = block->number;
    r->exports = (uint64_t)block->exports;
    meet();
    if (compare(&exporter)) return -1;
    if (exporter >= 0) {
        PyErr_Format(PyExc_BufferError, "free: PE %d still has exports of the array (memoryviews, DLPack capsules, tensors); "
                     "it is freed on no PE", exporter);
        return -1;
    }
    py_block_end(block, PY_BLOCK_FREED);
    sweep();
    return 0;
}

int py_memory_free(py_block *block)
{
    if (py_need("free")) return -1;
    if (block->state != PY_BLOCK_LIVE) {
        PyErr_SetString(PyExc_RuntimeError, block->state == PY_BLOCK_FREED
                                                ? "free: the array has been freed already"
                                                : "free: the array was made before shm.finalize; its memory is gone");
        return -1;
    }
    if (enter("free")) return -1;
    int rc = free_block(block);
    leave();
    return rc;
}

/* --- start and stop --- */

static void ask_device(void)
{
    shmemx_device_info_t info;
    py_kind = (struct py_kind){.name = ""};
    if (shmemx_device_info(&info)) return;
    snprintf(py_kind.name, sizeof py_kind.name, "%s", info.kind);
    py_kind.number = info.number;
    py_kind.dlpack = info.dlpack;
}

int py_memory_start(void)
{
    PY_BEGIN_CALL
    memory.records = shmemx_calloc_on("host", 2, sizeof *memory.records);
    ask_device();
    py_world.far = false;
    for (int pe = 0; memory.records && pe < py_world.npes; pe++) py_world.far |= !shmem_ptr(memory.records, pe);
    PY_END_CALL
    memory.turn = 0;
    memory.busy = false;
    if (memory.records) return 0;
    PyErr_Format(PyExc_MemoryError, "init: the symmetric heap has no room for the %zu bytes that Python's arrays are kept "
                 "track of in; set SHMEM_SYMMETRIC_SIZE higher", 2 * sizeof *memory.records);
    return -1;
}

void py_memory_forget(void)
{
    py_block_end_all();
    PyMem_RawFree(memory.owned);
    memory.owned = NULL;
    memory.records = NULL;
    memory.count = memory.room = memory.dropped = 0;
}

/* --- calls --- */

static PyObject *call_block_alloc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_block_free(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_block_of(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_memory_info(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_device_info(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

static struct py_params alloc_params = {.names = {"nbytes", "align", "hints", "clear", "what", "kind"}, .required = 1};
static struct py_params block_params = {.names = {"block"}, .required = 1};
static struct py_params object_params = {.names = {"obj"}, .required = 1};
static struct py_params no_params = {.names = {NULL}, .required = 0};

const struct py_call py_calls_memory[] = {
    {"block_alloc", call_block_alloc, &alloc_params, PY_F_NONE, true,
     "(nbytes, align=None, hints=None, clear=True, what=None, kind=None)\nAllocate symmetric memory. Collective.\n\n"
     "Returns a Block. ``what`` (text, compared between the PEs) says what for."},
    {"block_free", call_block_free, &block_params, PY_F_NONE, true, "(block)\nFree a Block. Collective."},
    {"block_of", call_block_of, &object_params, PY_F_NONE, true,
     "(obj)\nThe Block that the array or buffer ``obj`` lies in, or None."},
    {"memory_info", call_memory_info, &no_params, PY_F_NONE, true,
     "()\nA dict about symmetric memory on this PE: blocks, bytes, freed (with views), dropped (not yet given back)."},
    {"device_info", call_device_info, &no_params, PY_F_NONE, true,
     "()\nA dict about the device of this PE's device heap: kind, name, number, free and total bytes of its memory, its type in\n"
     "DLPack (0: none). None in a job without a device heap (SHMEM_HEAP_KIND)."},
    {NULL},
};

static PyObject *call_block_alloc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[6];
    size_t bytes, align, hints;
    const char *kind = NULL;
    if (py_parse(&alloc_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    if (py_need("alloc")) return NULL;
    if (py_arg_size(a[0], "nbytes", 0, &bytes) || py_arg_size(a[1], "align", 0, &align) ||
        py_arg_size(a[2], "hints", 0, &hints))
        return NULL;
    int clear = a[3] ? PyObject_IsTrue(a[3]) : 1;
    if (clear < 0) return NULL;
    const char *what = a[4] && a[4] != Py_None ? PyUnicode_AsUTF8(a[4]) : NULL;
    if (!what && PyErr_Occurred()) return NULL;
    if (a[5] && a[5] != Py_None && !PyUnicode_Check(a[5]))
        return PyErr_Format(PyExc_TypeError, "kind: a string or None is needed, not %.100s", Py_TYPE(a[5])->tp_name);
    if (a[5] && a[5] != Py_None && !(kind = PyUnicode_AsUTF8(a[5]))) return NULL;
    return (PyObject *)py_memory_alloc(bytes, align, (long)hints, clear, what, kind);
}

static PyObject *call_block_free(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    if (py_parse(&block_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    if (!Py_IS_TYPE(a[0], py_block_type)) {
        PyErr_Format(PyExc_TypeError, "block: a Block is needed, not %.100s", Py_TYPE(a[0])->tp_name);
        return NULL;
    }
    if (py_memory_free((py_block *)a[0])) return NULL;
    Py_RETURN_NONE;
}

static PyObject *call_block_of(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    const char *addr;
    if (py_parse(&object_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    if (py_is_device(a[0])) return Py_NewRef((PyObject *)((py_device *)a[0])->block);
    if (PyArray_Check(a[0])) {
        addr = PyArray_BYTES((PyArrayObject *)a[0]);
    } else {
        Py_buffer view;
        if (PyObject_GetBuffer(a[0], &view, PyBUF_SIMPLE)) return NULL;
        addr = view.buf;
        PyBuffer_Release(&view);
    }
    py_block *block = py_block_at(addr);
    if (!block) Py_RETURN_NONE;
    return Py_NewRef((PyObject *)block);
}

static PyObject *call_memory_info(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t blocks = 0, freed = 0;
    size_t bytes = 0;
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    for (Py_ssize_t i = 0; py_block_each(i); i++) {
        const py_block *b = py_block_each(i);
        if (b->state == PY_BLOCK_FREED) freed++;
        if (b->state != PY_BLOCK_LIVE) continue;
        blocks++;
        bytes += b->bytes;
    }
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n}", "blocks", blocks, "bytes", (Py_ssize_t)bytes, "freed", freed, "dropped",
                         memory.dropped, "owned", memory.count);
}

static PyObject *call_device_info(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    const char *name = py_row_of(self)->name;
    shmemx_device_info_t info;
    int none;
    if (py_parse(&no_params, name, args, nargs, kwnames, NULL) || py_need(name)) return NULL;
    PY_BEGIN_CALL
    none = shmemx_device_info(&info);
    PY_END_CALL
    if (none) Py_RETURN_NONE;
    return Py_BuildValue("{s:s,s:s,s:i,s:n,s:n,s:i}", "kind", info.kind, "name", info.name, "number", info.number, "free",
                         (Py_ssize_t)info.free_bytes, "total", (Py_ssize_t)info.total_bytes, "dlpack", info.dlpack);
}

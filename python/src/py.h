/* What the files of the extension share. The extension (module shmem4py._core) uses include/ only.
 *
 *   module.c    the module, init and finalize, setup and query, errors
 *   interrupt.c Ctrl-C: what the library's interrupt function does, and leaving the job with a traceback
 *   block.c     blocks of symmetric memory and where an address belongs
 *   memory.c    the collective side of blocks: allocate, free, agree on what the collector dropped
 *   holders.c   who refers to an array
 *   array.c     Array, the ndarray of symmetric memory, and its elements
 *   device.c    DeviceArray, the array in symmetric memory of a device
 *   types.c     the table of types: OpenSHMEM's names and NumPy's dtypes
 *   args.c      arguments of calls: keywords, PEs, contexts, arrays, values
 *   pending.c   what nonblocking calls go on using
 *   rma.c amo.c wait.c coll.c indexed.c lock.c handle.c    the calls, one file a chapter
 *
 * Rules: whatever the library would end the job for is looked at here first and raised as an exception that names the
 * argument. A call keeps the GIL while it is short and on mapped memory; it releases it (PY_BEGIN_CALL) when it
 * may wait or moves more than PY_LONG_COPY bytes. Whatever waited looks at PyErr_Occurred() afterwards: an interrupt.
 */
#ifndef PY_H
#define PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL hbmesh_array_api
#ifndef PY_MODULE_C
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <shmem.h>
#include <shmemx.h>

#include <stdbool.h>

#if NPY_ABI_VERSION < 0x02000000
#define PyDataType_ELSIZE(descr) ((descr)->elsize)
#endif

#define PY_LONG_COPY 65536

#define py_likely(x) __builtin_expect(!!(x), 1)
#define py_unlikely(x) __builtin_expect(!!(x), 0)

/* --- module.c --- */

struct py_world {
    int ready;         /* between init and the last finalize, in the process that called init */
    int inits;         /* how often shm.init or an import of shmem4py.shmem has counted up */
    int finalized;     /* was initialised once and has been finalized */
    int forked;        /* this process is a child of a PE */
    int pe, npes;
    bool far; /* some PEs are on other machines: nonblocking calls go on behind their return */
    unsigned long main_thread;
    int inside; /* how many threads are in the library without the GIL, which guards this count */
};
extern struct py_world py_world;

/* Py_BEGIN_ALLOW_THREADS and its end, for calls of the library: finalize must not come while a thread is in one. */
static inline PyThreadState *py_call_begin(void)
{
    py_world.inside++;
    return PyEval_SaveThread();
}
static inline void py_call_end(PyThreadState *state)
{
    PyEval_RestoreThread(state);
    py_world.inside--;
}
#define PY_BEGIN_CALL { PyThreadState *py_call_state = py_call_begin();
#define PY_END_CALL py_call_end(py_call_state); }

/* -1 with RuntimeError: before init, after finalize, in a child of a PE. `call` is the name the user wrote. */
int py_not_ready(const char *call);
static inline int py_need(const char *call) { return py_likely(py_world.ready) ? 0 : py_not_ready(call); }

/* --- types.c --- */

enum py_class { PY_SIGNED, PY_UNSIGNED, PY_FLOATING, PY_COMPLEX };

/* A type of the API. Names of one representation (long, longlong, int64, ptrdiff) are rows of their own, but arrays of
 * any of their dtypes are welcome to each: what counts is class and size. */
struct py_type {
    const char *name;    /* "float", as in float_get */
    int num;             /* NPY_FLOAT: the dtype of results */
    enum py_class class;
    unsigned char size;  /* bytes of an element */
    bool rma;            /* put, get, p, g, strided, signals, broadcast, collect, alltoall, gather, scatter */
    bool amo;            /* atomics on integers: inc, add, fetch_add, compare_swap ... */
    bool amo_ext;        /* fetch, set, swap */
    bool amo_bits;       /* and, or, xor */
    bool wait;           /* wait_until, test */
    bool reduce_bits;    /* and, or, xor reductions */
    bool reduce_order;   /* max, min */
    bool reduce_sum;     /* sum, prod, scans */
    bool accumulate;     /* scatter_add */
};
extern const struct py_type py_types[];
extern const int py_types_count;

/* The first row of that dtype's class and size, NULL when the API has none (objects, strings, half floats ...). */
const struct py_type *py_type_of(const PyArray_Descr *descr);
/* Does the dtype hold elements of type t, in this machine's byte order? */
bool py_type_fits(const struct py_type *t, const PyArray_Descr *descr);
/* Can the dtype's bytes be moved (no Python objects in it)? */
bool py_type_is_plain(const PyArray_Descr *descr);

/* --- block.c --- */

/* One allocation in the symmetric heap. Arrays of it have it as their base, so it lives as long as the last view. */
enum { PY_KIND_MAX = 16 };
enum py_block_state { PY_BLOCK_LIVE, PY_BLOCK_FREED, PY_BLOCK_GONE }; /* gone: of before finalize */
typedef struct {
    PyObject_HEAD
    char *start;
    size_t bytes, room;   /* asked for; at least 1 */
    uint64_t number;      /* the how-manieth allocation, the same on all PEs */
    enum py_block_state state;
    Py_ssize_t exports;   /* memoryviews, DLPack capsules and the like that foreign code holds */
    PyObject *root;       /* weak reference to the first array on it, or NULL */
    char kind[PY_KIND_MAX];
    int device;           /* its number; -1: memory of the host */
} py_block;
extern PyTypeObject *py_block_type;

/* The block that holds the address, live or freed; NULL: none (borrowed). */
extern struct py_last_block {
    const char *start, *end;
} py_last_live; /* the live block of the last look-up */
py_block *py_block_at(const void *addr);

/* Is [addr, addr + bytes) symmetric memory in use? Short: the block of the last look-up. */
bool py_symmetric_slow(const void *addr, size_t bytes);
static inline bool py_symmetric(const void *addr, size_t bytes)
{
    const char *p = addr;
    if (py_likely(p >= py_last_live.start && p < py_last_live.end && bytes <= (size_t)(py_last_live.end - p))) return true;
    return py_symmetric_slow(addr, bytes);
}
/* -1 with RuntimeError when the block has been freed, or is of before finalize. */
int py_need_block(const py_block *block, const char *arg);
/* -1 with ValueError or RuntimeError (freed) that names the argument. */
int py_not_symmetric(const void *addr, size_t bytes, const char *arg);
static inline int py_need_symmetric(const void *addr, size_t bytes, const char *arg)
{
    return py_likely(py_symmetric(addr, bytes)) ? 0 : py_not_symmetric(addr, bytes, arg);
}

/* --- memory.c --- */

/* The device heap of this job, since init. */
struct py_kind {
    char name[PY_KIND_MAX]; /* "": there is none */
    int number;             /* of this PE's device */
    int dlpack;             /* its type in DLPack; 0: it has none */
};
extern struct py_kind py_kind;

/* Collective. A new reference to a block of that size, zeroed if asked; NULL with MemoryError or, when the PEs do not ask
 * for the same, ValueError, on all PEs alike. `what` is compared, too: dtype and shape as text. kind NULL: as shmem_malloc
 * and its kin choose it. */
py_block *py_memory_alloc(size_t bytes, size_t align, long hints, bool clear, const char *what, const char *kind);
/* Collective. -1: BufferError on all PEs when one of them has exports of it; ValueError when they free different blocks. */
int py_memory_free(py_block *block);

/* --- array.c --- */

extern PyTypeObject *py_array_type; /* Array: an ndarray subclass without fields of its own */

/* A new Array (plain: a new ndarray) on [data ...), whose base becomes `base` (a reference is stolen, also on failure). */
PyObject *py_array_new(PyArray_Descr *descr, int nd, const npy_intp *dims, int fortran, char *data, PyObject *base,
                       bool plain);

/* x[i] of an Array: an instance of NumPy's scalar that remembers where it comes from. */
struct py_element {
    PyArrayObject *array; /* owned; NULL: none */
    char *data;
};
extern void py_element_dealloc(PyObject *o);
static inline bool py_is_element(PyObject *o) { return Py_TYPE(o)->tp_dealloc == py_element_dealloc; }
static inline struct py_element *py_element_of(PyObject *o)
{
    return (struct py_element *)((char *)o + Py_TYPE(o)->tp_basicsize - sizeof(struct py_element));
}
/* A plain NumPy scalar of that type from memory: the result of float_get, atomics and the like. */
PyObject *py_scalar(int num, const void *value);

/* --- device.c --- */

/* An array in a device heap. Its layout is an ndarray whose data nobody may look at. */
typedef struct {
    PyObject_HEAD
    PyArrayObject *layout;
    py_block *block;
    PyObject *weak;
} py_device;
extern PyTypeObject *py_device_type;
static inline bool py_is_device(PyObject *o) { return Py_IS_TYPE(o, py_device_type); }
/* What describes the operand: of a DeviceArray its layout, of all else itself. Borrowed. */
static inline PyObject *py_layout(PyObject *o)
{
    return py_unlikely(py_is_device(o)) ? (PyObject *)((py_device *)o)->layout : o;
}
/* On the whole block, from its start. */
PyObject *py_device_new(PyArray_Descr *descr, int nd, const npy_intp *dims, int fortran, py_block *block);

/* --- args.c --- */

/* Arguments of METH_FASTCALL | METH_KEYWORDS functions. `names` are interned by py_params_ready, which module init calls
 * for every table through py_params_register. Fills out[] with borrowed references, NULL where absent. */
#define PY_PARAMS_MAX 10
struct py_params {
    const char *names[PY_PARAMS_MAX + 1]; /* up to NULL */
    int required;
    PyObject *interned[PY_PARAMS_MAX];
    int count;
};
int py_parse_slow(struct py_params *p, const char *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                  PyObject **out);
/* call: for messages. -1 with TypeError. */
static inline int py_parse(struct py_params *p, const char *call, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames, PyObject **out);

/* A PE number of the context's team (ctx NULL or None: of the world): TypeError, IndexError. */
int py_arg_pe(PyObject *o, PyObject *ctx, int *pe);
/* None or a Ctx that is valid: the handle. */
int py_arg_ctx(PyObject *o, shmem_ctx_t *ctx);
/* None (the world) or a valid Team of which this PE is a member. */
int py_arg_team(PyObject *o, shmem_team_t *team, int *npes);
/* None: `dflt`. Else a number from 0 on; ValueError names the argument. */
int py_arg_size(PyObject *o, const char *arg, size_t dflt, size_t *n);

/* One operand of a call: where its elements are. Accepts ndarrays of a plain dtype, contiguous in C or Fortran order (else
 * ValueError), elements of Arrays, and DeviceArrays. */
struct py_operand {
    char *data;
    size_t count;                 /* elements */
    size_t size;                  /* bytes of one */
    PyArray_Descr *descr;         /* borrowed */
    PyArrayObject *array;         /* borrowed; for an element: the array it is of */
    bool element;
    bool device; /* in the memory of a device: the library alone may touch it */
};
enum { PY_WRITE = 1, PY_SYMMETRIC = 2, PY_ONE = 4 }; /* written to; must be symmetric; exactly one element */
/* t NULL: any dtype that can be moved as bytes. TypeError, ValueError, RuntimeError name `arg`. */
int py_arg_operand(PyObject *o, const struct py_type *t, int need, const char *arg, struct py_operand *op);
/* A value of type t, range-checked: OverflowError, TypeError. */
int py_arg_value(PyObject *o, const struct py_type *t, const char *arg, void *value);

/* --- tables of calls --- */

/* A function of the module. With types != 0 there is one for each type that has the feature, named TYPE_name, and m_self
 * is a capsule-like object that py_row gives back; the plain name has no row and takes the dtype from its arguments. */
enum py_feature { PY_F_NONE, PY_F_RMA, PY_F_AMO, PY_F_AMO_EXT, PY_F_AMO_BITS, PY_F_WAIT, PY_F_REDUCE_BITS,
                  PY_F_REDUCE_ORDER, PY_F_REDUCE_SUM, PY_F_ACCUMULATE };
struct py_call {
    const char *name;
    PyObject *(*fn)(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
    struct py_params *params;
    enum py_feature types; /* PY_F_NONE: only the plain name */
    bool generic;          /* the plain name exists, too */
    const char *doc;       /* "%s" stands for the type's name, "" in the plain one; first line is the signature without name */
};
/* self of a call: which type it is for, and how it was called (for messages). */
typedef struct {
    PyObject_HEAD
    const struct py_type *type; /* NULL: generic */
    const struct py_call *call;
    const char *name;           /* "float_get" */
} py_row;
static inline const py_row *py_row_of(PyObject *self) { return (const py_row *)self; }

/* Each ends with a row whose name is NULL. */
extern const struct py_call py_calls_rma[], py_calls_amo[], py_calls_wait[], py_calls_coll[], py_calls_indexed[],
    py_calls_lock[], py_calls_order[], py_calls_memory[], py_calls_setup[];

/* --- handle.c --- */

typedef struct {
    PyObject_HEAD
    shmem_ctx_t handle;
} py_ctx;
typedef struct {
    PyObject_HEAD
    shmem_team_t handle;
} py_team;
extern PyTypeObject *py_ctx_type, *py_team_type;

/* --- interrupt.c --- */
void py_interrupt_start(void); /* registers with the library, before init */
void py_interrupt_stop(void); /* before finalize, and when the interpreter ends */

static inline int py_parse(struct py_params *p, const char *call, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames, PyObject **out)
{
    if (!p->count && !nargs && !kwnames) return 0; /* a call without parameters */
    if (py_unlikely(nargs > p->count)) return py_parse_slow(p, call, args, nargs, kwnames, out);
    for (Py_ssize_t i = 0; i < nargs; i++) out[i] = args[i];
    for (Py_ssize_t i = nargs; i < p->count; i++) out[i] = NULL;
    if (kwnames) {
        Py_ssize_t n = PyTuple_GET_SIZE(kwnames);
        for (Py_ssize_t k = 0; k < n; k++) {
            PyObject *name = PyTuple_GET_ITEM(kwnames, k);
            Py_ssize_t i = nargs;
            while (i < p->count && p->interned[i] != name) i++;
            if (py_unlikely(i == p->count || out[i])) return py_parse_slow(p, call, args, nargs, kwnames, out);
            out[i] = args[nargs + k];
        }
    }
    for (int i = (int)nargs; i < p->required; i++)
        if (py_unlikely(!out[i])) return py_parse_slow(p, call, args, nargs, kwnames, out);
    return 0;
}

#endif

/* Init, finalize and query. */
#include <limits.h>
#include <stdlib.h>

#include "memory.h"
#include "setup.h"

struct py_world py_world;

int py_not_ready(const char *call)
{
    if (py_world.forked)
        PyErr_Format(PyExc_RuntimeError, "%s: this process is a child of PE %d, not a PE: the job's memory and its calls belong "
                     "to the PE (os.fork, multiprocessing)", call, py_world.pe);
    else if (py_world.finalized)
        PyErr_Format(PyExc_RuntimeError, "%s: called after shm.finalize; call shm.init again first", call);
    else if (shmemx_is_descendant())
        PyErr_Format(PyExc_RuntimeError, "%s: this process was started by a PE of the job and is no PE itself", call);
    else
        PyErr_Format(PyExc_RuntimeError, "%s: called before shm.init", call);
    return -1;
}

/* --- hooks --- */

/* Output that Python still buffers belongs to what the program has printed, also when the library ends the process. */
static void flush_python(void)
{
    if (!Py_IsInitialized() || py_is_finalizing() || !py_world.ready) return;
    PyGILState_STATE state = PyGILState_Ensure();
    py_flush_streams();
    PyGILState_Release(state);
}

static void after_fork_in_child(void)
{
    if (!py_world.ready) return;
    py_world.ready = 0;
    py_world.forked = 1;
}

static int run_hooks(void)
{
    PyObject *module = PyImport_ImportModule("shmem4py._hooks");
    PyObject *result = module ? PyObject_CallMethod(module, "install", NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int install_once(void)
{
    static bool done;
    if (done) return 0;
    if (run_hooks()) return -1;
    atexit(flush_python);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    done = true;
    return 0;
}

/* --- init and finalize --- */

/* The library would end the process for it. */
static int check_copies(void)
{
    char other[PATH_MAX], own[PATH_MAX];
    if (!shmemx_other_copy(other, sizeof other, own, sizeof own)) return 0;
    PyErr_Format(PyExc_RuntimeError, "init: two copies of the hbmesh library are loaded in this process: %s, which this package "
                 "uses, and %s; they would not know of each other, so build or link everything against one", own, other);
    return -1;
}

static int check_before(void)
{
    if (py_world.forked) return py_not_ready("init");
    if (!py_world.ready && check_copies()) return -1;
    if (!py_world.finalized && !py_world.ready && shmemx_is_descendant()) {
        PyErr_SetString(PyExc_RuntimeError, "init: this process was started by a PE of the job and is no PE itself "
                        "(multiprocessing, subprocess); start a job of its own with oshrun or with SHMEM_BOOT=single, "
                        "or call shm.init only in PEs, for instance below if __name__ == '__main__'");
        return -1;
    }
    return 0;
}

static int open_world(int requested, int *provided)
{
    int rc;
    shmemx_keep_memory(1);
    PY_BEGIN_CALL
    rc = shmem_init_thread(requested, provided);
    PY_END_CALL
    if (rc) {
        PyErr_Format(PyExc_RuntimeError, "init: the library cannot be initialised (error %d)", rc);
        return -1;
    }
    return 0;
}

/* From the last one on no thread begins a call. */
static void close_world(void)
{
    bool last = py_world.inits == 1;
    if (last) py_world.ready = 0, py_world.finalized = 1;
    PY_BEGIN_CALL
    shmem_finalize();
    PY_END_CALL
    py_world.inits--;
    if (!last) return;
    py_interrupt_stop();
    py_memory_forget();
    py_pending_forget();
}

static int init(int requested, int *provided)
{
    if (check_before()) return -1;
    if (!py_world.ready) py_interrupt_start(); /* Ctrl-C works while this PE waits for the others, too */
    if (open_world(requested, provided)) return -1;
    py_world.inits++;
    if (py_world.ready) return 0;
    py_world.pe = shmem_my_pe();
    py_world.npes = shmem_n_pes();
    py_world.ready = 1;
    if (!py_memory_start()) return install_once();
    PyObject *type, *value, *trace; /* a call that waits would take the exception for an interrupt */
    PyErr_Fetch(&type, &value, &trace);
    close_world(); /* on all PEs alike: arrays cannot be had */
    PyErr_Restore(type, value, trace);
    return -1;
}

static PyObject *call_init_thread(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_finalize(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_my_pe(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_n_pes(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_query_thread(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_initialized(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_is_descendant(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_global_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_claim_report(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_info_get_version(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_info_get_name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
static PyObject *call_pcontrol(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

static PyObject *call_interrupt_stop(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

static struct py_params level_params = {.names = {"requested"}, .required = 0};
static struct py_params status_params = {.names = {"status"}, .required = 0};
static struct py_params pcontrol_params = {.names = {"level"}, .required = 0};
static struct py_params no_params = {.names = {NULL}, .required = 0};

const struct py_call py_calls_setup[] = {
    {"init_thread", call_init_thread, &level_params, PY_F_NONE, true,
     "(requested=THREAD_MULTIPLE)\nInitialise with a thread level; returns the level provided. Collective, counted."},
    {"finalize", call_finalize, &no_params, PY_F_NONE, true,
     "()\nFinalise: as often as init was called; the last one is collective and releases everything. RuntimeError while "
     "another\nthread is in a call."},
    {"my_pe", call_my_pe, &no_params, PY_F_NONE, true, "()\nThe number of the calling PE, from 0 on."},
    {"n_pes", call_n_pes, &no_params, PY_F_NONE, true, "()\nHow many PEs the job has."},
    {"query_thread", call_query_thread, &no_params, PY_F_NONE, true, "()\nThe thread level in force, an int."},
    {"query_initialized", call_initialized, &no_params, PY_F_NONE, true, "()\nTrue between init and the last finalize."},
    {"is_descendant", call_is_descendant, &no_params, PY_F_NONE, true,
     "()\nTrue in a process that a PE has started and that is no PE itself."},
    {"global_exit", call_global_exit, &status_params, PY_F_NONE, true,
     "(status=0)\nEnd the whole job with that status. Any PE may; does not return."},
    {"claim_report", call_claim_report, &no_params, PY_F_NONE, true,
     "()\nTrue for the one PE of the job that is to say why it ends."},
    {"info_get_version", call_info_get_version, &no_params, PY_F_NONE, true,
     "()\n(major, minor) of the OpenSHMEM specification."},
    {"info_get_name", call_info_get_name, &no_params, PY_F_NONE, true, "()\nName and version of the library."},
    {"_interrupt_stop", call_interrupt_stop, &no_params, PY_F_NONE, true,
     "()\nCalls that wait ask Python no more: the interpreter ends."},
    {"pcontrol", call_pcontrol, &pcontrol_params, PY_F_NONE, true, "(level=1)\nTell a profiling tool the level wanted."},
    {NULL},
};

static int level_of(PyObject *o, int *level)
{
    *level = SHMEM_THREAD_MULTIPLE;
    if (!o || o == Py_None) return 0;
    long n = PyLong_AsLong(o);
    if (n == -1 && PyErr_Occurred()) return -1;
    if (n < SHMEM_THREAD_SINGLE || n > SHMEM_THREAD_MULTIPLE) {
        PyErr_Format(PyExc_ValueError, "requested: %ld is no thread level; use THREAD_SINGLE, FUNNELED, SERIALIZED or MULTIPLE",
                     n);
        return -1;
    }
    *level = (int)n;
    return 0;
}

static PyObject *call_init_thread(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    int level, provided;
    if (py_parse(&level_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    if (level_of(a[0], &level) || init(level, &provided)) return NULL;
    return PyLong_FromLong(provided);
}

static PyObject *call_finalize(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL) || py_need("finalize")) return NULL;
    if (py_world.inits == 1 && py_world.inside)
        return PyErr_Format(PyExc_RuntimeError, "finalize: %d other calls of this PE, of other threads or under a signal handler, "
                            "are not complete; the memory they work on would go away", py_world.inside);
    close_world();
    Py_RETURN_NONE;
}

static PyObject *call_my_pe(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL) || py_need("my_pe")) return NULL;
    return PyLong_FromLong(py_world.pe);
}

static PyObject *call_n_pes(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL) || py_need("n_pes")) return NULL;
    return PyLong_FromLong(py_world.npes);
}

static PyObject *call_query_thread(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int level;
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL) || py_need("query_thread")) return NULL;
    shmem_query_thread(&level);
    return PyLong_FromLong(level);
}

static PyObject *call_initialized(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    return PyBool_FromLong(py_world.ready);
}

static PyObject *call_is_descendant(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    return PyBool_FromLong(py_world.forked || (!py_world.ready && !py_world.finalized && shmemx_is_descendant()));
}

static PyObject *call_global_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    if (py_parse(&status_params, py_row_of(self)->name, args, nargs, kwnames, a) || py_need("global_exit")) return NULL;
    long status = a[0] ? PyLong_AsLong(a[0]) : 0;
    if (status == -1 && PyErr_Occurred()) return NULL;
    py_flush_streams();
    PY_BEGIN_CALL
    shmem_global_exit((int)status);
    PY_END_CALL
    Py_RETURN_NONE; /* not reached */
}

static PyObject *call_claim_report(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    return PyBool_FromLong(!py_world.ready || shmemx_claim_report());
}

static PyObject *call_info_get_version(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int major, minor;
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    shmem_info_get_version(&major, &minor);
    return Py_BuildValue("(ii)", major, minor);
}

static PyObject *call_info_get_name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    char name[SHMEM_MAX_NAME_LEN];
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    shmem_info_get_name(name);
    return PyUnicode_FromString(name);
}

static PyObject *call_pcontrol(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *a[1];
    if (py_parse(&pcontrol_params, py_row_of(self)->name, args, nargs, kwnames, a)) return NULL;
    long level = a[0] ? PyLong_AsLong(a[0]) : 1;
    if (level == -1 && PyErr_Occurred()) return NULL;
    shmem_pcontrol((int)level);
    Py_RETURN_NONE;
}

static PyObject *call_interrupt_stop(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (py_parse(&no_params, py_row_of(self)->name, args, nargs, kwnames, NULL)) return NULL;
    py_interrupt_stop();
    Py_RETURN_NONE;
}

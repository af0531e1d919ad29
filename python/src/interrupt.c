/* Ctrl-C in calls that wait.
 *
 * The library asks this file at least every 50 ms, and after each signal, whether to go on. Python's handlers run here, in
 * the main thread, as they would between two lines of Python. What they raise ends the call where it can end: a wait, a
 * lock. A collective, barrier or quiet cannot be left alone by one PE; there the job ends, and one PE tells why. */
#include "setup.h"

#include <shmemx.h>

void py_flush_streams(void)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (int i = 0; i < 2; i++) {
        PyObject *stream = PySys_GetObject(names[i]); /* borrowed */
        if (!stream || stream == Py_None) continue;
        PyObject *result = PyObject_CallMethod(stream, "flush", NULL);
        if (!result) PyErr_Clear();
        Py_XDECREF(result);
    }
}

/* The status that the exception would end a Python program with. */
static int status_of(PyObject *type, PyObject *value)
{
    if (PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt)) return 128 + 2;
    if (!PyErr_GivenExceptionMatches(type, PyExc_SystemExit)) return 1;
    PyObject *code = value ? PyObject_GetAttrString(value, "code") : NULL;
    int status = code == Py_None ? 0 : code && PyLong_Check(code) ? (int)PyLong_AsLong(code) : 1;
    Py_XDECREF(code);
    PyErr_Clear();
    return status;
}

/* The exception has not left the call yet, so it knows no frames: those on the stack are its traceback. */
static void tell(PyObject *value)
{
    PyObject *module = PyImport_ImportModule("shmem4py._hooks");
    PyObject *result = module ? PyObject_CallMethod(module, "tell_interrupted", "O", value) : NULL;
    if (!result) PyErr_Print();
    Py_XDECREF(result);
    Py_XDECREF(module);
}

static void leave_job(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) PyException_SetTraceback(value, trace);
    int status = status_of(type, value);
    if (!PyErr_GivenExceptionMatches(type, PyExc_SystemExit) && shmemx_claim_report()) tell(value);
    py_flush_streams();
    shmem_global_exit(status);
}

static int on_poll(int can_return)
{
    if (PyThread_get_thread_ident() != py_world.main_thread || py_is_finalizing()) return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    int raised = PyErr_Occurred() || PyErr_CheckSignals();
    if (raised && !can_return) leave_job();
    PyGILState_Release(state);
    return raised;
}

void py_interrupt_start(void) { shmemx_set_interrupt(on_poll); }

void py_interrupt_stop(void) { shmemx_set_interrupt(NULL); }

/* Ctx and Team: handles of the library in the clothes of objects. One that has become stale is found out
 * before the library is asked. */
#include "ops.h"

#include <string.h>

PyTypeObject *py_ctx_type, *py_team_type;

/* The constants: destroy leaves these very objects alone, and the handle when it is one of theirs. */
static PyObject *ctx_default, *ctx_invalid, *team_world, *team_shared, *team_invalid;

static PyObject *ctx_of(PyTypeObject *type, shmem_ctx_t handle)
{
    py_ctx *ctx = (py_ctx *)type->tp_alloc(type, 0);
    if (ctx) ctx->handle = handle;
    return (PyObject *)ctx;
}

static PyObject *team_of(PyTypeObject *type, shmem_team_t handle)
{
    py_team *team = (py_team *)type->tp_alloc(type, 0);
    if (team) team->handle = handle;
    return (PyObject *)team;
}

static void handle_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *error_of(const char *call, int rc)
{
    return PyErr_Format(PyExc_RuntimeError, "%s: error %d", call, rc);
}

/* --- handles that come from cffi --- */

/* The number in a cffi handle of that C type, which programs of the published package may hold. -1 with
 * TypeError. */
static int handle_of_cdata(PyObject *o, const char *ctype, uintptr_t *handle)
{
    PyObject *api = PyImport_ImportModule("shmem4py.api"),
             *ffi = api ? PyObject_GetAttrString(api, "ffi") : NULL;
    PyObject *have = ffi ? PyObject_CallMethod(ffi, "typeof", "O", o) : NULL;
    PyObject *want = have ? PyObject_CallMethod(ffi, "typeof", "s", ctype) : NULL;
    PyObject *cast = NULL, *number = NULL;
    if (want && have != want) PyErr_Format(PyExc_TypeError, "unexpected ctype: %S", have);
    if (want && have == want) cast = PyObject_CallMethod(ffi, "cast", "sO", "uintptr_t", o);
    if (cast) number = PyNumber_Long(cast);
    if (number) *handle = (uintptr_t)PyLong_AsVoidPtr(number);
    int rc = number && !PyErr_Occurred() ? 0 : -1;
    Py_XDECREF(api), Py_XDECREF(ffi), Py_XDECREF(have), Py_XDECREF(want), Py_XDECREF(cast),
        Py_XDECREF(number);
    return rc;
}

static bool is_cdata(PyObject *o)
{
    return !strncmp(Py_TYPE(o)->tp_name, "_cffi_backend.", 14);
}

static int unexpected(PyObject *o)
{
    PyErr_Format(PyExc_TypeError, "unexpected type: %.200s", Py_TYPE(o)->tp_name);
    return -1;
}

/* --- Ctx --- */

static PyObject *ctx_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"ctx", NULL};
    PyObject *o = Py_None;
    uintptr_t handle = (uintptr_t)SHMEM_CTX_INVALID;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Ctx", names, &o)) return NULL;
    if (PyObject_TypeCheck(o, py_ctx_type))
        handle = (uintptr_t)((py_ctx *)o)->handle;
    else if (o != Py_None && (is_cdata(o) ? handle_of_cdata(o, "shmem_ctx_t", &handle) : unexpected(o)))
        return NULL;
    return ctx_of(type, (shmem_ctx_t)handle);
}

static PyObject *ctx_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(a, py_ctx_type) ||
        !PyObject_TypeCheck(b, py_ctx_type))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((((py_ctx *)a)->handle == ((py_ctx *)b)->handle) == (op == Py_EQ));
}

static int ctx_bool(py_ctx *self)
{
    return self->handle != SHMEM_CTX_INVALID;
}

static const char *name_of_ctx(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT                     ? "CTX_DEFAULT"
           : ctx == SHMEM_CTX_INVALID                   ? "CTX_INVALID"
           : py_world.ready && shmemx_ctx_is_valid(ctx) ? "Ctx"
                                                        : "Ctx, destroyed";
}

static PyObject *ctx_repr(py_ctx *self)
{
    return PyUnicode_FromFormat("<shmem4py.%s>", name_of_ctx(self->handle));
}
/* A handle as the published package shows it: one of cffi, for the functions of shmem4py.api; without cffi a number. */
static PyObject *as_published(void *handle, const char *ctype)
{
    PyObject *number = PyLong_FromVoidPtr(handle), *api = number ? PyImport_ImportModule("shmem4py.api") : NULL;
    if (!api) {
        if (number && PyErr_ExceptionMatches(PyExc_ImportError)) PyErr_Clear();
        return PyErr_Occurred() ? NULL : number;
    }
    PyObject *ffi = PyObject_GetAttrString(api, "ffi");
    PyObject *result = ffi ? PyObject_CallMethod(ffi, "cast", "sO", ctype, number) : NULL;
    Py_XDECREF(ffi);
    Py_DECREF(api);
    Py_DECREF(number);
    return result;
}

static PyObject *ctx_get_ob(py_ctx *self, void *closure)
{
    (void)closure;
    return as_published(self->handle, "shmem_ctx_t");
}

/* Options of a context: a set of bits. */
static int options_of(PyObject *o, long *options)
{
    *options = 0;
    if (py_absent(o)) return 0;
    if (!PyIndex_Check(o)) {
        PyErr_Format(PyExc_TypeError, "options: an integer is needed, not %.200s", Py_TYPE(o)->tp_name);
        return -1;
    }
    *options = PyLong_AsLong(o);
    if (*options == -1 && PyErr_Occurred()) return -1;
    if (!(*options & ~(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE))) return 0;
    PyErr_Format(PyExc_ValueError,
                 "options: %ld has other bits than CTX_PRIVATE, CTX_SERIALIZED and CTX_NOSTORE", *options);
    return -1;
}

/* A context of its own class for subclasses of Ctx, as they call create. */
static PyObject *create_ctx(PyTypeObject *type, PyObject *options_o, PyObject *team_o, const char *call)
{
    long options;
    shmem_team_t team;
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    int members;
    if (py_need(call) || options_of(options_o, &options) || py_arg_team(team_o, &team, &members)) return NULL;
    int rc = py_absent(team_o) ? shmem_ctx_create(options, &ctx) : shmem_team_create_ctx(team, options, &ctx);
    return rc ? error_of(call, rc) : ctx_of(type, ctx);
}

static PyObject *ctx_create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"options", "team", NULL};
    PyObject *options = NULL, *team = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:create", names, &options, &team)) return NULL;
    return create_ctx(type, options, team, "shmem_ctx_create");
}

static PyObject *ctx_destroy(py_ctx *self, PyObject *unused)
{
    (void)unused;
    shmem_ctx_t ctx = self->handle;
    if ((PyObject *)self == ctx_default || (PyObject *)self == ctx_invalid) Py_RETURN_NONE;
    if (ctx == SHMEM_CTX_DEFAULT || ctx == SHMEM_CTX_INVALID) {
        self->handle = SHMEM_CTX_INVALID;
        Py_RETURN_NONE;
    }
    if (py_need("Ctx.destroy") || py_arg_ctx((PyObject *)self, &ctx)) return NULL;
    self->handle = SHMEM_CTX_INVALID;
    PyObject *arrays = py_pending_take(ctx);
    PY_BEGIN_CALL
    shmem_ctx_destroy(ctx);
    PY_END_CALL
    Py_XDECREF(arrays);
    Py_RETURN_NONE;
}

static PyObject *ctx_get_team(py_ctx *self, PyObject *unused)
{
    (void)unused;
    shmem_ctx_t ctx = self->handle;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    if (py_need("Ctx.get_team")) return NULL;
    if (ctx != SHMEM_CTX_INVALID && py_arg_ctx((PyObject *)self, &ctx)) return NULL;
    int rc = shmem_ctx_get_team(ctx, &team);
    return rc ? error_of("shmem_ctx_get_team", rc) : team_of(py_team_type, team);
}

static PyObject *ctx_fence(py_ctx *self, PyObject *unused)
{
    (void)unused;
    shmem_ctx_t ctx = self->handle;
    if (py_need("Ctx.fence")) return NULL;
    if (ctx == SHMEM_CTX_INVALID) Py_RETURN_NONE;
    if (py_arg_ctx((PyObject *)self, &ctx)) return NULL;
    shmem_ctx_fence(ctx);
    Py_RETURN_NONE;
}

static PyObject *ctx_quiet(py_ctx *self, PyObject *unused)
{
    (void)unused;
    shmem_ctx_t ctx = self->handle;
    if (py_need("Ctx.quiet")) return NULL;
    if (ctx == SHMEM_CTX_INVALID) Py_RETURN_NONE;
    if (py_arg_ctx((PyObject *)self, &ctx)) return NULL;
    py_quiet(ctx);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *handle_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* By name, so that a subclass's destroy is called. */
static PyObject *handle_exit(PyObject *self, PyObject *args)
{
    (void)args;
    PyObject *result = PyObject_CallMethod(self, "destroy", NULL);
    if (!result) return NULL;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

static PyMethodDef ctx_methods[] = {
    {"create", (PyCFunction)(void (*)(void))ctx_create, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "create($type, options=0, team=None)\n--\n\nA new context, of the team or of all PEs. options: bits "
     "CTX_PRIVATE, "
     "CTX_SERIALIZED, CTX_NOSTORE."},
    {"destroy", (PyCFunction)ctx_destroy, METH_NOARGS,
     "destroy($self)\n--\n\nComplete what it has issued, and destroy it."},
    {"get_team", (PyCFunction)ctx_get_team, METH_NOARGS,
     "get_team($self)\n--\n\nThe team it was created from."},
    {"fence", (PyCFunction)ctx_fence, METH_NOARGS,
     "fence($self)\n--\n\nOrder what it has issued before what follows."},
    {"quiet", (PyCFunction)ctx_quiet, METH_NOARGS,
     "quiet($self)\n--\n\nWait until all it has issued is complete."},
    {"__enter__", (PyCFunction)handle_enter, METH_NOARGS, "The context itself."},
    {"__exit__", (PyCFunction)handle_exit, METH_VARARGS, "Destroy it."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef ctx_attributes[] = {
    {"ob_ctx", (getter)ctx_get_ob, NULL, "The handle of the C API: of cffi where there is cffi, else a number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot ctx_slots[] = {
    {Py_tp_new, ctx_new},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_richcompare, ctx_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_nb_bool, ctx_bool},
    {Py_tp_repr, ctx_repr},
    {Py_tp_methods, ctx_methods},
    {Py_tp_getset, ctx_attributes},
    {Py_tp_doc, "Ctx(ctx=None)\n--\n\nA communication context: another name of ctx, or CTX_INVALID. "
                "Ctx.create makes new ones."},
    {0, NULL},
};
static PyType_Spec ctx_spec = {"shmem4py.Ctx", sizeof(py_ctx), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                               ctx_slots};

/* --- Team --- */

static PyObject *team_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"team", NULL};
    PyObject *o = Py_None;
    uintptr_t handle = (uintptr_t)SHMEM_TEAM_INVALID;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Team", names, &o)) return NULL;
    if (PyObject_TypeCheck(o, py_team_type))
        handle = (uintptr_t)((py_team *)o)->handle;
    else if (o != Py_None && (is_cdata(o) ? handle_of_cdata(o, "shmem_team_t", &handle) : unexpected(o)))
        return NULL;
    return team_of(type, (shmem_team_t)handle);
}

static PyObject *team_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(a, py_team_type) ||
        !PyObject_TypeCheck(b, py_team_type))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((((py_team *)a)->handle == ((py_team *)b)->handle) == (op == Py_EQ));
}

static int team_bool(py_team *self)
{
    return self->handle != SHMEM_TEAM_INVALID;
}

static PyObject *team_repr(py_team *self)
{
    shmem_team_t team = self->handle;
    const char *name = team == SHMEM_TEAM_WORLD     ? "TEAM_WORLD"
                       : team == SHMEM_TEAM_SHARED  ? "TEAM_SHARED"
                       : team == SHMEM_TEAM_INVALID ? "TEAM_INVALID"
                                                    : "Team";
    if (!py_world.ready || !shmemx_team_is_valid(team))
        return PyUnicode_FromFormat("<shmem4py.%s%s>", name, strcmp(name, "Team") ? "" : ", destroyed");
    return PyUnicode_FromFormat("<shmem4py.%s, PE %d of %d>", name, shmem_team_my_pe(team),
                                shmem_team_n_pes(team));
}

static PyObject *team_get_ob(py_team *self, void *closure)
{
    (void)closure;
    return as_published(self->handle, "shmem_team_t");
}

static bool is_predefined(shmem_team_t team)
{
    return team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED || team == SHMEM_TEAM_INVALID;
}

/* The team of a method: what the published package asks of TEAM_INVALID is a RuntimeError. */
static int own_team(py_team *self, const char *call, shmem_team_t *team, int *members)
{
    if (py_need(call)) return -1;
    if (self->handle == SHMEM_TEAM_INVALID) {
        PyErr_Format(PyExc_RuntimeError, "%s: TEAM_INVALID, a team of which this PE is no member", call);
        return -1;
    }
    return py_arg_team((PyObject *)self, team, members);
}

static PyObject *team_destroy(py_team *self, PyObject *unused)
{
    (void)unused;
    shmem_team_t team = self->handle;
    int members;
    PyObject *o = (PyObject *)self;
    if (o == team_world || o == team_shared || o == team_invalid) Py_RETURN_NONE;
    if (!is_predefined(team)) {
        if (own_team(self, "Team.destroy", &team, &members)) return NULL;
        PY_BEGIN_CALL
        shmem_team_destroy(team);
        PY_END_CALL
    }
    self->handle = SHMEM_TEAM_INVALID;
    Py_RETURN_NONE;
}

/* --- splits --- */

static int number_of(PyObject *o, const char *arg, int dflt, int *n)
{
    *n = dflt;
    if (py_absent(o)) return 0;
    if (!PyIndex_Check(o)) {
        PyErr_Format(PyExc_TypeError, "%s: an integer is needed, not %.200s", arg, Py_TYPE(o)->tp_name);
        return -1;
    }
    PyObject *number = PyNumber_Index(o);
    if (!number) return -1;
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || value < INT_MIN || value > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: %R is too large", arg, o);
        return -1;
    }
    *n = (int)value;
    return 0;
}

/* What configures a team: {'num_contexts': n}. */
static int take_config(PyObject *dict, const char *arg, shmem_team_config_t *config, long *mask)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    char word[16];
    while (dict && PyDict_Next(dict, &at, &key, &value)) {
        if (py_arg_word(key, arg, word)) return -1;
        if (strcmp(word, "num_contexts")) {
            PyErr_Format(PyExc_TypeError, "%s: %R is unknown; teams are configured by num_contexts alone",
                         arg, key);
            return -1;
        }
        if (number_of(value, "num_contexts", 0, &config->num_contexts)) return -1;
        if (config->num_contexts < 0) {
            PyErr_Format(PyExc_ValueError, "num_contexts: %d is less than 0", config->num_contexts);
            return -1;
        }
        *mask |= SHMEM_TEAM_NUM_CONTEXTS;
    }
    return 0;
}

static int config_of(PyObject *o, const char *arg, shmem_team_config_t *config, long *mask)
{
    if (py_absent(o)) return 0;
    PyObject *dict = PyDict_New();
    if (!dict) return -1;
    int rc = PyDict_Update(dict, o);
    if (rc) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: a dict is needed, not %.200s", arg, Py_TYPE(o)->tp_name);
    }
    if (!rc) rc = take_config(dict, arg, config, mask);
    Py_DECREF(dict);
    return rc;
}

/* How many PEs there are from start on, up or down. */
static int size_from(int start, int stride, int members)
{
    if (start < 0 || start >= members) return 0;
    return stride > 0 ? (members - 1 - start) / stride + 1 : (int)(start / -(long)stride) + 1;
}

struct split {
    int start, stride, size;
    shmem_team_config_t config;
    long mask;
};

static int parse_split(PyObject *const *o, PyObject *extra, int members, struct split *s)
{
    if (number_of(o[0], "start", 0, &s->start) || number_of(o[1], "stride", 1, &s->stride)) return -1;
    if (py_absent(o[2]) && !s->stride) {
        PyErr_SetString(PyExc_ValueError, "stride: 0 needs a size of 1");
        return -1;
    }
    if (number_of(o[2], "size", size_from(s->start, s->stride ? s->stride : 1, members), &s->size)) return -1;
    return config_of(o[3], "config", &s->config, &s->mask) ||
                   take_config(extra, "config", &s->config, &s->mask)
               ? -1
               : 0;
}

/* Keywords that are none of the parameters are configuration: out of kwargs into a dict of their own. */
static PyObject *take_extra(PyObject **kwargs, char *const *names)
{
    PyObject *extra = PyDict_New(), *known = PyDict_New(), *key, *value;
    Py_ssize_t at = 0;
    while (extra && known && *kwargs && PyDict_Next(*kwargs, &at, &key, &value)) {
        bool is_known = false;
        for (int i = 0; names[i]; i++)
            is_known |= PyUnicode_CompareWithASCIIString(key, names[i]) == 0;
        if (PyDict_SetItem(is_known ? known : extra, key, value)) Py_CLEAR(extra);
    }
    if (!extra || !known) {
        Py_XDECREF(extra), Py_XDECREF(known);
        return NULL;
    }
    *kwargs = known;
    return extra;
}

static PyObject *split_strided(py_team *self, PyObject *const *o, PyObject *extra)
{
    static const char *const names[] = {"start", "stride", "size", "num_contexts"};
    static const char call[] = "shmem_team_split_strided";
    shmem_team_t parent, team = SHMEM_TEAM_INVALID;
    int members, rc;
    struct split s = {0};
    if (own_team(self, "Team.split_strided", &parent, &members)) return NULL;
    parse_split(o, extra, members, &s); /* an error of it is told in the agreement */
    if (py_agree(parent, "split_strided", (int64_t[]){s.start, s.stride, s.size, s.config.num_contexts},
                 names, 4))
        return NULL;
    PY_BEGIN_CALL
    rc =
        shmem_team_split_strided(parent, s.start, s.stride, s.size, &s.config, s.mask, &team);
    PY_END_CALL
    return rc ? error_of(call, rc) : team_of(py_team_type, team);
}

static PyObject *team_split_strided(py_team *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"start", "stride", "size", "config", NULL};
    PyObject *o[4] = {NULL}, *extra = take_extra(&kwargs, names);
    if (!extra) return NULL;
    PyObject *result = NULL;
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:split_strided", names, &o[0], &o[1], &o[2], &o[3]))
        result = split_strided(self, o, extra);
    Py_DECREF(extra);
    Py_DECREF(kwargs);
    return result;
}

static PyObject *pair_of(shmem_team_t x, shmem_team_t y)
{
    PyObject *first = team_of(py_team_type, x), *second = team_of(py_team_type, y);
    PyObject *pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first), Py_XDECREF(second);
    return pair;
}

static PyObject *team_split_2d(py_team *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"xrange", "xaxis_config", "yaxis_config", NULL};
    static const char *const fields[] = {"xrange", "xaxis_config", "yaxis_config"};
    PyObject *range, *xo = NULL, *yo = NULL;
    shmem_team_t parent, x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    shmem_team_config_t xconfig = {0}, yconfig = {0};
    long xmask = 0, ymask = 0;
    int members, xrange = 0, rc;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:split_2d", names, &range, &xo, &yo)) return NULL;
    if (own_team(self, "Team.split_2d", &parent, &members)) return NULL;
    if (!number_of(range, "xrange", 0, &xrange) && xrange < 1)
        PyErr_Format(PyExc_ValueError, "xrange: %d is less than 1", xrange);
    if (!PyErr_Occurred() && !config_of(xo, "xaxis_config", &xconfig, &xmask))
        config_of(yo, "yaxis_config", &yconfig, &ymask);
    int64_t mine[] = {xrange, xconfig.num_contexts, yconfig.num_contexts};
    if (py_agree(parent, "split_2d", mine, fields, 3)) return NULL;
    PY_BEGIN_CALL
    rc = shmem_team_split_2d(parent, xrange, &xconfig, xmask, &x, &yconfig, ymask, &y);
    PY_END_CALL
    return rc ? error_of("shmem_team_split_2d", rc) : pair_of(x, y);
}

/* --- what a team can be asked --- */

static PyObject *team_get_config(py_team *self, PyObject *unused)
{
    (void)unused;
    shmem_team_t team;
    shmem_team_config_t config = {0};
    int members;
    if (own_team(self, "Team.get_config", &team, &members)) return NULL;
    int rc = shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config);
    return rc ? error_of("shmem_team_get_config", rc)
              : Py_BuildValue("{si}", "num_contexts", config.num_contexts);
}

static PyObject *team_my_pe(py_team *self, PyObject *unused)
{
    (void)unused;
    shmem_team_t team;
    int members;
    if (own_team(self, "Team.my_pe", &team, &members)) return NULL;
    return PyLong_FromLong(shmem_team_my_pe(team));
}

static PyObject *team_n_pes(py_team *self, PyObject *unused)
{
    (void)unused;
    shmem_team_t team;
    int members;
    if (own_team(self, "Team.n_pes", &team, &members)) return NULL;
    return PyLong_FromLong(members);
}

static PyObject *team_translate_pe(py_team *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"pe", "team", NULL};
    PyObject *pe_o = NULL, *team_o = NULL;
    shmem_team_t team, other;
    int members, others, pe;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:translate_pe", names, &pe_o, &team_o)) return NULL;
    if (own_team(self, "Team.translate_pe", &team, &members) || py_arg_team(team_o, &other, &others))
        return NULL;
    if (number_of(pe_o, "pe", shmem_team_my_pe(team), &pe)) return NULL;
    int there = shmem_team_translate_pe(team, pe, other);
    if (there >= 0) return PyLong_FromLong(there);
    return PyErr_Format(PyExc_RuntimeError, "pe: %d is not in both teams", pe);
}

static PyObject *team_create_ctx(py_team *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"options", NULL};
    PyObject *options = NULL;
    shmem_team_t team;
    int members;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:create_ctx", names, &options)) return NULL;
    if (own_team(self, "Team.create_ctx", &team, &members)) return NULL;
    return create_ctx(py_ctx_type, options, (PyObject *)self, "shmem_team_create_ctx");
}

static PyObject *team_sync(py_team *self, PyObject *unused)
{
    (void)unused;
    shmem_team_t team;
    int members, rc;
    if (own_team(self, "Team.sync", &team, &members)) return NULL;
    PY_BEGIN_CALL
    rc = shmem_team_sync(team);
    PY_END_CALL
    if (PyErr_Occurred()) return NULL;
    if (rc) return error_of("shmem_team_sync", rc);
    Py_RETURN_NONE;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
static PyMethodDef team_methods[] = {
    {"destroy", (PyCFunction)team_destroy, METH_NOARGS,
     "destroy($self)\n--\n\nDestroy the team. Collective over it."},
    {"split_strided", WITH_KEYWORDS(team_split_strided),
     "split_strided($self, start=0, stride=1, size=None, config=None, **kwargs)\n--\n\nA new team of every "
     "stride-th PE from "
     "start on; TEAM_INVALID's equal where this PE is no member. Collective.\n\nconfig, kwargs: "
     "num_contexts."},
    {"split_2d", WITH_KEYWORDS(team_split_2d),
     "split_2d($self, xrange, xaxis_config=None, yaxis_config=None)\n--\n\nThe PEs as a grid with rows of "
     "xrange: a pair, the "
     "team of this PE's row and that of its column. Collective."},
    {"get_config", (PyCFunction)team_get_config, METH_NOARGS,
     "get_config($self)\n--\n\nA dict: num_contexts."},
    {"my_pe", (PyCFunction)team_my_pe, METH_NOARGS, "my_pe($self)\n--\n\nThe number of this PE in the team."},
    {"n_pes", (PyCFunction)team_n_pes, METH_NOARGS, "n_pes($self)\n--\n\nHow many PEs the team has."},
    {"translate_pe", WITH_KEYWORDS(team_translate_pe),
     "translate_pe($self, pe=None, team=None)\n--\n\nThe number in team (by default among all PEs) of PE pe "
     "of this one (by "
     "default this PE)."},
    {"create_ctx", WITH_KEYWORDS(team_create_ctx),
     "create_ctx($self, options=0)\n--\n\nA new context of the team."},
    {"sync", (PyCFunction)team_sync, METH_NOARGS, "sync($self)\n--\n\nWait for all members."},
    {"__enter__", (PyCFunction)handle_enter, METH_NOARGS, "The team itself."},
    {"__exit__", (PyCFunction)handle_exit, METH_VARARGS, "Destroy it."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef team_attributes[] = {
    {"ob_team", (getter)team_get_ob, NULL, "The handle of the C API: of cffi where there is cffi, else a number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot team_slots[] = {
    {Py_tp_new, team_new},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_richcompare, team_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_nb_bool, team_bool},
    {Py_tp_repr, team_repr},
    {Py_tp_methods, team_methods},
    {Py_tp_getset, team_attributes},
    {Py_tp_doc, "Team(team=None)\n--\n\nA team of PEs: another name of team, or TEAM_INVALID. Splits of "
                "teams make new ones."},
    {0, NULL},
};
static PyType_Spec team_spec = {"shmem4py.Team", sizeof(py_team), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                team_slots};

/* --- into the module --- */

static int add(PyObject *module, const char *name, PyObject *o)
{
    return o ? PyModule_AddObjectRef(module, name, o) : -1;
}

int py_handle_ready(PyObject *module)
{
    if (!(py_ctx_type = (PyTypeObject *)PyType_FromSpec(&ctx_spec))) return -1;
    if (!(py_team_type = (PyTypeObject *)PyType_FromSpec(&team_spec))) return -1;
    ctx_default = ctx_of(py_ctx_type, SHMEM_CTX_DEFAULT);
    ctx_invalid = ctx_of(py_ctx_type, SHMEM_CTX_INVALID);
    team_world = team_of(py_team_type, SHMEM_TEAM_WORLD);
    team_shared = team_of(py_team_type, SHMEM_TEAM_SHARED);
    team_invalid = team_of(py_team_type, SHMEM_TEAM_INVALID);
    return add(module, "Ctx", (PyObject *)py_ctx_type) || add(module, "Team", (PyObject *)py_team_type) ||
                   add(module, "CTX_DEFAULT", ctx_default) || add(module, "CTX_INVALID", ctx_invalid) ||
                   add(module, "TEAM_WORLD", team_world) || add(module, "TEAM_SHARED", team_shared) ||
                   add(module, "TEAM_INVALID", team_invalid)
               ? -1
               : 0;
}

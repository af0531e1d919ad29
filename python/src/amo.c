/* Atomics. A word of 4 or 8 bytes is one to the library whatever its type, so two engines serve all of
 * them. */
#include "ops.h"

#include <string.h>

/* OP(name, name in the library or its stand-in, feature, what is given besides the target) */
enum given { NOTHING, VALUE, COND };
#define SILENT_OPS(OP)                 \
    OP(set, set, PY_F_AMO_EXT, VALUE)  \
    OP(inc, inc, PY_F_AMO, NOTHING)    \
    OP(add, add, PY_F_AMO, VALUE)      \
    OP(and, and, PY_F_AMO_BITS, VALUE) \
    OP(or, or, PY_F_AMO_BITS, VALUE)   \
    OP(xor, xor, PY_F_AMO_BITS, VALUE)
#define FETCHING_OPS(OP)                           \
    OP(fetch, fetch, PY_F_AMO_EXT, NOTHING)        \
    OP(swap, swap, PY_F_AMO_EXT, VALUE)            \
    OP(compare_swap, compare_swap, PY_F_AMO, COND) \
    OP(fetch_inc, fetch_inc, PY_F_AMO, NOTHING)    \
    OP(fetch_add, fetch_add, PY_F_AMO, VALUE)      \
    OP(fetch_and, fetch_and, PY_F_AMO_BITS, VALUE) \
    OP(fetch_or, fetch_or, PY_F_AMO_BITS, VALUE)   \
    OP(fetch_xor, fetch_xor, PY_F_AMO_BITS, VALUE)

#define NUMBER(name, ...) AMO_##name,
enum amo { SILENT_OPS(NUMBER) FETCHING_OPS(NUMBER) AMOS };

static const struct {
    const char *name;
    enum py_feature feature;
    enum given given;
    bool fetches;
} amos[AMOS] = {
#define SILENT(name, stem, feature, given) [AMO_##name] = {#name, feature, given, false},
#define FETCHING(name, stem, feature, given) [AMO_##name] = {#name, feature, given, true},
    SILENT_OPS(SILENT) FETCHING_OPS(FETCHING)};

struct amo_call {
    enum amo op;
    const struct py_type *type;
    int num; /* of the result */
    struct py_operand target, fetch;
    struct py_where w;
    union {
        uint32_t u32;
        uint64_t u64;
    } value, cond, old;
};

#define RUN(BITS)                                                                                        \
    static uint##BITS##_t run##BITS(const struct amo_call *c)                                            \
    {                                                                                                    \
        uint##BITS##_t *at = (uint##BITS##_t *)c->target.data, value = c->value.u##BITS;                 \
        shmem_ctx_t ctx = c->w.ctx;                                                                      \
        int pe = c->w.pe;                                                                                \
        switch (c->op) {                                                                                 \
        case AMO_set:                                                                                    \
            shmem_ctx_uint##BITS##_atomic_set(ctx, at, value, pe);                                       \
            break;                                                                                       \
        case AMO_inc:                                                                                    \
            shmem_ctx_uint##BITS##_atomic_inc(ctx, at, pe);                                              \
            break;                                                                                       \
        case AMO_add:                                                                                    \
            shmem_ctx_uint##BITS##_atomic_add(ctx, at, value, pe);                                       \
            break;                                                                                       \
        case AMO_and:                                                                                    \
            shmem_ctx_uint##BITS##_atomic_and(ctx, at, value, pe);                                       \
            break;                                                                                       \
        case AMO_or:                                                                                     \
            shmem_ctx_uint##BITS##_atomic_or(ctx, at, value, pe);                                        \
            break;                                                                                       \
        case AMO_xor:                                                                                    \
            shmem_ctx_uint##BITS##_atomic_xor(ctx, at, value, pe);                                       \
            break;                                                                                       \
        case AMO_fetch:                                                                                  \
            return shmem_ctx_uint##BITS##_atomic_fetch(ctx, at, pe);                                     \
        case AMO_swap:                                                                                   \
            return shmem_ctx_uint##BITS##_atomic_swap(ctx, at, value, pe);                               \
        case AMO_compare_swap:                                                                           \
            return shmem_ctx_uint##BITS##_atomic_compare_swap(ctx, at, c->cond.u##BITS, value, pe);      \
        case AMO_fetch_inc:                                                                              \
            return shmem_ctx_uint##BITS##_atomic_fetch_inc(ctx, at, pe);                                 \
        case AMO_fetch_add:                                                                              \
            return shmem_ctx_uint##BITS##_atomic_fetch_add(ctx, at, value, pe);                          \
        case AMO_fetch_and:                                                                              \
            return shmem_ctx_uint##BITS##_atomic_fetch_and(ctx, at, value, pe);                          \
        case AMO_fetch_or:                                                                               \
            return shmem_ctx_uint##BITS##_atomic_fetch_or(ctx, at, value, pe);                           \
        case AMO_fetch_xor:                                                                              \
            return shmem_ctx_uint##BITS##_atomic_fetch_xor(ctx, at, value, pe);                          \
        case AMOS:                                                                                       \
            break;                                                                                       \
        }                                                                                                \
        return 0;                                                                                        \
    }                                                                                                    \
    static void run##BITS##_nbi(const struct amo_call *c)                                                \
    {                                                                                                    \
        uint##BITS##_t *at = (uint##BITS##_t *)c->target.data, *fetch = (uint##BITS##_t *)c->fetch.data; \
        uint##BITS##_t value = c->value.u##BITS;                                                         \
        shmem_ctx_t ctx = c->w.ctx;                                                                      \
        int pe = c->w.pe;                                                                                \
        switch (c->op) {                                                                                 \
        case AMO_fetch:                                                                                  \
            shmem_ctx_uint##BITS##_atomic_fetch_nbi(ctx, fetch, at, pe);                                 \
            return;                                                                                      \
        case AMO_swap:                                                                                   \
            shmem_ctx_uint##BITS##_atomic_swap_nbi(ctx, fetch, at, value, pe);                           \
            return;                                                                                      \
        case AMO_compare_swap:                                                                           \
            shmem_ctx_uint##BITS##_atomic_compare_swap_nbi(ctx, fetch, at, c->cond.u##BITS, value, pe);  \
            return;                                                                                      \
        case AMO_fetch_inc:                                                                              \
            shmem_ctx_uint##BITS##_atomic_fetch_inc_nbi(ctx, fetch, at, pe);                             \
            return;                                                                                      \
        case AMO_fetch_add:                                                                              \
            shmem_ctx_uint##BITS##_atomic_fetch_add_nbi(ctx, fetch, at, value, pe);                      \
            return;                                                                                      \
        case AMO_fetch_and:                                                                              \
            shmem_ctx_uint##BITS##_atomic_fetch_and_nbi(ctx, fetch, at, value, pe);                      \
            return;                                                                                      \
        case AMO_fetch_or:                                                                               \
            shmem_ctx_uint##BITS##_atomic_fetch_or_nbi(ctx, fetch, at, value, pe);                       \
            return;                                                                                      \
        case AMO_fetch_xor:                                                                              \
            shmem_ctx_uint##BITS##_atomic_fetch_xor_nbi(ctx, fetch, at, value, pe);                      \
            return;                                                                                      \
        default:                                                                                         \
            return;                                                                                      \
        }                                                                                                \
    }
RUN(32)
RUN(64)

/* --- arguments --- */

static const char *what_it_has(const PyArray_Descr *descr)
{
    if (py_type_with(descr, PY_F_AMO)) return "all but and, or, xor";
    if (py_type_with(descr, PY_F_AMO_EXT)) return "set, fetch and swap";
    return "none; integers of 4 and 8 bytes, float32 and float64 have some";
}

/* Typed names exist only where the type has the operation; the generic ones look at the dtype. */
static int find_type(const py_row *row, struct amo_call *c)
{
    c->type = row->type ? row->type : py_type_with(c->target.descr, amos[c->op].feature);
    c->num = row->type ? row->type->num : c->target.descr->type_num;
    if (c->type && py_type_has(c->type, amos[c->op].feature)) return 0;
    PyErr_Format(PyExc_TypeError, "target: dtype %S has no atomic %s; its atomics: %s", c->target.descr,
                 amos[c->op].name, what_it_has(c->target.descr));
    return -1;
}

static int parse_amo(const py_row *row, struct amo_call *c, PyObject *target, PyObject *cond, PyObject *value,
                     PyObject *pe, PyObject *ctx)
{
    int need = c->op == AMO_fetch ? 0 : PY_WRITE;
    if (py_need(row->name) || py_arg_where(pe, ctx, &c->w)) return -1;
    if (py_arg_one(target, row->type, need, c->op == AMO_fetch ? "source" : "target", &c->target)) return -1;
    if (find_type(row, c) || py_need_aligned(&c->target, "target")) return -1;
    if (amos[c->op].given != NOTHING && py_arg_value(value, c->type, "value", &c->value)) return -1;
    return amos[c->op].given == COND ? py_arg_value(cond, c->type, "cond", &c->cond) : 0;
}

static PyObject *run(struct amo_call *c)
{
    PyThreadState *state = py_unlock_for(0, c->target.device);
    if (c->target.size == sizeof(uint32_t))
        c->old.u32 = run32(c);
    else
        c->old.u64 = run64(c);
    py_relock(state);
    if (!amos[c->op].fetches) Py_RETURN_NONE;
    return py_scalar(c->num, &c->old);
}

static PyObject *run_nbi(const py_row *row, struct amo_call *c, PyObject *fetch)
{
    if (py_arg_operand(fetch, row->type, PY_WRITE | PY_ONE, "fetch", &c->fetch)) return NULL;
    if (py_same_dtype(&c->target, "target", &c->fetch, "fetch") || py_need_aligned(&c->fetch, "fetch"))
        return NULL;
    PyThreadState *state = py_unlock_for(0, c->target.device || c->fetch.device);
    if (c->target.size == sizeof(uint32_t))
        run32_nbi(c);
    else
        run64_nbi(c);
    py_relock(state);
    py_pending_add(c->w.ctx, &c->fetch);
    Py_RETURN_NONE;
}

/* --- the calls --- */

static struct py_params source_params = {.names = {"source", "pe", "ctx"}, .required = 2};
static struct py_params bare_params = {.names = {"target", "pe", "ctx"}, .required = 2};
static struct py_params value_params = {.names = {"target", "value", "pe", "ctx"}, .required = 3};
static struct py_params cond_params = {.names = {"target", "cond", "value", "pe", "ctx"}, .required = 4};
static struct py_params source_nbi_params = {.names = {"fetch", "source", "pe", "ctx"}, .required = 3};
static struct py_params bare_nbi_params = {.names = {"fetch", "target", "pe", "ctx"}, .required = 3};
static struct py_params value_nbi_params = {.names = {"fetch", "target", "value", "pe", "ctx"},
                                            .required = 4};
static struct py_params cond_nbi_params = {.names = {"fetch", "target", "cond", "value", "pe", "ctx"},
                                           .required = 5};
static struct py_params op_params = {.names = {"target", "value", "op", "pe", "ctx"}, .required = 4};
static struct py_params op_nbi_params = {.names = {"fetch", "target", "value", "op", "pe", "ctx"},
                                         .required = 5};

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

static PyObject *amo(enum amo op, ARGS)
{
    const py_row *row = py_row_of(self);
    struct amo_call c;
    PyObject *a[5];
    c.op = op;
    switch (amos[op].given) {
    case NOTHING:
        if (py_parse(op == AMO_fetch ? &source_params : &bare_params, row->name, args, nargs, kwnames, a))
            return NULL;
        return parse_amo(row, &c, a[0], NULL, NULL, a[1], a[2]) ? NULL : run(&c);
    case VALUE:
        if (py_parse(&value_params, row->name, args, nargs, kwnames, a)) return NULL;
        return parse_amo(row, &c, a[0], NULL, a[1], a[2], a[3]) ? NULL : run(&c);
    default:
        if (py_parse(&cond_params, row->name, args, nargs, kwnames, a)) return NULL;
        return parse_amo(row, &c, a[0], a[1], a[2], a[3], a[4]) ? NULL : run(&c);
    }
}

static PyObject *amo_nbi(enum amo op, ARGS)
{
    const py_row *row = py_row_of(self);
    struct amo_call c;
    PyObject *a[6];
    c.op = op;
    switch (amos[op].given) {
    case NOTHING:
        if (py_parse(op == AMO_fetch ? &source_nbi_params : &bare_nbi_params, row->name, args, nargs, kwnames,
                     a))
            return NULL;
        return parse_amo(row, &c, a[1], NULL, NULL, a[2], a[3]) ? NULL : run_nbi(row, &c, a[0]);
    case VALUE:
        if (py_parse(&value_nbi_params, row->name, args, nargs, kwnames, a)) return NULL;
        return parse_amo(row, &c, a[1], NULL, a[2], a[3], a[4]) ? NULL : run_nbi(row, &c, a[0]);
    default:
        if (py_parse(&cond_nbi_params, row->name, args, nargs, kwnames, a)) return NULL;
        return parse_amo(row, &c, a[1], a[2], a[3], a[4], a[5]) ? NULL : run_nbi(row, &c, a[0]);
    }
}

#define CALL(name, ...)                                     \
    static PyObject *call_##name(ARGS)                      \
    {                                                       \
        return amo(AMO_##name, self, args, nargs, kwnames); \
    }
#define CALL_NBI(name, ...)                                     \
    static PyObject *call_##name##_nbi(ARGS)                    \
    {                                                           \
        return amo_nbi(AMO_##name, self, args, nargs, kwnames); \
    }
SILENT_OPS(CALL)
FETCHING_OPS(CALL)
FETCHING_OPS(CALL_NBI)

/* --- with the operation as an argument --- */

static int find_op(PyObject *o, bool fetches, enum amo *op)
{
    char word[16];
    if (py_arg_word(o, "op", word)) return -1;
    for (enum amo i = AMO_set; i <= AMO_xor; i++) {
        if (strcmp(word, amos[i].name)) continue;
        /* what fetches and sets is a swap; the others lie in the same order behind the swaps */
        *op = !fetches ? i : i == AMO_set ? AMO_swap : AMO_fetch_inc + (i - AMO_inc);
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "op: %R is none of 'set', 'inc', 'add', 'and', 'or', 'xor'", o);
    return -1;
}

static PyObject *op_call(bool fetches, ARGS)
{
    const py_row *row = py_row_of(self);
    struct amo_call c;
    PyObject *a[5];
    if (py_parse(&op_params, row->name, args, nargs, kwnames, a) || find_op(a[2], fetches, &c.op))
        return NULL;
    return parse_amo(row, &c, a[0], NULL, a[1], a[3], a[4]) ? NULL : run(&c);
}

static PyObject *call_op(ARGS)
{
    return op_call(false, self, args, nargs, kwnames);
}
static PyObject *call_fetch_op(ARGS)
{
    return op_call(true, self, args, nargs, kwnames);
}

static PyObject *call_fetch_op_nbi(ARGS)
{
    const py_row *row = py_row_of(self);
    struct amo_call c;
    PyObject *a[6];
    if (py_parse(&op_nbi_params, row->name, args, nargs, kwnames, a) || find_op(a[3], true, &c.op))
        return NULL;
    return parse_amo(row, &c, a[1], NULL, a[2], a[4], a[5]) ? NULL : run_nbi(row, &c, a[0]);
}

#define ONE "target: one symmetric %s element. "
#define BEFORE "Returns what was there before, a NumPy scalar. "
#define LATER "The value from before lies in fetch after quiet. "

const struct py_call py_calls_amo[] = {
    {"atomic_set", call_set, &value_params, PY_F_AMO_EXT, true,
     "(target, value, pe, ctx=None)\nAtomically set target on PE pe.\n\n" ONE},
    {"atomic_inc", call_inc, &bare_params, PY_F_AMO, true,
     "(target, pe, ctx=None)\nAtomically add 1 to target on PE pe.\n\n" ONE},
    {"atomic_add", call_add, &value_params, PY_F_AMO, true,
     "(target, value, pe, ctx=None)\nAtomically add value to target on PE pe.\n\n" ONE},
    {"atomic_and", call_and, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically and value to target on PE pe, bit by bit.\n\n" ONE},
    {"atomic_or", call_or, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically or value to target on PE pe, bit by bit.\n\n" ONE},
    {"atomic_xor", call_xor, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically xor value to target on PE pe, bit by bit.\n\n" ONE},
    {"atomic_fetch", call_fetch, &source_params, PY_F_AMO_EXT, true,
     "(source, pe, ctx=None)\nAtomically read source, one symmetric %s element, on PE pe: a NumPy scalar."},
    {"atomic_swap", call_swap, &value_params, PY_F_AMO_EXT, true,
     "(target, value, pe, ctx=None)\nAtomically set target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_compare_swap", call_compare_swap, &cond_params, PY_F_AMO, true,
     "(target, cond, value, pe, ctx=None)\nAtomically set target on PE pe to value if it is cond. " BEFORE
     "\n\n" ONE},
    {"atomic_fetch_inc", call_fetch_inc, &bare_params, PY_F_AMO, true,
     "(target, pe, ctx=None)\nAtomically add 1 to target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_fetch_add", call_fetch_add, &value_params, PY_F_AMO, true,
     "(target, value, pe, ctx=None)\nAtomically add value to target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_fetch_and", call_fetch_and, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically and value to target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_fetch_or", call_fetch_or, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically or value to target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_fetch_xor", call_fetch_xor, &value_params, PY_F_AMO_BITS, true,
     "(target, value, pe, ctx=None)\nAtomically xor value to target on PE pe. " BEFORE "\n\n" ONE},
    {"atomic_fetch_nbi", call_fetch_nbi, &source_nbi_params, PY_F_AMO_EXT, true,
     "(fetch, source, pe, ctx=None)\nAtomically read source on PE pe into fetch, without waiting. " LATER},
    {"atomic_swap_nbi", call_swap_nbi, &value_nbi_params, PY_F_AMO_EXT, true,
     "(fetch, target, value, pe, ctx=None)\natomic_swap without waiting. " LATER "\n\n" ONE},
    {"atomic_compare_swap_nbi", call_compare_swap_nbi, &cond_nbi_params, PY_F_AMO, true,
     "(fetch, target, cond, value, pe, ctx=None)\natomic_compare_swap without waiting. " LATER "\n\n" ONE},
    {"atomic_fetch_inc_nbi", call_fetch_inc_nbi, &bare_nbi_params, PY_F_AMO, true,
     "(fetch, target, pe, ctx=None)\natomic_fetch_inc without waiting. " LATER "\n\n" ONE},
    {"atomic_fetch_add_nbi", call_fetch_add_nbi, &value_nbi_params, PY_F_AMO, true,
     "(fetch, target, value, pe, ctx=None)\natomic_fetch_add without waiting. " LATER "\n\n" ONE},
    {"atomic_fetch_and_nbi", call_fetch_and_nbi, &value_nbi_params, PY_F_AMO_BITS, true,
     "(fetch, target, value, pe, ctx=None)\natomic_fetch_and without waiting. " LATER "\n\n" ONE},
    {"atomic_fetch_or_nbi", call_fetch_or_nbi, &value_nbi_params, PY_F_AMO_BITS, true,
     "(fetch, target, value, pe, ctx=None)\natomic_fetch_or without waiting. " LATER "\n\n" ONE},
    {"atomic_fetch_xor_nbi", call_fetch_xor_nbi, &value_nbi_params, PY_F_AMO_BITS, true,
     "(fetch, target, value, pe, ctx=None)\natomic_fetch_xor without waiting. " LATER "\n\n" ONE},
    {"atomic_op", call_op, &op_params, PY_F_NONE, true,
     "(target, value, op, pe, ctx=None)\nThe atomic named op: 'set', 'inc' (value is ignored), 'add', 'and', "
     "'or', 'xor'."},
    {"atomic_fetch_op", call_fetch_op, &op_params, PY_F_NONE, true,
     "(target, value, op, pe, ctx=None)\natomic_op, but returns what was there before."},
    {"atomic_fetch_op_nbi", call_fetch_op_nbi, &op_nbi_params, PY_F_NONE, true,
     "(fetch, target, value, op, pe, ctx=None)\natomic_fetch_op without waiting. " LATER},
    {NULL},
};

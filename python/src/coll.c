/* Collectives. Before the library is asked, the members compare what they ask for: it would end the job
 * where they differ, here an exception tells all of them. A member whose own arguments are wrong says so
 * in the same meeting, so that the others do not wait for it. */
#include "ops.h"

#include <string.h>

enum kind { BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, REDUCE, INSCAN, EXSCAN };
enum op { OP_AND, OP_OR, OP_XOR, OP_MAX, OP_MIN, OP_SUM, OP_PROD, OPS };

static const struct {
    const char *name;
    enum py_feature feature;
} ops[OPS] = {
    [OP_AND] = {"and", PY_F_REDUCE_BITS},  [OP_OR] = {"or", PY_F_REDUCE_BITS},
    [OP_XOR] = {"xor", PY_F_REDUCE_BITS},  [OP_MAX] = {"max", PY_F_REDUCE_ORDER},
    [OP_MIN] = {"min", PY_F_REDUCE_ORDER}, [OP_SUM] = {"sum", PY_F_REDUCE_SUM},
    [OP_PROD] = {"prod", PY_F_REDUCE_SUM},
};

/* --- agreement --- */

static bool differ(shmem_team_t team, const void *mine, size_t bytes, void *theirs, int *pe)
{
    int rc;
    PY_BEGIN_CALL
    rc = shmemx_agree(team, mine, bytes, theirs, pe);
    PY_END_CALL
    return rc != 0;
}

/* What member 0 has: the library hands out only what the others have. Bit by bit, which is slow and for
 * messages only. */
static int64_t value_of_first(shmem_team_t team, int64_t mine)
{
    uint64_t value = 0;
    bool first = shmem_team_my_pe(team) == 0;
    for (int bit = 0; bit < 64; bit++) {
        uint8_t set = first && (uint64_t)mine >> bit & 1;
        if (differ(team, &set, sizeof set, NULL, NULL)) value |= UINT64_C(1) << bit;
    }
    return (int64_t)value;
}

/* The kinds of errors that a member may tell the others. */
static PyObject **error_kinds[] = {NULL,
                                   &PyExc_Exception,
                                   &PyExc_TypeError,
                                   &PyExc_ValueError,
                                   &PyExc_IndexError,
                                   &PyExc_RuntimeError,
                                   &PyExc_OverflowError,
                                   &PyExc_MemoryError};
enum { ERROR_KINDS = sizeof error_kinds / sizeof *error_kinds };

static int64_t kind_of_error(void)
{
    if (!PyErr_Occurred()) return 0;
    for (int i = ERROR_KINDS - 1; i > 0; i--)
        if (PyErr_ExceptionMatches(*error_kinds[i])) return i;
    return 1;
}

static void say_error_of(const char *call, int pe, int64_t error)
{
    PyObject *kind = *error_kinds[error > 0 && error < ERROR_KINDS ? error : 1];
    PyErr_Format(PyExc_RuntimeError, "%s: PE %d of the team came with wrong arguments (its own message: %s)",
                 call, pe, ((PyTypeObject *)kind)->tp_name);
}

/* Has a member an error? Who has one keeps it; the others learn of the first. */
static bool settle_errors(shmem_team_t team, const char *call, int64_t mine)
{
    int64_t theirs = 0;
    int pe = 0;
    if (!differ(team, &mine, sizeof mine, &theirs, &pe)) return false;
    int64_t first = value_of_first(team, mine);
    if (!mine) say_error_of(call, first ? 0 : pe, first ? first : theirs);
    return true;
}

static const char *const kind_names[] = {"broadcast", "collect", "fcollect",   "alltoall",
                                         "alltoalls", "reduce",  "sum_inscan", "sum_exscan"};
static const char call_field[] = "call", dtype_field[] = "dtype", op_field[] = "op", memory_field[] = "memory";
static const char *const memory_names[] = {"target and source on the host", "target on the device, source on the host",
                                           "target on the host, source on the device", "target and source on the device"};

static void describe(const char *field, int64_t value, char *text, size_t size)
{
    if (field == call_field && value < (int64_t)(sizeof kind_names / sizeof *kind_names))
        PyOS_snprintf(text, size, "%s", kind_names[value]);
    else if (field == dtype_field)
        PyOS_snprintf(text, size, "'%c%d'", (int)(value / 1000), (int)(value % 1000));
    else if (field == op_field && value < OPS)
        PyOS_snprintf(text, size, "'%s'", ops[value].name);
    else if (field == memory_field && value < (int64_t)(sizeof memory_names / sizeof *memory_names))
        PyOS_snprintf(text, size, "%s", memory_names[value]);
    else
        PyOS_snprintf(text, size, "%lld", (long long)value);
}

/* The fields are compared one by one; the first that differs is the one to name. */
static void settle_fields(shmem_team_t team, const char *call, const int64_t *mine, const char *const *names,
                          int count)
{
    char one[64], other[64];
    for (int i = 0; i < count; i++) {
        int64_t theirs;
        int pe;
        if (!differ(team, &mine[i], sizeof mine[i], &theirs, &pe)) continue;
        describe(names[i], value_of_first(team, mine[i]), one, sizeof one);
        describe(names[i], theirs, other, sizeof other);
        PyErr_Format(PyExc_ValueError,
                     "%s: %s on PE 0 of the team, but %s on PE %d; all must give the same to %s", names[i],
                     one, other, pe, call);
        return;
    }
}

int py_agree(shmem_team_t team, const char *call, const int64_t *mine, const char *const *names, int count)
{
    PyObject *type, *value, *trace;
    int64_t all[1 + PY_FIELDS_MAX] = {kind_of_error()};
    if (shmem_team_n_pes(team) == 1) return all[0] ? -1 : 0;
    if (!all[0]) memcpy(all + 1, mine, (size_t)count * sizeof *mine);
    PyErr_Fetch(&type, &value, &trace);
    bool same = !differ(team, all, sizeof all, NULL, NULL);
    /* an error comes before differences, which it may have caused */
    if (!same && !settle_errors(team, call, all[0])) settle_fields(team, call, mine, names, count);
    if (type) PyErr_Restore(type, value, trace);
    return same && !all[0] ? 0 : -1;
}

/* --- machine types of reductions --- */

typedef int reduction(shmem_team_t team, void *target, const void *source, size_t n);

#define REDUCTION(NAME, stem)                                                               \
    static int NAME##_##stem(shmem_team_t team, void *target, const void *source, size_t n) \
    {                                                                                       \
        return shmem_##NAME##_##stem(team, target, source, n);                              \
    }
#define BITS(NAME) REDUCTION(NAME, and_reduce) REDUCTION(NAME, or_reduce) REDUCTION(NAME, xor_reduce)
#define ORDER(NAME) REDUCTION(NAME, max_reduce) REDUCTION(NAME, min_reduce)
#define SUMS(NAME)              \
    REDUCTION(NAME, sum_reduce) \
    REDUCTION(NAME, prod_reduce) REDUCTION(NAME, sum_inscan) REDUCTION(NAME, sum_exscan)
#define INTEGERS(X) X(int8) X(int16) X(int32) X(int64) X(uint8) X(uint16) X(uint32) X(uint64)
#define FLOATS(X) X(float) X(double) X(longdouble)
#define COMPLEXES(X) X(complexf) X(complexd)
INTEGERS(BITS)
INTEGERS(ORDER)
FLOATS(ORDER) INTEGERS(SUMS) FLOATS(SUMS) COMPLEXES(SUMS)

    enum {
        SCANS = 2,
        REDUCTIONS = OPS + SCANS
    };
#define NUMBER(NAME) MACHINE_##NAME,
enum machine { INTEGERS(NUMBER) FLOATS(NUMBER) COMPLEXES(NUMBER) MACHINES };

#define OF_BITS(NAME)                                                                         \
    [MACHINE_##NAME][OP_AND] = NAME##_and_reduce, [MACHINE_##NAME][OP_OR] = NAME##_or_reduce, \
    [MACHINE_##NAME][OP_XOR] = NAME##_xor_reduce,
#define OF_ORDER(NAME) \
    [MACHINE_##NAME][OP_MAX] = NAME##_max_reduce, [MACHINE_##NAME][OP_MIN] = NAME##_min_reduce,
#define OF_SUMS(NAME)                                                                             \
    [MACHINE_##NAME][OP_SUM] = NAME##_sum_reduce, [MACHINE_##NAME][OP_PROD] = NAME##_prod_reduce, \
    [MACHINE_##NAME][OPS] = NAME##_sum_inscan, [MACHINE_##NAME][OPS + 1] = NAME##_sum_exscan,
static reduction *const reductions[MACHINES][REDUCTIONS] = {INTEGERS(OF_BITS) INTEGERS(OF_ORDER) FLOATS(
    OF_ORDER) INTEGERS(OF_SUMS) FLOATS(OF_SUMS) COMPLEXES(OF_SUMS)};

static int log2_of(size_t n)
{
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

static enum machine machine_of(const struct py_type *t)
{
    switch (t->class) {
    case PY_SIGNED:
        return MACHINE_int8 + log2_of(t->size);
    case PY_UNSIGNED:
        return MACHINE_uint8 + log2_of(t->size);
    case PY_FLOATING:
        return t->size == sizeof(float)    ? MACHINE_float
               : t->size == sizeof(double) ? MACHINE_double
                                           : MACHINE_longdouble;
    default:
        return t->size == 2 * sizeof(float) ? MACHINE_complexf : MACHINE_complexd;
    }
}

/* --- arguments --- */

struct coll {
    enum kind kind;
    enum op op;
    const py_row *row;
    const struct py_type *type;
    shmem_team_t team;
    int members;
    struct py_operand target, source;
    size_t count, bytes; /* elements, and bytes, that each member brings (to each other one in an alltoall) */
    ptrdiff_t tst, sst;
    int root;
    PyObject *target_o, *source_o, *size_o, *root_o, *tst_o, *sst_o, *op_o;
};

static bool takes_least(const struct coll *c)
{
    return c->row->call->name[0] == '_';
}
static bool is_reduction(const struct coll *c)
{
    return c->kind >= REDUCE;
}

static int parse_root(struct coll *c)
{
    size_t root;
    if (c->kind != BROADCAST) return 0;
    if (!PyIndex_Check(c->root_o)) {
        PyErr_Format(PyExc_TypeError, "root: an integer is needed, not %.200s", Py_TYPE(c->root_o)->tp_name);
        return -1;
    }
    if (py_arg_size(c->root_o, "root", 0, &root)) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
        PyErr_Clear();
        root = SIZE_MAX;
    }
    if (root < (size_t)c->members) {
        c->root = (int)root;
        return 0;
    }
    PyErr_Format(PyExc_IndexError, "root: %R is out of range; the PEs of the team are 0 to %d", c->root_o,
                 c->members - 1);
    return -1;
}

static int parse_op(struct coll *c)
{
    char word[16];
    if (!c->op_o) return 0;
    if (py_arg_word(c->op_o, "op", word)) return -1;
    for (int i = 0; i < OPS; i++) {
        if (strcmp(word, ops[i].name)) continue;
        c->op = i;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "op: %R is none of 'and', 'or', 'xor', 'max', 'min', 'sum', 'prod'",
                 c->op_o);
    return -1;
}

static int find_type(struct coll *c)
{
    enum py_feature feature = c->kind == REDUCE ? ops[c->op].feature : PY_F_REDUCE_SUM;
    if (!is_reduction(c)) return 0;
    c->type = c->row->type ? c->row->type : py_type_with(c->source.descr, feature);
    if (!c->type && c->source.descr->type_num == NPY_BOOL && feature != PY_F_REDUCE_SUM) {
        PyArray_Descr *bytes = PyArray_DescrFromType(NPY_UINT8); /* 0 and 1: bits and order are the same */
        c->type = py_type_with(bytes, feature);
        Py_DECREF(bytes);
    }
    if (c->type)
        return py_need_aligned(&c->target, "target") || py_need_aligned(&c->source, "source") ? -1 : 0;
    PyErr_Format(PyExc_TypeError, "source: dtype %S has no %s%s", c->source.descr, ops[c->op].name,
                 c->kind == REDUCE ? " reduction" : " scan");
    return -1;
}

static size_t steps_in(const struct py_operand *op, ptrdiff_t stride)
{
    return op->count ? 1 + (op->count - 1) / (size_t)stride : 0;
}

static int must_fit(const struct coll *c, size_t need, size_t have, const char *arg)
{
    if (py_likely(need <= have)) return 0;
    PyErr_Format(PyExc_ValueError, "size: %zu elements from each of %d PEs need %zu in %s, which has %zu",
                 c->count, c->members, need, arg, have);
    return -1;
}

static int must_equal(const struct coll *c, size_t to, size_t from)
{
    if (!py_absent(c->size_o) || takes_least(c) || to == from) return 0;
    PyErr_Format(PyExc_ValueError,
                 "source: it has %zu elements and target has %zu; say how many with size=", from, to);
    return -1;
}

static int count_blocks(struct coll *c, size_t to, size_t from)
{
    size_t least = to < from ? to : from, n = (size_t)c->members, all;
    if (must_equal(c, to, from) || py_arg_size(c->size_o, "size", least / n, &c->count)) return -1;
    if (py_absent(c->size_o) && least % n) {
        PyErr_Format(PyExc_ValueError, "source: its %zu elements are no multiple of the %d PEs of the team",
                     least, c->members);
        return -1;
    }
    if (__builtin_mul_overflow(c->count, n, &all)) all = SIZE_MAX;
    return must_fit(c, all, to, "target") || must_fit(c, all, from, "source") ? -1 : 0;
}

static int count_parts(struct coll *c)
{
    size_t all;
    if (py_arg_size(c->size_o, "size", c->source.count, &c->count)) return -1;
    if (c->count > c->source.count) {
        PyErr_Format(PyExc_ValueError, "size: %zu elements are more than the %zu of source", c->count,
                     c->source.count);
        return -1;
    }
    /* the parts of a collect may differ: their sum is looked at when all sizes are known */
    if (c->kind == COLLECT) return must_fit(c, c->count, c->target.count, "target");
    if (__builtin_mul_overflow(c->count, (size_t)c->members, &all)) all = SIZE_MAX;
    return must_fit(c, all, c->target.count, "target");
}

static int count_alike(struct coll *c)
{
    size_t to = c->target.count, from = c->source.count;
    if (must_equal(c, to, from) || py_arg_size(c->size_o, "size", to < from ? to : from, &c->count))
        return -1;
    if (c->count <= to && c->count <= from) return 0;
    PyErr_Format(PyExc_ValueError, "size: %zu elements are more than the %zu of %s", c->count,
                 c->count > to ? to : from, c->count > to ? "target" : "source");
    return -1;
}

static int parse_size(struct coll *c)
{
    int rc;
    switch (c->kind) {
    case COLLECT:
    case FCOLLECT:
        rc = count_parts(c);
        break;
    case ALLTOALL:
        rc = count_blocks(c, c->target.count, c->source.count);
        break;
    case ALLTOALLS:
        rc = count_blocks(c, steps_in(&c->target, c->tst), steps_in(&c->source, c->sst));
        break;
    default:
        rc = count_alike(c);
    }
    c->bytes = c->count * c->target.size;
    return rc;
}

/* The standard allows no overlap but the same place in reductions and scans. The library can broadcast in
 * place, too, and collect whatever the parts overlap. */
static int check_overlap(const struct coll *c)
{
    size_t to = c->bytes, from = c->bytes, n = (size_t)c->members;
    if (c->kind == COLLECT || c->kind == FCOLLECT) return 0;
    if (c->kind == ALLTOALL) to *= n, from *= n;
    if (c->kind == ALLTOALLS) {
        to = c->count ? ((c->count * n - 1) * (size_t)c->tst + 1) * c->target.size : 0;
        from = c->count ? ((c->count * n - 1) * (size_t)c->sst + 1) * c->target.size : 0;
    }
    bool exchanges = c->kind == ALLTOALL || c->kind == ALLTOALLS;
    if (c->source.data >= c->target.data + to || c->target.data >= c->source.data + from) return 0;
    if (!exchanges && c->source.data == c->target.data) return 0;
    PyErr_SetString(PyExc_ValueError, exchanges ? "source: it overlaps target"
                                                : "source: it overlaps target without being the same place");
    return -1;
}

static int parse_local(struct coll *c)
{
    c->tst = c->sst = 1;
    if (parse_root(c) || parse_op(c)) return -1;
    if (py_arg_operand(c->target_o, c->row->type, PY_WRITE | PY_SYMMETRIC, "target", &c->target)) return -1;
    if (py_arg_operand(c->source_o, c->row->type, PY_SYMMETRIC, "source", &c->source)) return -1;
    if (py_same_dtype(&c->target, "target", &c->source, "source") || find_type(c)) return -1;
    bool gathers = c->kind == COLLECT || c->kind == FCOLLECT; /* which both APIs share */
    if (!gathers && !takes_least(c) && py_same_order(&c->target, &c->source)) return -1;
    if (c->kind == ALLTOALLS &&
        (py_arg_stride(c->tst_o, "tst", &c->tst) || py_arg_stride(c->sst_o, "sst", &c->sst)))
        return -1;
    return parse_size(c) || check_overlap(c) ? -1 : 0;
}

/* A dtype as a number that says something in a message: its character and its size, as 'f' * 1000 + 4. */
static int64_t code_of(const PyArray_Descr *descr)
{
    return descr->kind * 1000 + (int64_t)py_descr_size(descr);
}

static int agree(struct coll *c)
{
    static const char *const names[] = {call_field, dtype_field, "size", "root", op_field, "tst", "sst", memory_field};
    int64_t mine[] = {c->kind, 0, (int64_t)c->count, c->root, c->op, c->tst, c->sst, 0};
    if (!PyErr_Occurred()) mine[1] = code_of(c->source.descr);
    if (!PyErr_Occurred()) mine[7] = c->target.device | c->source.device << 1;
    if (c->kind == COLLECT) mine[2] = 0;
    return py_agree(c->team, c->row->name, mine, names, sizeof mine / sizeof *mine);
}

/* --- the sum of the parts of a collect --- */

/* What the other members of the team bring, and the least room that one of them has: each tells in its
 * turn. Member 0 hears all but is not heard. */
static int64_t hear_others(const struct coll *c, int64_t *least_room)
{
    int64_t sum = 0, mine[2] = {(int64_t)c->count + 1, (int64_t)c->target.count}, none[2] = {0}, theirs[2];
    int me = shmem_team_my_pe(c->team), pe;
    for (int i = 1; i < c->members; i++) {
        differ(c->team, i == me ? mine : none, sizeof mine, theirs, &pe);
        sum += theirs[0] - 1;
        if (theirs[1] < *least_room) *least_room = theirs[1];
    }
    return sum;
}

static int check_sum(struct coll *c)
{
    int64_t count = (int64_t)c->count, room = (int64_t)c->target.count;
    bool first = shmem_team_my_pe(c->team) == 0, too_much;
    if (c->members > 1 && differ(c->team, &count, sizeof count, NULL, NULL)) {
        int64_t others = hear_others(c, &room);
        uint8_t verdict = first && others + count > room;
        too_much = differ(c->team, &verdict, sizeof verdict, NULL, NULL);
    } else {
        uint8_t verdict = count && count > room / c->members, theirs;
        too_much = verdict;
        if (c->members > 1 && differ(c->team, &verdict, sizeof verdict, &theirs, NULL)) too_much = true;
    }
    if (!too_much) return 0;
    PyErr_SetString(PyExc_ValueError,
                    "target: on a PE of the team it has not the room for the parts of all PEs");
    return -1;
}

/* --- doing it --- */

/* Elements of no size that the library has: each reads its blocks from the others. */
static int exchange_foreign(const struct coll *c)
{
    ptrdiff_t size = (ptrdiff_t)c->target.size;
    int me = shmem_team_my_pe(c->team);
    shmem_team_sync(c->team);
    for (int i = 0; i < c->members && c->count; i++) {
        int pe = shmem_team_translate_pe(c->team, i, SHMEM_TEAM_WORLD);
        char *to = c->target.data + i * (ptrdiff_t)c->count * c->tst * size;
        const char *from = c->source.data + me * (ptrdiff_t)c->count * c->sst * size;
        shmem_ibget8(to, from, c->tst * size, c->sst * size, c->target.size, c->count, pe);
    }
    return shmem_team_sync(c->team);
}

static int exchange_strided(const struct coll *c)
{
    void *to = c->target.data;
    const void *from = c->source.data;
    switch (c->target.size) {
    case 1:
        return shmem_uint8_alltoalls(c->team, to, from, c->tst, c->sst, c->count);
    case 2:
        return shmem_uint16_alltoalls(c->team, to, from, c->tst, c->sst, c->count);
    case 4:
        return shmem_uint32_alltoalls(c->team, to, from, c->tst, c->sst, c->count);
    case 8:
        return shmem_uint64_alltoalls(c->team, to, from, c->tst, c->sst, c->count);
    default:
        return exchange_foreign(c);
    }
}

static int perform(const struct coll *c)
{
    void *to = c->target.data;
    const void *from = c->source.data;
    bool device = c->target.device || c->source.device;
    if (c->members == 1 && !device && (c->kind == COLLECT || c->kind == FCOLLECT)) { /* they may overlap */
        memmove(to, from, c->bytes);
        return 0;
    }
    switch (c->kind) {
    case BROADCAST:
        return shmem_broadcastmem(c->team, to, from, c->bytes, c->root);
    case COLLECT:
        return shmem_collectmem(c->team, to, from, c->bytes);
    case FCOLLECT:
        return shmem_fcollectmem(c->team, to, from, c->bytes);
    case ALLTOALL:
        return shmem_alltoallmem(c->team, to, from, c->bytes);
    case ALLTOALLS:
        return exchange_strided(c);
    case REDUCE:
        return reductions[machine_of(c->type)][c->op](c->team, to, from, c->count);
    case INSCAN:
        return reductions[machine_of(c->type)][OPS](c->team, to, from, c->count);
    case EXSCAN:
        return reductions[machine_of(c->type)][OPS + 1](c->team, to, from, c->count);
    }
    return 0;
}

static PyObject *answer(const py_row *row, int rc)
{
    if (PyErr_Occurred()) return NULL;
    if (!rc) Py_RETURN_NONE;
    return PyErr_Format(PyExc_RuntimeError, "%s: error %d", row->name, rc);
}

static PyObject *collective(struct coll *c, PyObject *team)
{
    int rc;
    if (py_need(c->row->name) || py_arg_team(team, &c->team, &c->members)) return NULL;
    parse_local(c); /* an error of it is told in the agreement */
    if (agree(c) || (c->kind == COLLECT && check_sum(c))) return NULL;
    PY_BEGIN_CALL
    rc = perform(c);
    PY_END_CALL
    return answer(c->row, rc);
}

/* --- the calls --- */

static struct py_params broadcast_params = {.names = {"target", "source", "root", "size", "team"},
                                            .required = 3};
static struct py_params plain_params = {.names = {"target", "source", "size", "team"}, .required = 2};
static struct py_params alltoalls_params = {.names = {"target", "source", "tst", "sst", "size", "team"},
                                            .required = 2};
static struct py_params reduce_params = {.names = {"target", "source", "op", "size", "team"}, .required = 2};
static struct py_params sync_params = {.names = {"team", "pe"}, .required = 0};
static struct py_params no_params = {.names = {NULL}, .required = 0};

#define ARGS PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames

static PyObject *call_broadcast(ARGS)
{
    PyObject *a[5];
    const py_row *row = py_row_of(self);
    if (py_parse(&broadcast_params, row->name, args, nargs, kwnames, a)) return NULL;
    struct coll c = {
        .kind = BROADCAST, .row = row, .target_o = a[0], .source_o = a[1], .root_o = a[2], .size_o = a[3]};
    return collective(&c, a[4]);
}

static PyObject *plain(enum kind kind, enum op op, ARGS)
{
    PyObject *a[4];
    const py_row *row = py_row_of(self);
    if (py_parse(&plain_params, row->name, args, nargs, kwnames, a)) return NULL;
    struct coll c = {.kind = kind, .op = op, .row = row, .target_o = a[0], .source_o = a[1], .size_o = a[2]};
    return collective(&c, a[3]);
}

#define PLAIN_CALLS(CALL)                                                                                \
    CALL(collect, COLLECT, 0)                                                                            \
    CALL(fcollect, FCOLLECT, 0) CALL(alltoall, ALLTOALL, 0) CALL(and_reduce, REDUCE, OP_AND)             \
        CALL(or_reduce, REDUCE, OP_OR) CALL(xor_reduce, REDUCE, OP_XOR) CALL(max_reduce, REDUCE, OP_MAX) \
            CALL(min_reduce, REDUCE, OP_MIN) CALL(sum_reduce, REDUCE, OP_SUM)                            \
                CALL(prod_reduce, REDUCE, OP_PROD) CALL(sum_inscan, INSCAN, OP_SUM)                      \
                    CALL(sum_exscan, EXSCAN, OP_SUM)
#define CALL(name, ...)                                        \
    static PyObject *call_##name(ARGS)                         \
    {                                                          \
        return plain(__VA_ARGS__, self, args, nargs, kwnames); \
    }
PLAIN_CALLS(CALL)
#undef CALL

static PyObject *call_alltoalls(ARGS)
{
    PyObject *a[6];
    const py_row *row = py_row_of(self);
    if (py_parse(&alltoalls_params, row->name, args, nargs, kwnames, a)) return NULL;
    struct coll c = {.kind = ALLTOALLS,
                     .row = row,
                     .target_o = a[0],
                     .source_o = a[1],
                     .tst_o = a[2],
                     .sst_o = a[3],
                     .size_o = a[4]};
    return collective(&c, a[5]);
}

static PyObject *call_reduce(ARGS)
{
    PyObject *a[5];
    const py_row *row = py_row_of(self);
    if (py_parse(&reduce_params, row->name, args, nargs, kwnames, a)) return NULL;
    struct coll c = {.kind = REDUCE,
                     .op = OP_SUM,
                     .row = row,
                     .target_o = a[0],
                     .source_o = a[1],
                     .op_o = a[2],
                     .size_o = a[3]};
    return collective(&c, a[4]);
}

static PyObject *call_barrier_all(ARGS)
{
    const py_row *row = py_row_of(self);
    if (py_parse(&no_params, row->name, args, nargs, kwnames, NULL) || py_need(row->name)) return NULL;
    PyObject *arrays = py_pending_take(SHMEM_CTX_DEFAULT);
    PY_BEGIN_CALL
    shmem_barrier_all();
    PY_END_CALL
    Py_XDECREF(arrays);
    return answer(row, 0);
}

static PyObject *call_sync_all(ARGS)
{
    const py_row *row = py_row_of(self);
    if (py_parse(&no_params, row->name, args, nargs, kwnames, NULL) || py_need(row->name)) return NULL;
    PY_BEGIN_CALL
    shmem_sync_all();
    PY_END_CALL
    return answer(row, 0);
}

static PyObject *sync_pe(const py_row *row, PyObject *pe)
{
    int number, rc;
    if (py_arg_pe(pe, NULL, &number)) return NULL;
    PY_BEGIN_CALL
    rc = shmemx_sync_pe(number);
    PY_END_CALL
    return answer(row, rc);
}

static PyObject *call_sync(ARGS)
{
    PyObject *a[2];
    shmem_team_t team;
    int members, rc;
    const py_row *row = py_row_of(self);
    if (py_parse(&sync_params, row->name, args, nargs, kwnames, a) || py_need(row->name)) return NULL;
    if (!py_absent(a[0]) && PyIndex_Check(a[0]) && py_absent(a[1])) return sync_pe(row, a[0]);
    if (!py_absent(a[0]) && !py_absent(a[1]))
        return PyErr_Format(PyExc_TypeError, "%s: team and pe cannot both be given", row->name);
    if (!py_absent(a[1])) return sync_pe(row, a[1]);
    if (py_arg_team(a[0], &team, &members)) return NULL;
    PY_BEGIN_CALL
    rc = shmem_team_sync(team);
    PY_END_CALL
    return answer(row, rc);
}

#define TEAM "team: a Team; by default all PEs. All members call it, with the same size. "
#define PLACES "target and source are symmetric %s arrays. "
#define SIZE "size: elements; by default all, and then both must have the same number. "
#define LEAST "size: elements; by default as many as both have. "
#define REDUCES(WHAT)                                                                              \
    "(target, source, size=None, team=None)\nInto target of all PEs: element by element the " WHAT \
    " over all\n\
sources. In place with source as target.\n\n" PLACES SIZE TEAM

const struct py_call py_calls_coll[] = {
    {"barrier_all", call_barrier_all, &no_params, PY_F_NONE, true,
     "()\nWait for all PEs; all puts and atomics before it are complete."},
    {"sync_all", call_sync_all, &no_params, PY_F_NONE, true,
     "()\nWait for all PEs. Puts need not be complete: quiet first."},
    {"sync", call_sync, &sync_params, PY_F_NONE, true,
     "(team=None, pe=None)\nWait for the members of a team, by default all PEs, or with pe=number for that "
     "PE alone, which "
     "calls it\nwith this one's number."},
    {"broadcast", call_broadcast, &broadcast_params, PY_F_RMA, true,
     "(target, source, root, size=None, team=None)\nCopy source of PE root (its number in the team) to "
     "target of all.\n\n" PLACES SIZE TEAM},
    {"collect", call_collect, &plain_params, PY_F_RMA, true,
     "(target, source, size=None, team=None)\nThe sources of all PEs one behind the other, to target of all. "
     "Sizes may "
     "differ.\n\n" PLACES "team: a Team; by default all PEs."},
    {"fcollect", call_fcollect, &plain_params, PY_F_RMA, true,
     "(target, source, size=None, team=None)\nThe sources of all PEs, of the same size, one behind the "
     "other, to target of "
     "all.\n\n" PLACES TEAM},
    {"alltoall", call_alltoall, &plain_params, PY_F_RMA, true,
     "(target, source, size=None, team=None)\nThe i-th block of source goes to PE i, into the block of this "
     "PE there.\n\n"
     "size: elements of a block. " PLACES TEAM},
    {"alltoalls", call_alltoalls, &alltoalls_params, PY_F_RMA, true,
     "(target, source, tst=1, sst=1, size=None, team=None)\nalltoall of every sst-th element of source, to "
     "every tst-th of "
     "target.\n\nsize: elements of a block. " PLACES TEAM},
    {"reduce", call_reduce, &reduce_params, PY_F_NONE, true,
     "(target, source, op='sum', size=None, team=None)\nThe reduction named op: 'and', 'or', 'xor', 'max', "
     "'min', 'sum', "
     "'prod'.\n\n" PLACES SIZE TEAM},
    {"and_reduce", call_and_reduce, &plain_params, PY_F_REDUCE_BITS, true, REDUCES("bitwise and")},
    {"or_reduce", call_or_reduce, &plain_params, PY_F_REDUCE_BITS, true, REDUCES("bitwise or")},
    {"xor_reduce", call_xor_reduce, &plain_params, PY_F_REDUCE_BITS, true, REDUCES("bitwise exclusive or")},
    {"max_reduce", call_max_reduce, &plain_params, PY_F_REDUCE_ORDER, true, REDUCES("maximum")},
    {"min_reduce", call_min_reduce, &plain_params, PY_F_REDUCE_ORDER, true, REDUCES("minimum")},
    {"sum_reduce", call_sum_reduce, &plain_params, PY_F_REDUCE_SUM, true, REDUCES("sum")},
    {"prod_reduce", call_prod_reduce, &plain_params, PY_F_REDUCE_SUM, true, REDUCES("product")},
    {"sum_inscan", call_sum_inscan, &plain_params, PY_F_REDUCE_SUM, true,
     "(target, source, size=None, team=None)\nThe sums over the PEs up to this one.\n\n" PLACES SIZE TEAM},
    {"sum_exscan", call_sum_exscan, &plain_params, PY_F_REDUCE_SUM, true,
     "(target, source, size=None, team=None)\nThe sums over the PEs before this one; 0 on the "
     "first.\n\n" PLACES SIZE TEAM},
    {"_broadcast", call_broadcast, &broadcast_params, PY_F_NONE, true,
     "(target, source, root, size=None, team=None)\nbroadcast of the published API.\n\n" LEAST},
    {"_alltoall", call_alltoall, &plain_params, PY_F_NONE, true,
     "(target, source, size=None, team=None)\nalltoall of the published API.\n\n" LEAST},
    {"_alltoalls", call_alltoalls, &alltoalls_params, PY_F_NONE, true,
     "(target, source, tst=1, sst=1, size=None, team=None)\nalltoalls of the published API.\n\n" LEAST},
    {"_reduce", call_reduce, &reduce_params, PY_F_NONE, true,
     "(target, source, op='sum', size=None, team=None)\nreduce of the published API.\n\n" LEAST},
    {NULL},
};

#!/usr/bin/env python3
"""make_names.py KIND OUTPUT: a program that calls every function of api.tsv with checked values.

KIND is c (the functions, as C99), twin (their profiling twins), generic (the C11 generic forms) or overload
(the same in C++). Each name is matched to a text in families/ or to a SINGLE in singles.h; the names that match
nothing are listed in the program, which prints their number and fails unless it is 0.
"""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))

INTEGERS = {
    'char': 'char', 'schar': 'signed char', 'short': 'short', 'int': 'int', 'long': 'long',
    'longlong': 'long long', 'uchar': 'unsigned char', 'ushort': 'unsigned short', 'uint': 'unsigned int',
    'ulong': 'unsigned long', 'ulonglong': 'unsigned long long',
    'int8': 'int8_t', 'int16': 'int16_t', 'int32': 'int32_t', 'int64': 'int64_t',
    'uint8': 'uint8_t', 'uint16': 'uint16_t', 'uint32': 'uint32_t', 'uint64': 'uint64_t', 'size': 'size_t',
    'ptrdiff': 'ptrdiff_t'}
FLOATS = {'float': 'float', 'double': 'double', 'longdouble': 'long double'}
COMPLEX = {'complexf': 'SHMEM_COMPLEXF', 'complexd': 'SHMEM_COMPLEXD'}
TYPES = {**INTEGERS, **FLOATS, **COMPLEX}
SIZED = {'8': 'uint8_t', '16': 'uint16_t', '32': 'uint32_t', '64': 'uint64_t', '128': 'word128',
         'mem': 'unsigned char'}
AMO = 'int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff'.split()

OPS = {'and': '((a) & (b))', 'or': '((a) | (b))', 'xor': '((a) ^ (b))', 'max': '((a) > (b) ? (a) : (b))',
       'min': '((a) < (b) ? (a) : (b))', 'sum': '((a) + (b))', 'prod': '((a) * (b))'}

# What follows the type in a name -> the family. The old atomics are the new ones under short names.
RMA = {'put': 'put', 'put_nbi': 'put', 'get': 'get', 'get_nbi': 'get', 'p': 'p', 'g': 'g', 'iput': 'iput',
       'iget': 'iget', 'ibput': 'ibput', 'ibget': 'ibget',
       'put_signal': 'put_signal', 'put_signal_nbi': 'put_signal'}
ATOMIC = {'fetch': 'fetch', 'set': 'set', 'swap': 'swap', 'compare_swap': 'cas', 'cswap': 'cas',
          'fetch_inc': 'fetch_inc', 'finc': 'fetch_inc', 'inc': 'inc',
          'fetch_add': 'fetch_add', 'fadd': 'fetch_add', 'add': 'add',
          'fetch_and': 'fetch_bit', 'and': 'bit', 'fetch_or': 'fetch_bit', 'or': 'bit',
          'fetch_xor': 'fetch_bit', 'xor': 'bit'}
FETCHING = ('fetch', 'swap', 'cas', 'fetch_inc', 'fetch_add', 'fetch_bit')
INDEXED = {'gather': 'gather', 'scatter': 'scatter', 'scatter_add': 'scatter_add'}
MOVES = ('alltoall', 'alltoalls', 'broadcast', 'collect', 'fcollect')


def read_api():
    rows = []
    with open(os.path.join(here, 'api.tsv')) as f:
        for line in f:
            if line.strip() and line[0] != '#':
                name, ret, params, generic, twin = line.rstrip('\n').split('\t')
                rows.append((name, ret, params, generic, twin))
    return rows


def extensions():
    """Our own names, and those beyond 1.6 that 1.5 or other libraries have."""
    rows = []

    def add(name, generic='-'):
        rows.append((name, None, None, generic, 'p' + name))

    def both(x, stem, generic_stem=None):
        generic = x + generic_stem if generic_stem else '-'
        add(x + stem, generic)
        add(x + 'ctx_' + stem, generic)

    add('shmemx_sync_pe', 'shmem_sync')
    add('shmemx_register_gettid')
    for what in ('issued_write', 'issued_read', 'completed_write', 'completed_read', 'completed_target', 'all'):
        add('shmemx_pcntr_get_' + what)
    for name in ('agree', 'ctx_is_valid', 'team_is_valid', 'keep_memory', 'claim_report', 'set_interrupt', 'is_descendant', 'other_copy',
                 'get_uniqueid', 'set_attr_uniqueid_args', 'init_attr'):
        add('shmemx_' + name)
    for t in AMO: # programs have come to expect the old atomics for all types
        if t not in ('int', 'long', 'longlong'):
            for op in ('fetch', 'set', 'swap', 'cswap', 'finc', 'inc', 'fadd', 'add'):
                add('shmem_%s_%s' % (t, op), 'shmem_' + op)
    for t in [*INTEGERS, *FLOATS]:
        for op in ('gather', 'gather_nbi', 'scatter', 'scatter_nbi', 'ibput', 'ibget'):
            both('shmemx_', t + '_' + op, op)
    for t in [*AMO, 'float', 'double']:
        for op in ('scatter_add', 'scatter_add_nbi'):
            both('shmemx_', t + '_' + op, op)
    for op in ('gathermem', 'gathermem_nbi', 'scattermem', 'scattermem_nbi'):
        both('shmemx_', op)
    for size in ('8', '16', '32', '64', '128'):
        both('shmemx_', 'ibput' + size)
        both('shmemx_', 'ibget' + size)
    both('shmemx_', 'signal_add', 'signal_add')
    both('shmemx_', 'signal_set', 'signal_set')
    for t in TYPES:
        add('shmemx_%s_sum_inscan' % t, 'shmemx_sum_inscan')
        add('shmemx_%s_sum_exscan' % t, 'shmemx_sum_exscan')
        add('shmemx_%s_sum_reduce_on_stream' % t, 'shmemx_sum_reduce_on_stream')
    for t in ('short', 'ushort'):
        for op in ('wait_until_all', 'wait_until_any', 'wait_until_some', 'test_all', 'test_any', 'test_some'):
            for end in ('', '_vector'):
                add('shmem_%s_%s%s' % (t, op, end), 'shmem_%s%s' % (op, end))
    for t in ('short', 'int', 'long', 'longlong'):
        for op in ('and', 'or', 'xor'):
            add('shmem_%s_%s_reduce' % (t, op), 'shmem_%s_reduce' % op)
    return rows


def value_of(t):
    if t in COMPLEX:
        return 'VALUE_COMPLEX(T, v)'
    if t == 'longdouble':
        return 'VALUE_LONG_DOUBLE(T, v)'
    return 'VALUE_FLOAT(T, v)' if t in FLOATS else 'VALUE_INTEGER(T, v)'


def split(name):
    """(has a context, type or size name or None, what it does), None for a name without a type."""
    rest = re.sub(r'^shmemx?_', '', name)
    has_ctx = rest.startswith('ctx_')
    if has_ctx:
        rest = rest[4:]
    m = re.match(r'(%s)_(.*)$' % '|'.join(sorted(TYPES, key=len, reverse=True)), rest)
    if m:
        return has_ctx, m.group(1), m.group(2)
    m = re.match(r'(put|get|iput|iget|ibput|ibget)(8|16|32|64|128|mem)(_nbi|_signal|_signal_nbi|)$', rest)
    if m:
        return has_ctx, m.group(2), m.group(1) + m.group(3)
    m = re.match(r'(alltoalls?|broadcast|f?collect)(32|64|mem)$', rest)
    if m:
        return has_ctx, m.group(2), m.group(1) + ('' if m.group(2) == 'mem' else '_set')
    m = re.match(r'(gather|scatter)mem(_nbi|)$', rest)
    if m:
        return has_ctx, 'mem', m.group(1) + 'mem'
    return has_ctx, None, rest


def plan(name, callee):
    """The macros for a family, as a dict, with the family under 'family'; None when the name matches none."""
    has_ctx, t, what = split(name)
    macros = {'PE(pe)': 'of_backwards(pe)' if has_ctx else '(pe)'}
    call = '%s(ctx, __VA_ARGS__)' % callee if has_ctx else '%s(__VA_ARGS__)' % callee
    if t is None:
        if what in ('signal_add', 'signal_set'):
            macros.update({'F(...)': call, 'SUM(a, b)': '((a) + (b))' if what == 'signal_add' else '(b)'})
            return 'signal', macros
        return None
    macros['T'] = TYPES.get(t) or SIZED[t]
    macros['VALUE(v)'] = value_of(t)
    macros['SMALL(v)'] = 'VALUE_COMPLEX(T, v)' if t in COMPLEX else '((T)(v))'
    macros['F(...)'] = call
    if what == 'sum_reduce_on_stream':
        return 'sum_on_stream', macros
    if what in RMA:
        return RMA[what], macros
    if what.replace('_nbi', '') in INDEXED:
        return INDEXED[what.replace('_nbi', '')], macros
    if what in ('gathermem', 'scattermem'):
        return what, macros
    return (plan_atomic(what, macros) or plan_wait(what, macros) or plan_collective(what, macros, callee))


def plan_atomic(what, macros):
    nbi = what.endswith('_nbi')
    op = what[:-4] if nbi else what
    op = op[7:] if op.startswith('atomic_') else op
    if op not in ATOMIC:
        return None
    family = ATOMIC[op]
    if family.endswith('bit'):
        macros['OP(a, b)'] = OPS[op.replace('fetch_', '')]
    if family in FETCHING:
        macros['FETCH(old, ...)'] = '(F(&old, __VA_ARGS__), quiet())' if nbi else '(old = F(__VA_ARGS__))'
    return family, macros


def plan_wait(what, macros):
    if what == 'wait':
        return 'old_wait', macros
    m = re.match(r'(wait_until|test)(?:_(all|any|some)(_vector|))?$', what)
    if not m:
        return None
    if not m.group(2):
        return m.group(1), macros
    macros['IS_TEST'] = '1' if m.group(1) == 'test' else '0'
    macros['WANT(i)'] = 'VALUE(11 + 2 * (i))' if m.group(3) else '((void)(i), VALUE(11))'
    macros['WANTED'] = 'want' if m.group(3) else 'VALUE(11)'
    return 'wait_' + m.group(2), macros


def plan_collective(what, macros, callee):
    is_set = what.endswith(('_set', '_to_all'))
    op = re.sub(r'_(set|to_all|reduce)$', '', what)
    if op in MOVES:
        family = op
        macros['ROOT_TOO'] = '0' if is_set else '1'
    elif op in OPS and what != op:
        family = 'reduce'
        macros['OP(a, b)'] = OPS[op]
    elif op in ('sum_inscan', 'sum_exscan'):
        family = 'scan'
        macros['INCLUSIVE'] = '1' if op == 'sum_inscan' else '0'
    else:
        return None
    if is_set:
        work = '(T *)(void *)work_room, ' if what.endswith('_to_all') else ''
        macros['OK(...)'] = '%s(__VA_ARGS__, 0, 0, npes, %ssync_room)' % (callee, work)
        macros['AT(i)'] = '(i)'
    else:
        macros['OK(...)'] = 'CHECK(%s(team, __VA_ARGS__) == 0)' % callee
        macros['AT(i)'] = 'team_world(i)'
    return family, macros


def singles_of(file, overload):
    with open(os.path.join(here, file)) as f:
        text = f.read()
    if not overload:
        text = re.sub(r'#ifdef __cplusplus.*?#endif', '', text, flags=re.S)
    return re.findall(r'^SINGLE\((\w+)\)', text, flags=re.M)


def main(kind, output):
    is_generic = kind in ('generic', 'overload')
    api, more = read_api(), extensions()
    rows = [r for r in api + more if not is_generic or r[3] != '-']
    standard = {r[0] for r in api}
    singles_file = 'generic_singles.h' if is_generic else 'singles.h'
    singles = singles_of(singles_file, kind == 'overload')
    # The generic form of shmem_wait_until on long is a row of its own; the C function is tested in singles.h.
    out, tests, untested, covered = [], [], [], set()
    out.append('#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif')
    if kind == 'twin':
        out.append('#define NAMES_TWINS')
    if kind == 'overload':
        out.append('#include <complex>')
    out.append('#include "%s"' % singles_file)
    for i, (name, ret, params, generic, twin) in enumerate(rows):
        callee = {'c': name, 'twin': twin}.get(kind, generic)
        if ret and not is_generic:
            out.append('UNUSED static %s (*const type_%d)(%s) = %s;' % (ret, i, params, callee))
        planned = None if name in singles else plan(name, callee)
        if name in singles or name == 'shmem_global_exit':
            covered.add(name)
        elif planned:
            family, macros = planned
            covered.add(name)
            out.append('#define TEST test_%d' % i)
            out += ['#define %s %s' % m for m in macros.items()]
            out.append('#include "families/%s.inc"' % family)
            out += ['#undef ' + m.split('(')[0] for m in ('TEST', *macros)]
            tests.append((name if not is_generic else '%s as %s' % (generic, name), 'test_%d' % i))
        else:
            untested.append(name)
    tests += [(name, 'single_' + name) for name in singles]
    out.append('static const struct test tests[] = {')
    out += ['    { "%s", %s },' % t for t in tests]
    out.append('};')
    out.append('static const char *const untested[] = { %s };' % ', '.join(['"%s"' % u for u in untested] + ['NULL']))
    n = len([r for r in rows if r[0] in standard])
    out.append('''int main(int argc, char **argv)
{
    size_t n = 0;
    start();
    run_all(tests, sizeof tests / sizeof tests[0], argc > 1 ? argv[1] : NULL);
    for (; untested[n]; n++)
        if (me == 0) printf("no test: %%s\\n", untested[n]);
    return finish("%s (%d of OpenSHMEM, %d more)", sizeof tests / sizeof tests[0], %d, n);
}''' % (kind, n, len(rows) - n, len(covered)))
    with open(output, 'w') as f:
        f.write('\n'.join(out) + '\n')


if len(sys.argv) != 3 or sys.argv[1] not in ('c', 'twin', 'generic', 'overload'):
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2])

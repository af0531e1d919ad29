#!/usr/bin/env python3
"""make_mutants.py OUTPUT: a library to preload in which the function named in the environment variable BREAK does
nothing, and every other function of api.tsv what it should. Prints the names that can be broken."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
# Without these there is no test at all.
KEPT = ('shmem_init', 'shmem_finalize', 'shmem_global_exit', 'start_pes', 'shmem_pcontrol')

out = ['#include <pshmem.h>', '#include <stdlib.h>', '#include <string.h>', 'static int broken(const char *name)', '{',
       '    static const char *chosen;', '    if (!chosen) chosen = getenv("BREAK") ? getenv("BREAK") : "";',
       '    return strcmp(chosen, name) == 0;', '}']
with open(os.path.join(here, 'api.tsv')) as f:
    rows = [line.rstrip('\n').split('\t') for line in f if line.strip() and line[0] != '#']
for name, ret, params, generic, twin in rows:
    if name in KEPT:
        continue
    args = [] if params == 'void' else [re.search(r'\w+$', p.strip()).group() for p in params.split(',')]
    call = '%s(%s)' % (twin, ', '.join(args))
    out.append('%s (%s)(%s)\n{' % (ret, name, params))
    if ret == 'void':
        out.append('    if (!broken("%s")) %s;\n}' % (name, call))
    else: # an answer that nobody expects
        out.append('    %s lie;\n    if (!broken("%s")) return %s;' % (ret, name, call))
        out.append('    memset(&lie, 0x11, sizeof lie);\n    return lie;\n}')
    print(name)
with open(sys.argv[1], 'w') as f:
    f.write('\n'.join(out) + '\n')

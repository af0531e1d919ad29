#!/usr/bin/env python3
"""Writes the module shmem4py._api_cdef: what shmem.h and shmemx.h declare, as cffi wants to read it.

usage: make_cdef.py INCLUDE OUTPUT [CC [CFLAGS...]]

The C preprocessor expands the tables of the headers, so that each type and function stands in them alone. The
module holds four names: TYPES and FUNCTIONS (text for FFI.cdef), CONSTANTS (macros that are numbers or
strings, by name) and HANDLES (macros that are handles: name -> (type, number)).
"""
import os
import re
import subprocess
import sys
import tempfile

MACRO = re.compile(r'#define ((?:SHMEMX?|_SHMEM)_[A-Z0-9_]+) (.+)')
HANDLE = re.compile(r'\(\((shmem_\w+)\)\s*(0x[0-9a-fA-F]+|0)[UL]*\)')
NUMBER = re.compile(r'[0-9a-fA-FxUL<>|() ~*+-]+')
FUNCTION = re.compile(r'[\w* ]+?\b(shmemx?_\w+|start_pes|_my_pe|_num_pes|sh[a-z]+)\s*\(.*\)')


def preprocess(command, include, text):
    """The lines that the preprocessor makes of `text`, without those of headers outside `include`."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'declarations.h')
        with open(source, 'w', encoding='ascii') as file:
            file.write(text)
        run = subprocess.run([*command, '-E', '-I', include, source], stdout=subprocess.PIPE, check=True,
                             encoding='utf-8')
        ours = (os.path.realpath(folder) + os.sep, os.path.realpath(include) + os.sep)
        lines, keep = [], False
        for line in run.stdout.splitlines():
            marker = re.match(r'# \d+ "(.*?)"', line)
            if marker:
                keep = os.path.realpath(marker.group(1)).startswith(ours)
            elif keep and line.strip():
                lines.append(line)
    return lines


def declarations(lines):
    """Types and functions of the preprocessed headers, each list in the order of the headers."""
    types, functions = [], []
    text = re.sub(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b_Noreturn\b|\b__extension__\b', '',
                  ' '.join(lines))
    for statement in re.findall(r'(?:[^;{]|\{[^}]*\})+;', text):
        statement = ' '.join(statement.split())
        if statement.startswith('typedef'):
            types.append(statement)
        elif FUNCTION.match(statement):
            functions.append(statement)
        elif not statement.startswith('static'):
            sys.exit(f'make_cdef.py: what is this? {statement[:200]}')
    return types, functions


def macros(command, include, headers):
    """The values of the headers' macros: numbers and strings, and handles."""
    # -dM names them, another run tells what each stands for once the macros in it are expanded.
    run = subprocess.run([*command, '-E', '-dM', '-I', include, '-x', 'c', '-'], input=headers,
                         stdout=subprocess.PIPE, check=True, encoding='utf-8')
    names = sorted(m.group(1) for m in map(MACRO.match, run.stdout.splitlines()) if m)
    probe = headers + ''.join(f'\n"@{name}" {name}' for name in names) + '\n'
    constants, handles = {}, {}
    for line in preprocess(command, include, probe):
        found = re.match(r'"@(\w+)"\s*(.*)', line)
        if not found:
            continue
        name, value = found.group(1), found.group(2).strip()
        handle = HANDLE.fullmatch(value)
        if handle:
            handles[name] = (handle.group(1), int(handle.group(2), 0))
        elif re.fullmatch(r'"[^"\\]*"', value):
            constants[name] = value[1:-1]
        elif NUMBER.fullmatch(value):
            constants[name] = int(eval(re.sub(r'(?<=[0-9a-fA-F])[UL]+', '', value), {'__builtins__': {}}))
    return constants, handles


def main(include, output, *command):
    command = list(command) or ['cc']
    headers = '#include <shmem.h>\n#include <shmemx.h>\n'
    types, functions = declarations(preprocess(command, include, headers))
    constants, handles = macros(command, include, headers)
    for name in ('SHMEM_TEAM_WORLD', 'SHMEM_CTX_DEFAULT'):
        if name not in handles:
            sys.exit(f'make_cdef.py: {name} is not found in {include}')
    with open(output, 'w', encoding='ascii') as file:
        file.write('"""Made by make_cdef.py from the headers of the library."""\n')
        for name, value in (('CONSTANTS', constants), ('HANDLES', handles)):
            file.write(f'{name} = {{\n')
            file.writelines(f'    {key!r}: {value[key]!r},\n' for key in sorted(value))
            file.write('}\n')
        for name, value in (('TYPES', types), ('FUNCTIONS', functions)):
            body = '\n'.join(value)
            file.write(f'{name} = """\n{body}\n"""\n')


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

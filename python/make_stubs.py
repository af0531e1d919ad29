#!/usr/bin/env python3
"""Writes the type stubs of the package from what the package says of itself.

usage: PYTHONPATH=build/python python3 python/make_stubs.py [FOLDER]

FOLDER (python/shmem4py by default) gets __init__.pyi and shmem.pyi. A test compares them with what this
writes, so run it after a function has come or changed. Signatures are read from the functions; what their
arguments and results are is in the tables below, by name.
"""
import inspect
import os
import re
import sys

HEAD = '''"""Types of {module}. Made by python/make_stubs.py."""
import enum
from types import TracebackType
from typing import Any, Iterator, Literal, Mapping, NoReturn, Sequence, Tuple, Type, Union, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

'''

ALIASES = '''Number = Union[int, float, complex, np.number[Any]]
Values = Union[Sequence[Number], NDArray[Any]]
Numbers = Union[Sequence[int], NDArray[Any]]
'''

FLAT_TYPES = '''Memory = Union[NDArray[Any], 'DeviceArray']
# Arrays, and elements of symmetric arrays.
Operand = Union[Memory, np.generic]

class Block:
    @property
    def number(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def freed(self) -> bool: ...
    @property
    def exports(self) -> int: ...
    @property
    def kind(self) -> str: ...

class DeviceArray:
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> Tuple[int, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def device(self) -> int: ...
    @property
    def address(self) -> int: ...
    def copy_to_host(self, out: NDArray[Any] | None = ...) -> Any: ...
    def copy_from_host(self, values: Any, /) -> None: ...
    def item(self) -> Any: ...
    def reshape(self, *shape: int | Sequence[int]) -> DeviceArray: ...
    def free(self) -> None: ...
    def __getitem__(self, key: Any) -> DeviceArray: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[DeviceArray]: ...
    def __dlpack__(self, *, stream: Any = ..., max_version: Tuple[int, int] | None = ...,
                   dl_device: Tuple[int, int] | None = ..., copy: bool | None = ...) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def __enter__(self) -> DeviceArray: ...
    def __exit__(self, kind: Type[BaseException] | None = ..., value: BaseException | None = ...,
                 trace: TracebackType | None = ...) -> None: ...

class Array(np.ndarray[Any, Any]):
    def free(self) -> None: ...
    def __enter__(self) -> Array: ...
    def __exit__(self, kind: Type[BaseException] | None = ..., value: BaseException | None = ...,
                 trace: TracebackType | None = ...) -> None: ...
'''

RC = '''
class Rc:
    initialize: bool
    threads: bool
    thread_level: str
    finalize: bool | None
    def __init__(self, **kwargs: Any) -> None: ...
    def __call__(self, **kwargs: Any) -> None: ...

rc: Rc
__version__: str
'''

SHMEM_TYPES = '''Memory = NDArray[Any]
# Arrays, and elements of symmetric arrays of the flat API.
Operand = Union[Memory, np.generic]

SigAddr = NDArray[np.uint64]
LockHandle = NDArray[Any]
CtxHandle = Any
TeamHandle = Any

ffi: Any
lib: Any
'''

ARGUMENTS = {
    'pe': 'int', 'root': 'int', 'requested': 'int', 'status': 'int', 'level': 'int', 'options': 'int',
    'start': 'int', 'stride': 'int', 'tst': 'int', 'sst': 'int', 'count': 'int', 'nbytes': 'int',
    'sigop': 'int', 'xrange': 'int', 'bsize': 'int', 'nblocks': 'int',
    'size': 'int | None', 'align': 'int | None', 'hints': 'int | None', 'what': 'str | None',
    'ctx': 'Ctx | None', 'team': 'Team | None', 'clear': 'bool', 'blocking': 'bool', 'plain': 'bool',
    'target': 'Operand', 'source': 'Operand', 'fetch': 'Memory', 'ivar': 'Operand',
    'ivars': 'Memory', 'signal': 'Operand', 'lock': 'Operand | Lock', 'addr': 'Operand', 'obj': 'Any',
    'out': 'Memory | None', 'value': 'Number', 'cond': 'Number', 'fill_value': 'Any',
    'values': 'Values',
    'index': 'Numbers', 'cmp': 'int | str', 'op': 'str', 'shape': 'int | Sequence[int]', 'dtype': 'DTypeLike',
    'order': 'str', 'x': 'Any', 'a': 'NDArray[Any]', 'mem': 'memoryview | NDArray[Any]', 'block': 'Block',
    'base': 'Block | memoryview', 'config': 'Mapping[str, int] | None',
    'xaxis_config': 'Mapping[str, int] | None', 'yaxis_config': 'Mapping[str, int] | None',
    'kind': 'str | None',
}

# Where the name alone does not say it: pattern of the function, argument, type.
EXCEPTIONS = [
    (r'(wait_until|test)_.*', 'status', 'Numbers | None'),
    (r'(.*_)?(gather|scatter|scatter_add)(_nbi)?', 'pe', 'int | Numbers'),
    (r'(.*_)?put(_nbi|_signal(_nbi)?)?', 'source', 'Operand | Number'),
    (r'(atomic_(op|fetch_op)(_nbi)?)', 'value', 'Number | None'),
    (r'fromalloc', 'mem', 'memoryview'),
    (r'fromalloc', 'shape', 'int | Sequence[int] | None'),
    (r'alloc', 'size', 'int'),
    (r'translate_pe', 'pe', 'int | None'),
    (r'Ctx', 'ctx', 'Any'),
    (r'Team', 'team', 'Any'),
]

# Results in which the modules differ.
FLAT_WORDS = {'alloc': 'Array', 'new': 'Array', 'number': 'Any', 'init': 'THREAD', 'level': 'int'}
SHMEM_WORDS = {'alloc': 'memoryview', 'new': 'NDArray[Any]', 'number': 'Number', 'init': 'None',
               'level': 'THREAD'}

# Results, the first pattern that matches; None is the rule.
RESULTS = [
    (r'my_pe|n_pes|signal_fetch|signal_wait_until|translate_pe', 'int'),
    (r'init', '{init}'),
    (r'init_thread|query_thread', '{level}'),
    (r'info_get_version', 'Tuple[int, int]'),
    (r'info_get_name', 'str'),
    (r'(pe|addr)_accessible|query_initialized|is_\w+|test_lock|acquire|claim_report', 'bool'),
    (r'(.*_)?test(_all(_vector)?)?', 'bool'),
    (r'(.*_)?(wait_until|test)_any(_vector)?', 'int | None'),
    (r'(.*_)?(wait_until|test)_some(_vector)?', 'list[int]'),
    (r'ptr', 'NDArray[Any] | None'),
    (r'peer_table', 'list[int | None]'),
    (r'device_info', 'dict[str, Any] | None'),
    (r'alloc', '{alloc}'),
    (r'new_signal|array|empty|zeros|ones|full|new_array|fromalloc|array_on|new_lock', '{new}'),
    (r'block_alloc', 'Block'),
    (r'block_of', 'Block | None'),
    (r'memory_info|get_config', 'dict[str, int]'),
    (r'create|create_ctx', 'Ctx'),
    (r'get_team|split_strided', 'Team'),
    (r'split_2d', 'Tuple[Team, Team]'),
    (r'(.*_)?atomic_(fetch(_(inc|add|and|or|xor|op))?|swap|compare_swap)', '{number}'),
    (r'(.*_)?g', 'Any'),
    (r'[a-z0-9]+_get', 'Any'),
    (r'(.*_)?gather', 'NDArray[Any]'),
]

# Whose result depends on an argument: for that argument's type another result.
OVERLOADS = {'kind': [("Literal['host'] | None", None), ('str', 'DeviceArray')]}


TYPED = re.compile(r'(u?(char|short|int|long|longlong|int8|int16|int32|int64)|schar|size|ptrdiff'
                   r'|float|double|longdouble|complex[fd])_')


def annotation(function, argument):
    for pattern, name, kind in EXCEPTIONS:
        if name == argument and re.fullmatch(pattern, function):
            return kind
    if argument not in ARGUMENTS:
        sys.exit(f'make_stubs.py: {function}: what is {argument}? It is not in the tables')
    return ARGUMENTS[argument]


def result(function, words):
    for pattern, kind in RESULTS:
        if re.fullmatch(pattern, function):
            return kind.format(**words)
    return 'None'


def parameter(function, p):
    if p.kind is p.VAR_KEYWORD:
        return f'**{p.name}: int'
    if p.kind is p.VAR_POSITIONAL:
        return f'*{p.name}: Any'
    default = '' if p.default is p.empty else ' = ...'
    kind = annotation(function, p.name)
    if p.default is None and 'None' not in kind and kind not in ('Any', 'DTypeLike'):
        kind += ' | None'
    return f'{p.name}: {kind}{default}'


def definition(name, function, words, indent=''):
    """The lines of one function, of one that makes arrays for each kind of memory."""
    made = result(name, words)
    if 'kind' not in inspect.signature(function).parameters or made != words['new']:
        return one_definition(name, function, 'NoReturn' if name == 'global_exit' else made, {}, indent)
    return ''.join('@overload\n' + one_definition(name, function, other or made, {'kind': kind}, indent)
                   for kind, other in OVERLOADS['kind'])


def one_definition(name, function, returns, kinds, indent):
    parts, keyword = [], False
    for p in inspect.signature(function).parameters.values():
        if p.name in kinds:
            default = '' if 'None' not in kinds[p.name] else ' = ...'
            parts.append(f'{p.name}: {kinds[p.name]}{default}')
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword:
            parts.append('*')
            keyword = True
        parts.append('self' if p.name == 'self' else parameter(name, p))
    lines, start = [], f'{indent}def {name}('
    for i, part in enumerate(parts):
        part += ', ' if i + 1 < len(parts) else f') -> {returns}: ...'
        if len(start) + len(part.rstrip()) > 110:
            lines.append(start.rstrip())
            start = ' ' * (len(indent) + 5 + len(name))
        start += part
    return '\n'.join(lines + [start if parts else f'{start}) -> {returns}: ...']) + '\n'


def enumeration(kind):
    base = next(b.__name__ for b in kind.__mro__ if b.__name__ in ('IntFlag', 'IntEnum', 'StrEnum', 'Enum'))
    base = {'StrEnum': 'str, enum.Enum'}.get(base, f'enum.{base}')
    value = (lambda m: repr(str(m))) if 'str' in base else (lambda m: int(m))
    return f'\nclass {kind.__name__}({base}):\n' + ''.join(
        f'    {name} = {value(member)}\n' for name, member in kind.__members__.items())


def method(kind, name, words):
    member = vars(kind)[name]
    if inspect.isdatadescriptor(member):
        return f'    @property\n    def {name}(self) -> Any: ...\n'
    line = definition(name, getattr(kind, name), words, '    ')
    if isinstance(member, (staticmethod, classmethod)) or type(member).__name__ == 'classmethod_descriptor':
        return '    @staticmethod\n' + line
    return line


def handle(kind, words):
    """A class with methods: Ctx, Team, Lock."""
    name = kind.__name__
    argument = '' if name == 'Lock' else f', {name.lower()}: Any = ...'
    return (f'\nclass {name}:\n'
            f'    def __init__(self{argument}) -> None: ...\n'
            f'    def __enter__(self) -> {name}: ...\n'
            '    def __exit__(self, *args: Any) -> None: ...\n'
            '    def __bool__(self) -> bool: ...\n'
            + ''.join(method(kind, m, words) for m in sorted(vars(kind)) if not m.startswith('_')))


def definitions(functions, words):
    """Each function once; those that differ from it only in the type they are for are its aliases."""
    text, aliases, first = '', '', {}
    for name in sorted(functions, key=lambda name: (bool(TYPED.match(name)), name)):
        whole = definition(name, functions[name], words)
        stem = TYPED.sub('', name)
        key = stem, ' '.join(whole.split()).replace(f'def {name}(', 'def (')
        if stem != name and key in first:
            aliases += f'{name} = {first[key]}\n'
        else:
            text += whole
        first.setdefault(key, name)
    return text + '\n' + aliases


def stub(module, words, extra):
    kinds, handles, constants, functions = '', '', '', {}
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if name.startswith('_') or inspect.ismodule(value) or name in ('Array', 'Block', 'DeviceArray', 'rc', 'Rc'):
            continue
        if isinstance(value, type) and hasattr(value, '__members__'):
            kinds += enumeration(value)
        elif isinstance(value, type):
            handles += handle(value, words)
        elif callable(value):
            functions[name] = value
        else:
            constants += f'{name}: {type(value).__name__}\n'
    return '\n'.join((HEAD.format(module=module.__name__) + ALIASES + extra + kinds + handles, constants,
                      definitions(functions, words)))


def stubs():
    """The text of each stub, by file name."""
    os.environ['SHMEM4PY_RC_INITIALIZE'] = 'no'
    import shmem4py
    from shmem4py import shmem
    return {
        '__init__.pyi': stub(shmem4py, FLAT_WORDS, FLAT_TYPES + RC),
        'shmem.pyi': stub(shmem, SHMEM_WORDS, SHMEM_TYPES),
    }


def main(folder):
    for name, text in stubs().items():
        with open(os.path.join(folder, name), 'w', encoding='ascii') as file:
            file.write(text)


if __name__ == '__main__':
    sys.path.pop(0)  # the package of the source tree has no extension module
    here = os.path.dirname(os.path.abspath(__file__))
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, 'shmem4py'))

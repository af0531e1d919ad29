"""The C functions of the library, through cffi.

>>> from shmem4py.api import ffi, lib
>>> from shmem4py.api.lib import *

``lib`` has what ``shmem.h`` and ``shmemx.h`` declare: functions, constants and handles
(``SHMEM_TEAM_WORLD``). It calls the same library as the rest of the package, in the same process: memory of
``lib.shmem_malloc`` is symmetric for the functions on arrays, too, and ``lib.shmem_init`` counts with
``shm.init``. These are the functions of C: nothing is checked that C does not check, and what is wrong there
ends the job with a sentence, not with an exception.

cffi is needed here and nowhere else in the package.
"""
import sys
import types

from . import _core
from . import _api_cdef
from . import _api_library

try:
    import cffi
except ImportError as e:
    raise ImportError('shmem4py.api needs cffi (pip install cffi; Debian: apt-get install python3-cffi); the '
                      'other modules of the package do without') from e

__all__ = ['ffi', 'lib']

ffi = cffi.FFI()
ffi.cdef(_api_cdef.TYPES)


def _library_path():
    """The file of the library that the extension module has loaded."""
    paths = _api_library.paths()
    if len(paths) != 1:
        raise ImportError('shmem4py.api: one libhbmesh.so is needed in the process, there are: '
                          + (', '.join(paths) or 'none'))
    return paths[0]


def _init():
    """Count up: the library is initialised by the first call."""
    _core.init_thread(_core.THREAD_MULTIPLE)


def _finalize():
    """Count down: the library is finalized by the last call."""
    _core.finalize()


def _init_thread(requested, provided):
    """Count up, with a thread level; writes the level there is to ``provided`` (``int *``). Returns 0."""
    provided[0] = _core.init_thread(requested)
    return 0


class _Lib(types.ModuleType):
    """What the headers declare. Functions are looked up when they are first asked for."""

    def __init__(self):
        super().__init__('shmem4py.api.lib', 'Functions, constants and handles of the library.')
        declarations = {}
        for line in _api_cdef.FUNCTIONS.split('\n'):
            if line:
                declarations[line.partition('(')[0].split()[-1].lstrip('*')] = line
        self._declarations = declarations
        self._library = ffi.dlopen(_library_path())
        for name, value in _api_cdef.CONSTANTS.items():
            # C has strings here, which the other side of cffi sees as pointers.
            setattr(self, name, ffi.new('char[]', value.encode()) if isinstance(value, str) else value)
        for name, (handle, value) in _api_cdef.HANDLES.items():
            setattr(self, name, ffi.cast(handle, value))
        # These count for the whole package.
        self.shmem_init, self.shmem_finalize, self.shmem_init_thread = _init, _finalize, _init_thread

    def __getattr__(self, name):
        if name == '__all__':
            return self._for_star()
        declarations = self.__dict__.get('_declarations', {})
        if name not in declarations:
            raise AttributeError(f'the library has no {name!r}')
        self._declare([name])
        return self.__dict__[name]

    def __dir__(self):
        return sorted({n for n in self.__dict__ if not n.startswith('_')} | set(self._declarations))

    def _declare(self, names):
        names = [name for name in names if name not in self.__dict__]
        ffi.cdef('\n'.join(self._declarations[name] for name in names), override=True)
        for name in names:
            setattr(self, name, getattr(self._library, name))

    def _for_star(self):
        """Names for ``from shmem4py.api.lib import *``: all but the extensions, which are had by name."""
        names = [name for name in self._declarations if not name.startswith('shmemx_')]
        self._declare(names)
        return names + [n for n in self.__dict__ if n.startswith(('SHMEM', '_SHMEM'))]


lib = _Lib()
# ``from shmem4py.api.lib import *`` finds it here, as if this module were a package.
sys.modules[lib.__name__] = lib

"""The console scripts of an installed package: programs in shmem4py/bin that take this process's place."""

import os
import sys

from . import _core


def _become(program, name=None):
    # Beside the extension: in an editable installation the package's own files are elsewhere.
    path = os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), "bin", program)
    try:
        os.execv(path, [name or program] + sys.argv[1:])
    except OSError as error:
        sys.exit(f"{name or program}: cannot run {path}: {error.strerror}; install hbmesh anew")


def oshrun():
    """The launcher."""
    _become("oshrun")


def oshcc():
    """The C compiler, told where the library is."""
    _become("oshcc")


def oshcxx():
    """The C++ compiler, told where the library is; the program looks at the name it is called by."""
    _become("oshcc", "oshc++")


def shmem_info():
    """What the library is and what it finds on this machine."""
    _become("shmem-info")

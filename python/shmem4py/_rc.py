"""Options of ``from shmem4py import shmem``: whether and how the import initialises."""
import os
import sys

_TRUE = ('true', 'yes', 'on', 'y', '1')
_FALSE = ('false', 'no', 'off', 'n', '0')
_LEVELS = ('single', 'funneled', 'serialized', 'multiple')


class Rc:
    """Options of ``from shmem4py import shmem``. Set them before that import.

    The environment has the last word: ``SHMEM4PY_RC_INITIALIZE``, ``..._THREADS``, ``..._THREAD_LEVEL`` and
    ``..._FINALIZE``.

    Attributes
    ----------
    initialize : bool
        Initialise when the module is imported (default: True).
    threads : bool
        Initialise with the thread level of the next option, not as ``init()`` does (default: False).
    thread_level : {"multiple", "serialized", "funneled", "single"}
        The thread level to ask for (default: "multiple").
    finalize : None or bool
        Accepted, and set to True by an import that initialises. The library finalizes at exit in any case.
    """

    initialize = True
    threads = False
    thread_level = 'multiple'
    finalize = None

    def __init__(self, **kwargs):
        self(**kwargs)

    def __setattr__(self, name, value):
        if not hasattr(self, name):
            raise TypeError(f'rc has no option {name!r}')
        super().__setattr__(name, value)

    def __call__(self, **kwargs):
        """Set several options at once. Either all of them or, when one does not exist (TypeError), none."""
        for name in kwargs:
            if not hasattr(self, name):
                raise TypeError(f'rc has no option {name!r}')
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self):
        return '<shmem4py.rc>'


Rc.__module__ = 'shmem4py'


def _flag(variable, text):
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError(f'{variable}={text}: true or false is needed')


def read_environment(rc):
    """Set the options that the environment names. Raises ValueError for values that mean nothing."""
    for name in ('initialize', 'threads', 'thread_level', 'finalize'):
        variable = f'SHMEM4PY_RC_{name.upper()}'
        text = os.environ.get(variable, '').lower()
        if not text:
            continue
        if name == 'thread_level':
            rc.thread_level = text
        elif name == 'finalize' and text == 'none':
            rc.finalize = None
        else:
            setattr(rc, name, _flag(variable, text))
    if str(rc.thread_level).lower() not in _LEVELS:
        raise ValueError(f'thread_level: {rc.thread_level!r} is none of {", ".join(_LEVELS)}')


rc = Rc()
# ``import shmem4py.rc`` gives the object, too.
sys.modules['shmem4py.rc'] = rc

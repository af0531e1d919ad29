"""Why there is no extension module for this interpreter."""
import glob
import importlib.machinery
import os
import sys


def explain(error):
    """Raise an ImportError that says so, if there is none; return if there is one that cannot be loaded."""
    here = os.path.dirname(os.path.abspath(__file__))
    if any(os.path.exists(os.path.join(here, '_core' + suffix)) for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        return
    others = ', '.join(sorted(os.path.basename(name) for name in glob.glob(os.path.join(here, '_core.*'))))
    raise ImportError(f'shmem4py in {here} has no extension module for Python {sys.version.split()[0]} ({sys.executable}): '
                      f'there is {others or "none at all"}; use the interpreter that it was built with, or build it for this '
                      f'one (make PYTHON={sys.executable}, or pip install .)') from error

"""Is the distribution ``shmem4py`` of PyPI installed, too? Its package has the name of ours."""
import os
import sys
import warnings


def _is_record(name):
    # What pip or setuptools leave behind; ours is called hbmesh.
    return name.startswith('shmem4py-') and name.endswith(('.dist-info', '.egg-info'))


def _is_extension(name):
    # The compiled module that it has and we have not. Python prefers it to an api.py beside it.
    return name.startswith('api.') and name.endswith('.so')


def _first(folder, wanted):
    try:
        names = sorted(filter(wanted, os.listdir(folder)))
    except OSError:
        return None
    return os.path.join(folder, names[0]) if names else None


def find(path=None, beside=None):
    """Where the distribution lies: a list of files and folders, empty when it is not installed.

    Looks in the folders of ``path`` (default: sys.path) that have a ``shmem4py``, and in ``beside``, a folder
    of that name (default: this package's).
    """
    entries = sys.path if path is None else path
    packages = [beside or os.path.dirname(os.path.abspath(__file__))]
    packages += [os.path.join(entry, 'shmem4py') for entry in entries if isinstance(entry, str)]
    found = []
    for package in dict.fromkeys(os.path.realpath(p) for p in packages if os.path.isdir(p)):
        place = _first(os.path.dirname(package), _is_record) or _first(package, _is_extension)
        if place:
            found.append(place)
    return found


def warn(path=None, beside=None):
    """Warn, on one PE, when the distribution is there. Returns what `find` finds."""
    found = find(path, beside)
    if found and os.environ.get('SHMEM_PE', '0') == '0':
        warnings.warn(
            f'the distribution shmem4py of PyPI is installed, too: {", ".join(found)}. Its package has the '
            'name of this one (of the distribution hbmesh), and a program may get parts of either. '
            'To remove it: pip uninstall shmem4py', stacklevel=3)
    return found

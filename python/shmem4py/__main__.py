"""``python3 -m shmem4py``: which package, which library, and how they are set up here."""
import os
import shutil
import subprocess
import sys

USAGE = """usage: python3 -m shmem4py [--version | --info | --help]

  --version  the package's name and version (also without any option)
  --info     versions, the files of extension module and library, PEs, and the options of the library
  --help     this text
"""


def _version():
    from . import __version__
    return f'shmem4py {__version__}'


def _tool(library):
    """shmem-info: of the build tree or wheel that the library is of, else that of PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.join(here, 'bin'), os.path.join(os.path.dirname(os.path.dirname(library)), 'bin')]
    found = (shutil.which('shmem-info', path=folder) for folder in folders)
    return next(filter(None, found), None) or shutil.which('shmem-info')


def _options(library):
    tool = _tool(library)
    if not tool:
        return 'options    shmem-info, which shows them, is not found'
    run = subprocess.run([tool, '--options'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                         encoding='utf-8', errors='replace')
    return f'options    from {tool}\n{run.stdout.rstrip()}'


def _module_version(name):
    try:
        module = __import__(name)
    except ImportError:
        return 'not installed'
    return module.__version__


def _info():
    from . import _api_library, _conflict, _core
    library = ', '.join(_api_library.paths()) or 'none in this process'
    pe, npes = os.environ.get('SHMEM_PE'), os.environ.get('SHMEM_NPES')
    major, minor = _core.info_get_version()
    lines = [
        _version(),
        f'library    {_core.info_get_name()}, OpenSHMEM {major}.{minor}',
        f'Python     {sys.version.split()[0]}, {sys.executable}',
        f'NumPy      {_module_version("numpy")}',
        f'cffi       {_module_version("cffi")}' + ' (for shmem4py.api only)',
        f'extension  {_core.__file__}',
        f'file       {library}',
        f'PEs        {f"this is PE {pe} of {npes}" if npes else "1, not under oshrun"}',
    ]
    found = _conflict.find()
    if found:
        lines.append(f'conflict   the distribution shmem4py of PyPI is there, too: {", ".join(found)}; '
                     'to remove it: pip uninstall shmem4py')
    lines.append(_options(library))
    return '\n'.join(lines)


def main(args=None):
    """What the options ask for; returns the exit status."""
    args = sys.argv[1:] if args is None else args
    if args in (['--help'], ['-h']):
        print(USAGE, end='')
    elif args == ['--info']:
        print(_info())
    elif args in ([], ['--version']):
        print(_version())
    else:
        print(f'shmem4py: what is {" ".join(args)}?\n{USAGE}', end='', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)

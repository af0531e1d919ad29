"""How `from shmem4py import shmem` starts and ends, and what surrounds it: each in a job of its own."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, SRC, launch_environment

REPORT = """
    from shmem4py import rc, shmem
    import shmem4py as shm
    print(shm.query_initialized(), rc.initialize, rc.threads, rc.thread_level, rc.finalize)
"""


def output(run):
    assert run.returncode == 0, run.stderr
    return sorted(run.stdout.splitlines())


def test_import_initialises(launch):
    assert output(launch(2, REPORT)) == ['True True False multiple True'] * 2


def test_import_of_the_package_does_nothing(launch):
    assert output(launch(2, 'import shmem4py\nprint(shmem4py.query_initialized())')) == ['False'] * 2


@pytest.mark.parametrize('setting, said', [
    ({'INITIALIZE': 'no'}, 'False False False multiple None'),
    ({'INITIALIZE': '0', 'FINALIZE': 'TRUE'}, 'False False False multiple True'),
    ({'THREADS': 'on', 'THREAD_LEVEL': 'Single'}, 'True True True single True'),
    ({'FINALIZE': 'false'}, 'True True False multiple False'),
])
def test_environment(launch, setting, said):
    env = {f'SHMEM4PY_RC_{name}': value for name, value in setting.items()}
    assert output(launch(1, REPORT, env=env)) == [said]


@pytest.mark.parametrize('name, value', [('INITIALIZE', 'perhaps'), ('THREAD_LEVEL', 'many')])
def test_environment_that_means_nothing(launch, name, value):
    run = launch(1, REPORT, env={f'SHMEM4PY_RC_{name}': value})
    assert run.returncode == 1
    assert 'ValueError' in run.stderr and value in run.stderr


def test_rc(launch):
    assert output(launch(1, """
        import shmem4py.rc
        from shmem4py import rc
        assert shmem4py.rc is rc
        rc(threads=True, thread_level='serialized')
        for wrong in (lambda: rc(colour=1), lambda: setattr(rc, 'colour', 1),
                      lambda: rc(threads=False, colour=1)):
            try:
                wrong()
            except TypeError as e:
                assert 'colour' in str(e)
            else:
                raise SystemExit('accepted')
        assert rc.threads and not hasattr(rc, 'colour')
        from shmem4py import shmem
        assert shmem.query_thread() >= shmem.THREAD_SERIALIZED
        print(rc)
    """)) == ['<shmem4py.rc>']


def test_inits_are_counted(launch):
    assert output(launch(2, """
        import shmem4py as shm
        shm.init()
        from shmem4py import shmem
        shmem.init()
        shmem.init_thread()
        for finalize in (shmem.finalize, shm.finalize, shmem.finalize):
            finalize()
            assert shm.query_initialized()
        shmem.finalize()
        assert not shm.query_initialized()
        try:
            shmem.my_pe()
        except RuntimeError as e:
            print(e)
    """)) == ['my_pe: called after shm.finalize; call shm.init again first'] * 2


def test_global_exit(launch):
    run = launch(3, """
        from shmem4py import shmem
        if shmem.my_pe() == 1:
            print('leaving')
            shmem.global_exit(7)
        shmem.barrier_all()
    """)
    assert run.returncode == 7
    assert 'leaving' in run.stdout


def test_spawned_children_do_not_initialise(launch):
    assert output(launch(2, """
        import multiprocessing
        from shmem4py import shmem

        def child(queue):
            try:
                queue.put(shmem.my_pe())
            except RuntimeError as e:
                queue.put(type(e).__name__)

        if __name__ == '__main__':
            spawn = multiprocessing.get_context('spawn')
            queue = spawn.Queue()
            process = spawn.Process(target=child, args=(queue,))
            process.start()
            print(queue.get(timeout=40))
            process.join()
            shmem.barrier_all()
    """)) == ['RuntimeError'] * 2


WITHOUT_CFFI = "import sys\nsys.modules['cffi'] = None\n"


def test_without_cffi(launch):
    assert output(launch(1, WITHOUT_CFFI + """
from shmem4py import shmem
shmem.free(shmem.zeros(3))
shmem.Team(shmem.TEAM_WORLD)
for use in (lambda: shmem.ffi, lambda: shmem.lib, lambda: __import__('shmem4py.api')):
    try:
        use()
    except ImportError as e:
        assert 'pip install cffi' in str(e)
        print('said')
    """)) == ['said'] * 3


def test_star_import_of_lib(launch):
    pytest.importorskip('cffi')
    assert output(launch(2, """
        from shmem4py.api import ffi
        from shmem4py.api.lib import *
        shmem_init()
        a = ffi.cast('int *', shmem_malloc(4))
        a[0] = -1
        shmem_barrier_all()
        shmem_int_p(a, shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes())
        shmem_barrier_all()
        print(a[0], SHMEM_MAJOR_VERSION)
        shmem_free(a)
        shmem_finalize()
    """)) == ['0 1', '1 1']


# --- python3 -m shmem4py ---

def module(*args, **env):
    return subprocess.run([sys.executable, '-m', 'shmem4py', *args], env=launch_environment(env), timeout=60,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize('args', [(), ('--version',)])
def test_main_says_the_version(args):
    import shmem4py
    run = module(*args)
    assert (run.returncode, run.stdout, run.stderr) == (0, f'shmem4py {shmem4py.__version__}\n', '')


def test_main_info():
    import numpy
    import shmem4py
    run = module('--info', SHMEM_SYMMETRIC_SIZE='5m')
    assert run.returncode == 0 and run.stderr == ''
    assert f'shmem4py {shmem4py.__version__}\n' in run.stdout
    for begin, what in (('library', shmem4py.VENDOR_STRING), ('NumPy', numpy.__version__),
                        ('extension', '_core'), ('file', 'libhbmesh.so'), ('PEs', 'not under oshrun')):
        assert [line for line in run.stdout.splitlines() if line.startswith(begin) and what in line], begin
    if os.path.exists(os.path.join(BUILD, 'bin', 'shmem-info')):
        assert 'SHMEM_SYMMETRIC_SIZE' in run.stdout and '5m' in run.stdout.lower()


def test_main_help_and_nonsense():
    run = module('--help')
    assert run.returncode == 0 and '--info' in run.stdout
    for args in (('--colour',), ('--info', 'more')):
        run = module(*args)
        assert run.returncode == 2 and run.stdout == ''
        assert args[-1] in run.stderr and 'usage' in run.stderr


# --- type stubs ---

GOOD = """
import numpy as np
import shmem4py as shm
from shmem4py import rc, shmem
rc.threads = True
level: shm.THREAD = shm.init()
x: shm.Array = shm.alloc((2, 3), dtype=np.float32)
shm.float_p(x[0, 1], 2.5, pe=1)
y = shm.float_get(x[1], pe=1) + 1
shm.int_atomic_add(shm.zeros(1, 'i'), 1, pe=0)
with shm.Ctx.create(shm.CTX.PRIVATE) as ctx:
    shm.put(x, np.zeros(6, np.float32), 0, ctx=ctx)
found: int | None = shmem.wait_until_any(np.zeros(2, 'i'), '==', 0)
mem: memoryview = shmem.alloc(3, size=8)
shmem.free(mem)
shmem.reduce(x, x, shmem.OP_MAX)
d: shm.DeviceArray = shm.alloc(4, dtype=np.float32, kind='ascend')
d[1:3].copy_from_host([1, 2])
shm.put(x[0, :2], d[1:3], 0)
shm.sum_reduce(d, d)
z = d[1].item() + d.copy_to_host()[2]
h: shm.Array = shm.zeros(3, kind='host')
team: shmem.Team = shmem.TEAM_WORLD.split_strided(size=2, num_contexts=1)
from shmem4py.api import ffi, lib
lib.shmem_int_p(ffi.new("int *"), 1, 0)
"""

WRONG = """
import shmem4py as shm
from shmem4py import rc, shmem
rc.colour = 1
shm.float_p(1.0)
shm.float_p(shm.zeros(1), 'one', pe=0)
shm.float_teleport(shm.zeros(1))
pe: str = shmem.my_pe()
shmem.put(shm.zeros(1), shm.zeros(1), 0, context=None)
"""


def test_stubs_are_of_this_package(tmp_path):
    source = os.path.join(SRC, 'python')
    script = os.path.join(source, 'make_stubs.py')
    subprocess.run([sys.executable, script, str(tmp_path)], env=launch_environment(), check=True, timeout=60)
    for name in ('__init__.pyi', 'shmem.pyi'):
        with open(os.path.join(source, 'shmem4py', name), encoding='ascii') as file:
            assert (tmp_path / name).read_text() == file.read(), 'run python/make_stubs.py'


def test_stubs_by_mypy(tmp_path):
    pytest.importorskip('mypy')
    for name, text in (('good', GOOD), ('wrong', WRONG)):
        (tmp_path / f'{name}.py').write_text(text)
    env = launch_environment({'MYPYPATH': os.path.join(BUILD, 'python')})

    def mypy(name):
        command = ['-m', 'mypy', '--strict', '--cache-dir', str(tmp_path / 'cache'), f'{name}.py']
        return subprocess.run([sys.executable, *command], cwd=tmp_path, env=env, timeout=300, text=True,
                              stdout=subprocess.PIPE)
    run = mypy('good')
    assert run.returncode == 0, run.stdout
    run = mypy('wrong')
    lines = {int(line.split(':')[1]) for line in run.stdout.splitlines() if ': error:' in line}
    assert lines == set(range(4, 10)), run.stdout


# --- the distribution of PyPI ---

def installed(folder):
    (folder / 'shmem4py').mkdir(parents=True)
    (folder / 'shmem4py' / 'api.cpython-311-x86_64-linux-gnu.so').touch()
    (folder / 'shmem4py-1.0.0.dist-info').mkdir()
    return folder


def test_conflict_is_found(tmp_path):
    from shmem4py import _conflict
    there = installed(tmp_path / 'there')
    record = str(there / 'shmem4py-1.0.0.dist-info')
    ours = tmp_path / 'ours' / 'shmem4py'
    ours.mkdir(parents=True)
    (tmp_path / 'ours' / 'hbmesh-0.1.0.dist-info').mkdir()
    path = [str(ours.parent), '', '/nowhere', None, str(there), str(there)]
    assert _conflict.find(path, str(ours)) == [record]
    assert _conflict.find([], str(there / 'shmem4py')) == [record]
    (there / 'shmem4py-1.0.0.dist-info').rmdir()
    extension = str(there / 'shmem4py' / 'api.cpython-311-x86_64-linux-gnu.so')
    assert _conflict.find([str(there)], str(ours)) == [extension]
    assert _conflict.find([str(ours.parent)], str(ours)) == []


def test_conflict_is_said_once(tmp_path, launch):
    there = installed(tmp_path / 'there')
    run = launch(3, f"""
        import sys
        sys.path.append({str(there)!r})
        import shmem4py
        import importlib
        from shmem4py import shmem
    """)
    assert run.returncode == 0
    assert run.stderr.count('pip uninstall shmem4py') == 1
    assert str(there / 'shmem4py-1.0.0.dist-info') in run.stderr


def test_without_an_extension_for_this_interpreter(tmp_path):
    """The import names what there is and what runs, and not a circular import."""
    package = tmp_path / "shmem4py"
    package.mkdir()
    import shmem4py
    for name in os.listdir(os.path.dirname(shmem4py.__file__)):
        if name.endswith(".py"):
            shutil.copy(os.path.join(os.path.dirname(shmem4py.__file__), name), package / name)
    (package / "_core.cpython-38-nonsense.so").write_bytes(b"")
    r = subprocess.run([sys.executable, "-c", "import shmem4py"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
                       stderr=subprocess.PIPE, text=True)
    last = r.stderr.strip().split("\n")[-1]
    assert r.returncode == 1 and "_core.cpython-38-nonsense.so" in last and sys.executable in last, r.stderr

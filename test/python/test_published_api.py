"""shmem4py.api: the functions of C through cffi, on the same library as everything else."""
# npes: 1 2
import numpy as np
import pytest

pytest.importorskip('cffi')

from shmem4py import shmem                          # noqa: E402
from shmem4py.api import ffi, lib                   # noqa: E402
from shmem4py.api.lib import *                      # noqa: E402,F401,F403
import shmem4py.api.lib as lib_module               # noqa: E402

ME, N = shmem.my_pe(), shmem.n_pes()
NEXT, BEFORE = (ME + 1) % N, (ME - 1) % N


def test_one_lib():
    assert lib_module is lib is shmem.lib
    assert ffi is shmem.ffi
    assert shmem_n_pes() == lib.shmem_n_pes() == N      # noqa: F405
    with pytest.raises(AttributeError, match='shmem_teleport'):
        lib.shmem_teleport
    with pytest.raises(AttributeError):
        shmem.teleport


def test_constants_and_handles():
    assert lib.SHMEM_MAJOR_VERSION == SHMEM_MAJOR_VERSION == shmem.MAJOR_VERSION        # noqa: F405
    assert ffi.string(lib.SHMEM_VENDOR_STRING).decode() == shmem.VENDOR_STRING
    assert (lib.SHMEM_CMP_EQ, lib.SHMEM_THREAD_MULTIPLE, lib.SHMEM_CTX_NOSTORE) == (1, 3, 4)
    assert lib.SHMEM_TEAM_NUM_CONTEXTS == 1
    assert lib.shmem_team_n_pes(lib.SHMEM_TEAM_WORLD) == N
    assert ffi.typeof(lib.SHMEM_CTX_DEFAULT) is ffi.typeof('shmem_ctx_t')
    name = ffi.new('char[]', lib.SHMEM_MAX_NAME_LEN)
    lib.shmem_info_get_name(name)
    assert ffi.string(name).decode() == shmem.VENDOR_STRING


def test_every_declaration_is_in_the_library():
    names = [name for name in dir(lib) if not name.isupper()]
    assert len(names) > 2000
    for name in names:
        assert callable(getattr(lib, name)), name


def test_calls_of_c():
    a = ffi.cast('long *', lib.shmem_malloc(4 * ffi.sizeof('long')))
    source = ffi.new('long[]', [ME, 1, 2, 3])
    lib.shmem_barrier_all()
    lib.shmem_long_put(a, source, 4, NEXT)
    lib.shmem_barrier_all()
    assert list(a[0:4]) == [BEFORE, 1, 2, 3]
    z = ffi.cast('double _Complex *', lib.shmem_calloc(2, 16))
    ffi.memmove(z, np.full(1, 1 + ME * 1j), 16)
    lib.shmem_barrier_all()
    lib.shmem_complexd_sum_reduce(lib.SHMEM_TEAM_WORLD, z + 1, z, 1)
    assert np.frombuffer(ffi.buffer(z + 1, 16), 'D')[0] == N + 1j * (N * (N - 1) // 2)
    lib.shmem_free(z)
    lib.shmem_free(a)


def test_memory_of_c_is_symmetric():
    p = lib.shmem_calloc(8, 8)
    a = np.frombuffer(ffi.buffer(p, 64), 'i8')
    shmem.barrier_all()
    shmem.put(a, np.arange(8) + ME, NEXT)
    shmem.barrier_all()
    assert list(a) == list(range(BEFORE, BEFORE + 8))
    shmem.barrier_all()
    assert shmem.atomic_fetch_add(a[3:4], 1, NEXT) == ME + 3
    shmem.barrier_all()
    lib.shmem_free(p)


def test_arrays_and_signals_for_c():
    a, signal = shmem.zeros(2), shmem.new_signal()
    there = ffi.from_buffer('uint64_t[]', signal)
    shmem.barrier_all()
    lib.shmem_double_put_signal(ffi.from_buffer('double[]', a), ffi.new('double[]', [ME, 2]), 2, there, 5,
                                lib.SHMEM_SIGNAL_SET, NEXT)
    assert lib.shmem_signal_wait_until(there, lib.SHMEM_CMP_EQ, 5) == 5
    assert list(a) == [BEFORE, 2]
    shmem.del_signal(signal)
    shmem.free(a)


def test_handles_cross():
    ctx = ffi.new('shmem_ctx_t *')
    assert lib.shmem_ctx_create(0, ctx) == 0
    with shmem.Ctx(ctx[0]) as wrapped:
        assert wrapped and wrapped != shmem.CTX_DEFAULT
        assert wrapped.ob_ctx == ctx[0]
        wrapped.quiet()
    assert shmem.Ctx(lib.SHMEM_CTX_DEFAULT) == shmem.CTX_DEFAULT
    assert shmem.Team(lib.SHMEM_TEAM_WORLD) == shmem.TEAM_WORLD
    assert shmem.TEAM_WORLD.ob_team == lib.SHMEM_TEAM_WORLD
    for wrong in (ffi.cast('int', 0), lib.SHMEM_TEAM_WORLD):
        with pytest.raises(TypeError):
            shmem.Ctx(wrong)


def test_inits_are_counted_together(shm):
    provided = ffi.new('int *')
    lib.shmem_init()
    assert lib.shmem_init_thread(lib.SHMEM_THREAD_MULTIPLE, provided) == 0
    assert provided[0] == shmem.query_thread()
    lib.shmem_finalize()
    shm.finalize()
    assert shm.my_pe() == ME
    shmem.barrier_all()


def test_getbuffer():
    for dtype, name in (('i', 'int'), ('l', 'long'), ('d', 'double'), ('B', 'uchar'), ('g', 'longdouble'),
                        ('F', 'complexf')):
        cdata, size, kind = shmem._getbuffer(np.zeros((2, 3), dtype))
        assert isinstance(cdata, ffi.CData) and (size, kind) == (6, name)
    with pytest.raises(TypeError):
        shmem._getbuffer(np.zeros(2, 'e'))

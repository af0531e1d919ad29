"""Device memory in jobs of their own: small heaps, finalize, jobs that have none, kinds by the environment."""

import os

import pytest

KIND = os.environ.get("SHMEM_HEAP_KIND", "host")
pytestmark = pytest.mark.skipif(KIND == "host", reason="SHMEM_HEAP_KIND is no kind of device memory")
# launch() begins with nothing of this process's job.
DEVICE = {name: value for name, value in os.environ.items() if name.startswith("SHMEM_") and name != "SHMEM_PE"}


def said(r, text):
    assert r.returncode == 0 and r.stdout == text and r.stderr == "", (r.stdout, r.stderr)


def test_job_without_a_device_heap(launch):
    r = launch(2, f"""
        import shmem4py as shm
        shm.init()
        assert shm.device_info() is None and type(shm.alloc(3, kind='host')) is shm.Array
        try:
            shm.alloc(3, kind={KIND!r})
        except ValueError as e:
            assert str(e) == "kind: this job has no heap of kind '{KIND}'; it has 'host' (SHMEM_HEAP_KIND)", e
            print('ok')
    """)
    said(r, "ok\n" * 2)


def test_malloc_on_host(launch):
    """SHMEM_MALLOC_ON: who asks for nothing gets ndarrays; the device heap is there for those who ask."""
    r = launch(2, f"""
        import numpy as np
        import shmem4py as shm
        shm.init()
        me = shm.my_pe()
        x, y = shm.full(4, me), shm.full(4, me, kind={KIND!r})
        assert type(x) is shm.Array and type(y) is shm.DeviceArray
        shm.put(y, x, 1 - me)
        shm.barrier_all()
        assert (y.copy_to_host() == 1 - me).all()
        print('ok')
    """, env={**DEVICE, "SHMEM_MALLOC_ON": "host"})
    said(r, "ok\n" * 2)


def test_freed_arrays_make_room_while_variables_hold_them(launch):
    r = launch(2, """
        import shmem4py as shm
        shm.init()
        HALF = 5_000_000    # two such arrays do not fit the heap
        x = shm.full(HALF, 9.0)
        views = [x[3:], x[7]]
        shm.free(x)
        y = shm.zeros(HALF)
        assert not y.copy_to_host().any() and not shm.is_symmetric(x) and shm.is_symmetric(y)
        for stale in (x, *views):
            try:
                stale.copy_to_host()
            except RuntimeError as e:
                assert 'freed' in str(e)
            else:
                raise SystemExit('it read freed memory')
        try:
            shm.zeros(HALF)
        except MemoryError as e:
            assert 'does not fit the symmetric heap of kind' in str(e) and '40000000 bytes are in arrays' in str(e), e
            print('ok')
        assert type(shm.zeros(HALF, kind='host')) is shm.Array, 'the heap of the host has room of its own'
    """, env={**DEVICE, "SHMEM_SYMMETRIC_SIZE": "64M"})
    said(r, "ok\n" * 2)


def test_after_finalize(launch):
    r = launch(2, """
        import shmem4py as shm
        shm.init()
        x = shm.ones(4)
        try:
            with shm.alloc(3) as y:
                shm.finalize()
        except RuntimeError:
            pass
        assert 'of before finalize' in repr(x)
        for use in (x.copy_to_host, lambda: x.copy_from_host(1), lambda: shm.double_get(x, pe=0), shm.device_info):
            try:
                use()
            except RuntimeError as e:
                assert 'after shm.finalize' in str(e), e
        shm.init()
        try:
            x.copy_to_host()
        except RuntimeError as e:
            assert 'made before shm.finalize' in str(e), e
        z = shm.ones(4)
        assert z.copy_to_host().tolist() == [1] * 4
        del x, y
        shm.free(z)
        print('ok')
    """, env=DEVICE)
    said(r, "ok\n" * 2)


def test_children_and_threads(launch):
    r = launch(2, """
        import os, threading
        import shmem4py as shm
        shm.init()
        x = shm.ones(4)
        if os.fork() == 0:
            try:
                x.copy_to_host()
            except RuntimeError as e:
                os._exit('child of PE' not in str(e))
            os._exit(2)
        assert os.wait()[1] == 0
        seen = []
        thread = threading.Thread(target=lambda: seen.append(x[1].item()))
        thread.start()
        thread.join()
        assert seen == [1.0]
        print('ok')
    """, env=DEVICE)
    said(r, "ok\n" * 2)


def test_a_pe_that_dies_ends_the_job(launch):
    r = launch(3, """
        import shmem4py as shm
        shm.init()
        x = shm.zeros(1, dtype='i8')
        if shm.my_pe() == 1:
            raise ValueError('PE 1 has had enough')
        shm.wait_until(x[0], 'ne', 0)
    """, env=DEVICE)
    assert r.returncode == 1 and "PE 1 has had enough" in r.stderr, (r.stdout, r.stderr)


def test_ctrl_c_in_a_wait(launch):
    r = launch(1, """
        import os, signal, threading
        import shmem4py as shm
        shm.init()
        x = shm.zeros(1, dtype='i8')
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            shm.wait_until(x[0], 'ne', 0)
        except KeyboardInterrupt:
            print('ok')
    """, env=DEVICE)
    said(r, "ok\n")

"""shmem4py.shmem: the calls, as the published package has them."""
# npes: 1 2 4
import inspect

import numpy as np
import pytest

from shmem4py import shmem

ME, N = shmem.my_pe(), shmem.n_pes()
NEXT, BEFORE = (ME + 1) % N, (ME - 1) % N

# The functions of the published package with their arguments; "x=" has a default, None where not said.
SIGNATURES = """
info_get_version() info_get_name() init() finalize() global_exit(status=0) init_thread(requested=3)
query_thread() my_pe() n_pes() pe_accessible(pe) addr_accessible(addr,pe) ptr(target,pe)
alloc(count,size=1,align=,hints=,clear=True) free(mem) fromalloc(mem,shape=,dtype=,order='C')
new_array(shape,dtype=float,order='C',align=,hints=,clear=True) del_array(a)
array(obj,dtype=,order='K',align=,hints=) empty(shape,dtype=float,order='C',align=,hints=)
zeros(shape,dtype=float,order='C',align=,hints=) ones(shape,dtype=float,order='C',align=,hints=)
full(shape,fill_value,dtype=,order='C',align=,hints=) put(target,source,pe,size=,ctx=)
get(target,source,pe,size=,ctx=) iput(target,source,pe,tst=1,sst=1,size=,ctx=)
iget(target,source,pe,tst=1,sst=1,size=,ctx=) put_nbi(target,source,pe,size=,ctx=)
get_nbi(target,source,pe,size=,ctx=) atomic_set(target,value,pe,ctx=) atomic_inc(target,pe,ctx=)
atomic_add(target,value,pe,ctx=) atomic_and(target,value,pe,ctx=) atomic_or(target,value,pe,ctx=)
atomic_xor(target,value,pe,ctx=) atomic_fetch(source,pe,ctx=) atomic_swap(target,value,pe,ctx=)
atomic_compare_swap(target,cond,value,pe,ctx=) atomic_fetch_inc(target,pe,ctx=)
atomic_fetch_add(target,value,pe,ctx=) atomic_fetch_and(target,value,pe,ctx=)
atomic_fetch_or(target,value,pe,ctx=) atomic_fetch_xor(target,value,pe,ctx=)
atomic_fetch_nbi(fetch,source,pe,ctx=) atomic_swap_nbi(fetch,target,value,pe,ctx=)
atomic_compare_swap_nbi(fetch,target,cond,value,pe,ctx=) atomic_fetch_inc_nbi(fetch,target,pe,ctx=)
atomic_fetch_add_nbi(fetch,target,value,pe,ctx=) atomic_fetch_and_nbi(fetch,target,value,pe,ctx=)
atomic_fetch_or_nbi(fetch,target,value,pe,ctx=) atomic_fetch_xor_nbi(fetch,target,value,pe,ctx=)
atomic_op(target,value,op,pe,ctx=) atomic_fetch_op(target,value,op,pe,ctx=)
atomic_fetch_op_nbi(fetch,target,value,op,pe,ctx=) new_signal() del_signal(signal) signal_fetch(signal)
signal_wait_until(signal,cmp,value) put_signal(target,source,pe,signal,value,sigop,size=,ctx=)
put_signal_nbi(target,source,pe,signal,value,sigop,size=,ctx=) barrier_all() sync_all() sync(team=)
broadcast(target,source,root,size=,team=) collect(target,source,size=,team=)
fcollect(target,source,size=,team=) alltoall(target,source,size=,team=)
alltoalls(target,source,tst=1,sst=1,size=,team=) reduce(target,source,op='sum',size=,team=)
and_reduce(target,source,size=,team=) or_reduce(target,source,size=,team=)
xor_reduce(target,source,size=,team=) max_reduce(target,source,size=,team=)
min_reduce(target,source,size=,team=) sum_reduce(target,source,size=,team=)
prod_reduce(target,source,size=,team=) wait_until(ivar,cmp,value) wait_until_all(ivars,cmp,value,status=)
wait_until_any(ivars,cmp,value,status=) wait_until_some(ivars,cmp,value,status=)
wait_until_all_vector(ivars,cmp,values,status=) wait_until_any_vector(ivars,cmp,values,status=)
wait_until_some_vector(ivars,cmp,values,status=) test(ivar,cmp,value) test_all(ivars,cmp,value,status=)
test_any(ivars,cmp,value,status=) test_some(ivars,cmp,value,status=) test_all_vector(ivars,cmp,values,status=)
test_any_vector(ivars,cmp,values,status=) test_some_vector(ivars,cmp,values,status=) fence(ctx=) quiet(ctx=)
new_lock() del_lock(lock) set_lock(lock) test_lock(lock) clear_lock(lock) pcontrol(level=1)
Ctx.create(options=0,team=) Ctx.destroy() Ctx.get_team() Ctx.fence() Ctx.quiet() Team.destroy()
Team.split_strided(start=0,stride=1,size=,config=,**kwargs) Team.get_config() Team.my_pe() Team.n_pes()
Team.translate_pe(pe=,team=) Team.create_ctx(options=0) Team.sync() Lock.destroy() Lock.acquire(blocking=True)
Lock.release()
""".split()


def lookup(name):
    found = shmem
    for part in name.split('.'):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize('wanted', SIGNATURES)
def test_signature(wanted):
    name, _, arguments = wanted.rstrip(')').partition('(')
    parameters = [p for p in inspect.signature(lookup(name)).parameters.values() if p.name != 'self']
    expected = arguments.split(',') if arguments else []
    names = [('**' if p.kind is p.VAR_KEYWORD else '') + p.name for p in parameters]
    assert names == [e.partition('=')[0] for e in expected]
    for parameter, text in zip(parameters, expected):
        if '=' in text:
            assert parameter.default == eval(text.partition('=')[2] or 'None')
        elif not text.startswith('**'):
            assert parameter.default is parameter.empty


def test_constants():
    for kind in (shmem.THREAD, shmem.CTX, shmem.MALLOC, shmem.AMO, shmem.SIGNAL, shmem.OP, shmem.CMP):
        for name, member in kind.__members__.items():
            assert getattr(shmem, f'{kind.__name__}_{name}') is member
            assert member.name == name
    assert [str(op) for op in shmem.OP] == 'and or xor max min sum prod'.split()
    assert f'{shmem.AMO_ADD}' == 'add'
    assert shmem.info_get_version() == (shmem.MAJOR_VERSION, shmem.MINOR_VERSION)
    assert shmem.info_get_name() == shmem.VENDOR_STRING
    assert isinstance(shmem.query_thread(), shmem.THREAD)


@pytest.fixture
def word():
    """word(dtype, value): a symmetric array of one element."""
    made = []

    def make(dtype, value=0):
        made.append(shmem.full(1, value, dtype))
        return made[-1]
    yield make
    shmem.barrier_all()
    for a in made:
        shmem.free(a)


@pytest.mark.parametrize('dtype, kind', [('i', int), ('Q', int), ('f', float), ('d', float)])
def test_atomics_return_python_numbers(word, dtype, kind):
    a = word(dtype, ME)
    assert type(shmem.atomic_fetch(a, NEXT)) is kind
    assert shmem.atomic_fetch(a, NEXT) == NEXT
    shmem.barrier_all()
    old = shmem.atomic_swap(a, 50, NEXT)
    assert (type(old), old) == (kind, NEXT)
    shmem.barrier_all()
    old = shmem.atomic_fetch_op(a, 60, 'set', NEXT)
    assert (type(old), old) == (kind, 50)
    shmem.barrier_all()
    if kind is int:
        calls = [(shmem.atomic_fetch_add, 60)]
        if dtype == 'Q':
            calls += [(shmem.atomic_fetch_or, 61), (shmem.atomic_fetch_and, 61), (shmem.atomic_fetch_xor, 1)]
        for call, value in calls:
            old = call(a, 1, NEXT)
            assert (type(old), old) == (int, value)
        old = shmem.atomic_fetch_inc(a, NEXT)
        assert type(old) is int
        assert type(shmem.atomic_compare_swap(a, old + 1, 7, NEXT)) is int
        shmem.barrier_all()
        assert a[0] == 7


def test_atomic_op(word):
    a, old = word('Q'), np.zeros(1, 'Q')
    for op, value, result in (('set', 12, 12), (shmem.AMO_INC, None, 13), ('ADD', 2, 15), ('and', 6, 6),
                              ('or', 1, 7), ('xor', 2, 5)):
        before = shmem.atomic_fetch(a, NEXT)
        shmem.atomic_op(a, value, op, NEXT)
        assert shmem.atomic_fetch(a, NEXT) == result
        shmem.atomic_set(a, before, NEXT)
        assert shmem.atomic_fetch_op(a, value, op, NEXT) == before
        assert shmem.atomic_fetch(a, NEXT) == result
        shmem.atomic_set(a, before, NEXT)
        shmem.atomic_fetch_op_nbi(old, a, value, op, NEXT)
        shmem.quiet()
        assert old[0] == before and shmem.atomic_fetch(a, NEXT) == result
    with pytest.raises(ValueError, match='op'):
        shmem.atomic_op(a, 1, 'nand', NEXT)
    with pytest.raises(TypeError, match='op'):
        shmem.atomic_op(a, 1, 3, NEXT)


def test_put_and_get_return_nothing():
    a, b = shmem.zeros(4, 'i'), np.arange(4, dtype='i')
    assert shmem.put(a, b, NEXT) is None
    shmem.barrier_all()
    c = np.zeros(4, 'i')
    assert shmem.get(c, a, NEXT, size=2) is None
    assert list(c) == [0, 1, 0, 0]
    shmem.barrier_all()
    shmem.iput(a, b, NEXT, tst=2)
    shmem.barrier_all()
    assert list(a) == [0, 1, 1, 3]
    shmem.free(a)


def test_bad_arguments():
    a = shmem.zeros(4, 'i')
    for error, bad in (
            (TypeError, lambda: shmem.put(a, np.zeros(4, 'f'), 0)),
            (TypeError, lambda: shmem.get([0], a, 0)),
            (ValueError, lambda: shmem.put(a, np.zeros(4, 'i'), 0, size=5)),
            (ValueError, lambda: shmem.put(np.zeros(4, 'i'), np.zeros(4, 'i'), 0)),
            (IndexError, lambda: shmem.put(a, np.zeros(4, 'i'), N)),
            (ValueError, lambda: shmem.atomic_inc(a, 0)),
            (ValueError, lambda: shmem.reduce(a, a, 'mean')),
            (TypeError, lambda: shmem.reduce(a, a, 1)),
            (TypeError, lambda: shmem.sync(0)),
            (ValueError, lambda: shmem.wait_until(a[:1], 'about', 1))):
        with pytest.raises(error):
            bad()
    shmem.barrier_all()
    shmem.free(a)


def test_waits_and_tests():
    a = shmem.zeros(4, 'i')
    shmem.barrier_all()
    shmem.put(a, np.array([5, 0, 7, 7], 'i'), NEXT)
    shmem.barrier_all()
    assert shmem.wait_until(a[:1], '==', 5) is None
    assert shmem.wait_until(a[..., 0], shmem.CMP_EQ, 5) is None
    assert shmem.test(a[1:2], 'ne', 0) is False
    assert shmem.test(a[:1], '>=', 5) is True
    assert shmem.wait_until_all(a, '>=', 0) is None
    assert shmem.test_all(a, '>', 0) is False
    assert shmem.test_all(a, '>', 0, status=[0, 1, 0, 0]) is True
    assert shmem.wait_until_any(a, '==', 0) == 1
    assert shmem.test_any(a, '==', 9) is None
    assert shmem.test_any(a, '==', 0, [1] * 4) is None
    some = shmem.wait_until_some(a, 'eq', 7)
    assert type(some) is list and some == [2, 3]
    assert shmem.test_some(a, 'eq', 9) == []
    assert shmem.test_all_vector(a, '==', [5, 0, 7, 7]) is True
    assert shmem.test_any_vector(a, '==', [0, 1, 7, 0]) == 2
    assert shmem.test_some_vector(a, '==', np.array([5, 1, 7, 0])) == [0, 2]
    shmem.wait_until_all_vector(a, 'le', [5, 0, 7, 9])
    assert shmem.wait_until_any_vector(a, '==', [0, 0, 0, 0]) == 1
    assert shmem.wait_until_some_vector(a, '==', [5, 1, 1, 7]) == [0, 3]
    shmem.barrier_all()
    shmem.free(a)


def test_signals():
    signal, data = shmem.new_signal(), shmem.zeros(2)
    assert shmem.signal_fetch(signal) == 0
    shmem.barrier_all()
    assert shmem.put_signal(data, np.full(2, ME + 1.), NEXT, signal, 4, shmem.SIGNAL_SET) is None
    shmem.put_signal_nbi(data, np.full(2, ME + 1.), NEXT, signal, 3, shmem.SIGNAL_ADD)
    value = shmem.signal_wait_until(signal, 'eq', 7)
    assert (type(value), value) == (int, 7)
    assert (data == BEFORE + 1).all()
    assert signal[0] == 7
    shmem.barrier_all()
    signal[0] = 1
    assert shmem.signal_fetch(signal) == 1
    shmem.del_signal(signal)
    shmem.del_signal(signal)
    for wrong in (data, None, 3):
        with pytest.raises(TypeError, match='signal'):
            shmem.del_signal(wrong)
    shmem.free(data)


def test_locks():
    lock, count, mine = shmem.new_lock(), shmem.zeros(1, 'i'), np.zeros(1, 'i')
    shmem.barrier_all()
    for _ in range(20):
        shmem.set_lock(lock)
        shmem.get(mine, count, 0)
        mine += 1
        shmem.put(count, mine, 0)
        shmem.clear_lock(lock)
    shmem.barrier_all()
    assert shmem.atomic_fetch(count, 0) == 20 * N
    shmem.barrier_all()
    if ME == 0:
        assert shmem.test_lock(lock) is False
    shmem.barrier_all()
    if ME != 0:
        assert shmem.test_lock(lock) is True
    shmem.barrier_all()
    if ME == 0:
        shmem.clear_lock(lock)
    shmem.del_lock(lock)
    shmem.del_lock(lock)
    shmem.free(count)


def test_lock_object():
    lock, count = shmem.Lock(), shmem.zeros(1, 'i')
    for _ in range(20):
        with lock:
            there = shmem.ptr(count, 0)
            there[0] += 1
    shmem.barrier_all()
    assert shmem.atomic_fetch(count, 0) == 20 * N
    shmem.barrier_all()
    if ME == 0:
        assert lock.acquire(False) is True
        lock.release()
    lock.destroy()
    lock.destroy()
    for call in (lock.acquire, lock.release):
        with pytest.raises(RuntimeError):
            call()
    shmem.free(count)


def test_reductions():
    a, b = shmem.full(3, ME + 1, 'L'), shmem.zeros(3, 'L')
    values = np.arange(1, N + 1)
    for op, ufunc in (('and', np.bitwise_and), ('or', np.bitwise_or), ('xor', np.bitwise_xor),
                      ('max', np.maximum), ('min', np.minimum), ('sum', np.add), ('prod', np.multiply)):
        b[...] = 99
        shmem.barrier_all()
        shmem.reduce(b, a, op, 2)
        assert list(b) == [ufunc.reduce(values)] * 2 + [99]
        b[...] = 99
        shmem.barrier_all()
        getattr(shmem, f'{op}_reduce')(b, a, team=shmem.TEAM_WORLD)
        assert (b == ufunc.reduce(values)).all()
    shmem.free(a)
    shmem.free(b)


def test_contexts_and_teams():
    assert shmem.Ctx() == shmem.CTX_INVALID and not shmem.CTX_INVALID and shmem.CTX_DEFAULT
    assert shmem.Team(shmem.TEAM_WORLD) == shmem.TEAM_WORLD != shmem.TEAM_INVALID
    with shmem.Ctx.create(shmem.CTX_SERIALIZED) as ctx:
        assert type(ctx) is shmem.Ctx
        a = shmem.zeros(1, 'i')
        shmem.put(a, np.full(1, ME, 'i'), NEXT, ctx=ctx)
        ctx.quiet()
        shmem.barrier_all()
        assert a[0] == BEFORE
        assert ctx.get_team() == shmem.TEAM_WORLD
        shmem.free(a)
    assert ctx == shmem.CTX_INVALID
    team = shmem.TEAM_WORLD.split_strided(0, 1, N, {'num_contexts': 1})
    assert type(team) is shmem.Team
    assert (team.my_pe(), team.n_pes(), team.translate_pe(0)) == (ME, N, 0)
    assert team.get_config() == {'num_contexts': 1}
    team.sync()
    shmem.sync(team)
    team.create_ctx().destroy()
    team.destroy()
    assert not team
    shmem.TEAM_WORLD.destroy()
    assert shmem.TEAM_WORLD
    for wrong in (123, 'world', shmem.CTX_DEFAULT):
        with pytest.raises(TypeError):
            shmem.Team(wrong)
    with pytest.raises(RuntimeError):
        shmem.TEAM_INVALID.my_pe()


@pytest.mark.parametrize('dtype', ['?', 'e', 'G', 'S3', 'M8[s]', [('a', 'i4'), ('b', 'f8')]])
def test_other_dtypes_are_moved_as_bytes(dtype):
    size = np.dtype(dtype).itemsize
    bits = np.array([1, 0], '?') if dtype == '?' else np.frombuffer(bytes(range(1, 1 + 2 * size)), dtype)
    a, b = shmem.zeros(2, dtype), shmem.zeros(2 * N, dtype)
    shmem.barrier_all()
    shmem.put(a, bits, NEXT)
    shmem.barrier_all()
    assert a.tobytes() == bits.tobytes()
    mine = np.zeros(2, dtype)
    shmem.get(mine, a, NEXT)
    assert mine.tobytes() == bits.tobytes()
    shmem.fcollect(b, a)
    assert b.tobytes() == bits.tobytes() * N
    with pytest.raises(TypeError):
        shmem.sum_reduce(a, a)
    with pytest.raises(TypeError):
        shmem.atomic_add(a[:1], 1, NEXT)
    shmem.barrier_all()
    shmem.free(a)
    shmem.free(b)


def test_dtypes_of_one_kind_and_size_are_one():
    a = shmem.zeros(2, 'l')
    shmem.barrier_all()
    shmem.put(a, np.array([1, 2], 'q'), NEXT)
    shmem.barrier_all()
    assert list(a) == [1, 2]
    shmem.free(a)


def test_as_many_as_both_have():
    a, b = shmem.zeros(5, 'i'), shmem.ones(3, 'i')
    shmem.barrier_all()
    shmem.put(a, b, NEXT)
    shmem.barrier_all()
    assert list(a) == [1, 1, 1, 0, 0]
    shmem.broadcast(b, a, 0)
    shmem.sum_reduce(a, b)
    assert list(a) == [N, N, N, 0, 0]
    shmem.barrier_all()
    shmem.free(a)
    shmem.free(b)

"""What calls of the Python package cost, each beside its measure in the same run.

    oshrun -n 2 python3 bench/python/calls.py

PE 0 measures, on the memory of the last PE. Repeats, interleaved; the median of the best of each round. The module `empty`
(empty.c, compiled by bench/run.sh) is an empty function of the same signature.
"""
import statistics
import sys
import timeit

import numpy as np
import shmem4py as shm

ROUNDS = 9


def measure(rows, number=50000):
    """{name: (statement, names)} -> {name: ns}, interleaved."""
    samples = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, (statement, names) in rows.items():
            timer = timeit.Timer(statement, globals=names)
            samples[name].append(min(timer.repeat(3, number)) / number * 1e9)
    return {name: statistics.median(s) for name, s in samples.items()}


def show(title, ns, measure_name):
    print(f"\n{title}")
    for name, value in ns.items():
        ratio = "" if name == measure_name else f"{value / ns[measure_name]:8.2f}"
        print(f"  {name:58s} {value:10.1f} ns {ratio}")


def elements(pe):
    from empty import empty
    x = shm.alloc(1000, dtype=np.float32)
    k = shm.alloc(1000, dtype=np.int64)
    y = np.zeros(1000, np.float32)
    shm.barrier_all()
    if shm.my_pe() == 0:
        names = dict(shm=shm, x=x, y=y, k=k, i=5, p=pe, e=x[5], v=np.float32(2), empty=empty, a=k[5:6], n=k[5])
        show("elements: ratio to y[i] of NumPy", measure({
            "y[i]": ("y[i]", names),
            "x[i]": ("x[i]", names),
            "shm.float_get(x[i], pe=p)": ("shm.float_get(x[i], pe=p)", names),
            "shm.float_p(x[i], v, pe=p)": ("shm.float_p(x[i], v, pe=p)", names),
            "shm.long_atomic_fetch_add(k[i], 1, pe=p)": ("shm.long_atomic_fetch_add(k[i], 1, pe=p)", names),
        }), "y[i]")
        show("calls: ratio to an empty function of the signature", measure({
            "empty(e, pe=p)": ("empty(e, pe=p)", names),
            "float_get(e, pe=p)": ("float_get(e, pe=p)", dict(names, float_get=shm.float_get)),
            "float_p(e, v, pe=p)": ("float_p(e, v, pe=p)", dict(names, float_p=shm.float_p)),
            "long_atomic_fetch_add(n, 1, pe=p)": ("fetch_add(n, 1, pe=p)",
                                                  dict(names, fetch_add=shm.long_atomic_fetch_add)),
        }), "empty(e, pe=p)")
    shm.barrier_all()


def bulk(pe):
    n = 1 << 18
    x = shm.alloc(n, dtype=np.float32)
    local, other = np.ones(n, np.float32), np.ones(n, np.float32)
    shm.barrier_all()
    if shm.my_pe() == 0:
        names = dict(np=np, shm=shm, x=x, local=local, other=other, p=pe)
        show("1 MiB: ratio to numpy.copyto", measure({
            "np.copyto(other, local)": ("np.copyto(other, local)", names),
            "shm.put(x, local, p)": ("shm.put(x, local, p)", names),
            "shm.get(local, x, p)": ("shm.get(local, x, p)", names),
        }, number=500), "np.copyto(other, local)")
    shm.barrier_all()


def gather(total):
    npes = shm.n_pes()
    n = total // npes // 4
    x = shm.alloc(n, dtype=np.float32)
    x[:] = np.arange(n) % 1000 + shm.my_pe()
    shm.barrier_all()
    if shm.my_pe() == 0:
        rng = np.random.default_rng(1)
        whole = np.concatenate([shm.float_get(x, pe=p) for p in range(npes)])
        where = rng.integers(0, n * npes, 1_000_000)
        index, pes = where % n, where // n
        out, expected = np.empty(len(where), np.float32), np.empty(len(where), np.float32)
        names = dict(np=np, shm=shm, x=x, whole=whole, where=where, index=index, pes=pes, out=out, expected=expected)
        show(f"10^6 random floats out of {total >> 20} MiB on {npes} PEs: ratio to numpy.take", measure({
            "np.take(whole, where, out=expected)": ("np.take(whole, where, out=expected)", names),
            "np.take(whole, where, out=expected, mode='clip')": ("np.take(whole, where, out=expected, mode='clip')", names),
            "shm.gather(x, index, pes, out=out)": ("shm.gather(x, index, pes, out=out)", names),
        }, number=5), "np.take(whole, where, out=expected)")
        assert np.array_equal(out, expected)
    shm.barrier_all()


def main():
    shm.init()
    pe = shm.n_pes() - 1
    if shm.my_pe() == 0:
        print(f"{shm.info_get_name()}, NumPy {np.__version__}, Python {sys.version.split()[0]}, {shm.n_pes()} PEs")
    if "--gather" in sys.argv:
        gather(64 << 20)
        gather(256 << 20)
    else:
        elements(pe)
        bulk(pe)


main()

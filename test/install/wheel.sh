# pip install .: one wheel, for NumPy 1.24, 1.26 and 2, with the library, the launcher and the compiler wrapper inside.
# cores: 1
# timeout: 400
set -u
fail() { echo "FAIL: $*"; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
unset LD_LIBRARY_PATH PYTHONPATH
[ -n "${PYTHON:-}" ] || skip "no Python part in this build"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || skip "$PYTHON makes no virtual environments (Debian: python3-venv)"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_RETRIES=1 PIP_TIMEOUT=20 CMAKE_BUILD_PARALLEL_LEVEL=2

venv() { # NAME
    "$PYTHON" -m venv "$1" >venv.log 2>&1 || { cat venv.log; fail "venv $1"; }
}
venv build
build/bin/pip download -q --no-deps -d probe scikit-build-core >pip.log 2>&1 || skip "pip reaches no registry: $(tail -1 pip.log)"

build/bin/pip wheel -v --no-deps -w dist "$SRC" >pip.log 2>&1 || { tail -40 pip.log; fail "pip wheel"; }
grep -i 'warning: ' pip.log && fail "the build warns"
wheel=$(echo dist/hbmesh-*.whl)
[ -f "$wheel" ] || fail "no dist/hbmesh-*.whl: $(ls dist)"

cat >program.py <<'END_OF_PROGRAM'
import numpy as np
import shmem4py as shm
shm.init()
me, n = shm.my_pe(), shm.n_pes()
x = shm.alloc(4, dtype=np.float32)
x[:] = me
shm.barrier_all()
for i in range(4):
    shm.float_p(x[i], 10 * me + i, pe=(me + 1) % n)
shm.barrier_all()
assert x.tolist() == [10 * ((me - 1) % n) + i for i in range(4)], x
assert shm.float_get(x, pe=(me + 1) % n).tolist() == [10 * me + i for i in range(4)]
print("PE", me, "of", n, "with NumPy", np.__version__)
END_OF_PROGRAM
for numpy in 1.24 1.26 2; do
    venv with-$numpy
    with-$numpy/bin/pip install -q "$wheel" "numpy==$numpy.*" >pip.log 2>&1 || { cat pip.log; fail "install with $numpy"; }
    with-$numpy/bin/oshrun --timeout 60 -n 2 with-$numpy/bin/python program.py >out 2>&1 || { cat out; fail "NumPy $numpy"; }
    [ "$(grep -c "^PE [01] of 2 with NumPy $numpy" out)" = 2 ] || { cat out; fail "NumPy $numpy: what is said"; }
    with-$numpy/bin/python program.py >out 2>&1 || { cat out; fail "NumPy $numpy, alone"; }
    grep -q "^PE 0 of 1 with" out || { cat out; fail "NumPy $numpy, alone: what is said"; }
    echo "ok: NumPy $numpy"
done

# With cffi, the C functions by their own names.
with-2/bin/pip install -q "hbmesh[cffi] @ file://$PWD/$wheel" >pip.log 2>&1 || { cat pip.log; fail "install [cffi]"; }
with-2/bin/python -c 'from shmem4py.api import lib; lib.shmem_init(); print(lib.shmem_n_pes()); lib.shmem_finalize()' \
    >out 2>&1 || { cat out; fail "shmem4py.api"; }

# The tools work from where pip puts them.
with-2/bin/oshcc "$SRC/test/install/hello.c" -o hello || fail "oshcc"
with-2/bin/oshrun -n 3 ./hello >out 2>&1 || { cat out; fail "a C program under the launcher"; }
grep -q "^hello from 3 PEs" out || { cat out; fail "the C program says something else"; }
with-2/bin/shmem-info >out 2>&1 || { cat out; fail "shmem-info"; }
with-2/bin/oshrun --no-such-option >out 2>&1 && fail "oshrun takes anything"
with-2/bin/pip uninstall -q -y hbmesh >pip.log 2>&1 || { cat pip.log; fail "uninstall"; }
find with-2/lib/python*/site-packages/shmem4py ! -type d 2>/dev/null | grep -v '\.pyc$' && fail "left after uninstall"

# The package of PyPI has the same folder: one of the two has to go first.
site=$(echo build/lib/python*/site-packages)
mkdir "$site/shmem4py-1.0.0.dist-info"
printf 'Metadata-Version: 2.1\nName: shmem4py\nVersion: 1.0.0\n' >"$site/shmem4py-1.0.0.dist-info/METADATA"
build/bin/pip install --no-deps "$SRC" >pip.log 2>&1 && fail "installed over the PyPI package"
tr -s '\n ' ' ' <pip.log | grep -q "shmem4py 1.0.0 in .* is installed for .*-m pip uninstall shmem4py" ||
    { cat pip.log; fail "nothing says how to remove the PyPI package"; }
echo "ok: the PyPI package is told"

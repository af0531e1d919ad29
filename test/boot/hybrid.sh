# MPI and OpenSHMEM in the same processes: either may begin, either may end, and both move data at the same time.
# timeout: 200
. "$SRC/test/boot/lib.sh"
need_mpirun
command -v mpicc >/dev/null || { echo "skipped: no mpicc (Debian: libopenmpi-dev)"; exit 77; }
OMPI_CC=$OSHCC mpicc -O1 -o hybrid "$here/hybrid.c" || { echo "cannot build hybrid.c"; exit 1; }
ldd hybrid | grep -q "$BUILD/lib/libhbmesh" || fail "hybrid is linked with another OpenSHMEM: $(ldd hybrid | grep shmem)"
for first in mpi shmem id; do
    for end in mpi shmem; do
        mpi 0 "$first first, $end ends" 4 ./hybrid $first $end
        lines 4 "$first first, $end ends" "^well [0-3] of 4$"
    done
done
mpi 0 "8" 8 ./hybrid mpi shmem

[ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import mpi4py' 2>/dev/null || { echo "without mpi4py"; finish; }
cat >both.py <<'END'
import sys
first, end = sys.argv[1:]
if first == "mpi":
    from mpi4py import MPI
import numpy as np
import shmem4py as shm
shm.init()
from mpi4py import MPI
world = MPI.COMM_WORLD
me, n = shm.my_pe(), shm.n_pes()
assert (world.rank, world.size) == (me, n)
x = shm.zeros(1000)
shm.put(x, np.full(1000, float(me)), (me + 1) % n)
shm.barrier_all()
got = world.sendrecv(float(me), (me + 1) % n, source=(me - 1) % n)
assert (x == got).all()
assert world.allreduce(x[0]) == n * (n - 1) / 2
sys.stdout.write(f"well {me}\n")  # in one piece, as the outputs of all PEs are one
END
for first in mpi shmem; do
    PYTHONPATH=$BUILD/python mpi 0 "Python, $first first" 3 "$PYTHON" both.py $first x
    lines 3 "Python, $first first" "^well [0-2]$"
done
finish

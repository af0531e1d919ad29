# MPI and OpenSHMEM in the same processes on two hosts, in C and in Python.
# timeout: 150
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
hosts_up 2
command -v mpicc >/dev/null || skip "no mpicc (Debian: libopenmpi-dev)"
OMPI_CC=$OSHCC mpicc -O1 -o hybrid "$here/hybrid.c" || { echo "cannot build hybrid.c"; exit 1; }
for first in mpi shmem id; do
    for end in mpi shmem; do
        job 0 "$first first, $end ends" "2 2" "$PWD/hybrid" $first $end
        lines 4 "$first first, $end ends" "^well [0-3] of 4$"
    done
done
nothing_left_on_hosts "C"

[ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import mpi4py' 2>/dev/null || { echo "without mpi4py"; finish; }
sed -n '/^cat >both.py/,/^END$/p' "$here/hybrid.sh" | sed '1d;$d' >both.py
for first in mpi shmem; do
    PYTHONPATH=$BUILD/python job 0 "Python, $first first" "2 2" "$PYTHON" "$PWD/both.py" $first x
    lines 4 "Python, $first first" "^well [0-3]$"
done
nothing_left_on_hosts "Python"
finish

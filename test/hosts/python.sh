# The Python package on two hosts: its own tests, with a pytest in each PE.
# timeout: 200
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
[ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import pytest' 2>/dev/null || skip "no Python part in this build, or no pytest"
hosts_up 2
export PYTHONPATH=$BUILD/python PYTHONPYCACHEPREFIX=$PWD/cache OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for name in rma coll wait; do
    limit=100 job 0 "$name" "2 2" "$PYTHON" -m pytest --color=no "$SRC/test/python/test_calls_$name.py"
    grep -qE "[0-9]+ passed" out || { fail "$name: $(tail -3 out)"; tail -5 err | sed 's/^/    /'; }
done
nothing_left_on_hosts "Python"
finish

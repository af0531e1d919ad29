# What bench/run.py does not measure: several machines, device heaps, the Python package.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Several machines, where UCX is: bare UCX and a TCP stream beside; make-believe hosts, with Open MPI's OpenSHMEM beside.
if [ -f "$(dirname "$(dirname "$OSHRUN")")/lib/hbmesh/libhbmesh-ucx.so" ]; then
    sh "$here/net/run.sh" || :
    echo
    peer=$(command -v oshcc || :)
    BUILD=$(dirname "$(dirname "$OSHRUN")") bash "$here/net/hosts.sh" ${peer:+"oshmem=$peer"} || :
    echo
fi

# Heaps on NPUs in software, in the modelled time of their links.
if [ -f "$(dirname "$(dirname "$OSHRUN")")/twin/libascendcl.so" ]; then
    sh "$here/device/run.sh" || :
    echo
fi

# The Python package, where it was built. PYPI_PYTHON: an interpreter that has the package shmem4py of PyPI, to compare with.
build=$(dirname "$(dirname "$OSHRUN")")
python=$(sh "$here/../tools/python.sh" numpy Python.h 2>/dev/null) || exit 0
[ -d "$build/python/shmem4py" ] || exit 0
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
cc -O2 -shared -fPIC -I"$include" -o "$work/empty.so" "$here/python/empty.c"
PYTHONPATH=$work "$OSHRUN" -n 2 "$python" "$here/python/calls.py"
echo
PYTHONPATH=$work SHMEM_SYMMETRIC_SIZE=128M "$OSHRUN" -n 8 "$python" "$here/python/calls.py" --gather
echo
"$OSHRUN" -n 2 "$python" "$here/python/published.py"
if [ -n "${PYPI_PYTHON:-}" ]; then
    echo
    LD_LIBRARY_PATH=$build/lib "$OSHRUN" -x PYTHONPATH= -n 2 "$PYPI_PYTHON" "$here/python/published.py"
fi

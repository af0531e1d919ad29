#!/bin/sh
# setup.sh build|check|check-all|demo-gnn|bench|bench-more: sees to it that the programs needed are there. BUILD: the build folder.
#
# Installs what is missing through apt-get, as root or through sudo; elsewhere says what to install. When nothing is
# missing, nothing is asked of the network and this takes a few milliseconds.
set -u
what=${1:-build}
tools=$(dirname "$0")
CMAKE=${CMAKE:-cmake}

# A program, and the Debian package that has it; "a|b": either will do; "h:x": a header of C, where the compiler or
# pkg-config finds it; "py:x": what python-facts.py calls x, asked of the interpreter that the Python part is for. Without
# a need nothing works; without a wish the tests that would use it are skipped.
without='some tests will be skipped without'
needs='cc|gcc|clang=gcc c++|g++|clang++=g++ make=make'
wishes=
[ "$CMAKE" = cmake ] && needs="cmake=cmake $needs"
case $what in
build) ;;
check | check-all)
    needs="$needs bash=bash python3=python3"
    wishes="gcc=gcc g++=g++ clang=clang pkg-config|pkgconf=pkg-config gdb=gdb man=man-db py:numpy=python3-numpy
        py:Python.h=python3-dev py:pytest=python3-pytest py:cffi=python3-cffi py:ensurepip=python3-venv
        py:mpi4py=python3-mpi4py py:torch=python3-torch ip=iproute2 h:openssl/evp.h=libssl-dev
        h:ucp/api/ucp.h=libucx-dev mpirun=openmpi-bin mpicc=libopenmpi-dev h:pmix.h=libpmix-dev"
    ;;
bench)
    needs="$needs python3=python3"
    wishes="mpicc.openmpi|mpicc=libopenmpi-dev mpirun.openmpi|mpirun=openmpi-bin mpicc.mpich=libmpich-dev
        mpirun.mpich=mpich py:matplotlib=python3-matplotlib"
    without='the report has less in it without'
    ;;
bench-more)
    wishes="ip=iproute2 iperf3=iperf3 h:ucp/api/ucp.h=libucx-dev mpirun=openmpi-bin h:pmix.h=libpmix-dev"
    without='less is measured without'
    ;;
demo-gnn)
    needs="$needs python3=python3 py:numpy=python3-numpy py:Python.h=python3-dev py:torch=python3-torch
        py:matplotlib=python3-matplotlib"
    ;;
*)
    echo "usage: $0 build|check|check-all|demo-gnn|bench|bench-more" >&2
    exit 2
    ;;
esac
[ "$what" = check-all ] && wishes="$wishes valgrind=valgrind aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu
    aarch64-linux-gnu-g++=g++-aarch64-linux-gnu qemu-aarch64|qemu-aarch64-static=qemu-user"

# What is asked of Python, as python.sh takes it. Where no interpreter has it all, /usr/bin/python3 is the one that counts:
# apt-get installs for that one.
python_asks=
for need in $needs $wishes; do
    case $need in py:*) need=${need#py:} python_asks="$python_asks ${need%%=*}" ;; esac
done
python_has() { # NAME
    [ -n "${python:-}" ] || python=$(sh "$tools/python.sh" $python_asks 2>/dev/null) ||
        python=${PYTHON:-/usr/bin/python3}
    "$python" "$tools/python-facts.py" "$1" >/dev/null 2>&1
}

has_header() { # NAME, for whichever compiler is there, or in the folders of its own that Debian gives PMIx
    for at in $(pkg-config --variable=includedir "$(basename "$1" .h)" 2>/dev/null) /usr/lib/*/pmix2/include; do
        [ -f "$at/$1" ] && return
    done
    for compiler in cc gcc clang; do
        command -v $compiler >/dev/null 2>&1 || continue
        $compiler -E -x c -include "$1" /dev/null >/dev/null 2>&1
        return
    done
    return 1
}

has_any() {
    case $1 in
    py:*) python_has "${1#py:}"; return ;;
    h:*) has_header "${1#h:}"; return ;;
    esac
    (
        IFS='|'
        for program in $1; do command -v "$program" >/dev/null 2>&1 && exit 0; done
        exit 1
    )
}

# A compiler without the C library's headers is of no use, and Debian has them in a package of their own.
has_headers() {
    has_any 'cc|gcc|clang' || return 0 # no compiler: that one is missed first
    has_header stdio.h
}

# apt-get installs for Debian's interpreter; one that the user chose gets its modules from pip.
is_for_pip() { case $1 in py:*) [ "${PYTHON:-/usr/bin/python3}" != /usr/bin/python3 ] ;; *) false ;; esac; }

# Sets $programs and $packages to what is missing of "$@", $modules to what pip is for.
find_missing() {
    programs= packages= modules=
    for need; do
        name=${need%%=*}
        has_any "$name" && continue
        is_for_pip "$name" && modules="$modules ${name#py:}" && continue
        name=${name#py:}
        programs="$programs ${name#h:}"
        packages="$packages ${need#*=}"
    done
}

find_needs() {
    find_missing $needs
    case $packages in *gcc*) packages="$packages libc6-dev" ;; esac # gcc alone only recommends it
    has_headers && return
    programs="$programs stdio.h"
    packages="$packages libc6-dev"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

can_install() {
    command -v apt-get >/dev/null 2>&1 && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1; }
}

apt_install() {
    echo "hbmesh: installing$packages"
    log=$(mktemp)
    # The lists of packages may be absent (a fresh container) or too old: they are fetched when the first try fails.
    for try in 1 2; do
        if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages \
            >"$log" 2>&1; then
            rm -f "$log"
            return 0
        fi
        [ $try = 1 ] && as_root apt-get update >>"$log" 2>&1
    done
    tail -n 12 "$log" >&2
    rm -f "$log"
    return 1
}

tell() {
    if command -v apt-get >/dev/null 2>&1; then
        echo "hbmesh: $1:$programs. To install it, as root: apt-get install$packages" >&2
    else
        echo "hbmesh: $1:$programs. Install it with this system's package manager" \
            "(Debian calls the packages:$packages)" >&2
    fi
}

tell_modules() {
    echo "hbmesh: $1, in $PYTHON:$modules. It would be $PYTHON -m pip install$modules, or leave PYTHON unset" >&2
}

# Slurm is wanted by tests alone, and its packages would start services: they are unpacked, with whatever they depend on
# that is not installed. Sets $list to what those are.
list_slurm() {
    list=$(apt-get install --simulate --no-install-recommends slurmctld slurmd slurm-client slurm-wlm-basic-plugins \
        2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
    [ -n "$list" ]
}

unpack_slurm() { # FOLDER
    list_slurm || { can_install && as_root apt-get update && list_slurm; } || return
    rm -rf "$1" "$1.new"
    mkdir -p "$1.new/packages" || return
    (cd "$1.new/packages" && apt-get download $list && for package in *.deb; do dpkg -x "$package" ..; done) &&
        rm -r "$1.new/packages" && mv "$1.new" "$1"
}

has_slurm() { [ -x "$1/usr/sbin/slurmd-wlm" ] && [ -x "$1/usr/bin/srun" ]; }

find_slurm() {
    slurm=${BUILD:-build}/slurm
    has_slurm "${SLURM_ROOT:-}" || has_slurm "$slurm" && return
    mkdir -p "${slurm%/slurm}"
    echo "hbmesh: unpacking Slurm into $slurm"
    command -v apt-get >/dev/null 2>&1 && unpack_slurm "$slurm" >"$slurm.log" 2>&1 && has_slurm "$slurm" ||
        echo 'hbmesh: some tests will be skipped without Slurm (Debian: slurmctld, slurmd, slurm-client)' >&2
}

find_needs
[ -n "$programs" ] && can_install && apt_install && find_needs
[ -n "$modules" ] && { tell_modules 'cannot go on without'; exit 1; }
if [ -n "$programs" ]; then
    tell 'cannot go on without'
    case $programs in *cmake*) echo "hbmesh: CMake 3.16 or newer is also at https://cmake.org/download" >&2 ;; esac
    exit 1
fi
find_missing $wishes
[ -n "$programs" ] && can_install && apt_install && find_missing $wishes
[ -n "$programs" ] && tell "$without"
[ -n "$modules" ] && tell_modules "$without"
case $what in check*) find_slurm ;; esac
exit 0

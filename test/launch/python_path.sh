# oshrun in a build tree puts the Python package beside it in front of PYTHONPATH; anywhere else it leaves PYTHONPATH alone.
. "$SRC/test/launch/lib.sh"
unset PYTHONPATH
tree() { # tree NAME: a folder with bin/oshrun, and what else is asked for
    mkdir -p "$1/bin" && cp "$OSHRUN" "$1/bin/"
}
tree "build tree"
touch "build tree/CMakeCache.txt"
mkdir -p "build tree/python/shmem4py"
ln -s "build tree/bin/oshrun" link
tree installed; mkdir -p installed/python/shmem4py
tree unbuilt; touch unbuilt/CMakeCache.txt
here_python="$work/build tree/python"

sees() { # sees NAME WANTED COMMAND...: all PEs
    local name=$1 wanted=$2
    shift 2
    expect 0 "$name" "$@" sh -c 'echo "<${PYTHONPATH-none}>"'
    [ "$(sort -u out)" = "<$wanted>" ] || fail "$name: $(sort -u out) instead of <$wanted>"
}
for n in 1 2 3; do
    sees "unset" "$here_python" "./build tree/bin/oshrun" -n $n
    sees "a link" "$here_python" ./link -n $n
    PYTHONPATH=/x:/y sees "set" "$here_python:/x:/y" "./build tree/bin/oshrun" -n $n
    PYTHONPATH= sees "empty" "$here_python" "./build tree/bin/oshrun" -n $n
    PYTHONPATH=$here_python:/x sees "first already" "$here_python:/x" "./build tree/bin/oshrun" -n $n
    sees "-x" /z "./build tree/bin/oshrun" -x PYTHONPATH=/z -n $n
    sees "installed" none ./installed/bin/oshrun -n $n
    PYTHONPATH=/x sees "installed, set" /x ./installed/bin/oshrun -n $n
    PYTHONPATH=/x sees "no package built" /x ./unbuilt/bin/oshrun -n $n
done
[ ! -d "$BUILD/python/shmem4py" ] || sees "this build" "$(readlink -f "$BUILD")/python" "$OSHRUN" -n 2
finish

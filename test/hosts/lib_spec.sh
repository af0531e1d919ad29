# Programs of the spec suite by mpirun on make-believe hosts. $maps: how many PEs on each host, one word each with
# commas; $programs: which; each is run as its source says, or as behind a colon: a wire takes longer than memory.
. "$SRC/test/hosts/lib.sh"
need_mpirun
[ -f "$BUILD/lib/hbmesh/libhbmesh-ucx.so" ] || skip "built without UCX (Debian: libucx-dev)"

source_of() { ls "$SRC/test/spec/$1.c" "$SRC/test/spec/$1.cpp" 2>/dev/null; }
says_of() { sed -nE "s|^/\* $2: (.*) \*/\$|\1|p" "$(source_of "$1")" | head -1; }

# spec PROGRAM[:ARGUMENT] MAP
spec() {
    local program=${1%:*} file=$BUILD/test/spec/${1%:*} arguments=$(says_of "${1%:*}" args)
    case $1 in *:*) arguments=${1#*:} ;; esac
    [ -x "$file" ] || { fail "$program is not built"; return; }
    limit=100 job 0 "$program" "$2" env $(says_of "$program" env) "$file" $arguments
    [ ! -s out ] || head -8 out | sed 's/^/    /'
    nothing_left_on_hosts "$1"
}

run_specs() {
    local map p ran=0
    for map in $maps; do
        for p in $programs; do
            spec "$p" "$(echo "$map" | tr , ' ')"
            ran=$((ran + 1))
        done
    done
    echo "$ran ran"
    finish
}

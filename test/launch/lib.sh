# What the tests of the launcher share. They run in an empty folder; OSHCC, OSHRUN, BUILD and SRC are set.
set -u
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
finish() { [ $failures = 0 ] || { echo "$failures failed"; exit 1; }; exit 0; }
here=$SRC/test/launch
work=$(pwd -P)
pe=$work/pe-$$

# need_pe: builds the program of the PEs under a name of its own, by which its processes are found again.
need_pe() { "$OSHCC" -O1 -g -o "$pe" "$here/pe.c" || { echo "cannot build pe.c"; exit 1; }; }

# processes that run the program, PEs and what they left behind
alive() {
    local p
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/exe" 2>/dev/null)" = "$pe" ] || continue
        running "${p#/proc/}" && echo "${p#/proc/}"
    done
}
# running PID: it is there and no zombie, which only waits for its parent
running() { case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in Z*|X*|'') return 1 ;; esac; }
# gone SECONDS: all of them, in time?
gone() {
    local end=$(( $(date +%s%N) + $1 * 1000000000 ))
    while [ -n "$(alive)" ]; do
        [ "$(date +%s%N)" -lt $end ] || return 1
        sleep 0.05
    done
}
nothing_left() { # nothing_left WHAT
    gone "${2:-5}" && return
    fail "$1: processes left: $(alive | tr '\n' ' ')"
    kill -9 $(alive) 2>/dev/null
}
# children PID: its direct children
children() { ps -o pid= --ppid "$1" 2>/dev/null; }
# wait_for N PATTERN FILE: until the file has N such lines
wait_for() {
    local i
    for i in $(seq 200); do
        [ "$(grep -c -- "$2" "$3" 2>/dev/null)" -ge "$1" ] && return
        sleep 0.05
    done
    return 1
}
# expect STATUS NAME COMMAND...: its output goes to out and err
expect() {
    local want=$1 name=$2 rc
    shift 2
    timeout -k 5 30 "$@" > out 2> err < /dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name: status $rc instead of $want"; sed 's/^/    /' err | head -5; }
}
says() { # says NAME PATTERN: in err
    grep -qE -- "$2" err || { fail "$1: no line like /$2/ in:"; sed 's/^/    /' err | head -8; }
}
one_line() { # one_line NAME: exactly one line of ours
    local n
    n=$(grep -c '^hbmesh: ' err)
    [ "$n" = 1 ] || { fail "$1: $n lines instead of one"; sed 's/^/    /' err | head -8; }
}

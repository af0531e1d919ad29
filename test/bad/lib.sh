# What the scripts of wrong uses share. They build $program, whose first argument names a case, and end with
#     echo "$passed passed, $failed failed"; [ $failed = 0 ]
program=bad failed=0 passed=0
# NPES CASE EXPECTED... : the sentence must match each extended regular expression
expect() {
    local n=$1 name=$2 rc re
    shift 2
    timeout 20 "$OSHRUN" ${flags:-} -n "$n" ./"$program" "$name" ${early:-} >out 2>err </dev/null
    rc=$?
    local why=
    [ $rc != 0 ] || why="exit status 0"
    [ $rc != 124 ] || why="hung"
    grep -q survived out && why="went on"
    for re in "$@"; do
        grep -qE -- "$re" err || why="${why:-no match for /$re/}"
    done
    # where there is no job (before init, after finalize) each PE speaks for itself
    local lines most=1
    lines=$(grep -cE '^hbmesh: (PE [0-9]*: )?([a-z_]*shmem|SIG)' err)
    case $name in early_* | *after_finalize | freed_page) most=$n ;; esac
    [ "$lines" -ge 1 ] && [ "$lines" -le $most ] || why="${why:-$lines lines instead of 1}"
    if [ -n "$why" ]; then
        echo "FAIL $name on $n PEs (status $rc): $why"; sed 's/^/    /' err | head -5
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
both() { expect 2 "$@"; expect 1 "$@"; }

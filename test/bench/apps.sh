# The applications and the three models of communication: every program compiles without a word, its own check of the result
# passes on 1, 2 and 3 PEs, what it prints can be read by bench/run.py, and the models of a job come to the same digest.
# timeout: 120
set -u
failed=0
fail() { echo "FAIL: $*"; failed=1; }

build() { # SOURCE PROGRAM
    "$OSHCC" -O1 -Wall -Wextra -Werror "$SRC/bench/$1.c" -o "$2" || { fail "$1 does not compile"; return 1; }
}

# run NPES PROGRAM ARGUMENT ...: status 0, nothing on stderr, and rows of five columns in out.
run() {
    npes=$1
    shift
    "$OSHRUN" --timeout 30 -n "$npes" "$@" >out 2>err </dev/null || fail "$* on $npes PEs: status $?: $(cat out err)"
    [ -s err ] && fail "$* on $npes PEs says: $(cat err)"
    awk -F '\t' -v pes="$npes" '
        /^#/ { next }
        NF != 5 || $3 != pes || $4 !~ /^[0-9.e+-]+$/ || $5 !~ /^(us|ms|Mops\/s|bytes|messages)$/ { print "no row: " $0; bad = 1 }
        { rows++ }
        END { exit bad || rows == 0 }' out || fail "$* on $npes PEs prints what is no table"
}

# refuse SENTENCE PROGRAM ARGUMENT ...
refuse() {
    says=$1
    shift
    "$OSHRUN" --timeout 30 -n 1 "$@" >out 2>err </dev/null && fail "$* passes"
    grep -qF "$says" err || fail "$* does not say '$says' but: $(cat err)"
}

apps="gups=14,4 isx=5000 histogram=3000,1000 gather=3000,1000 stencil=37,9 graph=500"
for app in $apps; do
    name=${app%%=*}
    build "apps/$name" "$name" || continue
    for n in 1 2 3; do run $n "./$name" $(echo "${app#*=}" | tr , ' '); done
done
for source in "$SRC"/bench/apps/*.c; do
    name=$(basename "$source" .c)
    case " $apps" in *" ${name%_mpi}="*) ;; *) fail "$name is not tried here" ;; esac
done

for job in updates=2000,700 handover=20,16 neighbours=500; do
    name=${job%%=*}
    for source in "$SRC/bench/models/${name}"_*.c; do
        model=$(basename "$source" .c)
        case $model in *_mpi) continue ;; esac
        build "models/$model" "$model" || continue
        for n in 1 2 3; do
            run $n "./$model" $(echo "${job#*=}" | tr , ' ')
            sed -n "s/^# digest of $name: /$n /p" out >>"$name.digests"
        done
    done
    [ "$(sort -u "$name.digests" | wc -l)" = 3 ] || fail "the models of $name disagree: $(sort "$name.digests" | uniq -c)"
    [ "$(wc -l <"$name.digests")" -ge 9 ] || fail "$name: a model has no digest"
done

refuse "argument 1, the keys of each PE, is '0': give a whole number from 1 to" ./isx 0
refuse "argument 2, steps, is '9x': give a whole number from 1 to" ./stencil 37 9x
refuse "2 cells in a row are less than" "$OSHRUN" --timeout 30 -n 3 ./stencil 2
exit $failed

# Programs that a PE starts and processes that it forks are no PEs: they are told so, and their PE goes on.
. "$SRC/test/launch/lib.sh"
"$OSHCC" -O1 -g -o descendant "$here/descendant.c" || exit 1
run() { # run NPES WHAT: all PEs see what they shall
    expect 0 "$2, $1 PEs" "$OSHRUN" --timeout 20 -n "$1" ./descendant "$2"
    [ "$(grep -c '^well$' out)" = "$1" ] || { fail "$2, $1 PEs: not well on all"; head -5 out err; }
}
for n in 1 2 3; do
    for what in kept closed; do # the descriptor of the wire, in the child
        run $n $what
        says "$what" "shmem_init: process [0-9]+ was started by PE 0( \(process [0-9]+\))? of a job and is no PE itself"
    done
    run $n forked-init
    says forked-init "shmem_init: process [0-9]+ was forked by PE 0 \(process [0-9]+\) and is no PE itself"
    run $n forked-finalize
    says forked-finalize "shmem_finalize: process [0-9]+ was forked by PE 0"
    run $n forked-exit
    run $n alone   # without SHMEM_LAUNCH: a job of its own
    run $n nested  # under an oshrun of its own
done
# before any PE has joined a program may become one through a shell, but not through what closes descriptors
expect 0 "through shells" "$OSHRUN" --timeout 20 -n 2 sh -c 'sh -c "./descendant plain; :"; :'
expect 1 "wire closed" "$OSHRUN" --timeout 20 -n 2 bash -c 'IFS=: read -r fd _ <<< "$SHMEM_LAUNCH"; eval "exec $fd>&-"; ./descendant plain'
says "wire closed" "was started by PE [01] of a job and is no PE itself"
# one after the other may
expect 0 "one after the other" "$OSHRUN" --timeout 20 -n 2 sh -c './descendant plain && ./descendant plain'
expect 0 "no job" ./descendant plain
SHMEM_PE=3 expect 0 "no job, a PE number" ./descendant plain
finish

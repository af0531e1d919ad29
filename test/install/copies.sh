# Two copies of the library in one process: whichever is initialised second, or first while both are there, refuses and names
# both files. A profiler that defines the same names is no copy, and a copy that was closed again is gone.
. "$SRC/test/launch/lib.sh"
other=$work/libother.so
cp "$BUILD/lib/libhbmesh.so" "$other" || exit 1
"$OSHCC" -O1 -g -o copies "$SRC/test/install/copies.c" -ldl && "$OSHCC" -hm-static -O1 -g -o static "$SRC/test/install/copies.c" -ldl &&
    "$OSHCC" -hm-static -rdynamic -O1 -g -o exported "$SRC/test/install/copies.c" -ldl || exit 1
names_both() { # NAME FIRST SECOND; once, unless the first copy has joined the job already
    case $1 in *before*) one_line "$1" ;; esac
    says "$1" "shmem_init: there are two copies of this library in the process: $2 and $3;"
}
for run in "" "$OSHRUN --timeout 20 -n 1" "$OSHRUN --timeout 20 -n 2"; do
    expect 1 "before, $run" $run ./copies "$other" before
    names_both "before, $run" '[^ ]*/libhbmesh.so[^ ]*' "$other"
    expect 1 "after, $run" $run ./copies "$other" after
    names_both "after, $run" "$other" '[^ ]*/libhbmesh.so[^ ]*'
    expect 0 "closed, $run" $run ./copies "$other" closed
    for program in static exported; do # the program is a copy itself
        expect 1 "$program, before, $run" $run ./$program "$other" before
        names_both "$program, before, $run" "$work/$program" "$other"
        expect 1 "$program, after, $run" $run ./$program "$other" after
    done
    names_both "exported, after, $run" "$other" "$work/exported"
    expect 1 "static, after, $run" $run ./static "$other" after
    names_both "static, after, $run" "$other" 'one that is linked statically into this process'
done
# a tool in front
cat > tool.c <<'END'
#include <pshmem.h>
#include <stdio.h>
void shmem_init(void) { puts("tool"); pshmem_init(); }
void shmem_barrier_all(void) { pshmem_barrier_all(); }
END
"$OSHCC" -shared -fPIC -O1 -o libtool.so tool.c || exit 1
LD_PRELOAD=$work/libtool.so expect 0 tool ./copies "$other" closed
grep -q '^tool$' out || fail "the tool was not called"
finish

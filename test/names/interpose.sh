# A function of the user's own, in the program or preloaded, is called once for each call: shared and static builds, gcc
# and clang. What the library does inside is not counted.
# timeout: 200
set -u
failed=0
cat > main.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
static long x;
/* What the tool has counted: its own symbol when it is there, nothing otherwise. */
extern int tool_puts __attribute__((weak)), tool_barriers __attribute__((weak));
int main(void)
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < 3; i++) shmem_long_p(&x, 40 + i, next);
    shmem_barrier_all();
    shmem_barrier_all();
    void *block = shmem_malloc(64);         /* these meet inside */
    shmem_long_atomic_set(&x, x, shmem_my_pe());
    shmem_free(block);
    int puts = &tool_puts ? tool_puts : -1, barriers = &tool_barriers ? tool_barriers : -1;
    printf("x %ld puts %d barriers %d\n", x, puts, barriers);
    fflush(stdout);
    shmem_finalize();
    return x == 42 && puts == 3 && barriers == 2 ? 0 : 1;
}
END
cat > tool.c <<'END'
#include <pshmem.h>
int tool_puts, tool_barriers;
void shmem_long_p(long *dest, long value, int pe)
{
    tool_puts++;
    pshmem_long_p(dest, value, pe);
}
void shmem_barrier_all(void)
{
    tool_barriers++;
    pshmem_barrier_all();
}
END
try() { # WHAT COMMAND...
    what=$1
    shift
    "$@" > out 2>&1 || { echo "failed: $what: $*"; cat out; failed=1; }
}
run() { try "$1" "$OSHRUN" --timeout 60 -n 2 "${@:2}"; }

for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    export OSHCC_CC=$cc
    try "$cc main" "$OSHCC" -O2 -Wall -c main.c -o main-$cc.o
    try "$cc tool" "$OSHCC" -O2 -Wall -fPIC -c tool.c -o tool-$cc.o
    # in the program
    try "$cc link" "$OSHCC" main-$cc.o tool-$cc.o -o own-$cc
    run "$cc: the program's own, shared library" ./own-$cc
    # before and behind the static library, as an object and as an archive
    flags=$("$OSHCC" -showme:link)
    static=$(printf '%s\n' "$BUILD"/lib/libhbmesh.a)
    start=$(printf '%s\n' "$BUILD"/lib/hbmesh-start.o)
    [ -f "$start" ] || start=
    try "$cc static" $cc $start main-$cc.o tool-$cc.o "$static" -lpthread -ldl -o static-$cc
    run "$cc: the program's own, static library" ./static-$cc
    try "$cc static, reversed" $cc $start main-$cc.o -Wl,--start-group "$static" tool-$cc.o -Wl,--end-group -lpthread -ldl \
        -o reversed-$cc
    run "$cc: the program's own, behind the static library" ./reversed-$cc
    # preloaded: the program knows nothing of it, so its counters are looked up at run time
    sed 's/&tool_puts ? tool_puts : -1/counter("tool_puts")/; s/&tool_barriers ? tool_barriers : -1/counter("tool_barriers")/
        s/^int main(void)/#define _GNU_SOURCE\n#include <dlfcn.h>\nstatic int counter(const char *name)\n{\n    int *n = dlsym(RTLD_DEFAULT, name);\n    return n ? *n : -1;\n}\n&/' main.c > preload.c
    try "$cc preloaded main" "$OSHCC" -D_GNU_SOURCE -O2 preload.c -o preload-$cc -ldl
    try "$cc tool library" "$OSHCC" -shared tool-$cc.o -o libtool-$cc.so
    run "$cc: preloaded" -x LD_PRELOAD="$PWD/libtool-$cc.so" ./preload-$cc
done
exit $failed

# Jobs of the launcher: each has devices of its own, since the launcher ends the driver with the job; nothing is left,
# whoever is killed.
# timeout: 90
set -u
fail() { echo "$*"; exit 1; }
driver_is_there() { grep -q "@hbmesh-twin.$(id -u).n-$1\$" /proc/net/unix; }
unset HBMESH_TWIN HBMESH_TWIN_NODE HBMESH_TWIN_FAULT HBMESH_TWIN_LATE HBMESH_TWIN_STRICT
"$CC" -O1 -o job "$SRC/test/twin/programs/pe.c" -ldl || exit 1

"$OSHRUN" -n 4 ./job "$BUILD/twin" || fail "a job of 4"
"$OSHRUN" -n 3 sh -c "./job $BUILD/twin; exit \$?" || fail "behind a shell"

# Two at once: the end of the first is none of the second's.
"$OSHRUN" -n 2 ./job "$BUILD/twin" long & second=$!
sleep 0.5
"$OSHRUN" -n 2 ./job "$BUILD/twin" || fail "a job beside another"
wait $second || fail "the job beside it"

"$OSHRUN" -n 2 ./job "$BUILD/twin" die && fail "a PE was killed and the job is well"

# The launcher is killed.
HBMESH_TWIN_NODE=killed-$$ "$OSHRUN" -n 2 ./job "$BUILD/twin" wait >out & front=$!
for _ in $(seq 400); do [ "$(grep -c here out)" = 2 ] && break; sleep 0.05; done
driver_is_there killed-$$ || fail "no driver"
kill -9 $front
wait $front 2>/dev/null
for _ in $(seq 200); do driver_is_there killed-$$ || break; sleep 0.05; done
driver_is_there killed-$$ && fail "a driver is left"

# Libraries that lack something: they load, and what is there works.
HBMESH_TWIN_NODE=job-sh-$$ ./job "$BUILD/twin/keys" || fail "the one without virtual memory"
"$CC" -O1 -o lacks -x c - -ldl <<'END' || exit 1
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *lib = dlopen(argv[1], RTLD_NOW);
    if (!lib) return 9;
    for (int i = 2; i < argc; i++) printf("%s", dlsym(lib, argv[i]) ? "+" : "-");
    return 0;
}
END
names="aclrtMapMem aclrtUnmapMem aclrtMemExportToShareableHandleV2 aclrtIpcMemGetExportKey aclrtMemcpyAsync"
names="$names twin_now tw_attach"
[ "$(./lacks "$BUILD/twin/libascendcl.so" $names)" = "++++++-" ] || fail "the whole library"
[ "$(./lacks "$BUILD/twin/half/libascendcl.so" $names)" = "-+++++-" ] || fail "half a library"
[ "$(./lacks "$BUILD/twin/keys/libascendcl.so" $names)" = "---+++-" ] || fail "the library without virtual memory"
exit 0

# A job loads a transport when it needs one, and says so when it has none; the settings of UCX that the user has made
# win.
# timeout: 120
. "$SRC/test/ucx/lib.sh"

cat >way.c <<'C'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long word;
static int has(const char *what)
{
    char line[1024];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f)) found |= strstr(line, what) != NULL;
    fclose(f);
    return found;
}
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), other = (me + 1) % shmem_n_pes();
    shmem_long_p(&word, me + 1, other);
    shmem_barrier_all();
    if (word != (me + shmem_n_pes() - 1) % shmem_n_pes() + 1) shmem_global_exit(3);
    const char *hooks = getenv("UCX_MEM_MALLOC_HOOKS"), *log = getenv("UCX_LOG_FILE");
    if (me == 0)
        printf("ucp %d module %d hooks %s log %s\n", has("libucp"), has("libhbmesh-ucx"), hooks ? hooks : "unset",
               log ? log : "unset");
    shmem_finalize();
    return 0;
}
C
"$OSHCC" -O1 way.c -o way || fail 'way.c does not build'

out=$("$OSHRUN" -n 2 ./way) || fail 'a job on mapped memory'
[ "$out" = 'ucp 0 module 0 hooks unset log unset' ] || fail "a job that needs no transport loads one: $out"
out=$(SHMEM_MAPPED=off "$OSHRUN" -n 1 ./way) || fail 'a job of one PE'
case $out in 'ucp 0 module 0'*) ;; *) fail "a job of one PE loads a transport: $out" ;; esac
out=$(SHMEM_MAPPED=off "$OSHRUN" -n 3 ./way 2>err) || fail "over the transport: $(cat err)"
[ "$out" = 'ucp 1 module 1 hooks unset log unset' ] || fail "over the transport: $out"
[ -s err ] && fail "over the transport, it says: $(cat err)"
out=$(UCX_LOG_FILE=stdout SHMEM_MAPPED=off "$OSHRUN" -n 2 ./way) || fail "the user's own UCX_LOG_FILE"
[ "$out" = 'ucp 1 module 1 hooks unset log stdout' ] || fail "the user's own UCX_LOG_FILE: $out"

# What the user says of the transports of UCX is taken: this one does not exist, so nothing leads to the other PE.
UCX_TLS=nonesuch SHMEM_MAPPED=off "$OSHRUN" -n 2 ./way >out 2>err && fail 'UCX_TLS of the user is overridden'
grep -q 'UCX' err || fail "UCX_TLS=nonesuch: no word of UCX in: $(cat err)"

# SHMEM_MAPPED must be alike.
cat >mixed <<'S'
#!/bin/sh
[ "$SHMEM_PE" = 1 ] && export SHMEM_MAPPED=off
exec ./way
S
chmod +x mixed
"$OSHRUN" --timeout 20 -n 2 ./mixed >out 2>err && fail 'different SHMEM_MAPPED pass'
grep -q 'SHMEM_MAPPED differs between PE 0 and PE 1' err || fail "different SHMEM_MAPPED: $(cat err)"

# Without the module, and with one of another library.
mkdir -p copy/lib copy/bin
cp -P "$BUILD"/lib/libhbmesh.so* copy/lib/
export LD_LIBRARY_PATH=$PWD/copy/lib SHMEM_MAPPED=off
"$OSHRUN" -n 2 ./way >out 2>err && fail 'without the module it works'
grep -q 'no transport can be used: .*libhbmesh-ucx.so' err || fail "without the module: $(cat err)"
mkdir copy/lib/hbmesh
echo 'const struct { const char *version; void *table; } hm_transport_module = {"0.0.1", 0};' >other.c
$CC -shared -fPIC other.c -o copy/lib/hbmesh/libhbmesh-ucx.so || fail 'other.c does not build'
"$OSHRUN" -n 2 ./way >out 2>err && fail 'the module of another version works'
grep -q 'is of version 0.0.1, this library of' err || fail "the module of another version: $(cat err)"
exit 0

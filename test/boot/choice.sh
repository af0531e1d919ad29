# Which bootstrap a process takes, why, and what contradicts itself.
. "$SRC/test/boot/lib.sh"
need_pe
info=$BUILD/bin/shmem-info
# takes NAME WHY: shmem-info with the variables of the caller
takes() { "$info" --options | grep -qE "^  $1 +$2" || fail "$1 is not taken: $("$info" --options | sed -n 5p)"; }
takes single "nothing in its environment"
export RANK=0 WORLD_SIZE=1
takes uid "RANK and WORLD_SIZE are set"
PMIX_NAMESPACE=x PMIX_RANK=0 takes pmix "a PMIx launcher has started it"
SHMEM_BOOT=single PMIX_NAMESPACE=x PMIX_RANK=0 takes single "SHMEM_BOOT asks for it"
SHMEM_BOOT=auto takes uid "RANK"
"$OSHRUN" -n 1 "$info" --options | grep -qE '^  launcher +oshrun has started it' || fail "oshrun goes before RANK"
SHMEM_BOOT=single "$OSHRUN" -n 2 "$pe" rounds 1 | grep -c 'well 0 of 1' | grep -qx 2 || fail "SHMEM_BOOT goes before oshrun"
unset RANK WORLD_SIZE
WORLD_SIZE=4 takes single "nothing"
# refused BOOT PATTERN
refused() {
    SHMEM_BOOT=$1 "$pe" rounds 1 >out 2>err </dev/null
    [ $? = 1 ] || fail "SHMEM_BOOT=$1: no error"
    one_line "SHMEM_BOOT=$1"
    says "SHMEM_BOOT=$1" "$2"
    SHMEM_BOOT=$1 "$info" >out 2>/dev/null && fail "SHMEM_BOOT=$1: shmem-info is content"
    grep -qE "^  none +$2" out || fail "SHMEM_BOOT=$1: shmem-info says $(sed -n 5p out)"
}
hb='(hbmesh: shmem_init: )?'
refused pmix "${hb}SHMEM_BOOT=pmix, but no PMIx launcher has started this process"
refused uid "${hb}SHMEM_BOOT=uid, but RANK and WORLD_SIZE are not set"
refused launcher "${hb}SHMEM_BOOT=launcher, but oshrun has not started this process"
refused carrier-pigeon "${hb}SHMEM_BOOT=carrier-pigeon: there is no such bootstrap; there are auto, launcher, pmix, uid, single"
# A launcher that is not there, and a library without the module: said, not passed over.
PMIX_NAMESPACE=x PMIX_RANK=0 timeout 30 "$pe" rounds 1 >out 2>err && fail "a PMIx server that is not there"
says "a PMIx server that is not there" "the PMIx server does not take this process|has no PMIx module"
mkdir -p alone && cp -L "$BUILD/lib/libhbmesh.so.1" alone/
PMIX_NAMESPACE=x PMIX_RANK=0 LD_LIBRARY_PATH=$PWD/alone LD_PRELOAD=$PWD/alone/libhbmesh.so.1 "$pe" rounds 1 >out 2>err &&
    fail "no module"
one_line "no module"
says "no module" "this library has no PMIx module .*alone/hbmesh/pmix.so"
# A job under oshrun, and one alone, load no module and make no thread or socket of the bootstraps.
LD_DEBUG=files "$OSHRUN" -n 2 "$pe" rounds 1 >out 2>err || fail "under oshrun"
grep -q pmix err && fail "a job under oshrun loads PMIx"
finish

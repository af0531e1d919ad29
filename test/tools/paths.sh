# shmem-info --paths, oshrun -v and SHMEM_PATHS: which way the PEs take to each other, and why none that is faster.
# timeout: 180
. "$SRC/test/boot/lib.sh"
unset SHMEM_PATHS SHMEM_MACHINES SHMEM_MAPPED
info=$BUILD/bin/shmem-info
ucx=$BUILD/lib/hbmesh/libhbmesh-ucx.so

# job STATUS NAME COMMAND...: its output goes to out and err
job() {
    local want=$1 name=$2 rc
    shift 2
    timeout -k 5 90 "$@" >out 2>err </dev/null
    rc=$?
    [ $rc = "$want" ] || { fail "$name: status $rc instead of $want"; head -8 err | sed 's/^/    /'; }
}
has() { grep -qE -- "$2" "${3:-out}" || { fail "$1: no line '$2' in:"; sed 's/^/    /' "${3:-out}"; }; }
hasnt() { grep -qE -- "$2" "${3:-out}" && { fail "$1: there is a line '$2':"; sed 's/^/    /' "${3:-out}"; }; }

job 2 'alone' "$info" --paths
has 'alone' '^shmem-info: .*oshrun -n 8 shmem-info --paths' err
job 2 'with another argument' "$info" --paths --json
job 0 'a job of one PE' env SHMEM_BOOT=single "$info" --paths
has 'a job of one PE' '^1 PE on 1 machine$'
job 0 'one machine' "$OSHRUN" -n 4 "$info" --paths
has 'one machine' '^4 PEs on 1 machine$'
has 'one machine' "^machine 0: host $(uname -n): PEs 0-3$"
has 'one machine' '^PEs of one machine: mapped memory$'
[ "$(wc -l <out)" = 3 ] || fail "one machine: more than that: $(cat out)"
[ -s err ] && fail "one machine: on stderr: $(cat err)"

cat >c.c <<'C'
#include <shmem.h>
int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
C
"$OSHCC" c.c -o c || fail 'c.c does not build'
job 0 'SHMEM_PATHS=on' env SHMEM_PATHS=on "$OSHRUN" -n 2 ./c
has 'SHMEM_PATHS=on' '^hbmesh: PE 0: PEs of one machine: mapped memory$' err
job 0 'oshrun -v' "$OSHRUN" -v -n 2 ./c
has 'oshrun -v' '^hbmesh: PE 0: PEs of one machine: mapped memory$' err
job 0 'oshrun -v, SHMEM_PATHS=off' env SHMEM_PATHS=off "$OSHRUN" -v -n 2 ./c
hasnt 'oshrun -v, SHMEM_PATHS=off' 'mapped memory' err
job 1 'a value that is none' env SHMEM_PATHS=maybe "$OSHRUN" -n 2 ./c
has 'a value that is none' 'SHMEM_PATHS=maybe: it is on, off or stdout' err
printf '#!/bin/sh\n[ "$SHMEM_PE" = 0 ] && export SHMEM_PATHS=on\nexec ./c\n' >first
chmod +x first
job 0 'only PE 0 is asked' "$OSHRUN" --timeout 60 -n 2 ./first
has 'only PE 0 is asked' '2 PEs on 1 machine' err

[ -e "$ucx" ] || finish
job 0 'two machines' "$OSHRUN" -n 5 --machines 3+2 "$info" --paths
has 'two machines' '^5 PEs on 2 machines$'
has 'two machines' '^machine 0: host .*: PEs 0-2$'
has 'two machines' '^machine 1: host .*: PEs 3-4$'
has 'two machines' '^PEs of one machine: mapped memory$'
has 'two machines' '^PEs 0-4 to the other machine: ucx tcp/'
has 'two machines' 'do not map each other.s memory: oshrun --machines'
hasnt 'two machines' 'warning'
job 0 'cyclic' "$OSHRUN" -n 5 --machines cyclic:3 "$info" --paths
has 'cyclic' '^machine 1: host .*: PEs 1, 4$'
has 'cyclic' '^PEs 0-4 to the other machines: ucx tcp/'
[ "$(wc -l <out)" -le 7 ] || fail "cyclic: a line for each pair: $(cat out)"
job 0 'not mapped' env SHMEM_MAPPED=off "$OSHRUN" -n 2 "$info" --paths
has 'not mapped' '^PEs 0-1 to all others: ucx tcp/'
has 'not mapped' 'SHMEM_MAPPED is off'
hasnt 'not mapped' 'mapped memory'

# Containers of one host: the PEs cannot meet by descriptors, and that is a reason to say so.
if [ -e "$BUILD/lib/hbmesh/crypto.so" ] && unshare -U true 2>/dev/null; then
    printf '#!/bin/sh\n[ $RANK = 1 ] && exec unshare -U -r "$@"\nexec "$@"\n' >contain
    chmod +x contain
    export SHMEM_SECRET=so
    uid 0 'two user namespaces' '0 1' 2 ./contain "$info" --paths
    has 'two user namespaces' '^PEs 0-1 to the other machine: ucx tcp/'
    has 'two user namespaces' '^warning: .*on one host.*: their user namespaces differ'
fi
finish

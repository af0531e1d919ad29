# oshrun --machines: which PE is on which make-believe machine, by option and environment; what is refused.
. "$SRC/test/launch/lib.sh"

# layout NPES OPTIONS WANT: WANT is machine sizes seen as "PE local/npes," for all PEs
layout() {
    local npes=$1 want=$2
    shift 2
    expect 0 "$*" "$OSHRUN" -n "$npes" "$@" sh -c 'echo $SHMEM_PE $SHMEM_LOCAL_PE/$SHMEM_LOCAL_NPES'
    [ "$(sort -n out | tr '\n' ,)" = "$want," ] || fail "$*: $(sort -n out | tr '\n' ,)"
}
layout 4 "0 0/4,1 1/4,2 2/4,3 3/4"
layout 4 "0 0/4,1 1/4,2 2/4,3 3/4" --machines 1
layout 4 "0 0/2,1 1/2,2 0/2,3 1/2" --machines 2
layout 5 "0 0/3,1 1/3,2 2/3,3 0/2,4 1/2" --machines=2
layout 4 "0 0/3,1 1/3,2 2/3,3 0/1" --machines 3+1
layout 8 "0 0/1,1 0/2,2 1/2,3 0/5,4 1/5,5 2/5,6 3/5,7 4/5" --machines 1+2+5
layout 5 "0 0/3,1 0/2,2 1/3,3 1/2,4 2/3" --machines cyclic:2
layout 3 "0 0/1,1 0/1,2 0/1" --machines 3
layout 5 "0 0/3,1 0/2,2 1/2,3 1/3,4 2/3" --machines list:0,1,1,0,0

export SHMEM_MACHINES=2
layout 4 "0 0/2,1 1/2,2 0/2,3 1/2"
layout 4 "0 0/4,1 1/4,2 2/4,3 3/4" --machines 1
layout 1 "0 0/1" # of many jobs some are smaller
SHMEM_MACHINES=
layout 2 "0 0/2,1 1/2"
unset SHMEM_MACHINES

expect 0 -v "$OSHRUN" -v -n 7 --machines cyclic:2 true
says -v '^hbmesh: make-believe machine 1 of 2: PEs 1, 3, 5$'
expect 0 -v "$OSHRUN" -v -n 3 --machines 2+1 true
says -v '^hbmesh: make-believe machine 0 of 2: PEs 0-1$'
says -v '^hbmesh: make-believe machine 1 of 2: PE 2$'

refused() { # refused PATTERN OPTIONS...
    local pattern=$1
    shift
    expect 2 "$*" "$OSHRUN" -n 4 "$@" true
    says "$*" "^oshrun: $pattern"
    [ "$(wc -l < err)" = 1 ] || fail "$*: more than a sentence"
}
refused '--machines 5: there are only 4 PEs' --machines 5
refused '--machines cyclic:5: there are only 4 PEs' --machines cyclic:5
refused '--machines 3\+2: these machines have 5 PEs together, and the job has 4' --machines 3+2
refused '--machines 2\+1: these machines have 3 PEs together, and the job has 4' --machines 2+1
for spec in 0 -1 x 2x '' + 2+ +2 2++2 2+0+2 cyclic: cyclic:x cyclic:2+2 cyclic 2,2 list: list:x list:1,0,1,0 list:0,2,1,1 list:0,,1,1 list:0,1,0,-1; do
    refused '--machines .*: a number of machines, as in 2' "--machines=$spec"
done
refused '--machines list:0,1,0: it has 3 numbers, and the job 4 PEs' --machines list:0,1,0
refused '--machines list:0,1,0,1,1: it has more numbers' --machines list:0,1,0,1,1
SHMEM_MACHINES=two refused 'SHMEM_MACHINES=two: a number of machines'
SHMEM_MACHINES=2+1 refused 'SHMEM_MACHINES=2\+1: these machines have 3 PEs together'
finish

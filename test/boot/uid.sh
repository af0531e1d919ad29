# Jobs that a shell loop starts by RANK, WORLD_SIZE and MASTER_PORT: they run, and end as jobs under oshrun do.
# timeout: 240
. "$SRC/test/boot/lib.sh"
need_pe

for n in 1 2 4 8; do
    uid 0 "hello" "$(ranks $n)" $n "$pe" rounds 1
    lines $n "hello, $n PEs" "^well [0-9] of $n$"
    [ -s err ] && fail "hello, $n PEs: says $(head -1 err)"
done
uid 0 "init again" "3 2 1 0" 4 "$pe" rounds 20
uid 0 "one program after another" "0 1 2" 3 sh -c '"$0" rounds 3 && "$0" rounds 2' "$pe"
uid 0 "exit finalizes" "0 1 2" 3 "$pe" end 1

# as torchrun has it
export LOCAL_WORLD_SIZE=3 TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=0 GROUP_RANK=0
uid 0 "torchrun's environment" "0 1 2" 3 "$pe" rounds 2
export LOCAL_WORLD_SIZE=2
MASTER_ADDR=127.0.0.1 uid 1 "several machines" "0 1" 4 "$pe" rounds 1
one_line "several machines"
says "several machines" "LOCAL_WORLD_SIZE=2 of WORLD_SIZE=4: the job is on several machines, and without a secret anybody could join it"
unset LOCAL_WORLD_SIZE TORCHELASTIC_RUN_ID TORCHELASTIC_RESTART_COUNT GROUP_RANK

# How a PE ends is how the job ends, said in one line; PE 0, which the others have met at, is one as any other.
for who in 0 1; do
    uid 137 "PE $who is killed" "0 1 2" 3 "$pe" kill $who
    one_line "PE $who is killed"
    says "PE $who is killed" "PE $who \(process [0-9]+\) (was killed by signal 9|has died).*; the job is ended"
    uid 137 "PE $who is killed, its child lives" "0 1 2" 3 "$pe" kill-parent $who
    one_line "PE $who is killed, its child lives"
    uid 3 "PE $who exits with a status" "0 1 2" 3 "$pe" exit $who
    says "PE $who exits with a status" "PE $who \(process [0-9]+\) exited with status 3"
    uid 5 "PE $who calls global_exit" "0 1 2" 3 "$pe" global-exit $who
    [ -s err ] && fail "PE $who calls global_exit: says $(head -1 err)"
    uid 0 "PE $who calls global_exit(0)" "0 1 2" 3 "$pe" global-exit-0 $who
    uid 1 "PE $who makes a mistake" "0 1 2" 3 "$pe" mistake $who
    one_line "PE $who makes a mistake"
    uid "5 5 137" "PE $who calls global_exit, PE 2 is stopped" "0 1 2" 3 "$pe" stop $who
done
uid "1 1 0" "PE 2 leaves without a word" "0 1 2" 3 "$pe" quick-exit 2
says "PE 2 leaves without a word" "PE 2 \(process [0-9]+\) (exited with status 0|has died)"
uid "1 1 137" "PE 2 executes another program" "0 1 2" 3 "$pe" exec 2
says "PE 2 executes another program" "PE 2 \(process [0-9]+\) runs on, but has let go of the job"
nothing_left "ends"

# PEs that never come are named.
export SHMEM_BOOT_TIMEOUT=1
uid 1 "missing PEs" "0 2 6" 8 "$pe" rounds 1
one_line "missing PEs"
says "missing PEs" "PEs 1, 3-5, 7 of 8 have not come within 1 s \(SHMEM_BOOT_TIMEOUT\)"
uid 1 "missing PE 0" "1" 2 "$pe" rounds 1
one_line "missing PE 0"
says "missing PE 0" "PE 0 of 2 has not come on this machine within 1 s"
unset SHMEM_BOOT_TIMEOUT

# A job that cannot be
RANK=3 WORLD_SIZE=3 "$pe" rounds 1 2>err; [ $? = 1 ] || fail "rank 3 of 3"
one_line "rank 3 of 3"
says "rank 3 of 3" "RANK=3 and WORLD_SIZE=3 do not say which PE of how many this is"
RANK=0 WORLD_SIZE=3 "$pe" rounds 1 2>err; [ $? = 1 ] || fail "no port"
says "no port" "MASTER_PORT is not"
start_uid 0 2 "$pe" rounds 1 # of a job of two
RANK=1 WORLD_SIZE=3 MASTER_PORT=$port "$pe" rounds 1 2>>err; [ $? = 1 ] || fail "sizes differ"
collect
one_line "sizes differ"
says "sizes differ" "PE 1 was told that the job has 3 PEs, PE 0 that it has 2"
start_uid "0 1" 3 "$pe" rounds 1
sleep 0.3
RANK=1 WORLD_SIZE=3 MASTER_PORT=$port "$pe" rounds 1 >/dev/null 2>twice; [ $? = 1 ] || fail "twice PE 1"
grep -qE "was started by PE 1|is PE 1 of this job already" twice || fail "twice PE 1: $(head -2 twice)"
RANK=2 WORLD_SIZE=3 MASTER_PORT=$port "$pe" rounds 1 >/dev/null || fail "PE 2 after the one that was refused"
collect
[ "$codes" = "0 0" ] || fail "the job of the one that was refused: $codes"

# What PEs start
export OSHRUN
uid 0 "children" "0 1 2" 3 "$pe" children 0
uid 0 "children" "0" 1 "$pe" children 0
says "children" "was started by PE 0 .* and is no PE itself"
finish

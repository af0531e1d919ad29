# Jobs that Open MPI's mpirun starts, through PMIx.
# timeout: 300
. "$SRC/test/boot/lib.sh"
need_mpirun
need_pe
for n in 1 2 4 8; do
    mpi 0 "hello" $n "$pe" rounds 1
    lines $n "hello, $n PEs" "^well [0-9] of $n$"
done
mpi 0 "init again" 4 "$pe" rounds 5
mpi 0 "exit finalizes" 3 "$pe" end 1
mpi 0 "two programs" 1 "$pe" rounds 1 : -n 2 sh -c '"$0" rounds 1' "$pe"
lines 3 "two programs" "^well [0-9] of 3$"
for who in 0 1; do
    mpi 137 "PE $who is killed" 3 "$pe" kill $who
    mpi 3 "PE $who exits with a status" 3 "$pe" exit $who
    mpi 5 "PE $who calls global_exit" 3 "$pe" global-exit $who
    mpi 0 "PE $who calls global_exit(0)" 3 "$pe" global-exit-0 $who
    mpi 1 "PE $who makes a mistake" 3 "$pe" mistake $who
    one_line "PE $who makes a mistake"
done
nothing_left "ends"
SHMEM_BOOT_TIMEOUT=1 mpi 1 "a missing PE" 1 "$pe" rounds 1 : -n 1 sleep 8
one_line "a missing PE"
says "a missing PE" "PE 1 of 2 has not come within 1 s \(SHMEM_BOOT_TIMEOUT\); a PMIx launcher has started them"
SHMEM_BOOT=single mpi 0 "each alone" 2 "$pe" rounds 1
lines 2 "each alone" "^well 0 of 1$"
export OSHRUN
mpi 0 "children" 3 "$pe" children 0
says "children" "was started by PE 0 .* and is no PE itself"
finish

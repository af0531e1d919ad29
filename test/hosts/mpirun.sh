# How jobs of mpirun on two and three hosts begin and end: placements, init again, one PE that does something.
# timeout: 200
. "$SRC/test/hosts/lib.sh"
need_mpirun
need_network
need_pe
hosts_up 3
for map in "2 2 2" "1 0 1" "3 1 0" "1 2 5" "cyclic 2 2 2" "0 0 3"; do
    n=0
    for k in ${map#cyclic}; do n=$((n + k)); done
    job 0 "hello" "$map" "$pe" rounds 2
    lines $n "hello, PEs $map" "^well [0-9] of $n$"
done
job 0 "exit finalizes" "2 1 0" "$pe" end 1
for who in 0 1 3; do # mpirun takes whom PMIx has not seen off for one that has failed
    job 0 "PE $who calls global_exit with 0" "2 2 0" "$pe" global-exit-0 $who
done
for who in 0 1 2; do # PE 0 and PE 1 are on host 1, PE 1 is no leader, PE 2 is that of host 2
    job bad "PE $who is killed" "2 2 0" "$pe" kill $who
    lines 0 "PE $who is killed" "^went on"
    says "PE $who is killed" "^hbmesh: .*PE $who( on host host[12])?( \(process [0-9]+\))? (was killed by signal 9|has died)"
    says "PE $who is killed, its host" "host$((who / 2 + 1))"
    one_line "PE $who is killed"
    job bad "PE $who exits with a status" "2 2 0" "$pe" exit $who
    job 5 "PE $who calls global_exit" "2 2 0" "$pe" global-exit $who
    job 1 "PE $who makes a mistake" "2 2 0" "$pe" mistake $who
    one_line "PE $who makes a mistake"
    says "PE $who makes a mistake" "is not a PE of this job"
    job 139 "PE $who has a fault" "2 2 0" "$pe" fault $who
    one_line "PE $who has a fault"
    says "PE $who has a fault" "PE $who: .*SIGSEGV"
    nothing_left_on_hosts "PE $who"
done
# One PE on each host: nobody is there who could say how another has ended.
job 1 "alone, a mistake" "1 1 0" "$pe" mistake 0
one_line "alone, a mistake"
job 139 "alone, a fault" "1 1 0" "$pe" fault 1
one_line "alone, a fault"
export OSHRUN
job 0 "children" "1 1 0" "$pe" children 0
SHMEM_BOOT=single job 0 "each alone" "1 1 0" "$pe" rounds 1
lines 2 "each alone" "^well 0 of 1$"
nothing_left_on_hosts "ends"
finish

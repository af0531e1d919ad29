# The MPI twins of the applications, and the MPI programs among the models, where there is an MPI: each passes its own check,
# and models.py finds the same digest for all models and writes its tables.
# label: long
# timeout: 300
set -u
command -v mpicc >/dev/null && command -v mpirun >/dev/null || { echo "no mpicc and mpirun here"; exit 77; }
python=$(command -v python3) || { echo "no python3 here"; exit 77; }
flags="--mca mpi_yield_when_idle 1 --allow-run-as-root --oversubscribe"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || flags=
failed=0
fail() { echo "FAIL: $*"; failed=1; }

for app in gups=14,4 isx=5000 histogram=3000,1000 gather=3000,1000 stencil=37,9 graph=500; do
    name=${app%%=*}
    mpicc -O1 -Wall -Wextra "$SRC/bench/apps/${name}_mpi.c" -o "$name" || { fail "${name}_mpi does not compile"; continue; }
    for n in 1 2 3; do
        timeout 60 mpirun $flags -n $n "./$name" $(echo "${app#*=}" | tr , ' ') >out 2>&1 || fail "$name on $n: $(cat out)"
        awk -F '\t' 'NF == 5 { rows++ } END { exit !rows }' out || fail "$name on $n prints no row: $(cat out)"
    done
done

"$python" "$SRC/bench/models/models.py" --oshcc "$OSHCC" --oshrun "$OSHRUN" --mpirun-flags="$flags" --layouts 2 3 --runs 1 \
    --size updates=2000,700 --size handover=20,16 --size neighbours=500 >out 2>&1 || fail "models.py: $(cat out)"
for row in '^| message passing, 256 each | [1-9]' '^| push | [1-9]' '^| global memory, each row once | [1-9]'; do
    grep -q "$row" out || fail "models.py has no row $row: $(cat out)"
done
exit $failed

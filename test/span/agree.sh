# label: ucx
# timeout: 240
# PEs of different machines that make different collective calls are told in one sentence, by one of them, which names both.
# Most pairs of calls are tried on one machine (launch/agree); here, some.
. "$SRC/test/launch/lib.sh"
export SHMEM_MACHINES=2
"$OSHCC" -O1 -g "$SRC/test/launch/agree.c" -o agree || exit 1
./agree list | awk 'NR % 17 == 1' > pairs

tried=0
while read -r where x y name_x name_y; do
    for npes in 2 4; do
        expect 1 "$where $x $y on $npes" "$OSHRUN" --timeout 20 -n $npes ./agree "$where" "$x" "$y"
        says "$where $x $y on $npes" "^hbmesh: PE .*$name_x"
        says "$where $x $y on $npes" "^hbmesh: PE .*$name_y"
    done
    tried=$((tried + 1))
done < pairs
[ $tried -gt 25 ] || fail "only $tried pairs"
finish

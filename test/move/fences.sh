# Stores past the caches have no order with others, and processors of today bring them in order most of the time: the stress
# tests cannot be trusted to find a fence that is missing. So the code itself is looked at: a store fence before the first of
# them and one behind the last.
set -u
command -v objdump >/dev/null || { echo "skipped: no objdump"; exit 77; }
objdump -d --no-show-raw-insn "$BUILD/lib/libhbmesh.a" 2>/dev/null |
    awk '/^[0-9a-f]+ <.*>:/ { inside = /<hm_move_past_caches>:/ } inside' >code.txt
[ -s code.txt ] || { echo "FAIL: hm_move_past_caches is not in the library"; exit 1; }
order=$(sed -n -e 's/.*[[:space:]]sfence.*/fence/p' -e 's/.*[[:space:]]v*movnt.*/store/p' code.txt | uniq | tr '\n' ' ')
case $order in
'') echo "skipped: no stores past the caches on this processor"; exit 77 ;;
'fence store fence ') echo "$order" ;;
*) echo "FAIL: want fence store fence, but it is: $order"; exit 1 ;;
esac

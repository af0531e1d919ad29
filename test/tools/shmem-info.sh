# shmem-info: values, origins, warnings, JSON, exit status; and it copes with a machine that denies things.
set -u
failed=0
fail() { echo "FAIL: $*"; failed=1; }
info=$BUILD/bin/shmem-info
for v in $(env | sed -nE 's/^((SHMEM|SMA)_[A-Z_]*)=.*/\1/p'); do unset "$v"; done

"$info" >out 2>err || fail "status $?"
[ -s err ] && fail "says on stderr: $(cat err)"
for name in $(sed -nE 's/^HM_OPTION\([^"]*"([A-Z_]+)".*/SHMEM_\1/p' "$SRC/src/base/option.def"); do
    grep -q "^ *$name " out || fail "does not show $name"
done
grep -q 'SHMEM_SYMMETRIC_SIZE *1G *default' out || fail "the default heap"
grep -q 'usable cores' out || fail "the cores"
"$info" --options | grep -q memfd_create && fail "--options shows the machine"
"$info" --options | grep -q '^ *reduce *sliced *[0-9]*K* *[0-9]*K' || fail "the table of the collectives"
SHMEM_COLL=reduce:sliced@64k,scan:slots "$info" --options >out || fail "a choice of ways"
grep -q '^ *reduce *sliced *64K *64K' out || fail "the size that SHMEM_COLL gives"
grep -q '^ *scan *sliced *- *-' out || fail "a way that SHMEM_COLL closes"
SHMEM_COLL=reduce:fast "$info" >/dev/null 2>err
[ $? = 1 ] && grep -q 'SHMEM_COLL: reduce:fast' err || fail "a malformed choice of ways: $(cat err)"
"$info" --machine | grep -q SHMEM_INFO && fail "--machine shows options"
SMA_SYMMETRIC_SIZE=3m "$info" --options | grep -q '3M *from SMA_SYMMETRIC_SIZE' || fail "the old name"
SMA_SYMMETRIC_SIZE=3m SHMEM_SYMMETRIC_SIZE=4m "$info" --options | grep -q '4M *from the env' || fail "the new name wins"
SHMEM_SYMETRIC_SIZE=1 "$info" 2>&1 >/dev/null | grep -q 'SHMEM_SYMETRIC_SIZE.*did you mean SHMEM_SYMMETRIC_SIZE' ||
    fail "the nearest name"
SHMEM_PE=0 SHMEM_NPES=1 SHMEM_LOCAL_PE=0 SHMEM_LOCAL_NPES=1 SHMEM_LAUNCH=3:4 "$info" 2>&1 >/dev/null | grep . &&
    fail "warns about what the launcher sets"
SHMEM_SYMMETRIC_SIZE=much "$info" >/dev/null 2>err
[ $? = 1 ] && grep -q 'SHMEM_SYMMETRIC_SIZE=much' err || fail "a malformed value: $(cat err)"
"$info" --nonsense >/dev/null 2>err
[ $? = 2 ] && grep -q -e --nonsense err || fail "an unknown argument"
"$info" --help | grep -q usage || fail "--help"
"$info" --version | grep -q 'hbmesh .*OpenSHMEM 1.6' || fail "--version"
if command -v python3 >/dev/null; then
    "$info" --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["inlined"]["table_version"] >= 2 and d["inlined"]["pes"] > 0
names = [o["name"] for o in d["options"]]
assert "SHMEM_SYMMETRIC_SIZE" in names and d["openshmem"] == "1.6"
assert {c["name"]: c["way"] for c in d["collectives"]}["reduce"] == "sliced"
assert all(m["state"] for m in d["machine"])' || fail "--json"
fi
# Under limits it reports them rather than dying of them.
(ulimit -f 100; "$info" --machine) | grep -A1 'file size' | grep -q -e '->' || fail "a small limit on files is not remarked"
(ulimit -v 4000000; "$info" --machine) | grep -A1 'one address range' | grep -q -e '->' || fail "a small address space"
(ulimit -n 10; "$info" --machine) | grep -A1 'open files' | grep -q -e '->' || fail "few open files"
exit $failed

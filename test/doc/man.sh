# Every public function and generic name has a manual page, in one place only, and the pages are well-formed.
set -u
failed=0
fail() { echo "FAIL: $*"; failed=1; }
sh "$SRC/doc/man/make.sh" "$SRC" "$PWD/man" 0 "$SRC/test/abi/symbols.txt" || exit 1
grep -v '^[^ ]* p' "$SRC/test/abi/symbols.txt" | cut -d' ' -f2 >names
sed -nE 's/^#define (shmemx?_[a-z0-9_]+)\(.*/\1/p' "$SRC"/include/shmem/generic*.h >>names
while read -r name; do
    [ -f "man/man3/$name.3" ] || fail "no page leads to $name"
done <names
[ "$(wc -l <names)" -gt 1788 ] || fail "only $(wc -l <names) names"
# A page of its own for each of a table's rows, and no row lost on the way.
for table in src/base/option.def:hbmesh.7:HM_OPTION tools/oshrun/options.def:oshrun.1:OSHRUN_OPTION; do
    file=${table%%:*} page=${table#*:}
    want=$(grep -c "^${page#*:}(" "$SRC/$file")
    page=${page%:*}
    have=$(awk '/^\.SH (ENVIRONMENT|OPTIONS)/ { on = 1; next } /^\.SH/ { on = 0 } on && /^\.TP/ { n++ } END { print n + 0 }' \
        "man/man${page##*.}/$page")
    [ "$have" -ge "$want" ] || fail "$page shows $have of the $want options of $file"
done
if command -v groff >/dev/null; then
    for page in "$SRC"/doc/man/*.[137]; do
        said=$(groff -man -t -ww -z "$page" 2>&1)
        [ -z "$said" ] || fail "$said"
    done
fi
if command -v man >/dev/null && man -M "$PWD/man" -w 3 shmem_put >/dev/null 2>&1; then
    MANPAGER=cat man -M "$PWD/man" 3 shmem_double_put 2>&1 | grep -q 'memory of another PE' || fail "man shmem_double_put"
fi
exit $failed

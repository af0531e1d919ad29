# Can the tests of the names fail? Each function in turn is replaced by one that does nothing, and the test of its name
# must notice. Nobody can tell the difference for those that only order or hint, on memory that is mapped.
# cores: 1
# label: long
# timeout: 3600
set -u
command -v python3 > /dev/null || exit 77
names=$SRC/test/names
python3 "$names/make_mutants.py" mutants.c > list || exit 1
python3 "$names/make_names.py" c test.c || exit 1
"$OSHCC" -std=gnu99 -w -shared -fPIC mutants.c -o libmutants.so || exit 1
"$OSHCC" -std=gnu99 -w -I"$names" test.c -o test || exit 1
"$OSHRUN" --timeout 120 -n 2 -x LD_PRELOAD="$PWD/libmutants.so" ./test || { echo "fails with nothing broken"; exit 1; }
while read -r name; do
    "$OSHRUN" --timeout 5 -n 2 -x BREAK="$name" -x LD_PRELOAD="$PWD/libmutants.so" ./test "$name" \
        > out 2>&1 < /dev/null && echo "$name"
done < list > unnoticed
grep -vE '_(fence|quiet)$|_session_st(art|op)$' unnoticed > bad
echo "$(wc -l < list) functions broken, $(wc -l < bad) unnoticed"
[ ! -s bad ] || { cat bad; exit 1; }

# The compiler wrapper: what it adds to which kind of command, and that it leaves everything else alone.
# timeout: 120
set -u
failed=0
fail() { echo "FAIL: $*"; failed=1; }
unset OSHCC_CC OSHCC_CXX SHMEM_CC SHMEM_CXX
bin=$(dirname "$OSHCC")
says() { # WANTED COMMAND ...
    want=$1
    shift
    "$@" >out 2>&1
    grep -qF -e "$want" out || fail "$* does not say '$want' but: $(cat out)"
}
silent() { # UNWANTED COMMAND ...
    not=$1
    shift
    "$@" >out 2>&1
    grep -qF -e "$not" out && fail "$* says '$not': $(cat out)"
}

says -lhbmesh "$OSHCC" -show a.c -o a
says hbmesh-start.o "$OSHCC" -showme a.c -o a
says hbmesh-start.o "$OSHCC" -show a.o
for stop in -c -S -E -M -r -fsyntax-only; do silent -lhbmesh "$OSHCC" -show $stop a.c; done
silent hbmesh-start.o "$OSHCC" -show -shared -fPIC a.c -o liba.so
says -lhbmesh "$OSHCC" -show -shared -fPIC a.c -o liba.so
for archive in -hm-static -static -static-pie; do
    says libhbmesh.a "$OSHCC" -show $archive a.c
    silent -lhbmesh "$OSHCC" -show $archive a.c
done
silent -hm-static "$OSHCC" -show -hm-static a.c
says '-x none' "$OSHCC" -show -x c++ a.txt
silent 'b.o -x none' "$OSHCC" -show -x c++ a.txt -x none b.o
silent hbmesh "$OSHCC" -show:nothing --version                # not one of ours, and no input
says "$("${CC:-cc}" --version | head -n 1 | sed 's/^[^ ]* //')" "$OSHCC" --version
says "$("${CC:-cc}" -dumpmachine)" "$OSHCC" -dumpmachine
says "'-DA=\"b c\"'" "$OSHCC" -show '-DA="b c"' a.c
says "'-DQ='\\''x'\\'" "$OSHCC" -show "-DQ='x'" a.c
says -I "$OSHCC" -showme:compile
silent " -l" "$OSHCC" -showme:compile
says -lhbmesh "$OSHCC" -showme:link
says "(hbmesh)" "$OSHCC" -showme:version
says "not: nonsense" "$OSHCC" -showme:nonsense
says "my cc -flag" env OSHCC_CC="  my  cc -flag " "$OSHCC" -show a.c
says "other" env SHMEM_CC=other "$OSHCC" -show a.c
says "mine" env SHMEM_CC=other OSHCC_CC=mine "$OSHCC" -show a.c
says "yours" env OSHCC_CXX=yours "$OSHCXX" -show a.cpp
silent "yours" env OSHCC_CXX=yours "$OSHCC" -show a.c
says "cannot run the compiler" env OSHCC_CC=/nowhere/cc "$OSHCC" a.c

# Arguments arrive as they were.
cat >show-arguments.sh <<'END'
#!/bin/sh
for a; do printf '<%s>\n' "$a"; done
END
chmod +x show-arguments.sh
OSHCC_CC=$PWD/show-arguments.sh "$OSHCC" -c 'a b.c' '' "q'uote" '$HOME' '*' '\' >out
for a in 'a b.c' '' "q'uote" '$HOME' '*' '\'; do grep -qFx -e "<$a>" out || fail "argument '$a' was changed: $(cat out)"; done

# The exit status is the compiler's; a value in an option is no input.
echo 'int main(void) { return bad; }' >bad.c
"$OSHCC" bad.c -o bad 2>err && fail "no error for a bad program"
grep -q bad err || fail "the compiler's message is lost"
silent -lhbmesh "$OSHCC" -show -E -include stdio.h -
for alias in oshcc oshc++ oshcxx oshCC; do [ -x "$bin/$alias" ] || fail "no $alias"; done
for alias in oshc++ oshcxx oshCC; do
    printf '#include <shmem.h>\n#include <vector>\nint main() { std::vector<int> v(3); return (int)v.size() - 3; }\n' >v.cpp
    "$bin/$alias" v.cpp -o v && ./v || fail "$alias cannot build C++"
done
exit $failed

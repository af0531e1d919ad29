# Every source compiles without a word in gcc and clang, and for aarch64 where the cross compiler is there. (The build
# itself has used one of them already.)
# timeout: 400
set -u
flags="-std=gnu11 -O1 -Wall -Wextra -Werror -fvisibility=hidden -I$SRC/src -I$SRC/include"
ls "$SRC"/src/*/*.c "$SRC"/tools/*/*.c "$SRC"/examples/*.c "$SRC"/examples/*/*.c 2>/dev/null >files
[ -s files ] || { echo "FAIL: no sources"; exit 1; }
failed=0
tried=0
for compiler in gcc clang aarch64-linux-gnu-gcc; do
    command -v "$compiler" >/dev/null || continue
    tried=$((tried + 1))
    xargs -P 2 -n 8 "$compiler" $flags -fsyntax-only <files || { echo "FAIL: not clean in $compiler"; failed=1; }
done
[ $tried = 0 ] && exit 77
exit $failed

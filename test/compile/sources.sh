# Every source compiles without a word in gcc and clang, and for aarch64 where the cross compiler is there.
# timeout: 300
set -u
failed=0
flags="-std=gnu11 -O1 -Wall -Wextra -Werror -fvisibility=hidden -I$SRC/src -I$SRC/include"
tried=0
for compiler in gcc clang aarch64-linux-gnu-gcc; do
    command -v "$compiler" >/dev/null || continue
    tried=$((tried + 1))
    for file in "$SRC"/src/*/*.c "$SRC"/tools/*/*.c "$SRC"/examples/*.c "$SRC"/examples/*/*.c; do
        [ -f "$file" ] || continue
        "$compiler" $flags -fsyntax-only "$file" || { echo "not clean in $compiler: $file"; failed=1; }
    done
done
[ $tried = 0 ] && exit 77
exit $failed

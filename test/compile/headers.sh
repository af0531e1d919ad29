# Each public header compiles alone, in every standard of C and C++ that people still use, pedantically and silently.
# timeout: 300
set -u
failed=0
tried=0
check() { # COMPILER LANGUAGE STANDARD
    command -v "$1" >/dev/null || return 0
    echo | "$1" -x "$2" -std="$3" -fsyntax-only - 2>/dev/null || return 0 # this compiler does not know it yet
    for header in shmem.h shmemx.h pshmem.h mpp/shmem.h mpp/shmemx.h; do
        [ -f "$SRC/include/$header" ] || { echo "no include/$header"; failed=1; continue; }
        tried=$((tried + 1))
        printf '#include <%s>\nint hm_nothing;\n' $header |
            "$1" -x "$2" -std="$3" -fsyntax-only -Wall -Wextra -pedantic -Werror -I"$SRC/include" - ||
            { echo "$header: not clean in $1 -std=$3"; failed=1; }
    done
}
for standard in c99 c11 gnu17 c2x; do
    check gcc c $standard
    check clang c $standard
done
for standard in c++11 gnu++17 c++20; do
    check g++ c++ $standard
    check clang++ c++ $standard
done
echo "$tried headers in their standards"
[ $tried = 0 ] && exit 77
exit $failed

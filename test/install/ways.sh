# Installs into a staging folder, moves the prefix away, and builds a program in each way that the README names: oshcc,
# oshc++, pkg-config, CMake. All run without LD_LIBRARY_PATH, and nothing of them leads back to where it was built.
# timeout: 300
set -u
fail() { echo "FAIL: $*"; exit 1; }
unset LD_LIBRARY_PATH SHMEM_CC SHMEM_CXX OSHCC_CC OSHCC_CXX
stage=$PWD/stage
manifest=$BUILD/install_manifest.txt # the user's own installation stays the one that make uninstall knows
[ -f "$manifest" ] && cp "$manifest" kept-manifest
DESTDIR=$stage cmake --install "$BUILD" --prefix /opt/hbmesh >install.log || { cat install.log; fail "cmake --install"; }
mv "$manifest" manifest
[ -f kept-manifest ] && mv kept-manifest "$manifest"
[ -x "$stage/opt/hbmesh/bin/oshcc" ] || fail "no bin/oshcc under DESTDIR/PREFIX"

moved="$PWD/a moved, prefix" # a space and a comma: both are legal
mv "$stage/opt/hbmesh" "$moved" || fail mv
find "$stage" -type f | grep . && fail "files outside of the prefix"
grep -rlI -e "$BUILD" -e "$stage" "$moved" | grep . && fail "these name the folder they were built in"

expect() { # NAME COMMAND ...
    name=$1
    shift
    "$@" >run.log 2>&1 || { cat run.log; fail "$name: $* does not run"; }
    grep -q "^hello from" run.log || { cat run.log; fail "$name: says something else"; }
    echo "ok: $name"
}
run() { # NAME PROGRAM
    expect "$1, 1 PE" "$2"
    expect "$1, 3 PEs" "$moved/bin/oshrun" -n 3 "$2"
    grep -q "^hello from 3 PEs" run.log || fail "$1: not 3 PEs"
}

"$moved/bin/oshcc" -O2 -Wall -Werror "$SRC/test/install/hello.c" -o oshcc-program || fail "oshcc"
run oshcc ./oshcc-program
"$moved/bin/oshcc" -hm-static -O2 "$SRC/test/install/hello.c" -o archive-program || fail "oshcc -hm-static"
ldd ./archive-program | grep libhbmesh && fail "-hm-static still needs libhbmesh.so"
run "oshcc -hm-static" ./archive-program
cp "$SRC/test/install/hello.c" hello.cpp
for wrapper in oshc++ oshcxx oshCC; do
    "$moved/bin/$wrapper" -O2 hello.cpp -o $wrapper-program || fail "$wrapper"
    run $wrapper ./$wrapper-program
done
ln -s "$moved/bin/oshcc" elsewhere-oshcc
./elsewhere-oshcc "$SRC/test/install/hello.c" -o link-program || fail "oshcc through a symbolic link"
run "oshcc through a symbolic link" ./link-program
cc=$CC
eval "$cc -c $("$moved/bin/oshcc" -showme:compile) '$SRC/test/install/hello.c' -o show.o" || fail "-showme:compile, quoted"

# The rest is read by tools that split at spaces.
plain=$PWD/plain
mv "$moved" "$plain" && moved=$plain
$cc -c $("$moved/bin/oshcc" -showme:compile) "$SRC/test/install/hello.c" -o show.o || fail "-showme:compile"
$cc show.o $("$moved/bin/oshcc" -showme:link) -o showme-program || fail "-showme:link"
run showme ./showme-program
$("$moved/bin/oshcc" -show "$SRC/test/install/hello.c" -o show-program) || fail "-show"
run show ./show-program

# A shared object takes no start object; a program that uses it does.
printf '#include <shmem.h>\nint me(void) { return shmem_my_pe(); }\n' >me.c
"$moved/bin/oshcc" -shared -fPIC me.c -o libme.so || fail "oshcc -shared"

if command -v pkg-config >/dev/null; then
    for package in hbmesh openshmem; do
        export PKG_CONFIG_PATH=$moved/lib/pkgconfig
        $cc -O2 "$SRC/test/install/hello.c" $(pkg-config --cflags --libs $package) -o pc-$package || fail "pkg-config"
        run "pkg-config $package" ./pc-$package
    done
fi

for package in hbmesh OpenSHMEM; do
    mkdir -p cmake-$package
    cat >cmake-$package/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package($package REQUIRED)
add_library(part SHARED $PWD/me.c)
target_link_libraries(part PRIVATE $package::$package)
add_executable(program $SRC/test/install/hello.c)
target_link_libraries(program PRIVATE part $package::$package)
END
    cmake -S cmake-$package -B cmake-$package/build -DCMAKE_PREFIX_PATH="$moved" >cmake.log 2>&1 &&
        cmake --build cmake-$package/build >>cmake.log 2>&1 || { cat cmake.log; fail "find_package($package)"; }
    run "find_package($package)" cmake-$package/build/program
done

# Away with it again.
sed "s,^/opt/hbmesh,$moved," manifest >moved-manifest
sh "$SRC/tools/uninstall.sh" moved-manifest || fail "uninstall"
find "$moved" ! -type d | grep . && fail "left after uninstall"
exit 0

# The tightest memory limit, with groups made up in a mount namespace: both versions, limits further up, none at all.
set -u
"$CC" -std=gnu11 -O1 -I"$SRC/src" "$SRC/test/unit/memlimit.c" "$SRC/src/base/memlimit.c" -o memlimit || exit 1
cat >inside.sh <<'EOF'
mount -t tmpfs none /sys/fs/cgroup || exit 77
mkdir -p v && mount -t tmpfs none v && printf '%b' "$1" >v/cgroup && mount --bind v/cgroup /proc/$$/cgroup || exit 77
shift
while [ $# -gt 1 ]; do
    mkdir -p "/sys/fs/cgroup/$(dirname "$1")" && echo "$2" >"/sys/fs/cgroup/$1"
    shift 2
done
exec ./memlimit print
EOF
unshare -m bash inside.sh '0::/\n' >/dev/null 2>&1 || { echo "no mount namespace here"; exit 77; }
failed=0
# EXPECTED CGROUPS [FILE VALUE]...
expect() {
    local want=$1 got
    shift
    got=$(unshare -m bash inside.sh "$@" 2>&1)
    case $got in $want) ;; *) echo "FAIL $*: $got instead of $want"; failed=$((failed + 1)) ;; esac
}
machine='[0-9]* of the *'
expect '1048576 of cgroup /a/b (memory.max)' '0::/a/b\n' a/b/memory.max 1048576 a/memory.max max
expect '2097152 of cgroup /a (memory.max)' '0::/a/b\n' a/b/memory.max max a/memory.max 2097152
expect '4096 of cgroup /a (memory.max)' '0::/a/b\n' a/b/memory.max 1048576 a/memory.max 4096
expect '3145728 of cgroup / (memory.max)' '0::/host/path\n' memory.max 3145728
expect '1048576 of cgroup /j (memory.limit_in_bytes)' '5:cpu,cpuacct:/x\n4:memory:/j\n0::/\n' memory/j/memory.limit_in_bytes 1048576
expect '1048576 of cgroup / (memory.limit_in_bytes)' '4:hugetlb,memory:/docker/1\n' memory/memory.limit_in_bytes 1048576
expect "$machine" '4:memory:/j\n' memory/j/memory.limit_in_bytes 9223372036854771712
expect "$machine" '0::/a\n' a/memory.max max
expect "$machine" '4:memory_not:/j\n' memory/j/memory.limit_in_bytes 1048576
expect "$machine" ''
[ $failed = 0 ]

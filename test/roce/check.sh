# The library over RDMA: in virtual machines with Debian's kernel and a soft RoCE device. The kernel is downloaded and
# unpacked, not installed; the machines have the host's root folder, read-only, so that they run what is built here.
# label: long
# timeout: 1200
. "$SRC/test/ucx/lib.sh"
skip() {
    echo "skipped: $*"
    exit 77
}
work=$BUILD/roce
mkdir -p "$work"
exec 9>"$work/lock"
flock 9 # short.sh has the same folder

# --- what is needed ---
[ "$(id -u)" = 0 ] || skip 'the virtual machines take the root folder as root'
[ "$(uname -m)" = x86_64 ] || skip 'not on this machine'
command -v apt-get >/dev/null || skip 'Debian only'
missing=
for need in qemu-system-x86_64=qemu-system-x86 busybox=busybox-static modprobe=kmod cpio=cpio rdma=iproute2 \
    setpriv=util-linux; do
    command -v "${need%%=*}" >/dev/null || missing="$missing ${need#*=}"
done
[ -e /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so ] || missing="$missing ibverbs-providers"
if [ -n "$missing" ]; then
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing \
        >"$work/apt.log" 2>&1 || skip "apt-get cannot install$missing"
fi
if ! ls "$work"/kernel/lib/modules/*/modules.dep.bin >/dev/null 2>&1; then # the last that is made of it
    package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image.*\)/\1/p' | head -1)
    (cd "$work" && rm -rf kernel ./*.deb && apt-get download "$package" >apt.log 2>&1 && dpkg-deb -x ./*.deb kernel &&
        rm ./*.deb) || skip 'the kernel cannot be downloaded'
    depmod -b "$work/kernel" "$(ls "$work/kernel/lib/modules")"
fi

# --- what the machines begin with ---
kernel=$(ls "$work/kernel/lib/modules")
root=$work/root
rm -rf "$root"
mkdir -p "$root"/bin "$root"/dev "$root"/proc "$root"/sys "$root"/host "$root"/memory "$root"/new "$root"/modules.d
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh mount insmod mkdir cat chroot poweroff echo; do ln -s busybox "$root/bin/$name"; done
# rdma_rxe asks for crc32 when it runs: no dependency tells of that
for module in crc32_generic crc32c_generic virtio_pci virtio_net 9pnet_virtio 9p overlay rdma_rxe ib_uverbs rdma_ucm; do
    modprobe -d "$work/kernel" -S "$kernel" --show-depends $module | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' | while read -r file; do
    cp "$file" "$root/modules.d/"
    echo "/modules.d/$(basename "$file")"
done >"$root/modules"
cp "$SRC/test/roce/init" "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

"$CC" -O1 -g -I"$SRC/src" "$SRC/test/ucx/contract.c" -o "$work/contract" -pthread -ldl || fail 'contract.c does not build'
"$OSHCC" -O1 -g "$SRC/test/roce/pin.c" -o "$work/pin" || fail 'pin.c does not build'

programs="rma amo signal wait ordering coll_random mixed lock_order lock_rules"
for program in $programs; do
    source=$SRC/test/spec/$program.c
    [ "$work/$program" -nt "$source" ] && [ "$work/$program" -nt "$SRC/test/spec/check.h" ] && continue
    "$OSHCC" -O1 -g -DCHECK_SLOW=20 "$source" -o "$work/$program" || fail "$program.c does not build"
done

# --- the machines ---
# By hand: PARTS=contract,spec bash check.sh, with the environment of the tests.
parts=${PARTS:-contract,pin,queues,refused,spec,two}
machine() { # NODE NODES NETWORK
    timeout 580 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1500 -display none -serial stdio \
        -monitor none -no-reboot -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initrd.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off tsc=unstable SRC=$SRC BUILD=$BUILD NODE=$1 NODES=$2 PARTS=$parts" \
        -fsdev local,id=f0,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=f0,mount_tag=host \
        -netdev "$3" -device "virtio-net-pci,netdev=n0,mac=52:54:00:99:00:0$1" </dev/null >"$work/node$1of$2.log" 2>&1
}
passed() { # NODE NODES
    tr -d '\r' <"$work/node$1of$2.log"
    grep -q GUEST-STATUS-0 "$work/node$1of$2.log" || fail "machine $1 of $2"
}

machine 1 1 user,id=n0,restrict=on
passed 1 1
case ,$parts, in *,two,*) ;; *) exit 0 ;; esac

port=$((20000 + $$ % 20000))
machine 1 2 socket,id=n0,listen=127.0.0.1:$port &
sleep 1
machine 2 2 socket,id=n0,connect=127.0.0.1:$port
wait
passed 1 2
passed 2 2
exit 0

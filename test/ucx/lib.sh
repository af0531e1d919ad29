# What the scripts about the transport ucx share.
fail() {
    echo "$*"
    exit 1
}
if [ ! -e "$BUILD/lib/hbmesh/libhbmesh-ucx.so" ]; then
    echo 'skipped: the transport ucx is not built here (Debian: libucx-dev)'
    exit 77
fi

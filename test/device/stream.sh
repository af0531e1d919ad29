# Operations on streams, on the twin: held back, in order with kernels, and collectives, with 1, 2, 3 and 8 PEs, also with
# copies that are seen late.
# timeout: 240
. "$SRC/test/device/lib_stream.sh"
for t in stream_hold stream_order stream_coll; do build $t; done
for n in 1 2 3 8; do
    for t in stream_hold stream_order stream_coll; do
        job $n "./$t"
        HBMESH_TWIN_LATE=1 job $n "./$t"
    done
done
finish

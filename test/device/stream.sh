# Operations on streams, on the twin: held back, in order with kernels, and collectives, with 1, 2, 3 and 8 PEs, also with
# copies that are seen late.
# timeout: 300
. "$SRC/test/device/lib_stream.sh"
programs="stream_hold stream_order stream_coll stream_many stream_again"
for t in $programs; do build $t; done
for n in 1 2 3 8; do
    for t in $programs; do
        job $n "./$t"
        HBMESH_TWIN_LATE=1 job $n "./$t"
    done
done
finish

# Operations on streams of the kind cuda, on the second twin: streams that are held back, meetings, collectives.
# timeout: 300
export SHMEM_HEAP_KIND=cuda
. "$SRC/test/device/lib_stream.sh"
programs="stream_hold stream_order stream_coll stream_again"
for t in $programs; do build $t; done
for n in 1 2 3 8; do
    for t in $programs; do job $n "./$t"; done
done
finish

# Operations on streams between make-believe machines, where signals, meetings and data go through the network.
# timeout: 240
. "$SRC/test/device/lib_stream.sh"
for t in stream_hold stream_order stream_coll; do build $t; done
while read -r MACHINES n; do
    for t in stream_hold stream_order stream_coll; do
        HBMESH_TWIN_LATE=1 job "$n" "./$t"
    done
done <<END
2 2
3 3
3+1 4
2 8
END
finish

# Operations on streams between make-believe machines, where signals, meetings and data go through the network.
# timeout: 300
. "$SRC/test/device/lib_stream.sh"
programs="stream_hold stream_order stream_coll stream_many stream_again"
for t in $programs; do build $t; done
while read -r MACHINES n; do
    for t in $programs; do
        HBMESH_TWIN_LATE=1 job "$n" "./$t"
    done
done <<END
2 2
3 3
3+1 4
2 8
END
finish

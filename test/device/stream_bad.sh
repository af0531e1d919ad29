# What goes wrong on streams: wrong arguments, members that do not agree, what the runtime refuses, jobs that end.
# timeout: 200
. "$SRC/test/device/lib_stream.sh"
build stream_bad

put=shmemx_putmem_on_stream sum=shmemx_int_sum_reduce_on_stream wait=shmemx_signal_wait_until_on_stream
argument() { ends 1 "^hbmesh: PE 1: $2" ./stream_bad argument "$1"; }
argument pe "$put: pe: 2 is not a PE of this job, whose PEs are 0 to 1$"
argument dest "$put: dest: 0x[0-9a-f]+ is not symmetric memory: it is on the stack"
argument source "shmemx_getmem_on_stream: source: 0x[0-9a-f]+ is not symmetric memory: it is on the stack"
argument range "$put: dest: the 1099511627776 bytes from .* begin in the device heap"
argument sig "shmemx_putmem_signal_on_stream: sig_addr: 0x[0-9a-f]+ is not symmetric memory"
argument sig_op "shmemx_putmem_signal_on_stream: sig_op: 77 is none of"
argument aligned "$wait: sig_addr: 0x[0-9a-f]+ is not aligned to its 8 bytes"
argument cmp "$wait: cmp: 77 is no comparison"
argument root "shmemx_broadcastmem_on_stream: PE_root: 2 is not in the team, whose PEs are 0 to 1$"
argument team "shmemx_barrier_on_stream: team: SHMEM_TEAM_INVALID given"
argument sum "$sum: source: 0x[0-9a-f]+ is not symmetric memory"

disagree() { NPES=3 ends 1 "the PEs of a collective do not agree: PE . called $2, but PE . called $3" ./stream_bad disagree "$1"; }
long='shmemx_long_sum_reduce_on_stream' cast='shmemx_broadcastmem_on_stream \(8 bytes, root 0\)'
disagree sizes "$long \((80|88) bytes\)" "$long \((80|88) bytes\)"
disagree types "shmemx_(long|double)_sum_reduce_on_stream \(80 bytes\)" "shmemx_(long|double)_sum_reduce_on_stream \(80 bytes\)"
disagree calls "($cast|shmemx_barrier_on_stream)" "($cast|shmemx_barrier_on_stream)"
MACHINES=3 disagree sizes "$long \((80|88) bytes\)" "$long \((80|88) bytes\)"

# Nothing is waited for instead: the call says no, and SHMEM_DEBUG why.
ends 0 '' ./stream_bad handle
ends 0 '' ./stream_bad faults
SHMEM_DEBUG=on ends 0 "$put \(PE [01]\): not put on the stream: aclrtMemcpyAsync: error 207001" ./stream_bad faults
SHMEM_HEAP_KIND=host SHMEM_DEBUG=on ends 0 "$put: this job has no device heap" ./stream_bad no-streams

# Behind the call: a sentence with the call and the PE.
ends 1 "^hbmesh: PE 0: $put: a copy failed \(memory of PE 1\): aclrtMemcpy" ./stream_bad late
ends 1 "^hbmesh: PE 0: shmemx_putmem_signal_on_stream: a copy failed \(memory of PE 1\)" ./stream_bad late signal
grep -q 'the signal has come' out && fail "a signal without its data"
ends 1 "^hbmesh: PE 0: $wait: device 0 is lost" ./stream_bad ends lost
ends 1 "shmemx_barrier_on_stream: team: this team was destroyed before the stream came to this call" ./stream_bad destroyed

# What the runtime does by itself is waited for at finalize, which names what failed there.
ends 0 '' ./stream_bad copy
ends 1 "^hbmesh: PE 0: shmem_finalize: something on a stream .* copies there were of $put \(PE 1\): .*error 507052" ./stream_bad copy fails

# Before that, too: by the next call of the library's that synchronises or that names the stream, or with none. Ascend tells a
# failure once, so it may have been told to the program; CUDA tells it to everybody.
lost() { ends 1 "^hbmesh: PE 0: ($2|$put): something on stream 0x[0-9a-f]+ of .* copies there were of .*$put \(PE 1\): .*error $code" ./stream_bad lost "$1"; }
every_lost() { lost alone "$put"; lost quiet shmem_quiet; lost call shmemx_getmem_on_stream; lost held shmemx_getmem_on_stream; }
code=507052
every_lost
ends 1 "copies (there|on stream 0x[0-9a-f]+) were of .*$put \(PE 1\)" ./stream_bad lost told
code=700
export SHMEM_HEAP_KIND=cuda
every_lost
lost told shmem_quiet
export SHMEM_HEAP_KIND=ascend

# A job that hangs: the launcher says what streams wait for, too.
expect 124 "streams that wait for ever" "$OSHRUN" --timeout 2 -n 2 ./stream_bad hang
says "the word of a stream" "PE 0 .* has a stream that waits in $wait on address .* until it is == 99 \(it was 0\)"
says "the barrier of a stream" "PE 0 .* has a stream that waits in shmemx_barrier_on_stream on the world team for PE 1 \(1 of 2 have not come\)"
says "the host beside its streams" "PE 0 .* sleeps outside the library"
says "finalize" "PE 1 .* waits in shmem_finalize for what is on streams"

# Ends with streams that wait: nobody stays behind.
ends 0 "warning: shmem_finalize waits for 2 operations on streams: $put \(PE 1\), shmemx_barrier_on_stream$" ./stream_bad finalize
ends 3 'PE 1 .* exited with status 3' ./stream_bad ends exit
ends 4 '' ./stream_bad ends global_exit
ends 134 'PE 1: SIGABRT' ./stream_bad ends abort
sleep 1
for p in /proc/[0-9]*; do
    [ "$(readlink "$p/exe" 2>/dev/null)" = "$work/stream_bad" ] && fail "process ${p#/proc/} is left"
done
finish

# timeout: 280
# Every wrong use ends in one sentence that names the call, the argument and the remedy, with a non-zero status, and at
# once: on 2 PEs, and alone where one PE can do it.
set -u
"$OSHCC" -O1 -Wno-nonnull -Wno-stringop-overread -Wno-stringop-overflow -o bad "$SRC/test/bad/bad.c" -lpthread || exit 1
. "$SRC/test/bad/lib.sh"
both stack 'shmem_long_p: dest: .*stack' 'shmem_malloc'
both malloced 'shmem_long_p: dest: .*malloc memory'
both malloced_big 'shmem_putmem: dest: .*malloc memory'
both library_data 'shmem_putmem: dest: .*libc'
both read_only 'shmem_putmem: dest: .*read-only'
both null_put 'shmem_putmem: dest: .*NULL'
both code 'shmem_getmem: source: .*(code|read-only)'
both above_top "shmem_long_p: dest: .*(top|end) of"
both get_stack 'shmem_long_g: source: .*stack'
both range_heap 'shmem_putmem: dest: the 1048576 bytes .*heap.* behind'
both range_data 'shmem_getmem: source: .*static data.*behind'
both range_overflow 'shmem_long_put: dest: .*number of elements'
both range_stride 'shmem_long_iput: dest:'
both stride_zero 'shmem_long_iput: dst: the stride is 0'
both stride_block 'shmem_long_ibput: dst: the stride is 2.*block of 3'
both pe_high 'shmem_long_p: pe: [12] is not a PE'
both pe_negative 'shmem_long_p: pe: -1 is not a PE'
both pe_atomic 'shmem_long_atomic_inc: pe: 99999'
both pe_lost 'shmem_getmem: pe: 1073741824'
both team_rank 'shmem_ctx_long_p: pe: 1 is not in the team'
both misaligned 'shmem_long_atomic_inc: dest: .*aligned to the 8'
both misaligned32 'shmem_int_atomic_fetch_add: dest: .*aligned to the 4'
both misaligned_signal 'shmem_signal_set: sig_addr: .*aligned'
both signal_op 'shmem_putmem_signal: sig_op: 7'
both stale_team 'shmem_team_sync: team: .*destroyed'
both wild_team 'shmem_team_sync: team: 0x12345678 is no team'
both invalid_team 'shmem_team_sync: team: SHMEM_TEAM_INVALID'
both stale_ctx 'shmem_ctx_long_p: ctx: .*destroyed'
both wild_ctx 'shmem_ctx_quiet: ctx: 0x777 is no context'
both world_destroy 'shmem_team_destroy: team: SHMEM_TEAM_WORLD'
both default_destroy 'shmem_ctx_destroy: ctx: SHMEM_CTX_DEFAULT'
expect 2 malloc_differs 'do not agree' 'PE 0 called shmem_malloc \(64 bytes\)|but PE 0 called shmem_malloc \(64' '128 bytes'
expect 2 malloc_barrier 'do not agree' 'shmem_malloc \(64 bytes\)' 'shmem_barrier_all'
expect 2 free_differs 'do not agree' 'shmem_free'
both double_free 'shmem_free: ptr: .*freed'
both free_inside 'shmem_free: ptr: .*inside'
both free_malloc 'shmem_free: ptr: .*malloc memory'
expect 2 coll_differs 'do not agree' 'sum_reduce' 'max_reduce'
expect 2 root_differs 'do not agree' 'root 0' 'root 1'
both root_wild 'shmem_long_broadcast: PE_root: 77'
expect 2 size_differs 'do not agree' 'fcollect'
both coll_stack 'shmem_long_sum_reduce: dest: .*stack'
expect 2 finalize_barrier 'do not agree' 'shmem_finalize' 'shmem_barrier_all'
both wait_stack 'shmem_long_wait_until: ivar: .*stack'
both wait_cmp 'shmem_long_wait_until: cmp: 17'
both lock_stack 'shmem_set_lock: lock: .*stack'
both lock_not_held 'shmem_clear_lock: lock: .*not held'
both align_odd 'shmem_align: alignment: 24'
both set_wrong 'shmem_barrier: .*PE_size 1000'
expect 2 set_not_in 'shmem_barrier: .*PE 1 is not in this active set'
[ "${SHMEM_HEAP_KIND:-host}" != host ] || both freed_page 'freed' # devices have no pages that could be closed
both thread_level 'shmem_init_thread: requested: 99'
both sync_pe_wild 'shmemx_sync_pe: pe: 1000'
both after_finalize 'shmem_long_p: called after shmem_finalize'
both barrier_after_finalize 'shmem_barrier_all: called after shmem_finalize'
early=early
both early_put 'shmem_long_p: called before shmem_init'
both early_barrier 'shmem_barrier_all: called before shmem_init'
both early_malloc 'shmem_malloc: called before shmem_init'
both early_my_pe 'shmem_my_pe: called before shmem_init'
early=
flags=--check
both check_freed 'shmem_long_p: dest: .*freed'
both check_overrun 'shmem_putmem: dest: the 128 bytes .*not inside one'
both stack 'shmem_long_p: dest: .*stack'
flags=
echo "$passed passed, $failed failed"
[ $failed = 0 ]

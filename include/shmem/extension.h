/* Every function of shmemx.h, in the same manner as shmem/standard.h lists those of OpenSHMEM. */

#define SHMEM_API_CTX(ret, stem, ...)            \
    SHMEM_API(ret, shmemx_##stem, (__VA_ARGS__)) \
    SHMEM_API(ret, shmemx_ctx_##stem, (shmem_ctx_t ctx, __VA_ARGS__))

/* --- Indexed access ---
 *
 * gather:      dest[i] = source[index[i]] of PE pe[i], for i < n. source is symmetric, dest may be any memory.
 * scatter:     dest[index[i]] of PE pe[i] = source[i]. dest is symmetric, source may be any memory.
 * scatter_add: the same, but adds, element by element atomically with respect to other scatter_add and to the atomics of
 *              the same type.
 *
 * index and pe are n numbers each in local memory; with a context the PE numbers are those of its team. Blocking forms
 * return when dest holds the data (gather) or when source can be reused (scatter); scattered elements are complete after
 * quiet. Of several elements scattered to one place, one wins. The nbi forms may return earlier: nothing may be assumed
 * before quiet, and index, pe and source stay as they are until then. n 0 does nothing.
 */
#define SHMEM_DECLARE(TYPE, NAME)                                                                           \
    SHMEM_API_CTX(void, NAME##_gather, TYPE *dest, const TYPE *source, const size_t *index, const int *pe,  \
                  size_t n)                                                                                 \
    SHMEM_API_CTX(void, NAME##_gather_nbi, TYPE *dest, const TYPE *source, const size_t *index,             \
                  const int *pe, size_t n)                                                                  \
    SHMEM_API_CTX(void, NAME##_scatter, TYPE *dest, const TYPE *source, const size_t *index, const int *pe, \
                  size_t n)                                                                                 \
    SHMEM_API_CTX(void, NAME##_scatter_nbi, TYPE *dest, const TYPE *source, const size_t *index,            \
                  const int *pe, size_t n)
SHMEM_RMA_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(TYPE, NAME)                                                                    \
    SHMEM_API_CTX(void, NAME##_scatter_add, TYPE *dest, const TYPE *source, const size_t *index,     \
                  const int *pe, size_t n)                                                           \
    SHMEM_API_CTX(void, NAME##_scatter_add_nbi, TYPE *dest, const TYPE *source, const size_t *index, \
                  const int *pe, size_t n)
SHMEM_ACCUMULATE_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

/* The same for rows of `bytes` bytes: index counts rows. For instance feature vectors of a graph's vertices.
 */
SHMEM_API_CTX(void, gathermem, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
              size_t bytes)
SHMEM_API_CTX(void, gathermem_nbi, void *dest, const void *source, const size_t *index, const int *pe,
              size_t n, size_t bytes)
SHMEM_API_CTX(void, scattermem, void *dest, const void *source, const size_t *index, const int *pe, size_t n,
              size_t bytes)
SHMEM_API_CTX(void, scattermem_nbi, void *dest, const void *source, const size_t *index, const int *pe,
              size_t n, size_t bytes)

/* --- Names other libraries ship for what OpenSHMEM 1.6 has adopted: the same as without the x --- */
#define SHMEM_DECLARE(TYPE, NAME)                                                                   \
    SHMEM_API_CTX(void, NAME##_ibput, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                             \
    SHMEM_API_CTX(void, NAME##_ibget, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)
SHMEM_RMA_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(BITS, BYTES)                                                                 \
    SHMEM_API_CTX(void, ibput##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)                                            \
    SHMEM_API_CTX(void, ibget##BITS, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
                  size_t bsize, size_t nblocks, int pe)
SHMEM_SIZES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

SHMEM_API_CTX(void, signal_add, uint64_t *sig_addr, uint64_t signal, int pe)
SHMEM_API_CTX(void, signal_set, uint64_t *sig_addr, uint64_t signal, int pe)

#define SHMEM_DECLARE(TYPE, NAME)                                                  \
    SHMEM_API(int, shmemx_##NAME##_sum_inscan,                                     \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems)) \
    SHMEM_API(int, shmemx_##NAME##_sum_exscan,                                     \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems))
SHMEM_REDUCE_ARITHMETIC_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

/* Private contexts belong to threads, which the library tells apart by asking the system. A program whose
 * threads are not the system's may say who is running; before shmem_init, on each PE. */
SHMEM_API(void, shmemx_register_gettid, (uint64_t(*gettid_fn)(void)))

/* --- Counters ---
 *
 * How many operations a context has issued and completed. Counting costs more than an element put, so it is done only under
 * SHMEM_COUNT=on (all PEs alike); otherwise all counters are 0. Writes are puts, signals and atomics without a result;
 * reads are gets and atomics with one. On mapped memory an operation is complete when its call returns, so completed and
 * issued are the same, and the owner of the memory takes no part: `target`, what others did here, is always 0.
 */
#ifndef SHMEMX_PCNTR_T
#define SHMEMX_PCNTR_T
typedef struct {
    uint64_t completed_put, completed_get;
    uint64_t pending_put, pending_get; /* issued, whether completed or not */
    uint64_t target;
} shmemx_pcntr_t;
#endif
SHMEM_API(void, shmemx_pcntr_get_issued_write, (shmem_ctx_t ctx, uint64_t *cntr_value))
SHMEM_API(void, shmemx_pcntr_get_issued_read, (shmem_ctx_t ctx, uint64_t *cntr_value))
SHMEM_API(void, shmemx_pcntr_get_completed_write, (shmem_ctx_t ctx, uint64_t *cntr_value))
SHMEM_API(void, shmemx_pcntr_get_completed_read, (shmem_ctx_t ctx, uint64_t *cntr_value))
SHMEM_API(void, shmemx_pcntr_get_completed_target, (uint64_t * cntr_value))
SHMEM_API(void, shmemx_pcntr_get_all, (shmem_ctx_t ctx, shmemx_pcntr_t *pcntr))

/* --- Init without a launcher that the library knows ---
 *
 * One process makes a unique id, hands it to the others by any means (MPI_Bcast, a file, a store), and each says with it
 * which PE of how many it is. That goes before whatever the environment says. The id holds a secret: whoever has it, and
 * is of the same user, can join. Each id is for one job; its PEs may finalize it and init with it again.
 *
 *   shmemx_uniqueid_t id;                                  shmemx_init_attr_t attr;
 *   if (rank == 0) shmemx_get_uniqueid(&id);               shmemx_set_attr_uniqueid_args(rank, size, &id, &attr);
 *   MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);          shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr);
 *
 * get_uniqueid may be called before init: 0, or 1 where the system gives no random bytes. init_attr: 0, as
 * shmem_init_thread; flags 0 is an init by the environment, attr may then be NULL. PEs that do not come within
 * SHMEM_BOOT_TIMEOUT seconds are named, and the job ends.
 */
#ifndef SHMEMX_UNIQUEID_BYTES
#define SHMEMX_UNIQUEID_BYTES 128
typedef struct {
    unsigned char bytes[SHMEMX_UNIQUEID_BYTES];
} shmemx_uniqueid_t;
typedef struct {
    size_t size; /* of this struct */
    int pe, npes;
    int thread_level; /* SHMEM_THREAD_SINGLE where nothing else is said */
    shmemx_uniqueid_t id;
} shmemx_init_attr_t;
#endif
SHMEM_API(int, shmemx_get_uniqueid, (shmemx_uniqueid_t * id))
SHMEM_API(int, shmemx_set_attr_uniqueid_args,
          (int pe, int npes, const shmemx_uniqueid_t *id, shmemx_init_attr_t *attr))
SHMEM_API(int, shmemx_init_attr, (unsigned int flags, const shmemx_init_attr_t *attr))

/* --- Kinds of memory ---
 *
 * A job whose SHMEM_HEAP_KIND is a kind of device memory ("ascend", "cuda") has two symmetric heaps, one of it and one of the
 * host's memory; all calls take addresses of both. shmem_malloc and its kin allocate on the device (SHMEM_MALLOC_ON says
 * otherwise), shmem_malloc_with_hints on the host where a hint says that others change the memory by atomics or signals.
 *
 * malloc_on, calloc_on, align_on   as shmem_malloc, shmem_calloc and shmem_align, in the heap of that kind ("host" is always
 *                                  there). Collective.
 * kind_of      the kind of the memory at ptr, symmetric or not; NULL for NULL.
 * peer_table   table[pe], for all PEs: the address by which this process reaches what `ptr` is on that PE: through loads
 *              and stores for host memory, through kernels and copies of the runtime for device memory; NULL where
 *              neither does, as on another machine. Returns how many are not NULL.
 * device_info  0, and *info is about the device that this PE's device heap is on; 1, and *info is all zero, where there is
 *              no device heap.
 */
#ifndef SHMEMX_DEVICE_NAME_MAX
#define SHMEMX_DEVICE_NAME_MAX 64
typedef struct {
    const char *kind; /* as SHMEM_HEAP_KIND says it; lives until finalize */
    char name[SHMEMX_DEVICE_NAME_MAX]; /* of the model, by its runtime */
    int number;       /* of the device, in the runtime's own count */
    int dlpack;       /* its device type in DLPack; 0: it has none */
    int peer_loads;   /* 1: kernels can follow the addresses of peer_table */
    size_t free_bytes, total_bytes; /* of its memory, now */
} shmemx_device_info_t;
#endif
SHMEM_API(void *, shmemx_malloc_on, (const char *kind, size_t size))
SHMEM_API(void *, shmemx_calloc_on, (const char *kind, size_t count, size_t size))
SHMEM_API(void *, shmemx_align_on, (const char *kind, size_t alignment, size_t size))
SHMEM_API(const char *, shmemx_kind_of, (const void *ptr))
SHMEM_API(int, shmemx_peer_table, (const void *ptr, void **table))
SHMEM_API(int, shmemx_device_info, (shmemx_device_info_t * info))

/* --- Operations in the order of a stream ---
 *
 * `stream` is a handle of the runtime that is behind the job's kind of memory (SHMEM_HEAP_KIND): an aclrtStream, a
 * CUstream. Each call puts an operation on the stream and returns; the operation is done when everything that was put
 * there before has been, kernels and copies of the program's own too, and what is put there behind it begins when it is
 * done. No call waits for the stream or for another PE. Memory is that of the calls without _on_stream: device or host,
 * symmetric or, where those allow it, private, of PEs of this machine or of another one. It must stay as it is until
 * the stream has come past.
 *
 * putmem, getmem, putmem_signal    PE numbers are those of the world. sig_addr may be in a heap of either kind.
 * signal_wait_until                holds the stream until the word of this PE meets the condition.
 * quiet                            completes what this PE has put and got, on this stream and by calls of the default
 *                                  context.
 * barrier                          a quiet, and a meeting of the team; holds the stream until all members' streams have
 *                                  come.
 * sum_reduce, broadcastmem         as shmem_TYPE_sum_reduce and shmem_broadcastmem. The sums are formed in the order of
 *                                  the team.
 *
 * The k-th barrier, reduction or broadcast of a team that a PE comes to in its streams is met by the k-th of the others.
 * A PE that has several of one team on different streams brings those into an order (by events of the runtime), unless
 * all of them are barriers. They may be under way next to collectives of the host.
 *
 * 0: it is on the stream. A negative number: it is not, and SHMEM_DEBUG tells why:
 *
 *   SHMEMX_STREAM_UNSUPPORTED   this job has no device heap, or its kind cannot do this without waiting for the host
 *   SHMEMX_STREAM_NO_MEMORY     too much is on streams already, or there is no memory for more
 *   SHMEMX_STREAM_LOST          the device is lost
 *   SHMEMX_STREAM_REFUSED       the runtime refused: for instance the stream is none of this device's
 *
 * Wrong arguments end the job with a sentence at once. What fails when the stream has come to it ends the job then, with a
 * sentence that names the call and the PE, and not only when somebody synchronises: what is behind it on the stream would
 * work with data that has not come, and who waits for it in vain might never come to synchronise. But a putmem or getmem
 * between devices of one machine is a copy of the runtime's, which fails there: the runtime's next synchronisation of that
 * stream says so, by its own code, or else shmem_finalize, with the last calls and PEs. Synchronise streams before
 * shmem_finalize and shmem_team_destroy: finalize waits for all that is on streams, as long as it takes, and says for what.
 */
SHMEM_API(int, shmemx_putmem_on_stream, (void *dest, const void *source, size_t bytes, int pe, void *stream))
SHMEM_API(int, shmemx_getmem_on_stream, (void *dest, const void *source, size_t bytes, int pe, void *stream))
SHMEM_API(int, shmemx_putmem_signal_on_stream,
          (void *dest, const void *source, size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
           void *stream))
SHMEM_API(int, shmemx_signal_wait_until_on_stream, (uint64_t * sig_addr, int cmp, uint64_t value, void *stream))
SHMEM_API(int, shmemx_quiet_on_stream, (void *stream))
SHMEM_API(int, shmemx_barrier_on_stream, (shmem_team_t team, void *stream))
SHMEM_API(int, shmemx_broadcastmem_on_stream,
          (shmem_team_t team, void *dest, const void *source, size_t bytes, int PE_root, void *stream))
#define SHMEM_DECLARE(TYPE, NAME)                 \
    SHMEM_API(int, shmemx_##NAME##_sum_reduce_on_stream, \
              (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nreduce, void *stream))
SHMEM_REDUCE_ARITHMETIC_TYPES(SHMEM_DECLARE)
#undef SHMEM_DECLARE

/* --- For libraries and languages on top of this one --- */

/* Collective: do all members of the team give the same `bytes` bytes (at most SHMEMX_AGREE_MAX)? Returns 0 when they
 * do. Otherwise 1 on all members, and *pe becomes the number in the team of the first member whose bytes are not those
 * of member 0, theirs what that member gave: alike on all members. When it returns 0 both stay as they are; each may be
 * NULL. All members must come with the same number of bytes; 0 is a sync of the team.
 */
SHMEM_API(int, shmemx_agree, (shmem_team_t team, const void *mine, size_t bytes, void *theirs, int *pe))

/* 1: the handle can be used now. 0: an INVALID, one that was destroyed, junk; and before init and after finalize any.
 * A private context whose team is gone can only be destroyed: 0. Never ends the job. */
SHMEM_API(int, shmemx_ctx_is_valid, (shmem_ctx_t ctx))
SHMEM_API(int, shmemx_team_is_valid, (shmem_team_t team))

/* on != 0: behind the last finalize the symmetric heaps, this PE's and its peers', stay mapped until the process ends:
 * what was allocated can still be read through addresses that somebody kept. A later init makes new heaps elsewhere.
 * May be called at any time; what counts is the last call before finalize. */
SHMEM_API(void, shmemx_keep_memory, (int on))

/* Of several PEs that find the job at fault one should say why. 1 for the first that asks, and again whenever it asks;
 * 0 for the others, and when the library has spoken on another PE already. Outside of a job always 1. */
SHMEM_API(int, shmemx_claim_report, (void))

/* A call that waits asks fn, on the thread that waits, at least every 50 ms and after a signal, whether it shall be
 * left: when fn answers with another value than 0. NULL: nobody is asked. May be called at any time, also before init;
 * one function for the process.
 *
 *   can_return 1   wait_until and its family, signal_wait_until: the call returns although its condition is not met
 *                  (any: SIZE_MAX, some: 0, signal: the value that is there). set_lock: the lock is not held, and the
 *                  place in the queue is given up. What the call returned cannot always tell: fn has to remember its
 *                  answer.
 *   can_return 0   barrier, sync, collectives, allocation, teams, init, finalize: the other PEs meet this one there and
 *                  cannot go on without it. The job ends with status 130 and a sentence that names the call, unless
 *                  another PE has claimed the report.
 *
 * fn may be asked by several threads at once. It may put, get and use atomics, but not wait or meet others. */
SHMEM_API(void, shmemx_set_interrupt, (int (*fn)(int can_return)))

/* 1: this process is no PE but descends from one: a PE forked it, or started the program in it (subprocess,
 * multiprocessing, system). shmem_init would end it with a sentence. 0: a PE, or a process that shmem_init can make
 * one, alone or in a job. May be called at any time, also before init. */
SHMEM_API(int, shmemx_is_descendant, (void))

/* 1: there is another copy of this library in the process, which shmem_init refuses to work with. Then the names of the
 * files: of the other one and of this one, cut at the sizes given; each may be NULL. A copy that is linked statically
 * is seen only when it is exported from there or has been initialised. May be called at any time, also before init. */
SHMEM_API(int, shmemx_other_copy, (char *other, size_t other_size, char *own, size_t own_size))

#undef SHMEM_API_CTX

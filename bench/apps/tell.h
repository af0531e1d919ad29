/* Data, and a flag that says it is there: by put-with-signal, or by what OpenSHMEM 1.4 has for it. Flags only grow, and
 * each is written by one PE. Included behind pes.h. */
#ifndef TELL_H
#define TELL_H

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define PUT_AND_TELL "put with signal"
typedef uint64_t flag_t;

static inline void put_and_tell(void *to, const void *from, size_t bytes, flag_t *flag, flag_t value, int pe)
{
    shmem_putmem_signal(to, from, bytes, flag, value, SHMEM_SIGNAL_SET, pe);
}

static inline void tell(flag_t *flag, flag_t value, int pe) { shmem_ulong_atomic_set(flag, value, pe); }
static inline void wait_for(flag_t *flag, flag_t value) { shmem_signal_wait_until(flag, SHMEM_CMP_GE, value); }
static inline flag_t told(flag_t *flag) { return shmem_signal_fetch(flag); }
#else
#define PUT_AND_TELL "put, fence, atomic set"
typedef long flag_t;

static inline void put_and_tell(void *to, const void *from, size_t bytes, flag_t *flag, flag_t value, int pe)
{
    shmem_putmem(to, from, bytes, pe);
    shmem_fence();
    shmem_long_atomic_set(flag, value, pe);
}

static inline void tell(flag_t *flag, flag_t value, int pe) { shmem_long_atomic_set(flag, value, pe); }
static inline void wait_for(flag_t *flag, flag_t value) { shmem_long_wait_until(flag, SHMEM_CMP_GE, value); }
static inline flag_t told(flag_t *flag) { return shmem_long_atomic_fetch(flag, me); }
#endif

#endif

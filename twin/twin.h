/* What the twin has beyond the runtime that it stands for: its modelled clock, counters, faults and kernels.
 *
 * All of it is exported by the twin's libascendcl.so and looked up with dlsym by whoever can do without it. Times are
 * modelled nanoseconds; doc/twin.md says what is modelled.
 */
#ifndef HBMESH_TWIN_H
#define HBMESH_TWIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* By direction: host to host, host to device, device to host, inside a device, between devices, and memsets. */
enum { TWIN_H2H, TWIN_H2D, TWIN_D2H, TWIN_D2D, TWIN_P2P, TWIN_SET, TWIN_WAYS };

/* What this process has done since its start or the last twin_reset. */
struct twin_counts {
    uint64_t sync_copies[TWIN_WAYS], sync_bytes[TWIN_WAYS];   /* by calls that are done when they return */
    uint64_t async_copies[TWIN_WAYS], async_bytes[TWIN_WAYS]; /* in streams */
    uint64_t stream_waits, event_waits, device_waits;         /* host calls that wait */
    uint64_t queries, host_funcs, kernels, records, stream_event_waits, words;
    uint64_t calls; /* of the runtime, all together */
};
void twin_counts(struct twin_counts *counts);

/* Modelled time: of this process (in a host function or kernel: of its stream), of a stream (the end of what it has
 * done; NULL: the device's own), of the node. */
uint64_t twin_now(void);
uint64_t twin_stream_now(void *stream);
uint64_t twin_node_now(void);
/* The host computes for ns. The process learns now of something that was at ns, by a message or a flag. */
void twin_spend(uint64_t ns);
void twin_meet(uint64_t ns);
/* Counters to 0. `clock`: the time of the process, too, and with it the queues of all links of the node: for all of its
 * processes together, with nothing under way. */
void twin_reset(int clock);

/* A kernel of ns on a stream; fn may be NULL. It reads and writes device memory where twin_memory says. */
int twin_launch(void *stream, uint64_t ns, void (*fn)(void *), void *arg);
/* Where the twin itself reaches device memory; NULL: not in one piece. No program for a device can use that. */
void *twin_memory(const void *device_address, size_t bytes);

/* More of HBMESH_TWIN_FAULT; NULL: all faults end. 0, or -1: not understood. */
int twin_fault(const char *text);
/* More of HBMESH_TWIN_LATE: "0", "1", "min:max" in microseconds. 0, or -1. */
int twin_late(const char *text);

#ifdef __cplusplus
}
#endif
#endif

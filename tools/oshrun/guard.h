/* The guard: the process that starts the PEs, serves them and ends them.
 *
 * oshrun is two processes. The front is what the user started: it takes the signals and gives the exit
 * status. The guard is its child, parent of all PEs, and does everything else. Each is a child subreaper and
 * watches the other: when the front is killed the guard sees its control socket end, kills every descendant
 * it has and goes; when the guard is killed its descendants fall to the front, which does the same. The guard
 * stands in a process group of its own, so that a kill of the whole job of a shell leaves it time to clean
 * up.
 */
#ifndef OSHRUN_GUARD_H
#define OSHRUN_GUARD_H

#include "hub.h"
#include "options.h"
#include "output.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <termios.h>
#include <sys/ioctl.h>

/* What the front finds when it starts, before it changes anything: PEs get it back. */
struct hm_origin {
    sigset_t mask;
    struct rlimit files;
    pid_t front, group;
    bool tty[3];         /* standard input, output, error are terminals */
    struct termios mode; /* of a terminal among output and error */
    struct winsize size;
    bool same_output;   /* output and error are one open file */
    bool child_ignored; /* SIGCHLD was ignored, which would hide how PEs end */
};

/* Between front and guard. */
enum hm_note_kind {
    HM_NOTE_SIGNAL,  /* front -> guard: value is the signal, tty whether the terminal sent it to the whole
                        group */
    HM_NOTE_STOPPED, /* guard -> front: all PEs are stopped, stop as well */
    HM_NOTE_DONE,    /* guard -> front: value is the exit status */
};
struct hm_note {
    int32_t kind, value, tty;
};

/* How the end goes on; each phase has an end time at which the next begins. */
enum hm_phase {
    HM_PHASE_RUN,
    HM_PHASE_LINGER, /* a PE failed: those that have left the job anyway may finish what they print */
    HM_PHASE_GRACE,  /* a signal or global_exit: PEs may end by themselves */
    HM_PHASE_LATE,   /* only the caller of global_exit may still end by itself */
    HM_PHASE_TERM,   /* SIGTERM has been sent */
    HM_PHASE_KILL,
};

struct hm_pe {
    pid_t pid;          /* of the process oshrun started */
    bool exited, ended; /* it is gone; it and whoever joined are gone */
    bool stopped;
    bool own_group; /* it leads a process group, whose number is its pid */
    int status;       /* as waitpid says */
    const struct hm_program *program;
    struct hm_stream stream[2];
    struct hm_sink *sink[2];
};

struct hm_guard {
    const struct hm_run *run;
    const struct hm_origin *origin;
    int npes, live; /* live: PEs that have not ended */
    struct hm_pe *pes;
    struct hm_hub hub;
    struct hm_machine *machines; /* more than one: make-believe */
    struct hm_sink sinks[2];
    int control, signals, epoll, start_errors[2], input;
    struct hm_spool *spool; /* --stdin all */
    bool sending;           /* the hub has answers left to send */
    enum hm_phase phase;
    int64_t phase_end, timeout_at; /* ns; 0: none */
    int64_t stop_at;               /* Ctrl-Z: when those that did not stop are stopped for them */
    bool stopping;
    int exit_status;
    int end_signal;        /* the signal that ends the job; 0: none */
    bool early_interrupt;  /* it is a Ctrl-C that the front is about to tell us of */
    int exit_all_pe;       /* who called global_exit; -1: nobody */
    bool guessed_exit;     /* exit_all_pe and the status are what another PE's end made us believe */
    int64_t interrupts[3]; /* times of the last Ctrl-C of a job of one PE */
    uint64_t oom_kills;    /* of the cgroup when the job began */
};

/* Runs in the guard process until the job is over; does not return. `control` is its end of the socket to the
 * front, `input` what --stdin all reads (-1: none). */
void hm_guard_run(const struct hm_run *run, const struct hm_origin *origin, int control,
                  int input) HM_NORETURN;

/* "hbmesh: ..." on standard error, in step with what PEs print there. tell: how the job ends, not with
 * --quiet. */
void hm_guard_say(struct hm_guard *g, const char *fmt, ...) HM_PRINTF(2, 3);
void hm_guard_tell(struct hm_guard *g, const char *fmt, ...) HM_PRINTF(2, 3);

#define HM_MS 1000000ll /* in ns */

/* What an event of the guard's loop is about, beside the number of a PE or of a stream (2 * pe + which). */
enum hm_watch {
    HM_WATCH_CONTROL, /* the socket to the front */
    HM_WATCH_SIGNALS, /* SIGCHLD */
    HM_WATCH_ERRORS,  /* what went wrong in a child before its program ran */
    HM_WATCH_WIRE,
    HM_WATCH_PIDFD,
    HM_WATCH_LIFELINE,
    HM_WATCH_STREAM,
    HM_WATCH_SINK,
    HM_WATCH_SOURCE, /* of --stdin all, and ... */
    HM_WATCH_READER, /* ... the pipe to one PE */
};
void hm_guard_watch(struct hm_guard *g, int fd, enum hm_watch kind, int number, uint32_t events);
void hm_guard_unwatch(struct hm_guard *g, int fd);
void hm_guard_note(struct hm_guard *g, enum hm_note_kind kind, int value);

/* ending.c: the phases of the end. */
void hm_end_phase(struct hm_guard *g, enum hm_phase phase, int64_t length);
void hm_end_fail(struct hm_guard *g, int status); /* a PE failed; only the first counts */
void hm_end_term(struct hm_guard *g);
void hm_end_exit_all(struct hm_guard *g, int pe, int status); /* global_exit */
void hm_end_by_signal(struct hm_guard *g, int sig);
void hm_end_next(struct hm_guard *g); /* the time of the phase is over */
void hm_end_kill(struct hm_guard *g); /* every descendant, until none is left */

/* watch.c: messages of PEs and their ends. */
void hm_watch_errors(struct hm_guard *g);
void hm_watch_reap(struct hm_guard *g);
void hm_watch_wire(struct hm_guard *g, int pe); /* all packets that are there */
void hm_watch_member(struct hm_guard *g, int pe, bool lifeline);

/* control.c: what the front passes on. */
void hm_control_read(struct hm_guard *g);
void hm_control_signal_all(struct hm_guard *g, int sig);
void hm_control_continue(struct hm_guard *g);
void hm_control_stopped(struct hm_guard *g); /* Ctrl-Z: those that have not stopped are stopped now */
void hm_control_check_stop(struct hm_guard *g);
/* Ctrl-C has reached a PE that shares the terminal, and its end has reached us before the front could say so. */
void hm_control_interrupted(struct hm_guard *g);

/* relay.c: streams in the loop. tick: when to look again (ns), 0: need not. */
void hm_relay_watch(struct hm_guard *g, int number);
void hm_relay_stream(struct hm_guard *g, int number);
void hm_relay_sink(struct hm_guard *g, int number);
int64_t hm_relay_tick(struct hm_guard *g, int64_t now);
void hm_relay_drain(struct hm_guard *g); /* all processes are gone: what is left in pipes and sinks */
void hm_relay_spool(struct hm_guard *g);
void hm_relay_source(struct hm_guard *g);
void hm_relay_reader(struct hm_guard *g, int pe, bool gone);

/* spawn.c: starts one PE. 0 or -errno; what goes wrong later in the child arrives on start_errors. */
struct hm_start_error {
    int pe, error;
    char what[16]; /* the step that failed */
};
int hm_pe_spawn(struct hm_guard *g, int pe);
/* The terminal of a PE follows that of oshrun. */
void hm_pe_resize(struct hm_guard *g, const struct winsize *size);
/* To the PE's process group. */
void hm_pe_signal(struct hm_guard *g, int pe, int sig);

/* python.c: puts the package of a build tree in front of PYTHONPATH; installed copies of oshrun do nothing. */
void hm_python_path(void);
/* The folder above that of this program; false when it is not known. */
bool hm_find_top(char *top, size_t size);
/* --twin: finds the software NPU, for set_twin in the environments of the PEs; -ENOENT. */
int hm_twin_find(void);
void hm_twin_set(void);

/* report.c: sentences about PEs. */
void hm_report_end(struct hm_guard *g, int pe, pid_t pid, const char *how);
/* What can be learnt of a process that is not our child: *wait_status stays when nothing can. */
void hm_report_grandchild(struct hm_guard *g, int pe, int *wait_status);
void hm_report_waits(struct hm_guard *g, const char *why);

/* memory.c: the kernel's kills for want of memory. */
uint64_t hm_memory_oom_kills(void);
void hm_memory_say(struct hm_guard *g, char *text, size_t size);

/* bind.c: checks once whether --bind can be done (0, or -errno after a sentence), then binds the calling
 * process. */
int hm_bind_prepare(const struct hm_run *run);
int hm_bind_self(int pe);

/* input.c: --stdin all. A spool gives every reader all of the input, however slow another one is. */
struct hm_spool;
struct hm_spool *hm_spool_open(int source, int readers);
int hm_spool_reader(struct hm_spool *s, int reader, int *theirs);
int hm_spool_source(const struct hm_spool *s);             /* -1: all read */
bool hm_spool_fill(struct hm_spool *s);                    /* false at the end of the input */
int hm_spool_writer(const struct hm_spool *s, int reader); /* -1: done */
bool hm_spool_wants(const struct hm_spool *s, int reader); /* is there anything to write? */
void hm_spool_feed(struct hm_spool *s, int reader);
void hm_spool_drop(struct hm_spool *s, int reader); /* it reads no more */
void hm_spool_close(struct hm_spool *s);

#endif

/* Started by oshrun: the PE's end of the wire that boot/job.h describes. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/version.h"
#include "boot/packet.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int wire = -1;     /* the socket named in the environment; -1 until a probe found it */
static int lifeline = -1; /* held while this process is a PE */
static int round_next;    /* number of the next gather */
static int npes;

/* "<fd>:<inode>"; -1 when it names no socket that is open here. */
static int parse_wire(const char *text)
{
    char *end;
    errno = 0;
    long fd = strtol(text, &end, 10);
    if (errno || end == text || *end != ':' || fd < 0 || fd > INT_MAX) return -1;
    const char *digits = end + 1;
    unsigned long long inode = strtoull(digits, &end, 10);
    if (errno || end == digits || *end) return -1;
    struct stat st;
    if (fstat((int)fd, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_ino != inode) return -1;
    return (int)fd;
}

static bool launcher_probe(char *const envp[])
{
    int saved = errno;
    const char *text = hm_boot_variable(envp, HM_LAUNCH_VAR);
    int fd = text ? parse_wire(text) : -1;
    if (fd >= 0) wire = fd;
    errno = saved;
    return fd >= 0;
}

/* Whoever has joined says so where all who hold the wire can read it. */
static void wire_set_owner(pid_t pid)
{
    fcntl(wire, F_SETOWN, pid);
}

static pid_t wire_owner(int fd)
{
    pid_t pid = fcntl(fd, F_GETOWN);
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH ? 0 : pid;
}

/* A PE's wire is closed in the programs it starts, and often in those that are started before it joins. */
static bool launcher_descends(char *const envp[], int *pe, int *pid)
{
    int saved = errno;
    const char *text = hm_boot_variable(envp, HM_LAUNCH_VAR), *number = hm_boot_variable(envp, "SHMEM_PE");
    int fd = text ? parse_wire(text) : -1;
    pid_t owner = fd >= 0 ? wire_owner(fd) : 0;
    errno = saved;
    if (!text || (fd >= 0 && (owner <= 0 || owner == getpid()))) return false;
    *pe = number ? atoi(number) : -1;
    *pid = owner;
    return true;
}

/* --- talking to it --- */

static int launcher_gone(int error)
{
    if (error == EPIPE || error == ECONNRESET)
        hm_log_line(NULL, "the launcher (oshrun) of this job has gone; this PE cannot go on");
    else if (error == EMFILE)
        hm_fds_say_too_many(npes);
    else if (error == EPROTO)
        hm_log_line(
            NULL,
            "the launcher sent a packet that makes no sense: are library and oshrun of the same version?");
    else
        hm_log_line(NULL, "cannot talk to the launcher (oshrun) of this job: %s", strerror(error));
    return -error;
}

static int packet_send(enum hm_msg_type type, int arg, const void *body, size_t len, const int *fds, int nfds)
{
    return hm_packet_send(wire, type, arg, body, len, fds, nfds);
}

static int packet_receive(struct hm_packet *p)
{
    int rc = hm_packet_receive(wire, p);
    return rc ? launcher_gone(-rc) : 0;
}

/* --- joining --- */

static int refused(const struct hm_packet *p)
{
    int len = (int)p->head.len;
    hm_log_line(NULL, "the launcher refuses this process: %.*s", len, (const char *)p->body);
    return -EPERM;
}

static int welcome(const struct hm_packet *p, struct hm_boot_world *world)
{
    struct hm_welcome w;
    if (p->head.type != HM_MSG_WELCOME || p->head.len != sizeof w || p->head.nfds != 2) {
        hm_fds_close(p->fds, (int)p->head.nfds);
        if (p->head.type == HM_MSG_REFUSED) return refused(p);
        hm_log_line(
            NULL,
            "the launcher answers with message %u instead of a welcome: are library and oshrun of the "
            "same version?",
            p->head.type);
        return -EPROTO;
    }
    memcpy(&w, p->body, sizeof w);
    *world = (struct hm_boot_world){w.pe, w.npes, w.machine, w.machines, w.local_pe, w.local_npes, p->fds[0]};
    lifeline = p->fds[1];
    npes = w.npes;
    return 0;
}

static void wire_close_on_exec(bool on)
{
    int flags = fcntl(wire, F_GETFD);
    if (flags >= 0) fcntl(wire, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC);
}

static int launcher_start(struct hm_boot_world *world)
{
    hm_fds_raise_limit();
    wire_close_on_exec(true); /* the programs this one starts are not this PE */
    struct hm_hello hello = {.version = HM_JOB_VERSION, .pid = getpid()};
    snprintf(hello.library, sizeof hello.library, "%s", HM_VERSION);
    struct hm_packet *p = malloc(sizeof *p);
    if (!p) return -ENOMEM;
    round_next = 0;
    int rc = packet_send(HM_MSG_HELLO, 0, &hello, sizeof hello, NULL, 0);
    if (rc)
        launcher_gone(-rc);
    else
        rc = packet_receive(p);
    if (!rc) rc = welcome(p, world);
    if (!rc) wire_set_owner(getpid());
    free(p);
    return rc;
}

/* --- gathering --- */

static int gathered(struct hm_packet *p, int have, size_t len, char *all, int nfds, int *all_fds)
{
    int count = hm_packet_gathered(p, have, npes, len, all, nfds, all_fds);
    if (count >= 0) return count;
    if (p->head.type == HM_MSG_REFUSED) return refused(p);
    hm_log_line(NULL,
                "the launcher answers a gather with message %u for PE %d: are library and oshrun of the same "
                "version?",
                p->head.type, p->head.arg);
    return count;
}

static int launcher_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    int have = 0;
    struct hm_packet *p = malloc(sizeof *p);
    if (!p) return -ENOMEM;
    int rc = packet_send(HM_MSG_GATHER, round_next++, mine, len, fds, nfds);
    if (rc) launcher_gone(-rc);
    while (!rc && have < npes) {
        rc = packet_receive(p);
        if (rc) break;
        int count = gathered(p, have, len, all, nfds, all_fds);
        if (count < 0)
            rc = count;
        else
            have += count;
    }
    if (rc && nfds) hm_fds_close(all_fds, have * nfds);
    free(p);
    return rc;
}

/* --- leaving --- */

static void launcher_exit_all(int status)
{
    packet_send(HM_MSG_EXIT_ALL, status, NULL, 0, NULL, 0);
}

static void launcher_stop(void)
{
    if (lifeline < 0) return;
    if (fcntl(wire, F_GETOWN) == getpid())
        wire_set_owner(0); /* the number may be that of a file of the program's */
    packet_send(HM_MSG_FINALIZED, 0, NULL, 0, NULL, 0);
    close(lifeline);
    lifeline = -1;
    wire_close_on_exec(false); /* what runs in this process after an exec may join again */
}

static const char *launcher_apart(int a, int b, bool *asked)
{
    (void)a;
    (void)b;
    *asked = true;
    return "oshrun --machines, or SHMEM_MACHINES, has divided them";
}

const struct hm_boot hm_boot_launcher = {
    .name = "launcher",
    .because = "oshrun has started it",
    .without = "oshrun has not started this process (SHMEM_LAUNCH names no socket that is open here)",
    .number = "SHMEM_PE",
    .probe = launcher_probe,
    .descends = launcher_descends,
    .start = launcher_start,
    .gather = launcher_gather,
    .apart = launcher_apart,
    .exit_all = launcher_exit_all,
    .stop = launcher_stop,
};

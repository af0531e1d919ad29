#define _GNU_SOURCE
#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *signal_name(int sig)
{
    static const struct {
        int sig;
        const char *name;
    } names[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
                 {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                 {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
                 {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (size_t i = 0; i < HM_COUNT(names); i++)
        if (names[i].sig == sig) return names[i].name;
    return "?";
}

/* "exited with status 3", "was killed by signal 11 (Segmentation fault), core dumped" */
void hm_process_describe(char *text, size_t size, int wait_status)
{
    if (!WIFSIGNALED(wait_status)) {
        snprintf(text, size, "exited with status %d", WEXITSTATUS(wait_status));
        return;
    }
    int sig = WTERMSIG(wait_status);
    snprintf(text, size, "was killed by signal %d (%s: %s)%s", sig, signal_name(sig), strsignal(sig),
             WCOREDUMP(wait_status) ? ", core dumped" : "");
}

/* --- a process that is not our child --- */

#ifndef PIDFD_INFO_EXIT
#define PIDFD_INFO_EXIT (1ull << 3)
#endif

/* Linux 6.15: the status of a process that others have reaped. */
struct pidfd_info_64 {
    uint64_t mask, cgroupid;
    uint32_t ids[11]; /* pid, tgid, ppid, and the user and group ids */
    int32_t exit_code;
};

static bool status_of_pidfd(int pidfd, int *wait_status)
{
    struct pidfd_info_64 info = {.mask = PIDFD_INFO_EXIT};
    if (pidfd < 0 || ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_info_64), &info) != 0) return false;
    if (!(info.mask & PIDFD_INFO_EXIT)) return false;
    *wait_status = info.exit_code;
    return true;
}

/* A process that nobody has reaped yet shows its status in the last field but none of /proc/PID/stat. */
static bool status_of_zombie(pid_t pid, int *wait_status)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!state || state[1] != ' ' || state[2] != 'Z' || !last) return false;
    *wait_status = atoi(last + 1);
    return true;
}

bool hm_process_status(pid_t pid, int pidfd, int *wait_status)
{
    return status_of_zombie(pid, wait_status) || status_of_pidfd(pidfd, wait_status);
}

int hm_process_open(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    return -1;
#endif
}

void hm_process_kill(int pidfd)
{
#ifdef SYS_pidfd_send_signal
    if (pidfd >= 0) syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
#endif
}

/* The program that the tests of the launcher run: argv[1] says what its PEs do. Not a test itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long flag;
static char *self;

static void line(const char *what)
{
    char text[128];
    int n = snprintf(text, sizeof text, "%s %s\n", what, getenv("SHMEM_PE") ? getenv("SHMEM_PE") : "?");
    if (write(1, text, (size_t)n) < 0) _exit(99);
}

static void sleep_long(void)
{
    for (;;)
        pause();
}

/* A descendant that nobody waits for and that ignores what can be ignored. */
static void leave_sleeper(int own_session)
{
    if (fork()) return;
    if (own_session) setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    execl(self, self, "sleeper", (char *)NULL);
    _exit(98);
}

static void join(void)
{
    shmem_init();
    shmem_barrier_all();
    line("up");
}

static int me(void)
{
    return atoi(getenv("SHMEM_PE"));
}

static void on_usr(int sig)
{
    line(sig == SIGUSR1 ? "usr1" : sig == SIGUSR2 ? "usr2" : sig == SIGWINCH ? "winch" : "other");
}

/* As an interpreter does that has to say where it was. */
static void on_interrupt(int sig)
{
    (void)sig;
    usleep(800000);
    line("handled");
    _exit(0);
}

static void catch_all(void)
{
    signal(SIGUSR1, on_usr);
    signal(SIGUSR2, on_usr);
    signal(SIGWINCH, on_usr);
}

static void fork_and_wait(const char *mode)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, mode, (char *)NULL);
        _exit(98);
    }
    int status;
    waitpid(pid, &status, 0);
}

static void mode_die(const char *how)
{
    if (!strcmp(how, "exit7")) exit(7);
    if (!strcmp(how, "_exit0")) _exit(0);
    if (!strcmp(how, "_exit5")) _exit(5);
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "term")) raise(SIGTERM);
    if (!strcmp(how, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (!strcmp(how, "exec")) execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    if (!strcmp(how, "closefrom")) {
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        usleep(300000);
    }
    if (!strcmp(how, "forked")) fork_and_wait("sleeper");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "plain";
    const char *arg = argc > 2 ? argv[2] : "";
    self = argv[0];
    if (!strcmp(mode, "sleeper")) sleep_long();
    if (!strcmp(mode, "plain")) {
        join();
        shmem_finalize();
    } else if (!strcmp(mode, "twice")) {
        for (int i = 0; i < 3; i++) {
            join();
            shmem_finalize();
        }
    } else if (!strcmp(mode, "die")) { /* PE 1 ends in the given way, the others wait for it */
        join();
        leave_sleeper(me() & 1);
        if (me() == 1) mode_die(arg);
        shmem_barrier_all();
        shmem_finalize();
    } else if (!strcmp(mode, "after")) { /* PE 1 goes after finalize */
        join();
        shmem_finalize();
        if (me() == 1) mode_die(arg);
        usleep(20000);
        line("last words");
    } else if (!strcmp(mode, "hang")) {
        join();
        leave_sleeper(me() & 1);
        if (me() == 0) sleep_long();
        shmem_barrier_all();
    } else if (!strcmp(mode, "half")) { /* PE 0 never starts the library */
        leave_sleeper(1);
        line("up");
        if (me() == 0) sleep_long();
        shmem_init();
    } else if (!strcmp(mode, "never")) { /* nor does PE 1, which ends well */
        if (me() == 1) return 0;
        shmem_init();
    } else if (!strcmp(mode, "word")) {
        join();
        if (me() == 0) sleep_long();
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 42);
    } else if (!strcmp(mode, "global")) {
        join();
        if (me() == 1) shmem_global_exit(atoi(arg));
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 42);
    } else if (!strcmp(mode, "global-busy")) { /* the others never call the library */
        join();
        if (me() == 1) {
            usleep(50000);
            shmem_global_exit(atoi(arg));
        }
        for (;;) {
            char *p = malloc(1000);
            printf("busy %p\n", (void *)p);
            free(p);
        }
    } else if (!strcmp(mode, "signals")) {
        catch_all();
        join();
        if (me() == 0) sleep_long();
        for (;;)
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 42);
    } else if (!strcmp(mode, "slow")) {
        signal(SIGINT, on_interrupt);
        join();
        sleep_long();
    } else if (!strcmp(mode, "second")) { /* a child that wants to be the same PE */
        join();
        pid_t pid = fork();
        if (pid == 0) {
            const char *wire = strchr(getenv("SHMEM_LAUNCH"), ':') ? getenv("SHMEM_LAUNCH") : "";
            fcntl(atoi(wire), F_SETFD, 0);
            execl(self, self, "plain", (char *)NULL);
            _exit(98);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        line(WIFEXITED(status) && WEXITSTATUS(status) == 1 ? "refused" : "not refused");
        shmem_barrier_all();
        shmem_finalize();
    } else {
        fprintf(stderr, "pe: no such mode: %s\n", mode);
        return 97;
    }
    return 0;
}

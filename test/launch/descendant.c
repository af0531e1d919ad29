/* What descendants of a PE may do; see descendant.sh. Not a test itself. */
#define _GNU_SOURCE
#include <shmem.h>
#include <shmemx.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

static void wire_in_child(int kept)
{
    int fd = atoi(getenv("SHMEM_LAUNCH"));
    if (kept)
        fcntl(fd, F_SETFD, 0);
    else
        close(fd);
}

/* Started by a PE: what it is, as its status. */
static int say_what_i_am(void) { return shmemx_is_descendant() ? 40 : 41; }

static int in_child(const char *what)
{
    if (!strncmp(what, "forked", 6) && !shmemx_is_descendant()) return 50;
    if (!strcmp(what, "forked-init")) shmem_init();
    if (!strcmp(what, "forked-finalize")) shmem_finalize();
    if (!strcmp(what, "forked-exit")) exit(0);
    if (!strcmp(what, "nested")) execl(getenv("OSHRUN"), "oshrun", "-n", "2", self, "plain", (char *)NULL);
    wire_in_child(!strcmp(what, "kept"));
    if (!strcmp(what, "alone")) unsetenv("SHMEM_LAUNCH");
    execl(self, self, "plain", (char *)NULL);
    return 51;
}

static int status_of(const char *what, const char *then)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (!then) _exit(in_child(what));
        wire_in_child(!strcmp(what, "kept"));
        execl(self, self, then, (char *)NULL);
        _exit(52);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "plain";
    self = argv[0];
    if (!strcmp(what, "what")) return say_what_i_am();
    if (shmemx_is_descendant() && strcmp(what, "plain")) return 1;
    shmem_init();
    if (shmemx_is_descendant()) return 2;
    if (!strcmp(what, "plain")) {
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    int fine = !strcmp(what, "forked-exit") || !strcmp(what, "alone") || !strcmp(what, "nested");
    if (shmem_my_pe() == 0) {
        int seen = status_of(what, NULL);
        if (seen != !fine) printf("%s: the child's status is %d\n", what, seen);
        if (seen != !fine) return 3;
    }
    if (!strcmp(what, "kept") || !strcmp(what, "closed"))
        if (status_of(what, "what") != 40) return 4;
    shmem_barrier_all();
    puts("well");
    shmem_finalize();
    return 0;
}

/* What the PEs of the tests of the bootstraps do: argv[1] says what, argv[2] which PE does it. Not a test itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long here = 40; /* static data: reached in place */
static int me, npes;
static const char *self;

static void say(const char *what)
{
    char text[128];
    int n = snprintf(text, sizeof text, "%s %d of %d\n", what, me, npes);
    if (write(1, text, (size_t)n) < 0) _exit(99);
}

static void check(int true_, const char *what)
{
    if (true_) return;
    say(what);
    shmem_global_exit(77);
}

/* Heap, static data, atomics and a collective between all PEs. */
static void meet_and_move(void)
{
    int next = (me + 1) % npes;
    long *heap = shmem_malloc(sizeof *heap), sum = -1;
    *heap = -1;
    here = 40;
    shmem_barrier_all();
    shmem_long_p(heap, me, next);
    shmem_long_atomic_add(&here, 2, next);
    shmem_barrier_all();
    check(*heap == (me + npes - 1) % npes, "heap");
    check(here == 42, "static");
    static long mine, total;
    mine = me + 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total, &mine, 1);
    sum = total;
    check(sum == (long)npes * (npes + 1) / 2, "sum");
    shmem_free(heap);
}

static void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

static int rounds(int count)
{
    for (int i = 0; i < count; i++) {
        begin();
        meet_and_move();
        shmem_finalize();
    }
    say("well");
    return 0;
}

static int make_id(void)
{
    shmemx_uniqueid_t id;
    if (shmemx_get_uniqueid(&id)) return 90;
    int fd = open("id.new", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return write(fd, &id, sizeof id) != sizeof id || close(fd) || rename("id.new", "id") ? 91 : 0;
}

/* argv[2]: PE, argv[3]: npes, the unique id comes from and goes through a file, as a program could do it. argv[4]: what is
 * wrong, or "by3": PE 3 makes the id, "by-1": none of them; argv[5]: milliseconds that this PE takes until it joins. */
static int by_unique_id(char **argv)
{
    shmemx_uniqueid_t id;
    shmemx_init_attr_t attr;
    int pe = atoi(argv[2]), size = atoi(argv[3]), fd;
    int maker = argv[4] && !strncmp(argv[4], "by", 2) ? atoi(argv[4] + 2) : 0;
    int rc = pe == maker ? make_id() : 0;
    if (rc) return rc;
    if (argv[4] && argv[5]) usleep((useconds_t)atoi(argv[5]) * 1000);
    while ((fd = open("id", O_RDONLY)) < 0)
        usleep(1000);
    if (read(fd, &id, sizeof id) != sizeof id || close(fd)) return 92;
    if (argv[4] && !strcmp(argv[4], "wrong") && pe) memset(id.bytes + 40, pe, 8); /* of the secret */
    if (argv[4] && !strcmp(argv[4], "junk")) memset(&id, 0, sizeof id);
    shmemx_set_attr_uniqueid_args(pe, size, &id, &attr);
    attr.thread_level = SHMEM_THREAD_MULTIPLE;
    for (int i = 0; i < 2; i++) {
        int level;
        if (shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr)) return 93;
        me = shmem_my_pe();
        npes = shmem_n_pes();
        shmem_query_thread(&level);
        check(me == pe && npes == size && level == SHMEM_THREAD_MULTIPLE, "who");
        meet_and_move();
        shmem_finalize();
    }
    say("well");
    return 0;
}

/* argv[2]: seconds that a process which is no PE, and has made the id, lives on. */
static int make_id_only(char **argv)
{
    int rc = make_id();
    if (!rc) sleep((unsigned)atoi(argv[2]));
    return rc;
}

/* The PEs are children of the one that has made the id, without exec. argv[2]: how many */
static int fork_pes(char **argv)
{
    int rc = make_id(), status;
    for (int i = 0; i < atoi(argv[2]) && !rc; i++) {
        char pe[16], *arguments[] = {argv[0], "id", pe, argv[2], "by-1", NULL};
        snprintf(pe, sizeof pe, "%d", i);
        if (fork() == 0) exit(by_unique_id(arguments));
    }
    while (wait(&status) > 0)
        if (status) rc = 92;
    return rc;
}

static int child(const char *environment, const char *command)
{
    char line[4096];
    snprintf(line, sizeof line, "%s %s %s rounds 1 >/dev/null", environment, command, self);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

/* What a PE starts is none, and may be a job of its own; the job goes on. */
static int children(void)
{
    begin();
    if (me == 0) {
        check(child("", "") == 1, "a child became a PE");
        check(child("SHMEM_BOOT=single", "") == 0, "a child alone");
        check(child("", "\"$OSHRUN\" -n 2") == 0, "a job inside");
        check(!shmemx_is_descendant(), "descends");
    }
    meet_and_move();
    pid_t pid = fork();
    if (pid == 0) _exit(shmemx_is_descendant() ? 0 : 1);
    int status;
    check(waitpid(pid, &status, 0) == pid && status == 0, "a forked child");
    meet_and_move();
    shmem_finalize();
    say("well");
    return 0;
}

static void leave_child(void)
{
    if (fork()) return;
    sleep(4); /* holds nothing that would make its PE look alive */
    _exit(0);
}

/* One PE does something; the others wait for it, asleep. */
static int one_does(const char *what, int who)
{
    begin();
    meet_and_move();
    say("up");
    shmem_barrier_all();
    if (!strcmp(what, "stop") && me == 2) raise(SIGSTOP);
    if (me == who) {
        usleep(300000);
        if (!strcmp(what, "kill-parent")) leave_child();
        if (!strncmp(what, "kill", 4)) raise(SIGKILL);
        if (!strcmp(what, "exit")) exit(3);
        if (!strcmp(what, "quick-exit")) _exit(0);
        if (!strcmp(what, "exec")) execl("/bin/sleep", "sleep", "30", (char *)NULL);
        if (!strcmp(what, "global-exit") || !strcmp(what, "stop")) shmem_global_exit(5);
        if (!strcmp(what, "global-exit-0")) shmem_global_exit(0);
        if (!strcmp(what, "fault")) *(volatile int *)8 = 1;
        if (!strcmp(what, "mistake")) shmem_long_p(&here, 1, npes + 3);
        if (!strcmp(what, "end")) exit(0); /* finalizes what it owes */
    } else if (!strcmp(what, "end")) {
        exit(0);
    }
    shmem_barrier_all();
    say("went on");
    shmem_finalize();
    return 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc < 3) return 98;
    if (!strcmp(argv[1], "rounds")) return rounds(atoi(argv[2]));
    if (!strcmp(argv[1], "id")) return by_unique_id(argv);
    if (!strcmp(argv[1], "make-id")) return make_id_only(argv);
    if (!strcmp(argv[1], "fork-pes")) return fork_pes(argv);
    if (!strcmp(argv[1], "children")) return children();
    if (!strcmp(argv[1], "never")) return atoi(argv[2]);
    return one_does(argv[1], atoi(argv[2]));
}

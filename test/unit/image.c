/* The executable's static data shared in place: peers reach it, its contents survive, what was never touched
 * stays unallocated, and fork keeps its meaning. Each case runs in a process of its own, since the switch is
 * made once. */
/* with: src/core/image.c src/core/maps.c src/base/os.c src/base/log.c */
/* timeout: 240 */
#define _GNU_SOURCE
#include "core/image.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#ifndef BIG
#define BIG (1ul << 28)
#endif
#define FORKS 1000

extern char **environ;

long data_word = 11;
char data_text[5000] = "hello";
long bss_word;
static long counter = 5;
static char protected_page[65536 * 2] __attribute__((aligned(65536))) = {1};
static char stack_array[1 << 18] __attribute__((aligned(16)));
char big[BIG];
long bss_last;

static bool covered(const struct hm_image *image, const void *addr)
{
    for (int i = 0; i < image->parts; i++)
        if ((uintptr_t)addr - image->base - image->part[i].at < image->part[i].bytes) return true;
    return false;
}

static size_t committed(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (size_t)st.st_blocks * 512 : 0;
}

static int wait_status(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const struct hm_image *share_or_fail(void)
{
    const struct hm_image *image = hm_image_share(false);
    if (image->fd < 0) {
        printf("static data is not shared: %s\n", image->because);
        exit(1);
    }
    return image;
}

static pid_t spawn_self(const char *mode, const char *a, const char *b)
{
    char *argv[] = {(char *)"image", (char *)mode, (char *)a, (char *)b, NULL};
    pid_t pid;
    const char *exe = getenv("IMAGE_EXE"); /* under valgrind /proc/self/exe is not the program */
    int rc = posix_spawn(&pid, exe ? exe : "/proc/self/exe", NULL, NULL, argv, environ);
    if (rc) printf("posix_spawn: %s\n", strerror(rc)), exit(1);
    return pid;
}

/* --- peers --- */

#define AT(variable) ((__typeof__(&(variable)))(there + ((uintptr_t) & (variable)-mine->base)))

/* Another run of this program, at other addresses. */
static int run_peer(const char *fd_text, const char *identity)
{
    const struct hm_image *mine = share_or_fail();
    CHECK(mine->identity == strtoull(identity, NULL, 16));
    char *there = hm_image_map_peer(atoi(fd_text), mine);
    if (!there) return 9;
    CHECK(*AT(data_word) == 12);
    CHECK(!strcmp(*AT(data_text), "hello"));
    CHECK(*AT(bss_word) == 33);
    CHECK(data_word == 11 && bss_word == 0);
    *AT(data_word) = 1001;
    strcpy(*AT(data_text), "from the peer");
    (*AT(big))[BIG / 2] = 77;
    for (int i = 0; i < 100000; i++)
        __atomic_fetch_add(AT(counter), 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(AT(bss_last), 1005, __ATOMIC_SEQ_CST);
    hm_image_unmap_peer(there, mine);
    return failures != 0;
}

static int run_share(void)
{
    static int calls;
    data_word = 12;
    bss_word = 33;
    big[123 * 4096] = 1;
    calls++;
    const struct hm_image *look = hm_image_look();
    CHECK(look->fd == -1 && look->because && covered(look, &data_word) && covered(look, &bss_last));
    const struct hm_image *image = share_or_fail();
    CHECK(hm_image_share(false) == image && hm_image_look() == image && !image->because);
    CHECK(covered(image, &data_word) && covered(image, &bss_last) && covered(image, &big[BIG - 1]));
    CHECK(data_word == 12 && bss_word == 33 && !strcmp(data_text, "hello") && calls == 1 &&
          big[123 * 4096] == 1);
    size_t before = committed(image->fd);
    CHECK(before < ((size_t)8 << 20) && before >= image->copied);

    char fd_text[16], identity[32];
    int fd = dup(image->fd); /* without close-on-exec */
    snprintf(fd_text, sizeof fd_text, "%d", fd);
    snprintf(identity, sizeof identity, "%llx", (unsigned long long)image->identity);
    pid_t pid = spawn_self("peer", fd_text, identity);
    for (int i = 0; i < 100000; i++)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    CHECK(wait_status(pid) == 0);
    CHECK(data_word == 1001 && !strcmp(data_text, "from the peer") && big[BIG / 2] == 77 && bss_last == 1005);
    CHECK(counter == 5 + 200000);
    CHECK(system("exit 3") == 3 << 8);
    hm_image_trim_core();
    CHECK(big[BIG / 2] == 77 && big[BIG / 3] == 0);
    return failures != 0;
}

/* --- fork --- */

static volatile bool stop;

/* What a second thread would hold at the moment of a fork: the locks of malloc and of stdio. */
static void *busy(void *arg)
{
    FILE *f = fopen("/dev/null", "w");
    (void)arg;
    while (!stop && f) {
        char *p = malloc(1000 + (size_t)rand() % 3000);
        fprintf(f, "%p %ld\n", (void *)p, counter);
        printf("%s", "");
        free(p);
    }
    if (f) fclose(f);
    return NULL;
}

/* The child of round i: sees what was there at the fork, and goes on seeing it. */
static int child_of(long i, int from_parent, int to_parent)
{
    char c = 0;
    if (bss_last != i || data_word != -i || big[(size_t)i * 4096 % BIG] != (char)i) return 10;
    char *p = malloc(500);
    if (!p || snprintf(p, 500, "%ld", i) < 1) return 11;
    printf("%s", "");
    free(p);
    if (write(to_parent, "r", 1) != 1 || read(from_parent, &c, 1) != 1)
        return 12; /* the parent has written now */
    if (bss_last != i || data_word != -i || big[(size_t)i * 4096 % BIG] != (char)i) return 13;
    bss_last = 700000;
    data_word = 700001;
    memset(big, 7, 100);
    return 0;
}

static void fork_round(long i)
{
    int to_child[2], to_parent[2];
    char c;
    if (pipe(to_child) || pipe(to_parent)) exit(1);
    bss_last = i;
    data_word = -i;
    big[(size_t)i * 4096 % BIG] = (char)i;
    pid_t pid = fork();
    if (pid == 0) _exit(child_of(i, to_child[0], to_parent[1]));
    bss_last = -1; /* at once: the child may not have run yet */
    data_word = -2;
    big[(size_t)i * 4096 % BIG] = 99;
    CHECK(pid > 0 && read(to_parent[0], &c, 1) == 1 && write(to_child[1], "w", 1) == 1);
    int status = wait_status(pid);
    if (status) printf("round %ld: the child found a wrong value: %d\n", i, status), failures++;
    CHECK(bss_last == -1 && data_word == -2 && big[0] != 7);
    close(to_child[0]), close(to_child[1]), close(to_parent[0]), close(to_parent[1]);
}

static void *fork_rounds(void *arg)
{
    for (long i = 1; i <= *(long *)arg && !failures; i++)
        fork_round(i);
    return NULL;
}

static int run_fork(void)
{
    pthread_t second, third;
    long many = FORKS, few = 100;
    share_or_fail();
    CHECK(pthread_create(&second, NULL, busy, NULL) == 0);
    fork_rounds(&many);
    CHECK(pthread_create(&third, NULL, fork_rounds, &few) == 0); /* from a thread of its own */
    pthread_join(third, NULL);
    stop = true;
    pthread_join(second, NULL);
    return failures != 0;
}

/* Two threads that fork at the same time. */
static void *fork_and_count(void *arg)
{
    long *mine = arg;
    for (int i = 0; i < 200; i++) {
        *mine = i;
        pid_t pid = fork();
        if (pid == 0) {
            bool right = *mine == i;
            *mine = -1;
            _exit(!right);
        }
        __atomic_fetch_add(mine, 1000, __ATOMIC_RELAXED);
        if (wait_status(pid)) return (void *)1;
        if (*mine != i + 1000) return (void *)2;
    }
    return NULL;
}

static int run_threads_fork(void)
{
    static long words[3];
    pthread_t thread[3];
    share_or_fail();
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, fork_and_count, &words[i]) == 0);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(thread[i], &result);
        CHECK(result == NULL);
    }
    return failures != 0;
}

/* A program that closes all descriptors, and takes the number for a file of its own: the child's copy is
 * right. */
static int run_closed(void)
{
    bool reuse = true;
    int fd = share_or_fail()->fd, file = open("/dev/zero", O_RDWR | O_CLOEXEC);
    close(fd);
    for (int i = 1; i <= 4; i++, reuse = !reuse) {
        if (reuse)
            CHECK(dup2(file, fd) == fd);
        else
            close(fd);
        bss_last = i;
        data_word = -i;
        pid_t pid = fork();
        if (pid == 0) {
            CHECK(bss_last == i && data_word == -i && big[BIG / 2] == 0);
            CHECK((fcntl(fd, F_GETFD) >= 0) == reuse);
            bss_last = -1;
            _exit(failures != 0);
        }
        CHECK(wait_status(pid) == 0 && bss_last == i);
        hm_image_trim_core();
    }
    CHECK(hm_image_share(false)->fd == -1 && strstr(hm_image_look()->because, "descriptor"));
    return failures != 0;
}

/* Child, grandchild, and a child that shares anew. */
static int run_nested(void)
{
    const struct hm_image *image = share_or_fail();
    int old_fd = image->fd;
    bss_last = 1;
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(bss_last == 1);
        CHECK(hm_image_look()->fd == -1 && hm_image_look()->because && fcntl(old_fd, F_GETFD) == -1);
        bss_last = 2;
        pid_t grandchild = fork();
        if (grandchild == 0) {
            CHECK(bss_last == 2);
            bss_last = 3;
            _exit(failures != 0);
        }
        CHECK(wait_status(grandchild) == 0 && bss_last == 2);
        CHECK(hm_image_share(false)->fd >= 0 && bss_last == 2);
        grandchild = fork();
        if (grandchild == 0) {
            CHECK(bss_last == 2);
            bss_last = 4;
            _exit(failures != 0);
        }
        CHECK(wait_status(grandchild) == 0 && bss_last == 2);
        _exit(failures != 0);
    }
    CHECK(wait_status(pid) == 0 && bss_last == 1);
    return failures != 0;
}

static volatile int signals_in_child;
static void on_signal(int sig)
{
    (void)sig;
    signals_in_child++;
}

/* A signal that comes between the fork and the child's own copy would write to the parent's. */
static int run_signals(void)
{
    share_or_fail();
    signal(SIGALRM, on_signal);
    for (int i = 0; i < 200; i++) {
        signals_in_child = 0;
        pid_t pid = fork();
        if (pid == 0) {
            sigset_t now;
            sigprocmask(SIG_SETMASK, NULL, &now);
            for (int k = 0; k < 50; k++)
                raise(SIGALRM);
            _exit(signals_in_child != 50 || sigismember(&now, SIGALRM));
        }
        kill(pid, SIGALRM);
        int status = wait_status(pid);
        CHECK(status == 0 || status == 1); /* 51 are right too, when the kill comes late */
        CHECK(signals_in_child == 0);
    }
    return failures != 0;
}

/* Without memory for the child's copy the child says so and ends; the parent goes on. */
static int run_no_memory(void)
{
    share_or_fail();
    int err[2];
    if (pipe(err)) return 1;
    struct rlimit all, none = {1 << 20, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &all);
    none.rlim_max = all.rlim_max;
    int saved = dup(2);
    dup2(err[1], 2);
    setrlimit(RLIMIT_AS, &none);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    setrlimit(RLIMIT_AS, &all);
    dup2(saved, 2);
    if (pid < 0) return 77; /* not even a process */
    char text[400] = "";
    CHECK(wait_status(pid) == 127);
    CHECK(read(err[0], text, sizeof text - 1) > 0 && strstr(text, "hbmesh: fork: "));
    pid = fork();
    if (pid == 0) _exit(0);
    CHECK(wait_status(pid) == 0);
    return failures != 0;
}

static ucontext_t main_context, array_context;
static void fork_here(void)
{
    pid_t pid = fork();
    if (pid == 0) _exit(0);
}

/* Parent and child would run on one stack. */
static int run_stack(void)
{
    share_or_fail();
    getcontext(&array_context);
    array_context.uc_stack.ss_sp = stack_array;
    array_context.uc_stack.ss_size = sizeof stack_array;
    array_context.uc_link = &main_context;
    makecontext(&array_context, fork_here, 0);
    swapcontext(&main_context, &array_context);
    return 0;
}

/* --- refusals --- */

static void *idle(void *arg)
{
    (void)arg;
    while (!stop)
        usleep(1000);
    return NULL;
}

static int refused(const char *with)
{
    const struct hm_image *image = hm_image_share(false);
    CHECK(image->fd == -1 && image->because && strstr(image->because, with));
    CHECK(covered(image, &data_word) && covered(image, &bss_last));
    if (failures) printf("the reason given: %s\n", image->because);
    data_word = 1;
    pid_t pid = fork();
    if (pid == 0) _exit(data_word != 1);
    CHECK(wait_status(pid) == 0);
    return failures != 0;
}

static int run_late(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, idle, NULL) == 0);
    int rc = refused("threads");
    stop = true;
    pthread_join(thread, NULL);
    return rc;
}

static int run_protected(void)
{
    CHECK(mprotect(protected_page, 65536, PROT_READ) == 0);
    int rc = refused("protected");
    CHECK(protected_page[0] == 1);
    return rc;
}

static int run_mapped(void)
{
    CHECK(mmap(protected_page, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == (void *)protected_page);
    return refused("mapped something else");
}

static int run_small_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 65536;
    setrlimit(RLIMIT_FSIZE, &limit);
    return refused("RLIMIT_FSIZE");
}

/* Where the kernel does not say which pages exist they are read, and still nothing is committed. */
static bool deny(int nr)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {HM_COUNT(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static int run_no_pagemap(void)
{
    if (!deny(SYS_pread64)) return 77;
    bss_word = 33;
    big[BIG / 2] = 5;
    const struct hm_image *image = share_or_fail();
    CHECK(bss_word == 33 && big[BIG / 2] == 5 && big[BIG / 2 + 1] == 0);
    CHECK(committed(image->fd) < ((size_t)8 << 20));
    return failures != 0;
}

static int run_no_memfd(void)
{
    if (!deny(SYS_memfd_create)) return 77;
    bss_word = 34;
    const struct hm_image *image = hm_image_share(false);
    CHECK(image->fd >= 0 || image->because);
    CHECK(bss_word == 34);
    return failures != 0;
}

static const struct {
    const char *name;
    int (*run)(void);
    int status;
} modes[] = {
    {"share", run_share, 0},           {"fork", run_fork, 0},         {"threads-fork", run_threads_fork, 0},
    {"closed", run_closed, 0},         {"nested", run_nested, 0},     {"signals", run_signals, 0},
    {"no-memory", run_no_memory, 0},   {"stack", run_stack, 1},       {"late", run_late, 0},
    {"protected", run_protected, 0},   {"mapped", run_mapped, 0},     {"small-files", run_small_files, 0},
    {"no-pagemap", run_no_pagemap, 0}, {"no-memfd", run_no_memfd, 0},
};

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "peer")) return run_peer(argv[2], argv[3]);
    for (size_t i = 0; i < HM_COUNT(modes); i++) {
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) return modes[i].run();
        if (argc > 1) continue;
        int status = wait_status(spawn_self(modes[i].name, NULL, NULL));
        printf("%-13s %s\n", modes[i].name,
               status == modes[i].status ? "right"
               : status == 77            ? "skipped"
                                         : "WRONG");
        fflush(stdout);
        if (status != modes[i].status && status != 77) failures++;
    }
    return failures != 0;
}

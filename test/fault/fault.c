/* Dies in the way that its argument names. */
#define _GNU_SOURCE
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, npes;
static char *block;
static const long constant = 5;
static volatile int zero;
long shared_word;

static void null_pointer(void)
{
    *(volatile int *)(uintptr_t)zero = 1;
}
static void null_field(void)
{
    (void)*(volatile int *)(uintptr_t)(zero + 24);
}
static void wild(void)
{
    (void)*(volatile int *)(uintptr_t)(0xdead000000000000ul + (unsigned)zero);
}
static void unmapped(void)
{
    char *p = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p, 1 << 20);
    *(volatile char *)p = 1;
}
static void read_only(void)
{
    *(volatile long *)(uintptr_t)&constant = 1;
}
static void jump(void)
{
    static char data[64];
    ((void (*)(void))(uintptr_t)data)();
}

/* Only pages that nothing else lives on are closed. */
static void freed_own(void)
{
    char *p = shmem_malloc(1 << 20), *after = shmem_malloc(64);
    shmem_free(p);
    p[500000] = 1;
    shmem_free(after);
}
/* In quick turn pages stay open for a while, and no longer. */
static void freed_late(void)
{
    char *room = shmem_malloc(1 << 20), *after = shmem_malloc(64);
    shmem_free(room);
    for (int i = 0; i < 8; i++) shmem_free(shmem_malloc(1 << 20));
    for (int i = 0; i < 100; i++) {
        usleep(5000);
        shmem_free(shmem_malloc(16));
    }
    room[500000] = 1;
    shmem_free(after);
}
static void freed_put(void)
{
    char *p = shmem_malloc(1 << 20), *after = shmem_malloc(64);
    shmem_free(p);
    if (me == 0) shmem_putmem(p + 8192, "text", 4, npes - 1);
    shmem_barrier_all();
    shmem_free(after);
}
static void freed_ptr(void)
{
    char *p = shmem_malloc(1 << 20), *after = shmem_malloc(64);
    char *there = shmem_ptr(p, npes - 1);
    shmem_free(p);
    if (me == 0) there[8192] = 1;
    shmem_barrier_all();
    shmem_free(after);
}
static void local_null(void)
{
    char *nowhere = (char *)(uintptr_t)zero;
    shmem_getmem(nowhere, block, 100, npes - 1);
}

static volatile int depth;
static int recurse(int n)
{
    volatile char frame[1000];
    frame[n % 1000] = (char)n;
    depth++;
    return recurse(n + 1) + frame[(n + 1) % 1000];
}
static void stack_overflow(void)
{
    recurse(zero);
}
static void big_frame(void)
{
    volatile char frame[16 << 20];
    for (size_t i = sizeof frame; i > 0; i -= 512)
        frame[i - 1] = 1;
}

static void divide(void)
{
    zero = 5 / zero;
}
static void aborted(void)
{
    abort();
}
static void sent(void)
{
    pid_t pid = fork(), parent = getppid();
    if (pid == 0) {
        kill(me >= 0 ? getppid() : parent, SIGSEGV);
        _exit(0);
    }
    for (;;)
        pause();
}
static void *dies(void *arg)
{
    (void)arg;
    null_pointer();
    return NULL;
}
static void in_thread(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, dies, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}
static void file_end(void)
{
    FILE *f = tmpfile();
    if (!f || ftruncate(fileno(f), 8192)) exit(9);
    char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    if (ftruncate(fileno(f), 0)) exit(9);
    p[5000] = 1;
}

/* More than there is: the script gives little. */
static void fill(void)
{
    char *p = shmem_malloc(64 << 20);
    if (!p) exit(9);
    if (me == npes - 1) memset(p, 1, 64 << 20);
    shmem_barrier_all();
}
static void fill_data(void)
{
    static char much[64 << 20];
    memset(much, 1, sizeof much);
}

/* A child of fork is no PE: it dies without a word, and the job goes on. */
static void child(void)
{
    pid_t pid = fork();
    if (pid == 0) null_pointer();
    int status;
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) exit(8);
    puts("went on");
    shmem_finalize();
    exit(0);
}

/* Handlers of the program's own stay. */
static void own_handler_runs(int sig)
{
    static const char text[] = "the program's own handler\n";
    if (write(2, text, sizeof text - 1) > 0) _exit(sig + 40);
}

static void after_finalize(void)
{
    shmem_finalize();
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    exit(now.sa_handler == SIG_DFL ? 0 : 7);
}

static const struct {
    const char *name;
    void (*run)(void);
    int all; /* every PE does it */
} ways[] = {
    {"null", null_pointer, 0},
    {"null_field", null_field, 0},
    {"wild", wild, 0},
    {"unmapped", unmapped, 0},
    {"read_only", read_only, 0},
    {"jump", jump, 0},
    {"freed_own", freed_own, 1},
    {"freed_late", freed_late, 1},
    {"freed_put", freed_put, 1},
    {"freed_ptr", freed_ptr, 1},
    {"local_null", local_null, 0},
    {"stack_overflow", stack_overflow, 0},
    {"big_frame", big_frame, 0},
    {"divide", divide, 0},
    {"abort", aborted, 0},
    {"sent", sent, 0},
    {"thread", in_thread, 0},
    {"file_end", file_end, 0},
    {"child", child, 1},
    {"fill", fill, 1},
    {"fill_data", fill_data, 0},
    {"own", null_pointer, 0},
    {"after_finalize", after_finalize, 1},
};

int main(int argc, char **argv)
{
    if (argc < 2) return 9;
    if (!strcmp(argv[1], "own")) signal(SIGSEGV, own_handler_runs);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    block = shmem_malloc(1000);
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (!strcmp(argv[1], ways[i].name) && (ways[i].all || me == npes - 1)) ways[i].run();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

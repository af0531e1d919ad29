/* Writes to the static data of its neighbour and checks what it got. */
#define _GNU_SOURCE
#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
#include <iostream>
#include <string>
#include <vector>
static std::vector<int> numbers(100, 3);
static std::string name("a string that is too long to lie in the object itself");
#endif
#ifndef BIG
#define BIG (1ul << 30)
#endif
long word = 5, zeroed;
char big[BIG];
static long last;

static long rss_kib(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int check(long seen, long expected, const char *what)
{
    if (seen == expected) return 0;
    printf("PE %d: %s is %ld, not %ld\n", shmem_my_pe(), what, seen, expected);
    return 1;
}

int main(int argc, char **argv)
{
    word = 6; /* before init */
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes, left = (me + npes - 1) % npes,
        bad = 0;
    bad += check(word, 6, "a value from before init");
    shmem_barrier_all();
    shmem_long_p(&word, 10 + me, right);
    shmem_long_p(&zeroed, 20 + me, right);
    shmem_char_p(&big[BIG / 2], (char)(30 + me), right);
    shmem_long_p(&last, 40 + me, right);
    shmem_barrier_all();
    bad += check(word, 10 + left, "word");
    bad += check(zeroed, 20 + left, "zeroed");
    bad += check(big[BIG / 2], 30 + left, "big");
    bad += check(last, 40 + left, "last");
#ifdef __cplusplus
    bad += check((long)numbers.size(), 100, "numbers.size()") + check(name.size() > 30, 1, "name");
    std::cout << "" << std::flush;
#endif
    for (int i = 0; i < 20; i++) { /* fork, too, costs what is used */
        word = i;
        pid_t pid = fork();
        if (pid == 0) {
            usleep(100);
            int wrong = word != i || big[BIG / 2] != (char)(30 + left);
            word = -1;
            _exit(wrong);
        }
        int status;
        word = -2;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        bad += check(status, 0, "status of a child") + check(word, -2, "word after fork");
    }
    if (argc > 1) bad += check(rss_kib() < atol(argv[1]), 1, "memory use within bounds");
    shmem_barrier_all();
    shmem_finalize();
    return bad != 0;
}

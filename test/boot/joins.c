/* A process that joins by a bootstrap and knows nothing of the library above: which PEs are one machine, gathers with
 * descriptors, and how jobs end. argv[1] says what, argv[2] which PE does it. Not a test itself. */
#define _GNU_SOURCE
#include "base/log.h"
#include "base/option.h"
#include "base/os.h"
#include "boot/boot.h"
#include "boot/packet.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const struct hm_boot *boot;
static struct hm_boot_world w;
static struct hm_job *job;

static void say(const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (write(1, text, (size_t)n) < 0) _exit(99);
}

static void check(bool well, const char *what, int where)
{
    if (well) return;
    say("WRONG PE %d: %s %d\n", w.pe, what, where);
    if (boot) boot->exit_all(77);
    _exit(77);
}

static bool claim(void)
{
    uint32_t none = 0;
    return !job || __atomic_compare_exchange_n(&job->reported, &none, 1 + (uint32_t)w.local_pe, false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

struct part {
    int pe, machine, local_pe, round;
    char rest[HM_GATHER_MAX - 16];
};

static int memory_of(int pe)
{
    int fd = hm_os_memfd("joins", 4096);
    check(fd >= 0 && pwrite(fd, &pe, sizeof pe, 0) == sizeof pe, "memfd", errno);
    return fd;
}

/* Bytes of all, descriptors of this machine. */
static void gather(int round, int *machine_of)
{
    struct part mine = {w.pe, w.machine, w.local_pe, round, ""}, *all = calloc((size_t)w.npes, sizeof *all);
    int fds[2] = {memory_of(w.pe), memory_of(w.pe + 1000)}, *theirs = malloc((size_t)w.npes * sizeof fds),
        local = 0;
    memset(mine.rest, 'a' + w.pe % 26, sizeof mine.rest);
    int rc = boot->gather(&mine, sizeof mine, all, fds, 2, theirs);
    check(!rc, "gather", rc);
    for (int i = 0; i < w.npes; i++) {
        check(all[i].pe == i && all[i].round == round && all[i].rest[sizeof all->rest - 1] == 'a' + i % 26,
              "part", i);
        machine_of[i] = all[i].machine;
        bool here = all[i].machine == w.machine;
        if (here) check(all[i].local_pe == local++, "local number", i);
        for (int k = 0; k < 2; k++) {
            int fd = theirs[2 * i + k], pe = -1;
            check((fd >= 0) == here, "descriptor", i);
            if (!here) continue;
            check(pread(fd, &pe, sizeof pe, 0) == sizeof pe && pe == i + 1000 * k, "memory", pe);
            close(fd);
        }
    }
    check(local == w.local_npes, "local PEs", local);
    close(fds[0]);
    close(fds[1]);
    free(all);
    free(theirs);
}

static void join(void)
{
    struct hm_boot_choice choice;
    hm_boot_choose(environ, &choice);
    boot = choice.boot;
    if (!boot) _exit(1);
    int rc = boot->start(&w);
    if (rc) _exit(1);
    hm_log_set_pe(w.pe);
    job = mmap(NULL, hm_job_bytes(w.local_npes), PROT_READ | PROT_WRITE, MAP_SHARED, w.job_fd, 0);
    check(job != MAP_FAILED && job->npes == w.local_npes, "job memory", w.local_npes);
    close(w.job_fd);
    hm_die_claim = claim;
    hm_job_page(job, w.local_pe)->pid = getpid();
    __atomic_store_n(&hm_job_page(job, w.local_pe)->state, HM_PE_READY, __ATOMIC_RELEASE);
}

static void meet(int count)
{
    int machine_of[4096], one = 0, sum[4096];
    for (int i = 0; i < count; i++)
        gather(i, machine_of);
    check(!boot->gather(&one, sizeof one, sum, NULL, 0, NULL), "no descriptors", 0);
    check(!boot->gather(NULL, 0, NULL, NULL, 0, NULL), "no bytes", 0);
    char text[4096] = "";
    for (int i = 0, n = 0; i < w.npes && n < 4000; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "", machine_of[i]);
    if (w.pe == 0) say("machines %s\n", text);
    check(machine_of[0] == 0, "machine of PE 0", machine_of[0]);
}

static void leave(void)
{
    __atomic_store_n(&hm_job_page(job, w.local_pe)->state, HM_PE_FINALIZED, __ATOMIC_RELEASE);
    check(!boot->gather(NULL, 0, NULL, NULL, 0, NULL), "the last gather", 0);
    hm_die_claim = NULL;
    munmap(job, hm_job_bytes(w.local_npes));
    boot->stop();
}

static int rounds(int count)
{
    for (int i = 0; i < count; i++) {
        join();
        meet(3);
        leave();
    }
    say("well %d of %d\n", w.pe, w.npes);
    return 0;
}

/* Sleeps as in a wait, and leaves when the job memory says so. */
static void sleep_for(int ms)
{
    for (uint64_t end = hm_os_now() + (uint64_t)ms * 1000000; hm_os_now() < end; usleep(5000))
        if (__atomic_load_n(&job->stopping, __ATOMIC_ACQUIRE)) exit(job->exit_status);
}

/* The PE does something, all others sleep. */
static int one_does(const char *what, int who, int ms)
{
    join();
    meet(1);
    say("up %d pid %d\n", w.pe, (int)getpid());
    sleep_for(300);
    if (w.pe == who) {
        if (!strcmp(what, "kill")) raise(SIGKILL);
        if (!strcmp(what, "exit")) _exit(3);
        if (!strcmp(what, "global-exit")) {
            boot->exit_all(5);
            exit(5);
        }
        if (!strcmp(what, "stop")) raise(SIGSTOP);
    }
    sleep_for(ms);
    leave();
    say("well %d of %d\n", w.pe, w.npes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3 || hm_options_read(true)) return 98;
    if (!strcmp(argv[1], "rounds")) return rounds(atoi(argv[2]));
    return one_does(argv[1], atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 60000);
}

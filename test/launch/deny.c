/* deny CALL[,CALL ...] COMMAND ...: runs the command with system calls that fail, as in a sandbox: a seccomp filter, put
 * together by hand. CALL is a name of the table below; a name with an operation denies that operation alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static const struct denied {
    const char *name;
    int number, error;
    int operation; /* of futex, -1: all */
} table[] = {
    {"membarrier", SYS_membarrier, EPERM, -1},
    {"membarrier_unknown", SYS_membarrier, ENOSYS, -1},
    {"memfd_create", SYS_memfd_create, ENOSYS, -1},
    {"pidfd_open", SYS_pidfd_open, ENOSYS, -1},
    {"futex_bitset", SYS_futex, ENOSYS, FUTEX_WAIT_BITSET},
    {"futex_wake_bitset", SYS_futex, ENOSYS, FUTEX_WAKE_BITSET},
    {"futex_wait", SYS_futex, ENOSYS, FUTEX_WAIT}, /* private futexes, those of threads, are other operations */
    {"futex_wake", SYS_futex, ENOSYS, FUTEX_WAKE},
    {"affinity", SYS_sched_getaffinity, EPERM, -1},
    {"pread64", SYS_pread64, EPERM, -1}, /* how /proc/self/pagemap is read */
    {"mincore", SYS_mincore, EPERM, -1},
    {"fallocate", SYS_fallocate, EPERM, -1},
    {"madvise", SYS_madvise, EPERM, -1},
};
enum { MOST = sizeof table / sizeof table[0] };

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

static struct sock_filter program[8 + 6 * MOST];
static unsigned short length;

static void add(struct sock_filter f) { program[length++] = f; }
static void load(size_t offset) { add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset)); }
static void unless(unsigned value, unsigned char skip)
{
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}
static void result(unsigned value) { add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value)); }

static void deny(const struct denied *d)
{
    unsigned error = SECCOMP_RET_ERRNO | (unsigned)d->error;
    load(offsetof(struct seccomp_data, nr));
    unless((unsigned)d->number, d->operation < 0 ? 1 : 3);
    if (d->operation >= 0) {
        load(offsetof(struct seccomp_data, args[1]));
        unless((unsigned)d->operation, 1);
    }
    result(error);
}

static const struct denied *find(const char *name)
{
    for (int i = 0; i < MOST; i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    fprintf(stderr, "deny: %s is not in the table\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
#ifdef ARCH
    load(offsetof(struct seccomp_data, arch));
    unless(ARCH, 1);
    add((struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    result(SECCOMP_RET_ALLOW);
    for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) deny(find(name));
    result(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("deny: no seccomp filters here");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
#else
    fprintf(stderr, "deny: not for this machine\n");
    return 77;
#endif
}

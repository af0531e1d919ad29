/* deny CALL[,CALL ...] COMMAND ...: runs the command with system calls that fail, as in a sandbox: a seccomp filter, put
 * together by hand. CALL is a name of the table below; some are one operation of a system call. */
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

/* Denied are calls of which half a word of an argument is (or is not) a value: of futex the operation, of pread64 the
 * upper half of an offset, which is 0 in files but not in /proc/self/pagemap. arg -1: all calls. */
static const struct denied {
    const char *name;
    int number, error, arg;
    unsigned upper, value;
    int but; /* deny what is not `value` */
} table[] = {
    {"membarrier", SYS_membarrier, EPERM, -1, 0, 0, 0},
    {"membarrier_unknown", SYS_membarrier, ENOSYS, -1, 0, 0, 0},
    {"memfd_create", SYS_memfd_create, ENOSYS, -1, 0, 0, 0},
    {"pidfd_open", SYS_pidfd_open, ENOSYS, -1, 0, 0, 0},
    {"futex_bitset", SYS_futex, ENOSYS, 1, 0, FUTEX_WAIT_BITSET, 0},
    {"futex_wake_bitset", SYS_futex, ENOSYS, 1, 0, FUTEX_WAKE_BITSET, 0},
    {"futex_wait", SYS_futex, ENOSYS, 1, 0, FUTEX_WAIT, 0}, /* those between threads are private: other numbers */
    {"futex_wake", SYS_futex, ENOSYS, 1, 0, FUTEX_WAKE, 0},
    {"affinity", SYS_sched_getaffinity, EPERM, -1, 0, 0, 0},
    {"pagemap", SYS_pread64, EPERM, 3, 1, 0, 1},
    {"mincore", SYS_mincore, EPERM, -1, 0, 0, 0},
    {"fallocate", SYS_fallocate, EPERM, -1, 0, 0, 0},
    {"madvise", SYS_madvise, EPERM, -1, 0, 0, 0},
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
    unless((unsigned)d->number, d->arg < 0 ? 1 : 3 + (unsigned char)d->but);
    if (d->arg >= 0) {
        load(offsetof(struct seccomp_data, args[0]) + 8 * (size_t)d->arg + 4 * d->upper);
        unless(d->value, 1);
        if (d->but) add((struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
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

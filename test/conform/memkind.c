/* Every kind of memory that the CPU can touch keeps the contract of memkind.h. A kind without a device here is passed over, and said. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <signal.h>

#include "memkind/memkind.h"

enum { BYTES = 8 << 20, PAGE = 65536 };
static int failed;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("%s: %s:%d: not true: %s\n", kind->name, __FILE__, __LINE__, #what);                                \
            failed++;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int byte_at(const struct hm_memkind *kind, const char *at)
{
    unsigned char b = 0;
    CHECK(kind->copy(&b, at, 1) == 0 && kind->finish() == 0);
    return b;
}

/* What one mapping is given, the other shows: the owner's and a peer's. */
static void two_views(const struct hm_memkind *kind)
{
    int fd = -1;
    void *own = NULL, *peer = NULL;
    char pattern[4096], seen[sizeof pattern];
    CHECK(kind->make(0, BYTES, &fd) == 0 && fd >= 0);
    CHECK(kind->map(fd, BYTES, NULL, &own) == 0);
    CHECK(kind->map(fd, BYTES, NULL, &peer) == 0 && peer != own);
    CHECK(byte_at(kind, own) == 0 && byte_at(kind, (char *)peer + BYTES - 1) == 0);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (char)(i * 7 + 1);
    CHECK(kind->copy((char *)own + BYTES - sizeof pattern, pattern, sizeof pattern) == 0 && kind->finish() == 0);
    CHECK(kind->copy(seen, (char *)peer + BYTES - sizeof pattern, sizeof seen) == 0 && kind->finish() == 0);
    CHECK(!memcmp(seen, pattern, sizeof seen));
    CHECK(kind->set(peer, 0x5a, PAGE) == 0 && kind->finish() == 0 && byte_at(kind, (char *)own + PAGE - 1) == 0x5a);
    CHECK(byte_at(kind, (char *)own + PAGE) == 0);
    CHECK(kind->copy((char *)peer + PAGE, own, 100) == 0 && kind->finish() == 0); /* between two mappings */
    CHECK(byte_at(kind, (char *)own + PAGE + 99) == 0x5a && byte_at(kind, (char *)own + PAGE + 100) == 0);
    close(fd); /* the mappings hold the memory */
    CHECK(kind->unmap(own, BYTES) == 0);
    CHECK(byte_at(kind, (char *)peer + 1) == 0x5a);
    CHECK(kind->unmap(peer, BYTES) == 0);
}

static void at_a_place(const struct hm_memkind *kind)
{
    int fd = -1;
    void *at = NULL, *place = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(kind->make(0, BYTES, &fd) == 0 && kind->map(fd, BYTES, place, &at) == 0 && at == place);
    if (kind->can & HM_MEM_LOADS) {
        ((volatile char *)at)[BYTES - 1] = 9;
        CHECK(byte_at(kind, (char *)at + BYTES - 1) == 9);
    }
    CHECK(kind->unmap(at, BYTES) == 0);
    close(fd);
}

/* Ended by SIGSEGV or SIGBUS: the access is a fault. */
static int faults(volatile char *at)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*at == 1);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

static void pages(const struct hm_memkind *kind)
{
    int fd = -1;
    void *own = NULL, *peer = NULL;
    if (!(kind->can & HM_MEM_PAGES)) return;
    CHECK(kind->make(0, BYTES, &fd) == 0 && kind->map(fd, BYTES, NULL, &own) == 0 && kind->map(fd, BYTES, NULL, &peer) == 0);
    CHECK(kind->set(own, 1, BYTES) == 0 && kind->finish() == 0);
    CHECK(kind->give_back(fd, PAGE, PAGE) == 0);
    CHECK(byte_at(kind, (char *)peer + PAGE) == 0 && byte_at(kind, (char *)peer + 2 * PAGE - 1) == 0);
    CHECK(byte_at(kind, (char *)peer + PAGE - 1) == 1 && byte_at(kind, (char *)peer + 2 * PAGE) == 1);
    if (kind->can & HM_MEM_LOADS) {
        CHECK(kind->close((char *)own + PAGE, PAGE) == 0 && faults((char *)own + PAGE) && !faults((char *)peer + PAGE));
        CHECK(!faults((char *)own + 2 * PAGE));
        CHECK(kind->open((char *)own + PAGE, PAGE) == 0 && !faults((char *)own + PAGE));
    }
    CHECK(kind->unmap(own, BYTES) == 0 && kind->unmap(peer, BYTES) == 0);
    close(fd);
}

static void refusals(const struct hm_memkind *kind)
{
    int fd = -7;
    struct rlimit old, small = {1 << 20, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    CHECK(kind->make(99, BYTES, &fd) < 0 && fd == -7);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    int e = kind->make(0, BYTES, &fd);
    CHECK(e == 0 || e == -EFBIG);
    CHECK((e == 0) == (fd != -7));
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(hm_memkind_find("no such kind") == NULL);
}

int main(void)
{
    const struct hm_memkind *kind;
    int tried = 0;
    for (unsigned i = 0; (kind = hm_memkind_at(i)); i++) {
        const char *why = "?";
        CHECK(hm_memkind_find(kind->name) == kind);
        if (kind->device) continue; /* memkind_device.c */
        if (!kind->devices(&why)) {
            printf("%s: not here: %s\n", kind->name, why);
            continue;
        }
        two_views(kind);
        at_a_place(kind);
        pages(kind);
        refusals(kind);
        tried++;
    }
    printf("%d kinds, %d checks failed\n", tried, failed);
    return failed || !tried;
}

#define _GNU_SOURCE
#include "core/image.h"

#include "base/log.h"
#include "base/os.h"
#include "core/maps.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SEEK_DATA
#define SEEK_DATA 3
#define SEEK_HOLE 4
#endif

/* Holes at least this long are left out of core files. */
#define BIG_HOLE ((size_t)1 << 20)

/* What this file knows. Linked from the archive it lies inside the image itself: nothing of it may be written
 * between the copy and the switch, and a child of fork finds in it what the parent had at the fork. */
static struct hm_image image = {.fd = -1, .because = "nothing has asked for it yet"};
static bool tried, scanned, handlers_set, switched;
static dev_t file_device; /* of the memfd: a program may close descriptors that it does not know */
static ino_t file_inode;

/* The forking thread's own, between the handlers of one fork. In thread-local storage, which is never in the
 * image, so several threads may fork at a time and nothing that is shared is written. */
static __thread struct {
    char *snapshot; /* NULL: there was no memory for it */
    bool active;
    sigset_t signals;
} forking __attribute__((tls_model("initial-exec")));

/* --- where the writable data is --- */

struct scan {
    struct hm_image out;
    size_t file_end[HM_IMAGE_PARTS]; /* in the part: behind it only zero pages that may not exist yet */
    uintptr_t relro, relro_end;
    uint64_t hash;
    bool has_interpreter, has_build_id;
    const char *refused;
};

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n--)
        hash = (hash ^ *p++) * 0x100000001b3ull;
    return hash;
}

static bool hash_build_id(struct scan *s, const char *note, size_t bytes, size_t align)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
        size_t name = hm_round_up(head->n_namesz, 4), desc = hm_round_up(head->n_descsz, align);
        size_t whole = sizeof *head + name + desc;
        if (whole > bytes) return false;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
            !memcmp(note + sizeof *head, "GNU", 4)) {
            s->hash = hash_bytes(s->hash, note + sizeof *head + name, head->n_descsz);
            return true;
        }
        note += whole;
        bytes -= whole;
    }
    return false;
}

static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * what)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && what->p_vaddr >= p->p_vaddr &&
            what->p_vaddr + what->p_memsz <= p->p_vaddr + p->p_filesz)
            return true;
    }
    return false;
}

static void scan_headers(struct scan *s, const struct dl_phdr_info *info)
{
    size_t page = hm_os_page();
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        uint64_t shape[] = {p->p_type, p->p_flags, p->p_vaddr, p->p_filesz, p->p_memsz, p->p_offset};
        s->hash = hash_bytes(s->hash, shape, sizeof shape);
        if (p->p_type == PT_INTERP) s->has_interpreter = true;
        if (p->p_type == PT_NOTE && !s->has_build_id && is_loaded(info, p))
            s->has_build_id = hash_build_id(s, (const char *)at, p->p_memsz, p->p_align == 8 ? 8 : 4);
        if (p->p_type == PT_GNU_RELRO) { /* both ends rounded down, as the dynamic linker does it */
            s->relro = hm_round_down(at, page);
            s->relro_end = hm_round_down(at + p->p_memsz, page);
        }
    }
}

static void scan_segment(struct scan *s, uintptr_t at, const ElfW(Phdr) * p)
{
    size_t page = hm_os_page();
    uintptr_t start = hm_round_down(at, page), end = hm_round_up(at + p->p_memsz, page);
    uintptr_t file_end = hm_round_up(at + p->p_filesz, page);
    if (p->p_flags & PF_X) s->refused = "the executable has a segment that is both writable and executable";
    if (s->relro <= start && s->relro_end > start)
        start = s->relro_end < end ? s->relro_end : end;
    else if (s->relro < end && s->relro_end > start && s->relro_end > s->relro)
        s->refused = "the executable's read-only relocations lie inside its data";
    if (start >= end) return;
    struct hm_image *out = &s->out;
    if (out->parts == HM_IMAGE_PARTS) {
        s->refused = "the executable has more writable segments than this library can share";
        return;
    }
    if (!out->parts) out->base = start; /* segments stand in ascending order */
    size_t file_at = out->parts ? out->part[out->parts - 1].file_at + out->part[out->parts - 1].bytes : 0;
    out->part[out->parts].at = start - out->base;
    out->part[out->parts].bytes = end - start;
    out->part[out->parts].file_at = file_at;
    s->file_end[out->parts] = file_end <= start ? 0 : file_end >= end ? end - start : file_end - start;
    out->span = end - out->base;
    out->parts++;
}

static int scan_executable(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct scan *s = arg;
    (void)size;
    scan_headers(s, info);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) scan_segment(s, info->dlpi_addr + p->p_vaddr, p);
    }
    return 1; /* the first object is the executable */
}

/* Without a build id, two files are the same program if they hold the same: copies on several machines do. */
static void hash_file(struct scan *s)
{
    struct stat st;
    int fd = s->has_build_id ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    size_t words = fstat(fd, &st) == 0 ? (size_t)st.st_size / sizeof(uint64_t) : 0;
    const uint64_t *at = words ? mmap(NULL, words * sizeof *at, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    for (size_t i = 0; at != MAP_FAILED && i < words; i++) s->hash = (s->hash ^ at[i]) * 0x9e3779b97f4a7c15ull;
    if (at != MAP_FAILED) munmap((void *)at, words * sizeof *at);
    close(fd);
}

static void scan(struct scan *s)
{
    *s = (struct scan){.out.fd = -1, .hash = 0xcbf29ce484222325ull};
    dl_iterate_phdr(scan_executable, s);
    hash_file(s);
    s->out.identity = s->hash;
    if (!s->refused && !s->out.parts) s->refused = "the executable has no writable data";
    /* There libc's own data would be inside. Between a fork and the first handler the child's libc writes its
     * locks and lists: in memory that it still shares with its parent. */
    if (!s->refused && !s->has_interpreter)
        s->refused =
            "the program is linked statically, which fork cannot be made safe with (oshcc -hm-static can)";
}

/* --- is it as the program's file says, and nobody else's? --- */

struct coverage {
    uintptr_t next, end;
    bool plain;
};

static bool look_at_map(void *arg, const struct hm_map *map)
{
    struct coverage *c = arg;
    if (map->end <= c->next) return true;
    if (map->start >= c->end) return false;
    if (map->start > c->next || strncmp(map->perm, "rw", 2) || map->perm[3] != 'p') c->plain = false;
    c->next = map->end;
    return c->plain && c->next < c->end;
}

/* A program may have protected a page of its data, or mapped something of its own over it: a copy would undo
 * that. Where the mappings cannot be read, that is taken not to be so. */
static bool parts_are_plain(const struct hm_image *of)
{
    for (int i = 0; i < of->parts; i++) {
        struct coverage c = {of->base + of->part[i].at, of->base + of->part[i].at + of->part[i].bytes, true};
        if (hm_maps_each(look_at_map, &c) != 0) return true;
        if (!c.plain || c.next < c.end) return false;
    }
    return true;
}

/* A thread that writes during the switch would lose what it wrote. */
static bool is_single_threaded(bool early)
{
    int n = hm_os_threads();
    if (n > 0) return n == 1;
    /* No /proc. The kernel refuses this to whoever has threads, and it does nothing to who has none. */
    if (unshare(CLONE_THREAD) == 0) return true;
    return errno != EINVAL && early;
}

/* --- the copy ---
 *
 * System calls as such: the sanitizers' wrappers look at what is between variables, and a sanitizer's runtime
 * that is linked into the executable lies in what is being copied. */

static int copy_bytes(int fd, const char *from, size_t n, off_t at)
{
    while (n) {
        long k = syscall(SYS_pwrite64, fd, from, n, at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? -errno : -EIO;
        from += k;
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

#define PAGEMAP_PAGES 512

/* The kernel's list of our pages; -1 where it is denied, or is not about our addresses (under an emulator).
 */
static int pagemap_open(void)
{
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    off_t at = (off_t)((uintptr_t)&entry / hm_os_page() * sizeof entry); /* this page surely exists */
    if (pread(fd, &entry, sizeof entry, at) == (ssize_t)sizeof entry && entry >> 62) return fd;
    close(fd);
    return -1;
}

__attribute__((no_sanitize("address", "undefined"))) static bool is_zero(const char *page, size_t bytes)
{
    const volatile uint64_t *word = (const volatile uint64_t *)page;
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        if (word[i]) return false;
    return true;
}

/* Pages that were never touched are zero and stay holes. Where the kernel does not tell which those are, they
 * are read: that maps the one zero page and costs no memory. */
static int copy_tail(int fd, int pagemap, const char *from, size_t n, off_t at, size_t *copied)
{
    size_t page = hm_os_page();
    uint64_t exists[PAGEMAP_PAGES];
    for (size_t done = 0; done < n;) {
        size_t pages = (n - done) / page < PAGEMAP_PAGES ? (n - done) / page : PAGEMAP_PAGES;
        off_t entry = (off_t)((uintptr_t)(from + done) / page * sizeof exists[0]);
        ssize_t want = (ssize_t)(pages * sizeof exists[0]);
        bool known = pagemap >= 0 && syscall(SYS_pread64, pagemap, exists, want, entry) == want;
        for (size_t i = 0; i < pages; i++, done += page) {
            if (known && !(exists[i] >> 62)) continue; /* neither in memory nor in swap */
            if (is_zero(from + done, page)) continue;
            int rc = copy_bytes(fd, from + done, page, at + (off_t)done);
            if (rc) return rc;
            *copied += page;
        }
    }
    return 0;
}

static int copy_out(const struct scan *s, int fd, int pagemap, size_t *copied)
{
    int rc = 0;
    for (int i = 0; i < s->out.parts && !rc; i++) {
        const char *from = (const char *)(s->out.base + s->out.part[i].at);
        size_t file_end = s->file_end[i];
        off_t at = (off_t)s->out.part[i].file_at;
        rc = copy_bytes(fd, from, file_end, at);
        *copied += file_end;
        if (!rc)
            rc = copy_tail(fd, pagemap, from + file_end, s->out.part[i].bytes - file_end,
                           at + (off_t)file_end, copied);
    }
    return rc;
}

static size_t file_bytes(const struct hm_image *of)
{
    return of->part[of->parts - 1].file_at + of->part[of->parts - 1].bytes;
}

/* --- is the descriptor still ours? --- */

/* High, where programs do not put their own: dup2(fd, 3) is a habit. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
    if (high < 0) return fd;
    close(fd);
    return high;
}

static void remember_file(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return;
    file_device = st.st_dev;
    file_inode = st.st_ino;
}

static bool file_is_there(void)
{
    struct stat st;
    return image.fd >= 0 && fstat(image.fd, &st) == 0 && st.st_dev == file_device && st.st_ino == file_inode;
}

/* --- core files --- */

static void advise(uintptr_t at, size_t bytes, int advice)
{
    if (bytes) syscall(SYS_madvise, at, bytes, advice);
}

/* Big holes out, all else in: written to a core file, a hole would be filled first, with memory and then with
 * disk. */
static void trim_part(const struct hm_image *of, int i)
{
    uintptr_t start = of->base + of->part[i].at;
    off_t file_at = (off_t)of->part[i].file_at, at = file_at, end = file_at + (off_t)of->part[i].bytes;
    advise(start, of->part[i].bytes, MADV_DODUMP);
    while (at < end) {
        off_t data = lseek(of->fd, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO) return;
        if (data < 0 || data > end) data = end;
        if ((size_t)(data - at) >= BIG_HOLE)
            advise(start + (size_t)(at - file_at), (size_t)(data - at), MADV_DONTDUMP);
        if (data == end) return;
        at = lseek(of->fd, data, SEEK_HOLE);
        if (at < 0) return;
    }
}

void hm_image_trim_core(void)
{
    int saved = errno;
    for (int i = 0; switched && file_is_there() && i < image.parts; i++)
        trim_part(&image, i);
    errno = saved;
}

/* --- fork --- */

static int read_bytes(int fd, char *to, size_t n, off_t at)
{
    while (n) {
        long k = syscall(SYS_pread64, fd, to, n, at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? -errno : -EIO;
        to += k;
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

static char *new_snapshot(size_t bytes)
{
    char *copy = (char *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    return copy == MAP_FAILED ? NULL : copy;
}

/* A private copy of the whole memfd, holes left out; NULL when there is no memory for it. */
static char *take_snapshot(int fd, size_t bytes)
{
    char *copy = new_snapshot(bytes);
    if (!copy) return NULL;
    off_t at = 0, end = (off_t)bytes;
    while (at < end) {
        off_t data = lseek(fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;
        off_t hole = data < 0 ? end : lseek(fd, data, SEEK_HOLE);
        if (data < 0) data = at; /* a file system that knows no holes */
        if (hole < 0 || hole > end) hole = end;
        if (read_bytes(fd, copy + data, (size_t)(hole - data), data) != 0) {
            syscall(SYS_munmap, copy, bytes);
            return NULL;
        }
        at = hole;
    }
    return copy;
}

__attribute__((no_sanitize("address"))) static void copy_words(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((volatile uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}

/* The same where the program has closed our descriptor: slower, and what were holes is committed by the look.
 */
static char *take_snapshot_of_memory(void)
{
    size_t page = hm_os_page();
    char *copy = new_snapshot(file_bytes(&image));
    for (int i = 0; copy && i < image.parts; i++) {
        const char *from = (const char *)(image.base + image.part[i].at);
        for (size_t at = 0; at < image.part[i].bytes; at += page)
            if (!is_zero(from + at, page)) copy_words(copy + image.part[i].file_at + at, from + at, page);
    }
    return copy;
}

/* Puts the snapshot in the place of the shared pages. */
static bool put_snapshot(char *snapshot, const struct hm_image *of)
{
    for (int i = 0; i < of->parts; i++)
        if (syscall(SYS_mremap, snapshot + of->part[i].file_at, of->part[i].bytes, of->part[i].bytes,
                    MREMAP_MAYMOVE | MREMAP_FIXED, of->base + of->part[i].at) == -1)
            return false;
    return true;
}

static bool is_inside(const void *addr)
{
    return (uintptr_t)addr - image.base < image.span;
}

/* Registered before any other handler where that can be had: so this one runs last before the fork, and the
 * child's first after it. Signals wait meanwhile: a handler in the child must find its own data. */
static void fork_prepare(void)
{
    int saved = errno;
    sigset_t all;
    forking.active = switched;
    if (!forking.active) return;
    if (is_inside(&all))
        hm_die("fork",
               "this thread's stack is a global or static array, which is shared memory, so parent and child "
               "would run on one stack; take the stack from malloc or mmap, or set SHMEM_STATIC=off");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &forking.signals);
    forking.snapshot =
        file_is_there() ? take_snapshot(image.fd, file_bytes(&image)) : take_snapshot_of_memory();
    errno = saved;
}

static void fork_parent(void)
{
    int saved = errno;
    if (!forking.active) return;
    forking.active = false;
    if (forking.snapshot) syscall(SYS_munmap, forking.snapshot, file_bytes(&image));
    pthread_sigmask(SIG_SETMASK, &forking.signals, NULL);
    errno = saved;
}

static void fork_child(void)
{
    int saved = errno;
    if (!forking.active) return;
    forking.active = false;
    if (!forking.snapshot || !put_snapshot(forking.snapshot, &image)) {
        static const char text[] =
            "hbmesh: fork: there is no memory for the child's own copy of the global and static "
            "variables; the child ends (status 127). Free some memory, or set SHMEM_STATIC=off\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(127);
        _exit(127);
    }
    if (file_is_there()) close(image.fd);
    switched = false;
    image.fd = -1;
    image.because = "this process was forked by a PE";
    tried = false; /* a program that forks and then initialises may share what is now its own */
    pthread_sigmask(SIG_SETMASK, &forking.signals, NULL);
    errno = saved;
}

/* --- the switch --- */

static int map_part(const struct hm_image *of, int i, int fd, uintptr_t base)
{
    long at = syscall(SYS_mmap, base + of->part[i].at, of->part[i].bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, (off_t)of->part[i].file_at);
    return at == -1 ? -errno : 0;
}

/* Between the copy and the last mapping nothing may be written to static data, this file's own included. */
static int switch_over(const struct scan *s, int fd, size_t *copied)
{
    sigset_t all, before;
    int pagemap = pagemap_open();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = copy_out(s, fd, pagemap, copied);
    for (int i = 0; i < s->out.parts && !rc; i++) {
        rc = map_part(&s->out, i, fd, s->out.base);
        if (!rc || !i) continue;
        char *back = take_snapshot(fd, file_bytes(&s->out)); /* half a switch is undone */
        if (!back || !put_snapshot(back, &s->out))
            hm_die(NULL, "static data: out of memory while it was being shared");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pagemap >= 0) close(pagemap);
    return rc;
}

/* Short: init tells the other PEs in a small message. */
static const char *reason(int error)
{
    switch (error) {
    case EFBIG:
        return "its copy in memory would be larger than RLIMIT_FSIZE (ulimit -f) allows";
    case EMFILE:
        return "this process has no file descriptor left (RLIMIT_NOFILE, ulimit -n)";
    case ENFILE:
        return "the machine has no file descriptor left";
    case ENOMEM:
    case ENOSPC:
        return "there is no memory for its shared copy";
    case EFAULT:
        return "a part of it cannot be read";
    default:
        return "the system gives no shared memory for it (memfd_create, /dev/shm and /tmp all fail)";
    }
}

static const char *share(struct scan *s, bool early)
{
    if (s->refused) return s->refused;
    if (!is_single_threaded(early))
        return early ? "other threads ran before the program began"
                     : "other threads ran already at shmem_init (link with oshcc, or start threads after it)";
    if (!parts_are_plain(&s->out))
        return "the program has protected a part of it, or mapped something else over it";
    if (!handlers_set && pthread_atfork(fork_prepare, fork_parent, fork_child) != 0)
        return "there is no memory for the handlers that fork needs";
    handlers_set = true;
    int fd = hm_os_memfd("hbmesh-data", file_bytes(&s->out));
    if (fd < 0) return reason(-fd);
    int rc = switch_over(s, fd, &s->out.copied);
    if (rc) {
        close(fd);
        return reason(-rc);
    }
    s->out.fd = move_up(fd);
    switched = true;
    remember_file(s->out.fd);
    return NULL;
}

const struct hm_image *hm_image_share(bool early)
{
    if (switched && image.fd >= 0 && !file_is_there()) {
        image.fd = -1;
        image.because = "the program has closed the file descriptor of its shared copy";
    }
    if (tried) return &image;
    tried = true;
    uint64_t begin = hm_os_now();
    struct scan s;
    scan(&s);
    const char *because = share(&s, early);
    image = s.out;
    image.because = because;
    image.ms = (double)(hm_os_now() - begin) * 1e-6;
    scanned = true;
    hm_image_trim_core();
    return &image;
}

const struct hm_image *hm_image_look(void)
{
    if (scanned) return &image;
    struct scan s;
    scan(&s);
    s.out.because = image.because;
    image = s.out;
    scanned = true;
    return &image;
}

/* --- peers --- */

char *hm_image_map_peer(int fd, const struct hm_image *layout)
{
    char *at = mmap(NULL, layout->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    for (int i = 0; i < layout->parts; i++) {
        int rc = map_part(layout, i, fd, (uintptr_t)at);
        if (rc) {
            munmap(at, layout->span);
            errno = -rc;
            return NULL;
        }
    }
    madvise(at, layout->span, MADV_DONTDUMP);
    return at;
}

void hm_image_unmap_peer(char *at, const struct hm_image *layout)
{
    if (at) munmap(at, layout->span);
}

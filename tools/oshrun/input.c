/* --stdin all: each PE reads all of the input at its own pace. What the slowest has not taken yet lies in an
 * unlinked file, of which the part that everybody has read is given back. */
#define _GNU_SOURCE
#include "guard.h"

#include "base/os.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SPOOL_STEP (64u << 10)
#define SPOOL_GIVE_BACK (1u << 20)

struct reader {
    int fd; /* our end of its pipe; -1: it has all or has closed it */
    off_t at;
};

struct hm_spool {
    int source; /* -1: at its end */
    int file;
    off_t end, kept_from;
    int nreaders;
    struct reader readers[];
};

static int spool_file(void)
{
    const char *dir = getenv("TMPDIR");
    int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) fd = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd < 0 ? hm_os_memfd("hbmesh-stdin", 0) : fd;
}

struct hm_spool *hm_spool_open(int source, int readers)
{
    struct hm_spool *s = malloc(sizeof *s + (size_t)readers * sizeof *s->readers);
    if (!s) return NULL;
    *s = (struct hm_spool){.source = source, .file = spool_file(), .nreaders = readers};
    for (int i = 0; i < readers; i++)
        s->readers[i] = (struct reader){-1, 0};
    if (s->file >= 0) return s;
    free(s);
    return NULL;
}

int hm_spool_reader(struct hm_spool *s, int reader, int *theirs)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return -errno;
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    s->readers[reader].fd = fds[1];
    *theirs = fds[0];
    return 0;
}

int hm_spool_source(const struct hm_spool *s)
{
    return s->source;
}
int hm_spool_writer(const struct hm_spool *s, int reader)
{
    return s->readers[reader].fd;
}
bool hm_spool_wants(const struct hm_spool *s, int reader)
{
    return s->readers[reader].at < s->end;
}

bool hm_spool_fill(struct hm_spool *s)
{
    static char block[SPOOL_STEP];
    ssize_t n = read(s->source, block, sizeof block);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n > 0 && pwrite(s->file, block, (size_t)n, s->end) == n) {
        s->end += n;
        return true;
    }
    s->source = -1;
    return false;
}

static void give_back(struct hm_spool *s)
{
    off_t least = s->end;
    for (int i = 0; i < s->nreaders; i++)
        if (s->readers[i].fd >= 0 && s->readers[i].at < least) least = s->readers[i].at;
    if (least - s->kept_from < SPOOL_GIVE_BACK) return;
    fallocate(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, s->kept_from, least - s->kept_from);
    s->kept_from = least;
}

static void reader_close(struct reader *r)
{
    close(r->fd);
    r->fd = -1;
}

void hm_spool_drop(struct hm_spool *s, int reader)
{
    if (s->readers[reader].fd >= 0) reader_close(&s->readers[reader]);
}

void hm_spool_feed(struct hm_spool *s, int reader)
{
    static char block[SPOOL_STEP];
    struct reader *r = &s->readers[reader];
    while (r->fd >= 0 && r->at < s->end) {
        ssize_t n = pread(s->file, block, sizeof block, r->at);
        ssize_t k = n > 0 ? write(r->fd, block, (size_t)n) : -1;
        if (k > 0)
            r->at += k;
        else if (k < 0 && errno == EAGAIN)
            break;
        else
            reader_close(r); /* it reads no more */
    }
    if (r->fd >= 0 && s->source < 0 && r->at == s->end) reader_close(r);
    give_back(s);
}

void hm_spool_close(struct hm_spool *s)
{
    for (int i = 0; i < s->nreaders; i++)
        if (s->readers[i].fd >= 0) reader_close(&s->readers[i]);
    close(s->file);
    free(s);
}

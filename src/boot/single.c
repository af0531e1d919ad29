/* A program started without any launcher: a job of one PE. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/log.h"
#include "base/os.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool single_probe(char *const envp[])
{
    (void)envp;
    return true;
}

static bool single_descends(char *const envp[], int *pe, int *pid)
{
    (void)envp, (void)pe, (void)pid;
    return false;
}

static int single_start(struct hm_boot_world *world)
{
    size_t bytes = hm_job_bytes(1);
    int fd = hm_os_memfd("hbmesh-job", bytes);
    if (fd < 0) {
        hm_log_line(NULL, "cannot make the job memory of %zu bytes: %s", bytes, strerror(-fd));
        return fd;
    }
    struct hm_job head = {.magic = HM_JOB_MAGIC, .version = HM_JOB_VERSION, .npes = 1, .bytes = bytes};
    if (pwrite(fd, &head, offsetof(struct hm_job, stopping), 0) !=
        (ssize_t)offsetof(struct hm_job, stopping)) {
        int error = errno ? errno : EIO;
        hm_log_line(NULL, "cannot write the job memory: %s", strerror(error));
        close(fd);
        return -error;
    }
    *world = (struct hm_boot_world){.pe = 0, .npes = 1, .local_pe = 0, .local_npes = 1, .job_fd = fd};
    return 0;
}

static int single_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    for (int i = 0; i < nfds; i++) {
        int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (fd < 0) {
            int error = errno;
            hm_log_line(NULL, "cannot duplicate a descriptor: %s%s", strerror(error),
                        error == EMFILE ? " (raise the limit: ulimit -n)" : "");
            while (i > 0)
                close(all_fds[--i]);
            return -error;
        }
        all_fds[i] = fd;
    }
    if (len) memcpy(all, mine, len);
    return 0;
}

static void single_exit_all(int status)
{
    (void)status;
}
static void single_stop(void) {}

const struct hm_boot hm_boot_single = {
    .name = "single",
    .probe = single_probe,
    .descends = single_descends,
    .start = single_start,
    .gather = single_gather,
    .exit_all = single_exit_all,
    .stop = single_stop,
};

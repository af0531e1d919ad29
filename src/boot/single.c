/* A program started without any launcher: a job of one PE. */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "boot/packet.h"

#include <string.h>

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
    int fd = hm_job_make(1);
    if (fd < 0) return fd;
    *world = (struct hm_boot_world){.pe = 0, .npes = 1, .machines = 1, .local_pe = 0, .local_npes = 1, .job_fd = fd};
    return 0;
}

static int single_gather(const void *mine, size_t len, void *all, const int *fds, int nfds, int *all_fds)
{
    if (len) memcpy(all, mine, len);
    return hm_fds_duplicate(fds, nfds, all_fds);
}

static void single_exit_all(int status)
{
    (void)status;
}
static void single_stop(void) {}

const struct hm_boot hm_boot_single = {
    .name = "single",
    .because = "nothing in its environment says that it belongs to a job",
    .probe = single_probe,
    .descends = single_descends,
    .start = single_start,
    .gather = single_gather,
    .exit_all = single_exit_all,
    .stop = single_stop,
};
